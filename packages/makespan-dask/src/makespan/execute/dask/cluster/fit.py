"""Measured times: an affine cost, robustly; and whether sends overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from makespan.core.costs import Affine
from makespan.core.numeric.arrays import Floats

DEVIATIONS = 5.0  # beyond so many median deviations a measurement is rejected
MIN_DEVIATION = 0.05  # of the median of its size: nearer is never rejected
MIN_SECONDS = 2e-3  # nor is what differs by less than this
T_QUANTILES = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""Student's t, 97.5 %, for 1 to 10 degrees of freedom."""

OWN_LINKS_WITHIN = 1.15  # of the slowest send alone: concurrent sends do not disturb each other
ONE_PORT_FROM = 0.93  # of the sum of the sends alone: concurrent sends gain nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """An affine cost fitted to measurements."""

    cost: Affine  # seconds, and seconds per unit
    fixed_interval: tuple[float, float]  # 95 % confidence: least, greatest
    per_unit_interval: tuple[float, float]  # the same
    quality: float  # R², the share of the variance that the cost explains; 1 where nothing varies
    error: float  # the deviations of all measurements from the cost, relative to their sum
    kept: int  # how many measurements were used
    rejected: tuple[tuple[float, float], ...] = ()  # the (units, seconds) left out as disturbed


def fit(units: Sequence[float], seconds: Sequence[float], *, constant: bool = False) -> Fit:
    """Fit ``fixed + per_unit * units`` to repeated measurements.

    Of each size, measurements further than five median deviations from their median are rejected,
    less than half of them. The rest is fitted by weighted least squares, errors taken as partly
    relative. A fixed part below 0, as where a throttled processor saves up time for its first
    moments, becomes 0, and the cost per unit stays: larger chunks grow by it. ``constant``: the
    fixed part alone is fitted.

    >>> found = fit([1, 1, 1, 2, 2, 2], [3.0, 3.0, 3.0, 5.0, 5.0, 9.0])
    >>> [round(part, 6) for part in (found.cost.fixed, found.cost.per_unit)], found.rejected
    ([1.0, 2.0], ((2.0, 9.0),))
    """
    size = np.asarray(units, dtype=np.float64)
    time = np.asarray(seconds, dtype=np.float64)
    keep = _undisturbed(size, time)
    x, y = size[keep], time[keep]
    weight = 1.0 / np.maximum(y + np.median(y), 1e-9)
    parts, active = _least_squares(x * (not constant), y, weight)
    modelled = parts[0] + parts[1] * x
    spread = _spread(x, y - modelled, weight, active)
    freedom = max(1, len(x) - int(active.sum()))
    factor = T_QUANTILES[freedom - 1] if freedom <= len(T_QUANTILES) else 2.0
    low, high = np.maximum(0.0, parts - factor * spread), parts + factor * spread
    total = float(((y - y.mean()) ** 2).sum())
    rest = float(((y - modelled) ** 2).sum())
    return Fit(
        cost=Affine(float(parts[0]), float(parts[1])),
        fixed_interval=(float(low[0]), float(high[0])),
        per_unit_interval=(float(low[1]), float(high[1])),
        quality=1.0 - rest / total if total > 0 else 1.0,
        error=float(np.abs(y - modelled).sum() / max(float(y.sum()), 1e-9)),
        kept=len(x),
        rejected=tuple(zip(size[~keep].tolist(), time[~keep].tolist(), strict=True)),
    )


def scaled(found: Fit, factor: float) -> Fit:
    """Return a fit whose cost per unit, and the interval of that, are ``factor`` times as large."""
    low, high = found.per_unit_interval
    return replace(
        found,
        cost=Affine(found.cost.fixed, found.cost.per_unit * factor),
        per_unit_interval=(low * factor, high * factor),
    )


def median(values: Sequence[float]) -> float:
    """The median, 0 of nothing."""
    return float(np.median(values)) if len(values) else 0.0


