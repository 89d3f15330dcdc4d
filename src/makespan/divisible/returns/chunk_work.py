"""How long the chunks of a programme are computed, those beyond some sizes at greater costs.

What a chunk holds beyond a size b is a variable of its own: o >= a - b x, for one that is chosen by
x; of several chunks of a worker the same of their sums. Costs are convex, so it is no more than
that where it counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from makespan.backends.highs import Programme
from makespan.core.numeric.arrays import Floats, Integers
from makespan.divisible.returns.decisions import Terms


def work_of(terms: Terms, used: Floats, amount: Floats, over: Integers) -> Floats:
    """Return how long chunks are computed, as factors of all variables.

    Parameters
    ----------
    used, amount
        Tables (..., workers, variables): how many chunks there are, and what they hold.
    over
        The variables of what they hold beyond each size, (levels, ..., workers).
    """
    fixed, per_unit = terms.compute_fixed[:, np.newaxis], terms.compute[:, np.newaxis]
    work: Floats = fixed * used + per_unit * amount
    for mine, steeper in zip(over, terms.beyond.steeper(terms.compute), strict=True):
        work += steeper[:, np.newaxis] * np.eye(work.shape[-1])[mine]
    return work


def add_beyond(
    programme: Programme,
    terms: Terms,
    *,
    used: Floats,
    amount: Floats,
    over: Integers,
    fluid: NDArray[np.bool_],
) -> None:
    """Add the rows of what chunks hold beyond sizes.

    Of a ``fluid`` worker that is nothing: its chunks are as small as one likes.
    """
    for level, there in enumerate(terms.beyond.there & ~fluid):
        size = terms.beyond.above[level, there, np.newaxis]
        rows = amount - np.eye(amount.shape[-1])[over[level]]
        rows = rows[..., there, :] - size * used[..., there, :]
        programme.dense(rows.reshape(-1, rows.shape[-1]), high=0.0)
