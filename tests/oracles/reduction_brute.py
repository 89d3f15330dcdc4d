"""Slow and obvious: the notebook's search as written, and the order-aware optimum by trying all."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from typing import Any


def notebook_search(
    n: int, m: int, evaluate: Any, same: float = 0.0
) -> tuple[Any, int, list[list[list[int]]]]:
    """Return value, number of optima and distinct optima by plain enumeration of all solutions."""
    best, count, distinct = None, 0, []
    rows = [[k for k in range(1, n + 1) if k != i] for i in range(2, n + 1)]
    for flat in product(*(choices for choices in rows for _ in range(m))):
        solution = [[1] * m] + [list(flat[i * m : (i + 1) * m]) for i in range(n - 1)]
        value = evaluate(solution)
        if value is None:
            continue
        if best is None or value < best - same:
            best, count, distinct = value, 0, []
        if abs(value - best) <= same:
            count += 1
            if not any(equal_up_to_renaming(solution, other) for other in distinct):
                distinct.append(solution)
    return best, count, distinct


def equal_up_to_renaming(one: list[list[int]], two: list[list[int]]) -> bool:
    """Whether a renaming of the machines other than the root turns one into the other."""
    n = len(one)
    for order in permutations(range(2, n + 1)):
        name = {1: 1, **{i + 2: order[i] for i in range(n - 1)}}
        if all([name[to] for to in one[i]] == two[name[i + 1] - 1] for i in range(1, n)):
            return True
    return False


def true_optimum(
    n: int,
    latency: list[list[Fraction]],
    transfer: list[list[Fraction]],
    reduce: list[Fraction],
    sizes: list[Fraction],
) -> Fraction:
    """Return the least makespan over all orders of sends to all destinations.

    Sends are added one after another, in the order in which receivers take them; combinations
    follow in the order of arrival.
    """
    m = len(sizes)
    best = [Fraction(10**9)]

    def extend(
        left: frozenset[tuple[int, int]],
        out: tuple[Fraction, ...],
        into: tuple[Fraction, ...],
        unit: tuple[Fraction, ...],
        ready: dict[tuple[int, int], Fraction],
        end: Fraction,
    ) -> None:
        if end >= best[0]:
            return
        if not left:
            best[0] = end
            return
        for i, k in sorted(left):
            for j in range(n):
                # a machine that has sent a segment can't take it any more
                if j == i or (j and (j, k) not in left):
                    continue
                lag, lasts = latency[i][j], transfer[i][j] * sizes[k]
                start = max(ready.get((i, k), Fraction(0)), out[i], into[j] - lag)
                arrival = start + lag + lasts
                done = max(arrival, unit[j]) + reduce[j] * sizes[k]
                extend(
                    left - {(i, k)},
                    (*out[:i], start + lasts, *out[i + 1 :]),
                    (*into[:j], arrival, *into[j + 1 :]),
                    (*unit[:j], done, *unit[j + 1 :]),
                    {**ready, (j, k): done},
                    max(end, done),
                )

    zero = (Fraction(0),) * n
    extend(
        frozenset((i, k) for i in range(1, n) for k in range(m)), zero, zero, zero, {}, Fraction(0)
    )
    return best[0]
