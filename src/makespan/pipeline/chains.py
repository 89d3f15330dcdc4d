"""Intervals for machines that are given: in a sequence, all alike, or any that are left."""

from collections.abc import Sequence

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.numeric.jit import loop
from makespan.pipeline.state_space import Costs


@loop(pays_from=20_000)  # machines × stages × stages of an interval
def cut(  # type: ignore[no-untyped-def]
    sums, far, moved, per_unit, delay, enter, leave, sequence, overlap, longest, cap, value, chosen
):
    """Cut the stages into an interval for each machine of a sequence; return the least value.

    Without ``longest`` that is the latency, of cuts whose period is at most ``cap``; with it the
    period, below ``cap``. ``value`` and ``chosen`` have a row for each number of machines, a column
    for each number of stages: the least value, and where the last interval begins.
    """
    stages, last = sums.shape[0] - 1, len(sequence) - 1
    value[:] = np.inf
    value[0, 0] = 0.0
    for place in range(last + 1):
        own = sequence[place]
        for start in range(place, stages):
            before = value[place, start]
            if before == np.inf:
                continue
            send, wait = enter[own], 0.0
            if place > 0:
                send = moved[start] * per_unit[sequence[place - 1], own]
                wait = delay[sequence[place - 1], own]
            if send > cap:
                continue
            for end in range(start + 1, far[start, own] + 1):
                work = sums[end, own] - sums[start, own]
                if work > cap:
                    break
                if place == last:
                    out = leave[own]
                else:
                    out = moved[end] * per_unit[own, sequence[place + 1]]
                load = max(send, work, out) if overlap else send + work + out
                if longest:
                    total = max(before, load)
                    if total >= cap:
                        continue
                elif load > cap:
                    continue
                else:
                    total = before + send + wait + work + (out if place == last else 0.0)
                if total < value[place + 1, end]:
                    value[place + 1, end] = total
                    chosen[place + 1, end] = start
    return value[last + 1, stages]


class Cutter:
    """Cuts stages for one sequence of machines after another."""

    def __init__(self, costs: Costs, overlap: bool) -> None:
        self.stages, machines = len(costs.sums) - 1, costs.sums.shape[1]
        self._form = cut.bind(self.stages * machines * 8, **costs.columns, overlap=int(overlap))
        self._value = np.empty((machines + 1, self.stages + 1))
        self._chosen = np.zeros((machines + 1, self.stages + 1), dtype=np.int64)

    def __call__(
        self, sequence: Sequence[int], cap: float = np.inf, *, longest: bool = True
    ) -> tuple[float, list[int]]:
        """Return the least value, as of :func:`cut`, and the edges; infinity for none."""
        value = self._form(
            sequence=np.array(sequence, dtype=np.int64), longest=int(longest), cap=cap,
            value=self._value, chosen=self._chosen,
        )  # fmt: skip
        if value == np.inf:
            return value, []
        edges = [self.stages]
        for place in range(len(sequence), 0, -1):
            edges.append(int(self._chosen[place, edges[-1]]))
        return float(value), edges[::-1]


@loop(pays_from=20_000)  # sets of machines × machines
def cover(far, reach, last, flag):  # type: ignore[no-untyped-def]
    """Return the least set of machines (bits) whose intervals cover all stages, -1 for none.

    ``reach`` is how many stages each set covers at most, ``last`` the machine that does so as the
    last one. Returns -2 where ``flag`` stopped it.
    """
    stages, machines = far.shape[0] - 1, far.shape[1]
    for chosen in range(1, len(reach)):
        if chosen & 1023 == 0 and flag[0] != 0:
            return -2
        best, at = 0, -1
        for machine in range(machines):
            if chosen >> machine & 1:
                end = far[reach[chosen ^ (1 << machine)], machine]
                if end > best:
                    best, at = end, machine
        reach[chosen] = best
        last[chosen] = at
        if best == stages:
            return chosen
    return -1


@loop(pays_from=5_000)  # machines × steps of a search
def probe(work, held, capacity, most, machines, allowed, edges):  # type: ignore[no-untyped-def]
    """Cover the stages by as long intervals as ``most`` seconds allow; return the edges, and what
    more seconds would lengthen an interval.

    ``work`` and ``held`` are sums of the first stages, ``allowed`` the last stage up to each behind
    which an interval may end; empty where all are. Returns the number of intervals, or that of
    machines and one where they don't suffice, and the least longer interval.
    """
    stages, number, start, bid = len(work) - 1, 0, 0, np.inf
    edges[0] = 0
    while start < stages and number < machines:
        low, high = start, stages
        while low < high:  # the last end that both allow
            middle = (low + high + 1) // 2
            if work[middle] - work[start] <= most and held[middle] - held[start] <= capacity:
                low = middle
            else:
                high = middle - 1
        end = low if len(allowed) == 0 else allowed[low]
        if low < stages and held[low + 1] - held[start] <= capacity:
            bid = min(bid, work[low + 1] - work[start])
        if end <= start:
            return machines + 1, bid
        number += 1
        edges[number] = end
        start = end
    return (number if start == stages else machines + 1), bid


def allowed_ends(seconds: Floats, most: float) -> Integers:
    """Return, for each number of stages, the last end up to it whose transfer takes that long.

    >>> allowed_ends(np.array([0.0, 1.0, 5.0, 0.0]), 2.0).tolist()
    [0, 1, 1, 3]
    """
    count = len(seconds)
    fine = seconds <= most
    fine[0] = fine[-1] = True
    return np.maximum.accumulate(np.where(fine, np.arange(count), 0))


def chains(
    work: Floats, held: Floats, capacity: float, machines: int, transfer: Floats, low: float
) -> tuple[float, list[int]] | None:
    """Return the least period of identical machines, and the edges; None where memory forbids all.

    ``work`` and ``held`` are the seconds and memory of the first stages: sums, from 0.
    ``transfer``: the seconds of a transfer at each edge. ``low``: a lower bound. Source: Pınar and
    Aykanat 2004: bisection between values that intervals have. Complexity: O(machines log stages)
    for each of few probes, and O(stages) where transfers matter.
    """
    work, held = readonly(work, held)
    inner, none = transfer[1:-1], np.zeros(0, dtype=np.int64)
    longest = float(inner.max(initial=0.0))
    run = probe.form(32.0 * machines)

    def tried(most: float) -> tuple[list[int] | None, float, float]:
        """Return edges, their period, and the next value that may do, where there are none."""
        free = most >= longest
        ends = none if free else allowed_ends(transfer, most)
        edges = np.zeros(machines + 1, dtype=np.int64)
        number, bid = run(work, held, capacity, most, machines, *readonly(ends), edges)
        if number > machines:
            above = inner[inner > most].min(initial=np.inf) if not free else np.inf
            return None, np.inf, float(min(bid, above))
        edges = edges[: number + 1]
        seconds = float(np.diff(work[edges]).max())
        return edges.tolist(), max(seconds, float(transfer[edges[1:-1]].max(initial=0.0))), 0.0

    best, high, _ = tried(max(float(work[-1]), longest))
    if best is None:
        return None
    probing = low  # the lower bound itself is often met
    while low < high:
        edges, period, above = tried(probing)
        if edges is None:
            low = max(low, above)
        else:
            best, high = edges, min(high, period)
            low = high if probing <= low else low
        probing = (low + high) / 2
        if not low < probing < high:
            probing = low
    return high, best
