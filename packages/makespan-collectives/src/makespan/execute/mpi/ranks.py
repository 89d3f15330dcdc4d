"""A plan as a table of operations for every rank, and one rank at work on its table."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from makespan.core.schedule import Schedule
from makespan.execute.collectives.tables import NO_MESSAGE, Receive, Step, Table
from makespan.execute.collectives.together import offer_core
from makespan.execute.mpi.arrays import Parts
from makespan.execute.mpi.operations import Combine
from makespan.execute.mpi.world import mpi
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import executable, reductions_of, segment_count, sends_of

AT_ONCE = 64  # messages that a rank looks for at a time, the first of its table that are to come


def ranks_of(machines: Sequence[str]) -> list[int]:
    """Return the rank of every machine: r where all are called ``rank r``, else in their order.

    >>> ranks_of(["rank 2", "rank 0", "rank 1"]), ranks_of(["a", "b"])
    ([2, 0, 1], [0, 1])
    """
    rank_of = {f"rank {rank}": rank for rank in range(len(machines))}
    if len(machines) == len(rank_of.keys() & set(machines)):
        return [rank_of[name] for name in machines]
    return list(range(len(machines)))


def tables_of(problem: Reduction, schedule: Schedule) -> list[Table]:
    """Return the table of every rank, with the peers as ranks (:func:`ranks_of`).

    Every table is a part of one order of all operations, by planned start, in which each stands
    behind all it waits for. So the first operation in that order that is not done yet can always be
    done, and no plan that the referee accepts can deadlock. Complexity: O(sends log sends).
    """
    ranks = ranks_of(problem.machines)
    schedule = schedule.renamed(problem.machines)
    problem = problem.with_segments(segment_count(problem, schedule))
    sends, rows = sends_of(problem, schedule)
    arrivals = reductions_of(schedule, rows)
    receives: list[list[Receive]] = [[] for _ in problem.machines]
    steps: list[list[Step]] = [[] for _ in problem.machines]
    message = {}
    spans = [[(rank, rank)] * len(problem.sizes) for rank in ranks]
    sender, receiver = sends.sender.tolist(), sends.receiver.tolist()
    segment, final = sends.segment.tolist(), sends.final.tolist()
    for node in executable(sends, schedule.start[rows], schedule.start[arrivals]):
        send = node % len(sends)
        one, other, part, last = sender[send], receiver[send], segment[send], final[send]
        if node < len(sends):
            message[send] = len(receives[other])
            receives[other].append(Receive(ranks[one], part, last))
            steps[one].append(Step(ranks[other], part, last, NO_MESSAGE, int(rows[send])))
            continue
        steps[other].append(Step(ranks[one], part, last, message[send], int(arrivals[send])))
        if not last:
            span = spans[one][part], spans[other][part]
            before = _stands_before(*span)
            spans[other][part] = min(span)[0], max(span, key=itemgetter(1))[1]
            expected = receives[other][message[send]]
            receives[other][message[send]] = expected._replace(before=before)
    tables = [
        Table(receives=tuple(own), steps=tuple(do)) for own, do in zip(receives, steps, strict=True)
    ]
    return [table for _, table in sorted(zip(ranks, tables, strict=True), key=itemgetter(0))]


def _stands_before(one: tuple[int, int], other: tuple[int, int]) -> bool | None:
    """Return whether a span of ranks stands directly before another or after, or neither (None)."""
    if one[1] + 1 == other[0]:
        return True
    return False if other[1] + 1 == one[0] else None


Array = NDArray[Any]


class Rank:
    """The table of a rank as what follows from what: each message that comes allows others.

    A send begins when its segment is there, whatever else the rank waits for. What comes is
    combined in the order of the table, so values do not depend on what comes first. The first
    message of the order of all that has not come can always come, and is always looked for.

    ``comm`` is for nothing else; ``segments`` is their number; ``rest`` is called again and again
    while there is nothing to do.
    """

    def __init__(
        self, comm: Any, table: Table, segments: int, rest: Callable[[], object] = offer_core
    ) -> None:
        self.comm, self.table, self.rest = comm, table, rest
        self._some, self._all = mpi().Request.Testsome, mpi().Request.Testall
        self._start = mpi().Prequest.Startall
        self.sends = [step for step in table.steps if step.message == NO_MESSAGE]
        self.combined: list[list[int]] = [[] for _ in range(segments)]  # messages, in order
        self.then: list[list[int]] = [[] for _ in range(segments)]  # sends of what was combined
        self.spread: list[list[int]] = [[] for _ in range(segments)]  # sends of what came complete
        self.expected = [step.message for step in table.steps if step.message != NO_MESSAGE]
        self.comes = {message.segment for message in table.receives if message.final}
        for message in self.expected:
            if not table.receives[message].final:
                self.combined[table.receives[message].segment].append(message)
        for send, step in enumerate(self.sends):
            late = step.final and step.segment in self.comes
            (self.spread if late else self.then)[step.segment].append(send)
        self.first = sorted(
            send for k in range(segments) if not self.combined[k] for send in self.then[k]
        )
        self._requests: tuple[list[Any], list[Any]] = [], []

    def bind(self, parts: Parts, dtype: np.dtype[Any], combine: Combine) -> None:
        """Make the messages for the parts of arrays, and buffers for what is combined or passed on.

        What is held is never changed; what is wanted takes the complete segments.
        """
        for request in (*self._requests[0], *self._requests[1]):
            request.Free()
        self.combine, self.own, self.result = combine, parts.held, parts.wanted
        self.kept = [
            segment
            for segment, into in self.result.items()
            if not self.combined[segment]
            and segment not in self.comes
            and self.own[segment] is not into
        ]
        self.came: list[Array] = []
        self.whole: dict[int, Array] = {}  # what came complete
        for message in self.table.receives:
            segment = message.segment
            into = self.result.get(segment) if message.final else None
            if into is None:
                into = np.empty(parts.lengths[segment], dtype)
            if message.final:
                self.whole[segment] = into
            self.came.append(into)
        comm, table = self.comm, self.table
        self._requests = (
            [
                comm.Recv_init(_bytes(into), message.source, _tag(message))
                for into, message in zip(self.came, table.receives, strict=True)
            ],
            [
                comm.Send_init(_bytes(self._sent(step)), step.peer, _tag(step))
                for step in self.sends
            ],
        )

    def _sent(self, step: Step) -> Array:
        """Return what is sent: what came complete, what was combined, or one's own."""
        if step.final and step.segment in self.comes:
            return self.whole[step.segment]
        messages = self.combined[step.segment]
        return self._out(messages[-1]) if messages else self.own[step.segment]

    def _out(self, message: int) -> Array:
        """Return where a segment is after a message was combined with it."""
        segment = self.table.receives[message].segment
        ends_here = segment in self.result and segment not in self.comes
        return self.result[segment] if ends_here else self.came[message]

    def carry_out(self, watch: Watch | None = None) -> None:
        """Exchange all messages once."""
        receives, sends = self._requests
        if receives:
            self._start(receives)
        for segment in self.kept:
            self.result[segment][...] = self.own[segment]
        arrived, done = bytearray(len(receives)), [0] * len(self.combined)
        self._begin(self.first, watch)
        following = iter(self.expected)
        waiting = list(islice(following, AT_ONCE))
        requests = [receives[message] for message in waiting]
        while waiting:
            found = self._some(requests)
            if watch is not None:
                watch.look()
            if not found:
                self.rest()
                continue
            for index in sorted(found, reverse=True):
                self._arrived(waiting.pop(index), arrived, done, watch)
                del requests[index]
            fresh = list(islice(following, len(found)))
            waiting += fresh
            requests += [receives[message] for message in fresh]
        if watch is not None:
            watch.wait()
        while sends and not self._all(sends):
            self.rest()

    def _arrived(self, message: int, arrived: bytearray, done: list[int], watch: Any) -> None:
        """Combine what came with what is held, as far as the order allows; send what follows."""
        expected = self.table.receives[message]
        segment = expected.segment
        if expected.final:
            if watch is not None:
                watch.took(message, watch.now())
            self._begin(self.spread[segment], watch)
            return
        arrived[message] = 1
        order, count = self.combined[segment], done[segment]
        while count < len(order) and arrived[order[count]]:
            begin = 0.0 if watch is None else watch.now()
            self._combine(segment, order, count)
            if watch is not None:
                watch.took(order[count], begin)
            count += 1
        done[segment] = count
        if count == len(order):
            self._begin(self.then[segment], watch)

    def _combine(self, segment: int, order: list[int], count: int) -> None:
        message = order[count]
        held = self._out(order[count - 1]) if count else self.own[segment]
        received, out = self.came[message], self._out(message)
        if self.table.receives[message].before:
            self.combine(received, held, out)
        else:
            self.combine(held, received, out)

    def _begin(self, sends: list[int], watch: Watch | None) -> None:
        for send in sends:
            if watch is not None:
                watch.sending(send, self._requests[1][send])
            self._requests[1][send].Start()