def _undisturbed(size: Floats, time: Floats) -> np.ndarray:
    keep = np.ones(len(size), dtype=bool)
    groups = [np.flatnonzero(size == value) for value in np.unique(size)]
    groups = [rows for rows in groups if len(rows) >= 3]
    if not groups:
        return keep
    middles = [float(np.median(time[rows])) for rows in groups]
    distances = [np.abs(time[rows] - middle) for rows, middle in zip(groups, middles, strict=True)]
    relative = [d / max(middle, 1e-9) for d, middle in zip(distances, middles, strict=True)]
    usual = DEVIATIONS * float(np.median(np.concatenate(relative)))
    for rows, middle, distance in zip(groups, middles, distances, strict=True):
        far = distance > max(max(usual, MIN_DEVIATION) * middle, MIN_SECONDS)
        worst = rows[far][np.argsort(-distance[far], kind="stable")]
        keep[worst[: (len(rows) - 1) // 2]] = False
    return keep


def _least_squares(x: Floats, y: Floats, weight: Floats) -> tuple[Floats, np.ndarray]:
    """Return both parts, none negative, and which of them are free."""
    both = np.array([True, True])
    if not x.any():
        return np.array([_ratio(weight * y, weight), 0.0]), np.array([True, False])
    if len(np.unique(x)) > 1:
        design = np.stack([weight, weight * x], axis=1)
        scale = np.maximum(np.abs(design).max(axis=0), 1e-300)
        parts = np.linalg.lstsq(design / scale, weight * y, rcond=None)[0] / scale
        if parts[0] >= 0 and parts[1] >= 0:
            return parts, both
        if parts[1] < 0:
            return np.array([_ratio(weight * y, weight), 0.0]), np.array([True, False])
        return np.array([0.0, parts[1]]), both
    return np.array([0.0, _ratio(weight * y, weight * x)]), np.array([False, True])


def _ratio(y: Floats, x: Floats) -> float:
    square = float(x @ x)
    return max(0.0, float(x @ y) / square) if square > 0 else 0.0


def _spread(x: Floats, residual: Floats, weight: Floats, active: np.ndarray) -> Floats:
    """Return the standard errors of both parts."""
    design = np.stack([weight, weight * x], axis=1)[:, active]
    freedom = max(1, len(x) - design.shape[1])
    variance = float(((residual * weight) ** 2).sum()) / freedom
    scale = np.maximum(np.abs(design).max(axis=0), 1e-300)
    inverse = np.linalg.pinv((design / scale).T @ (design / scale))
    result = np.zeros(2)
    result[active] = np.sqrt(np.maximum(0.0, np.diag(inverse) * variance)) / scale
    return np.where(np.isfinite(result), result, math.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """How concurrent sends were found to share the way.

    ``together`` are the seconds that they took together, ``longest`` and ``total`` the longest
    and the sum of what they take alone. ``uplink`` is the rate that all share, units per second,
    where the kind is ``shared-link``.
    """

    kind: Literal["own-links", "shared-link", "one-port"]
    uplink: float | None = None
    together: float = 0.0
    longest: float = 0.0
    total: float = 0.0


def sharing(
    units: Sequence[float], alone: Sequence[float], fixed: Sequence[float], together: float
) -> Sharing:
    """Judge what ``len(units)`` concurrent sends took together.

    Each worker was sent ``units``, which takes the seconds ``alone``; ``fixed`` of them are for
    latency, which always overlaps. ``together``: from the start of the first to the end of the
    last.

    >>> sharing([10.0, 10.0], [1.0, 1.0], [0.0, 0.0], 2.0).kind
    'one-port'
    >>> sharing([10.0, 20.0], [1.0, 1.0], [0.0, 0.0], 1.01).kind
    'own-links'
    >>> found = sharing([10.0, 20.0], [1.0, 1.0], [0.0, 0.0], 1.5)
    >>> found.kind, round(found.uplink)
    ('shared-link', 20)
    """
    longest, total = max(alone, default=0.0), float(sum(alone))
    found = {"together": together, "longest": longest, "total": total}
    if len(units) < 2 or together <= OWN_LINKS_WITHIN * longest:
        return Sharing(kind="own-links", **found)
    if together >= ONE_PORT_FROM * total:
        return Sharing(kind="one-port", **found)
    rates = np.asarray(units) / np.maximum(np.asarray(alone) - np.asarray(fixed), 1e-9)
    low, high = float(rates.max()) * 1e-3, float(rates.sum())
    for _ in range(60):
        middle = (low + high) / 2
        if fair_end(units, rates.tolist(), fixed, middle) > together:
            low = middle
        else:
            high = middle
    return Sharing(kind="shared-link", uplink=high, **found)


def fair_end(
    units: Sequence[float], rates: Sequence[float], fixed: Sequence[float], uplink: float
) -> float:
    """Return when sends end that start together and share ``uplink`` fairly (max-min).

    Of each send: units, units per second alone, and latency in seconds.
    """
    left = np.asarray(units, dtype=np.float64).copy()
    limit = np.asarray(rates, dtype=np.float64)
    now = np.zeros(len(left))
    clock = 0.0
    while np.any(left > 0):
        active = np.flatnonzero(left > 0)
        share = np.zeros(len(left))
        share[active] = _fair_shares(limit[active], uplink)
        step = float((left[active] / share[active]).min())
        clock += step
        done = left - share * step <= 1e-9 * np.maximum(1.0, left)
        now[done & (left > 0)] = clock
        left = np.where(done, 0.0, left - share * step)
    return float((now + np.asarray(fixed)).max())


def _fair_shares(limits: np.ndarray, capacity: float) -> np.ndarray:
    """Return the max-min fair shares of ``capacity``, none above its limit."""
    shares = np.zeros(len(limits))
    for place, index in enumerate(np.argsort(limits, kind="stable").tolist()):
        shares[index] = min(limits[index], capacity / (len(limits) - place))
        capacity -= shares[index]
    return shares
