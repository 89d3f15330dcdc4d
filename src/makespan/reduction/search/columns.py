"""The loop of the segmented reduction notebook's search: a column (segment) at a time.

A state holds when every machine can send, receive and combine next. The notebook's evaluation
takes the segments one after another, so a solution's value is a walk through such states, and
walks that meet in an equal state are merged. Equal, not better: the greedy rule is not monotone.
"""

from __future__ import annotations

from makespan.core.numeric.jit import loop

DONE = 0
FULL_STATES = 1
FULL_EDGES = 2


@loop(pays_from=2_000)
def advance(  # type: ignore[no-untyped-def]
    states, first, last, trees, children, transfer, latency, reduce, tail, root_receives,
    root_combines, cut, clamp, out, out_bits, table, edges, counts,
):  # fmt: skip
    """Extend the states ``first`` to ``last`` by every tree; merge equal results.

    ``counts`` holds the number of states and edges so far; ``edges`` gets (state, tree, result).
    What can't end by ``cut`` is dropped: machine i needs ``tail[i]`` after its last send of this
    column, the root ``root_receives`` after receiving and ``root_combines`` after combining.
    ``clamp`` raises values to the least that they can have an effect with. Returns a code and the
    state to go on from when an array is full.
    """
    machines = trees.shape[1]
    width = 3 * machines
    mask = table.shape[0] - 1
    row = out.shape[0] - 1  # the last row is scratch
    waits = children[0].copy()
    ready = states[0, :machines].copy()
    for index in range(first, last):
        if counts[0] + trees.shape[0] >= row or 2 * (counts[0] + trees.shape[0]) > mask:
            return FULL_STATES, index
        if counts[1] + trees.shape[0] > edges.shape[0]:
            return FULL_EDGES, index
        for tree in range(trees.shape[0]):
            for place in range(width):
                out[row, place] = states[index, place]
            for machine in range(machines):
                waits[machine] = children[tree, machine]
                ready[machine] = 0
            alive = True
            for _ in range(machines - 1):
                sender = -1
                begin = ready[0]
                for machine in range(1, machines):
                    if waits[machine] == 0:
                        to = trees[tree, machine]
                        start = max(
                            ready[machine],
                            out[row, machine],
                            out[row, machines + to] - latency[machine, to],
                        )
                        if sender < 0 or start < begin:
                            sender, begin = machine, start
                to = trees[tree, sender]
                waits[sender] = -1
                waits[to] -= 1
                out[row, sender] = begin + transfer[sender, to]
                arrival = begin + latency[sender, to] + transfer[sender, to]
                out[row, machines + to] = arrival
                done = max(out[row, 2 * machines + to], arrival) + reduce[to]
                out[row, 2 * machines + to] = done
                ready[to] = done
                late = out[row, sender] + tail[sender] > cut
                if to == 0:
                    late = late or done + root_combines > cut or arrival + root_receives > cut
                if late:
                    alive = False
                    break
            if not alive:
                continue
            if clamp:
                for machine in range(machines):
                    least = out[row, machines + machine] + clamp
                    out[row, 2 * machines + machine] = max(out[row, 2 * machines + machine], least)
            mixed = 1
            for place in range(width):
                bits = out_bits[row, place]
                low, high = bits & 0x7FFFFFFF, (bits >> 31) & 0x7FFFFFFF
                mixed = (mixed * 1000003 + low + 131 * high) % 2147483647
            slot = mixed & mask
            while table[slot] >= 0:
                other = table[slot]
                same = True
                for place in range(width):
                    if out_bits[other, place] != out_bits[row, place]:
                        same = False
                        break
                if same:
                    break
                slot = (slot + 1) & mask
            if table[slot] < 0:
                table[slot] = counts[0]
                for place in range(width):
                    out[counts[0], place] = out[row, place]
                counts[0] += 1
            edges[counts[1], 0] = index
            edges[counts[1], 1] = tree
            edges[counts[1], 2] = table[slot]
            counts[1] += 1
    return DONE, last
