"""Rows of experiments as columns: what each method reached on each case."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from makespan.core.numeric.arrays import Floats, Integers
from makespan.flow.experiments.record import Record

SAME = 1e-9
"""Values nearer than this, as a share of them, are the same."""
NOTHING = np.nan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """What each method reached on each case, an instance with a seed: cases × methods.

    Parameters
    ----------
    methods
        Their names, with options.
    instances, seeds
        Of each case.
    families, family
        Names of families of instances, and which of them each case belongs to: the folder of a
        file, or what was asked of a generator without the seed.
    sizes
        Of each case; 0 where it is unknown.
    there
        Whether there is a row.
    makespan, gap, seconds
        What it says; NaN where there is nothing, and in all but ``seconds`` without a plan.
    proved
        Whether the plan is proved optimal.
    statuses
        How often each method ended in which other way than with a plan.
    twice
        Rows that came again for a solve, and replaced what stood before.
    """

    methods: tuple[str, ...]
    instances: tuple[str, ...]
    seeds: tuple[int, ...]
    families: tuple[str, ...]
    family: Integers
    sizes: Integers
    there: NDArray[np.bool_]
    makespan: Floats
    gap: Floats
    seconds: Floats
    proved: NDArray[np.bool_]
    statuses: tuple[dict[str, int], ...]
    twice: int

    @property
    def best(self) -> Floats:
        """The least makespan of each case; infinite where no method has a plan."""
        found: Floats = np.nan_to_num(self.makespan, nan=np.inf).min(axis=1, initial=np.inf)
        return found

    @property
    def ratios(self) -> Floats:
        """What each method reached over the best; infinite without a plan."""
        best = self.best[:, None]
        with np.errstate(all="ignore"):
            found = np.where(self.makespan <= best * (1 + SAME), 1.0, self.makespan / best)
        return np.where(np.isnan(found), np.inf, found)

    def of_family(self, index: int) -> NDArray[np.bool_]:
        """Return which cases belong to a family."""
        found: NDArray[np.bool_] = self.family == index
        return found


def family_of(record: Record) -> str:
    """Return the family of a row's instance.

    >>> row = Record("independent tasks=5 seed=3", "lpt", "", 0, 1.0, "", "", "", "independent")
    >>> family_of(row), family_of(row._replace(instance="graphs/a.json"))
    ('independent tasks=5', 'graphs')
    """
    name, kind = record.instance, record.kind
    if kind and name.startswith(f"{kind} ") and " seed=" in name:
        return name.rpartition(" seed=")[0]
    folder = name.replace("\\", "/").rpartition("/")[0]
    return folder or kind or "unreadable"


def _finite(value: float | None) -> float:
    return NOTHING if value is None or math.isinf(value) else float(value)


def rows_of(records: Iterable[Record]) -> Rows:
    """Return rows as columns, methods and families in the order in which they come."""
    methods: dict[str, int] = {}
    cases: dict[tuple[str, int], int] = {}
    families: dict[str, int] = {}
    family: list[int] = []
    sizes: list[int] = []
    found: list[tuple[int, int, float, float, float, bool]] = []
    statuses: list[dict[str, int]] = []
    for record in records:
        method = methods.setdefault(record.solver, len(methods))
        case = cases.setdefault((record.instance, record.seed), len(cases))
        if case == len(family):
            family.append(families.setdefault(family_of(record), len(families)))
            sizes.append(record.size or 0)
        if method == len(statuses):
            statuses.append({})
        value = _finite(record.makespan) if record.is_plan else NOTHING
        planned = not math.isnan(value)
        if not planned:
            statuses[method][record.status] = statuses[method].get(record.status, 0) + 1
        gap = _finite(record.gap) if planned else NOTHING
        seconds = _finite(record.wall_time)
        found.append((case, method, value, gap, seconds, record.status == "optimal"))
    shape = len(cases), len(methods)
    there = np.zeros(shape, dtype=bool)
    proved = np.zeros(shape, dtype=bool)
    makespan, gap_, seconds_ = (np.full(shape, NOTHING) for _ in range(3))
    for case, method, *values in found:
        at = case, method
        makespan[at], gap_[at], seconds_[at], proved[at] = values
        there[at] = True
    return Rows(
        methods=tuple(methods),
        instances=tuple(instance for instance, _ in cases),
        seeds=tuple(seed for _, seed in cases),
        families=tuple(families),
        family=np.array(family, dtype=np.int64),
        sizes=np.array(sizes, dtype=np.int64),
        there=there,
        makespan=makespan,
        gap=gap_,
        seconds=seconds_,
        proved=proved,
        statuses=tuple(statuses),
        twice=len(found) - int(there.sum()),
    )
