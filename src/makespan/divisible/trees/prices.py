"""Trees with fixed costs, bounded: the time of each node's port has prices.

F_v(r) is the most that the subtree of v does when r seconds are left as its load arrives. Its
messages exclude each other. So with a price lambda(s) >= 0 of the port's time when s seconds are
left, whatever it is,

    F_v(r) <= (r - W_v)/w_v + integral of lambda over [0, r] + sum over the children j of
              max over s <= r and x of [x - integral of lambda over [s - C - c x, s]],

where x <= F_j(s - C - c x), and a child that is not served counts 0 (Lagrange relaxation). Children
come first, so that F is bounded upwards from the leaves, in cells of the time that is left: what
holds at the end of a cell holds in all of it. Prices that don't fall with s make the integral over
an interval of one length grow with s, and what is maximised convex in x: so the greatest x is best,
or none, and the cell's first s counts. Each node has prices for several r; those that are best for
one are near the best for those around it, and every one of them bounds all r up to its own.

Source: Lagrange relaxation of a machine's time, as in time-indexed scheduling (M. van den Akker,
C. Hurkens and M. Savelsbergh, INFORMS Journal on Computing 12, 2000), one node after another.
"""

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import kernel
from makespan.core.system.memory import claim
from makespan.divisible.model.tree import Tree

RANGES = 8  # of the time left: each has prices of its own
PARTS = 12  # of a range, of one price each
STEPS = 60  # of the subgradient method
SCANNED = 200  # cells that it looks at
SHARE, LEAST_SHARE, PATIENCE = 0.1, 0.002, 4


@kernel
def fill(
    first: Integers,
    send_fixed: Floats,
    send: Floats,
    compute_fixed: Floats,
    compute: Floats,
    path: Floats,
    end: float,
    most: Floats,
) -> None:
    """Fill in, for each place and cell of the time left, a bound on what its subtree does."""
    cells = most.shape[1] - 1
    cell = end / cells
    top = np.zeros(len(send), dtype=np.int64)
    for place in range(len(send) - 1, -1, -1):
        left = end - path[place]
        if left <= 0.0:
            continue
        top[place] = min(cells, int(left / cell) + 1)
        below = range(first[place], first[place + 1])
        amount = np.zeros((len(below), top[place] + 1))
        fixed, per_unit = np.zeros(len(below)), np.zeros(len(below))
        count = 0
        for child in below:
            _carried(most[child, : top[child] + 1], send_fixed[child], send[child], cell, left,
                     amount[count])  # fmt: skip
            if amount[count, -1] > 0.0:
                fixed[count], per_unit[count] = send_fixed[child], send[child]
                count += 1
        bound = most[place, : top[place] + 1]
        if count == 1:
            np.positive(amount[0], bound)
        elif count > 1:
            _passed(amount[:count], fixed[:count], per_unit[:count], cell, bound)
        for i in range(1, len(bound)):
            room = i * cell - compute_fixed[place]
            if room > 0.0:
                bound[i] += room / compute[place]


@kernel
def _carried(
    most: Floats, fixed: float, per_unit: float, cell: float, left: float, amount: Floats
) -> None:
    """Fill in the greatest message that can begin in each cell of the time left.

    With k cells or less left behind it, but more than k - 1, it holds at most ``most[k]``, and
    lasts less than up to the end of cell k - 1.
    """
    k = 0
    for i in range(1, len(amount)):
        room = min(i * cell, left) - fixed
        if room <= 0.0:
            continue
        while k + 1 < len(most) and room > k * cell and per_unit * most[k + 1] <= room - k * cell:
            k += 1
        amount[i] = most[k]
        if k + 1 < len(most) and room > k * cell:
            amount[i] = max(most[k], (room - k * cell) / per_unit)