class Watch:
    """When every step of a rank began and ended, on its own clock.

    On the port a send begins when the one before it has ended.
    """

    def __init__(self, rank: Rank) -> None:
        steps = rank.table.steps
        self.rows = np.array([step.row for step in steps], dtype=np.int64)
        self.start, self.end = np.zeros(len(steps)), np.zeros(len(steps))
        self.now = mpi().Wtime
        self._of_message = {s.message: k for k, s in enumerate(steps) if s.message != NO_MESSAGE}
        self._of_send = [k for k, step in enumerate(steps) if step.message == NO_MESSAGE]
        self._under_way: deque[tuple[Any, int]] = deque()

    def took(self, message: int, begin: float) -> None:
        """Note that a message was combined since ``begin``; one that came complete, just now."""
        place = self._of_message[message]
        self.start[place], self.end[place] = begin, self.now()

    def sending(self, send: int, request: Any) -> None:
        """Note that a send begins."""
        place = self._of_send[send]
        self.start[place] = self.now()
        self._under_way.append((request, place))

    def look(self) -> None:
        """Note which sends have ended."""
        while self._under_way and self._under_way[0][0].Test():
            place = self._under_way.popleft()[1]
            self.end[place] = self.now()
            if self._under_way:
                following = self._under_way[0][1]
                self.start[following] = max(self.start[following], self.end[place])

    def wait(self) -> None:
        """Wait for all sends."""
        while self._under_way:
            self.look()
            offer_core()


def _bytes(array: Array) -> list[Any]:
    return [array.view(np.uint8), mpi().BYTE]


def _tag(message: Receive | Step) -> int:
    """Return the number of a message among those from one rank to another."""
    return 2 * message.segment + message.final
