"""Methods kept for comparison and teaching, which ``auto`` never picks."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible import needs, policies
from makespan.divisible.model.plan import Plan
from makespan.divisible.model.platform import NUMBERS
from makespan.divisible.one_round.plans import log_service_order, one_round
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.published.rounds import (
    MAX_ROUNDS,
    OutputRounds,
    output_rounds,
    output_transfers,
    uniform_rounds,
)
from makespan.divisible.timing import timed


@register(
    needs=needs.SPLIT_ONE_ROUND, published=True, complexity="O(n log n)", source="common practice"
)
def equal_split(problem: DivisibleLoad, control: Control) -> Solution:
    """The same load for every machine that computes; workers by non-decreasing send cost."""
    return _in_proportion(problem, control, np.ones(len(problem.star)), 1.0)


@register(
    needs=(*needs.SPLIT_ONE_ROUND, needs.FINITE_SPEED),
    published=True,
    complexity="O(n log n)",
    source="common practice",
)
def proportional_split(problem: DivisibleLoad, control: Control) -> Solution:
    """Loads in proportion to the computing speeds; workers by non-decreasing send cost."""
    own = 1.0 / problem.star.master_cost.per_unit if problem.master_computes else 0.0
    return _in_proportion(problem, control, 1.0 / problem.star.compute_per_unit, own)


def _in_proportion(problem: DivisibleLoad, control: Control, speed: Floats, own: float) -> Solution:
    """Return the plan of loads in proportion to these speeds, ``own`` that of the master."""
    own = own if problem.master_computes else 0.0
    total = float(speed.sum()) + own
    if total == 0.0:
        return Solution(schedule=None, infeasible="there is no machine to compute the load")
    plan = one_round(problem, speed * (problem.total / total), own / total * problem.total)
    return log_service_order(problem, control, plan, problem.star.send_per_unit, "send cost")


A_CHUNK = "O(workers) a chunk"


def planned(make: Callable[..., policies.Policy]) -> Callable[..., Solution]:
    """Return the method that plans the chunks of a policy's run without errors."""

    @wraps(make, assigned=("__name__", "__doc__"))
    def method(problem: DivisibleLoad, control: Control, **options: Any) -> Solution:
        return Solution(schedule=timed(problem, make(problem, **options).plan()))

    return method


for make, source in (
    (policies.self_scheduling, "Tang and Yew 1986"),
    (policies.guided, "Polychronopoulos and Kuck 1987"),
    (policies.factoring, "Flynn Hummel, Schonberg and Flynn 1992"),
    (policies.weighted_factoring, "Flynn Hummel, Schmidt, Uma and Wein 1996"),
):
    register(needs=needs.POLICY, published=True, complexity=A_CHUNK, source=source)(planned(make))

register(
    needs=(*needs.UNIFORM_ROUNDS, needs.OPEN_ROUNDS),
    published=True,
    complexity=f"O(rounds tried^2), then {A_CHUNK}",
    source="Yang and Casanova 2003 (RUMR)",
)(planned(policies.rumr))


@register(
    needs=needs.UNIFORM_ROUNDS,
    published=True,
    complexity="O(rounds tried^2), and the chunks of the best",
    source="Yang and Casanova 2003 (UMR), and its extension to heterogeneous platforms",
)
def umr(problem: DivisibleLoad, control: Control) -> Solution:
    """Uniform multi-round (UMR): rounds of equal computing time, as many as the model says.

    Workers are taken by increasing send cost as long as rounds can grow.
    """
    most = MAX_ROUNDS if problem.rounds == "auto" else int(problem.rounds)
    plan = uniform_rounds(problem.star, problem.total, most, control)
    if plan is None:
        return Solution(schedule=None, notes=("uniform rounds would need a negative chunk",))
    return Solution(schedule=timed(problem, plan))


MAX_CHUNKS = 2_000
ENOUGH = 1e-4  # the relative gain below which no further round is tried


@register(
    needs=(
        *needs.ROUNDS_WITH_RETURNS,
        needs.ONE_PORT,
        needs.equal_workers(*NUMBERS[:6]),
        needs.at_most(
            MAX_CHUNKS,
            "chunks",
            lambda problem: 0 if problem.rounds == "auto" else problem.rounds * len(problem.star),
        ),
    ),
    published=True,
    complexity="a dense system of the chunks",
    source="Yang and Casanova 2003, eqs. 17 and 18, and section 5.3, corrected",
)
def multi_installment_output(problem: DivisibleLoad, control: Control) -> Solution:
    """Rounds with returns on equal workers and one channel, by the published equations.

    A solution is a schedule only where no chunk is negative and the idle time of the channel is
    not negative either; otherwise fewer rounds are tried. Not optimal, not even for its own order
    of transfers.
    """
    found: tuple[int, OutputRounds] | None = None
    if problem.rounds == "auto":
        for rounds in range(1, MAX_CHUNKS // len(problem.star) + 1):
            trial = _solved(problem, rounds)
            if not trial.is_plan or control.expired():
                break
            if found is not None and trial.makespan >= found[1].makespan * (1 - ENOUGH):
                break
            found = rounds, trial
    else:
        most = int(problem.rounds)
        trials = ((rounds, _solved(problem, rounds)) for rounds in range(most, 0, -1))
        found = next((each for each in trials if each[1].is_plan), None)
    if found is None:
        return Solution(
            schedule=None,
            notes=("the equations have no plan: two transfers would overlap, or a chunk is < 0",),
        )
    notes: tuple[str, ...] = ()
    if problem.rounds not in ("auto", found[0]):
        notes = (f"{problem.rounds} rounds give no plan: {found[0]} are used",)
    return Solution(schedule=timed(problem, _plan(problem, *found)), notes=notes)


def _solved(problem: DivisibleLoad, rounds: int) -> OutputRounds:
    star = problem.star
    speed = float(star.compute_per_unit[0])
    return output_rounds(
        len(star),
        rounds,
        problem.total * speed,
        sends=float(star.send_per_unit[0]) / speed,
        returns=float(star.return_per_unit[0]) / speed,
        compute_fixed=float(star.compute_fixed[0]),
        send_fixed=float(star.send_fixed[0]),
        return_fixed=float(star.return_fixed[0]),
    )


def _plan(problem: DivisibleLoad, rounds: int, found: OutputRounds) -> Plan:
    star = problem.star
    order = np.arange(len(star)) if problem.order is None else problem.workers_in(problem.order)
    amounts = np.maximum(found.chunks[::-1], 0.0) / float(star.compute_per_unit[0])
    transfers = output_transfers(len(star), rounds)
    return Plan.of(np.tile(order, rounds), amounts, transfers=transfers).without_empty()
