"""Ready tasks and machines taken together: the loop against trying every pair."""

from __future__ import annotations

import numpy as np
import pytest

from makespan import Dag, Network, TaskGraph, solve
from makespan.core.control import Control
from makespan.taskgraph.list_scheduling import AppendSchedule
from makespan.taskgraph.methods.completion_times import (
    GREATEST,
    LEAST,
    SUFFERS,
    Rule,
    best_pairs,
    best_pairs_by_trial,
)
from tests.oracles.taskgraph_instances import MODELS, random_problem
from tests.oracles.taskgraph_rules import broken_rule

RULES = ("min-min", "max-min", "sufferage", "duplex", "mct")


def rules(problem: TaskGraph, seed: int) -> list[Rule]:
    rng = np.random.default_rng(seed)
    count = len(problem.dag)
    return [
        Rule(
            chooses=chooses, counts_seconds=bool(rng.integers(2)),
            bias=rng.integers(0, 5, count) * 1.0, level=rng.integers(0, 3, count) * 1.0,
        )
        for chooses in (LEAST, GREATEST, SUFFERS)
    ]  # fmt: skip


def test_the_loop_equals_the_partial_schedule(form: bool) -> None:
    """The loop over graphs gives the plans of trying every pair, by every rule."""
    for seed in range(80):
        problem = random_problem(seed)
        tasks = slice(len(problem.dag))
        for rule in rules(problem, seed):
            plan = best_pairs(problem, Control(), rule)
            plain = best_pairs_by_trial(problem, Control(), rule)
            for column in ("machine", "start", "end"):
                found, expected = getattr(plan, column)[tasks], getattr(plain, column)[tasks]
                assert np.array_equal(found, expected), (seed, rule.chooses, column)


def test_slices_go_on_where_the_last_one_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan made task by task is that made at once."""
    problem = random_problem(7)
    whole = [best_pairs(problem, Control(), rule) for rule in rules(problem, 7)]
    monkeypatch.setattr("makespan.taskgraph.methods.completion_times.SLICE", 1)
    assert whole == [best_pairs(problem, Control(), rule) for rule in rules(problem, 7)]


@pytest.mark.parametrize("method", ["min-min", "max-min", "sufferage"])
def test_each_task_is_the_next_by_the_definition(method: str) -> None:
    """Placing the tasks once more, each was the one that the rule names of all that were ready."""
    for seed in range(30):
        problem = random_problem(seed)
        plan = solve(problem, method=method).schedule
        dag, partial = problem.dag, AppendSchedule(problem)
        machine = plan.machine[: len(dag)].tolist()
        left = set(range(len(dag)))
        while left:
            ready = [t for t in left if not left & set(_predecessors(dag, t))]
            ends = {
                t: sorted(partial.try_on(t, m).end for m in range(len(problem.network)))
                for t in ready
            }
            if method == "min-min":
                key = {t: row[0] for t, row in ends.items()}
            elif method == "max-min":
                key = {t: -row[0] for t, row in ends.items()}
            else:
                key = {t: row[0] - row[min(1, len(row) - 1)] for t, row in ends.items()}
            least = min(key.values())
            tied = [t for t in ready if key[t] <= least + 1e-9]
            if len(tied) > 1:  # which of them was taken the plan alone does not say
                break
            (task,) = tied
            assert partial.try_on(task, machine[task]).end == pytest.approx(ends[task][0])
            partial.place(task, machine[task])
            left.remove(task)


def _predecessors(dag: Dag, task: int) -> list[int]:
    return dag.predecessors[dag.first_in[task] : dag.first_in[task + 1]].tolist()


@pytest.mark.parametrize(("communication", "contention"), MODELS)
@pytest.mark.parametrize("method", RULES)
def test_plans_are_valid(method: str, communication: str, contention: str) -> None:
    """The plans pass the slow twin of the referee, on all topologies and under contention."""
    for seed in range(5):
        problem = random_problem(seed, communication, contention)
        assert broken_rule(problem, solve(problem, method=method).schedule) == ""


def test_rules_differ_as_they_are_meant_to() -> None:
    """Short tasks first, long tasks first, and what suffers most; duplex takes the better."""
    dag = Dag({"short": [1.0, 2.0], "long": [5.0, 6.0], "picky": [2.0, 30.0]})
    problem = TaskGraph(dag, Network([1.0, 1.0]))
    first = {name: solve(problem, method=name, log=True).log[0] for name in RULES[:3]}
    assert "short to M1" in first["min-min"]
    assert "long to M1" in first["max-min"]
    assert "picky to M1" in first["sufferage"]
    ends = {name: solve(problem, method=name).makespan for name in RULES}
    assert ends["duplex"] == min(ends["min-min"], ends["max-min"])
