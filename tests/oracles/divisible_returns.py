"""One round with returns by trying every set of workers and every pair of orders with SciPy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog


@dataclass(frozen=True, kw_only=True)
class Costs:
    """The costs of some workers, (fixed, per unit) each; ``back`` is None where nothing returns.

    ``own`` is the master's cost of computing, None if it does not compute.
    """

    send: list[tuple[float, float]]
    compute: list[tuple[float, float]]
    back: list[tuple[float, float] | None]
    own: tuple[float, float] | None = None
    ports: int = 1
    memory: list[float] | None = None


def value(
    costs: Costs,
    send: tuple[int, ...],
    back: tuple[int, ...],
    *,
    own: bool,
    load: float | None = None,
    end: float | None = None,
) -> float | None:
    """Return the least end for a load, or the most load by an end, with all workers of ``send``.

    The rows are written out term by term: what is sent up to a worker, its computation, what
    returns from it on; and with one port all transfers together.
    """
    count = len(send)
    place = {worker: index for index, worker in enumerate(send)}
    rows, limits = [], []

    def fits(terms: list[tuple[int, tuple[float, float]]]) -> None:
        row = np.zeros(count + 2)
        row[-1] = -1.0
        for worker, (_, per_unit) in terms:
            row[place[worker]] += per_unit
        rows.append(row)
        limits.append(-sum(fixed for _, (fixed, _) in terms))

    for index, worker in enumerate(send):
        terms = [(other, costs.send[other]) for other in send[: index + 1]]
        terms.append((worker, costs.compute[worker]))
        if worker in back:
            terms += [(other, costs.back[other]) for other in back[back.index(worker) :]]
        fits(terms)
    if costs.ports == 1:
        every = [(other, costs.send[other]) for other in send]
        fits(every + [(other, costs.back[other]) for other in back])
    if own:
        row = np.zeros(count + 2)
        row[count], row[-1] = costs.own[1], -1.0
        rows.append(row)
        limits.append(-costs.own[0])
    memory = costs.memory or [np.inf] * len(costs.send)
    bounds = [(0, memory[worker]) for worker in send] + [(0, None if own else 0), (0, end)]
    total = np.ones(count + 2)
    total[-1] = 0.0
    if load is None:
        bounds[-1] = (end, end)
        solved = linprog(-total, A_ub=rows or None, b_ub=limits or None, bounds=bounds)
    else:
        cost = np.zeros(count + 2)
        cost[-1] = 1.0
        solved = linprog(
            cost, A_ub=rows or None, b_ub=limits or None, A_eq=[total], b_eq=[load], bounds=bounds
        )
    if solved.status == 2:
        return None
    assert solved.status == 0, solved.message
    return float(abs(solved.fun))


def pairs(costs: Costs, workers: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Iterate over all orders of sends and of returns of some workers."""
    returning = [worker for worker in workers if costs.back[worker] is not None]
    for send in itertools.permutations(workers):
        for back in itertools.permutations(returning):
            yield send, back


def is_fifo(send: tuple[int, ...], back: tuple[int, ...]) -> bool:
    return back == tuple(worker for worker in send if worker in back)


def is_lifo(send: tuple[int, ...], back: tuple[int, ...]) -> bool:
    return is_fifo(send, back[::-1])


def best_pair(
    costs: Costs,
    *,
    load: float | None = None,
    end: float | None = None,
    allowed=lambda send, back: True,
    everyone: bool = False,
) -> float | None:
    """Return the best value over all sets of workers and pairs of orders that are allowed."""
    count = len(costs.send)
    plain = costs.ports == 1 and not any(
        fixed for row in (costs.send, costs.compute) for fixed, _ in row
    )
    plain = plain and not any(cost[0] for cost in costs.back if cost is not None)
    sizes = [count] if everyone or plain else range(count + 1)
    masters = [False] if costs.own is None else [False, True]
    found = []
    for size in sizes:
        for workers in itertools.combinations(range(count), size):
            for send, back in pairs(costs, workers):
                if not allowed(send, back):
                    continue
                for own in masters:
                    found.append(value(costs, send, back, own=own, load=load, end=end))
    reached = [each for each in found if each is not None]
    if not reached:
        return None
    return min(reached) if load is not None else max(reached)


def least_end_of_all_pairs(send: list[float], compute: list[float], back: list[float]) -> float:
    """Return the least end of a unit load on a linear one-port star over all pairs of orders.

    Like :func:`best`, but with one programme whose numbers change: for six workers, there are
    518400 pairs.
    """
    import highspy

    count = len(send)
    c, w, d = np.array(send), np.array(compute), np.array(back)
    highs = highspy.Highs()
    highs.silent()
    highs.setOptionValue("presolve", "off")
    load = highs.addVariables(count, lb=0.0)
    end = highs.addVariable(lb=0.0, obj=1.0)
    x = [load[index] for index in range(count)]
    highs.addConstr(sum(x) == 1.0)
    for index in range(count):
        sent = sum(float(c[other]) * x[other] for other in range(count))
        returned = sum(float(d[other]) * x[other] for other in range(count))
        highs.addConstr(sent + returned + float(w[index]) * x[index] - end <= 0.0)
    highs.addConstr(sum(float(c[j] + d[j]) * x[j] for j in range(count)) - end <= 0.0)
    known = c + d + np.diag(w)
    least = np.inf
    for first in itertools.permutations(range(count)):
        sent_at = np.argsort(first)
        before = c * (sent_at <= sent_at[:, np.newaxis]) + np.diag(w)
        for last in itertools.permutations(range(count)):
            back_at = np.argsort(last)
            rows = before + d * (back_at >= back_at[:, np.newaxis])
            for i, j in np.argwhere(rows != known).tolist():
                highs.changeCoeff(i + 1, j, rows[i, j])
            known = rows
            highs.run()
            least = min(least, highs.getObjectiveValue())
    return float(least)
