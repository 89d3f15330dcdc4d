"""Bounds of the programme of chunks, against plans that were enumerated; and what it proves."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from makespan import Affine, DivisibleLoad, Master, Star, Worker, solve
from makespan.core.control import Control
from makespan.divisible.bounds import bounds
from makespan.divisible.returns.chunk_programme import ChunkProgramme
from tests.oracles.divisible_any import best
from tests.oracles.divisible_random import random_problem
from tests.thorough import few

WITHIN = 1e-6


@pytest.mark.parametrize("seed", few([255, 662, 1187, 1833, *range(8)], 1, thorough=6))
def test_no_plan_is_better(seed: int) -> None:
    """Whatever the fields, with and without slots, and a horizon: never beyond a plan."""
    rng = random.Random(10**6 + seed)
    for _ in range(6):
        problem = random_problem(rng)
        if not problem.is_star or problem.chooses_master or problem.transfers is not None:
            continue
        known = best(problem)
        if known is None or math.isinf(known):
            continue
        shared = problem.ports == "many"
        for slots, by_end in ((0, False), (1, False), (3, False), *(((3, True),) * shared)):
            for horizon in {math.inf, known if problem.load is not None else math.inf}:
                built = ChunkProgramme(problem, horizon=horizon, slots=slots, by_end=by_end)
                answer = built.programme.solve(Control())
                assert answer.verdict != "infeasible"
                slack = WITHIN * max(1.0, known)
                if problem.load is not None:
                    assert answer.bound * built.terms.second <= known + slack
                else:
                    assert -answer.bound * built.terms.unit >= known - slack


def star(count: int = 2, master: Master | None = None, **fields: Any) -> Star:
    given = {"send": Affine(0.5, 1.0), "compute": Affine(1.0, 2.0), **fields}
    return Star([Worker(**given) for _ in range(count)], master=master or Master())


@pytest.mark.parametrize(
    "problem",
    [
        DivisibleLoad(load=4.0, platform=star(), rounds="auto"),
        DivisibleLoad(load=3.0, platform=star(), rounds=2, front_end=False),
        DivisibleLoad(load=4, platform=star(), rounds="auto", integral=True),
        DivisibleLoad(load=4.0, platform=star(release=2.0, memory=2.0), rounds="auto"),
        DivisibleLoad(deadline=9.0, platform=star(), rounds="auto"),
        DivisibleLoad(deadline=9.0, platform=star(deadline=8.0), rounds=2, ports="many"),
        DivisibleLoad(load=4.0, platform=star(master=Master(sends=1)), rounds=2, ports="many"),
    ],
    ids=["any", "no front end", "whole", "limits", "the most", "links", "one send"],
)
def test_small_problems_of_several_rounds_are_proved(problem: DivisibleLoad) -> None:
    """Nothing that enumeration finds is better, and nothing is left open."""
    result = solve(problem, time_limit=60)
    known = best(problem)
    assert result.status == "optimal"
    value = result.makespan if result.objective is None else -result.objective.value
    assert value <= (known if result.objective is None else -known) + WITHIN


def test_workers_without_fixed_costs_fill_no_slots() -> None:
    """They get any number of chunks, between those of others: what they do is no chunk but a flow.

    Here a worker gets all its load at once, before the other: with slots for its chunks too, empty
    ones would fill them, and the bound would know nothing of the other's start-up.
    """
    free, dear = Worker(send=0.0, compute=3.0), Worker(send=Affine(1.0, 1.0), compute=0.5)
    platform = Star([dear, free], master=Master(compute=Affine(0.5, 3.0)))
    result = solve(DivisibleLoad(load=5.5, platform=platform, rounds="auto"), time_limit=20)
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(4.65625)


@pytest.mark.parametrize(
    "problem",
    [
        DivisibleLoad(
            load=6.0,
            platform=Star([Worker(send=Affine(1.0, 1.0), compute=1.0)]),
            rounds="auto",
            deadline=7.5,
        ),
        DivisibleLoad(
            loads={"P1": 2.0},
            platform=Star([Worker(send=Affine(3.0, 5.0), compute=Affine(3.0, 0.5), deadline=15.0)]),
            rounds="auto",
        ),
    ],
    ids=["of the plan", "of a worker"],
)
def test_a_deadline_that_no_plan_meets_is_excluded(problem: DivisibleLoad) -> None:
    """In any number of rounds, of which a deadline leaves few."""
    assert best(problem) is None
    assert solve(problem, time_limit=60).status == "infeasible"


def test_a_chunk_that_is_late_is_not_offered() -> None:
    """The only worker's deadline leaves no time for a whole unit."""
    platform = Star([Worker(send=1.0, compute=1.5, deadline=2.0)])
    problem = DivisibleLoad(deadline=3.0, platform=platform, rounds="auto", integral=True)
    result = solve(problem, method="chunk-programme", time_limit=60)
    assert result.objective is None or result.objective.bound == pytest.approx(0.0)
    assert solve(problem, time_limit=60).status == "optimal"


def mirrored(worker: Worker) -> Worker:
    return Worker(send=worker.return_, compute=worker.compute, return_=worker.send)


@pytest.mark.parametrize("ports", [1, 2, "many"])
def test_a_mirrored_problem_has_the_same_bound(ports: Any) -> None:
    """In reversed time results are sent and loads return."""
    rng = random.Random(3)
    for _ in range(10):
        workers = []
        for _ in range(3):
            send, compute, back = (Affine(rng.random(), rng.random()) for _ in range(3))
            workers.append(Worker(send=send, compute=compute, return_=back))
        there, back = (
            max(
                each.value
                for each in bounds(
                    DivisibleLoad(load=5.0, platform=Star(crew), rounds="auto", ports=ports)
                )
                if each.name == "sums of chunks"
            )
            for crew in (workers, [mirrored(worker) for worker in workers])
        )
        assert there == pytest.approx(back, rel=1e-7)


def test_few_sends_at_a_time_are_known_to_the_bound() -> None:
    """Eight workers behind a master that sends to one at a time: the port is what holds."""
    crew = [Worker(send=1.0, compute=1.0) for _ in range(8)]
    platform = Star(crew, master=Master(sends=1))
    problem = DivisibleLoad(load=8.0, platform=platform, ports="many", rounds="auto")
    assert max(each.value for each in bounds(problem)) == pytest.approx(8.0)


def test_an_open_load_in_any_number_of_rounds_has_a_bound() -> None:
    """Of linear costs more rounds are ever better: the bound is what they tend to."""
    platform = Star([Worker(send=1.0, compute=2.0)])
    result = solve(DivisibleLoad(deadline=10.0, platform=platform, rounds="auto"), time_limit=1)
    assert result.objective.value <= 5.0 * (1 + WITHIN)
    assert result.objective.bound >= 5.0 * (1 - WITHIN)
    assert result.objective.gap < 0.01
