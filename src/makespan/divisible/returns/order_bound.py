"""How much one round with returns can do, whatever the orders of sends and returns.

In a plan that ends by T, worker i has ``S_i + t_i + R_i <= T``: S_i is the time of the sends up to
its own, t_i that of its computation, R_i that of the returns from its own on. Let y_i be 1 if it
takes part, else 0, and x_i its load; its send lasts ``p_i = C_i y_i + c_i x_i``, its return ``q_i``
the same with D and d. Multiplied by weights ``u_i = g_i y_i + h_i x_i``, g, h >= 0, and added up,
the sends of a pair of workers meet once, in one order or the other:

    sum_i u_i S_i >= sum_i u_i p_i + sum_{i<j} min(u_i p_j, u_j p_i),

the least being Smith's rule for weights u and times p, and so do the returns. Both u_i and p_i have
two parts, one of y_i and one of x_i. Part k of weights a_k and times b_k meets another, l, with no
less than ``min(a_k b_l, a_l b_k)``, and the matrix M of these is positive semidefinite: a_k a_l
times the least of b_k/a_k and b_l/a_l. As y_i is 0 or 1, its square is y_i and its product with x_i
is x_i; half of the diagonal of M is enough for the form ``z M z / 2`` to be convex. So a tangent of
the form, at any loads, is a cut that all plans keep; cuts are added where a solution of the mixed
programme of x and y breaks them most.

Source: Queyranne 1993, Structure of a simple scheduling polyhedron (the inequality for u = p), used
for loads that are variables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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
ENDS = 40  # tried at most
NEAR = 1e-3  # relative: ends between which no further one is tried


class OrderBound:
    """The relaxation of the problem of :class:`OrderProgramme`, for any order and any end."""

    def __init__(self, terms: Terms, control: Control) -> None:
        self.terms = terms
        self.open = replace(terms, load=None)  # a worker's part may be more than the load
        self.control = control
        self.costs = _TransferCosts.of(terms)
        self.pays = terms.start_up > 0
        self.cuts: list[_Cut] = []
        self.share = np.full(len(terms), 1.0 / len(terms))

    def bound(self, known: float) -> float:
        """Return a bound on the end, or on minus the load by the given end.

        ``known`` is the end of a plan, infinite where none is known: of no interest beyond.
        """
        terms = self.terms
        if terms.load is None:
            return -self._most(terms.end, np.inf)
        linear = not self.pays.any() and (terms.own is None or terms.own.fixed == 0)
        stretches = bool(np.isinf(terms.memory).all())  # plans, to longer ones of more load
        low = 0.0
        end = high = known if np.isfinite(known) else 1.0
        for _ in range(ENDS):
            most = self._most(end, terms.load)
            if most < terms.load:
                low = end
                high = max(high, min(known, 2.0 * end))
            else:
                high = known = end
                low = max(low, end * terms.load / most if stretches and most > 0 else 0.0)
            done = high - low <= NEAR * high or (linear and stretches and high == known)
            if done or self.control.expired():
                break
            end = (low + high) / 2.0 if high == known else high
        return low

    def _most(self, end: float, enough: float) -> float:
        """Return a load that no plan by ``end`` exceeds; any below ``enough`` will do."""
        terms = self.terms
        limit = self.open.most(end)
        own = _alone(terms, end)
        if terms.everyone and (terms.start_up > end).any():
            return -np.inf
        if not np.isfinite(limit).all() or not np.isfinite(own):
            return np.inf
        most = own + float(limit.sum())
        for mixed in (False, True)[: 1 + bool((self.pays & (limit > 0)).any())]:
            while most >= enough and len(self.cuts) < CUTS:
                programme = self._programme(end, limit, mixed=mixed)
                answer = programme.solve(self.control if mixed else Control())
                if np.isfinite(answer.bound):
                    most = min(most, own - answer.bound)
                if answer.verdict is not Verdict.OPTIMAL:
                    break
                at = np.maximum(0.0, answer.values)
                cut, self.share = self.costs.most_broken(at, end, self.share)
                if cut is None or self.control.expired():
                    break
                self.cuts.append(cut)
            if self.control.expired():
                break
        return most

    def _programme(self, end: float, limit: Floats, *, mixed: bool) -> Programme:
        """Return the programme of who takes part, and of loads, with the cuts that are known."""
        terms, costs = self.terms, self.costs
        programme = Programme()
        must = ~self.pays | terms.everyone
        used = programme.variables(len(limit), lower=must, upper=must | (limit > 0), integer=mixed)
        programme.variables(len(limit), cost=-1.0, upper=limit)
        some = np.flatnonzero(~must & (limit > 0))
        table = np.stack([used[some] + len(limit), used[some]], axis=1)
        programme.rows(table, np.stack([np.ones(len(some)), -limit[some]], axis=1), high=0.0)
        sides = np.array([costs.send, costs.back])
        programme.dense(sides.sum(axis=0)[np.newaxis] if terms.ports == 1 else sides, high=end)
        if self.cuts:
            slope = np.array([cut.slope - end * cut.weight for cut in self.cuts])
            programme.dense(slope, high=[cut.most for cut in self.cuts])
        return programme


def _alone(terms: Terms, end: float) -> float:
    if terms.own is None or terms.own.fixed >= end:
        return 0.0
    return (end - terms.own.fixed) / terms.own.per_unit if terms.own.per_unit > 0 else np.inf


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Cut:
    """The row ``(slope - T weight) z <= most`` of z = (y, x), for any end T."""

    slope: Floats
    weight: Floats
    most: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _TransferCosts:
    send: Floats
    compute: Floats
    back: Floats

    @classmethod
    def of(cls, terms: Terms) -> _TransferCosts:
        return cls(
            send=np.concatenate([terms.send_fixed, terms.send]),
            compute=np.concatenate([terms.compute_fixed, terms.compute]),
            back=np.concatenate([terms.back_fixed, terms.back]),
        )

    @property
    def total(self) -> Floats:
        """C + W + D, then c + w + d."""
        return self.send + self.compute + self.back

    def cut(self, weight: Floats, at: Floats) -> _Cut:
        """Return the tangent at a point of the row with these weights, g and then h."""
        pairs = np.zeros((len(weight), len(weight)))
        for cost in (self.send, self.back):
            met = np.outer(weight, cost)
            pairs += np.minimum(met, met.T)
        count = len(weight) // 2
        fixed, load = slice(0, count), slice(count, None)
        worker = np.arange(count)
        own = weight * self.total
        across = pairs[worker, worker + count]  # of a worker's parts: x y = x
        slope: Floats = pairs @ at
        most = 0.5 * float(at @ slope)
        slope[fixed] += own[fixed] - 0.5 * pairs[worker, worker]
        crossed = weight[fixed] * self.total[load] + weight[load] * self.total[fixed]
        slope[load] += crossed - across
        square = own[load] - 0.5 * pairs[worker + count, worker + count]
        ratio = np.where(at[fixed] > NOTHING, at[load] / np.maximum(at[fixed], NOTHING), 0.0)
        slope[load] += 2.0 * square * ratio  # x x / y, of which this is the tangent
        slope[fixed] -= square * ratio**2
        return _Cut(slope=slope, weight=weight, most=most)

    def most_broken(self, at: Floats, end: float, share: Floats) -> tuple[_Cut | None, Floats]:
        """Return the cut that a solution breaks most, of those tried, and the weights times it.

        None where none is broken. The search for the weights begins at ``share``.
        """
        share = self._worst(at / end, share)
        found, most = None, BROKEN
        ways = [np.repeat([0.0, 1.0], len(share))]
        if self.total[: len(share)].any():  # else they are all the same
            ways += [self.send + self.back, self.send, self.back, self.total]
        for parts in ways:
            there = _of_workers(parts * at)
            scale = np.where(there > NOTHING, share / np.maximum(there, NOTHING), 0.0)
            weight = np.tile(scale, 2) * parts
            cut = self.cut(weight / max(weight.max(), NOTHING), at)
            size = float(cut.weight @ at) * end
            broken = float(cut.slope @ at - end * (cut.weight @ at)) - cut.most
            if size > 0 and broken > most * size:
                found, most = cut, broken / size
        return found, share

    def _worst(self, at: Floats, share: Floats) -> Floats:
        """Return the weights times loads, of sum 1, for which a solution by 1 s is broken most.

        What is maximised is concave: multiplicative steps along the excess of each worker, in
        the orders that are best for the weights.
        """
        sends, work, backs = (
            _of_workers(cost * at) for cost in (self.send, self.compute, self.back)
        )
        share = 0.9 * share + 0.1 / len(share)
        best, found = -np.inf, share
        for step in range(1, STEPS + 1):
            excess = work - 1.0
            for taken in (sends, backs):
                order = np.argsort(taken / share, kind="stable")
                excess[order] += np.cumsum(taken[order])
            value = float(share @ excess)
            if value > best:
                best, found = value, share
            share = share * np.exp(LENGTH / np.sqrt(step) * (excess - value))
            share = np.maximum(share / share.sum(), 1e-12)
        return found


def _of_workers(values: Floats) -> Floats:
    """Return the sum of each worker's two parts."""
    summed: Floats = values.reshape(2, -1).sum(axis=0)
    return summed
