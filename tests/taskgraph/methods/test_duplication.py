"""Copies of tasks: rules, timing, answers, bounds, and the method that makes them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from makespan import (
    Dag,
    MethodError,
    Network,
    ProblemError,
    Schedule,
    TaskGraph,
    check,
    methods,
    read_problem,
    read_result,
    save,
    simulate,
    solve,
)
from makespan.core.numeric import jit
from makespan.core.schedule import COLUMNS, Activity
from makespan.taskgraph.bounds import bounds
from makespan.taskgraph.copies import first_copies
from makespan.taskgraph.generate import graphs as generators
from makespan.taskgraph.levels import by_level, colevels, ranks
from makespan.taskgraph.methods import duplication as copying
from makespan.taskgraph.methods.duplication import MOST, DuplicationSchedule
from makespan.taskgraph.pictures import picture
from makespan.taskgraph.pictures.diagrams import graph
from makespan.taskgraph.timing import retimed
from tests.oracles.taskgraph_copies import (
    broken_copy_rule,
    optimum_with_copies,
    random_problem_with_copies,
    tiny_problem,
)
from tests.oracles.taskgraph_duplication import plan_with_copies
from tests.oracles.taskgraph_enumeration import best as optimum
from tests.oracles.taskgraph_rules import is_valid
from tests.taskgraph.test_referee import changed, mutations
from tests.thorough import up_to

FORK = Dag({"a": 1.0, "b": 5.0, "c": 5.0}, [("a", "b", 10.0), ("a", "c", 10.0)])


def fork(**more: object) -> TaskGraph:
    return TaskGraph(FORK, Network([1.0, 1.0]), duplication=True, **more)  # type: ignore[arg-type]


def copies_in(schedule: Schedule) -> int:
    return int((schedule.kind == Activity.COMPUTE).sum())


def test_a_copy_saves_a_large_message() -> None:
    """A root executed on both machines: 6 where any plan without copies takes 11."""
    result = solve(fork())
    assert (result.makespan, result.status, result.method) == (6.0, "optimal", "duplication")
    assert result.answer["copies"] == {"a": ["M1", "M2"], "b": ["M1"], "c": ["M2"]}
    assert result.answer["machine_of"] == {"a": "M1", "b": "M1", "c": "M2"}
    assert optimum(replace(fork(), duplication=False)) == 11.0
    assert optimum_with_copies(fork()) == 6.0


def test_copies_of_copies() -> None:
    """A chain that a task needs is copied as a whole, each task after what it needs."""
    dag = Dag(
        {"a": 1.0, "b": 1.0, "c": 5.0, "d": 5.0},
        [("a", "b", 20.0), ("b", "c", 20.0), ("b", "d", 20.0)],
    )
    result = solve(TaskGraph(dag, Network([1.0, 1.0]), duplication=True), method="duplication")
    assert result.makespan == 7.0
    assert result.answer["copies"]["a"] == result.answer["copies"]["b"] == ["M1", "M2"]


def test_both_inputs_of_a_join_are_copied() -> None:
    """Where two inputs come equally late, one copy alone helps nothing; two do."""
    tasks = {"a": 1.0, "b": 1.0, "c": 5.0, "d": 5.0}
    edges = [(x, y, 20.0) for x in "ab" for y in "cd"]
    problem = TaskGraph(Dag(tasks, edges), Network([1.0, 1.0]), duplication=True)
    assert solve(problem, method="duplication").makespan == optimum_with_copies(problem) == 7.0


@pytest.mark.parametrize("count", up_to(16, 60))
def test_exact_on_tiny_graphs(count: int) -> None:
    """No plan is shorter than the optimum with copies, no bound longer, and often it is met."""
    met, gained = 0, 0
    for seed in range(count):
        problem = tiny_problem(seed)
        best = optimum_with_copies(problem)
        result = solve(problem, method="duplication")
        assert check(result).ok
        assert result.makespan >= best - 1e-9
        assert all(bound.value <= best + 1e-9 for bound in bounds(problem))
        assert solve(problem, time_limit=2).makespan >= best - 1e-9
        met += result.makespan <= best + 1e-9
        gained += best < optimum(replace(problem, duplication=False)) - 1e-9
    assert met >= 0.75 * count
    assert gained >= count // 12


@pytest.mark.parametrize("count", up_to(16, 60))
def test_valid_and_never_worse_than_heft(count: int) -> None:
    """On 60 random graphs referee and twin accept the plan, and HEFT's is not shorter."""
    shorter = 0
    for seed in range(count):
        problem = random_problem_with_copies(seed)
        result = solve(problem, method="duplication")
        assert check(result).ok, seed
        assert broken_copy_rule(problem, result.schedule) == "", seed
        plain = solve(problem, method="heft")
        assert result.makespan <= plain.makespan, seed
        assert result.makespan >= max(bound.value for bound in bounds(problem)) * (1 - 1e-12)
        shorter += result.makespan < plain.makespan * 0.99
    assert shorter >= count // 10


