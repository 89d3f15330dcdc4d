"""Even groups: samples over ranks, experts over devices.

One file that needs the standard library alone, to copy into any tree. MIT licence, makespan.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from heapq import heapify, heappop, heappush, heapreplace
from itertools import combinations, permutations, product
from typing import Any

__all__ = ["balance", "get_seqlen_balanced_partitions", "rebalance_experts"]

Floats = Sequence[float]
Groups = list[list[int]]
Items = tuple[int, ...]
Limits = tuple[Sequence[int], Sequence[int]]  # of the number of items of each group
Move = tuple[int, int, int]  # an item, the group that it leaves, and that where it goes
WITHIN, ENOUGH = 2e-5, 3e-4  # shares by which groups, and devices, may end above their bound
GAIN, ROUNDING = 0.01, 1e-12  # the share of what is above the bound that is worth a change
OFFERED, PARTNERS, SPARE, TRIES = 20, 12, 6, 600  # items, groups, experts, counts that are tried


def balance(
    weights: Any, k: int, counts: Any = "equal", cap: float | None = None, *, sizes: Any = None
) -> Groups:
    """Return ``k`` lists of indices, so that the greatest sum of weights of a list is small.

    Parameters
    ----------
    weights
        What each item costs, 0 or more.
    counts
        How many items a group may have: ``"equal"`` (they differ by at most one), None (any), the
        most for all, a list of these, or a table of ``least`` and ``most``.
    cap, sizes
        What the sizes in a group may add up to, and the sizes; None: no limit, the weights.

    Raises ``ValueError`` where an argument is not allowed, or no groups within ``cap`` were found.
    Complexity: O(n log n), and O(n/k log(n/k)) for each two groups that are evened.
    Source: longest first (Graham 1969) with counts, then exchanges, see :func:`even_out`.

    >>> balance([5, 4, 3, 3, 2, 1], 2), balance([5, 1, 1, 1], 2, counts=None)
    ([[0, 3, 5], [1, 2, 4]], [[0], [1, 2, 3]])
    """
    costs = numbers("weights", weights)
    volumes = costs if sizes is None else numbers("sizes", sizes)
    if len(volumes) != len(costs):
        raise ValueError(f"sizes: has {len(volumes)} entries; there are {len(costs)} weights")
    limits = count_limits(len(costs), k, counts)
    fits = None if cap is None else Fits(volumes, [float(cap)] * k)
    groups = longest_first(costs, limits, fits)
    if groups is None:  # sizes as even as can be
        groups, fits = packed_within(volumes, k, limits, float(cap or 0))
        if groups is None:
            raise ValueError(f"cap: no {k} groups of at most {cap:g} were found")
    enough = lower_bound(costs, min(limits[0]), k) * (1 + WITHIN)
    return [sorted(group) for group in even_out(costs, groups, limits, enough, fits)]


def get_seqlen_balanced_partitions(seqlen_list: Any, k_partitions: int, equal_size: bool) -> Groups:
    """Return each rank's samples, equally many with ``equal_size``, or raise ``ValueError``."""
    samples = len(seqlen_list)
    if not 0 < k_partitions <= samples or (equal_size and samples % k_partitions):
        raise ValueError(f"k_partitions: {k_partitions} can't share {samples} samples out")
    return balance(seqlen_list, k_partitions, "equal" if equal_size else {"least": 1})


