"""The statement of a problem of independent tasks."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.inputs.rules import Mistakes, Rule, quoted, whole
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.names import Numbered
from makespan.core.numeric.arrays import Floats, Integers, equal_in
from makespan.core.problem import Pictured
from makespan.core.system.memory import claim

COUNT = whole("a number of tasks is", 0, 10**9)
SIZE = Rule("a size is 0 or more units")
CAPACITY = Rule("a capacity is 0 or more units", infinite=True)
LEAST, MOST = "least", "most"


def checked_counts(mistakes: Mistakes, counts: Any, machines: Any) -> Any:
    """Return ``"equal"``, or a table of the limits that are stated; None where there are none."""
    if counts is None or (isinstance(counts, str) and counts == "equal"):
        return counts
    if isinstance(counts, str):
        mistakes.choice("counts", counts, ("equal",))
        return None
    told = counts if isinstance(counts, Mapping) else {MOST: counts}
    found: dict[str, Any] = {}
    for name, value in told.items():
        place = f"counts.{name}" if isinstance(counts, Mapping) else "counts"
        if name not in (LEAST, MOST):
            mistakes.add("counts", f"unknown key {quoted(name)}; it has {LEAST!r} and {MOST!r}")
        elif not np.iterable(value) or isinstance(value, (str, bytes)):
            if mistakes.number(place, value, COUNT) >= 0:
                found[name] = operator.index(value)  # type: ignore[arg-type]
        else:
            entries = value.tolist() if isinstance(value, np.ndarray) else list(value)
            before = len(mistakes.found)
            mistakes.column(lambda index, place=place: f"{place}[{index}]", entries, COUNT)  # type: ignore[misc]
            if len(mistakes.found) == before and len(entries) != machines:
                mistakes.add(
                    place, f"has {len(entries)} entries; there are {quoted(machines)} machines"
                )
            found[name] = list(entries)
    return found or None


def check_counts(least: Integers, most: Integers, tasks: int, machines: Sequence[str]) -> None:
    """Refuse limits that no plan can keep."""
    claim(32.0 * len(machines), f"the limits of {len(machines):,} machines")
    mistakes = Mistakes()
    for machine in np.flatnonzero(least > most)[:1].tolist():
        text = f"is {least[machine]} on {machines[machine]}, which may have {most[machine]}"
        mistakes.add(f"counts.{LEAST}", text)
    if int(least.sum()) > tasks:
        mistakes.add(f"counts.{LEAST}", f"adds up to {least.sum()} tasks; there are {tasks}")
    if int(most.sum()) < tasks:
        mistakes.add(f"counts.{MOST}", f"adds up to {most.sum()} tasks; there are {tasks}")
    mistakes.raise_if_any()


def checked_capacity(mistakes: Mistakes, capacity: Any, machines: Any) -> Floats | None:
    """Return the capacity of each machine as an array."""
    if capacity is None:
        return None
    if not np.iterable(capacity) or isinstance(capacity, (str, bytes)):
        value = mistakes.number("capacity", capacity, CAPACITY)
        return None if mistakes else np.broadcast_to(np.float64(value), operator.index(machines))
    room = checked_column(mistakes, "capacity", capacity, CAPACITY)
    if not mistakes and len(room) != machines:
        mistakes.add("capacity", f"has {len(room)} entries; there are {machines} machines")
    room.flags.writeable = False
    return room


def check_sizes(
    mistakes: Mistakes, tasks: int, sizes: Floats | None, capacity: Floats | None
) -> None:
    """Note sizes without a capacity, the other way round, and what can't fit."""
    if sizes is None or capacity is None:
        if sizes is not None or capacity is not None:
            missing, given = ("capacity", "sizes") if capacity is None else ("sizes", "capacity")
            mistakes.add(missing, f"is missing; {given} needs it")
        return
    if len(sizes) != tasks:
        mistakes.add("sizes", f"has {len(sizes)} entries; there are {tasks} tasks")
    greatest, total = float(capacity.max()), float(capacity.sum())
    for task in np.flatnonzero(sizes > greatest)[:1].tolist():
        text = f"{sizes[task]:g} is above {greatest:g}, the greatest capacity of a machine"
        mistakes.add(f"sizes[{task}]", text)
    if float(sizes.sum()) > total * (1 + 1e-9):
        text = f"adds up to {total:g} on all machines; the sizes add up to {sizes.sum():g}"
        mistakes.add("capacity", text)


