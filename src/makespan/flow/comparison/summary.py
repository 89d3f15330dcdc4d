"""Comparisons on several problems → how each method did over all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from makespan.core.display import Table
from makespan.flow.comparison.table import Comparison

THRESHOLDS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Distances to the best value, as shares of it, at which a performance profile is read."""
SAME = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodSummary:
    """A method over several problems.

    Parameters
    ----------
    method
        Its name.
    problems
        On how many problems it gave a plan.
    best
        On how many of them no other method did better.
    proved
        On how many of them it proved its plan optimal.
    mean_ratio, max_ratio
        Its values over the best ones: geometric mean and largest, 1 or more; None where it gave
        no plan.
    mean_gap
        The mean of its gaps to the best bounds; None where no bound is known.
    runtime
        Seconds in all.
    """

    method: str
    problems: int
    best: int
    proved: int
    mean_ratio: float | None
    max_ratio: float | None
    mean_gap: float | None
    runtime: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def summarise(comparisons: Sequence[Comparison]) -> tuple[MethodSummary, ...]:
    """Return how each method did over all problems: the most often best first, then by ratio."""
    names = dict.fromkeys(row.method for each in comparisons for row in each.rows)
    found = [_summary(name, comparisons) for name in names]
    return tuple(sorted(found, key=lambda one: (-one.best, one.mean_ratio or math.inf, one.method)))


def _summary(method: str, comparisons: Sequence[Comparison]) -> MethodSummary:
    rows = [row for each in comparisons for row in each.rows if row.method == method]
    ratios = _ratios(method, comparisons)
    planned = [row for row in rows if row.value is not None]
    gaps = [row.gap for row in planned if row.gap is not None]
    return MethodSummary(
        method=method,
        problems=len(planned),
        best=sum(row.best for row in planned),
        proved=sum(row.status == "optimal" for row in planned),
        mean_ratio=math.exp(math.fsum(map(math.log, ratios)) / len(ratios)) if ratios else None,
        max_ratio=max(ratios, default=None),
        mean_gap=math.fsum(gaps) / len(gaps) if gaps else None,
        runtime=math.fsum(row.runtime or 0.0 for row in rows),
    )


def _ratio(value: float, best: float) -> float:
    """Return the worse over the better of two values, whichever way is better; at least 1."""
    low, high = min(value, best), max(value, best)
    if low == high:
        return 1.0
    return high / low if low > 0 else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRow:
    """How often a method was near the best.

    Parameters
    ----------
    method
        Its name.
    shares
        The shares of all problems on which its value was within each of ``THRESHOLDS`` of the
        best; a problem on which it gave no plan counts as far.
    """

    method: str
    shares: tuple[float, ...]

    def as_dict(self) -> dict[str, Any]:
        within = {f"{100 * x:g}": s for x, s in zip(THRESHOLDS, self.shares, strict=True)}
        return {"method": self.method, "within_percent": within}


def profile(comparisons: Sequence[Comparison]) -> tuple[ProfileRow, ...]:
    """Return the performance profile of the methods, those that are nearest most often first.

    Source: Dolan and Moré 2002.
    """
    names = dict.fromkeys(row.method for each in comparisons for row in each.rows)
    found = []
    for name in names:
        ratios = _ratios(name, comparisons)
        limits = [1 + threshold + SAME for threshold in THRESHOLDS]
        near = [sum(ratio <= limit for ratio in ratios) for limit in limits]
        shares = tuple(count / len(comparisons) for count in near)
        found.append(ProfileRow(method=name, shares=shares))
    return tuple(sorted(found, key=lambda row: (tuple(-s for s in row.shares), row.method)))


def _ratios(method: str, comparisons: Sequence[Comparison]) -> list[float]:
    """Return the values of a method over the best ones, where it gave a plan."""
    ratios = []
    for comparison in comparisons:
        row = next((row for row in comparison.rows if row.method == method), None)
        best = next((other.value for other in comparison.rows if other.best), None)
        if row is not None and row.value is not None and best is not None:
            ratios.append(_ratio(row.value, best))
    return ratios


def profile_table(rows: Sequence[ProfileRow]) -> Table:
    """Return a performance profile as a table: a line a method, a column a threshold."""
    columns = {"within … of the best": [row.method for row in rows]}
    for index, threshold in enumerate(THRESHOLDS):
        shares = [row.shares[index] for row in rows]
        columns[f"{100 * threshold:g} %"] = [f"{100 * share:.0f} %" for share in shares]
    return Table.of(columns)


def summary_table(summaries: Sequence[MethodSummary]) -> Table:
    """Return the summaries as a table."""
    columns: dict[str, Callable[[MethodSummary], str]] = {
        "method": lambda one: one.method,
        "plans": lambda one: str(one.problems),
        "best": lambda one: str(one.best),
        "proved": lambda one: str(one.proved),
        "mean ratio": lambda one: "" if one.mean_ratio is None else f"{one.mean_ratio:.4f}",
        "max ratio": lambda one: "" if one.max_ratio is None else f"{one.max_ratio:.4f}",
        "mean gap": lambda one: "" if one.mean_gap is None else f"{100 * one.mean_gap:.2f} %",
        "time": lambda one: f"{one.runtime:.3f} s",
    }
    return Table.of({name: list(map(shown, summaries)) for name, shown in columns.items()})
