"""Plans turned: reductions as broadcasts in reversed time, and plans that stand for rotations."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.numeric.sorting import inverse
from makespan.core.schedule import Schedule
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import Sends, Tables, costs_of, sends_of, shared_links, tables_of
from makespan.reduction.timing import in_order, kept_to


def broadcast_of(problem: Reduction) -> Tables:
    """Return the costs of the copies that a reduction is in reversed time, or of copies.

    ``reduce`` is what a sender spends per copy, before it: the reduction time, in reversed time.
    """
    tables = tables_of(problem)
    if problem.times is None:
        tables = tables.over(len(problem.machines))
    transfer, latency, prepare = tables[:3]
    if not problem.statement.combining:
        prepare = np.zeros_like(prepare)
    else:
        transfer, latency = transfer.T, latency.T
    transfer, latency, prepare = map(np.ascontiguousarray, (transfer, latency, prepare))
    return Tables(transfer, latency, prepare, tables.size, tables.unit)


def links_of_copies(problem: Reduction, tables: Tables) -> tuple[Any, Any, int]:
    """Return the shared links of copies, the latency before each, and how many there are.

    ``tables`` are those of :func:`broadcast_of`. In reversed time, a transfer enters a link as
    long before it arrives as it has left it.
    """
    ways = problem.shared
    if ways is None:
        return None, None, 0
    shared, ahead = shared_links(problem, tables)
    if problem.statement.combining:
        shared, ahead = shared.transpose(1, 0, 2), ahead.transpose(1, 0, 2)
        ahead = np.where(shared >= 0, tables.latency[:, :, None] - ahead, 0)
    return np.ascontiguousarray(shared), np.ascontiguousarray(ahead), len(ways.names)


def ports_of_copies(problem: Reduction) -> tuple[Any, Any, Integers, Integers]:
    """Return the ports that copies leave and arrive by, of all pairs, or None twice for machines'.

    Then whose each sending port is, and the first of each machine and of one more.
    """
    machines, ports = len(problem.machines), problem.ports
    if ports is None:
        every = np.arange(machines + 1)
        return None, None, every[:-1], every
    if problem.statement.combining:
        ports = ports.reversed
    sending, receiving, owner = map(
        np.ascontiguousarray, (ports.sending, ports.receiving, ports.exits[:, 0])
    )
    first = np.searchsorted(owner, np.arange(machines + 1)).astype(np.int64)
    return sending, receiving, owner, first


def schedule_at(problem: Reduction, copies: Integers, start: Any) -> Schedule:
    """Return the schedule of copies, rows (sender, receiver, segment) in the order of ``start``.

    Ports and shared links take them in the order in which they come there by these starts, which
    are in the unit of :func:`broadcast_of`, and begin them as early as that lets them.
    """
    sends = sends_of_copies(problem, copies)
    costs, forward = costs_of(problem, sends), not problem.statement.combining
    begin = start if forward else start.max(initial=0) - start - costs.latency - costs.transfer
    order = np.lexsort((costs.transfer, begin))
    arrivals = np.lexsort((costs.transfer, begin + costs.latency))
    entering = (begin[:, None] + costs.ahead)[order]
    schedule = in_order(problem, sends.take(order), inverse(order)[arrivals], entering)
    return schedule if schedule is not None else schedule_from_copies(problem, copies)


def schedule_from_copies(problem: Reduction, copies: Integers) -> Schedule:
    """Return the schedule of the copies of a broadcast, turned back where it was reversed.

    ``copies`` has rows (sender, receiver, segment). Every machine sends and takes in the order of
    the rows, and sends only what it has taken by then: whatever times are zero or equal, such an
    order can be kept to, also backwards.
    """
    combining = problem.statement.combining
    return kept_to(problem, sends_of_copies(problem, copies[::-1] if combining else copies))


def sends_of_copies(problem: Reduction, copies: Integers) -> Sends:
    """Return copies as the sends that they are, or were before their time was reversed."""
    giver, taker, segment = np.array(copies.T, dtype=np.int64, order="C")
    forward = not problem.statement.combining
    ends = (giver, taker) if forward else (taker, giver)
    final = np.full(len(copies), forward)
    return Sends(sender=ends[0], receiver=ends[1], segment=segment, final=final)


class Occupation(NamedTuple):
    """The ways by which segments are copied, a row each, in reversed time where parts are combined.

    Times are whole numbers of ``unit`` where there is one, else seconds.
    """

    giver: Integers  # machine
    taker: Integers  # machine
    latency: Any  # before what is sent begins to arrive
    lasts: Any  # for how long a segment of size 1 is sent
    prepare: Any  # what the giver does before that
    holds: Integers
    after: Any  # how long after its start a copy holds each of these, for as long as it is sent
    size: Any  # the size of every segment
    unit: Fraction | None

    def columns(self) -> dict[str, Any]:
        """Return the columns by the names of the parameters of a loop."""
        columns = self._asdict()
        del columns["unit"]
        return {"occupied" if name == "holds" else name: value for name, value in columns.items()}

    def take(self, rows: Any) -> Occupation:
        """Return some of the ways."""
        columns = (np.ascontiguousarray(column[rows]) for column in self[:7])
        return Occupation._make((*columns, self.size, self.unit))


def occupation_of(problem: Reduction) -> Occupation:
    """Return all ways of a problem in which segments are only copied, or only combined."""
    count = len(problem.machines)
    tables = broadcast_of(problem).over(count)
    giver, taker = np.nonzero((tables.transfer >= 0) & ~np.eye(count, dtype=bool))
    exits, entries, owner, _ = ports_of_copies(problem)
    sending = giver if exits is None else exits[giver, taker]
    receiving = taker if entries is None else entries[giver, taker]
    latency = tables.latency[giver, taker]
    holds = [sending, len(owner) + receiving]
    after = [np.zeros_like(latency), latency]
    shared, ahead, _ = links_of_copies(problem, tables)
    if shared is not None:
        first = len(owner) + int(receiving.max()) + 1
        for place in range(shared.shape[2]):
            number = shared[giver, taker, place]
            holds.append(np.where(number < 0, -1, first + number))
            after.append(ahead[giver, taker, place])
    return Occupation(
        giver, taker, latency, tables.transfer[giver, taker], tables.reduce[giver],
        np.column_stack(holds), np.column_stack(after), tables.size, tables.unit,
    )  # fmt: skip


class Plan(NamedTuple):
    """Sends in their order: sender, receiver, segment, whether a copy; and starts and arrivals."""

    rows: Integers
    times: Any

    @classmethod
    def of(cls, problem: Reduction, schedule: Schedule) -> Plan:
        """Return the rows of a schedule, times in the unit of the problem's tables."""
        sends, rows = sends_of(problem, schedule)
        costs = costs_of(problem, sends)
        start = costs.units(schedule.start[rows]).astype(costs.latency.dtype)
        times = np.column_stack([start, start + costs.latency + costs.transfer])
        columns = sends.sender, sends.receiver, sends.segment, sends.final
        return cls(np.column_stack(columns).astype(np.int64), times)

    def schedule(self, problem: Reduction) -> Schedule:
        """Return the schedule in which ports take the rows in their order, each as it can."""
        sender, receiver, segment, copied = self.rows.T
        sends = Sends(sender=sender, receiver=receiver, segment=segment, final=copied > 0)
        return kept_to(problem, sends)

    def mirrored(self) -> Plan:
        """Return the plan in reversed time, in which what was copied is combined."""
        sender, receiver, segment, copied = self.rows[::-1].T
        rows = np.column_stack([receiver, sender, segment, 1 - copied])
        return Plan(rows, self.times.max(initial=0) - self.times[::-1, ::-1])

    def rotated(self, ports: int, wanted: int, machines: int, segments: int) -> Plan:
        """Return the plan of machines that share ``wanted`` ports, of one where they share fewer.

        Machine i has port i mod ``ports``. A plan stands for its rotations, too, by ``ports``
        machines each, in which other segments are sent at the same times: those that go on to
        different ports of the wanted ones are added, up to a number of ``segments``.
        """
        turn = np.arange(wanted // ports)
        sender, receiver, segment, copied = (column[:, None] for column in self.rows.T)
        columns = np.broadcast_arrays(
            (sender + turn * ports) % machines, (receiver + turn * ports) % machines,
            segment * len(turn) + turn, copied,
        )  # fmt: skip
        rows = np.stack(columns, axis=-1).reshape(-1, 4)
        real = rows[:, 2] < segments
        return Plan(rows[real], np.repeat(self.times, len(turn), axis=0)[real])
