"""The mixed-integer programme of a tree with fixed costs: who takes part, and who is served first.

A node v that takes part computes ``a[v]`` units; the message to it carries what its subtree
computes, ``f[v]``, and has come at t[v]. It waits for the parent's and, one sibling at a time, for
the messages before it:

    t[v] >= t[parent] + C_v u[v] + c_v f[v],    t[v] >= t[sibling] + C_v u[v] + c_v f[v] or after it
    t[v] + W_v y[v] + w_v a[v] <= T.

Source: the model of Cheng and Robertazzi 1990 with the start-ups of Benoit 2016, latencies.
"""

from itertools import combinations

import numpy as np

from makespan.backends.answer import SLACK, Answer
from makespan.backends.highs import Programme
from makespan.core.numeric.arrays import Floats, Integers
from makespan.divisible.model.tree import Levels, Tree
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.trees.equivalent import spread_tree


class TreeProgramme:
    """The programme of a tree with a load, or with the most by its deadline.

    ``horizon``: the end of a plan that is known, or the deadline where the load is open; positive,
    seconds. ``choices``: values of the choices to fix, of an answer of the same programme.
    ``unit``: what amounts are measured in, units of load; None: the load, or the most of a node.
    """

    def __init__(
        self,
        problem: DivisibleLoad,
        horizon: float,
        choices: Floats | None = None,
        unit: float | None = None,
    ) -> None:
        tree = problem.tree
        self.tree, self.second = tree, horizon
        is_open = self.is_open = problem.load is None
        self.latest = 1.0 if is_open else 1.0 + SLACK
        cap = self._caps(np.inf if problem.load is None else problem.load)
        self.is_bounded = bool(np.isfinite(cap).all())
        most = float(cap[np.isfinite(cap)].max(initial=0.0))
        self.unit = unit or problem.load or most or 1.0
        cap = cap / self.unit
        count = len(tree)
        self.siblings = siblings_of(tree)
        programme = self.programme = Programme()
        integer = choices is None
        size = 2 * count + len(self.siblings)
        upper = np.concatenate([cap > 0, np.ones(count + len(self.siblings))])
        lower = np.zeros(size) if choices is None else choices
        self.choices = programme.variables(
            size, lower=lower, upper=upper if choices is None else choices, integer=integer
        )
        self._computes, self._used = self.choices[:count], self.choices[count : 2 * count]
        self.amount = programme.variables(count, cost=-1.0 if is_open else 0.0, upper=cap)
        self._carried = programme.variables(count)
        latest = np.where(np.arange(count) == tree.root, 0.0, self.latest)
        self._arrival = programme.variables(count, upper=latest)
        low = 1.0 if is_open else 0.0
        self._end = int(
            programme.variables(1, cost=0.0 if is_open else 1.0, lower=low, upper=self.latest)[0]
        )
        if problem.load is not None:
            programme.row(self.amount, 1.0, low=1.0, high=1.0)
        self._nodes(cap)
        self._messages()

    def _caps(self, load: float) -> Floats:
        """Return the most that each node could compute if all ways to it were free."""
        tree = self.tree
        fixed, per_unit = np.zeros((2, len(tree)))
        for node in tree.levels.node.tolist():
            above = int(tree.parent[node])
            if above >= 0:
                fixed[node] = fixed[above] + tree.send_fixed[node]
                per_unit[node] = per_unit[above] + tree.send_per_unit[node]
        left = self.latest * self.second - fixed - tree.compute_fixed
        cost = per_unit + tree.compute_per_unit
        able = tree.computes & (left >= 0) & np.isfinite(cost)
        cap = np.full(len(tree), np.inf)
        np.divide(left, cost, out=cap, where=able & (cost > 0))
        return np.where(able, np.minimum(cap, load), 0.0)

    def _nodes(self, cap: Floats) -> None:
        """What a node computes and passes on is what it is sent, and it has ended by the end."""
        tree, row = self.tree, self.programme.row
        rate = self.unit / self.second
        total = float(cap.sum())
        load = np.inf if self.is_open else self.unit
        most = spread_tree(tree, self.latest * self.second, load)[1] * ((1 + SLACK) / self.unit)
        for node, children in enumerate(tree.children):
            compute = tree.compute_per_unit[node] * rate if tree.computes[node] else 0.0
            fixed = tree.compute_fixed[node] / self.second if tree.computes[node] else 0.0
            row(
                [self._arrival[node], self._computes[node], self.amount[node], self._end],
                [1.0, fixed, compute, -1.0],
                high=0.0,
            )
            row([self.amount[node], self._computes[node]], [1.0, -cap[node]], high=0.0)
            mine = [self.amount[node], *(self._carried[child] for child in children)]
            row([*mine, self._carried[node]], [1.0] * len(mine) + [-1.0], low=0.0, high=0.0)
            row([self._carried[node], self._used[node]], [1.0, -min(total, most[node])], high=0.0)
            row([self._computes[node], self._used[node]], [1.0, -1.0], high=0.0)
            for child in children:
                row([self._used[child], self._used[node]], [1.0, -1.0], high=0.0)

    def _messages(self) -> None:
        """A node is sent its message after its parent has all, and siblings one at a time."""
        tree, row, arrival = self.tree, self.programme.row, self._arrival
        rate = self.unit / self.second

        def takes(child: int) -> tuple[list[int], list[float]]:
            costs = [tree.send_fixed[child] / self.second, tree.send_per_unit[child] * rate]
            return [self._used[child], self._carried[child]], costs

        for node, children in enumerate(tree.children):
            parts: tuple[list[int], list[float]] = ([], [])
            for child in children:
                what, costs = takes(child)
                row([arrival[node], *what, arrival[child]], [1.0, *costs, -1.0], high=0.0)
                parts[0].extend(what)
                parts[1].extend(costs)
            row([arrival[node], *parts[0], self._end], [1.0, *parts[1], -1.0], high=0.0)
        first = self.choices[2 * len(tree) :]
        for choice, (one, other) in zip(first, self.siblings, strict=True):
            wait = self.latest
            what, costs = takes(other)
            index = [arrival[one], *what, arrival[other], choice]
            row(index, [1.0, *costs, -1.0, wait], high=wait)
            what, costs = takes(one)
            index = [arrival[other], *what, arrival[one], choice]
            row(index, [1.0, *costs, -1.0, -wait], high=0.0)

    def plan(self, answer: Answer) -> tuple[Floats, Levels]:
        """Return the amounts of a solution, units, and the order in which nodes are served."""
        amount = np.maximum(0.0, answer.values[self.amount])
        amount[answer.values[self._computes] < 0.5] = 0.0
        rank: Integers = np.argsort(np.argsort(answer.values[self._arrival], kind="stable"))
        return amount * self.unit, Levels.of(self.tree, rank)


def siblings_of(tree: Tree) -> list[tuple[int, int]]:
    """Return all pairs of children of one node, in the order of the programme's choices."""
    return [pair for children in tree.children for pair in combinations(children, 2)]
