"""Linear and mixed-integer programmes with HiGHS: build, run with limits and Ctrl-C, read back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.control import Control
from makespan.core.schedule import Floats, Integers


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

    ``bound`` is the dual bound on the least value; ``values`` holds the variables, empty where
    there is no incumbent.
    """

    verdict: Verdict
    value: float
    bound: float
    values: Floats

    @property
    def found(self) -> bool:
        return self.verdict in (Verdict.OPTIMAL, Verdict.FEASIBLE)


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
        """Add variables and return their indices; ``cost`` is their share of the objective."""
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
        import highspy

        highs = highspy.Highs()
        highs.silent()
        highs.passModel(self._model(highspy))
        integer = bool(np.concatenate(self._integer).any())
        if integer:
            highs.setOptionValue("mip_rel_gap", gap)
            highs.setOptionValue("mip_abs_gap", 0.0)
            highs.setOptionValue("mip_feasibility_tolerance", 1e-9)
        highs.setOptionValue("primal_feasibility_tolerance", 1e-9)
        highs.setOptionValue("dual_feasibility_tolerance", 1e-9)
        highs.setOptionValue("threads", 1)
        if control.seed is not None:
            highs.setOptionValue("random_seed", control.seed % 2**31)
        if control.remaining is not None:
            highs.setOptionValue("time_limit", control.remaining)
        if start is not None:
            solution = highspy.HighsSolution()
            solution.col_value = start.tolist()
            highs.setSolution(solution)
        _watch(highs, highspy, control, integer)
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


def _answer(highs: Any, highspy: Any, integer: bool) -> Answer:
    status = highs.getModelStatus()
    info = highs.getInfo()
    statuses = highspy.HighsModelStatus
    feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    if status == statuses.kOptimal:
        verdict = Verdict.OPTIMAL
    elif status == statuses.kInfeasible:
        verdict = Verdict.INFEASIBLE
    elif status in (statuses.kUnbounded, statuses.kUnboundedOrInfeasible):
        verdict = Verdict.UNBOUNDED
    else:
        verdict = Verdict.FEASIBLE if integer and feasible else Verdict.NOTHING
    values = np.array(highs.getSolution().col_value)
    found = verdict in (Verdict.OPTIMAL, Verdict.FEASIBLE)
    value = float(info.objective_function_value) if found else math.inf
    bound = float(info.mip_dual_bound) if integer else value
    return Answer(
        verdict=verdict,
        value=value,
        bound=bound if math.isfinite(bound) else -math.inf,
        values=values if found else np.empty(0),
    )
