"""``auto``: the methods of a kind in turn, until one proves its plan; the best is kept."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from math import inf
from typing import Any

from makespan.core.control import Control
from makespan.core.errors import MethodError, TooLarge
from makespan.core.kind import Kind
from makespan.core.problem import Problem
from makespan.core.registry import Method, applicability, find_method, within_reach
from makespan.core.solution import Objective, Solution, precede
from makespan.flow.kinds import methods

EXACT_SECONDS = 10.0
SHARE = 0.7  # of the time that is left, for a method that comes again when more plans are known
SAME = 1e-9  # relative: values this near are the same, of methods in closed form
SAME_OF_SOLVERS = 1e-6  # relative: and of linear and mixed-integer programmes
EXCLUDED = 1e-9
"""How far above a deadline, relative to it, a bound excludes it: referees let plans be as late."""


@dataclass(slots=True, kw_only=True)
class Found:
    """What was found by one method, or by several in turn.

    ``ended`` says whether the time limit or a budget ended the search, ``notes`` what there is to
    say beside the notes of the solution. ``advised``: the notes say what else may be asked for.
    ``late``: a plan was found that missed a limit of the problem.
    """

    method: str
    solution: Solution
    options: dict[str, Any]
    ended: bool = False
    notes: list[str] = field(default_factory=list)
    advised: bool = False
    late: bool = False


def run_method(
    kind: Kind,
    problem: Problem,
    control: Control,
    method: Method,
    options: dict[str, Any],
    floor: Callable[[], float],
) -> Found:
    """Run one method; ``floor`` is that of :func:`greatest_bound`."""
    control.begin(method.name)
    made = method.run(problem, control, **options)
    solution = _within_limits(kind, problem, made, floor)
    return Found(
        method=method.name,
        solution=solution,
        options=options,
        ended=control.expired() or solution.stopped,
        late=made.schedule is not None and solution.schedule is None,
    )


def run_auto(kind: Kind, problem: Problem, control: Control, options: Mapping[str, Any]) -> Found:
    """Run the kind's line-up until a method proves its plan, or time is up; return the best.

    A deadline that only the end of a plan can miss is left out first, so that late plans serve
    later methods; where the best is late, and a plan in time not excluded, all plan again with it.
    """
    plain, floor, race = kind.undated(problem), greatest_bound(kind, problem), _Race()
    with control.limited(EXACT_SECONDS if control.time_limit is None else None):
        if plain is not problem:
            race.deadline, race.bound = getattr(problem, "deadline", inf), floor()
        _run_line_up(kind, plain, control, options, race, floor)
        if race.deadline < inf and race.best is not None:
            mine = race.best.solution
            if race.deadline < mine.makespan <= race.deadline * (1 + SAME_OF_SOLVERS):
                mine, race.bound = replace(mine, optimal=False), floor()  # maybe late by rounding
            mine = replace(mine, lower_bound=race.bound)
            race.best.solution = _within_limits(kind, problem, mine, floor)
            if not (race.has_plan or race.decided or control.expired()):
                control.incumbent = None
                _run_line_up(kind, problem, control, options, race, floor)
        ended = control.expired() or race.stopped
    if not race.decided:
        race.refused += _uninstalled(kind, problem)
    if race.best is None:
        raise MethodError(_nothing_applies(kind, problem, race.refused))
    found = race.best
    mine, bound = found.solution, race.bound
    if bound is not None and mine.objective is None and not mine.optimal:
        found.solution = replace(mine, lower_bound=max(bound, mine.lower_bound or 0.0))
    found.ended = ended
    found.notes = list(dict.fromkeys([*race.doubts, *race.refused]))
    return found


def _run_line_up(
    kind: Kind, problem: Problem, control: Control, options: Mapping[str, Any], race: "_Race",
    floor: Callable[[], float],
) -> None:  # fmt: skip
    for number, name in enumerate(kind.methods.AUTO, 1):
        again = name in kind.methods.AUTO[number:]
        method = find_method(kind.name, name)
        if not applicability(method, problem).applies or not within_reach(method, problem):
            continue
        if (race.has_plan or race.late) and control.expired():
            break
        used = {name: options[name] for name in options if name in method.options}
        try:
            late = race.deadline < (race.best.solution.makespan if race.best else 0.0) < inf
            with control.sharing(SHARE if again or late else 1.0):
                race.enter(run_method(kind, problem, control, method, used, floor))
        except TooLarge as error:
            race.refused.append(f"{method.name} was left out: {error}")
            continue
        control.incumbent = race.best.solution if race.best is not None else None
        control.report(*race.known)
        if race.decided:
            break


def line_up(kind: Kind, control: Control, part: Problem) -> Solution:
    """Return the best plan for a part of a problem, in the time that is left for it."""
    with control.apart():
        return run_auto(kind, part, control, {}).solution


class _Race:
    """The best plan and the best bound so far; claims that a known plan contradicts don't count.

    ``late`` says whether some plan was found that missed a limit of the problem; one that is later
    than ``deadline`` may still be the best.
    """

    def __init__(self) -> None:
        self.best: Found | None = None
        self.bound: float | None = None
        self.deadline = inf
        self.stopped = self.late = False
        self.doubts: list[str] = []
        self.refused: list[str] = []

    @property
    def has_plan(self) -> bool:
        return self.best is not None and self.best.solution.schedule is not None

    @property
    def known(self) -> tuple[float | None, float | None]:
        """The value of the best plan, of what is optimised, and the bound on it."""
        if self.best is None or self.best.solution.schedule is None:
            return None, self.bound
        objective = self.best.solution.objective
        if objective is not None:
            return objective.value, objective.bound
        return self.best.solution.makespan, self.bound

    @property
    def decided(self) -> bool:
        """Whether the best plan, or that there is none, is proved."""
        if self.best is None:
            return False
        solution = self.best.solution
        if solution.optimal or solution.infeasible is not None:
            return True
        if self.bound is None or solution.objective is not None:
            return False
        excluded = self.bound > self.deadline * (1 + EXCLUDED)
        return excluded or solution.makespan <= self.bound * (1 + 1e-12)

    def enter(self, found: Found) -> None:
        """Take part with what a method found."""
        self.late |= found.late
        self.stopped |= found.solution.stopped
        solution = found.solution = self._credible(found.method, found.solution)
        if solution.lower_bound is not None:
            self.bound = max(solution.lower_bound, self.bound or 0.0)
        if self.best is None or self._beats(solution, self.best.solution):
            self.best = found
        else:
            mine = _with_tighter(self.best.solution, solution.objective)
            # by a hair's breadth no better: its proof is the other's, too
            self.best.solution = replace(mine, optimal=mine.optimal or solution.optimal)

    def _credible(self, method: str, solution: Solution) -> Solution:
        """Return the solution without claims that the best plan known contradicts."""
        if self.best is None or not self.has_plan:
            return solution
        other, better = self.best, self.best.solution
        if solution.infeasible is not None:
            self.doubts.append(
                f"{method} says that there is no plan, but {other.method} has one: not believed"
            )
            return replace(solution, infeasible=None, lower_bound=None)
        if solution.optimal and precede(better.goals, solution.goals, SAME_OF_SOLVERS):
            self.doubts.append(
                f"{method} calls {solution.rank:.10g} optimal, but {other.method} has "
                f"{better.rank:.10g}: not believed"
            )
            return replace(solution, optimal=False, lower_bound=None)
        return solution

    @staticmethod
    def _beats(solution: Solution, incumbent: Solution) -> bool:
        """Whether a later solution replaces the incumbent: proofs do, and better plans."""
        if solution.infeasible is not None:
            return True
        if solution.schedule is incumbent.schedule:
            return False
        if solution.optimal and not precede(incumbent.goals, solution.goals, SAME):
            return True
        return solution.goals < incumbent.goals


def _with_tighter(solution: Solution, other: Objective | None) -> Solution:
    """Return the solution with the tighter of both bounds on what is optimised."""
    mine = solution.objective
    if mine is None or other is None or other.bound is None or mine.name != other.name:
        return solution
    tighter = min if mine.maximise else max
    bound = other.bound if mine.bound is None else tighter(mine.bound, other.bound)
    return replace(solution, objective=replace(mine, bound=bound))


def greatest_bound(kind: Kind, problem: Problem) -> Callable[[], float]:
    """Return what computes the greatest of the kind's bounds, once, when it is first called."""
    return cache(lambda: max((bound.value for bound in kind.bounds.bounds(problem)), default=0.0))


