"""Rows of experiments as columns: what each method reached on each case."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from makespan.core.display import counted
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.picture import Curves, Line
from makespan.core.problem import NO_MACHINES
from makespan.drawing.comparison import Entry, Profile, Ranking
from makespan.flow.comparison.table import THRESHOLDS
from makespan.lab.record import Record

SAME = 1e-9  # values nearer than this, as a share of them, are the same
NOTHING = np.nan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """What each method reached on each case, an instance with a seed: cases × methods.

    A family of instances is the folder of a file, or what was asked of a generator without the
    seed.
    """

    methods: tuple[str, ...]  # their names, with options
    instances: tuple[str, ...]  # of each case
    seeds: tuple[int, ...]  # of each case
    families: tuple[str, ...]  # their names
    family: Integers  # which of them each case belongs to
    sizes: Integers  # of each case; 0 where it is unknown
    there: NDArray[np.bool_]  # whether there is a row
    makespan: Floats  # NaN without a plan
    gap: Floats  # NaN where none is known
    seconds: Floats  # NaN where there is no row
    proved: NDArray[np.bool_]  # whether the plan is proved optimal
    statuses: tuple[dict[str, int], ...]  # how often each method ended otherwise than with a plan
    twice: int  # rows that came again for a solve, and replaced what stood before
    assumed: int = 0  # instances whose machines were assumed

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
    assumed: set[str] = set()
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
        if NO_MACHINES in record.note:
            assumed.add(record.instance)
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
        assumed=len(assumed),
    )


LEVEL = 0.05


def mean_ranks(values: Floats) -> Floats:
    """Return the mean rank of each column over the rows: 1 for the least, ties their mean.

    Complexity: O(rows × columns²). Source: Friedman 1937; Demšar 2006, section 3.2.2.

    >>> mean_ranks(np.array([[1.0, 2.0, 2.0], [5.0, 4.0, 6.0]]))
    array([1.5 , 1.75, 2.75])
    """
    ranks = np.empty_like(values)
    for column in range(values.shape[1]):
        own = values[:, column : column + 1]
        less, same = (values < own).sum(axis=1), (values == own).sum(axis=1)
        ranks[:, column] = less + (same + 1) / 2
    found: Floats = ranks.mean(axis=0)
    return found


def critical_difference(methods: int, cases: int) -> float:
    """Return how far the mean ranks of two methods have to differ, at a level of 5 %.

    Source: Nemenyi 1963; Demšar 2006, section 3.2.2, with the quantile of the studentized range
    over the square root of 2.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    low, high = 0.0, 20.0  # around the range that one in twenty of so many normal numbers exceed
    while high - low > 1e-9:
        middle = (low + high) / 2
        within = _range_within(middle, methods)
        low, high = (low, middle) if within >= 1 - LEVEL else (middle, high)
    return high / math.sqrt(2) * math.sqrt(methods * (methods + 1) / (6 * cases))


def _range_within(width: float, count: int) -> float:
    """Return how likely ``count`` standard normal numbers are within ``width`` of each other.

    It is the integral over the largest, x, of count φ(x) (Φ(x) - Φ(x - width))^(count - 1).
    """
    x, step = np.linspace(-8.0, 8.0, 1601, retstep=True)
    below = np.array([math.erf(each / math.sqrt(2)) / 2 for each in (*x, *(x - width))])
    inside = below[: len(x)] - below[len(x) :]
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    return float(count * step * np.sum(density * inside ** (count - 1)))


NEAR = 0.01  # a case counts as solved within this share of the best
LEAST = 1e-4  # seconds; what takes less is shown as this
POINTS = 400  # of a curve
BINS = 12  # of sizes, where there are more
FEW_BINS, FEW = 6, 3  # of more bins each has this many instances at least, on average


def data_profile(rows: Rows) -> Curves | None:
    """Return on which share of the cases each method was near the best within which time."""
    near = rows.ratios <= 1 + NEAR + SAME
    last = max(LEAST, float(np.nanmax(rows.seconds, initial=0.0)))  # where all curves end
    lines = []
    for index, method in enumerate(rows.methods):
        times = np.sort(np.maximum(rows.seconds[near[:, index], index], LEAST))
        times = times[~np.isnan(times)]
        if len(times):
            shares = 100 * np.arange(1, len(times) + 1) / len(rows.instances)
            keep = np.unique(np.linspace(0, len(times) - 1, POINTS).astype(int))
            x, y = np.append(times[keep], last), np.append(shares[keep], shares[-1])
            lines.append(Line(name=method, x=x, y=y, look="steps"))
    if not lines:
        return None
    title = f"Within {100 * NEAR:g} % of the best, by time"
    return Curves(lines=lines, across="seconds", up="% of the cases", title=title, log="x")


def times(rows: Rows) -> Curves | None:
    """Return the median time of each method over the sizes of instances.

    Sizes that are many, or have few instances each, are put into bins.
    """
    sized = rows.sizes[rows.sizes > 0]
    sizes = np.unique(sized)
    if len(sizes) < 2:
        return None
    bins = max(FEW_BINS, min(BINS, len(sized) // FEW))
    if len(sizes) > bins:  # of alike ratios, each drawn at its median size
        edges = np.geomspace(sizes[0], sizes[-1] * (1 + 1e-9), bins + 1)
        within = np.digitize(rows.sizes, edges)
    else:
        within = np.searchsorted(sizes, rows.sizes) + 1
    within = np.where(rows.sizes > 0, within, 0)
    used = np.unique(within[within > 0])
    middle = np.array([np.median(rows.sizes[within == each]) for each in used])
    lines = []
    for index, method in enumerate(rows.methods):
        medians = np.array([_median(rows.seconds[within == each, index]) for each in used])
        known = ~np.isnan(medians)
        if known.any():
            x, y = middle[known], np.maximum(medians[known], LEAST)
            lines.append(Line(name=method, x=x, y=y))
    if not lines:
        return None
    return Curves(lines=lines, across="size", up="seconds", title="Median time over size", log="xy")


def _median(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else np.nan


def profile(rows: Rows) -> Profile:
    """Return how often each method was within x % of the best."""
    limits = np.array([1 + threshold + SAME for threshold in THRESHOLDS])
    ratios = rows.ratios
    shares = [
        (method, tuple(float((ratios[:, index] <= limit).mean()) for limit in limits))
        for index, method in enumerate(rows.methods)
    ]
    shares.sort(key=lambda pair: tuple(-share for share in pair[1]))
    return Profile(
        title=f"How often within x % of the best, on {counted(len(rows.instances), 'case')}",
        thresholds=tuple(f"{100 * each:g} %" if each else "best" for each in THRESHOLDS),
        shares=tuple(shares),
    )


def ranking(ranks: Mapping[str, float], difference: float | None, cases: int) -> Ranking | None:
    """Return mean ranks as bars; those that the best is not told apart from are marked."""
    if difference is None:
        return None
    least = min(ranks.values())
    entries = tuple(
        Entry(
            name=method,
            value=round(rank, 2),
            best=rank <= least + difference,
            note="" if rank == least or rank > least + difference else "not significantly worse",
        )
        for method, rank in ranks.items()
    )
    title = f"Mean ranks over {counted(cases, 'case')}, critical difference {difference:.2f}"
    return Ranking(title=title, what="mean rank", entries=entries)
