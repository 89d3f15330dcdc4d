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
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from makespan.backends.answer import NOTHING, Answer, Verdict, answer_of
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.system.memory import claim
from makespan.core.system.startup import startup

WHOLE = 1e-9
"""How far, relative to 1 or its value, a bound may be off a whole number and still mean it: as
far as the referees let times and amounts be off. It is more than rounding does."""

LARGE = 50_000
"""Entries above which programmes go without what HiGHS does without a look at its clock: looking
for symmetries takes 5 s of ten times as many, jumping to a feasible point half a second."""
UNCLOCKED = ("mip_detect_symmetry", "mip_heuristic_run_feasibility_jump")

LARGEST_STOPPED = 600_000  # entries up to which a mixed-integer search stops soon after it is asked
LONG_COLUMN = 3000
"""Rows of one variable, such as the end of all, from which a linear programme goes to the interior
point method as it is: the presolve of HiGHS 1.14 takes time that grows with the square (2 s for
10,000 rows) and doesn't look at its clock; the simplex method takes seven times as long."""
SECONDS_BEFORE_IT_STOPS = 4e-6  # for each entry of larger ones, in what HiGHS does at their root
WIDEST = 1e7
"""Between the least and the greatest entry of a mixed-integer programme: beyond, what HiGHS lets a
row be broken by would be worth whole units, and nothing that it says is taken for a proof.
"""
SMALL = 2.0**27  # bytes below which no memory is asked for


