"""The loops of round-optimal schedules on circulant graphs.

Source: Träff 2024. They are plain Python over arrays, and are compiled for many
machines or segments.
"""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.jit import loop


@loop(pays_from=2_000)
def receive(skips, takes):  # type: ignore[no-untyped-def]
    """Fill in what every machine but the root receives in the rounds 0, 1, … of a phase.

    Entries are relative to the phase: k is the segment that the root gives in round k of it,
    negative ones are of phases before. They come from paths of decreasing skips to the machine,
    found depth first, each later in round k + 1 than in round k, and all with different ends.
    """
    count = len(skips) - 1
    for machine in range(1, skips[count]):
        target = machine + skips[count]
        base, rest = count, machine  # the first skip on the greedy path from the root
        for k in range(count - 1, -1, -1):
            if skips[k] == rest:
                base = k
                break
            if skips[k] < rest:
                rest -= skips[k]
        # the numbers of skips not used yet, from the greatest on, after one that is above all
        following = np.arange(-1, count + 1)
        before = np.arange(1, count + 3)
        used = np.zeros(count + 1, dtype=np.bool_)
        following[before[base]] = following[base]
        if following[base] >= 0:
            before[following[base]] = before[base]
        found = 0
        least = 2 * skips[count]  # new paths end before the one found last
        # the path: where it stands before each skip, and which one it takes
        reached = np.zeros(count + 3, dtype=np.int64)
        skip = np.zeros(count + 3, dtype=np.int64)
        depth = 0
        skip[0] = following[count + 1]
        back = False  # whether all longer paths have been seen
        while depth >= 0:
            e = skip[depth]
            if e < 0:
                depth -= 1
                back = True
                continue
            step = reached[depth] + skips[e]
            if not back:
                if found == count or step > target - skips[found] or step >= least:
                    skip[depth] = following[e]
                    continue
                if step <= target - skips[found + 1]:
                    depth += 1
                    reached[depth] = step
                    skip[depth] = following[e]
                    continue
            back = False
            if found == count or reached[depth] > target - skips[found + 1]:
                skip[depth] = -1
                continue
            if not used[e] and step <= target - skips[found] and step < least:
                least = step
                takes[machine, found] = base if e == count else e - count
                used[e] = True
                found += 1
                following[before[e]] = following[e]
                if following[e] >= 0:
                    before[following[e]] = before[e]
            skip[depth] = following[e]


@loop(pays_from=2_000)
def circulate(skips, takes, segments, copies, rounds):  # type: ignore[no-untyped-def]
    """Fill in the rows (giver, taker, segment) in the order of their rounds, and the rounds.

    Every machine gets in every round what is due, unless it has it.
    """
    count = len(skips) - 1
    machines = skips[count]
    has = np.zeros((machines, segments), dtype=np.bool_)
    total = segments - 1 + count
    empty = -total % count
    row = 0
    for turn in range(empty, total + empty):
        phase, k = turn // count, turn % count
        for taker in range(1, machines):
            block = min(takes[taker, k] + phase * count - empty, segments - 1)
            if block >= 0 and not has[taker, block]:
                has[taker, block] = True
                copies[row, 0] = (taker - skips[k]) % machines
                copies[row, 1] = taker
                copies[row, 2] = block
                rounds[row] = turn - empty
                row += 1
