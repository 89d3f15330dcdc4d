"""Micro-batches: groups within a capacity, as few as can be, then even, the same for all ranks."""

from __future__ import annotations

import math
import random
from typing import Any

from numpy.typing import ArrayLike

from makespan import balance
from makespan.core.control import Control
from makespan.core.errors import ProblemError
from makespan.core.inputs.rules import Mistakes, Rule, whole
from makespan.core.inputs.suggest import suggesting
from makespan.independent.completion import Completion, Unfinished

CAP = Rule("a cap is above 0", strictly=True)
FACTOR = Rule("a factor of a cost is 0 or more")
RANKS = whole("ranks are")
FILLINGS = 2_000  # ways to fill a group that are tried before one group more is taken


@suggesting
def micro_batches(
    lengths: ArrayLike,
    cap: float,
    *,
    a: float = 1.0,
    b: float = 0.0,
    costs: ArrayLike | None = None,
    ranks: int = 1,
    seed: int | None = None,
) -> list[list[list[int]]]:
    """Return for each rank groups of samples of at most ``cap`` in total.

    They are as few as a short complete search finds; then their costs are as even as exchanges
    make them.

    Parameters
    ----------
    lengths, cap
        The length of each sample, and what those of a group may add up to.
    a, b
        A sample of length l costs ``a`` l + ``b`` l²: attention grows with the square.
    costs
        The cost of each sample, where no such formula holds.
    ranks
        How many ranks there are: all get equally many groups, of like costs at like places.
    seed
        Shuffles the places, in the same way for the same seed; None: the longest groups come first.

    Raises
    ------
    ProblemError
        With every mistake found: also where a sample is longer than ``cap``.

    Complexity: O(n log n) for each number of groups from the bound on, and the budget of a search.
    Source: bin completion (Korf 2003), then exchanges as :func:`makespan.balance.even_out`.

    >>> micro_batches([7, 5, 4, 3, 2, 2], 8)
    [[[1, 3], [2, 4, 5], [0]]]
    >>> micro_batches([7, 5, 4, 3, 2, 2], 8, ranks=2)
    [[[0], [3, 4]], [[2, 5], [1]]]
    """
    sizes, weights = _checked(lengths, cap, a, b, costs, ranks)
    k, groups = 0, None
    while groups is None:
        k += int(ranks)
        if balance.lower_bound(sizes, 0, k) <= cap * (1 + balance.ROUNDING):
            limits = balance.count_limits(len(sizes), k, None)
            groups, fits = balance.packed_within(sizes, k, limits, cap)
            if groups is None and all(map(float.is_integer, sizes)):
                groups = _complete(sizes, k, math.floor(cap))
                fits = balance.Fits(sizes, [float(cap)] * k)
                for group, items in enumerate(groups or ()):
                    fits.change(group, (), items)
    bound = balance.lower_bound(weights, 0, k) * (1 + balance.WITHIN)
    groups = balance.even_out(weights, groups, limits, bound, fits)
    total = [math.fsum(weights[item] for item in group) for group in groups]
    mine = [sorted(own, key=lambda group: -total[group]) for own in balance.balance(total, ranks)]
    places = list(range(k // ranks))
    if seed is not None:
        random.Random(seed).shuffle(places)
    return [[sorted(groups[own[place]]) for place in places] for own in mine]


def _checked(
    lengths: Any, cap: Any, a: Any, b: Any, costs: Any, ranks: Any
) -> tuple[balance.Floats, balance.Floats]:
    """Return lengths and costs as floats, or raise all mistakes."""
    mistakes, found = Mistakes(), {}
    for name, values in (("lengths", lengths), ("costs", costs)):
        try:
            found[name] = balance.numbers(name, values) if values is not None else []
        except (TypeError, ValueError) as error:
            mistakes.add(name, str(error).removeprefix(name).removeprefix(": "))
    for name, value, rule in (("cap", cap, CAP), ("a", a, FACTOR), ("b", b, FACTOR)):
        mistakes.number(name, value, rule)
    mistakes.number("ranks", ranks, RANKS)
    mistakes.raise_if_any(ProblemError)
    sizes = found["lengths"]
    longest = max(sizes, default=0.0)
    if longest > cap:
        mistakes.add(f"lengths[{sizes.index(longest)}]", f"{longest:g} is above {cap:g}, the cap")
    if costs is None:
        found["costs"] = [a * size + b * size * size for size in sizes]
    if len(found["costs"]) != len(sizes):
        mistakes.add("costs", f"has {len(found['costs'])} entries; there are {len(sizes)} lengths")
    mistakes.raise_if_any(ProblemError)
    return sizes, found["costs"]


def _complete(sizes: balance.Floats, k: int, cap: int) -> list[list[int]] | None:
    """Return ``k`` groups of whole lengths within ``cap`` by bin completion, None where it ends."""
    order = sorted((item for item, size in enumerate(sizes) if size), key=lambda at: -sizes[at])
    try:
        tasks = tuple(int(sizes[at]) for at in order)
        packed = Completion(cap, FILLINGS, Control()).packed(tasks, k)
    except Unfinished:
        return None
    if packed is None:
        return None
    of: dict[int, list[int]] = {}
    for item in reversed(range(len(sizes))):
        of.setdefault(int(sizes[item]), []).append(item)
    groups = [[of[size].pop() for size in group] for group in packed]
    groups += [[] for _ in range(k - len(groups))]
    groups[-1] += of.get(0, [])
    return groups
