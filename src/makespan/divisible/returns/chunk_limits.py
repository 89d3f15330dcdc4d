"""How much a chunk may hold, and how many there may be, in plans that end by a horizon."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from makespan.core.numeric.arrays import Floats
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.decisions import Terms
from makespan.divisible.rounds.sequences import Allowed

SLACK = 1e-4
"""Relative: plans that end so little beyond the horizon are of interest, too: far more than HiGHS
may be off by, so that the plan that is known is one of them."""
LEAST_CAP = 1e-4
"""Of the load: caps are no less, lest what HiGHS lets a row be broken by is worth a choice."""


def caps(terms: Terms, able: NDArray[np.bool_], horizon: float) -> Floats:
    """Return the most that a chunk of each worker may hold."""
    load = np.inf if terms.load is None else terms.load
    cap = np.where(able, terms.most(horizon), 0.0)
    least = min(load, float(cap[np.isfinite(cap)].max(initial=0.0))) * LEAST_CAP
    return np.where(cap > 0, np.maximum(cap, least), 0.0)


def most_chunks(terms: Terms, allowed: Allowed, able: NDArray[np.bool_], horizon: float) -> Floats:
    """Return the most chunks of each worker in a plan that ends by the horizon."""
    count = len(terms)
    if allowed.entries is not None:
        entries = np.array(allowed.entries, dtype=np.int64)
        return np.bincount(entries, minlength=count).astype(np.float64)
    if allowed.rounds is not None:
        return np.where(able, float(allowed.rounds), 0.0)
    longest = np.maximum(terms.send_fixed, np.maximum(terms.compute_fixed, terms.back_fixed))
    most = np.full(count, np.inf)
    np.divide(horizon * (1 + SLACK), longest, out=most, where=longest > 0)
    most = np.floor(most)
    if terms.whole and terms.load is not None:
        most = np.minimum(most, terms.load + 1)
    return np.where(able, most, 0.0)


def without_uplink(problem: DivisibleLoad) -> DivisibleLoad:
    """Return the problem in which each send has the whole uplink."""
    star, master = problem.star, problem.star.master
    assert not isinstance(master, str)
    if master.uplink is None:
        return problem
    send = np.maximum(star.send_per_unit, 1.0 / master.uplink)
    freed = replace(master, uplink=None)
    return replace(problem, platform=star.changed(send_per_unit=send, master=freed))
