"""CP-SAT: integers from seconds, and a search that stops on time limits and Ctrl-C.

CP-SAT searches over integers. :func:`scaling_of` finds the unit in which seconds become
integers, exactly where it can; :func:`search` runs a model that was built with them.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.control import Control
from makespan.core.schedule import Floats, Integers

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, CpSolver

LARGEST_SUM = 2**50
MOST_DECIMALS = 22  # 10^22 is the greatest power of ten that a float holds exactly
FINEST_EXPONENT = -1074  # all floats are multiples of two to this power
POLL_SECONDS = 0.05
WORKERS = 2


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

    def _units(self, seconds: ArrayLike) -> Floats:
        values = np.asarray(seconds, dtype=np.float64)
        if self.exact:
            return np.rint(values * float(self.denominator)) / float(self.numerator)
        return values / self.unit  # the unit is a power of two: nothing is lost


def scaling_of(seconds: ArrayLike, *, largest_sum: int = LARGEST_SUM) -> Scaling:
    """Return the unit in which ``seconds`` are integers whose sum is at most ``largest_sum``.

    Where no decimal unit is that coarse and fits them all, the unit is the finest power of two
    whose integers, rounded up, fit; the scaling is then not ``exact``.

    Complexity: O(n), vectorised.

    >>> scaling = scaling_of([0.1, 0.25, 3.0])
    >>> scaling.exact, scaling.unit, scaling.up([0.1, 0.25, 3.0]).tolist()
    (True, 0.05, [2, 5, 60])
    >>> scaling_of([1.0, math.pi * 1e-9]).exact
    False
    """
    values = np.asarray(seconds, dtype=np.float64)
    total = math.fsum(values)
    for decimals in range(MOST_DECIMALS + 1):
        power = 10.0**decimals
        with np.errstate(over="ignore"):
            scaled = np.rint(values * power)
        if scaled.max(initial=0.0) >= 2.0**53:
            break
        if (scaled / power == values).all():
            units = scaled.astype(np.int64)
            divisor = int(np.gcd.reduce(units)) or 1
            if math.fsum(scaled) / divisor <= largest_sum:
                common = math.gcd(divisor, 10**decimals)
                return Scaling(divisor // common, 10**decimals // common, True)
            break
    return _rounding(total, len(values), largest_sum)


def _rounding(total: float, count: int, largest_sum: int) -> Scaling:
    room = largest_sum - count
    if room <= 0:
        raise ValueError(f"{count} numbers are too many for integers up to {largest_sum}")
    exponent = max(FINEST_EXPONENT, math.ceil(math.log2(total) - math.log2(room)) + 1)
    if exponent >= 0:
        return Scaling(2**exponent, 1, False)
    return Scaling(1, 2**-exponent, False)


class Outcome(StrEnum):
    """How a search ended."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"  # stopped before anything was found


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    ``objective`` is None where there is no solution, ``bound`` (the best proved) where none was
    found or the model has no objective; ``value(variable)`` reads the solution.
    """

    outcome: Outcome
    objective: float | None
    bound: float | None
    value: Callable[[Any], int]

    @property
    def solved(self) -> bool:
        """Whether there is a solution."""
        return self.outcome in (Outcome.OPTIMAL, Outcome.FEASIBLE)


def search(
    model: CpModel,
    control: Control,
    *,
    in_seconds: Callable[[float], float] | None = None,
    workers: int = WORKERS,
) -> Found:
    """Search ``model`` until it is solved or ``control`` has expired.

    Parameters
    ----------
    model
        A built model, with its hint where there is one.
    control
        The clock, the seed, and the progress callback, which is called in this thread.
    in_seconds
        What the objective stands for, for the progress callback; None: nothing is reported.
    workers
        Threads of the search.

    The search runs in a thread of its own while this one polls: Python delivers Ctrl-C only to
    the main thread, between its own steps.
    """
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = _seed(control)
    solver.parameters.catch_sigint_signal = False  # Ctrl-C is the control's
    if control.remaining is not None and math.isfinite(control.remaining):
        solver.parameters.max_time_in_seconds = control.remaining
    status, last_bound = _watched(solver, model, control, in_seconds)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"CP-SAT refuses the model: {model.validate()}")
    outcome = {
        cp_model.OPTIMAL: Outcome.OPTIMAL,
        cp_model.FEASIBLE: Outcome.FEASIBLE,
        cp_model.INFEASIBLE: Outcome.INFEASIBLE,
    }.get(status, Outcome.UNKNOWN)
    solved = outcome in (Outcome.OPTIMAL, Outcome.FEASIBLE)
    optimises = solved and model.has_objective()
    return Found(
        outcome=outcome,
        objective=solver.objective_value if optimises else None,
        # without a solution the solver states 0, whatever the model
        bound=solver.best_objective_bound if optimises else last_bound,
        value=solver.value,
    )


def _seed(control: Control) -> int:
    if control.seed is None:
        return int(control.rng.integers(2**31))
    return control.seed % 2**31


def _watched(
    solver: CpSolver,
    model: CpModel,
    control: Control,
    in_seconds: Callable[[float], float] | None,
) -> tuple[Any, float | None]:
    """Solve in another thread; poll the clock and report progress in this one.

    Returns the status and the last bound that was told.
    """
    from ortools.sat.python import cp_model

    latest: dict[str, float] = {}

    class Note(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
        def on_solution_callback(self) -> None:
            latest["incumbent"] = self.objective_value

    def note_bound(bound: float) -> None:
        latest["bound"] = bound

    solver.best_bound_callback = note_bound
    result: list[Any] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            result.append(solver.solve(model, Note()))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="cp-sat", daemon=True)
    thread.start()
    reported: dict[str, float] = {}
    try:
        while thread.is_alive():
            thread.join(POLL_SECONDS)
            if in_seconds is not None and latest != reported:
                reported = dict(latest)
                values = (reported.get("incumbent"), reported.get("bound"))
                control.report(*(None if v is None else in_seconds(v) for v in values))
            if control.expired():
                solver.stop_search()
    finally:
        while thread.is_alive():
            solver.stop_search()
            thread.join(POLL_SECONDS)
    if failed:
        raise failed[0]
    return result[0], latest.get("bound")
