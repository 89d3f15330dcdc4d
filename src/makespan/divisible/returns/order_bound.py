"""How much one round with returns can do, whatever the orders of sends and returns.

In a plan that ends after 1 s, worker i has ``S_i + w_i x_i + R_i <= 1``: S_i is the time of the
sends up to its own, R_i that of the returns from its own on. Multiplied by ``l_i x_i``, l >= 0, and
added up, the sends of a pair of workers meet once, in one order or the other:

    sum_i l_i x_i S_i >= sum_i l_i c_i x_i^2 + sum_{i<j} min(l_i c_j, l_j c_i) x_i x_j,

the least being Smith's rule for weights l_i x_i and times c_i x_i, and so do the returns, with d.
The matrix of ``min(l_i c_j, l_j c_i)`` is positive semidefinite: l_i l_j times the least of c_i/l_i
and c_j/l_j. So a tangent of the quadratic form, at any x, is a cut that all plans keep; cuts are
added where the solution of the linear programme breaks them most.

Source: Queyranne 1993, Structure of a simple scheduling polyhedron (the inequality for l = c), used
for loads that are variables.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.backends.answer import Verdict
from makespan.backends.highs import Programme
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.divisible.returns.decisions import Terms

CUTS = 400
STEPS = 60  # to the weights that a solution breaks most
LENGTH = 4.0  # of the first of these steps; the k-th is as long over the root of k
BROKEN = 1e-4  # a cut that is broken by less is not worth it
NOTHING = 1e-9
ENDS = 4  # tried, where fixed costs depend on the end


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Cut:
    """The weights and the loads of a tangent."""

    weight: Floats
    load: Floats


class OrderBound:
    """The relaxation of the problem of :class:`OrderProgramme`, for any order and any end.

    Fixed costs are spread over the most that a worker can do by the end; memory is left out
    otherwise.
    """

    def __init__(self, terms: Terms, control: Control) -> None:
        self.terms = terms
        self.control = control
        self.cuts: list[_Cut] = []

    def bound(self, known: float) -> float:
        """Return a bound on the end, or on minus the load by the given end.

        ``known`` is the end of a plan, infinite where none is known: of no interest beyond.
        """
        terms = self.terms
        if terms.load is None:
            return -terms.end * self._rate(terms.end)
        if not np.isfinite(known):
            return self._ends_after(known)
        end, best = known, 0.0
        for _ in range(ENDS if terms.start_up.any() else 1):
            if best > 0.0 and self.control.expired():
                break
            best = max(best, min(end, self._ends_after(end)))
            if end - best <= NOTHING * end:
                break
            end = (best + end) / 2.0
        return best

    def _ends_after(self, end: float) -> float:
        """Return what a plan that ends by ``end`` takes at least."""
        assert self.terms.load is not None
        rate = self._rate(end)
        return self.terms.load / rate if rate > 0 else np.inf

    def _rate(self, end: float) -> float:
        """Return the load per second that no plan that ends by ``end`` exceeds."""
        terms = self.terms
        most = terms.most(end)
        able = most > 0
        spread = [
            per_unit[able] + np.where(np.isfinite(most[able]), fixed[able] / most[able], 0.0)
            for fixed, per_unit in (
                (terms.send_fixed, terms.send),
                (terms.compute_fixed, terms.compute),
                (terms.back_fixed, terms.back),
            )
        ]
        costs = _Costs(*spread)
        own = 0.0
        if terms.own is not None and terms.own.fixed < end:
            own = 1.0 / terms.own.per_unit if terms.own.per_unit > 0 else np.inf
        if not costs.total.all() or not np.isfinite(own):
            return np.inf
        return own + (self._most(costs, able) if able.any() else 0.0)

    def _most(self, costs: _Costs, able: np.ndarray) -> float:
        """Return what the workers that are able to do anything do in a second at most."""
        programme = Programme()
        load = programme.variables(len(costs.send), cost=-1.0, upper=1.0 / costs.total)
        ports = [costs.send + costs.back] if self.terms.ports == 1 else [costs.send, costs.back]
        programme.dense(np.array(ports), high=1.0)

        def add(weight: Floats, at: Floats) -> None:
            factors, high = costs.tangent(weight, at)
            programme.row(load, factors, high=high)

        for cut in self.cuts:
            add(cut.weight[able], cut.load[able])
        share, rate = np.full(len(load), 1.0 / len(load)), float((1.0 / costs.total).sum())
        for _ in range(CUTS):
            answer = programme.solve(Control())
            if answer.verdict is not Verdict.OPTIMAL:
                break
            rate = min(rate, -answer.bound)
            amount = np.maximum(0.0, answer.values[load])
            share = 0.9 * share + 0.1 / len(load)
            broken, share = costs.most_broken(amount, share)
            if broken < BROKEN or self.control.expired():
                break
            weight = np.where(amount > NOTHING, share / np.maximum(amount, NOTHING), 0.0)
            weight /= weight.max()
            add(weight, amount)
            self.cuts.append(_Cut(weight=_at(able, weight), load=_at(able, amount)))
        return rate


@dataclass(frozen=True, slots=True, eq=False)
class _Costs:
    """c, w and d of some workers."""

    send: Floats
    compute: Floats
    back: Floats

    @property
    def total(self) -> Floats:
        """What a unit costs, c + w + d."""
        return self.send + self.compute + self.back

    def tangent(self, weight: Floats, at: Floats) -> tuple[Floats, float]:
        """Return the factors of the row ``tangent(x) <= weight x``, and what they may reach."""
        pairs = np.zeros((len(weight), len(weight)))
        for cost in (self.send, self.back):
            met = np.outer(weight, cost)
            pairs += np.minimum(met, met.T)
        np.fill_diagonal(pairs, 2.0 * weight * self.total)
        slope: Floats = pairs @ at
        return slope - weight, 0.5 * float(at @ slope)

    def most_broken(self, amount: Floats, share: Floats) -> tuple[float, Floats]:
        """Return by how much some weights times loads are broken, and these, of sum 1.

        What is maximised is concave: multiplicative steps along the excess of each worker, in
        the orders that are best for the weights.
        """
        best, found = -np.inf, share
        for step in range(1, STEPS + 1):
            excess = self.compute * amount - 1.0
            for cost in (self.send, self.back):
                taken = cost * amount
                order = np.argsort(taken / share, kind="stable")
                excess[order] += np.cumsum(taken[order])
            value = float(share @ excess)
            if value > best:
                best, found = value, share
            share = share * np.exp(LENGTH / np.sqrt(step) * (excess - value))
            share = np.maximum(share / share.sum(), 1e-12)
        return best, found


def _at(able: np.ndarray, values: Floats) -> Floats:
    column = np.zeros(len(able))
    column[able] = values
    return column
