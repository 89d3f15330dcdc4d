"""The front of makespan and price."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import MethodError
from makespan.core.inputs.rules import refusal, whole
from makespan.core.registry import register
from makespan.core.schedule import Schedule
from makespan.core.solution import FrontGap, Objective, Solution, front_in_words
from makespan.divisible.methods.sequence_search import sequence_search
from makespan.divisible.model.plan import entry_of, price_of
from makespan.divisible.needs import A_FRONT, ANY_STAR
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.transfer_sequence import Decided
from makespan.divisible.returns.transfers import solve_transfers
from makespan.divisible.timing import matched

POINTS = whole("points are", 2)
ALLOWED = 1e-9  # relative: by so much a limit that is the value of another plan is raised


class Point(NamedTuple):
    time: float
    price: float
    plan: Schedule


@register(
    needs=(ANY_STAR, A_FRONT),
    proves="of each point, by trying every sequence: no plan as fast is cheaper",
    complexity="a search over sequences a point",
    source="Haimes, Lasdon and Wismer 1971 (ε-constraint)",
)
def pareto(problem: DivisibleLoad, control: Control, *, points: int = 12) -> Solution:
    """Pairs of makespan and price that no plan beats in both; the schedule is the fastest.

    The front is a curve. Of it the details hold the ends, the fastest plan and the cheapest, and
    the cheapest plans by deadlines at equal distances in between: ``front`` has their time, price
    and chunks by increasing time. ``unknown`` are pairs of times between which there may be plans
    that beat some of them; the second is None where any later plan may be cheaper.
    """
    text = refusal(points, POINTS)
    if text is not None:
        raise MethodError(f"points: {text}")
    search = _FrontSearch(problem, control, points)
    none = search.run()
    return search.solution() if none is None else none


class _FrontSearch:
    """The points found, and the deadlines looked at: whether no plan by then is cheaper."""

    def __init__(self, problem: DivisibleLoad, control: Control, points: int) -> None:
        self.problem = problem
        self.control = control
        self.count = points
        self.left = points + 2
        self.found: list[Point] = []
        self.looks: list[tuple[float, bool]] = []
        self.begin = 0.0
        self.end: float | None = None

    def run(self) -> Solution | None:
        """Find the points; return why there are none, if so."""
        by_time = replace(self.problem, objective="makespan", options={})
        by_price = replace(self.problem, objective="price", options={})
        fastest, cheapest = self._best(by_time), self._best(by_price)
        if fastest.schedule is None and cheapest.schedule is None:
            return replace(fastest, stopped=True)
        if fastest.schedule is None:
            fastest = replace(cheapest, optimal=False, lower_bound=fastest.lower_bound)
        elif cheapest.schedule is None:
            cheapest = replace(fastest, optimal=False)
        assert fastest.schedule is not None
        assert cheapest.schedule is not None
        least = _price(self.problem, cheapest.schedule)
        end = self._best(replace(by_time, budget=_raised(least, self.problem.budget)))
        slowest = cheapest if end.schedule is None else end
        assert slowest.schedule is not None
        self._take(slowest.schedule)
        last = max(fastest.makespan, slowest.makespan)
        deadlines = np.linspace(fastest.makespan, last, self.count)[:-1]
        for deadline in np.unique(deadlines).tolist():
            by_then = self._best(
                replace(by_price, deadline=_raised(deadline, self.problem.deadline))
            )
            if by_then.schedule is not None:
                self._take(by_then.schedule)
            elif deadline == fastest.makespan:
                self._take(fastest.schedule)
            self.looks.append((deadline, by_then.schedule is not None and by_then.optimal))
        self.looks.append((last, cheapest.optimal and end.optimal))
        self.begin = fastest.makespan if fastest.optimal else fastest.lower_bound or 0.0
        self.end = last if cheapest.optimal else self.problem.deadline
        return None

    def _best(self, limited: DivisibleLoad) -> Solution:
        if self.left <= self.count and self.control.expired():
            return Solution(schedule=None, stopped=True)
        remaining = self.control.remaining
        seconds = None if remaining is None else max(0.0, remaining) / max(1, self.left)
        self.left -= 1
        with self.control.aside(), self.control.limited(seconds):
            search = sequence_search if self.problem.transfers is None else solve_transfers
            return search(limited, self.control)

    def _take(self, plan: Schedule) -> None:
        self.found.append(Point(plan.makespan, _price(self.problem, plan), plan))

    def solution(self) -> Solution:
        """Return the front of what was found."""
        points, unknown = _front(self.found), self._unknown()
        return Solution(
            schedule=points[0].plan,
            optimal=not unknown,
            stopped=bool(unknown),
            objective=Objective(name="price", value=points[0].price) if unknown else None,
            notes=(front_in_words([each[:2] for each in points], "price", unknown),),
            details={
                "front": [_entry(self.problem, point) for point in points],
                "unknown": unknown,
            },
        )

    def _unknown(self) -> list[FrontGap]:
        """Return the times between which some plan may be cheaper, or faster than all."""
        ranges: list[FrontGap] = []
        known, sure = self.begin, self.begin == self.looks[0][0]
        for deadline, proved in self.looks:
            if proved and not sure:
                ranges.append([known, deadline])
            known, sure = (deadline, True) if proved else (known, False)
        return ranges if sure else [*ranges, [known, self.end]]


def _raised(limit: float, most: float | None) -> float:
    """Return a limit that is the value of another plan, but no more than the problem's own."""
    raised = limit * (1 + ALLOWED)
    return raised if most is None else min(raised, most)


def _price(problem: DivisibleLoad, schedule: Schedule) -> float:
    given, plan = matched(problem, schedule)
    return price_of(given.star, plan)


def _front(points: list[Point]) -> list[Point]:
    """Return the points that no other beats, to within what solvers tell apart, by time."""
    found: list[Point] = []
    for point in sorted(points, key=lambda each: each[:2]):
        if not found or point.price < found[-1].price * (1 - ALLOWED) - ALLOWED * point.price:
            if found and point.time <= found[-1].time * (1 + 2 * ALLOWED):
                found.pop()
            found.append(point)
    return found


def _entry(problem: DivisibleLoad, point: Point) -> dict[str, Any]:
    given, plan = matched(problem, point.plan)
    decided = Decided.of(given, plan)
    entry = entry_of(given.star.names, decided.plan(plan), decided.behind)
    holder = {"holder": given.machines[0]} if problem.chooses_master else {}
    return {"time": point.time, "price": point.price, **holder, **entry}
