"""Durations that turn out otherwise, what plans make of them, and which plan is then best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import MethodError, TooLarge
from makespan.core.inputs.rules import Rule, refusal
from makespan.core.noise import Noise
from makespan.core.numeric.arrays import Floats
from makespan.core.registry import applicability, find_method, within_reach
from makespan.core.schedule import Activity, Schedule
from makespan.core.simulation import mean_interval, quantile_interval
from makespan.core.solution import Solution
from makespan.core.system.memory import claim
from makespan.taskgraph.levels import by_level, ranks
from makespan.taskgraph.limits import violation
from makespan.taskgraph.list_scheduling.assigned import cannot_end
from makespan.taskgraph.list_scheduling.insertion import inserted
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import machine_of_tasks, replay, retimed, times_of_tasks


@dataclass(frozen=True, slots=True, eq=False)
class Scenarios:
    """Factors on durations: common random numbers for plans that are compared.

    All hops of an edge, and the copies of a task on a machine, share a factor. A length of 1 stands
    for all of an axis.
    """

    problem: TaskGraph
    tasks: Floats  # (scenarios, tasks, machines)
    edges: Floats  # (scenarios, edges)
    pairs: Floats  # (scenarios, nodes, nodes), by sender and receiver

    @classmethod
    def drawn(
        cls, problem: TaskGraph, noise: Noise, count: int, rng: np.random.Generator
    ) -> Scenarios:
        """Draw independent scenarios; raise ProblemError if the noise names what is not there."""
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


SHARE = Rule("a quantile is above 0 and below 1, as in 0.95", strictly=True, high=1 - 1e-9)
FINALISTS = 10  # plans that are judged once more, in scenarios that none was chosen by
JUDGED, ESTIMATED = 1_000, 4_000
"""Scenarios that choose among the finalists, and that the chosen plan is estimated in."""
FEWEST = 20
SECONDS, PLAIN, MOST_PLAIN, AROUND = 1e-7, 5e-7, 5e-4, 1e-5
"""What a task or an edge takes in a scenario, in a compiled loop, and more in a plain one, of which
there is so much at most; and what a scenario takes beside them."""
PATIENCE = 10.0  # seconds that judging takes without a limit; of one, the share ``RESERVED``
RESERVED = 0.3


NOT_ESTIMATED = (
    "makespan and bound are those of the durations as stated; how the plan fares where others turn "
    "out is not estimated: the time limit is too short for so many tasks and edges"
)


class Aim(NamedTuple):
    """What is to be small: the mean makespan, or the one that a share of all does not exceed."""

    quantile: float | None = None

    @classmethod
    def checked(cls, quantile: float | None) -> Aim:
        """Return the aim, refusing what is not a share."""
        text = None if quantile is None else refusal(quantile, SHARE)
        if text is not None:
            raise MethodError(f"quantile: {text}")
        return cls(quantile)

    def of(self, makespans: Floats) -> Floats:
        """Return the value of the last axis."""
        if self.quantile is None:
            return np.asarray(makespans.mean(axis=-1))
        return np.asarray(np.quantile(makespans, self.quantile, axis=-1))

    def ranked_from(self, count: int) -> int:
        """Return from which of ``count`` ends on, in order, their mean stands for the value.

        The mean of the worst 55 % counts spread, as the 95 % quantile does. That itself, or the
        mean of the worst 10 %, rests on so few ends that searches find plans for just these.
        """
        return 0 if self.quantile is None else max(0, round((self.quantile - 0.5) * count))


def affordable(problem: TaskGraph, control: Control, wanted: int, plans: int) -> int:
    """Return in how many scenarios, of those wanted, so many plans can be replayed in time.

    Where they would be too few to tell anything, the fewest that do, for fewer plans, or none.
    """
    left = PATIENCE if control.remaining is None else control.remaining
    fewest = min(FEWEST, wanted)
    if left < fewest * min(plans, FINALISTS) * _seconds(problem):
        return 0
    return int(min(wanted, max(fewest, left / (plans * _seconds(problem)))))


def reserved(problem: TaskGraph, control: Control) -> float:
    """Return the seconds that are kept for judging plans."""
    whole = _seconds(problem) * (FINALISTS * JUDGED + 2 * ESTIMATED)
    return min(whole, RESERVED * (control.remaining or 0.0))


def _seconds(problem: TaskGraph) -> float:
    size = len(problem.dag) + len(problem.dag.source)
    return AROUND + min(PLAIN * size, MOST_PLAIN) + SECONDS * size


def chosen(
    problem: TaskGraph, control: Control, plans: Sequence[Schedule], ends: Sequence[Floats],
    noise: Noise, aim: Aim,
) -> Schedule:  # fmt: skip
    """Return the best of plans that keep the limits, as the best by ``ends`` fare elsewhere."""
    missed = np.array([violation(problem, plan) for plan in plans])
    best = np.lexsort((aim.of(np.array(ends)), missed))[:FINALISTS].tolist()
    finalists: list[Schedule] = [plans[each] for each in best if missed[each] == missed[best[0]]]
    if len(finalists) == 1 or control.expired():
        return finalists[0]
    count = affordable(problem, control, JUDGED, 3 * len(finalists))
    if not count:
        return finalists[0]
    fresh = Scenarios.drawn(problem, noise, count, control.rng)
    values = [float(aim.of(fresh.makespans(plan))) for plan in finalists]
    return finalists[int(np.argmin(values))]


def estimated(
    problem: TaskGraph, control: Control, plan: Schedule, planned: Schedule, noise: Noise, aim: Aim
) -> Solution:
    """Return a solution that says how a plan fares in fresh scenarios, beside the one ``planned``
    for the durations as stated.

    Fresh are those by which no plan was chosen: an estimate from others would be too good
    (Kleywegt, Shapiro and Homem-de-Mello 2002).
    """
    seed = int(control.rng.integers(2**31))
    count = affordable(problem, control, ESTIMATED, 2)
    if not count:
        return Solution(schedule=plan, stopped=True, notes=(NOT_ESTIMATED,))
    found = [_estimate(problem, each, noise, aim, count, seed) for each in (plan, planned)]
    words = ("this plan", "the best plan known for the durations as stated")
    return Solution(
        schedule=plan,
        stopped=True,
        notes=(
            f"makespan and bound are those of the durations as stated; estimates with {noise}:",
            *(f"{word} {_told(each)}" for word, each in zip(words, found, strict=True)),
        ),
        details={"noise": noise.as_dict(), "estimate": found[0], "as_stated": found[1]},
    )


def _estimate(
    problem: TaskGraph, plan: Schedule, noise: Noise, aim: Aim, count: int, seed: int
) -> dict[str, Any]:
    plan = retimed(problem, plan)
    runs = replay(problem, plan, count)
    ends = runs.disturbed(plan, noise, count, np.random.default_rng(seed), problem.dag.names)
    share = 0.95 if aim.quantile is None else aim.quantile
    return {
        "makespan": plan.makespan,
        "mean": float(ends.mean()),
        "mean_interval": list(mean_interval(ends)),
        "share": share,
        "quantile": float(np.quantile(ends, share)),
        "quantile_interval": list(quantile_interval(ends, share)),
        "repetitions": count,
    }


def _told(found: dict[str, Any]) -> str:
    low, high = found["quantile_interval"]
    half = (found["mean_interval"][1] - found["mean_interval"][0]) / 2.0
    return (
        f"ends after {found['mean']:.6g} ± {half:.2g} s on average, and in {found['share']:.4g} "
        f"of all runs by {found['quantile']:.6g} s ({low:.6g} to {high:.6g})"
    )


LINE_UP = ("heft", "peft", "cpop", "mcp", "etf", "dls", "min-min", "sufferage", "local-search")
"""The methods whose plans for the durations as stated are candidates."""
DRAWN = 1_000  # factors of each error that a quantile is taken of


def candidates(
    problem: TaskGraph, control: Control, noise: Noise, count: int
) -> Iterator[Schedule]:
    """Yield the plans of the quick methods, for durations as stated and for safe ones, then those
    of ``heft`` for up to ``count`` scenarios; as many as the time allows, one at least.

    Safe durations are their 90 % quantiles: another problem only where errors differ.
    """
    yield from _in_turn(problem, control)
    rng = np.random.default_rng(int(control.rng.integers(2**31)))
    safe = _safe(problem, noise, rng)
    if safe is not None and not control.expired():
        for plan in _in_turn(safe, control):
            yield carried_over(problem, control, plan)
    if not count or cannot_end(problem, control):
        return
    scenarios = Scenarios.drawn(problem, noise, count, rng)
    for scenario in range(count):
        if control.expired():
            return
        drawn = scenarios.disturbed(scenario)
        plan = inserted(drawn, control, by_level(drawn.dag, ranks(drawn)))
        yield carried_over(problem, control, plan)


def carried_over(problem: TaskGraph, control: Control, plan: Schedule) -> Schedule:
    """Return the plan with the machines and the order of a plan for other durations."""
    order = np.lexsort((problem.dag.position, times_of_tasks(problem, plan)[0]))
    return inserted(problem, control, order, pinned=machine_of_tasks(problem, plan))


def _in_turn(problem: TaskGraph, control: Control) -> Iterator[Schedule]:
    before, best = control.incumbent, None
    for index, name in enumerate(LINE_UP):
        method = find_method("taskgraph", name)
        if index and (control.expired() or not within_reach(method, problem)):
            continue
        if applicability(method, problem).applies:
            control.incumbent = best  # local search starts from it
            try:
                with control.aside():
                    found = method.run(problem, control)
            except TooLarge:
                continue
            finally:
                control.incumbent = before
            assert found.schedule is not None
            yield found.schedule
            if best is None or found.makespan < best.makespan:
                best = found


def _safe(problem: TaskGraph, noise: Noise, rng: np.random.Generator) -> TaskGraph | None:
    """Return the problem with the 90 % quantiles of all durations; None if all errors agree."""
    errors, transfers = errors_of(problem, noise), noise.of_transfers()
    levels, place = np.unique(np.append(errors, transfers), return_inverse=True)
    if len(levels) == 1:
        return None
    draws: Floats = noise.drawn(rng, (DRAWN, len(levels)), levels)
    factors = np.quantile(draws, 0.9, axis=0)[place]
    return changed(problem, factors[:-1].reshape(errors.shape), factors[-1:])