def _within_limits(
    kind: Kind, problem: Problem, solution: Solution, floor: Callable[[], float]
) -> Solution:
    """Return the solution without a plan that misses a limit, or with why none can meet it."""
    solution = kind.enforce_limits(problem, solution)
    deadline = getattr(problem, "deadline", None)
    if deadline is None or solution.schedule is not None or solution.infeasible is not None:
        return solution
    least = max(solution.lower_bound or 0.0, floor())
    if not least > deadline * (1 + EXCLUDED):
        return replace(solution, lower_bound=least or None)
    why = f"the deadline is {deadline:.12g}, but no plan ends before {least:.12g}"
    return replace(solution, infeasible=why, lower_bound=least)


def _uninstalled(kind: Kind, problem: Problem) -> list[str]:
    """Say which methods nothing but a library keeps from the problem."""
    said = []
    for method in (find_method(kind.name, name) for name in dict.fromkeys(kind.methods.AUTO)):
        lacking = [n for n in method.needs if n.library and n.unmet(problem) is not None]
        if lacking and within_reach(method, problem):
            reasons = applicability(method, problem).reasons
            if len(reasons) == len(lacking):
                said.append(f"{method.name} was left out: {reasons[0]}")
    return said


def _nothing_applies(kind: Kind, problem: Problem, refused: list[str]) -> str:
    verdicts = methods(problem)
    able = [verdict.name for verdict in verdicts if verdict.applies]
    if refused:
        return "\n".join(
            [f"'auto' has no method for a {kind.name} problem of this size:", *refused]
        )
    if able:
        return (
            f"'auto' has no method for this {kind.name} problem; "
            f"name one that applies: {', '.join(able)}"
        )
    reasons = "\n".join(f"  {verdict}" for verdict in verdicts)
    return f"no method applies to this {kind.name} problem:\n{reasons}"
