"""Which jobs are taken: beside an oracle, in random runs, and where the graph changes."""

from __future__ import annotations

import itertools
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from fakes import LOGGER, Clock, Dag, File, Group, Job, fits, run, scheduler_of
from snakemake_interface_scheduler_plugins.tests import TestSchedulerBase
from snakemake_scheduler_plugin_makespan import Scheduler, SchedulerSettings, scheduler as module
from snakemake_scheduler_plugin_makespan.levels import graph_of, tails_of
from snakemake_scheduler_plugin_makespan.lookahead import end_of


class TestInterface(TestSchedulerBase):  # type: ignore[misc]
    """What Snakemake asks of every scheduler."""

    __test__ = True

    def get_scheduler_cls(self) -> Any:
        return Scheduler

    def get_scheduler_settings(self) -> SchedulerSettings:
        return SchedulerSettings(durations=None)


def random_case(seed: int) -> tuple[Dag, dict[Job, float], dict[str, int]]:
    """Return a graph, seconds and resources in which each job fits."""
    rng = random.Random(seed)
    capacity = {"_cores": rng.choice([1, 2, 4]), "mem_mb": 1000, "_job_count": sys.maxsize}
    jobs: list[Job] = []
    for number in range(rng.randint(1, 25)):
        needs = rng.sample(jobs, min(len(jobs), rng.randint(0, 2)))
        asked = {"_cores": rng.randint(0, capacity["_cores"]), "mem_mb": rng.choice([0, 300, 900])}
        priority = rng.choice([0, 0, 0, 5])
        jobs.append(Job(f"r{number % 4}", f"{number}", needs=needs, priority=priority, **asked))
    return Dag(*jobs), {job: rng.lognormvariate(0, 1) for job in jobs}, capacity


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("seed", range(60))
def test_random_runs(seed: int, known: bool) -> None:
    """Each job once, after what it needs, within the resources, none left out that fits."""
    dag, seconds, capacity = random_case(seed)
    end = run(scheduler_of(dag, seconds if known else None), dag, seconds, capacity)
    work = sum(seconds[job] * job.scheduler_resources["_cores"] for job in dag.all)
    assert end >= work / capacity["_cores"] - 1e-9


def longest_path(job: Job, jobs: list[Job], seconds: dict[Job, float]) -> float:
    """Return the bottom level, by definition."""
    after = [each for each in jobs if job in each.needs]
    return seconds[job] + max((longest_path(each, jobs, seconds) for each in after), default=0.0)


@pytest.mark.parametrize("seed", range(40))
def test_the_first_selection_is_the_sorted_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By priority, then by bottom level, each that fits beside those before it."""
    monkeypatch.setattr(module, "ORDERS", 0)
    dag, seconds, capacity = random_case(seed)
    ready = [job for job in dag.all if not job.needs]
    level = {job: longest_path(job, dag.all, seconds) for job in dag.all}
    free, expected = dict(capacity), []
    for job in sorted(ready, key=lambda job: (-job.priority, -level[job])):
        if fits(job, free):
            expected.append(job)
            free = {name: free[name] - job.scheduler_resources.get(name, 0) for name in free}
    scheduler = scheduler_of(dag, seconds)
    assert scheduler.select_jobs(ready, dag.all, capacity, {}) == expected


@pytest.mark.parametrize("seed", range(20))
def test_many_new_jobs_and_few_are_put_in_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order that is kept from call to call is that of a scheduler that sees all anew."""
    monkeypatch.setattr(module, "ORDERS", 0)
    rng = random.Random(seed)
    jobs = [Job("r", f"{number}", _cores=rng.randint(1, 3)) for number in range(200)]
    seconds = {job: rng.random() for job in jobs}
    dag = Dag(*jobs)
    kept, ready = scheduler_of(dag, seconds), set(jobs[: rng.choice([10, 150])])
    waiting = [job for job in jobs if job not in ready]
    while ready:
        free = {"_cores": rng.randint(1, 6)}
        left = [*ready, *waiting]
        taken = kept.select_jobs(set(ready), left, free, {})
        assert taken == scheduler_of(dag, seconds).select_jobs(list(ready), left, free, {})
        ready -= set(taken)
        for _ in range(min(len(waiting), rng.randint(0, 4))):
            ready.add(waiting.pop())


