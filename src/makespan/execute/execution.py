"""What a run brought: results, what happened when, and how far off the plan was."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np

from makespan.core.display import Axes, Displayable, Exportable, HasFrame, Table, as_csv
from makespan.core.errors import ExecutionError
from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import WORDS, Activity, Schedule
from makespan.core.system.startup import optional
from makespan.divisible.model.platform import Star
from makespan.execute.dealing.engine import Failure
from makespan.flow.result import Result
from makespan.flow.serialize import as_json, schedule_as_dict

WIDE = 3.0  # an interval whose ends are further apart than this, as a ratio, tells nothing
MOST_NAMED = 8  # workers of which it is said how many items they computed


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """An activity of the plan that was measured: what was planned, and what happened, seconds."""

    kind: str
    machine: str
    item: int
    planned_start: float
    planned_end: float
    start: float
    end: float

    @property
    def planned(self) -> float:
        return self.planned_end - self.planned_start

    @property
    def measured(self) -> float:
        return self.end - self.start

    @property
    def relative(self) -> float:
        """How much longer it took than planned, relative to the plan."""
        return self.measured / self.planned - 1.0 if self.planned > 0 else 0.0


@dataclass(frozen=True, slots=True)
class WorkerShare:
    """What a worker did: so many items, in so many seconds of all its threads."""

    name: str
    items: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Execution(Displayable, HasFrame, Exportable):
    """A run.

    :func:`makespan.save` writes it: what was measured as a picture, as ``.csv``, as ``.json`` with
    what is said of it, or as a page (``.html``), below the plan where there was one. The results
    are not in it.

    Parameters
    ----------
    results
        One result an item, in the order of the data; None for items that failed. An array where
        a batched function returned arrays.
    schedule
        What was measured, as a schedule: time 0 is the start of the first transfer. Chunks keep
        the numbers that they have in the plan; chunks that were planned again follow.
    plan
        The plan, or None where there was none to follow.
    failures
        The items on which the function raised.
    events
        What happened to the cluster, and what was planned again, in sentences.
    seconds
        From the start of the run until all results were there.
    learning
        Until every worker had returned something, seconds.
    planning
        Spent on sizes of chunks, seconds.
    own_map
        What the engine offers itself: ``client.map``, the ``map`` of an executor, Ray's pool.
    rival
        Between which seconds that would have ended by the seconds that each item took here: without
        any loss at tasks, and with what a task of it was measured to lose. None where nobody knows:
        a run of less than half a second measures nothing.
    client_map
        The middle of these, seconds.
    tasks
        Of how many tasks: the items, or, for a batched function, the best of 16, 64 and 256 chunks.
    pays_from
        From about how many items on that would take longer; None where it never does.
    took
        The seconds that each item took its worker, (items,).
    workers
        What each worker did, by name.
    platform
        The workers' costs as :func:`makespan.execute.map` learnt them, to plan on.

    >>> from makespan import execute
    >>> execution = execute.map(pow, [2, 3], [5, 2], on=client)  # doctest: +SKIP
    >>> execution.results, execution.schedule.makespan > 0  # doctest: +SKIP
    ([32, 9], True)
    """

    results: Any
    schedule: Schedule
    plan: Result | None
    failures: tuple[Failure, ...] = ()
    events: tuple[str, ...] = ()
    seconds: float = 0.0
    learning: float = 0.0
    planning: float = 0.0
    own_map: str = ""
    rival: tuple[float, float] | None = None
    client_map: float | None = None
    tasks: int = 0
    pays_from: int | None = None
    platform: Star | None = field(default=None, repr=False)
    took: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    workers: tuple[WorkerShare, ...] = ()

    SUFFIXES: ClassVar[tuple[str, ...]] = (
        ".json", ".csv", ".svg", ".png", ".pdf", ".html", ".trace.json",
    )  # fmt: skip

    @property
    def predicted(self) -> float | None:
        """The makespan that the plan promised, seconds."""
        return None if self.plan is None else self.plan.makespan

    @property
    def measured(self) -> float:
        """The seconds from the start of the first transfer until the last result was there."""
        return self.schedule.makespan

    @property
    def error(self) -> float | None:
        """``measured / predicted - 1``."""
        if not self.predicted:
            return None
        return self.measured / self.predicted - 1.0

    @property
    def errors(self) -> tuple[Deviation, ...]:
        """Every activity of the plan that was carried out, in the order of the plan."""
        if self.plan is None or self.plan.schedule is None:
            return ()
        return deviations(self.plan.schedule, self.schedule)

    def plot(self, *, axes: Sequence[Axes] | None = None, legend: bool = True) -> Sequence[Axes]:
        """Draw what was measured, below the plan where there was one.

        Both have the same time axis, and machines in the same order.

        Parameters
        ----------
        axes
            The axes to draw into, two where there was a plan; None makes a new figure with pyplot.
        legend
            Whether to draw a legend below.
        """
        from makespan.drawing.gantt.mpl import gantt
        from makespan.flow.picture import picture

        if axes is None:
            plt, number = optional("matplotlib.pyplot"), 1 if self.plan is None else 2
            size = (10.0, 2.0 + 0.8 * number * len(self.schedule.machines))
            options = {"sharex": True, "figsize": size, "gridspec_kw": {"hspace": 0.3}}
            axes = plt.subplots(number, squeeze=False, **options)[1][:, 0]
            assert axes is not None
        title = f"measured: makespan {self.measured:.4g} s"
        if self.plan is None:
            gantt(picture(self.schedule, title=title), axes[0], legend=legend)
            return axes
        upper, lower = axes
        known = set(self.plan.problem.machines)
        same = all(machine in known for machine in self.schedule.machines)
        problem = self.plan.problem if same else None
        above = picture(self.plan)
        below = picture(self.schedule, problem=problem, title=title)
        below = below.with_rows_as(above).with_limits_of(above)
        gantt(above, upper, legend=False)
        shown = upper.get_xlim()[1]
        gantt(below, lower, legend=legend)
        lower.set_xlim(0.0, max(shown, lower.get_xlim()[1]))
        return axes

    def as_dict(self) -> dict[str, Any]:
        """Return what happened as plain data, without the results."""
        names = [
            "seconds",
            "learning",
            "planning",
            "own_map",
            "rival",
            "client_map",
            "tasks",
            "pays_from",
            "predicted",
            "measured",
        ]
        return {
            **{name: getattr(self, name) for name in names},
            "workers": [asdict(worker) for worker in self.workers],
            "events": list(self.events),
            "failures": [str(failure) for failure in self.failures],
            "schedule": schedule_as_dict(self.schedule),
        }

    def _in_form(self, suffix: str) -> str | bytes:
        if suffix == ".json":
            return as_json(self.as_dict()) + "\n"
        if suffix == ".csv":
            return as_csv(self._columns())
        from makespan.flow.plot import picture_file

        return self._page() if suffix == ".html" else picture_file(self.schedule, suffix)

    def _page(self) -> str:
        """Return the plan, if there was one, and what was measured, with what is said of it."""
        from makespan.flow.plot import run_page

        return run_page(self.schedule, str(self).split("\n"), self.plan)

    def _shares(self) -> Iterator[str]:
        """Yield how many items each worker computed, the most first, if items are counted."""
        held = {one.name: one.items for one in self.workers} or self._amounts()
        most = sorted((name for name in held if held[name]), key=held.__getitem__, reverse=True)
        told = [f"{name} {held[name]:,.0f}" for name in most[:MOST_NAMED]]
        more = len(most) - len(told)
        if told:
            yield f"items: {', '.join(told)}" + (f" and {more:,} more workers" if more else "")

    def _amounts(self) -> dict[str, float]:
        """Return what each machine computed by the schedule, nothing if that isn't all items."""
        rows, machines = self.schedule.rows_of(Activity.COMPUTE), self.schedule.machines
        amounts = self.schedule.amount[rows]
        items = np.bincount(self.schedule.machine[rows], amounts, minlength=len(machines))
        whole = len(self.schedule.rows_of(Activity.SEND)) and items.sum() == len(self.results)
        return dict(zip(machines, items.tolist(), strict=True)) if whole else {}

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return self.schedule._columns()

    def _facts(self) -> Sequence[str]:
        return str(self).partition("\n")[:1]

    def _notes(self) -> Sequence[str]:
        return str(self).split("\n")[1:]

    def _tables(self) -> Sequence[Table]:
        if not self.workers:
            return self.schedule._tables()
        columns: dict[str, Sequence[Any]] = {
            "worker": [one.name for one in self.workers],
            "items": [one.items for one in self.workers],
            "busy, s": [round(one.seconds, 4) for one in self.workers],
        }
        return [Table.of(columns, caption="items a worker"), *self.schedule._tables()]

    def _verdict(self) -> Sequence[str]:
        """Say what the engine's own map would have taken, where that is known."""
        if self.rival is None:
            return ()
        what = "items" if self.tasks == len(self.results) else f"{self.tasks} chunks"
        low, high = (seconds / max(self.seconds, 1e-9) for seconds in self.rival)
        if not low <= 1.0 <= high:
            verdict = f"{low:.2f} to {high:.2f} times as long"
        else:
            verdict = "about as long" if high <= WIDE * low else "too uncertain to compare"
        text = (
            f"{self.own_map}(function, {what}) would take {self.rival[0]:.4g} to "
            f"{self.rival[1]:.4g} s, {verdict}"
        )
        if high < 1.0:
            pays = self.pays_from
            fast = f"{self.own_map} is at least as fast for this function"
            text += f"; makespan is faster from about {pays:,} items on" if pays else f"; {fast}"
        return (text,)

    def __str__(self) -> str:
        lines = [f"measured {self.measured:.4g} s"]
        if self.predicted and self.error is not None:
            lines[0] += f", predicted {self.predicted:.4g} s ({100 * self.error:+.1f} %)"
        if self.workers and self.plan is None:
            lines.append(
                f"total {self.seconds:.4g} s, of it learning {self.learning:.3g} s, "
                f"planning {self.planning:.2g} s"
            )
        lines += self._verdict()
        lines += self._shares()
        by_kind: dict[str, list[float]] = {}
        for one in self.errors:
            by_kind.setdefault(one.kind, []).append(one.relative)
        for kind, found in by_kind.items():
            middle, worst = statistics.median(found), max(found, key=abs)
            lines.append(
                f"{kind}: {len(found)} measured, median {100 * middle:+.1f} %, "
                f"farthest {100 * worst:+.1f} %"
            )
        lines += self.events
        lines += [str(failure) for failure in self.failures]
        return "\n".join(lines)