def rebalance_experts(
    weight: Any,
    num_replicas: int,
    num_groups: int,
    num_nodes: int,
    num_gpus: int,
    *,
    current: Any = None,
    price: float = 0.0,
    within: float = 0.0,
    duplicates: bool = False,
    mapper: Callable[..., Iterable[Any]] = map,
) -> tuple[Any, Any, Any]:
    """Return the expert in each slot, the slots of each expert, and how many they are, by layer.

    Parameters
    ----------
    weight
        The load of each expert (column) of each layer (row), which its replicas share. The tables
        that are returned have its type; the slots of an expert are filled up with -1.
    num_replicas, num_groups, num_nodes, num_gpus
        Slots of all devices; groups of experts that stay on a node where nodes share them evenly.
    current, price, within
        The placement to start from. A step that lowers the greatest load by ``price`` or less for
        each replica that moves isn't taken, nor any once that is above the mean by ``within``.
    duplicates, mapper
        Whether a device may have an expert twice; what maps layers, such as ``executor.map``.

    Raises ``ValueError`` where an argument is not allowed. Source: after EPLB (DeepSeek 2025).

    >>> rebalance_experts([[600, 560, 120, 120, 20, 10, 10, 10]], 16, 1, 1, 8)[2]
    [[4, 3, 1, 3, 1, 1, 2, 1]]
    """
    rows = [numbers(f"weight[{layer}]", row) for layer, row in enumerate(weight)]
    experts = len(rows[0]) if len({*map(len, rows)}) == 1 else 0
    nodes, groups = (num_nodes, num_groups) if num_groups % num_nodes == 0 else (1, 1)
    uneven = num_replicas % num_gpus or num_gpus % nodes or experts % groups
    if uneven or not 0 < experts <= num_replicas:
        raise ValueError(f"num_replicas: {num_replicas} slots for {experts} experts can't be even")
    known = [None] * len(rows) if current is None else [list(map(int, row)) for row in current]
    held = {(len(row), *sorted({*row})) for row in known if row is not None}
    if len(known) != len(rows) or held - {(num_replicas, *range(experts))}:
        raise ValueError(f"current: it has a row of all {experts} experts for each layer of weight")
    shape = groups, nodes, num_gpus // nodes, num_replicas // num_gpus
    steps = within, price, duplicates
    placed = list(mapper(partial(_layer, shape=shape, steps=steps), rows, known))
    slots: list[Groups] = [[[] for _ in range(experts)] for _ in placed]
    for row, of in zip(placed, slots, strict=True):
        for slot, expert in enumerate(row):
            of[expert].append(slot)
    counts = [[len(held) for held in of] for of in slots]
    most = max(map(max, counts), default=0)
    slots = [[held + [-1] * (most - len(held)) for held in of] for of in slots]
    make = getattr(sys.modules.get(type(weight).__module__.partition(".")[0]), "asarray", list)
    return make(placed), make(slots), make(counts)


def numbers(name: str, values: Any) -> Floats:
    """Return a list, array or tensor of numbers from 0 on as floats, or raise ``ValueError``."""
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    for index, value in enumerate(listed):
        if not (hasattr(value, "__float__") and 0 <= value < math.inf):
            raise ValueError(f"{name}[{index}]: {value!r} is not allowed; it is a number from 0 on")
    return [float(value) for value in listed]


