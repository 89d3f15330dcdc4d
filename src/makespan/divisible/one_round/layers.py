"""The search over ordered subsets: layer by layer, one worker more in each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.divisible.one_round.ending_together import Costs
from makespan.divisible.one_round.layer_loop import (
    BEATS,
    BEST_PARENT,
    BEST_WORKER,
    COUNT,
    FIRST,
    NEXT,
    expand,
)
from makespan.divisible.one_round.newton import Found
from makespan.divisible.one_round.remainder import Remainder

MAX_WORKERS = 62
MAX_STATES = 6_000_000
PLAIN_SLICE = 50
SLICE = 20_000
COLUMNS = {
    "members": np.int64,
    "left": np.float64,
    "load": np.float64,
    "upper": np.float64,
    "worker": np.int64,
    "parent": np.int64,
    "chained": np.int64,
}


@dataclass(slots=True)
class _StateColumns:
    """Growing columns of states."""

    columns: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, kind in COLUMNS.items():
            self.columns[name] = np.empty(1024, dtype=kind)

    def __len__(self) -> int:
        return len(self.columns["members"])

    def grow(self) -> None:
        size = min(2 * len(self), MAX_STATES)
        for name, column in self.columns.items():
            self.columns[name] = np.resize(column, size)

    def keep(self, first: int, rows: Integers) -> None:
        """Keep these rows, in this order, from ``first`` on."""
        for column in self.columns.values():
            column[first : first + len(rows)] = column[rows]


class Layers:
    """Seeks the ordered subset of workers that does the most load by a given time.

    Parameters
    ----------
    costs
        The workers; c + w is positive for each.
    control
        Asked between slices of the work whether to stop.
    """

    def __init__(self, costs: Costs, control: Control) -> None:
        self.costs = costs
        self.control = control
        self.expanded = 0
        self._fixed = (
            costs.send_fixed,
            costs.start_up,
            costs.send,
            costs.total,
            np.argsort(costs.send, kind="stable"),
            _twins(costs),
        )

    def __call__(self, horizon: float, target: float, width: int) -> Found:
        """Search by layers of at most ``width`` states; see :class:`newton.Search`."""
        remainder = Remainder.within(self.costs, horizon)
        tables = (remainder.place, remainder.gain, remainder.keep, remainder.usable)
        states = _StateColumns()
        root = remainder.per_second(np.ones(len(self.costs), dtype=bool))[-1] * horizon
        for name, value in zip(COLUMNS, (0, horizon, 0.0, root, -1, -1, -1), strict=True):
            states.columns[name][0] = value
        numbers = np.array([0, 1, 0, -1, -1], dtype=np.int64)
        goal = np.array([target])
        lost = -np.inf
        made = 1
        while numbers[NEXT] < numbers[COUNT] and not self.control.expired():
            numbers[FIRST] = stop = int(numbers[COUNT])
            table = np.full(max(1021, 8 * (stop - int(numbers[NEXT])) + 1), -1, dtype=np.int64)
            self._layer(tables, horizon, states, table, numbers, goal, stop)
            upper = states.columns["upper"]
            lost = max(lost, upper[numbers[NEXT] : stop].max(initial=-np.inf))
            lost = max(lost, _shrink(states, numbers, float(goal[0]), width))
            made += int(numbers[COUNT]) - stop
            if numbers[NEXT] < stop:  # stopped early: what was made is open
                break
            numbers[NEXT] = stop
        rows = slice(int(numbers[NEXT]), int(numbers[COUNT]))
        lost = max(lost, states.columns["upper"][rows].max(initial=-np.inf))
        load, sequence = 0.0, _sequence(states, numbers)
        if sequence:
            load = float(goal[0]) / BEATS
        return Found(
            load=load, sequence=sequence, upper=max(float(goal[0]), float(lost)), states=made
        )

    def _layer(
        self,
        tables: tuple[np.ndarray, ...],
        horizon: float,
        states: _StateColumns,
        table: Integers,
        numbers: Integers,
        goal: np.ndarray,
        stop: int,
    ) -> None:
        """Expand the states up to ``stop``, as far as time and memory allow."""
        while numbers[NEXT] < stop and not self.control.expired():
            if len(states) - numbers[COUNT] <= len(self.costs):
                if len(states) >= MAX_STATES:
                    return
                states.grow()
            current = int(numbers[NEXT])
            run, until = self._kernel(current)
            run(
                *self._fixed,
                *tables,
                horizon,
                *states.columns.values(),
                table,
                numbers,
                goal,
                min(stop, until),
            )
            self.expanded += int(numbers[NEXT]) - current

    def _kernel(self, current: int) -> tuple[Callable[..., Any], int]:
        """Return the loop to run now, and the state at which it is to stop."""
        if not expand.pays(self.expanded * len(self.costs) ** 2):
            return expand.plain, current + PLAIN_SLICE
        return expand.compiled, current + SLICE


def _shrink(states: _StateColumns, numbers: Integers, goal: float, width: int) -> float:
    """Drop beaten states and all but the best ``width`` of the new layer, best first.

    Returns the highest bound of those that were given up.
    """
    first, count = int(numbers[FIRST]), int(numbers[COUNT])
    upper = states.columns["upper"][first:count]
    alive = np.flatnonzero((states.columns["members"][first:count] >= 0) & (upper > goal))
    ranked = alive[np.argsort(-upper[alive], kind="stable")]
    lost = float(upper[ranked[width:]].max(initial=-np.inf))
    states.keep(first, first + ranked[:width])
    numbers[COUNT] = first + len(ranked[:width])
    return lost


def _sequence(states: _StateColumns, numbers: Integers) -> list[int]:
    """Return the workers of the best sequence, in the order of service."""
    if numbers[BEST_WORKER] < 0:
        return []
    backwards = [int(numbers[BEST_WORKER])]
    row = int(numbers[BEST_PARENT])
    while row > 0:
        backwards.append(int(states.columns["worker"][row]))
        row = int(states.columns["parent"][row])
    return backwards[::-1]


def _twins(costs: Costs) -> Integers:
    """Return for each worker the last one before it with the same costs, or -1."""
    seen: dict[tuple[float, ...], int] = {}
    twin = np.full(len(costs), -1, dtype=np.int64)
    rows = np.stack([costs.send_fixed, costs.send, costs.compute_fixed, costs.compute], axis=1)
    for index, row in enumerate(rows.tolist()):
        twin[index] = seen.get(tuple(row), -1)
        seen[tuple(row)] = index
    return twin
