"""The referee finds what breaks a pipeline's statement, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from makespan import Interconnect, Pipeline, Schedule, Stage, check
from makespan.pipeline.mapping import Mapping
from makespan.pipeline.timing import scheduled

PROBLEM = Pipeline(
    [Stage(4.0, data=2.0, memory=1.0), Stage(6.0, memory=2.0), Stage(2.0)],
    Interconnect(3, rate=1.0, latency=0.5),
    memory=4.0, items=3, input=1.0, outside=2.0, output=1.0, replicas=2,
)  # fmt: skip
PLAN = scheduled(PROBLEM, Mapping.of([0, 1, 3], [0, 1]))
SEND, TRANSFER, COMPUTE, RETURN = 0, 2, 3, 1


def changed(column: str, kind: int, nth: int, value: float) -> Schedule:
    """Return the plan with one entry of the nth row of a kind changed."""
    values = np.array(getattr(PLAN, column))
    values[np.flatnonzero(PLAN.kind == kind)[nth]] = value
    return replace(PLAN, **{column: values})


def without(kind: int, nth: int) -> Schedule:
    keep = np.ones(len(PLAN), dtype=bool)
    keep[np.flatnonzero(PLAN.kind == kind)[nth]] = False
    return PLAN.take(keep)


def test_the_plan_is_valid() -> None:
    """What the methods make is fine, and so is a later one."""
    assert check(PROBLEM, PLAN).ok
    later = replace(PLAN, start=PLAN.start + 5.0, end=PLAN.end + 5.0)
    assert check(PROBLEM, later).ok


@pytest.mark.parametrize(
    ("schedule", "rule"),
    [
        (changed("kind", COMPUTE, 0, 4), "kind"),
        (changed("peer", COMPUTE, 0, 1), "peer"),
        (changed("peer", TRANSFER, 0, -1), "peer"),
        (changed("peer", TRANSFER, 0, 2), "receiver"),
        (changed("item", COMPUTE, 0, 7), "item"),
        (changed("amount", COMPUTE, 0, 0.5), "stages"),
        (changed("amount", COMPUTE, 2, 2.0), "intervals"),
        (changed("amount", TRANSFER, 1, 3.0), "amount"),
        (changed("machine", COMPUTE, 5, 2), "turn"),
        (changed("end", COMPUTE, 1, float(PLAN.end.max()) + 9.0), "duration"),
        (changed("end", TRANSFER, 0, 6.0), "duration"),
        (without(COMPUTE, 0), "intervals"),
        (without(TRANSFER, 0), "missing"),
        (without(SEND, 0), "missing"),
        (without(RETURN, 2), "missing"),
        (PLAN.take(np.append(np.arange(len(PLAN)), [2])), "stray"),
    ],
)  # fmt: skip
def test_one_change(schedule: Schedule, rule: str) -> None:
    """A change of one row breaks the rule of its name."""
    assert rule in {violation.rule for violation in check(PROBLEM, schedule).violations}


def shifted(kind: int, nth: int, by: float) -> Schedule:
    row = np.flatnonzero(PLAN.kind == kind)[nth]
    start, end = np.array(PLAN.start), np.array(PLAN.end)
    start[row] += by
    end[row] += by
    return replace(PLAN, start=start, end=end)


@pytest.mark.parametrize(
    ("schedule", "rule"),
    [
        (shifted(TRANSFER, 0, -0.2), "early"),
        (shifted(TRANSFER, 0, 0.2), "precedence"),
        (shifted(SEND, 0, 0.2), "precedence"),
        (shifted(RETURN, 0, -0.2), "early"),
        (shifted(COMPUTE, 3, -0.2), "overlap"),
    ],
)
def test_one_shift(schedule: Schedule, rule: str) -> None:
    """An activity at another time is too early, too late, or in the way of another."""
    assert rule in {violation.rule for violation in check(PROBLEM, schedule).violations}


@pytest.mark.parametrize(
    ("mapping", "more", "rule"),
    [
        (Mapping.of([0, 3], [0]), {"memory": [2.0, 4.0, 4.0]}, "memory"),
        (Mapping.of([0, 1, 3], [1, 0]), {"order": "given"}, "order"),
        (Mapping((0, 1, 3), ((0,), (1, 2))), {"replicas": 1}, "replicas"),
        (Mapping((0, 1, 3), ((0,), (0,))), {}, "one-interval"),
        (Mapping.of([0, 1, 3], [0, 1]), {"period_limit": 7.9}, "period"),
        (Mapping.of([0, 1, 3], [0, 1]), {"latency_limit": 15.4}, "latency"),
        (Mapping.of([0, 1, 3], [0, 1]), {"price": 2.0, "budget": 3.0}, "budget"),
    ],
)
def test_mappings(mapping: Mapping, more: dict[str, object], rule: str) -> None:
    """A mapping that the statement forbids breaks the rule of its name, and that alone."""
    fields = {
        "memory": 4.0, "items": 3, "input": 1.0, "outside": 2.0, "output": 1.0, "replicas": 2,
    } | more  # fmt: skip
    problem = Pipeline(PROBLEM.stages, PROBLEM.network, **fields)
    rules = {violation.rule for violation in check(problem, scheduled(problem, mapping)).violations}
    assert rule in rules
    assert rules <= {rule, "overlap"}


def test_limits_that_are_met() -> None:
    """The period is 8 s, the latency 0.5 + 4 + 2.5 + 8 + 0.5: limits of just that are kept."""
    problem = Pipeline(
        PROBLEM.stages, PROBLEM.network, memory=4.0, items=3, input=1.0, outside=2.0, output=1.0,
        period_limit=8.0, latency_limit=15.5,
    )  # fmt: skip
    assert check(problem, scheduled(problem, Mapping.of([0, 1, 3], [0, 1]))).ok


def test_units_in_turn() -> None:
    """Without overlap a machine can't receive while it computes."""
    mapping = Mapping.of([0, 1, 3], [0, 1])
    fields = {"memory": 4.0, "items": 3}
    both = Pipeline(PROBLEM.stages, PROBLEM.network, **fields)
    turns = Pipeline(PROBLEM.stages, PROBLEM.network, overlap=False, **fields)
    schedule = scheduled(both, mapping)
    assert check(both, schedule).ok
    assert {each.rule for each in check(turns, schedule).violations} == {"overlap"}