@kernel
def _passed(amount: Floats, fixed: Floats, per_unit: Floats, cell: float, bound: Floats) -> None:
    """Fill in a bound on what the children do together, the least of several prices' bounds."""
    top = len(bound) - 1
    bound[1:] = np.inf
    price, used, kept, kept_used = (
        np.zeros(PARTS),
        np.zeros(PARTS),
        np.zeros(PARTS),
        np.zeros(PARTS),
    )
    upto = 0
    for number in range(1, RANGES + 1):
        before, upto = upto, max(1, top * number // RANGES)
        if upto == before:
            continue
        part = upto * cell / PARTS
        best, share, vain = np.inf, SHARE, 0
        for _ in range(STEPS):
            value = _relaxed(amount, fixed, per_unit, cell, upto, price, part, used)
            if value < best * (1.0 - 1e-6):
                best, vain = value, 0
                np.positive(price, kept)
                np.positive(used, kept_used)
            else:
                vain += 1
            if vain == PATIENCE:
                share, vain = share / 2.0, 0
                np.positive(kept, price)
                np.positive(kept_used, used)
                if share < LEAST_SHARE:
                    break
            idle = part - used
            length = float((idle * idle).sum())
            if length <= 0.0:
                break
            price -= share * best / length * idle
            _rising(price)
        np.positive(kept, price)
        sums = _sums(price, part)
        total = np.zeros(upto + 1)
        for child in range(len(fixed)):
            gain = 0.0
            for i in range(1, upto + 1):
                x = amount[child, i]
                q = (i - 1) * cell
                paid = _upto(q, sums, price, part)
                paid -= _upto(q - fixed[child] - per_unit[child] * x, sums, price, part)
                gain = max(gain, x - paid)
                total[i] += gain
        for i in range(1, upto + 1):
            bound[i] = min(bound[i], total[i] + _upto(i * cell, sums, price, part))
    for i in range(top - 1, 0, -1):
        bound[i] = min(bound[i], bound[i + 1])


@kernel
def _relaxed(
    amount: Floats,
    fixed: Floats,
    per_unit: Floats,
    cell: float,
    upto: int,
    price: Floats,
    part: float,
    used: Floats,
) -> float:
    """Return about what the prices say of the range's end, and fill in the time used of parts."""
    used[:] = 0.0
    sums = _sums(price, part)
    total = sums[PARTS]
    stride = max(1, upto // SCANNED)
    for child in range(len(fixed)):
        gain, start, length = 0.0, 0.0, 0.0
        for i in range(upto, 0, -stride):
            x = amount[child, i]
            lasts = fixed[child] + per_unit[child] * x
            q = (i - 1) * cell
            worth = x - _upto(q, sums, price, part) + _upto(q - lasts, sums, price, part)
            if worth > gain:
                gain, start, length = worth, q, lasts
        total += gain
        for b in range(PARTS):
            low, high = max(b * part, start - length), min((b + 1) * part, start)
            if gain > 0.0 and high > low:
                used[b] += high - low
    return float(total)


@kernel
def _sums(price: Floats, part: float) -> Floats:
    """Return what the time costs up to each part's begin, and in all."""
    sums = np.zeros(PARTS + 1)
    for b in range(PARTS):
        sums[b + 1] = sums[b] + price[b] * part
    return sums


@kernel
def _upto(seconds: float, sums: Floats, price: Floats, part: float) -> float:
    """Return what the time costs from 0 on."""
    if seconds <= 0.0:
        return 0.0
    b = min(PARTS - 1, int(seconds / part))
    return float(sums[b] + price[b] * (seconds - b * part))


@kernel
def _rising(price: Floats) -> None:
    """Make the prices the nearest that are 0 or more and never fall: neighbours are pooled."""
    size = np.ones(PARTS, dtype=np.int64)
    blocks = 0
    mean = np.zeros(PARTS)
    for b in range(PARTS):
        value, many = price[b], 1
        while blocks > 0 and mean[blocks - 1] > value:
            blocks -= 1
            value = (mean[blocks] * size[blocks] + value * many) / (size[blocks] + many)
            many += size[blocks]
        mean[blocks], size[blocks] = value, many
        blocks += 1
    b = 0
    for block in range(blocks):
        for _ in range(size[block]):
            price[b] = max(0.0, mean[block])
            b += 1


CELLS, LEAST_CELLS = 4_000, 200
MAX_ENTRIES = 1e7  # of the table of nodes and cells
MAX_NEAR = 5_000  # nodes that could be reached by the end
A_NODE = 5e-4  # seconds, of those
ROUNDING = 1e-9  # relative


def seconds_for(tree: Tree, end: float) -> float:
    """Return about how long :func:`most_by` takes; infinity where it is not to be asked."""
    if LEAST_CELLS * len(tree) > MAX_ENTRIES or not 0.0 < end < np.inf:
        return np.inf
    near = int((_paths(tree) < end).sum())
    return A_NODE * near if (tree.compute_per_unit > 0).all() and near <= MAX_NEAR else np.inf


def most_by(tree: Tree, end: float) -> Floats:
    """Return what a tree does at most by ``end / len``, ``2 end / len``, ..., ``end``, units.

    Whoever computes takes time for it. Complexity: O(n) for each cell and for each step of the
    search for prices; only nodes that could be reached by ``end`` count.
    """
    levels = tree.levels
    cells = int(min(CELLS, MAX_ENTRIES / len(tree)))
    claim(8.0 * len(tree) * cells, "the table of nodes and cells of time")
    most = np.zeros((len(tree), cells + 1))
    fill(levels.first, *levels.costs, _paths(tree), end, most)
    found: Floats = most[0, 1:] * (1 + ROUNDING)
    return found


def price_bound(tree: Tree, load: float, end: float) -> float:
    """Return a lower bound on the makespan of a load, seconds, no later than a plan's ``end``."""
    most = most_by(tree, end)
    return end * int((most < load).sum()) / len(most) * (1 - ROUNDING)


def _paths(tree: Tree) -> Floats:
    """Return the fixed costs on the way to each place."""
    levels = tree.levels
    path = np.zeros(len(levels.node))
    first, fixed = levels.first.tolist(), levels.send_fixed
    for place in range(len(path)):
        below = slice(first[place], first[place + 1])
        path[below] = path[place] + fixed[below]
    return path
