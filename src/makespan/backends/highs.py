"""Linear and mixed-integer programmes with HiGHS: build, run with limits and Ctrl-C, read back.

What HiGHS says is taken with its tolerances: a bound is rounded outward by them, and a plan is
optimal where the plan itself, not the verdict, meets the bound. Mixed-integer programmes run
without presolve: that of HiGHS 1.14 calls other values optimal (its issues 3043 and 3073), and
integer columns with fractional bounds infeasible. Slots are not solved later without it. For a
linear programme without a solution, a second run without presolve has to say so, too. A feasibility
tolerance of mixed-integer programmes below HiGHS' own cut off optima, so it stays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.control import Control
from makespan.core.schedule import Floats, Integers

WITHIN = 1e-8
"""How near the value of a linear programme is to the truth, relative to 1 or its value. Rows are
kept to 1e-9, and values near 1 are made of few of them."""
MIXED_WITHIN = 1e-6
"""The same for mixed-integer programmes: HiGHS keeps rows and whole numbers to 1e-6, and gives up
what could be better by less than that."""
WHOLE = 1e-9
"""How far, relative to 1 or its value, a bound may be off a whole number and still mean it: as
far as the referees let times and amounts be off. It is more than rounding does."""


class Verdict(StrEnum):
    """How a programme ended."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"  # stopped early, with an incumbent
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    NOTHING = "nothing"  # stopped early, without an incumbent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer:
    """What HiGHS found.

    ``bound`` is a bound on the least value, rounded down by the tolerance ``within`` of the
    solver; ``values`` holds the variables, empty where there is no incumbent. Those that are
    whole are so exactly.
    """

    verdict: Verdict
    value: float
    bound: float
    values: Floats
    within: float

    @property
    def found(self) -> bool:
        return self.verdict in (Verdict.OPTIMAL, Verdict.FEASIBLE)

    def proves(self, value: float) -> bool:
        """Whether nothing is better than ``value``, seen by other means, to within the tolerance.

        This is what makes a plan optimal, not the verdict.
        """
        return value <= self.bound + 2.0 * self.within * max(1.0, abs(value))


class Programme:
    """A minimisation with linear constraints, assembled from arrays.

    >>> programme = Programme()
    >>> x = programme.variables(2, cost=[1.0, 2.0])
    >>> programme.row(x, [1.0, 1.0], low=3.0)
    >>> answer = programme.solve(Control())
    >>> answer.value, answer.values.tolist()
    (3.0, [3.0, 0.0])
    """

    def __init__(self) -> None:
        self._cost: list[Floats] = []
        self._lower: list[Floats] = []
        self._upper: list[Floats] = []
        self._integer: list[np.ndarray] = []
        self._count = 0
        self._row_index: list[Integers] = []
        self._row_value: list[Floats] = []
        self._row_low: list[float] = []
        self._row_high: list[float] = []

    def variables(
        self,
        count: int,
        *,
        cost: ArrayLike = 0.0,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = math.inf,
        integer: bool = False,
    ) -> Integers:
        """Add variables and return their indices; ``cost`` is their share of the objective.

        Integer variables get the whole numbers within their bounds.
        """
        if integer:
            lower, upper = _whole(lower, upper)
        for kept, values in (
            (self._cost, cost),
            (self._lower, lower),
            (self._upper, upper),
        ):
            kept.append(np.array(np.broadcast_to(np.asarray(values, np.float64), (count,))))
        self._integer.append(np.full(count, integer))
        indices = np.arange(self._count, self._count + count)
        self._count += count
        return indices

    def row(
        self,
        indices: ArrayLike,
        values: ArrayLike,
        *,
        low: float = -math.inf,
        high: float = math.inf,
    ) -> None:
        """Add the constraint ``low <= sum(values * variables[indices]) <= high``.

        An index may stand more than once: its values are added up.
        """
        index = np.atleast_1d(np.asarray(indices, dtype=np.int64))
        value = np.broadcast_to(np.asarray(values, np.float64), index.shape)
        once, place = np.unique(index, return_inverse=True)
        self._row_index.append(once)
        summed: Floats = np.bincount(place, weights=value, minlength=len(once)).astype(np.float64)
        self._row_value.append(summed)
        self._row_low.append(low)
        self._row_high.append(high)

    def solve(self, control: Control, *, start: Floats | None = None, gap: float = 0.0) -> Answer:
        """Minimise; stop at the control's limit or Ctrl-C with the incumbent and the bound.

        Parameters
        ----------
        start
            Values of all variables of a known solution to start from.
        gap
            The relative gap at which a mixed-integer search may stop.
        """
        mixed = bool(np.concatenate(self._integer).any())
        answer = self._run(control, start, gap, presolve=not mixed)
        if not mixed and answer.verdict in (Verdict.INFEASIBLE, Verdict.UNBOUNDED):
            answer = self._run(control, start, gap, presolve=False)
        return answer

    def _run(self, control: Control, start: Floats | None, gap: float, *, presolve: bool) -> Answer:
        import highspy

        highs = highspy.Highs()
        highs.silent()
        highs.passModel(self._model(highspy))
        integer = np.concatenate(self._integer)
        if integer.any():
            highs.setOptionValue("mip_rel_gap", gap)
            highs.setOptionValue("mip_abs_gap", 0.0)
        else:
            highs.setOptionValue("primal_feasibility_tolerance", 1e-9)
            highs.setOptionValue("dual_feasibility_tolerance", 1e-9)
        highs.setOptionValue("presolve", "on" if presolve else "off")
        highs.setOptionValue("threads", 1)
        if control.seed is not None:
            highs.setOptionValue("random_seed", control.seed % 2**31)
        if control.remaining is not None:
            highs.setOptionValue("time_limit", control.remaining)
        if start is not None:
            solution = highspy.HighsSolution()
            solution.col_value = start.tolist()
            highs.setSolution(solution)
        _watch(highs, highspy, control, bool(integer.any()))
        highs.run()
        return _answer(highs, highspy, integer)

    def _model(self, highspy: Any) -> Any:
        model = highspy.HighsLp()
        model.num_col_ = self._count
        model.num_row_ = len(self._row_low)
        model.col_cost_ = np.concatenate(self._cost)
        model.col_lower_ = np.concatenate(self._lower)
        model.col_upper_ = np.concatenate(self._upper)
        model.row_lower_ = np.array(self._row_low, dtype=np.float64)
        model.row_upper_ = np.array(self._row_high, dtype=np.float64)
        lengths = [len(index) for index in self._row_index]
        matrix = model.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kRowwise
        matrix.num_col_, matrix.num_row_ = self._count, len(lengths)
        matrix.start_ = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int32)
        matrix.index_ = np.concatenate([*self._row_index, []]).astype(np.int32)
        matrix.value_ = np.concatenate([*self._row_value, []])
        integer = np.concatenate(self._integer)
        if integer.any():
            kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
            model.integrality_ = [kinds[int(flag)] for flag in integer]
        return model


