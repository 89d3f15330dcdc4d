"""CP-SAT: integers from seconds and back, and a search that stops on time limits and Ctrl-C.

CP-SAT searches over integers. What a method does with it, and who answers for what:

1. :func:`scaling_of` finds the unit in which seconds become integers, exactly where it can.
   :meth:`Scaling.up` and :meth:`Scaling.down` round on one side where it can't, and
   :meth:`Scaling.note` says how far a bound is off then. A bound that is known in seconds
   becomes a constraint by :meth:`Scaling.at_least`.
2. :func:`search` runs the model. ``Found.bound`` is a whole number that no solution of the
   *model* is below; :meth:`Scaling.bound` carries it back to seconds, rounded outward. For the
   *problem* it holds where the model allows every plan: with durations that are exact or rounded
   down. Where they are rounded up, the method takes off the error first.
3. The method times the plan that it reads from the model in true seconds, and says ``optimal``
   where its makespan is at most that bound: never because the solver says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.control import Control, watched
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.system.startup import optional, startup

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, CpSolver

LARGEST_SUM = 2**50
SLACK = 1e-9  # share of a bound in seconds that may be rounding
MAX_DECIMALS = 22  # 10^22 is the greatest power of ten that a float holds exactly
FINEST_EXPONENT = -1074  # all floats are multiples of two to this power
Settings = Mapping[str, bool | int | tuple[str, ...]]
WORKERS = 2
MAX_MEGABYTES = 1_500  # of the process; the search stops there


@dataclass(frozen=True, slots=True)
class Scaling:
    """A unit of time in which seconds are counted: ``numerator / denominator`` seconds.

    ``exact`` says whether the seconds that the unit was found for are whole multiples of it, a
    float being read as the shortest decimal number that it prints as (0.1 is a tenth).
    """

    numerator: int
    denominator: int
    exact: bool

    @property
    def unit(self) -> float:
        """The unit, seconds."""
        return self.numerator / self.denominator

    def up(self, seconds: ArrayLike) -> Integers:
        """Return the least integers that stand for at least ``seconds``.

        Where the scaling is exact, ``seconds`` are among those that the unit was found for.
        """
        units = self._units(seconds)
        if not self.exact:  # what underflows to 0 units still takes one
            units = np.where(np.asarray(seconds) > 0, np.maximum(np.ceil(units), 1.0), 0.0)
        return np.rint(units).astype(np.int64)

    def down(self, seconds: ArrayLike) -> Integers:
        """Return the greatest integers that stand for at most ``seconds``; else as :meth:`up`."""
        return (np.rint if self.exact else np.floor)(self._units(seconds)).astype(np.int64)

    def seconds(self, units: float) -> float:
        """Return the seconds that ``units`` stand for.

        >>> Scaling(1, 10, True).seconds(3)
        0.3
        """
        return float(Fraction(units) * Fraction(self.numerator, self.denominator))

    def bound(self, units: int) -> float:
        """Return the greatest number of seconds that is at most ``units``: a lower bound.

        >>> Scaling(1, 3, True).bound(1) <= Fraction(1, 3)
        True
        """
        exact = Fraction(units) * Fraction(self.numerator, self.denominator)
        nearest = float(exact)
        return nearest if Fraction(nearest) <= exact else math.nextafter(nearest, -math.inf)

    def at_least(self, seconds: float) -> int:
        """Return how many units a plan takes at least that takes at least ``seconds``.

        For models in exact units, or rounded up. Of sums of floats the last digits don't count.

        >>> Scaling(1, 10, True).at_least(0.1 + 0.2), Scaling(1, 1, True).at_least(65.5)
        (3, 66)
        """
        exact = Fraction(seconds) / Fraction(self.numerator, self.denominator)
        return max(0, math.ceil(exact - exact * Fraction(SLACK)))

    def note(self, terms: int) -> tuple[str, ...]:
        """Say by how much a bound is off whose longest sums have so many rounded ``terms``.

        Empty where nothing is rounded.
        """
        if self.exact:
            return ()
        return (
            f"the times have no common unit: for the search they were rounded to multiples of "
            f"{self.unit:.3g} s; its bound is up to {self.seconds(terms):.3g} s too low",
        )

    def _units(self, seconds: ArrayLike) -> Floats:
        values = np.asarray(seconds, dtype=np.float64)
        if self.exact:
            return np.rint(values * float(self.denominator)) / float(self.numerator)
        return values / self.unit  # the unit is a power of two: nothing is lost


def scaling_of(
    seconds: ArrayLike, *, total: float | None = None, largest_sum: int = LARGEST_SUM
) -> Scaling:
    """Return the unit in which ``seconds`` are integers whose sum is at most ``largest_sum``.

    Where no decimal unit is that coarse and fits them all, the unit is the finest power of two
    whose integers, rounded up, fit; the scaling is then not ``exact``. ``total``: the greatest sum
    in seconds that the model forms, above 0, where that is not the sum of all ``seconds``; it is
    then what fits, rounded down. Complexity: O(n), vectorised.

    >>> scaling = scaling_of([0.1, 0.25, 3.0])
    >>> scaling.exact, scaling.unit, scaling.up([0.1, 0.25, 3.0]).tolist()
    (True, 0.05, [2, 5, 60])
    >>> scaling_of([1.0, math.pi * 1e-9]).exact
    False
    """
    values = np.asarray(seconds, dtype=np.float64).ravel()
    for decimals in range(MAX_DECIMALS + 1):
        power = 10.0**decimals
        with np.errstate(over="ignore"):
            scaled = np.rint(values * power)
        if scaled.max(initial=0.0) >= 2.0**53:
            break
        if (scaled / power == values).all():
            units = scaled.astype(np.int64)
            divisor = int(np.gcd.reduce(units)) or 1
            most = math.fsum(scaled) if total is None else total * power
            if most / divisor <= largest_sum:
                common = math.gcd(divisor, 10**decimals)
                return Scaling(divisor // common, 10**decimals // common, True)
            break
    if total is not None:
        return _power_of_two(math.log2(total), largest_sum)
    count, greatest = len(values), float(values.max())
    if count >= largest_sum:
        raise ValueError(f"{count} numbers are too many for integers up to {largest_sum}")
    shares = math.fsum(values / greatest)  # the sum itself may be more than a float holds
    return _power_of_two(math.log2(greatest) + math.log2(shares), largest_sum - count)


def _power_of_two(logarithm: float, room: int) -> Scaling:
    """Return the finest power of two of which ``room`` are more than two to the ``logarithm``."""
    exponent = max(FINEST_EXPONENT, math.ceil(logarithm - math.log2(room)) + 1)
    if exponent >= 0:
        return Scaling(2**exponent, 1, False)
    return Scaling(1, 2**-exponent, False)


def library() -> Any:
    """Import CP-SAT: about half a second of start-up, which does not count against limits."""
    with startup():
        return optional("ortools.sat.python.cp_model")


class Outcome(StrEnum):
    """How a search ended."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"  # stopped before anything was found


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, in the units of the model.

    ``objective`` is None where there is no solution, ``bound`` (the least objective that is not
    ruled out) where none was found, the model has no objective, or no solution; ``value(variable)``
    reads the solution.
    """

    outcome: Outcome
    objective: int | None
    bound: int | None
    value: Callable[[Any], int]

    @property
    def solved(self) -> bool:
        """Whether there is a solution."""
        return self.outcome in (Outcome.OPTIMAL, Outcome.FEASIBLE)

    @property
    def stopped(self) -> bool:
        """Whether the search ended before it was done."""
        return self.outcome in (Outcome.FEASIBLE, Outcome.UNKNOWN)


def search(
    model: CpModel,
    control: Control,
    *,
    in_seconds: Callable[[float], float] | None = None,
    workers: int = WORKERS,
    presolve: bool = True,
    settings: Settings | None = None,
    enough: Callable[[float, float], bool] | None = None,
) -> Found:
    """Search ``model`` until it is solved or ``control`` has expired.

    ``in_seconds`` gives what the objective stands for, to report progress; ``settings`` are further
    parameters of CP-SAT, those of repeated ones tuples; ``enough`` is asked with the incumbent and
    the bound whether to stop. With intervals, the ``presolve`` of CP-SAT 9.15 has been seen to find
    feasible models infeasible from sums of about 2^31 on. The search runs in a thread of its own
    while this one polls: Python delivers Ctrl-C only to the main thread, between its own steps.
    """
    cp_model = library()
    if control.expired():
        return Found(Outcome.UNKNOWN, None, None, _nothing)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = workers
    solver.parameters.max_memory_in_mb = MAX_MEGABYTES
    solver.parameters.cp_model_presolve = presolve
    for name, value in (settings or {}).items():
        if isinstance(value, tuple):
            getattr(solver.parameters, name).extend(value)
        else:
            setattr(solver.parameters, name, value)
    drawn = control.rng.integers(2**31) if control.seed is None else control.seed % 2**31
    solver.parameters.random_seed = int(drawn)
    solver.parameters.catch_sigint_signal = False  # Ctrl-C is the control's
    if control.remaining is not None and math.isfinite(control.remaining):
        solver.parameters.max_time_in_seconds = control.remaining
    status, last_bound = _watched(solver, model, control, in_seconds, enough)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"CP-SAT refuses the model: {model.validate()}")
    outcome = {
        cp_model.OPTIMAL: Outcome.OPTIMAL,
        cp_model.FEASIBLE: Outcome.FEASIBLE,
        cp_model.INFEASIBLE: Outcome.INFEASIBLE,
    }.get(status, Outcome.UNKNOWN)
    solved = outcome in (Outcome.OPTIMAL, Outcome.FEASIBLE)
    optimises = solved and model.has_objective()
    # without a solution the solver states 0, whatever the model
    bound = solver.best_objective_bound if optimises else last_bound
    if bound is None or outcome is Outcome.INFEASIBLE or not math.isfinite(bound):
        least = None
    else:
        least = math.ceil(bound - 1e-6)  # a whole number, as a float
    return Found(
        outcome=outcome,
        objective=round(solver.objective_value) if optimises else None,
        bound=least,
        value=solver.value,
    )


def _nothing(variable: Any) -> int:
    raise ValueError(f"there is no solution to read {variable} from")


def _watched(
    solver: CpSolver,
    model: CpModel,
    control: Control,
    in_seconds: Callable[[float], float] | None,
    enough: Callable[[float, float], bool] | None,
) -> tuple[Any, float | None]:
    """Solve in another thread, with clock and progress in this one; return status and bound."""
    cp_model = library()
    latest: dict[str, float] = {}

    class Note(cp_model.CpSolverSolutionCallback):  # type: ignore[misc, name-defined]
        def on_solution_callback(self) -> None:
            latest["incumbent"] = self.objective_value

    def note_bound(bound: float) -> None:
        latest["bound"] = bound

    solver.best_bound_callback = note_bound
    reported: dict[str, float] = {}

    def look() -> None:
        if in_seconds is not None and latest != reported:
            reported.update(latest)
            values = (reported.get("incumbent"), reported.get("bound"))
            control.report(*(None if v is None else in_seconds(v) for v in values))
        known = len(latest) == 2
        if control.expired() or (enough and known and enough(latest["incumbent"], latest["bound"])):
            solver.stop_search()

    status = watched(lambda: solver.solve(model, Note()), look, solver.stop_search)
    return status, latest.get("bound")