@pytest.mark.parametrize("most", [1, MOST])
def test_copies_are_placed_as_by_the_slow_twin(
    form: bool, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Both forms of the loop, stopped after every task, give the plan of the obvious recursion."""
    monkeypatch.setattr(copying, "SLICE", 0)
    copied = widened = 0
    for seed in range(25):
        problem = random_problem_with_copies(seed)
        dag = problem.dag
        seconds = problem.durations.min(axis=1)
        earliest = colevels(dag, seconds, 0.0 * dag.size, dag.release) - seconds
        order = by_level(dag, ranks(problem))
        plan = DuplicationSchedule(problem, order, earliest, most)
        width = plan.width
        while plan.placed < len(dag):
            plan.place()
        starts, ends = (np.reshape(times, (len(dag), -1)) for times in plan.times)
        found = {
            (task, machine): (starts[task, machine], ends[task, machine])
            for task, machine in np.argwhere(ends >= 0.0).tolist()
        }
        assert found == plan_with_copies(problem, order.tolist(), earliest.tolist(), most), seed
        copied += len(found) > len(dag)
        widened += plan.width > width
    assert copied >= 5
    assert widened >= 2 or most > 1


def test_ties_go_to_the_fewest_copies() -> None:
    """A task that ends as soon beside its predecessor as beside a copy of it goes beside it."""
    dag = Dag.from_arrays(
        names=["x", "a", "b", "z"],
        work=[1.0, 1.0, 5.0, 1.0],
        source=[1, 0],
        target=[2, 3],
        size=[10.0, 20.0],
        release=[0.0, 0.0, 2.0, 0.0],
    )
    problem = TaskGraph(dag, Network([1.0, 1.0]), duplication=True)
    log = solve(problem, method="duplication", log=True).log
    assert "a would end at M2: 1, M1: 2; a to M2, ends at 1" in log
    assert "b would end at M2: 7, M1: 7; b to M2, ends at 7" in log


def test_every_copy_is_needed() -> None:
    """Without any copy that is not the only one of its task, the plan breaks."""
    seen = 0
    for seed in range(30):
        problem = random_problem_with_copies(seed)
        schedule = solve(problem, method="duplication").schedule
        task = schedule.item[schedule.kind == Activity.COMPUTE]
        several = np.flatnonzero(np.bincount(task, minlength=len(problem.dag)) > 1)
        for row in np.flatnonzero(np.isin(schedule.item, several)).tolist():
            if schedule.kind[row] == Activity.COMPUTE:
                left = np.delete(np.arange(len(schedule)), row)
                assert not check(problem, schedule.take(left)).ok
                seen += 1
    assert seen > 50


def test_all_other_methods_plan_without_copies() -> None:
    """Heuristics execute each task once; the exact search says why it does not apply."""
    problem = random_problem_with_copies(5)
    for verdict in methods(problem):
        if verdict.applies and verdict.name != "duplication":
            result = solve(problem, method=verdict.name)
            assert check(result).ok
            assert copies_in(result.schedule) == len(problem.dag)
            assert is_valid(replace(problem, duplication=False), result.schedule)
    with pytest.raises(MethodError, match="executed once, but duplication is allowed"):
        solve(problem, method="cp-sat")
    with pytest.raises(MethodError, match="needs duplication of tasks"):
        solve(replace(problem, duplication=False), method="duplication")


def test_without_communication_hu_still_proves() -> None:
    """Copies can't help where data take no time: the special cases stay optimal."""
    dag = Dag.from_arrays(work=[1.0] * 5, source=[0, 0, 1, 1], target=[1, 2, 3, 4])
    problem = TaskGraph(dag, Network([1.0, 1.0]), duplication=True)
    for name in ("hu", "coffman-graham"):
        result = solve(problem, method=name)
        assert result.status == "optimal"
        assert result.makespan == optimum_with_copies(problem)


def test_auto_is_never_worse() -> None:
    """``auto`` keeps the best plan, with copies or without."""
    for seed in range(2):
        problem = random_problem_with_copies(seed)
        best = min(
            solve(problem, method=name).makespan
            for name in ("heft", "peft", "duplication", "linear-clustering")
        )
        result = solve(problem, time_limit=3)
        assert check(result).ok
        assert result.makespan <= best * (1 + 1e-12)


def test_first_copies_make_a_plan_without_copies() -> None:
    """What local search starts from executes each task once, and is valid."""
    for seed in range(30):
        problem = random_problem_with_copies(seed)
        plan = first_copies(problem, solve(problem, method="duplication").schedule)
        assert copies_in(plan) == len(problem.dag)
        assert check(problem, plan).ok


def with_copies(problem: TaskGraph, schedule: Schedule, rng: np.random.Generator) -> Schedule:
    """Return the plan with a row once more on another machine, or a transfer to another one."""
    row = int(rng.integers(len(schedule)))
    columns = {
        name: np.append(getattr(schedule, name), getattr(schedule, name)[row]) for name in COLUMNS
    }
    columns["machine"][-1] = rng.integers(len(problem.network))
    if schedule.kind[row] == Activity.TRANSFER:
        columns["peer"][-1] = rng.integers(len(problem.network))
    length = columns["end"][-1] - columns["start"][-1]
    columns["start"][-1] = schedule.makespan * float(rng.integers(3)) / 2
    columns["end"][-1] = columns["start"][-1] + length
    return Schedule.of_columns(schedule.machines, **columns)


@pytest.mark.parametrize("count", up_to(12, 60))
def test_referee_agrees_with_the_slow_twin(count: int) -> None:
    """On plans with rows moved, removed and added, both find something or nothing alike."""
    verdicts = []
    for seed in range(count):
        problem = random_problem_with_copies(seed)
        rng = np.random.default_rng(seed)
        schedule = solve(problem, method="duplication").schedule
        mutants = [*mutations(schedule, rng, len(problem.network))]
        mutants += [with_copies(problem, schedule, rng) for _ in range(8)]
        peer = schedule.peer.copy()
        sent = np.flatnonzero(schedule.kind == Activity.TRANSFER)
        if len(sent):
            peer[rng.choice(sent)] = rng.integers(len(problem.network))
            mutants.append(changed(schedule, peer=peer))
        for mutant in mutants:
            rule = broken_copy_rule(problem, mutant)
            report = check(problem, mutant)
            assert report.ok == (rule == ""), f"{seed}: twin {rule!r}, referee {report}"
            verdicts.append(report.ok)
    assert verdicts.count(True) > 5 * count // 6
    assert verdicts.count(False) > 8 * count


def test_idle_time_is_squeezed_out() -> None:
    """A stretched plan is timed back to what it was; slower rows make it no shorter."""
    for seed in range(40):
        problem = random_problem_with_copies(seed)
        plan = retimed(problem, solve(problem, method="duplication").schedule)
        length = plan.end - plan.start
        late = changed(plan, start=1.75 * plan.start, end=1.75 * plan.start + length)
        again = retimed(problem, late)
        assert check(problem, again).ok
        assert again.makespan <= plan.makespan * (1 + 1e-12)
        slow = retimed(problem, plan, 1.0 + np.random.default_rng(seed).random(len(plan)))
        assert (slow.start >= plan.start * (1 - 1e-12)).all()


def test_transfers_that_nobody_waits_for_keep_their_place() -> None:
    """A transfer beside a copy on the same machine is legal, and timed after its own source."""
    rows = [
        ("compute", 0, -1, 0, 1.0, 0.0, 1.0),
        ("compute", 1, -1, 0, 1.0, 2.0, 3.0),
        ("compute", 0, -1, 1, 5.0, 1.0, 6.0),
        ("compute", 1, -1, 2, 5.0, 3.0, 8.0),
        ("transfer", 0, 1, 1, 10.0, 4.0, 14.0),
    ]
    schedule = Schedule.of_rows(["M1", "M2"], rows)
    assert check(fork(), schedule).ok
    early = retimed(fork(), schedule)
    assert early.start.tolist() == [0.0, 0.0, 1.0, 1.0, 1.0]
    assert check(fork(), early).ok


def test_simulation_of_copies() -> None:
    """Without noise the plan ends as planned, with noise the makespans differ."""
    problem = random_problem_with_copies(4)
    result = solve(problem, method="duplication")
    assert simulate(result, noise=0.0, repetitions=3).makespans == pytest.approx(result.makespan)
    noisy = simulate(result, noise=0.2, repetitions=20).makespans
    assert len(set(noisy.tolist())) == 20


def test_results_with_copies_are_written_and_read(tmp_path: Path) -> None:
    """JSON gives problem, schedule and answer back; a table has a line per copy."""
    result = solve(fork())
    save(result, tmp_path / "result.json")
    again = read_result(tmp_path / "result.json")
    assert again.problem == result.problem
    assert again.answer == result.answer
    assert check(again).ok
    save(result.schedule, tmp_path / "plan.csv")
    lines = (tmp_path / "plan.csv").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("compute") for line in lines) == 4
    save(fork(), tmp_path / "problem.toml")
    assert "duplication = true" in (tmp_path / "problem.toml").read_text(encoding="utf-8")
    assert read_problem(tmp_path / "problem.toml") == fork()


