"""Which of several plans is best where durations are uncertain, and how good it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import MethodError
from makespan.core.inputs.mistakes import refusal
from makespan.core.inputs.rules import Rule
from makespan.core.noise import Noise
from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Schedule
from makespan.core.simulation import mean_interval, quantile_interval
from makespan.core.solution import Solution
from makespan.taskgraph.limits import violation
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.scenarios.drawn import Scenarios
from makespan.taskgraph.timing import replay, retimed

SHARE = Rule("a quantile is above 0 and below 1, as in 0.95", strictly=True, high=1 - 1e-9)
FINALISTS = 10
"""Plans that are judged once more, in scenarios that none was chosen by."""
JUDGED, ESTIMATED = 1_000, 4_000
"""Scenarios that choose among the finalists, and that the chosen plan is estimated in."""
FEWEST = 20
SECONDS, PLAIN, MOST_PLAIN, AROUND = 1e-7, 5e-7, 5e-4, 1e-5
"""What a task or an edge takes in a scenario, in a compiled loop, and more in a plain one, of which
there is so much at most; and what a scenario takes beside them."""
PATIENCE = 10.0
"""Seconds that judging takes where there is no limit; of a limit, the share ``RESERVED``."""
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
        if self.quantile is None:
            return 0
        return max(0, round((self.quantile - 0.5) * count))


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
    rng = np.random.default_rng(seed)
    ends = runs.disturbed(plan, noise, count, rng, problem.dag.names)
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