def test_ties_let_temporary_files_go_and_then_take_large_inputs() -> None:
    """As the greedy rule of Snakemake does."""
    small, large = File("small"), File("large")
    temp = File.temp("temp")
    jobs = [
        Job("r", name, files=[file]) for name, file in (("s", small), ("l", large), ("t", temp))
    ]
    sizes = {small: 1, large: 9, temp: 2}
    taken = scheduler_of(Dag(*jobs)).select_jobs(jobs, jobs, {"_cores": 3}, sizes)
    assert [job.wildcards_dict["w"] for job in taken] == ["t", "l", "s"]


def test_where_nothing_is_known_the_greedy_rule_decides() -> None:
    """A large input comes before a long path, until a duration is known."""
    large, small = Job("large", files=[File("l")]), Job("small", files=[File("s")])
    last = Job("last", needs=[small])
    jobs, sizes = [large, small, last], {large.input[0]: 9, small.input[0]: 1}
    scheduler = scheduler_of(Dag(*jobs))
    assert scheduler.select_jobs([small, large], jobs, {"_cores": 1}, sizes) == [large]
    scheduler = scheduler_of(Dag(*jobs), dict.fromkeys(jobs, 1.0))
    assert scheduler.select_jobs([small, large], jobs, {"_cores": 1}, sizes) == [small]


def test_priority_comes_before_length() -> None:
    urgent, long = Job("urgent", priority=1), Job("long")
    scheduler = scheduler_of(Dag(urgent, long), {urgent: 1.0, long: 100.0})
    assert scheduler.select_jobs([long, urgent], [long, urgent], {"_cores": 1}, {}) == [urgent]


def test_a_line_over_sizes_counts_for_jobs_that_are_ready() -> None:
    """The one with the largest input first, though none of these has run."""
    jobs = [Job("map", f"{size}", files=[File(f"f{size}")]) for size in (100, 900, 500)]
    scheduler = scheduler_of(Dag(*jobs))
    for size in (1, 2, 3):
        scheduler.durations.record("map", f"w=old{size}", size * 100, float(size))
    sizes = {job.input[0]: int(job.wildcards_dict["w"]) for job in jobs}
    taken = scheduler.select_jobs(jobs, jobs, {"_cores": 2}, sizes)
    assert [job.wildcards_dict["w"] for job in taken] == ["900", "500"]


def test_groups_count_as_their_longest_path() -> None:
    first = Job("first")
    second, other = Job("second", needs=[first]), Job("other")
    seconds = {first: 2.0, second: 2.0, other: 3.0}
    scheduler = scheduler_of(Dag(first, second, other), seconds)
    group: Any = Group(first, second)
    taken = scheduler.select_jobs([other, group], [first, second, other], {"_cores": 1}, {})
    assert taken == [group]


def test_jobs_that_appear_later_are_planned() -> None:
    """A checkpoint adds jobs; no call announces them."""
    one, two = Job("one"), Job("two")
    dag = Dag(one, two)
    scheduler = scheduler_of(dag, {one: 1.0, two: 2.0})
    assert scheduler.select_jobs([one, two], dag.all, {"_cores": 0}, {}) == []
    late = Job("late", needs=[one])
    dag.all.append(late)
    scheduler.durations.record("late", "w=", None, 9.0)
    assert scheduler.select_jobs([one, two], dag.all, {"_cores": 1}, {}) == [one]
    scheduler.dag_updated()
    assert scheduler.select_jobs([two], [two, late], {"_cores": 1}, {}) == [two]


def test_a_job_that_is_tried_again() -> None:
    """It comes back with other resources."""
    job, other = Job("r", "1", mem_mb=100), Job("r", "2", mem_mb=100)
    scheduler = scheduler_of(Dag(job, other), {job: 2.0, other: 1.0})
    free = {"_cores": 1, "mem_mb": 150}
    assert scheduler.select_jobs([job, other], [job, other], free, {}) == [job]
    job.scheduler_resources["mem_mb"] = 200
    assert scheduler.select_jobs([job, other], [job, other], free, {}) == [other]


def test_resources_that_are_words_ask_nothing() -> None:
    job = Job("r", partition="long")  # type: ignore[arg-type]
    scheduler = scheduler_of(Dag(job))
    assert scheduler.select_jobs([job], [job], {"_cores": 1, "partition": "long"}, {}) == [job]
    assert scheduler.select_jobs([job], [job], {"_cores": 1, "partition": 0}, {}) == [job]


