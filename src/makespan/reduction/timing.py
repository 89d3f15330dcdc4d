"""Decisions → start times, as early as possible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import loop
from makespan.core.numeric.sorting import as_places, inverse
from makespan.core.schedule import Schedule
from makespan.core.simulation import Replay
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import (
    SendCosts,
    Sends,
    Whole,
    costs_of,
    executable,
    reductions_of,
    schedule_of,
    segment_count,
    sends_in,
    sends_of,
)

PLAIN_PASSES = 10
PASSES_BY_ROW = 2
MIN_PASSES = 100
ROWS_IN_ALL = 20_000_000
SECONDS_BEHIND = 4e-7
SECONDS_RULED = 5e-7
"""What the check and the bounds take for a send of a large plan, and what a rule of order adds."""
SECONDS_AT_LEAST = {"free": 7.5e-7, "greedy": 1.2e-6, "backfilling": 1.6e-6}
"""The most that a send of the quickest plan of each order was measured to take, check included."""


def postprocessing_seconds(problem: Reduction) -> float:
    """Return about how many seconds it takes to referee and bound a plan."""
    if problem.segments == "auto":
        return 0.0
    ruled = problem.order != "free"
    return (SECONDS_BEHIND + (SECONDS_RULED if ruled else 0.0)) * sends_in(problem)


def minimum_seconds(problem: Reduction) -> float:
    """Return about how many seconds the quickest plan takes, with all that comes behind it."""
    if problem.segments == "auto":
        return 0.0
    return SECONDS_AT_LEAST[problem.order] * sends_in(problem)


def retimed(problem: Reduction, schedule: Schedule, factors: Floats | None = None) -> Schedule:
    """Return the same sends, in the same order on every port, as early as possible.

    Combinations follow in the order of arrival. The makespan is never later than that of a valid
    ``schedule``. ``factors`` multiply the durations of the rows; None: nominal durations.
    Complexity: O(sends log sends).
    """
    plan = _Plan.of(problem, schedule)
    costs = plan.costs if factors is None else plan.disturbed(factors)
    settled = _settle(plan.before, costs)
    if settled is None:
        return schedule
    return schedule_of(plan.problem, plan.sends, costs, *settled, earliest=factors is None)


def replay(problem: Reduction, schedule: Schedule, repetitions: int) -> Replay:
    """Return the plan's decisions, to be carried out with other durations."""
    plan = _Plan.of(problem, schedule)

    def end(factors: Floats) -> float:
        settled = _settle(plan.before, plan.disturbed(factors))
        return schedule.makespan if settled is None else float(settled[1].max(initial=0.0))

    return Replay(end)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The decisions of a schedule: its sends, what each waits for, and the rows behind them."""

    problem: Reduction
    sends: Sends
    before: Before
    costs: SendCosts
    send_rows: Integers
    reduce_rows: Integers

    @classmethod
    def of(cls, problem: Reduction, schedule: Schedule) -> _Plan:
        schedule = schedule.renamed(problem.machines)
        problem = problem.with_segments(segment_count(problem, schedule))
        sends, rows = sends_of(problem, schedule)
        costs = costs_of(problem, sends)
        matched = reductions_of(schedule, rows)
        arrivals = costs.order_of_arrival(schedule.start[rows], schedule.end[matched])
        entering = costs.entering(schedule.start[rows])
        before = _predecessors(problem, sends, costs, arrivals, entering)
        return cls(problem, sends, before, costs, rows, matched)

    def disturbed(self, factors: Floats) -> SendCosts:
        """Return the costs in seconds, those of each row times its factor."""
        costs = self.costs
        return SendCosts(
            costs.seconds(costs.latency),
            costs.seconds(costs.transfer) * factors[self.send_rows],
            costs.seconds(costs.reduce) * factors[self.reduce_rows],
            costs.shared,
            costs.seconds(costs.ahead.ravel()).reshape(costs.ahead.shape),
            None,
        )


def in_order(
    problem: Reduction,
    sends: Sends,
    arrivals: Integers | None = None,
    entering: Whole | None = None,
) -> Schedule | None:
    """Return the earliest schedule of sends, which every machine makes in the order of the rows.

    ``arrivals``: the rows as receivers take them; None, or where no start times keep to both
    orders: in the order of the rows. ``entering``: by when shared links, a column each, take every
    send before others. Returns None where a segment is sent on before it is there.
    """
    costs = costs_of(problem, sends)
    by_start = np.arange(len(sends))
    in_turn = np.broadcast_to(by_start[:, None], costs.shared.shape)
    settled = None
    if arrivals is not None:
        by_link = in_turn if entering is None else entering
        settled = _settle(_predecessors(problem, sends, costs, arrivals, by_link), costs)
    if settled is None:  # what every send waits for is before it: one pass is enough
        settled = _settle(_predecessors(problem, sends, costs, by_start, in_turn), costs)
    if settled is None:
        return None
    return schedule_of(problem, sends, costs, *settled, earliest=True)


def kept_to(problem: Reduction, sends: Sends, *orders: Any) -> Schedule:
    """Return :func:`in_order` of sends in an order that can be kept to."""
    schedule = in_order(problem, sends, *orders)
    assert schedule is not None
    return schedule


def one_by_one(problem: Reduction, schedule: Schedule) -> Sends:
    """Return the sends of a plan in an order in which each is over before the next begins.

    Machines send, and take what comes, in the order of the plan; where that can't be, as a send is
    on its way while others that start later arrive first and are waited for, in that of the starts.
    Complexity: O(sends log sends).
    """
    plan = _Plan.of(problem, schedule)
    order = _behind_the_waited_for(plan.before)
    place = inverse(order)
    waited_for = [*plan.before[:3], *plan.before.sharing.T, *plan.before.all_bringing()]
    if any((place[other[other >= 0]] > place[other >= 0]).any() for other in waited_for):
        starts = schedule.start[plan.send_rows], schedule.start[plan.reduce_rows]
        operations = executable(plan.sends, *starts)
        order = np.array([each for each in operations if each < len(order)], dtype=np.int64)
    return plan.sends.take(order)


class Before(NamedTuple):
    """The send that each send waits for, -1 for none.

    On the port of its sender, on the port and on the reduction unit of its receiver, and the last
    one that brought the segment to its sender. On every shared link on its way, in columns; with
    the column in which the one before has that link. ``earlier`` is the one that brought the
    segment to its receiver before it; empty where each machine has one reduction unit, which is
    done with the earlier one then.
    """

    sending: Integers
    receiving: Integers
    combining: Integers
    bringing: Integers
    sharing: Integers
    column: Integers
    earlier: Integers

    def all_bringing(self) -> Iterator[Integers]:
        """Yield the last that brought segments to their senders, the last but one, …."""
        bringing = self.bringing
        while (bringing >= 0).any():
            yield bringing
            if not len(self.earlier):
                break
            bringing = np.where(bringing >= 0, self.earlier[bringing], -1)


def _predecessors(
    problem: Reduction, sends: Sends, costs: SendCosts, arrivals: Integers, entering: Any
) -> Before:
    count = len(sends)
    exits, entries = problem.ports_of(sends.sender, sends.receiver)
    machines = int(max(sends.sender.max(initial=0), sends.receiver.max(initial=0))) + 1
    ports = int(max(exits.max(initial=0), entries.max(initial=0))) + 1
    segments = int(sends.segment.max(initial=0)) + 1
    holders = (end * segments + sends.segment for end in (sends.sender, sends.receiver))
    known, (giving, taking) = as_places(machines * segments, *holders)
    last = np.full((3, ports), -1), np.full((2, len(known)), -1)
    found = *np.full((4, count), -1), np.full(0 if problem.ports is None else count, -1)
    given = exits, entries, giving, taking, sends.final.view(np.int8), arrivals
    find_before.run(count, given, (*last, *found))
    sharing, column = _before_on_links(costs, entering)
    return Before(found[0], found[1], found[2], found[3], sharing, column, found[4])


def _before_on_links(costs: SendCosts, entering: Any) -> tuple[Integers, Integers]:
    """Return the send before each on its shared links, and in which column it has that link."""
    sharing, column = np.full((2, *costs.shared.shape), -1)
    row, place = np.nonzero(costs.shared >= 0)
    if len(row):
        link = costs.shared[row, place]
        order = np.lexsort((row, costs.transfer[row], entering[row, place], link))
        row, place, link = row[order], place[order], link[order]
        one, two = np.flatnonzero(link[1:] == link[:-1]), np.flatnonzero(link[1:] == link[:-1]) + 1
        sharing[row[two], place[two]] = row[one]
        column[row[two], place[two]] = place[one]
    return sharing, column


@loop(pays_from=2_000)
def find_before(  # type: ignore[no-untyped-def]
    exits, entries, giving, taking, final, arrivals, last_on_port, last_bringing, sending,
    receiving, combining, bringing, earlier,
):  # fmt: skip
    """Fill in :class:`Before`, going through the rows and then through the arrivals in order.

    ``exits`` and ``entries`` are the ports of the rows, ``giving`` and ``taking`` the numbers of
    machine and segment at their ends. ``last_on_port`` and ``last_bringing`` hold the last row seen
    on each port, and the last arrival of each number: of a contribution, and of what is complete.
    """
    sent, taken, combined = last_on_port[0], last_on_port[1], last_on_port[2]
    for row in range(len(giving)):
        sending[row] = sent[exits[row]]
        sent[exits[row]] = row
    for row in arrivals:
        port = entries[row]
        receiving[row] = taken[port]
        taken[port] = row
        if final[row] == 0:
            combining[row] = combined[port]
            combined[port] = row
        place = taking[row]
        if len(earlier) > 0:
            earlier[row] = last_bringing[final[row]][place]
        last_bringing[final[row]][place] = row
    for row in range(len(giving)):
        place = giving[row]
        complete = 1 if final[row] != 0 and last_bringing[1][place] >= 0 else 0
        bringing[row] = last_bringing[complete][place]


def _settle(before: Before, costs: SendCosts) -> tuple[Whole, Whole] | None:
    """Return the earliest start of every send and the end of its combination, or None.

    Orders that contradict each other never settle. Of others, passes in the order of the rows may
    be as many as there are segments; one pass is enough in an order in which nothing stands before
    what it waits for, where there is one. It is looked for when two passes did not do.
    """
    count = len(before.sending)
    order = np.arange(count)
    width = costs.shared.shape[1]
    columns: list[Any] = [*before, costs.latency, costs.transfer, costs.reduce, costs.ahead]
    dtype: Any = np.asarray(costs.latency).dtype
    state: list[Any] = [np.zeros(count, dtype=dtype) for _ in range(3)]
    if not settle_once.pays(count):
        plain = [column.tolist() for column in state]
        given = [column.tolist() for column in columns]
        for _ in range(PLAIN_PASSES):
            if not settle_once.plain(range(count), width, *given, *plain):
                return np.asarray(plain[0], dtype=dtype), np.asarray(plain[2], dtype=dtype)
        state = [np.array(column, dtype=dtype) for column in plain]
    for turn in range(max(MIN_PASSES, min(2 * count + 2, ROWS_IN_ALL // max(1, count)))):
        if turn == PASSES_BY_ROW:
            order = _behind_the_waited_for(before)
        if not settle_once.compiled(order, width, *columns, *state):
            return state[0], state[2]
    return None


def _behind_the_waited_for(before: Before) -> Integers:
    count = len(before.sending)
    order, path, met = np.arange(count), np.zeros(count, dtype=np.int64), np.zeros(count, np.int8)
    width = before.sharing.shape[1]
    given = *before[:5], before.earlier
    behind_the_waited_for.run(count, given, (order, path, met), (width,))
    return order


@loop(pays_from=2_000)
def behind_the_waited_for(  # type: ignore[no-untyped-def]
    sending, receiving, combining, bringing, sharing, earlier, order, path, met, width
):
    """Write the rows into ``order``, each behind those it waits for, by a depth-first search."""
    count = 0
    for first in range(len(order)):
        if met[first] != 0:
            continue
        path[0] = first
        met[first] = 1
        deep = 1
        while deep > 0:
            row = path[deep - 1]
            following = -1
            for other in (sending[row], receiving[row], combining[row]):
                if other >= 0 and met[other] == 0:
                    following = other
            other = bringing[row]
            while other >= 0:
                if met[other] == 0:
                    following = other
                other = earlier[other] if len(earlier) > 0 else -1
            for place in range(width):
                other = sharing[row][place]
                if other >= 0 and met[other] == 0:
                    following = other
            if following >= 0:
                path[deep] = following
                met[following] = 1
                deep += 1
            else:
                order[count] = row
                count += 1
                deep -= 1


@loop(pays_from=2_000)
def settle_once(  # type: ignore[no-untyped-def]
    order, width, sending, receiving, combining, bringing, sharing, column, earlier,
    latency, transfer, reduce, ahead, start, arrived, combined,
):  # fmt: skip
    """Push every send behind those it waits for, in ``order``; return whether anything moved.

    One pass in the order of the starts is enough where latencies are equal. Where they differ, a
    send may have to wait for one that starts later, and passes are repeated.
    """
    moved = False
    for row in order:
        begin = start[row]
        other = sending[row]
        if other >= 0:
            begin = max(begin, start[other] + transfer[other])
        other = receiving[row]
        if other >= 0:
            begin = max(begin, arrived[other] - latency[row])
        other = bringing[row]
        while other >= 0:
            begin = max(begin, combined[other])
            other = earlier[other] if len(earlier) > 0 else -1
        for place in range(width):
            other = sharing[row][place]
            if other >= 0:
                gone = start[other] + ahead[other][column[row][place]] + transfer[other]
                begin = max(begin, gone - ahead[row][place])
        arrival = begin + latency[row] + transfer[row]
        done = arrival
        other = combining[row]
        if other >= 0:
            done = max(done, combined[other])
        done += reduce[row]
        if begin != start[row] or done != combined[row] or arrival != arrived[row]:
            moved = True
            start[row] = begin
            arrived[row] = arrival
            combined[row] = done
    return moved