def count_limits(items: int, k: int, counts: Any = "equal") -> Limits:
    """Return how many items each group has at least and at most, or raise ``ValueError``."""
    if not isinstance(k, int) or k < 1:
        raise ValueError(f"k: {k!r} is not allowed; it is a whole number from 1 on")
    told = {} if counts is None else counts if isinstance(counts, dict) else {"most": counts}
    if isinstance(counts, str) and counts == "equal":
        told = {"least": items // k, "most": -(-items // k)}
    given = [told.get("least", 0), told.get("most", items)]
    least, most = ([each] * k if isinstance(each, int) else list(each) for each in given)
    whole = all(isinstance(each, int) and each >= 0 for each in (*least, *most))
    if not whole or not len(least) == len(most) == k or not sum(least) <= items <= sum(most):
        text = "it is 'equal', None, a number for all or each, or a table of least and most"
        raise ValueError(f"counts: {counts!r} is not allowed for {items} items; {text}")
    return least, most


def lower_bound(weights: Sequence[float], least: int, k: int) -> float:
    """Return a bound on the greatest sum of ``k`` groups of ``least`` items or more each.

    The mean, rounded up where weights are whole; two of the k + 1 longest; and of any j longest,
    two together, or a j-th of them and the shortest beside. O(n log n).
    Source: after Dell'Amico and Martello 2001 (cardinality constraints).
    """
    order = sorted(weights, reverse=True)
    total, beside = math.fsum(order), max(0, least - 1)
    whole = total < 2**53 and all(map(float.is_integer, order))
    best = float(-(-int(total) // k)) if whole else total / k
    if len(order) > k:
        best = max(best, order[k] + order[k - 1] + math.fsum(order[len(order) - beside + 1 :]))
    longest, shortest, last = 0.0, 0.0, len(order)
    for j in range(1, min(k, last) + 1):
        longest += order[j - 1]
        shortest += math.fsum(order[last - beside : last])
        last -= beside
        apart = (longest + shortest) / j * (1 - ROUNDING)
        best = max(best, apart if j == 1 else min(apart, order[j - 1] + order[j - 2]))
    return best


class Fits:
    """Which items may be in a group together: sizes within its room, and labels that differ."""

    def __init__(self, sizes: Any, room: Iterable[float], labels: Any = None) -> None:
        self.sizes, self.labels, self.room = sizes, labels, list(room)
        self.held = [set[int]() for _ in self.room]

    def allow(self, group: int, gone: Sequence[int], come: Sequence[int]) -> bool:
        """Whether items fit into a group once others are gone."""
        if self.sizes is not None:
            more = sum([self.sizes[one] for one in come]) - sum([self.sizes[one] for one in gone])
            if more > self.room[group] + ROUNDING * abs(self.room[group] + more):
                return False
        if self.labels is None:
            return True
        new = {self.labels[item] for item in come}
        left = self.held[group].difference([self.labels[item] for item in gone])
        return len(new) == len(come) and not left & new

    def change(self, group: int, gone: Sequence[int], come: Sequence[int]) -> None:
        """Take items out of a group, and put others in."""
        if self.sizes is not None:
            self.room[group] += sum(self.sizes[one] for one in gone)
            self.room[group] -= sum(self.sizes[one] for one in come)
        if self.labels is not None:
            self.held[group].difference_update(self.labels[item] for item in gone)
            self.held[group].update(self.labels[item] for item in come)


def packed_within(sizes: Floats, k: int, limits: Limits, cap: float) -> tuple[Groups | None, Fits]:
    """Return groups whose sizes add up to at most ``cap``, None where none were found."""
    fits = Fits(sizes, [cap] * k)
    groups = even_out(sizes, longest_first(sizes, limits) or [], limits, cap)
    for group, items in enumerate(groups):
        fits.change(group, (), items)
    return groups if min(fits.room) >= -ROUNDING * cap else None, fits


def longest_first(weights: Floats, limits: Limits, fits: Fits | None = None) -> Groups | None:
    """Return the items of each group, the longest given out first; None where one found no room."""
    order = sorted(range(len(weights)), key=lambda item: -weights[item])
    groups: Groups = [[] for _ in limits[0]]
    given = hand_out(weights, order, limits, fits)
    for item, group in zip(order, given or (), strict=given is not None):
        groups[group].append(item)
    return None if given is None else groups


def hand_out(
    weights: Floats, order: Sequence[int], limits: Limits, fits: Fits | None = None
) -> list[int] | None:
    """Return the group of each item in ``order``: the next goes where the sum is least and it may.

    None where an item may go nowhere. O(n log k). Source: list scheduling (Graham 1966).
    """
    least, most = limits
    free = [(0.0, group) for group, limit in enumerate(most) if limit]
    count, missing, chosen, closed = [0] * len(most), sum(least), list[int](), []
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
        missing -= missing > 0 and count[group] < least[group]
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


def even_out(
    weights: Floats,
    groups: Groups,
    limits: Limits,
    enough: float = 0.0,
    fits: Fits | None = None,
    expired: Callable[[], bool] = bool,
    note: Callable[[list[Move], Floats, Floats], object] | None = None,
) -> Groups:
    """Exchange items between the longest group and others until none helps, or it is ``enough``.

    One item for one or none, then two for two or one, or one for two, then one each around three
    groups. ``note`` gets each exchange, and the sums before and after. Complexity: O(s log s) for
    two groups of s items. Source: Finn and Horowitz 1979 (moves), França et al. 1994 (swaps),
    Thompson and Psaraftis 1993 (around several groups).
    """
    search = _Exchanges(weights, groups, limits, fits)
    while search.ranking and search.ranking[-1][0] > enough and not expired():
        moves, before = search.between_two(1, enough), list(search.load)
        moves = moves or search.between_two(2, enough) or search.around_three()
        if not moves:
            break
        search.make(moves)
        if note is not None:
            note(moves, before, search.load)
    return search.groups


class _Exchanges:
    """Groups whose items are sorted by weight, the groups by their sums."""

    def __init__(self, weights: Any, groups: Groups, limits: Limits, fits: Any) -> None:
        self.weights, (self.least, self.most), self.fits = weights, limits, fits
        self.groups = [sorted(group, key=weights.__getitem__) for group in groups]
        self.load = [math.fsum([weights[item] for item in group]) for group in groups]
        self.ranking = sorted((load, group) for group, load in enumerate(self.load))
        self._pairs: dict[int, tuple[Floats, list[Items]]] = {}

    def offers(self, group: int, size: int) -> tuple[Floats, list[Items]]:
        """Return what so many items of a group weigh together, ascending, and which they are."""
        items, weights = self.groups[group], self.weights
        if size < 2:
            return (
                ([weights[at] for at in items], [(at,) for at in items]) if size else ([0.0], [()])
            )
        if group not in self._pairs:
            some = combinations(items[:: max(1, len(items) // OFFERED)], 2)
            sums = sorted((weights[one] + weights[two], (one, two)) for one, two in some)
            self._pairs[group] = [each for each, _ in sums], [each for _, each in sums]
        return self._pairs[group]

    def between_two(self, size: int, enough: float) -> list[Move]:
        """Return what evens the longest group and another: the shortest where that is worth it."""
        load, one = self.ranking[-1]
        aim, best, least = GAIN * (load - enough), list[Move](), load * (1 - ROUNDING)
        count = len(self.groups[one])
        for other_load, other in self.ranking[: -1 if size == 1 else PARTNERS]:
            half = (load - other_load) / 2
            if other == one or load - half >= least:
                break
            held, ways = len(self.groups[other]), [(size, size)]
            if count > self.least[one] and held < self.most[other]:
                ways.append((size, size - 1))
            if size > 1 and count < self.most[one] and held > self.least[other]:
                ways.append((size - 1, size))
            for give, take in ways:
                off, given, taken = self._nearest(one, other, give, take, half)
                if load - half + off < least:
                    least = load - half + off
                    best = [(at, one, other) for at in given] + [(at, other, one) for at in taken]
            if load - least >= aim:
                break
        return best

    def _nearest(
        self, one: int, other: int, give: int, take: int, half: float
    ) -> tuple[float, Items, Items]:
        """Return by how much the nearest to ``half`` that can go over is off, and how it goes."""
        (gives, given), (takes, taken) = self.offers(one, give), self.offers(other, take)
        least, best, come, last = half, Items(), Items(), len(takes)
        for at, weight in enumerate(gives):
            goal, gone = weight - half, given[at]
            near = bisect_left(takes, goal)
            for place, step in ((near - 1, -1), (near, 1)):
                while 0 <= place < last and abs(takes[place] - goal) < least:
                    if self._fit((one, gone, taken[place]), (other, taken[place], gone)):
                        least, best, come = abs(takes[place] - goal), gone, taken[place]
                        break
                    place += step  # noqa: PLW2901
        return least, best, come

    def _fit(self, *changes: tuple[int, Items, Items]) -> bool:
        return self.fits is None or all(self.fits.allow(*change) for change in changes)

    def around_three(self) -> list[Move]:
        """Return an item each to go around the longest group and two others, all shorter then."""
        load, weights, (top, one) = self.load, self.weights, self.ranking[-1]
        below = top * (1 - ROUNDING)
        for two, three in permutations([g for _, g in self.ranking[:PARTNERS] if g != one], 2):
            between = [weights[item] for item in self.groups[two]]
            ends = [self.groups[g][:: max(1, len(self.groups[g]) // OFFERED)] for g in (one, three)]
            for gone, come in product(*ends):
                low = load[two] + weights[gone] - below
                high = below - load[three] + weights[come]
                if low >= high or top - weights[gone] + weights[come] >= below:
                    continue
                at = bisect_left(between, (low + high) / 2)
                for place in range(max(0, at - 1), min(at + 1, len(between))):
                    mid = self.groups[two][place]
                    if low < between[place] < high and self._fit(
                        (one, (gone,), (come,)), (two, (mid,), (gone,)), (three, (come,), (mid,))
                    ):
                        return [(gone, one, two), (mid, two, three), (come, three, one)]
        return []

    def make(self, moves: list[Move]) -> None:
        """Move items between groups."""
        for group in dict.fromkeys(one for _, *both in moves for one in both):
            gone = [item for item, left, _ in moves if left == group]
            come = [item for item, _, reached in moves if reached == group]
            kept = [item for item in self.groups[group] if item not in gone]
            self.groups[group] = sorted([*kept, *come], key=self.weights.__getitem__)
            del self.ranking[bisect_left(self.ranking, (self.load[group], group))]
            self.load[group] = math.fsum([self.weights[item] for item in self.groups[group]])
            insort(self.ranking, (self.load[group], group))
            self._pairs.pop(group, None)
            if self.fits is not None:
                self.fits.change(group, gone, come)


def _layer(loads: Floats, known: Any, shape: Items, steps: tuple[float, float, bool]) -> list[int]:
    """Return the expert in each slot of one layer."""
    groups, nodes, devices, slots = shape
    size, found = len(loads) // groups, list[int]()
    sums = [math.fsum(loads[first : first + size]) for first in range(0, len(loads), size)]
    enough = math.fsum(loads) / (nodes * devices) * (1 + steps[0])
    for node, mine in enumerate(balance(sums, nodes)):
        here = [size * group + one for group in mine for one in range(size)]
        first = range(node * devices * slots, (node + 1) * devices * slots, slots)
        on = [list(known[at : at + slots]) for at in first] if known is not None else []
        on = _moved(loads, on, enough, *steps[1:]) if on else _placed(loads, here, shape, steps[2])
        found += [expert for held in on for expert in held]
    return found


def _placed(loads: Floats, experts: list[int], shape: Items, duplicates: bool) -> Groups:
    """Return the experts on each device: numbers of replicas first, then their places."""
    *_, devices, slots = shape
    even, total = ([slots] * devices,) * 2, devices * slots
    mean = math.fsum(loads[expert] for expert in experts) / devices
    most = total if duplicates or devices * len(experts) < total else devices

    def packed(count: Any, below: float = 0.0) -> tuple[float, Iterable[int], Groups]:
        """Return the greatest load, what makes it up, and the plan; to compare it ``below``."""
        items = sorted([(loads[e] / c, e) for e, c in count.items() for _ in range(c)])[::-1]
        if slots == 2 and below:  # the longest beside the shortest: a bound where one is its own
            pairs = list(zip(items[:devices], items[: devices - 1 : -1], strict=True))
            top, heavy = max((one + two, (e, f)) for (one, e), (two, f) in pairs)
            if top >= below or all(e != f for (_, e), (_, f) in pairs):
                return top, heavy, []
        weights, labels = [weight for weight, _ in items], [expert for _, expert in items]
        fits = None if duplicates else Fits(None, even[0], labels)
        groups = longest_first(weights, even, fits)
        if groups is None and below:
            return math.inf, experts, []
        if groups is None:  # an expert twice on a device
            groups, fits = longest_first(weights, even) or [], None
        if not below:
            groups = even_out(weights, groups, even, mean * (1 + ENOUGH), fits)
        load, at = max((math.fsum([weights[at] for at in group]), group) for group in groups)
        return load, [labels[item] for item in at], [[labels[item] for item in g] for g in groups]

    count = dict.fromkeys(experts, 1)
    heap = [(-loads[expert], expert) for expert in experts]
    heapify(heap)
    for _ in range(total - len(experts)):
        expert = heap[0][1]
        count[expert] += 1
        heapreplace(heap, (-loads[expert] / count[expert] * (count[expert] < most), expert))
    starts, plan = [count], packed(count) if slots > 2 else (math.inf, [], [])
    if plan[0] <= mean * (1 + GAIN):
        return plan[2]
    if slots == 2:  # the heaviest alone beside the lightest, which have more replicas for that
        apart = {e: min(most, max(1, math.ceil(loads[e] / mean))) for e in experts if mean}
        for expert in sorted(apart, key=loads.__getitem__) * 2:
            apart[expert] += most > 2 and sum(apart.values()) < total
        starts += [apart] * (sum(apart.values()) == total)
    shifted = [_shifted(loads, each, packed, (mean, most, TRIES // slots)) for each in starts]
    return packed(min(shifted, key=lambda found: found[0])[1])[2]


def _shifted(loads: Floats, count: Any, packed: Any, limits: Any) -> tuple[float, Any]:
    """Give replicas of other experts to those that make up the greatest load while that helps."""
    mean, most, tries = limits
    top, heavy, _ = packed(count, math.inf)
    while heavy and tries > 0 and top > mean * (1 + GAIN):
        spare = sorted((e for e in count if count[e] > 1), key=lambda e: loads[e] / (count[e] - 1))
        pairs, heavy = product(spare, dict.fromkeys(heavy)), ()
        for less, more in pairs:
            if more != less and count[more] < most and tries > 0:
                tried, tries = {**count, more: count[more] + 1, less: count[less] - 1}, tries - 1
                now, by, _ = packed(tried, top)
                if now < top * (1 - ROUNDING):
                    count, top, heavy = tried, now, by
                    break
    return top, count


def _moved(loads: Floats, on: Groups, enough: float, price: float, duplicates: bool) -> Groups:
    """Exchange replicas, or put one in place of another expert's: what gains most a move first."""
    while True:
        count = Counter(expert for held in on for expert in held)
        share = {expert: loads[expert] / many for expert, many in count.items()}
        load = [math.fsum([share[expert] for expert in held]) for held in on]
        top, worst = max((each, place) for place, each in enumerate(load))
        if top <= enough:
            return on
        best, step = max(price, ROUNDING * top), list[tuple[int, int, int]]()
        for other in sorted(range(len(on)), key=load.__getitem__)[:PARTNERS]:
            for (i, a), (j, b) in product(enumerate(on[worst]), enumerate(on[other])):
                gain = min(share[a] - share[b], top - load[other] - share[a] + share[b]) / 2
                if gain > best and (duplicates or (a not in on[other] and b not in on[worst])):
                    best, step = gain, [(worst, i, b), (other, j, a)]
        spare = sorted((e for e in count if count[e] > 1), key=lambda e: loads[e] / (count[e] - 1))
        heavy = sorted(set(on[worst]), key=share.__getitem__)[:-4:-1]
        for a, b, place in product(heavy, spare[:SPARE], range(len(on))):
            if a != b and b in on[place] and (duplicates or a not in on[place]):
                now = {**share, a: loads[a] / (count[a] + 1), b: loads[b] / (count[b] - 1)}
                slot = on[place].index(b)
                on[place][slot] = a
                gain = top - max(math.fsum([now[expert] for expert in held]) for held in on)
                on[place][slot] = b
                if gain > best:
                    best, step = gain, [(place, slot, a)]
        if not step:
            return on
        for place, slot, expert in step:
            on[place][slot] = expert
