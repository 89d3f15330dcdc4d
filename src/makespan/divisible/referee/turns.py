"""Rules on who comes when: rounds, orders, given sequences, and who takes part.

Transfers come in the order of their starts. Where one starts when another does, the one that
ends first comes first on a port (it takes no time); on links of their own they are level. Level
transfers may stand in any order.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from makespan.core.numeric.arrays import Integers
from makespan.core.report import Violation
from makespan.core.schedule import Activity
from makespan.divisible.referee.reading import NONE, Reading


class TimeOrder(NamedTuple):
    """Rows in their order in time, and for each its level: equal where any order will do."""

    rows: Integers
    level: Integers

    def groups(self) -> Iterator[list[int]]:
        """Iterate over the positions of level rows."""
        edges = np.flatnonzero(np.diff(self.level, prepend=-1, append=-1)).tolist()
        for first, last in pairwise(edges):
            yield list(range(first, last))


def in_time_order(reading: Reading, rows: Integers) -> TimeOrder:
    """Return some transfers in line."""
    start, end = reading.schedule.start[rows], reading.schedule.end[rows]
    if reading.problem.ports == "many":
        end = np.zeros(len(rows))
    if not all(bool(np.all(key[1:] >= key[:-1])) for key in (start, end, rows)):
        order = np.lexsort((rows, end, start))
        rows, start, end = rows[order], start[order], end[order]
    later = (start[1:] > start[:-1]) | (end[1:] > end[:-1])
    return TimeOrder(rows, np.concatenate([[0], np.cumsum(later)])[: len(rows)])


def rounds(reading: Reading) -> Iterator[Violation]:
    """The sends are at most so many rounds, each without a worker twice and in the order."""
    problem = reading.problem
    if problem.activation is not None or problem.transfers is not None or problem.rounds == "auto":
        return
    sends = in_time_order(reading, reading.sends)
    breaks = _round_starts(reading, sends, None)
    if len(breaks) > problem.rounds:
        yield _beyond_rounds(reading, "rounds", breaks, "send", "holds no worker twice")
    elif problem.order is not None:
        breaks = _round_starts(reading, sends, problem.workers_in(problem.order))
        if len(breaks) > problem.rounds:
            yield _beyond_rounds(reading, "order", breaks, "send", "follows the given order")


def return_order(reading: Reading) -> Iterator[Violation]:
    """Results return in the given order: in each round, or as the sequence of an activation."""
    problem = reading.problem
    if problem.return_order is None:
        return
    returns = in_time_order(reading, reading.returns)
    given = problem.workers_in(problem.return_order)
    if problem.activation is not None:
        kinds = np.full(len(given), Activity.RETURN)
        may_miss = _may_miss(reading, given) | ~problem.star.returns[given]
        yield from _follows(reading, "return-order", returns, kinds, given, may_miss)
    elif problem.rounds != "auto":
        breaks = _round_starts(reading, returns, given)
        if len(breaks) > problem.rounds:
            yield _beyond_rounds(
                reading, "return-order", breaks, "return", "follows the given return_order"
            )


def _round_starts(reading: Reading, line: TimeOrder, order: Integers | None) -> list[int]:
    """Return the rows that begin the rounds, each round as long as it can be.

    A worker fits into a round that does not hold it yet; with ``order``, one in which only
    workers before it were served.
    """
    workers = reading.worker_of(line.rows)
    one_by_one = bool(np.all(line.level[1:] > line.level[:-1]))
    if order is None:
        begun = _rounds_without_repeats(workers)
        if len(begun) > 1 and not one_by_one:
            return _greedy_rounds(line, workers.tolist(), ordered=False)
        return _rows(line, begun)
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    place = position[workers]
    if not one_by_one:
        return _greedy_rounds(line, place.tolist(), ordered=True)
    descends = place[1:] <= place[:-1]
    return _rows(line, np.flatnonzero(np.concatenate([[True], descends])[: len(place)]))


def _rows(line: TimeOrder, positions: Integers | list[int]) -> list[int]:
    return [int(row) for row in line.rows[positions]]


def _rounds_without_repeats(workers: Integers) -> list[int]:
    """Return where rounds that hold no worker twice begin, each as long as it can be.

    A round from ``first`` ends before the first chunk whose worker had its last chunk at or
    after ``first``. Complexity: O(n log n).
    """
    if len(workers) and int(np.bincount(workers).max()) == 1:
        return [0]
    by_worker = np.argsort(workers, kind="stable")
    same = workers[by_worker[1:]] == workers[by_worker[:-1]]
    previous = np.full(len(workers), -1, dtype=np.int64)
    previous[by_worker[1:][same]] = by_worker[:-1][same]
    following = np.searchsorted(np.maximum.accumulate(previous), np.arange(len(workers))).tolist()
    begun: list[int] = []
    first = 0
    while first < len(workers):
        begun.append(first)
        first = following[first]
    return begun


def _greedy_rounds(line: TimeOrder, place: Sequence[int], *, ordered: bool) -> list[int]:
    begun: list[int] = []
    served: set[int] = set()
    last = -1
    for group in line.groups():
        waiting = sorted(group, key=lambda index: place[index])
        while waiting:
            left = []
            for index in waiting:
                worker = place[index]
                if begun and (worker <= last if ordered else worker in served):
                    left.append(index)
                    continue
                if not begun:
                    begun.append(int(line.rows[index]))
                served.add(worker)
                last = worker
            if left:
                begun.append(int(line.rows[left[0]]))
                served, last = set(), -1
            waiting = left
    return begun


def _beyond_rounds(
    reading: Reading, rule: str, breaks: list[int], what: str, each: str
) -> Violation:
    allowed = reading.problem.rounds
    assert isinstance(allowed, int)
    row = breaks[allowed]
    message = (
        f"the {what}s make {len(breaks)} rounds where each {each}, but rounds is {allowed}; "
        f"the first too many begins with {reading.describe(row)} "
        f"at {reading.schedule.start[row]:.12g}"
    )
    return reading.violation(rule, message, row, excess=float(len(breaks) - allowed))


def activation(reading: Reading) -> Iterator[Violation]:
    """The workers of the sends are the given sequence."""
    given = reading.problem.activation
    if given is not None:
        workers = reading.problem.workers_in(given)
        kinds = np.full(len(workers), Activity.SEND)
        line = in_time_order(reading, reading.sends)
        may_miss = _may_miss(reading, workers)
        yield from _follows(reading, "activation", line, kinds, workers, may_miss)


def transfers(reading: Reading) -> Iterator[Violation]:
    """The transfers on the port are the given sequence, each made; but nothing returns nothing."""
    given = reading.problem.transfers
    if given is None:
        return
    workers = reading.problem.workers_in(name for _, name in given)
    codes = {"send": Activity.SEND, "return": Activity.RETURN}
    kinds = np.array([codes[what] for what, _ in given], dtype=np.int64)
    made = (kinds == Activity.SEND) | reading.problem.star.returns[workers]
    kinds, workers = kinds[made], workers[made]
    rows = np.concatenate([reading.sends, reading.returns])
    nobody = np.zeros(len(workers), dtype=bool)
    yield from _follows(reading, "transfers", in_time_order(reading, rows), kinds, workers, nobody)


def _follows(
    reading: Reading,
    rule: str,
    line: TimeOrder,
    kinds: Integers,
    workers: Integers,
    may_miss: NDArray[np.bool_],
) -> Iterator[Violation]:
    """Yield the first place at which rows in line are not the given entries.

    ``kinds`` and ``workers`` are the entries, ``may_miss`` says which may be missing. Matching the
    first entry that fits is right: those that may be missing fit the same rows later.
    """
    row_kinds, row_workers = reading.schedule.kind[line.rows], reading.worker_of(line.rows)
    if np.array_equal(row_kinds, kinds) and np.array_equal(row_workers, workers):
        return
    field = rule.replace("-", "_")
    entries = list(zip(kinds.tolist(), workers.tolist(), strict=True))
    found = list(zip(row_kinds.tolist(), row_workers.tolist(), strict=True))
    place = 0
    for group in line.groups():
        waiting = list(group)
        while waiting:
            row = int(line.rows[waiting[0]])
            if place == len(entries):
                message = f"{reading.describe(row)} is beyond the given {rule}"
                yield reading.violation(rule, message, row)
                return
            fitting = [at for at in waiting if found[at] == entries[place]]
            if fitting:
                waiting.remove(fitting[0])
            elif not may_miss[place]:
                wanted = _describe_entry(reading, *entries[place])
                message = f"{reading.describe(row)} stands where {field}[{place}] is {wanted}"
                yield reading.violation(rule, message, row)
                return
            place += 1
    for left in range(place, len(entries)):
        if not may_miss[left]:
            wanted = _describe_entry(reading, *entries[left])
            yield Violation(rule=rule, message=f"{field}[{left}], {wanted}, is missing")
            return


def _may_miss(reading: Reading, workers: Integers) -> NDArray[np.bool_]:
    """Whether the chunk of each entry may be missing: it costs nothing when it is empty."""
    star = reading.problem.star
    free: NDArray[np.bool_] = (star.send_fixed == 0) & (star.compute_fixed == 0)
    free &= star.return_fixed == 0
    return free[workers]


def _describe_entry(reading: Reading, kind: int, worker: int) -> str:
    return f"{'a send to' if kind == Activity.SEND else 'a return from'} {reading.name(worker)}"


def discipline(reading: Reading) -> Iterator[Violation]:
    """Results return in the order of sending (fifo) or in its reverse (lifo)."""
    wanted = reading.problem.discipline
    chunk = np.flatnonzero(reading.return_ != NONE)
    if wanted is None or len(chunk) < 2:
        return
    sent = _levels(reading, reading.send[chunk])
    returned = _levels(reading, reading.return_[chunk])
    if wanted == "lifo":
        returned = -returned
    order = np.lexsort((returned, sent))
    for index in np.flatnonzero(returned[order[1:]] < returned[order[:-1]]).tolist():
        first, second = (int(reading.return_[chunk[at]]) for at in order[index : index + 2])
        message = (
            f"{reading.describe(first)} starts at {reading.schedule.start[first]:.12g} and "
            f"{reading.describe(second)} at {reading.schedule.start[second]:.12g}, "
            f"which is not {wanted}"
        )
        yield reading.violation("discipline", message, first, second)


def _levels(reading: Reading, rows: Integers) -> Integers:
    """Return the level of each of some rows in their line."""
    line = in_time_order(reading, rows)
    level = np.empty(len(reading.schedule), dtype=np.int64)
    level[line.rows] = line.level
    return level[rows]


def use(reading: Reading) -> Iterator[Violation]:
    """Every worker takes part, where the problem says so."""
    if reading.problem.use != "all":
        return
    served = np.bincount(reading.worker_of(reading.sends), minlength=len(reading.problem.star))
    for worker in np.flatnonzero(served == 0).tolist():
        message = f"{reading.name(worker)} is sent nothing, but use is 'all'"
        yield Violation(rule="use", message=message)


RULES = (rounds, return_order, activation, transfers, discipline, use)
