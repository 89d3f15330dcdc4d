"""What chunks cost in their programme: the rows of a budget, or the price as what is least.

A worker's price for seconds is r_j p_j, with p_j the end T of the plan if it takes part, else 0:
p_j >= T - H (1 - u_j) with the deadline H, and p_j is no less than what the worker is busy for.
"""

from __future__ import annotations

import numpy as np

from makespan.backends.highs import Programme
from makespan.core.numeric.arrays import Floats
from makespan.divisible.returns.decisions import Terms


def add_prices(
    programme: Programme,
    terms: Terms,
    *,
    served: Floats,
    amounts: Floats,
    busy: Floats,
    end: Floats,
    must: Floats,
) -> None:
    """Add the rows of a budget, and, where the least price is sought, the price.

    Parameters
    ----------
    served, amounts, busy
        Of each worker, rows of factors: whether it takes part, its load, its seconds of work.
    end
        The factors of the end of the plan.
    must
        Whether each worker has to take part.
    """
    if not terms.by_price and not np.isfinite(terms.budget):
        return
    total = terms.price_fixed @ served + terms.price @ amounts
    rented = np.flatnonzero(terms.rent)
    paid = programme.variables(len(rented))
    limit = float(terms.end)

    def at_most(row: Floats, extra: object, factors: object, high: float) -> None:
        there = np.flatnonzero(row)
        index = np.concatenate([there, np.atleast_1d(np.asarray(extra, np.int64))])
        value = np.concatenate([row[there], np.atleast_1d(np.asarray(factors, np.float64))])
        programme.row(index, value, high=high)

    for worker, seconds in zip(rented.tolist(), paid.tolist(), strict=True):
        at_most(busy[worker], seconds, -1.0, 0.0)
        if must[worker]:
            at_most(end, seconds, -1.0, 0.0)
        elif np.isfinite(limit):
            at_most(end + limit * served[worker], seconds, -1.0, limit)
    if np.isfinite(terms.budget):
        at_most(total, paid, terms.rent[rented], terms.budget)
    if terms.by_price:
        price = programme.variables(1, cost=1.0)
        at_most(total, [*paid, *price], [*terms.rent[rented], -1.0], 0.0)