def checked_column(mistakes: Mistakes, place: str, values: Any, rule: Rule) -> Floats:
    """Return a list of numbers as an array of its own; note every mistake."""
    if isinstance(values, (str, bytes, Mapping)) or not np.iterable(values):
        mistakes.add(place, f"{quoted(values)} is not a list of numbers; {rule.allowed}")
        return np.empty(0)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        mistakes.add(place, f"has {values.ndim} dimensions; it is one list of numbers")
        return np.empty(0)
    values = values if isinstance(values, np.ndarray) else list(values)
    return np.array(mistakes.column(lambda index: f"{place}[{index}]", values, rule))


Counts = Literal["equal"] | dict[str, int | list[int]]
MAX_MACHINES = 10**9
MACHINES = whole("machines are", high=MAX_MACHINES)
DURATION = Rule("a duration is 0 or more seconds")
ENTRY = Rule(
    "a duration on a machine is 0 or more seconds, inf where the task can't run", infinite=True
)
SPEED = Rule("a speed is above 0", strictly=True)
RELEASE = Rule("a release is 0 or more seconds")


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class IndependentTasks(Pictured):
    """Tasks of given durations on parallel machines, to be finished as early as possible.

    Every task runs on one machine from start to end; with ``preemptive``, it may be cut into
    pieces that run on any machines, one after another. A machine runs one task at a time.

    Parameters
    ----------
    machines
        The number of machines, 1 or more. The attribute ``machines`` holds their names, ``M1``,
        ``M2``, …; ``machine_count`` their number.
    durations
        Seconds of each task, 0 or more; any number of tasks. Or a table, where they depend on
        the machine: a row for each task, a column for each machine, ``inf`` where a task can't
        run. Either may be a mapping from the tasks' names. Kept as a read-only array.
    speeds
        Of uniform machines: a task of d seconds takes d / speed. None: all are alike, or the
        table says how they differ.
    release
        Seconds before which a task can't start: one number for all, one for each, or a mapping
        from names of tasks. Kept as an array; None where all are 0.
    preemptive
        Whether a task may be interrupted and continued later, on any machine. Where the machines
        differ, the shares of a task that its pieces do add up to 1.
    counts
        How many tasks a machine may run: ``"equal"`` (numbers that differ by at most one), the
        greatest number for all, a list of one for each machine, or a table of ``least`` and
        ``most``, each of them one number for all or a list. None: any.
    sizes, capacity
        The size of each task, in any unit, and what the sizes on a machine may add up to: one
        number for all or one for each machine, ``inf`` where there is no limit.
    names
        The tasks' names, where ``durations`` don't name them; else ``T1``, ``T2``, …
    options
        ``method`` and its options, as in the table ``[options]`` of a file.

    Raises
    ------
    ProblemError
        With every mistake found, each with its place.

    Source: Graham et al. 1979, ``P || C_max``, ``P | pmtn | C_max``, ``Q || C_max`` with speeds,
    ``R || C_max`` with a table, each with ``pmtn`` or ``r_j``, too. With counts: Dell'Amico and
    Martello 2001, ``P | # <= k | C_max``.

    >>> tasks = IndependentTasks(machines=3, durations=[4, 4, 4, 4, 3, 2])
    >>> list(tasks.machines), tasks.machine_count
    (['M1', 'M2', 'M3'], 3)
    >>> list(IndependentTasks(2, {"build": 4, "test": 3}).tasks)
    ['build', 'test']
    >>> IndependentTasks(2, [4, 3], speeds=[1, 2]).table.tolist()
    [[4.0, 2.0], [3.0, 1.5]]
    >>> IndependentTasks(2, [4, 3, 1, 1, 1], counts={"least": 2}).count_limits[0].tolist()
    [2, 2]
    """

    kind: ClassVar[str] = "independent"

    machines: Sequence[str]
    durations: Floats
    preemptive: bool = False
    speeds: Floats | None = None
    release: Floats | None = None
    counts: Counts | None = None
    sizes: Floats | None = None
    capacity: Floats | None = None
    names: tuple[str, ...] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __init__(
        self,
        machines: int,
        durations: ArrayLike | Mapping[str, Any],
        *,
        speeds: ArrayLike | None = None,
        release: ArrayLike | Mapping[str, float] = 0.0,
        preemptive: bool = False,
        counts: Any = None,
        sizes: ArrayLike | None = None,
        capacity: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        mistakes = Mistakes()
        mistakes.number("machines", machines, MACHINES)
        if isinstance(durations, Mapping):
            names = list(durations) if names is None else names
            durations = list(durations.values())
        seconds = _checked_durations(mistakes, durations, machines)
        rates = None if speeds is None else checked_column(mistakes, "speeds", speeds, SPEED)
        if rates is not None and not mistakes and len(rates) != machines:
            mistakes.add("speeds", f"has {len(rates)} entries; there are {machines} machines")
        called = _checked_names(mistakes, names, len(seconds))
        if isinstance(release, Mapping):
            release = _by_task(mistakes, release, called, len(seconds))
        known = _checked_release(mistakes, release, len(seconds))
        preemptive = bool(preemptive) if isinstance(preemptive, np.bool_) else preemptive
        mistakes.flag("preemptive", preemptive)
        if rates is not None and seconds.ndim == 2:
            mistakes.add("speeds", "can't be given beside durations on each machine")
        if options is not None and not isinstance(options, Mapping):
            mistakes.add("options", f"{quoted(options)} is not a table of name = value")
        if isinstance(sizes, Mapping):
            sizes = _by_task(mistakes, sizes, called, len(seconds), "sizes")
        volumes = None if sizes is None else checked_column(mistakes, "sizes", sizes, SIZE)
        room = checked_capacity(mistakes, capacity, machines)
        counts = checked_counts(mistakes, counts, machines)
        if not mistakes:
            check_sizes(mistakes, len(seconds), volumes, room)
            for name in (n for n, v in (("counts", counts), ("sizes", sizes)) if v is not None):
                if preemptive or known is not None:
                    beside = "where tasks may be cut (preemptive = true)" if preemptive else ""
                    mistakes.add(name, f"can't be given {beside or 'beside releases'}")
        mistakes.raise_if_any()
        for kept in (seconds, rates, known, volumes):
            if kept is not None:
                kept.flags.writeable = False
        object.__setattr__(self, "machines", Numbered("M", operator.index(machines), first=1))
        object.__setattr__(self, "durations", seconds)
        object.__setattr__(self, "preemptive", preemptive)
        object.__setattr__(self, "speeds", rates)
        object.__setattr__(self, "release", known)
        object.__setattr__(self, "sizes", volumes)
        object.__setattr__(self, "capacity", room)
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "names", called)
        object.__setattr__(self, "options", dict(options or {}))
        if isinstance(counts, dict):
            check_counts(*self.count_limits, len(seconds), self.machines)

    @property
    def tasks(self) -> Sequence[str]:
        """The names of the tasks: ``T1``, ``T2``, … where none are given."""
        return Numbered("T", len(self.durations), first=1) if self.names is None else self.names

    @property
    def machine_count(self) -> int:
        """The number of machines."""
        return len(self.machines)

    @property
    def useful_machines(self) -> int:
        """The number of machines that a plan can use: no more than there are tasks.

        All where limits tell the machines apart.
        """
        few = min(len(self.machines), len(self.durations))
        return few if self.alike_limits else len(self.machines)

    @property
    def limited(self) -> bool:
        """Whether there are limits on counts or sizes: tasks that take no time have places, too."""
        return self.counts is not None or self.sizes is not None

    @property
    def alike_limits(self) -> bool:
        """Whether all machines have the same limits."""
        told = self.counts.values() if isinstance(self.counts, dict) else ()
        room = self.capacity
        return not any(isinstance(each, list) for each in told) and (
            room is None or not len(room) or bool((room == room[0]).all())
        )

    @property
    def count_limits(self) -> tuple[Integers, Integers]:
        """The least and the greatest number of tasks of each machine."""
        tasks, machines = len(self.durations), self.machine_count
        told: dict[str, int | list[int]] = {}
        if isinstance(self.counts, dict):
            told = self.counts
        elif self.counts is not None:
            told = {LEAST: tasks // machines, MOST: -(-tasks // machines)}
        least, most = (
            np.broadcast_to(np.asarray(told.get(name, default), dtype=np.int64), machines)
            for name, default in ((LEAST, 0), (MOST, tasks))
        )
        return least, most

    @property
    def identical(self) -> bool:
        """Whether every task takes the same time on all machines."""
        return self.speeds is None and self.durations.ndim == 1

    @property
    def table(self) -> Floats:
        """The seconds of each task (row) on each machine (column), infinite where it can't run."""
        if self.durations.ndim == 2:
            return self.durations
        count, machines = len(self.durations), self.machine_count
        claim(8.0 * count * machines, f"the durations of {count:,} tasks on {machines:,} machines")
        speeds = np.ones(self.machine_count) if self.speeds is None else self.speeds
        return self.durations[:, None] / speeds

    def seconds_on(self, tasks: Integers, machines: Integers) -> Floats:
        """Return what each of ``tasks`` takes, whole, on the machine at its place."""
        if self.durations.ndim == 2:
            return self.durations[tasks, machines]
        seconds: Floats = self.durations[tasks]
        return seconds if self.speeds is None else seconds / self.speeds[machines]

    @property
    def by_release(self) -> Integers:
        """The tasks in the order of their releases, the first of equal ones first."""
        if self.release is None:
            return np.arange(len(self.durations))
        return np.argsort(self.release, kind="stable")

    @property
    def least_seconds(self) -> Floats:
        """The seconds of each task where it is fastest."""
        if self.speeds is not None:
            return self.durations / float(self.speeds.max())
        return self.durations if self.identical else self.durations.min(axis=1, initial=np.inf)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IndependentTasks):
            return NotImplemented
        columns = "durations", "speeds", "release", "sizes", "capacity"
        rest = "machine_count", "preemptive", "counts", "names", "options"
        return equal_in((*rest, *columns), self, other)

    __hash__ = None  # type: ignore[assignment]

    def _counts(self) -> Mapping[str, int]:
        return {"task": len(self.durations), "machine": self.machine_count}


