"""The least sum of convex weights: every task where it adds least, found by its price."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.partition.least_sum.relaxation import relaxation_at
from makespan.partition.model.choices import Choices
from makespan.partition.threshold.inverse import greatest, least_threshold, lexicographic
from makespan.partition.threshold.sums import sums_of


def convex_plan(
    choices: Choices, weights: Floats, limit: int, tasks: int, control: Control
) -> Integers | None:
    """Return the entries with the least sum where the weights are the costs, and convex.

    The tasks that a resource takes one after another add more and more. So the price is the
    least at which the tasks that add no more suffice: a search like that for the least makespan
    of costs that never fall. Tasks that add exactly the price go to the last resources.

    Returns None where the rows are not convex, where there is no plan or no choice, where the
    time was up, or where the weights are convex only to within rounding and that matters: the
    plan is returned only if at its price no entry of any row would be better than the one taken.

    Complexity: O(n log T) evaluations of 32 marginal costs, and one pass over the table.
    """
    if not choices.all_convex or weights is not choices.table.values:
        return None
    ends = sums_of(choices).ends(limit, None, None)
    if ends is None or not ends.least < tasks <= ends.greatest:
        return None
    none, room = np.zeros_like(ends.first), ends.last - ends.first
    missing = tasks - ends.least

    def marginal(amounts: Integers) -> Floats:
        entries = ends.first[:, None] + amounts
        added: Floats = weights[entries] - weights[np.maximum(entries - 1, ends.first[:, None])]
        return np.where(amounts > 0, added, -np.inf)

    found = least_threshold(marginal, none, room, missing, control)
    if not found.proved:
        return None
    less = greatest(marginal, none, found.counts, float(np.nextafter(found.value, -np.inf)))
    entries = ends.first + lexicographic(less, found.counts, missing)
    relaxed = relaxation_at(choices, weights, limit, tasks, entries, found.value)
    exact = int(choices.table.counts_at(entries).sum()) == tasks
    allowed = bool((choices.bits[entries] <= limit).all())
    return entries if exact and allowed and relaxed.supported else None