def test_durations_are_kept_for_the_next_run(tmp_path: Path) -> None:
    """By the clock, or by the benchmark file that the job wrote; a failed job leaves nothing."""
    clock = module.time = Clock()  # type: ignore[assignment]
    bench, path = tmp_path / "b.tsv", tmp_path / "kept.json"
    jobs = [Job("plain"), Job("measured", benchmark=str(bench)), Job("failed")]
    dag = Dag(*jobs)
    scheduler = Scheduler(dag, SchedulerSettings(durations=path), LOGGER)
    assert scheduler.select_jobs(jobs, jobs, {"_cores": 3}, {}) == jobs
    clock.now = 5.0
    bench.write_text("s\n4.5\n")
    dag.done = set(jobs[:2])
    scheduler.finish()
    again = Scheduler(dag, SchedulerSettings(durations=path), LOGGER)
    assert {rule: again.durations.estimate(rule, "w=") for rule in again.durations.rules} == {
        "plain": 5.0,
        "measured": 4.5,
    }


def test_benchmarks_of_earlier_runs_are_read(tmp_path: Path) -> None:
    jobs = [Job("r", f"{number}", benchmark=str(tmp_path / f"{number}")) for number in range(3)]
    for number, took in ((1, 5.0), (2, 9.0)):
        (tmp_path / f"{number}").write_text(f"s\n{took}\n")
    taken = scheduler_of(Dag(*jobs)).select_jobs(jobs, jobs, {"_cores": 3}, {})
    assert [job.wildcards_dict["w"] for job in taken] == ["2", "0", "1"]


def test_a_history_that_can_not_be_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A warning, and the run goes on."""
    job = Job("r")
    dag = Dag(job)
    (tmp_path / "file").write_text("")
    settings = SchedulerSettings(durations=tmp_path / "file" / "kept.json")
    scheduler = Scheduler(dag, settings, LOGGER)
    scheduler.select_jobs([job], [job], {"_cores": 1}, {})
    dag.done.add(job)
    scheduler.finish()
    assert "durations are not kept" in caplog.text


class Greedy:
    """The rule of Snakemake where no input has a size: those that fit, in the order of a set."""

    def __init__(self, seed: int | None = None) -> None:
        self.rng = None if seed is None else random.Random(seed)

    def select_jobs(self, ready: list[Job], left: Any, free: dict[str, int], sizes: Any) -> Any:
        taken = []
        if self.rng is not None:
            self.rng.shuffle(ready)
        for job in sorted(ready, key=lambda job: -job.priority):
            if fits(job, free):
                taken.append(job)
                free = {name: free[name] - job.scheduler_resources.get(name, 0) for name in free}
        return taken


def test_it_ends_before_the_greedy_rule() -> None:
    """With known durations: beside the mean of five runs of the greedy rule."""
    ratios = []
    for seed in range(60):
        dag, seconds, capacity = random_case(seed)
        slow = []
        for order in range(5):
            dag.done = set()
            slow.append(run(Greedy(order), dag, seconds, capacity))
        dag.done = set()
        ratios.append(run(scheduler_of(dag, seconds), dag, seconds, capacity) * 5 / sum(slow))
    assert sum(ratios) / len(ratios) < 0.98
    assert max(ratios) < 1.02


def test_the_run_in_advance_is_the_run() -> None:
    """The look-ahead and the replay agree on when the last job ends, for the same order."""
    for seed, least in itertools.product(range(30), (True, False)):
        dag, seconds, capacity = random_case(seed)
        for job in dag.all:
            job.priority = 0
        jobs, needs = graph_of(dag.all, dag.job_dependencies)
        took = [seconds[job] for job in jobs]
        levels = [sum(pair) for pair in zip(tails_of(needs, took), took, strict=True)]
        sign = -1.0 if least else 1.0
        keys = dict(zip(jobs, [(sign * level,) for level in levels], strict=True))
        names = ["_cores", "mem_mb"]
        demands = [tuple(job.scheduler_resources[name] for name in names) for job in jobs]
        room = tuple(capacity[name] for name in names)
        found = end_of([keys[job] for job in jobs], took, needs, demands, room, 10**6)

        class Keyed:
            def select_jobs(self, ready: Any, left: Any, free: Any, sizes: Any) -> Any:
                ready = sorted(ready, key=keys.__getitem__)  # noqa: B023
                return Greedy().select_jobs(ready, left, free, sizes)

        assert found == pytest.approx(run(Keyed(), dag, seconds, capacity))


def test_the_run_in_advance_gives_up() -> None:
    """Where it would take too many looks, or a job never fits."""
    arguments = [[(0.0,)] * 3, [1.0] * 3, [[], [], []], [(1,)] * 3]
    assert end_of(*arguments, (1,), 10) == 3.0  # type: ignore[arg-type]
    assert end_of(*arguments, (1,), 1) is None  # type: ignore[arg-type]
    assert end_of(*arguments, (0,), 10) is None  # type: ignore[arg-type]