def _checked_names(mistakes: Mistakes, names: Any, tasks: int) -> tuple[str, ...] | None:
    """Return the names of the tasks; None where they are numbered."""
    if names is None or mistakes:
        return None
    if not isinstance(names, (list, tuple)):
        mistakes.add("names", f"{quoted(names)} is not a list of names")
        return None
    mistakes.names("names[{}]".format, names)
    if len(names) != tasks:
        mistakes.add("names", f"has {len(names)} entries; there are {tasks} tasks")
    numbered = len(names) == tasks and tuple(names) == Numbered("T", tasks, first=1)
    return None if numbered else tuple(names)


def _by_task(
    mistakes: Mistakes,
    values: Mapping[Any, Any],
    names: Sequence[str] | None,
    tasks: int,
    place: str = "release",
) -> list[Any]:
    """Return the values in the order of the tasks, 0 where none is given."""
    known = Numbered("T", tasks, first=1) if names is None else names
    for name in values:
        if name not in known:
            mistakes.add(place, f"{quoted(name)} is not a task{did_you_mean(name, known)}")
    return [values.get(name, 0.0) for name in known]


def _checked_release(mistakes: Mistakes, release: Any, tasks: int) -> Floats | None:
    """Return the releases as an array of their own; None where all tasks are there at 0."""
    before = len(mistakes.found)
    if not np.iterable(release) or isinstance(release, (str, bytes)):
        mistakes.number("release", release, RELEASE)
        sound = len(mistakes.found) == before
        return np.full(tasks, float(release)) if sound and release and tasks else None
    column = checked_column(mistakes, "release", release, RELEASE)
    if not mistakes and len(column) != tasks:
        mistakes.add("release", f"has {len(column)} entries; there are {tasks} tasks")
    return column if len(mistakes.found) == before and column.any() else None


def _checked_durations(mistakes: Mistakes, durations: Any, machines: Any) -> Floats:
    """Return the durations as an array of their own, a table where they are; note every mistake."""
    if not _has_rows(durations):
        return checked_column(mistakes, "durations", durations, DURATION)
    rows = []
    for index, row in enumerate(durations):
        place, before = f"durations[{index}]", len(mistakes.found)
        entries = checked_column(mistakes, place, row, ENTRY)
        if len(mistakes.found) == before:
            if len(entries) != machines:
                text = f"has {len(entries)} entries; there are {quoted(machines)} machines"
                mistakes.add(place, text)
            elif not np.isfinite(entries).any():
                mistakes.add(place, "is infinite on every machine; a task can run on one at least")
        rows.append(entries)
    return np.empty((0, 0)) if mistakes else np.array(rows)


def _has_rows(durations: Any) -> bool:
    if isinstance(durations, np.ndarray):
        return durations.ndim == 2
    return isinstance(durations, (list, tuple)) and any(
        isinstance(each, (list, tuple, np.ndarray)) for each in durations
    )
