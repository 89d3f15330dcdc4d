"""Moves and swaps of tasks at one temperature, as a loop."""

from __future__ import annotations

import math

from makespan.core.numeric.jit import loop

SWAPS = 0.7
"""The share of tries that are swaps."""


@loop(pays_from=20_000, loaded_from=2_000)  # moves
def anneal(  # type: ignore[no-untyped-def]
    seconds, weights, places, count, machine, load, tasks, size, position,
    capacity, temperature, moves, state,
):  # fmt: skip
    """Try moves and swaps that bring down the weighted loads above ``capacity``; return the state.

    ``places`` holds the machines that each task may move to, ``count`` of them; ``tasks`` those of
    each machine, ``size`` many, and ``position`` where each task stands among them. What makes it
    worse by d is taken with the chance exp(-d / temperature). ``state`` is that of the generator
    (Park and Miller 1988, with the multiplier of 1993).
    """
    for _ in range(moves):
        state = state * 48271 % 2147483647
        task = state % len(machine)
        if count[task] < 2:
            continue
        state = state * 48271 % 2147483647
        old, new = machine[task], places[task, (state >> 8) % count[task]]
        if new == old:
            continue
        state = state * 48271 % 2147483647
        back = -1
        before, after = load[old] - seconds[task, old], load[new] + seconds[task, new]
        if state < SWAPS * 2147483647 and size[new] > 0:
            state = state * 48271 % 2147483647
            back = tasks[new, (state >> 5) % size[new]]
            before += seconds[back, old]
            after -= seconds[back, new]
        worse = weights[old] * (max(0.0, before - capacity) - max(0.0, load[old] - capacity))
        worse += weights[new] * (max(0.0, after - capacity) - max(0.0, load[new] - capacity))
        if worse > 0.0:
            state = state * 48271 % 2147483647
            if state >= 2147483647 * math.exp(-worse / temperature):
                continue
        load[old], load[new] = before, after
        gap = position[task]
        if back >= 0:
            tasks[old, gap] = back
            tasks[new, position[back]] = task
            position[task], position[back] = position[back], gap
            machine[back] = old
        else:
            size[old] -= 1
            last = tasks[old, size[old]]
            tasks[old, gap] = last
            position[last] = gap
            tasks[new, size[new]] = task
            position[task] = size[new]
            size[new] += 1
        machine[task] = new
    return state
