"""Even groups: samples over ranks, micro-batches, experts over devices.

One file that needs the standard library alone: copy it into any tree (MIT licence, the makespan
developers). Lists, NumPy arrays and tensors are taken; what is found is the same for the same input.

>>> balance([9, 1, 8, 2, 7, 3], 3)
[[0, 1], [2, 3], [4, 5]]
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from itertools import combinations, permutations, product
from typing import Any

__all__ = ["balance", "get_seqlen_balanced_partitions"]

Floats, Groups = list[float], list[list[int]]
WITHIN = 2e-5
"""The share of the bound by which the longest group may be above it when the search ends."""
GAIN = 0.01
"""The share of what the longest group has to lose that is worth a change."""
ROUNDING = 1e-13
NEAR, OFFERED, PARTNERS = 6, 20, 12
"""Neighbours that are asked where not all fit; items of a group whose pairs are offered, and groups
that they are offered to."""


def balance(
    weights: Iterable[float],
    k: int,
    counts: Any = "equal",
    cap: float | None = None,
    *,
    sizes: Iterable[float] | None = None,
) -> Groups:
    """Share items out over ``k`` groups so that the greatest sum of weights is small.

    Parameters
    ----------
    weights
        What each item costs, 0 or more.
    k
        The number of groups.
    counts
        How many items a group may have: ``"equal"`` (they differ by at most one), None (any), the
        greatest number for all, or a list of one for each group.
    cap
        What the sizes in a group may add up to.
    sizes
        The sizes of the items, which are their weights where None is given.

    Returns
    -------
    list of list of int
        The indices of each group, ascending.

    Raises
    ------
    ValueError
        Where an argument is not allowed, or no groups within ``cap`` were found.

    Complexity: O(n log n), and O(n/k log(n/k)) for each pair of groups that is evened.
    Source: longest first (Graham 1969) with counts, then exchanges between the longest group and
    another (Finn and Horowitz 1979).

    >>> balance([5, 4, 3, 3, 2, 1], 2), balance([5, 1, 1, 1], 2, counts=None)
    ([[0, 3, 5], [1, 2, 4]], [[0], [1, 2, 3]])
    """
    costs = numbers("weights", weights)
    volumes = costs if sizes is None else numbers("sizes", sizes)
    if len(volumes) != len(costs):
        raise ValueError(f"sizes: has {len(volumes)} entries; there are {len(costs)} weights")
    least, most = count_limits(len(costs), k, counts)
    room = None if cap is None else [float(cap)] * k
    fits = None if room is None else Fits(volumes, room)
    start = longest_first(costs, least, most, fits)
    if start is None and fits is not None:  # by size: the groups' sizes are as even as can be
        start = longest_first(volumes, least, most, fits)
    if start is None:
        raise ValueError(f"cap: no {k} groups of at most {cap:g} were found")
    enough = lower_bound(costs, min(least), k) * (1 + WITHIN)
    return [sorted(group) for group in even_out(costs, start, least, most, enough, fits=fits)]


def get_seqlen_balanced_partitions(
    seqlen_list: Iterable[float], k_partitions: int, equal_size: bool
) -> Groups:
    """Return the samples of each rank; with ``equal_size``, all ranks get equally many.

    The signature is that in use for training on sequences of unlike lengths.

    Raises
    ------
    ValueError
        Where an argument is not allowed: fewer samples than ranks, or a number of samples that is
        not a multiple of the number of ranks where sizes are equal.

    >>> get_seqlen_balanced_partitions([100, 10, 90, 20], 2, equal_size=True)
    [[0, 1], [2, 3]]
    """
    lengths = numbers("seqlen_list", seqlen_list)
    if k_partitions < 1 or len(lengths) < k_partitions:
        raise ValueError(f"k_partitions: {k_partitions} is not allowed; it is 1 to {len(lengths)}")
    if not equal_size:
        least, most = [1] * k_partitions, [len(lengths)] * k_partitions
        start = longest_first(lengths, least, most) or []
        enough = lower_bound(lengths, 1, k_partitions) * (1 + WITHIN)
        return [sorted(group) for group in even_out(lengths, start, least, most, enough)]
    if len(lengths) % k_partitions:
        text = f"{len(lengths)} samples are no multiple of {k_partitions}, as equal_size needs"
        raise ValueError(f"seqlen_list: {text}")
    return balance(lengths, k_partitions)


def numbers(name: str, values: Any) -> Floats:
    """Return a list, array or tensor of numbers from 0 on as floats.

    Raises
    ------
    ValueError
        With the first entry that is not allowed.
    """
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    for index, value in enumerate(listed):
        if not isinstance(value, (int, float)) or not 0 <= value < math.inf:
            raise ValueError(f"{name}[{index}]: {value!r} is not allowed; it is a number from 0 on")
    return [float(value) for value in listed]


def count_limits(items: int, k: int, counts: Any = "equal") -> tuple[list[int], list[int]]:
    """Return how many items each group has at least and at most.

    Raises
    ------
    ValueError
        Where ``k`` or ``counts`` is not allowed, or the groups can't hold all items.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(f"k: {k!r} is not allowed; it is a whole number from 1 on")
    if counts is None:
        return [0] * k, [items] * k
    if counts == "equal":
        return [items // k] * k, [-(-items // k)] * k
    most = [counts] * k if isinstance(counts, int) else list(counts)
    if len(most) != k or not all(isinstance(each, int) and each >= 0 for each in most):
        text = f"it is 'equal', None, a whole number from 0 on, or {k} of them"
        raise ValueError(f"counts: {counts!r} is not allowed; {text}")
    if sum(most) < items:
        raise ValueError(f"counts: the groups hold {sum(most)} items; there are {items}")
    return [0] * k, most


def lower_bound(weights: Sequence[float], least: int, k: int) -> float:
    """Return a bound on the greatest sum of ``k`` groups that have ``least`` items or more each.

    The mean, rounded up where weights are whole; two of the k + 1 longest; and of the j longest, two
    together, or a j-th of them and as few of the shortest as j groups can have beside.

    Complexity: O(n log n).
    Source: Dell'Amico and Martello 2001 (cardinality constraints), for every j.
    """
    order = sorted(weights, reverse=True)
    if not order:
        return 0.0
    total = math.fsum(order)
    best = total / k
    if total < 2**53 and all(map(float.is_integer, order)):
        best = float(-(-int(total) // k))
    beside = max(0, least - 1)
    if len(order) > k:
        best = max(best, order[k] + order[k - 1] + math.fsum(order[len(order) - beside + 1 :]))
    longest = shortest = 0.0
    last = len(order)
    for j in range(1, min(k, len(order)) + 1):
        longest += order[j - 1]
        shortest += sum(order[last - beside : last])
        last -= beside
        apart = (longest + shortest) / j * (1 - ROUNDING)
        together = order[j - 1] + order[j - 2] if j > 1 else apart
        best = max(best, min(apart, together))
    return best


class Fits:
    """Which items may be in a group together: sizes within its room, and labels that differ."""

    def __init__(
        self, sizes: Sequence[float], room: Sequence[float], labels: Sequence[int] | None = None
    ) -> None:
        self.sizes, self.labels = sizes, labels
        self.room, self.held = list(room), [set[int]() for _ in room]

    def allow(self, group: int, gone: Sequence[int], come: Sequence[int]) -> bool:
        """Whether items fit into a group once others are gone."""
        room = self.room[group] + sum([self.sizes[item] for item in gone])
        if sum([self.sizes[item] for item in come]) > room + ROUNDING * abs(self.room[group]):
            return False
        if self.labels is None:
            return True
        new = {self.labels[item] for item in come}
        left = self.held[group].difference(self.labels[item] for item in gone)
        return len(new) == len(come) and not left & new

    def change(self, group: int, gone: Sequence[int], come: Sequence[int]) -> None:
        """Take items out of a group, and put others in."""
        self.room[group] += sum(self.sizes[item] for item in gone)
        self.room[group] -= sum(self.sizes[item] for item in come)
        if self.labels is not None:
            self.held[group].difference_update(self.labels[item] for item in gone)
            self.held[group].update(self.labels[item] for item in come)


def longest_first(
    weights: Sequence[float], least: Sequence[int], most: Sequence[int], fits: Fits | None = None
) -> Groups | None:
    """Return the items of each group, the longest given out first; None where one found no room."""
    order = sorted(range(len(weights)), key=lambda item: -weights[item])
    groups: Groups = [[] for _ in least]
    given = hand_out(weights, order, least, most, fits)
    for item, group in zip(order, given or (), strict=given is not None):
        groups[group].append(item)
    return groups if given is not None else None


def hand_out(
    weights: Sequence[float],
    order: Sequence[int],
    least: Sequence[int],
    most: Sequence[int],
    fits: Fits | None = None,
) -> list[int] | None:
    """Return the group of each item in ``order``: the next goes where the sum is least and it may.

    Groups get at least and at most so many items; None where an item may go nowhere.
    Complexity: O(n log k).
    Source: list scheduling (Graham 1966), with counts.
    """
    free = [(0.0, group) for group, limit in enumerate(most) if limit]
    count, missing, chosen = [0] * len(most), sum(least), list[int]()
    closed: list[tuple[float, int]] = []
    for left, item in zip(range(len(order), 0, -1), order, strict=True):
        if missing == left:  # all of them are needed where there are too few
            most, missing = least, 0
            free = [each for each in free if count[each[1]] < least[each[1]]]
            heapify(free)
        while fits is not None and free and not fits.allow(free[0][1], (), (item,)):
            closed.append(heappop(free))
        if not free:
            return None
        load, group = free[0]
        if missing and count[group] < least[group]:
            missing -= 1
        count[group] += 1
        chosen.append(group)
        if count[group] < most[group]:
            heapreplace(free, (load + weights[item], group))
        else:
            heappop(free)
        if fits is not None:
            fits.change(group, (), (item,))
            while closed:
                heappush(free, closed.pop())
    return chosen


Items = tuple[int, ...]
Exchange = tuple[int, int, Items, Items]
"""Two groups, what goes from the first to the second, and what comes back."""
Move = tuple[int, int, int]
"""An item, the group that it leaves, and that where it goes."""


def even_out(
    weights: Sequence[float],
    groups: Groups,
    least: Sequence[int],
    most: Sequence[int],
    enough: float = 0.0,
    *,
    fits: Fits | None = None,
    expired: Callable[[], bool] = bool,
    note: Callable[[list[Move], Floats, Floats], object] | None = None,
) -> Groups:
    """Exchange items between the longest group and others until none helps, or it is ``enough``.

    One item for one or for none comes first, then two for two, for one, or one for two, then one
    each around three groups. ``fits`` holds what is in the groups; ``note`` is called after
    each exchange with its moves and the sums of all groups before and after.

    Complexity: O(s log s) for two groups of s items.
    Source: Finn and Horowitz 1979 (moves), França et al. 1994 (swaps), Thompson and Psaraftis 1993
    (around several groups).
    """
    search = _Exchanges(weights, groups, least, most, fits)
    while search.ranking and search.ranking[-1][0] > enough and not expired():
        moves = search.between_two(1, enough) or search.between_two(2, enough)
        moves = moves or search.around_three()
        if moves is None:
            break
        before = list(search.load) if note is not None else []
        search.make(moves)
        if note is not None:
            note(moves, before, search.load)
    return search.groups


class _Exchanges:
    """Groups whose items are sorted by weight, the groups by their sums."""

    def __init__(
        self,
        weights: Sequence[float],
        groups: Groups,
        least: Sequence[int],
        most: Sequence[int],
        fits: Fits | None,
    ) -> None:
        self.weights, self.least, self.most, self.fits = weights, least, most, fits
        self.groups = [sorted(group, key=weights.__getitem__) for group in groups]
        self.load = [self._sum(group) for group in self.groups]
        self.ranking = sorted((load, group) for group, load in enumerate(self.load))
        self._pairs: dict[int, tuple[Floats, list[Items]]] = {}

    def _sum(self, group: Iterable[int]) -> float:
        return math.fsum([self.weights[item] for item in group])

    def offers(self, group: int, size: int) -> tuple[Floats, list[Items]]:
        """Return what so many items of a group weigh together, ascending, and which they are."""
        items = self.groups[group]
        if size == 0:
            return [0.0], [()]
        if size == 1:
            return [self.weights[item] for item in items], [(item,) for item in items]
        if group not in self._pairs:
            some = combinations(items[:: max(1, len(items) // OFFERED)], 2)
            sums = sorted((self.weights[one] + self.weights[two], (one, two)) for one, two in some)
            self._pairs[group] = [each for each, _ in sums], [each for _, each in sums]
        return self._pairs[group]

    def between_two(self, size: int, enough: float) -> list[Move] | None:
        """Return what evens the longest group and another: the shortest where that is worth it.

        Where nowhere it is, the best there is.
        """
        load, longest = self.ranking[-1]
        aim, best, least = GAIN * (load - enough), None, load * (1 - ROUNDING)
        count = len(self.groups[longest])
        for other_load, other in self.ranking[: -1 if size == 1 else PARTNERS]:
            half = (load - other_load) / 2
            if other == longest or load - half >= least:
                break
            held, ways = len(self.groups[other]), [(size, size)]
            if count > self.least[longest] and held < self.most[other]:
                ways.append((size, size - 1))
            if size > 1 and count < self.most[longest] and held > self.least[other]:
                ways.append((size - 1, size))
            for give, take in ways:
                off, given, taken = self._nearest(longest, other, give, take, half)
                if load - half + off < least:
                    least, best = load - half + off, (other, given, taken)
            if load - least >= aim:
                break
        if best is None:
            return None
        other, given, taken = best
        there = [(item, longest, other) for item in given]
        return there + [(item, other, longest) for item in taken]

    def _nearest(
        self, one: int, other: int, give: int, take: int, half: float
    ) -> tuple[float, Items, Items]:
        """Return by how much the nearest to ``half`` that can go over is off, and how."""
        (gives, given), (takes, taken) = self.offers(one, give), self.offers(other, take)
        least, best, last = half, ((), ()), len(takes) - 1
        for at, weight in enumerate(gives):
            goal = weight - half
            near = bisect_left(takes, goal)
            for place, step in ((near - 1, -1), (near, 1)):
                end = place + step * (1 if self.fits is None else NEAR)
                while place != end and 0 <= place <= last and abs(takes[place] - goal) < least:
                    if self._fit(one, other, given[at], taken[place]):
                        least, best = abs(takes[place] - goal), (given[at], taken[place])
                        break
                    place += step
        return least, *best

    def _fit(self, one: int, other: int, given: Items, taken: Items) -> bool:
        fits = self.fits
        return fits is None or (fits.allow(one, given, taken) and fits.allow(other, taken, given))

    def around_three(self) -> list[Move] | None:
        """Return an item each to go around the longest group and two others, all shorter then."""
        load, longest = self.ranking[-1]
        shortest = [group for _, group in self.ranking[:PARTNERS] if group != longest]
        for middle, last in permutations(shortest, 2):
            found = self._around(longest, middle, last, load * (1 - ROUNDING))
            if found is not None:
                return found
        return None

    def _around(self, longest: int, middle: int, last: int, below: float) -> list[Move] | None:
        load, weights, fits = self.load, self.weights, self.fits
        between = [weights[item] for item in self.groups[middle]]
        for gone, come in product(self.groups[longest], self.groups[last]):
            gain = weights[gone] - weights[come]
            low = load[middle] + weights[gone] - below
            high = below - load[last] + weights[come]
            if low >= high or load[longest] - gain >= below:
                continue
            at = bisect_left(between, (low + high) / 2)
            for place in range(max(0, at - 1), min(at + 1, len(between))):
                passed = self.groups[middle][place]
                if low < between[place] < high and (
                    fits is None
                    or (
                        fits.allow(longest, (gone,), (come,))
                        and fits.allow(middle, (passed,), (gone,))
                        and fits.allow(last, (come,), (passed,))
                    )
                ):
                    return [(gone, longest, middle), (passed, middle, last), (come, last, longest)]
        return None

    def make(self, moves: list[Move]) -> None:
        """Move items between groups."""
        for group in dict.fromkeys(one for _, *both in moves for one in both):
            gone = [item for item, left, _ in moves if left == group]
            come = [item for item, _, reached in moves if reached == group]
            kept = [item for item in self.groups[group] if item not in gone]
            self.groups[group] = sorted([*kept, *come], key=self.weights.__getitem__)
            del self.ranking[bisect_left(self.ranking, (self.load[group], group))]
            self.load[group] = self._sum(self.groups[group])
            insort(self.ranking, (self.load[group], group))
            self._pairs.pop(group, None)
            if self.fits is not None:
                self.fits.change(group, gone, come)
