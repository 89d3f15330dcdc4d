"""What the rules read off a schedule of a reduction."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from makespan.core.cached import cached_property
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import loop
from makespan.core.numeric.sorting import as_places, sorted_by
from makespan.core.schedule import Activity, Schedule
from makespan.reduction.problem import Reduction, segment_name

TOLERANCE = 1e-9
SHOWN = 1000


@dataclass(frozen=True)
class Plan:
    """The sends of a schedule, and the row of the reduction that each leads to."""

    problem: Reduction
    schedule: Schedule

    @cached_property
    def tolerance(self) -> float:
        return TOLERANCE * self.schedule.makespan

    @cached_property
    def sends(self) -> Integers:
        """The rows of the sends as they stand."""
        return np.flatnonzero(self.schedule.kind == Activity.SEND)

    @cached_property
    def combined(self) -> Integers:
        """The rows of the reductions as they stand."""
        return np.flatnonzero(self.schedule.kind == Activity.REDUCE)

    @cached_property
    def final(self) -> NDArray[np.bool_]:
        """Which sends belong to a broadcast."""
        return _is_final(self.problem, self.schedule, self.sends)

    @cached_property
    def given(self) -> NDArray[np.int32]:
        """How often each machine (row) gives away its part of each segment (column)."""
        return self._counted(self.schedule.machine, self.sends[~self.final])

    @cached_property
    def got(self) -> NDArray[np.int32]:
        """How often each machine (row) gets each segment (column) complete."""
        return self._counted(self.schedule.peer, self.sends[self.final])

    def _counted(self, machine: Integers, rows: Integers) -> NDArray[np.int32]:
        shape = len(self.problem.machines), self.problem.items
        held = machine[rows] * shape[1] + self.schedule.item[rows]
        known, (place,) = as_places(shape[0] * shape[1], held)
        count = np.zeros(shape[0] * shape[1], dtype=np.int32)
        count[known] = np.bincount(place, minlength=len(known))
        return count.reshape(shape)

    @cached_property
    def sources(self) -> NDArray[np.bool_]:
        """Which machines have which segment complete without getting it so."""
        before, _, combining = self.problem.statement
        return before & (self.given == 0) if combining else before

    @cached_property
    def reductions(self) -> Integers:
        """The row of the reduction of each send: of several between the same machines, in order."""
        if self.are_alike and bool(np.all(np.diff(np.sort(self.sent)))):
            return self.combined
        matched = np.empty(len(self.sends), dtype=np.int64)
        matched[self._in_turn(self.sends, self.sent)] = self.combined[
            self._in_turn(self.combined, self.taken)
        ]
        return matched

    def _in_turn(self, rows: Integers, keys: Integers) -> Integers:
        """Return places in ``rows`` by key, of one key by time."""
        return sorted_by(keys, self.schedule.start[rows], self.schedule.end[rows])

    @cached_property
    def are_alike(self) -> bool:
        """Whether sends and reductions are of the same segments and machines, row for row."""
        return np.array_equal(self.sent, self.taken)

    @cached_property
    def sent(self) -> Integers:
        """Who gives which segment to whom, a number for each of the sends."""
        return _keys(self.problem, self.schedule, self.sends)

    @cached_property
    def taken(self) -> Integers:
        """The same for each of the reductions."""
        return _keys(self.problem, self.schedule, self.combined)

    @cached_property
    def latency(self) -> Floats:
        schedule, sends = self.schedule, self.sends
        return np.asarray(self.problem.latencies[schedule.machine[sends], schedule.peer[sends]])

    @cached_property
    def began(self) -> Floats:
        """When each send begins to arrive."""
        return np.asarray(self.schedule.start[self.sends] + self.latency)

    @cached_property
    def arrival(self) -> Floats:
        """When each send has arrived whole."""
        return np.asarray(self.schedule.end[self.sends] + self.latency)

    @cached_property
    def ports(self) -> tuple[Integers, Integers]:
        """By which port each send leaves, and by which it arrives."""
        ends = self.schedule.machine[self.sends], self.schedule.peer[self.sends]
        ports = self.problem.ports
        return ends if ports is None else (ports.sending[ends], ports.receiving[ends])

    def who(self, machine: int) -> str:
        return self.problem.machines[machine]

    def segment_of(self, row: int) -> str:
        """Return the name of the segment that a row of the schedule is about."""
        return segment_name(int(self.schedule.item[row]))


def _is_final(problem: Reduction, schedule: Schedule, sends: Integers) -> NDArray[np.bool_]:
    """Of those that hold a part, the one that first sends it last has the segment complete."""
    before, after, combining = problem.statement
    if problem.statement.one_way:
        return np.full(len(sends), not combining)
    machine, segment = schedule.machine[sends], schedule.item[sends]
    key = machine * problem.items + segment
    first = np.full(before.size, -1)
    start, end = schedule.start[sends], schedule.end[sends]
    find_first.run(len(key), (key, start, end), (first,))
    part = (first[key] == np.arange(len(key))) & before[machine, segment]
    final = ~part
    rows = np.flatnonzero(part)
    rows = rows[np.lexsort((rows, end[rows], start[rows], segment[rows]))]
    of = segment[rows]
    last = rows[np.flatnonzero(np.r_[of[1:] != of[:-1], True])] if len(rows) else rows
    several = after.sum(axis=0) > 1
    final[last[several[segment[last]]]] = True
    return np.asarray(final)


@loop(pays_from=300_000, loaded_from=20_000)
def find_first(key, start, end, first):  # type: ignore[no-untyped-def]
    """Write for every key the index that starts first; on ties ends first, then stands first."""
    for index in range(len(key)):
        other = first[key[index]]
        if (
            other < 0
            or start[index] < start[other]
            or (start[index] == start[other] and end[index] < end[other])
        ):
            first[key[index]] = index


def _keys(problem: Reduction, schedule: Schedule, rows: Integers) -> Integers:
    """Return for rows of one kind a number for who gives which segment to whom."""
    machine, peer = schedule.machine[rows], schedule.peer[rows]
    sending = schedule.kind[rows] == Activity.SEND
    giver, taker = np.where(sending, machine, peer), np.where(sending, peer, machine)
    return (taker * len(problem.machines) + giver) * problem.items + schedule.item[rows]