def test_pictures_mark_copies() -> None:
    """The copy that ends first has the task's name, the others say what they are."""
    result = solve(fork())
    drawn = picture(result.problem, result.schedule)
    assert sorted(drawn.labels) == ["a", "a (copy)", "b", "c"]
    shown = graph(fork(), result.schedule)
    assert len(shown.nodes) == len(fork().dag)
    assert len(shown.edges) >= len(fork().dag.source)
    assert "1 more copy" in str(result)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"communication": "blocking"},
            "communication: 'blocking' is not allowed with duplication",
        ),
        ({"contention": "ports"}, "contention: 'ports' is not allowed with duplication"),
        ({"assignment": dict.fromkeys("abc", "M1")}, "assignment: can't be given"),
        ({"sequence": {"M1": ["a", "b", "c"]}}, "sequence: can't be given"),
        ({"duplication": 1}, "duplication: 1 is not true or false"),
        ({"network": Network([1.0] * 4, topology="ring")}, "M1 has no link to M3; duplication"),
    ],
)
def test_what_copies_are_not_combined_with(more: dict[str, object], message: str) -> None:
    """Each combination that is not supported is refused by name."""
    with pytest.raises(ProblemError, match=message):
        replace(fork(), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", up_to(3, 12))
def test_hash_seeds_do_not_matter(count: int) -> None:
    """The plan is the same to the bit under any hash seed."""
    code = (
        "from tests.oracles.taskgraph_copies import random_problem_with_copies\n"
        "from makespan import solve\n"
        f"for seed in range({count}):\n"
        "    result = solve(random_problem_with_copies(seed), method='duplication')\n"
        "    schedule = result.schedule\n"
        "    print(schedule.machine.tolist(), schedule.start.tolist(), result.answer['copies'])\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1] != ""


def test_scaling_of_time() -> None:
    """Twice the work and twice the data take twice the time."""
    for seed in range(6):
        dag = generators.layered(20, ccr=5.0, rng=seed)
        twice = Dag.from_arrays(
            work=2 * dag.work, source=dag.source, target=dag.target, size=2 * dag.size
        )
        network = Network([1.0, 2.0, 2.0])
        one, two = (
            solve(TaskGraph(each, network, duplication=True), method="duplication").makespan
            for each in (dag, twice)
        )
        assert two == 2 * one


def test_deep_graphs_need_no_deep_stack() -> None:
    """A chain of thousands of tasks with large data is planned on one machine."""
    count = 1500
    dag = Dag.from_arrays(
        work=[1.0] * count, source=range(count - 1), target=range(1, count), size=50.0
    )
    problem = TaskGraph(dag, Network([1.0, 1.0]), duplication=True)
    assert solve(problem, method="duplication").makespan == count


@pytest.mark.kernels
@pytest.mark.slow
def test_compiled_timing_equals_its_plain_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forced through the compiler, plans with copies are timed to the same bit."""
    problems = [random_problem_with_copies(seed) for seed in range(12)]
    plans = [solve(problem, method="duplication").schedule for problem in problems]
    monkeypatch.setattr(jit, "forced", False)
    plain = [retimed(*each) for each in zip(problems, plans, strict=True)]
    monkeypatch.setattr(jit, "forced", True)
    for problem, plan, one in zip(problems, plans, plain, strict=True):
        other = retimed(problem, plan)
        assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in COLUMNS)


@pytest.mark.parametrize("suffix", ["html", "svg", "trace.json", "png"])
def test_plans_with_copies_are_drawn(tmp_path: Path, suffix: str) -> None:
    """All forms of pictures are written."""
    save(solve(fork()), tmp_path / f"plan.{suffix}")
    assert (tmp_path / f"plan.{suffix}").stat().st_size > 0
