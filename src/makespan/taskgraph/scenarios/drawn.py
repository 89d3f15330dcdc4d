"""Scenarios: how long tasks and transfers take, the same for all plans that are compared."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from makespan.core.noise import Noise
from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Activity, Schedule
from makespan.core.system.memory import claim
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import replay


@dataclass(frozen=True, slots=True, eq=False)
class Scenarios:
    """Factors on durations: common random numbers for plans that are compared.

    All hops of an edge, and the copies of a task on a machine, share a factor.

    Parameters
    ----------
    problem
        What is planned.
    tasks
        Shape (scenarios, tasks, machines); one for all tasks, or machines, stands for as many.
    edges
        Shape (scenarios, edges), or one for all edges.
    pairs
        Shape (scenarios, nodes, nodes), by sender and receiver, or one for all pairs.
    """

    problem: TaskGraph
    tasks: Floats
    edges: Floats
    pairs: Floats

    @classmethod
    def drawn(
        cls, problem: TaskGraph, noise: Noise, count: int, rng: np.random.Generator
    ) -> Scenarios:
        """Draw independent scenarios.

        Raises
        ------
        ProblemError
            If the noise names tasks or machines that are not there.
        """
        errors, nodes = errors_of(problem, noise), len(problem.machines)
        edges = len(problem.dag.source)
        claim(8.0 * count * (errors.size + edges), f"{count:,} scenarios")
        tasks = noise.drawn(rng, (count, *errors.shape), errors)
        none, error = np.ones((count, 1)), noise.of_transfers()
        if noise.per == "activity":
            return cls(problem, tasks, noise.drawn(rng, (count, edges), error), none[:, :, None])
        claim(8.0 * count * nodes**2, f"{count:,} scenarios of all links")
        pairs = np.triu(noise.drawn(rng, (count, nodes, nodes), error), 1)
        return cls(problem, tasks, none, pairs + np.swapaxes(pairs, 1, 2))

    def __len__(self) -> int:
        return len(self.tasks)

    def makespans(self, plan: Schedule) -> Floats:
        """Return when a plan ends in each scenario."""
        return replay(self.problem, plan, len(self)).makespans(self.of_rows(plan))

    def of_rows(self, plan: Schedule) -> Floats:
        """Return the factors of the rows of a plan, shape (scenarios, rows)."""
        claim(8.0 * len(self) * len(plan), f"{len(self):,} scenarios of {len(plan):,} rows")
        factors = np.ones((len(self), len(plan)))
        computes = plan.kind == Activity.COMPUTE
        item, machine, peer = plan.item, plan.machine, plan.peer
        rows = np.flatnonzero(computes)
        factors[:, rows] = _entries(self.tasks, item[rows], machine[rows])
        rows = np.flatnonzero(~computes)
        factors[:, rows] = _entries(self.edges, item[rows])
        factors[:, rows] *= _entries(self.pairs, machine[rows], peer[rows])
        return factors

    def tables(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the durations on machines, the sizes, and the set-ups and seconds per unit between
        machines: as planned, then in each scenario.

        Where edges have factors of their own, set-ups and delays are left as planned.
        """
        problem, routing = self.problem, self.problem.network.routing
        count = len(problem.network)
        claim(8.0 * len(self) * problem.durations.size, "the durations in all scenarios")
        pairs = self.pairs[:, :count, :count]
        return (
            _with_first(problem.durations, self.tasks),
            _with_first(problem.dag.size, self.edges),
            _with_first(routing.fixed_seconds, pairs),
            _with_first(routing.seconds_per_unit, pairs),
        )

    def disturbed(self, scenario: int) -> TaskGraph:
        """Return the problem whose durations and sizes are those of one scenario."""
        return changed(self.problem, self.tasks[scenario], self.edges[scenario])


def changed(problem: TaskGraph, tasks: Floats, edges: Floats) -> TaskGraph:
    """Return the problem with other durations and sizes: factors that broadcast to them."""
    dag = problem.dag
    other = Dag.from_arrays(
        durations=problem.finite_durations * tasks, source=dag.source, target=dag.target,
        size=dag.size * edges, names=dag.names, release=dag.release, deadline=dag.deadline,
        cores=dag.cores,
    )  # fmt: skip
    return replace(problem, dag=other, options={})


def errors_of(problem: TaskGraph, noise: Noise) -> Floats:
    """Return the errors of tasks on machines, one row or column where all are equal."""
    count, machines = len(problem.dag), len(problem.network)
    task, machine = map(np.ravel, np.indices((count, machines)))
    found = noise.of_computations(task, machine, problem.machines, problem.dag.names)
    errors = found.reshape(count, machines)
    if noise.per == "machine":
        return errors[:1]
    return errors[:, :1] if (errors == errors[:, :1]).all() else errors


def _entries(factors: Floats, *index: np.ndarray) -> Floats:
    """Return the entries of every scenario, where axes of length 1 stand for any."""
    axes = (
        0 if length == 1 else each for each, length in zip(index, factors.shape[1:], strict=True)
    )
    found = factors[(slice(None), *axes)]
    return found if found.ndim > 1 else found[:, None]


def _with_first(values: Floats, factors: Floats) -> Floats:
    return np.concatenate([values[None], values * factors])
