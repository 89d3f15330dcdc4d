"""What CP-SAT proves with a model of a problem, in times that are exact or rounded down."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Schedule
from makespan.core.solution import Objective, Solution
from makespan.taskgraph.bounds import bounds
from makespan.taskgraph.limits import ALLOWED, least_price, missed, worth
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import retimed

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, IntVar

    from makespan.backends.cp_sat import Found, Scaling, Settings

NO_PLAN = "no plan keeps the limits: CP-SAT's complete search, with and without presolve"
COARSE, FINE = 2**30, 2**40
"""The longest makespan in units: first few, then, for times that are rounded, without presolve."""
WORKERS = 8  # their variety proves more, even on two cores
FEW = 3  # units between bound and plan from which it is asked whether a plan ends by each
FROM, TURN = 0.6, 0.3  # share of the time left for that, and of it that of each turn but the last
PROVES = (
    "CP-SAT's complete search over times that are exact or rounded down: where it rules out "
    "whatever is shorter than the plan, timed in seconds"
)


class LateError(Exception):
    """The time is up while the model is being built."""


class Parts(ABC):
    """The parts of a model, in units of time.

    ``plan`` is the best one known; what takes longer than ``until``, in seconds, is ruled out.
    ``start`` and ``on`` are when each task starts, and literals of where it is. Raises LateError if
    the time is up.
    """

    settings: ClassVar[Settings] = {}  # parameters of CP-SAT that suit the model
    deciding: ClassVar[tuple[Settings, ...]] = ()  # for the question whether a plan ends by a time
    horizon: int  # the latest end
    end: IntVar  # the makespan

    def __init__(
        self, problem: TaskGraph, control: Control, scaling: Scaling, plan: Schedule, until: float
    ) -> None:
        from makespan.backends.cp_sat import library

        self.problem, self.control, self.scaling = problem, control, scaling
        self.plan, self.until = plan, until
        self.model: CpModel = library().CpModel()
        self.start: list[IntVar] = []
        self.on: list[list[IntVar]] = []

    def build(self, least: float) -> None:
        """Build the model of plans that take at least so many seconds."""
        floor = min(self.least_end(least), self.horizon)
        self.end = self.model.new_int_var(floor, self.horizon, "makespan")
        self.tasks()
        self.rules()
        self.hint()

    def look(self) -> None:
        """Look at the clock."""
        if self.control.expired():
            raise LateError

    @abstractmethod
    def least_end(self, seconds: float) -> int:
        """Return the least end, in units, of plans that take at least ``seconds``."""

    @abstractmethod
    def tasks(self) -> None:
        """Add the tasks."""

    @abstractmethod
    def rules(self) -> None:
        """Add what holds between tasks."""

    @abstractmethod
    def hint(self) -> None:
        """Begin with the known plan."""

    def sought(self) -> tuple[Any, Scaling]:
        """Return what is to be least, and its unit."""
        return self.end, self.scaling

    @abstractmethod
    def schedule(self, value: Callable[[Any], int]) -> Schedule:
        """Return the plan that a solution stands for, in true times."""

    def decided(self, presolve: bool, bound: int, best: int) -> tuple[int, Found | None]:
        """Ask for a plan that ends by the bound, which rises where there is none.

        With the end given, what propagates is stronger, and one search a core gets further than
        many. Source: destructive improvement, Klein and Scholl 1999.
        """
        from makespan.backends.cp_sat import search

        control = self.control
        for turn, settings in enumerate(self.deciding, start=1):
            while bound < best and not control.expired():
                asked = self.model.clone()
                asked.clear_objective()
                asked.clear_hints()
                asked.add(self.end <= bound)
                last = turn == len(self.deciding) or control.remaining is None
                with control.limited(None if last else (control.remaining or 0.0) * TURN):
                    found = search(asked, control, presolve=presolve, settings=settings)
                if found.solved:
                    return bound, found
                if found.stopped:
                    break
                bound += 1
        return bound, None


def proved(
    problem: TaskGraph, control: Control, start: Schedule, times: Floats, parts: type[Parts]
) -> Solution:
    """Search the model of these ``parts`` from the plan ``start``.

    ``times`` are the seconds of which plans are made. Where they have no common unit they are
    rounded down, and what is open then is searched once more, finer.
    """
    from makespan.backends.cp_sat import SLACK

    best = _better(problem, start, retimed(problem, start))
    by_price = problem.objective == "price"
    least = max(bound.value for bound in bounds(problem))
    met = worth(problem, best)[:2] <= (0.0, least_price(problem) if by_price else least)
    if met or control.expired():
        return Solution(schedule=best, lower_bound=None if by_price else least)
    for largest in (COARSE, FINE):
        best, bound, notes, stopped = _searched(
            problem, control, best, least, largest, times, parts
        )
        missing, value, _ = worth(problem, best)
        shown = not missing and bound is not None and value <= bound * (1 + SLACK)
        if shown or stopped or control.expired() or (bound is not None and not notes):
            break
        if not by_price:
            least = max(least, bound or 0.0)
    if missing and bound is None and not stopped:  # both searches were done
        return Solution(schedule=None, infeasible=NO_PLAN)
    return Solution(
        schedule=best,
        lower_bound=None if by_price else bound,
        objective=Objective(name="price", value=value, bound=bound) if by_price else None,
        optimal=shown,
        stopped=stopped,
        notes=notes,
    )


def _searched(
    problem: TaskGraph,
    control: Control,
    plan: Schedule,
    least: float,
    largest: int,
    times: Floats,
    parts: type[Parts],
) -> tuple[Schedule, float | None, tuple[str, ...], bool]:
    """Return the best plan found, a bound, what to say of rounding, and whether it was cut."""
    from makespan.backends.cp_sat import scaling_of, search

    until, by_price = plan.makespan, problem.objective == "price"
    if by_price or missed(problem, plan) is not None:
        until = _latest_end(problem)
    times = times[times <= until]
    scaling = scaling_of(times, total=until, largest_sum=largest)
    try:
        made = parts(problem, control, scaling, plan, until)
        made.build(least)
        sought, unit = made.sought()
    except LateError:
        return plan, None, (), True
    made.model.minimize(sought)
    presolve, left = largest == COARSE, control.remaining
    later = (left or 0.0) * FROM if made.deciding else 0.0

    def near(best: float, bound: float) -> bool:
        return best - bound <= FEW and 0.0 < (control.remaining or 0.0) <= later

    found = search(
        made.model,
        control,
        in_seconds=unit.seconds,
        workers=WORKERS,
        presolve=presolve,
        settings=made.settings,
        enough=near,
    )
    bound, stopped = found.bound, found.stopped
    if found.solved:
        plan, best = _better(problem, plan, made.schedule(found.value)), found.objective or 0
        if stopped and bound is not None and near(best, bound):
            bound, shorter = made.decided(presolve, bound, best)
            stopped = shorter is None and bound < best
            if shorter is not None:
                plan = _better(problem, plan, made.schedule(shorter.value))
    seconds = None if bound is None else unit.bound(bound)
    return plan, seconds, scaling.note(len(problem.dag) + len(problem.dag.source)), stopped


def _better(problem: TaskGraph, one: Schedule, other: Schedule) -> Schedule:
    return min(one, other, key=lambda plan: worth(problem, plan))


def _latest_end(problem: TaskGraph) -> float:
    """Return an end that no plan without needless waiting exceeds, however bad it is."""
    seconds = problem.network.routing.seconds_of(problem.dag.size)
    slowest = seconds.max(axis=(1, 2), initial=0.0).sum()
    work = problem.finite_durations.max(axis=1).sum()
    end = float(problem.dag.release.max(initial=0.0) + work + slowest)
    return min(end, np.inf if problem.deadline is None else problem.deadline) * (1 + ALLOWED)
