"""Bin completion: whether tasks fit on machines within a capacity, also with limits on numbers.

Bin completion takes one machine after another. The machine of the longest task left is filled in
every way that can still be part of a packing: sums that leave more room idle than there is to spare
are not looked at, nor sets of tasks that others dominate (Martello and Toth 1990, section 8.4; Korf
2003). Which sums there are is a bit set, a whole number of Python: the dynamic programme for subset
sums takes a shift for each task. Where the numbers of tasks are limited, it has a set for each.
"""

from collections.abc import Iterator, Sequence

from makespan.core.control import Control

Group = tuple[int, ...]
Limits = tuple[tuple[int, int], ...]  # the least and the greatest number of tasks of each machine


class Unfinished(Exception):
    """The budget, or the time, was spent before there was a verdict."""


class Completion:
    """Packs durations, whole numbers, on machines that each have the same ``capacity``.

    At most ``budget`` ways to fill a machine are tried.

    >>> Completion(8, 100, Control()).packed((4, 4, 4, 4, 3, 2), 3)
    [(4, 4), (4, 4), (3, 2)]
    >>> Completion(7, 100, Control()).packed((4, 4, 4, 4, 3, 2), 3) is None
    True
    """

    def __init__(self, capacity: int, budget: int, control: Control) -> None:
        self.capacity = capacity
        self._left = budget
        self._control = control
        self._failed: set[tuple[int, Group]] = set()

    def packed(self, tasks: Group, machines: int) -> list[Group] | None:
        """Return the tasks of each machine, or None where they don't fit.

        ``tasks`` are their durations, above 0, the longest first.
        Raises Unfinished where the budget or the time is spent before that is known.
        """
        spare = machines * self.capacity - sum(tasks)
        if spare < 0 or (tasks and tasks[0] > self.capacity):
            return None
        if len(tasks) <= machines:
            return [(task,) for task in tasks]
        if machines == 1:
            return [tasks]
        if (machines, tasks) in self._failed:
            return None
        for chosen, rest in self._fillings(tasks, spare):
            others = self.packed(rest, machines - 1)
            if others is not None:
                return [chosen, *others]
        self._failed.add((machines, tasks))
        return None

    def _fillings(self, tasks: Group, spare: int) -> Iterator[tuple[Group, Group]]:
        """Yield ways to fill the machine of the first task, the fullest first, and what is left."""
        room = self.capacity - tasks[0]
        sums = [1] * (len(tasks) + 1)  # bit s: tasks from here on have a subset of sum s
        within = (1 << (room + 1)) - 1
        for index in range(len(tasks) - 1, 0, -1):
            sums[index] = (sums[index + 1] | (sums[index + 1] << tasks[index])) & within
        least = max(0, room - spare)
        left = sums[1] >> least
        while left:
            top = left.bit_length() - 1
            left ^= 1 << top
            for chosen in _subsets(tasks, sums, least + top):
                self._spend()
                inside = {0, *chosen}
                rest = tuple(task for index, task in enumerate(tasks) if index not in inside)
                filling = (tasks[0], *(tasks[index] for index in chosen))
                if not _outdone((0, *filling[1:]), rest, room - least - top):
                    yield filling, rest

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0 or self._control.expired():
            raise Unfinished


