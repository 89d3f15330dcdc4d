"""Do sends overlap? One port, own links, or a link of the master that all share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

OWN_LINKS_WITHIN = 1.15  # of the slowest send alone: concurrent sends do not disturb each other
ONE_PORT_FROM = 0.93  # of the sum of the sends alone: concurrent sends gain nothing


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

    Parameters
    ----------
    units
        What was sent to each worker.
    alone
        The seconds that each of these sends takes alone, with ``fixed`` seconds of them for
        latency, which always overlap.
    together
        The seconds from the start of the first to the end of the last of the concurrent sends.

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

    Parameters
    ----------
    units, rates, fixed
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
