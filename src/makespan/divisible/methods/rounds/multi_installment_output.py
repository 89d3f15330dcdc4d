"""Installments with output on equal workers: the equations of the literature."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible.model.plan import Plan
from makespan.divisible.model.platform import NUMBERS
from makespan.divisible.needs import (
    A_FRONT_END,
    A_LOAD,
    A_MASTER,
    A_STAR,
    AFFINE_WORK,
    ANY_WORKERS,
    DIVISIBLE,
    FINITE_SPEED,
    IDLE_MASTER,
    NO_DEADLINE,
    NO_GIVEN_LOADS,
    NO_GIVEN_SEQUENCE,
    NO_WINDOWS,
    ONE_PORT,
    RETURNS,
    equal_workers,
)
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rounds.output import OutputRounds, output_rounds, output_transfers
from makespan.divisible.timing import timed

MAX_CHUNKS = 2_000
ENOUGH = 1e-4  # the relative gain below which no further round is tried


def _other_returns(problem: DivisibleLoad) -> str | None:
    if problem.discipline == "lifo":
        return "discipline is 'lifo'"
    if problem.return_order is not None and problem.return_order != problem.order:
        return "return_order is given"
    return None


def _too_many(problem: DivisibleLoad) -> str | None:
    if problem.rounds == "auto":
        return None
    count = int(problem.rounds) * len(problem.star)
    return f"there are {count}" if count > MAX_CHUNKS else None


MANY_WITH_RETURNS = (
    A_STAR,
    A_MASTER,
    A_LOAD,
    RETURNS,
    DIVISIBLE,
    ANY_WORKERS,
    NO_DEADLINE,
    NO_GIVEN_LOADS,
    NO_GIVEN_SEQUENCE,
    *NO_WINDOWS,
    AFFINE_WORK,
    IDLE_MASTER,
    A_FRONT_END,
    Need("results in the order of sending", _other_returns),
    FINITE_SPEED,
)


@register(
    "divisible",
    name="multi-installment-output",
    needs=(
        *MANY_WITH_RETURNS,
        ONE_PORT,
        equal_workers(*NUMBERS[:6]),
        Need(f"at most {MAX_CHUNKS} chunks", _too_many),
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
    assert problem.load is not None
    speed = float(star.compute_per_unit[0])
    return output_rounds(
        len(star),
        rounds,
        problem.load * speed,
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