def memory_of(variables: int, entries: int) -> float:
    """Return about how many bytes a programme takes, in HiGHS and before it gets there."""
    return 400.0 * variables + 100.0 * entries


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
        self._entries = 0
        self._length: list[Integers] = []  # of rows, and what they hold, in blocks
        self._index: list[Integers] = []
        self._value: list[Floats] = []
        self._low: list[Floats] = []
        self._high: list[Floats] = []

    def variables(
        self,
        count: int,
        *,
        cost: ArrayLike = 0.0,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = math.inf,
        integer: bool = False,
    ) -> Integers:
        """Add variables, of ``cost``, integer ones in whole bounds, and return their indices."""
        self._claim(count, 0)
        if integer:
            lower, upper = _whole(lower, upper)
        for kept, values in ((self._cost, cost), (self._lower, lower), (self._upper, upper)):
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
        """Add ``low <= sum(values * variables[indices]) <= high``; values of one index add up."""
        index = np.atleast_1d(np.asarray(indices, dtype=np.int64))
        value = np.broadcast_to(np.asarray(values, np.float64), index.shape)
        once, place = np.unique(index, return_inverse=True)
        summed: Floats = np.bincount(place, weights=value, minlength=len(once)).astype(np.float64)
        self._block([len(once)], once, summed, low, high)

    def rows(
        self,
        indices: ArrayLike,
        values: ArrayLike,
        *,
        low: ArrayLike = -math.inf,
        high: ArrayLike = math.inf,
    ) -> None:
        """Add a constraint for each row of a table of variables, all at once.

        Indices have the shape (rows, terms); no row holds a variable twice, and -1 stands for no
        variable. Factors are broadcast to that shape; the sides are one for each row, or one for
        all.

        >>> programme = Programme()
        >>> x = programme.variables(3, cost=1.0)
        >>> programme.rows([[x[0], -1], [x[1], x[0]], [x[2], x[1]]], [1.0, -1.0], low=2.0)
        >>> programme.solve(Control()).values.tolist()
        [2.0, 4.0, 6.0]
        """
        index = np.asarray(indices, dtype=np.int64)
        value = np.broadcast_to(np.asarray(values, np.float64), index.shape)
        there = index >= 0
        self._block(there.sum(axis=1), index[there], value[there], low, high)

    def dense(
        self, matrix: Floats, *, low: ArrayLike = -math.inf, high: ArrayLike = math.inf
    ) -> None:
        """Add a constraint for each row of a matrix with a column for each variable so far."""
        row, column = np.nonzero(matrix)
        length = np.bincount(row, minlength=len(matrix))
        self._block(length, column, matrix[row, column], low, high)

    def _block(
        self, length: ArrayLike, index: Integers, value: Floats, low: ArrayLike, high: ArrayLike
    ) -> None:
        """Add rows that hold ``length`` entries each."""
        self._claim(0, len(index))
        lengths = np.asarray(length, dtype=np.int64)
        self._length.append(lengths)
        self._index.append(index)
        self._value.append(value)
        for kept, limit in ((self._low, low), (self._high, high)):
            kept.append(np.array(np.broadcast_to(np.asarray(limit, np.float64), lengths.shape)))

    def _claim(self, variables: int, entries: int) -> None:
        """Refuse a programme that would not fit into memory before it gets there."""
        self._entries += entries
        size = memory_of(self._count + variables, self._entries)
        if size > SMALL:
            claim(size, f"a programme with {self._entries:,} entries")

    def solve(self, control: Control, *, start: Floats | None = None, gap: float = 0.0) -> Answer:
        """Minimise; stop at the control's limit or Ctrl-C with the incumbent and the bound.

        ``start``: values of all variables of a known solution to start from. ``gap``: the relative
        gap at which a mixed-integer search may stop.
        """
        if control.expired():
            return NOTHING
        mixed = bool(np.concatenate(self._integer).any())
        if mixed and not self._stops_in_time(control.remaining):
            return NOTHING
        wide = not mixed and self._longest_column() > LONG_COLUMN
        answer = self._run(control, start, gap, presolve=not (mixed or wide), interior=wide)
        if mixed and self._spread() > WIDEST:
            return answer.unproved()
        if not mixed and answer.verdict is not Verdict.OPTIMAL and not control.expired():
            answer = self._run(control, start, gap, presolve=False)
        return answer

    def change(self, answer: Answer, other: Programme) -> float:
        """Return the change of the least value on the way to another programme, to first order.

        ``answer`` is the optimum of this linear programme, with its dual values; ``other`` has the
        same rows and variables, entry for entry, with other numbers.

        The change of the Lagrangian at this optimum: the derivative where it is the only one; see
        :class:`makespan.backends.repeated.Sides`. Complexity: O(entries). Source: Milgrom and
        Segal 2002, theorem 5.

        >>> def priced(price):
        ...     programme = Programme()
        ...     x = programme.variables(2, cost=[price, 2.0])
        ...     programme.row(x, [1.0, 1.0], low=3.0)
        ...     return programme
        >>> programme = priced(1.0)
        >>> programme.change(programme.solve(Control()), priced(1.5))
        1.5
        """
        with np.errstate(invalid="ignore"):  # infinite limits stay
            cost, lower, upper, value, low, high = (
                np.concatenate([*after, []]) - np.concatenate([*before, []])
                for before, after in zip(self._numbers, other._numbers, strict=True)
            )
        index = np.concatenate([*self._index, []]).astype(np.int64)
        row = np.repeat(np.arange(len(low)), np.concatenate([*self._length, []]).astype(np.int64))
        total = float(cost @ answer.values)
        total -= float((answer.duals[row] * value) @ answer.values[index])
        for dual, below, above in ((answer.duals, low, high), (answer.reduced, lower, upper)):
            side = np.where(dual > 0, below, above)
            total += float(dual @ np.where(np.isfinite(side), side, 0.0))
        return total

    @property
    def _numbers(self) -> tuple[list[Floats], ...]:
        return self._cost, self._lower, self._upper, self._value, self._low, self._high

    def _stops_in_time(self, seconds: float | None) -> bool:
        """Whether a search that is begun ends within 1.2 times the seconds left, and half a second
        more: HiGHS 1.14 looks at its clock seldom in what it does before it branches.
        """
        if seconds is None or self._entries <= LARGEST_STOPPED:
            return True
        return SECONDS_BEFORE_IT_STOPS * self._entries <= 0.2 * seconds + 0.5

    def _longest_column(self) -> int:
        """Return in how many rows the variable stands that stands in most."""
        if self._entries <= LONG_COLUMN:
            return 0
        return int(np.bincount(np.concatenate(self._index)).max())

    def _spread(self) -> float:
        """Return the greatest entry of the rows over the least that is not 0."""
        entries = np.abs(np.concatenate([*self._value, [1.0]]))
        return float(entries.max() / entries[entries > 0].min())

    def _run(
        self,
        control: Control,
        start: Floats | None,
        gap: float,
        *,
        presolve: bool,
        interior: bool = False,
    ) -> Answer:
        with startup():
            import highspy

        highs = highspy.Highs()
        highs.silent()
        highs.passModel(self.model(highspy))
        integer = np.concatenate(self._integer)
        if integer.any():
            highs.setOptionValue("mip_rel_gap", gap)
            highs.setOptionValue("mip_abs_gap", 0.0)
            for step in UNCLOCKED if self._entries > LARGE else ():
                highs.setOptionValue(step, False)
        else:
            highs.setOptionValue("primal_feasibility_tolerance", 1e-9)
            highs.setOptionValue("dual_feasibility_tolerance", 1e-9)
        highs.setOptionValue("presolve", "on" if presolve else "off")
        highs.setOptionValue("threads", 1)
        if interior:
            highs.setOptionValue("solver", "ipm")
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
        return answer_of(highs, highspy, integer)

    def model(self, highspy: Any) -> Any:
        """Return the programme as HiGHS takes it."""
        model = linear_model(
            highspy,
            columns=[np.concatenate(each) for each in (self._cost, self._lower, self._upper)],
            sides=[np.concatenate([*each, []]) for each in (self._low, self._high)],
            lengths=np.concatenate([*self._length, []]),
            index=np.concatenate([*self._index, []]),
            value=np.concatenate([*self._value, []]),
        )
        integer = np.concatenate(self._integer)
        if integer.any():
            kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
            model.integrality_ = [kinds[int(flag)] for flag in integer]
        return model


def linear_model(
    highspy: Any,
    *,
    columns: Sequence[Floats],
    sides: Sequence[Floats],
    lengths: ArrayLike,
    index: Integers,
    value: Floats,
) -> Any:
    """Return a minimisation as HiGHS takes it, its rows one after another.

    ``columns`` are the costs of the variables and their limits, ``sides`` those of the rows;
    ``lengths`` says how many entries each row has.
    """
    model = highspy.HighsLp()
    model.col_cost_, model.col_lower_, model.col_upper_ = columns
    model.row_lower_, model.row_upper_ = sides
    model.num_col_, model.num_row_ = len(columns[0]), len(sides[0])
    matrix = model.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.num_col_, matrix.num_row_ = model.num_col_, model.num_row_
    matrix.start_ = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int32)
    matrix.index_, matrix.value_ = index.astype(np.int32), value
    return model


def beside(*columns: ArrayLike) -> Any:
    """Return a table with these columns, for :meth:`Programme.rows`; numbers stand in every row.

    >>> beside([1, 2], 7).tolist()
    [[1, 7], [2, 7]]
    """
    return np.stack(np.broadcast_arrays(*columns), axis=1)


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