class CountedCompletion(Completion):
    """The same on machines that each run a number of tasks within limits.

    >>> CountedCompletion(8, 100, Control()).within((4, 4, 4, 2, 2), ((2, 3), (2, 3)))
    [(4, 4), (4, 2, 2)]
    >>> CountedCompletion(9, 100, Control()).within((5, 4, 1, 1), ((1, 3), (1, 1)))
    [(4, 1, 1), (5,)]
    """

    def __init__(self, capacity: int, budget: int, control: Control) -> None:
        super().__init__(capacity, budget, control)
        self._refuted: set[tuple[Limits, Group]] = set()

    def within(self, tasks: Group, limits: Limits) -> list[Group] | None:
        """Return the tasks of each machine, or None where they don't fit; else as ``packed``."""
        found = self._filled(tasks, tuple(sorted(limits)))
        if found is None:
            return None
        of: dict[tuple[int, int], list[Group]] = {}
        for limit, group in found:
            of.setdefault(limit, []).append(group)
        return [of[limit].pop() for limit in limits]

    def _filled(self, tasks: Group, limits: Limits) -> list[tuple[tuple[int, int], Group]] | None:
        """Return each machine's limit and tasks; ``limits`` are sorted."""
        spare = len(limits) * self.capacity - sum(tasks)
        least, most = (sum(each) for each in zip(*limits, strict=True)) if limits else (0, 0)
        if spare < 0 or not least <= len(tasks) <= most:
            return None
        if not tasks:
            return [(limit, ()) for limit in limits]
        beside = max(0, min(low for low, _ in limits) - 1)
        if tasks[0] + sum(tasks[len(tasks) - beside :]) > self.capacity:
            return None
        if (limits, tasks) in self._refuted:
            return None
        for limit in dict.fromkeys(limits):
            at = limits.index(limit)
            others = limits[:at] + limits[at + 1 :]
            low = max(1, limit[0], len(tasks) - most + limit[1])
            high = min(limit[1], len(tasks) - least + limit[0])
            for chosen, rest in self._counted_fillings(tasks, spare, low, high):
                found = self._filled(rest, others)
                if found is not None:
                    return [(limit, chosen), *found]
        self._refuted.add((limits, tasks))
        return None

    def _counted_fillings(
        self, tasks: Group, spare: int, low: int, high: int
    ) -> Iterator[tuple[Group, Group]]:
        """Yield ways to fill the machine of the first task with ``low`` to ``high`` tasks."""
        room, most = self.capacity - tasks[0], high - 1
        within = (1 << (room + 1)) - 1
        sums = [[0] * high for _ in range(len(tasks) + 1)]  # of so many tasks, by bits
        sums[-1][0:1] = [1]
        for index in range(len(tasks) - 1, 0, -1):
            task, after = tasks[index], sums[index + 1]
            sums[index] = [
                after[count] | (after[count - 1] << task & within if count else 0)
                for count in range(high)
            ]
        least = max(0, room - spare)
        counts = range(most, max(0, low - 1) - 1, -1)
        left = 0
        for count in counts:
            left |= sums[1][count] >> least
        while left:
            top = left.bit_length() - 1
            left ^= 1 << top
            for count in counts:
                if not sums[1][count] >> (least + top) & 1:
                    continue
                for inside in _counted_subsets(tasks, sums, least + top, count):
                    self._spend()
                    gone = {0, *inside}
                    rest = tuple(task for at, task in enumerate(tasks) if at not in gone)
                    chosen = tuple(tasks[at] for at in inside)
                    if not _outdone(chosen, rest, room - least - top):
                        yield (tasks[0], *chosen), rest


def _outdone(chosen: Group, rest: Group, idle: int) -> bool:
    """Whether a task that is left would fit in place of a shorter one, or of 0, beside them all.

    Exchanging both never makes the rest harder to pack.
    """
    left = sorted(set(rest)) if idle else []
    return any(task < other <= task + idle for task in set(chosen) for other in left)


def _counted_subsets(
    tasks: Group, sums: Sequence[Sequence[int]], target: int, count: int
) -> Iterator[list[int]]:
    """Yield so many tasks after the first that add up to ``target``; of equal sets only one."""
    chosen: list[int] = []

    def extended(index: int, target: int, count: int) -> Iterator[list[int]]:
        if not count:
            if not target:
                yield chosen.copy()
            return
        last = None
        while index < len(tasks) and sums[index][count] >> target & 1:
            task = tasks[index]
            if (
                task != last
                and task <= target
                and sums[index + 1][count - 1] >> (target - task) & 1
            ):
                chosen.append(index)
                yield from extended(index + 1, target - task, count - 1)
                chosen.pop()
            last = task
            index += 1

    yield from extended(1, target, count)


def _subsets(tasks: Group, sums: Sequence[int], target: int) -> Iterator[list[int]]:
    """Yield the tasks after the first that add up to ``target``; of equal sets only one."""
    chosen: list[int] = []
    index, count = 1, len(tasks)
    while True:
        while target and index < count:
            if not sums[index] >> target & 1:
                index = count
            elif tasks[index] <= target and sums[index + 1] >> (target - tasks[index]) & 1:
                chosen.append(index)
                target -= tasks[index]
                index += 1
            else:
                index += 1
        if not target:
            yield chosen.copy()
        if not chosen:
            return
        last = chosen.pop()
        target += tasks[last]
        index = last + 1
        while index < count and tasks[index] == tasks[last]:
            index += 1