class ItemsFailed(ExecutionError):
    """The function raised on some items; ``execution`` holds the results of the others.

    Its cause is the first error, with the worker's traceback as a note.

    >>> from makespan import execute
    >>> try:  # doctest: +SKIP
    ...     execute.map(pow, [2, 0], [5, -1], on=client)
    ... except execute.ItemsFailed as error:
    ...     print(error.execution.results)
    [32, None]
    """

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self.failures = execution.failures
        count = sum(failure.last - failure.first + 1 for failure in self.failures)
        lines = [f"the function failed on {count} of {len(execution.results)} items"]
        lines += [f"  {failure}" for failure in self.failures[:10]]
        if len(self.failures) > 10:
            lines.append(f"  and {len(self.failures) - 10} more")
        lines += ["on the worker:", self.failures[0].traceback.rstrip()]
        super().__init__("\n".join(lines))


def raise_if_failed(execution: Execution) -> None:
    """Raise :class:`ItemsFailed` if the function raised on any item."""
    if execution.failures:
        raise ItemsFailed(execution) from execution.failures[0].error


def checked(execution: Execution, *, keep_going: bool) -> Execution:
    """Return what came of a run, or raise where items failed."""
    if not keep_going:
        raise_if_failed(execution)
    return execution


def deviations(plan: Schedule, measured: Schedule) -> tuple[Deviation, ...]:
    """Match the activities of a plan and of a measurement by kind, machines and chunk."""
    rows = {}
    for row in range(len(measured)):
        peer = int(measured.peer[row])
        key = (
            int(measured.kind[row]),
            measured.machines[int(measured.machine[row])],
            measured.machines[peer] if peer >= 0 else "",
            int(measured.item[row]),
        )
        rows[key] = row
    found = []
    for row in np.lexsort((plan.end, plan.start)).tolist():
        machine, peer = plan.machines[int(plan.machine[row])], int(plan.peer[row])
        other = plan.machines[peer] if peer >= 0 else ""
        match = rows.get((int(plan.kind[row]), machine, other, int(plan.item[row])))
        if match is None:
            continue
        found.append(
            Deviation(
                kind=WORDS[plan.kind[row]],
                machine=other or machine,
                item=int(plan.item[row]),
                planned_start=float(plan.start[row]),
                planned_end=float(plan.end[row]),
                start=float(measured.start[match]),
                end=float(measured.end[match]),
            )
        )
    return tuple(found)
