"""The referee's one pass over large schedules says nothing but what its rules say."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from makespan import DivisibleLoad, Schedule
from makespan.core.numeric.jit import always, compiles
from makespan.divisible.referee import STAR_RULES, one_pass, violations
from makespan.divisible.referee.reading import Reading
from makespan.divisible.timing import timed
from tests.divisible.referee.test_mutations import MUTATIONS, mutated, restated
from tests.divisible.timing.test_one_pass import drawn
from tests.oracles.divisible_instances import instance

pytestmark = pytest.mark.skipif(not compiles(), reason="the pass is compiled or not made")


def cases() -> Iterator[tuple[DivisibleLoad, Schedule]]:
    """Yield problems with schedules that are valid, or nearly."""
    for seed in range(40):
        yield instance(seed)
        problem, plan = drawn(seed)
        yield replace(problem, load=plan.total), timed(problem, plan)


def told(problem: DivisibleLoad, schedule: Schedule) -> list[str]:
    return [str(violation) for violation in violations(problem, schedule)]


def judged_alike(problem: DivisibleLoad, schedule: Schedule) -> bool:
    """Hold both against one another; return whether the pass found no fault."""
    plainly = told(problem, schedule)
    with always():
        assert told(problem, schedule) == plainly
        return len(schedule) > 0 and one_pass.faultless_parts(problem, schedule) is not None


def test_valid_schedules() -> None:
    """It knows the form of plans of one chunk a worker, and finds nothing to say of them."""
    assert sum(judged_alike(*case) for case in cases()) > 20


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mutated_schedules(mutation: Any) -> None:
    """Whatever was changed, the same violations are told in the same words."""
    for index, (problem, schedule) in enumerate(islice(cases(), 0, None, 2)):
        if len(schedule):
            judged_alike(problem, mutated(schedule, mutation, random.Random(index)))


def test_restated_problems() -> None:
    """Other problems find the same faults in a schedule, or none."""
    rng = random.Random(1)
    found = [
        judged_alike(restated(problem, rng), schedule)
        for problem, schedule in cases()
        if len(problem.star)
        for _ in range(6)
    ]
    assert set(found) == {True, False}  # both occur


def test_every_rule_is_asked_or_within() -> None:
    """The pass leaves out no rule that does not exist."""

    assert set(one_pass.WITHIN) < set(STAR_RULES)
    assert set(one_pass.ASKED_BY) == set(STAR_RULES) - set(one_pass.WITHIN)


def test_rules_that_nobody_asks_for_find_nothing() -> None:
    """What a problem does not ask for is no fault, whatever the rows: it need not be read."""
    for seed in range(40):
        problem, plan = drawn(seed)
        reading = Reading.of(problem, timed(problem, plan))
        left = one_pass.rules_beyond(problem, STAR_RULES)
        for rule in set(one_pass.ASKED_BY) - set(left):
            assert not list(rule(reading))
