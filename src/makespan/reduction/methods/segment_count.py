"""How many segments?"""

from dataclasses import dataclass, field
from typing import Any

from makespan.core.control import Control
from makespan.core.errors import MethodError
from makespan.core.registry import applicability, find_method, register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.core.steps import Step, number
from makespan.reduction.needs import OPEN_COUNT
from makespan.reduction.problem import Reduction

LINE_UPS = {
    "free": ("chain", "two-tree", "binomial", "rarest-first"),
    "greedy": ("greedy-trees",),
    "backfilling": ("backfilling",),
}
"""By the order of sends that the problem asks for."""
MAX_SENDS = 400_000
GROWTH = 1.5
WORSE = 3  # a method is dropped after so many counts in a row that are worse than its best
REFINED = 12


@register(
    needs=(OPEN_COUNT,),
    complexity="a run of each method for O(log m) numbers of segments",
    source="search over m; chain: m* = sqrt(((n - 1)(B + G) - B) / o) where transfers dominate",
)
def segment_count(
    problem: Reduction, control: Control, *, methods: tuple[str, ...] | None = None
) -> Solution:
    """Search the best number of segments for each method, and keep the best of all.

    ``details`` has the curve of every method: number of segments and makespan.
    """
    names = methods or LINE_UPS[problem.order]
    of_links = problem.links is not None or problem.network is not None
    if problem.collective == "all-reduce":
        names = ("reduce-then-broadcast", *("reduce-scatter-all-gather",) * of_links)
    one = problem.with_segments(1)
    verdicts = {name: applicability(find_method("reduction", name), one) for name in names}
    if methods is None and of_links:
        names = tuple(name for name in names if verdicts[name].applies)
    for name in names:
        if not verdicts[name].applies:
            raise MethodError(f"methods: {verdicts[name]}")
    curves = {name: _Curve(problem, control, name) for name in names}
    for curve in list(curves.values()):
        if control.expired() and curve.name != names[0]:
            del curves[curve.name]
        else:
            curve.search()
    best = min(curves.values(), key=lambda curve: (curve.least, names.index(curve.name)))
    assert best.schedule is not None
    details: dict[str, Any] = {
        "best": {c.name: {"segments": c.count, "makespan": c.least} for c in curves.values()},
        "curve": {
            name: [{"segments": m, "makespan": curve.values[m]} for m in sorted(curve.values)]
            for name, curve in curves.items()
        },
        "segments": best.count,
        "method": best.name,
    }
    return Solution(schedule=best.schedule, details=details, stopped=True)  # some counts are tried


@dataclass(slots=True)
class _Curve:
    """The makespans of one method over the number of segments."""

    problem: Reduction
    control: Control
    name: str
    values: dict[int, float] = field(default_factory=dict)
    least: float = float("inf")
    count: int = 1
    schedule: Schedule | None = None

    def search(self) -> None:
        """Walk up by factors while it helps, then halve the steps around the best."""
        count, worse = 1, 0
        while worse < WORSE and count * len(self.problem.machines) <= MAX_SENDS:
            worse = 0 if self.value(count) <= self.least else worse + 1
            if self.control.expired():
                return
            count = max(count + 1, int(count * GROWTH))
        step = max(1, self.count // 3)
        for _ in range(REFINED):
            before = self.count
            for trial in (before - step, before + step):
                if trial >= 1 and trial * len(self.problem.machines) <= MAX_SENDS:
                    self.value(trial)
                if self.control.expired():
                    return
            if self.count == before:
                if step == 1:
                    break
                step = max(1, step // 2)

    def value(self, count: int) -> float:
        if count not in self.values:
            fixed = self.problem.with_segments(count)
            budget = {"restarts": 4, "rebuilds": 0} if self.name == "rarest-first" else {}
            with self.control.aside():
                solution = find_method("reduction", self.name).run(fixed, self.control, **budget)
            self.values[count] = solution.makespan
            if self.control.log_steps:
                found = {"segments": float(count), "makespan": solution.makespan}
                text = f"{self.name}, {count} segments: makespan {number(solution.makespan)}"
                cells: dict[str, str | float] = {"method": self.name, **found}
                self.control.step(Step(text=text, cells=cells, values=found))
            if solution.makespan < self.least:
                self.least, self.count = solution.makespan, count
                self.schedule = solution.schedule
        return self.values[count]
