"""A schedule as the referee reads it: rows by role, and the rows of each chunk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.report import Violation
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.platform import Star
from makespan.divisible.model.sources import Sources
from makespan.divisible.problem import DivisibleLoad

RELATIVE_TOLERANCE = 1e-9
NONE = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """A schedule of a problem whose master is known."""

    problem: DivisibleLoad  # over the same machines as the schedule
    platform: Star | Sources  # that of the problem
    holders: int  # how many machines hold load: the first ones, of a star machine 0, the master
    schedule: Schedule
    # sends, computes, returns: rows that are that between the right machines, as they are listed
    sends: Integers
    computes: Integers
    returns: Integers
    repeated: Integers  # rows whose role in their chunk an earlier row plays already
    chunk: Integers  # the item of each chunk that is sent, increasing
    # send, compute, return_: per chunk, the rows that play its roles; -1 where there is none
    send: Integers
    compute: Integers
    return_: Integers
    own: Integers  # computations on those that hold load, of items that are never sent
    orphans: Integers  # computations on workers, and returns, of items that are never sent
    # seconds, units: by how much times and amounts may be off
    seconds: float
    units: float

    @classmethod
    def of(cls, problem: DivisibleLoad, schedule: Schedule) -> Reading:
        """Read a schedule over the machines of the problem."""
        platform = problem.platform
        assert isinstance(platform, (Star, Sources))
        holders = len(problem.machines) - len(platform)
        kind, machine, peer = schedule.kind, schedule.machine, schedule.peer
        sends = np.flatnonzero((kind == Activity.SEND) & (machine < holders) & (peer >= holders))
        computes = np.flatnonzero(kind == Activity.COMPUTE)
        home = (peer != NONE) & (peer < holders)
        returns = np.flatnonzero((kind == Activity.RETURN) & (machine >= holders) & home)
        first_send, first_compute, first_return = (
            _first_of_each_item(schedule, rows) for rows in (sends, computes, returns)
        )
        chunk = schedule.item[first_send]
        compute, unsent = _matched(schedule, chunk, first_compute)
        return_, unsent_returns = _matched(schedule, chunk, first_return)
        at_home = machine[unsent] < holders
        load = problem.load
        return cls(
            problem=problem,
            platform=platform,
            holders=holders,
            schedule=schedule,
            sends=sends,
            computes=computes,
            returns=returns,
            repeated=np.concatenate(
                [
                    np.setdiff1d(rows, first, assume_unique=True)
                    for rows, first in (
                        (sends, first_send),
                        (computes, first_compute),
                        (returns, first_return),
                    )
                    if len(rows) > len(first)
                ]
                or [sends[:0]]
            ),
            chunk=chunk,
            send=first_send,
            compute=compute,
            return_=return_,
            own=unsent[at_home],
            orphans=np.concatenate([unsent[~at_home], unsent_returns]),
            seconds=RELATIVE_TOLERANCE * schedule.makespan,
            units=RELATIVE_TOLERANCE
            * (float(schedule.amount[computes].sum()) if load is None else load),
        )

    def worker_of(self, rows: Integers) -> Integers:
        """Return the worker at the far end of some rows, from 0; below 0 where none is."""
        schedule, first = self.schedule, self.holders
        sent, machine = schedule.kind[rows] == Activity.SEND, schedule.machine[rows]
        if not sent.any():
            return machine - first
        far = np.where(sent, schedule.peer[rows], NONE)
        return np.where(far >= first, far, machine) - first

    def pairs(self, before: Integers, after: Integers) -> tuple[Integers, Integers]:
        """Return the rows of the chunks that have both, of rows per chunk; no copies if all do."""
        both = (before != NONE) & (after != NONE)
        return (before, after) if both.all() else (before[both], after[both])

    def name(self, worker: int) -> str:
        """Return the name of a worker, or of the master for -1."""
        return self.problem.machines[worker + self.holders]

    def describe(self, row: int) -> str:
        """Return a row in words, such as ``the send of chunk 2 to P1``."""
        schedule = self.schedule
        machine = schedule.machines[int(schedule.machine[row])]
        peer = int(schedule.peer[row])
        item = int(schedule.item[row])
        if schedule.kind[row] == Activity.SEND:
            to = f" to {schedule.machines[peer]}" if peer >= 0 else ""
            return f"the send of chunk {item}{to}"
        if schedule.kind[row] == Activity.RETURN:
            return f"the return of chunk {item} from {machine}"
        if schedule.kind[row] == Activity.COMPUTE:
            return f"the computation of chunk {item} on {machine}"
        return f"activity {row} on {machine}"

    def violation(self, rule: str, message: str, *rows: int, excess: float = 0.0) -> Violation:
        """Return a violation by some rows, which take place from their starts to their ends."""
        return violation_by(self.schedule, rule, message, rows, excess)


def violation_by(
    schedule: Schedule, rule: str, message: str, rows: tuple[int, ...], excess: float
) -> Violation:
    """Return a violation by some rows of a schedule."""
    index = list(rows)
    times = np.concatenate([schedule.start[index], schedule.end[index]])
    return Violation(
        rule=rule,
        message=message,
        activities=rows,
        times=tuple(sorted(set(times.tolist()))),
        excess=excess,
    )


def _first_of_each_item(schedule: Schedule, rows: Integers) -> Integers:
    """Return the first of the rows of each item, by increasing item."""
    item = schedule.item[rows]
    if bool(np.all(item[1:] > item[:-1])):
        return rows
    return rows[np.unique(item, return_index=True)[1]]


def _matched(schedule: Schedule, chunk: Integers, rows: Integers) -> tuple[Integers, Integers]:
    """Return the row of each chunk or -1, and the rows of no chunk; chunks and items increase."""
    item = schedule.item[rows]
    if np.array_equal(item, chunk):
        return rows, rows[:0]
    matched = np.full(len(chunk), NONE, dtype=np.int64)
    place = np.searchsorted(chunk, item)
    known = place < len(chunk)
    known[known] = chunk[place[known]] == item[known]
    matched[place[known]] = rows[known]
    return matched, rows[~known]