def _watch(highs: Any, highspy: Any, control: Control, integer: bool) -> None:
    """Let HiGHS ask now and then whether to stop, and report what it has."""
    kinds = highspy.cb.HighsCallbackType

    def ask(kind: Any, _message: str, out: Any, answer: Any, _data: Any) -> None:
        if kind == kinds.kCallbackMipInterrupt and math.isfinite(out.mip_primal_bound):
            control.report(out.mip_primal_bound, out.mip_dual_bound)
        answer.user_interrupt = control.expired()

    highs.setCallback(ask, None)
    wanted = (
        (kinds.kCallbackMipInterrupt,)
        if integer
        else (kinds.kCallbackSimplexInterrupt, kinds.kCallbackIpmInterrupt)
    )
    for kind in wanted:
        highs.startCallback(kind)


def _whole(lower: ArrayLike, upper: ArrayLike) -> tuple[Floats, Floats]:
    """Return the least and the greatest whole number within bounds.

    >>> [side.tolist() for side in _whole([0.2, -1.0], [2.9999999999, 0.7])]
    [[1.0, -1.0], [3.0, 0.0]]
    """
    low, high = np.asarray(lower, np.float64), np.asarray(upper, np.float64)
    with np.errstate(invalid="ignore"):  # infinite ones stay
        low = np.where(np.isfinite(low), np.ceil(low - WHOLE * np.maximum(1.0, abs(low))), low)
        high = np.where(
            np.isfinite(high), np.floor(high + WHOLE * np.maximum(1.0, abs(high))), high
        )
    return low, high


def _answer(highs: Any, highspy: Any, integer: np.ndarray) -> Answer:
    status = highs.getModelStatus()
    info = highs.getInfo()
    statuses = highspy.HighsModelStatus
    mixed = bool(integer.any())
    feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    if status == statuses.kOptimal:
        verdict = Verdict.OPTIMAL
    elif status == statuses.kInfeasible:
        verdict = Verdict.INFEASIBLE
    elif status in (statuses.kUnbounded, statuses.kUnboundedOrInfeasible):
        verdict = Verdict.UNBOUNDED
    else:
        verdict = Verdict.FEASIBLE if mixed and feasible else Verdict.NOTHING
    found = verdict in (Verdict.OPTIMAL, Verdict.FEASIBLE)
    values = np.array(highs.getSolution().col_value) if found else np.empty(0)
    values[integer[: len(values)]] = np.rint(values[integer[: len(values)]])
    value = float(info.objective_function_value) if found else math.inf
    bound = float(info.mip_dual_bound) if mixed else value
    within = MIXED_WITHIN if mixed else WITHIN
    return Answer(
        verdict=verdict,
        value=value,
        bound=bound - within * max(1.0, abs(bound)) if math.isfinite(bound) else -math.inf,
        values=values,
        within=within,
    )
