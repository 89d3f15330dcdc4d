"""Recorded workflows through the interface of Snakemake's schedulers: makespan beside greedy.

git clone https://github.com/wfcommons/WfInstances
pip install snakemake ./packages/snakemake-scheduler-plugin-makespan
python -m benchmarks.snakemake_replay WfInstances

Without the folder: the recorded workflows of ``examples/workflows``.
"""

from __future__ import annotations

import heapq
import json
import logging
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from snakemake.scheduling import greedy
from snakemake_interface_scheduler_plugins.interfaces.dag import DAGSchedulerInterface
from snakemake_scheduler_plugin_makespan import Scheduler, SchedulerSettings, scheduler

from benchmarks.table import Table, shown_seconds
from makespan import Dag, Network, TaskGraph, lower_bound

ROOT = Path(__file__).parent.parent
CORES = (4, 16, 64)
READY = 200_000
FEW = 300
NOISE = 0.3  # the standard deviation of the logarithm of a job's seconds, from run to run
LOGGER = logging.getLogger("makespan")
KNOWN, NOISY, RULES, NONE = (
    "each job's seconds",
    "seconds of a run before",
    "means of rules",
    "nothing",
)


class File(str):
    """A path that is not temporary."""

    __slots__ = ()

    def is_flagged(self, flag: str) -> bool:
        return False


class Job:
    """A job of one core."""

    priority = 0
    benchmark = None
    log: tuple[str, ...] = ()

    def __init__(self, name: str, key: str, seconds: float, files: list[File]) -> None:
        self.name, self.seconds, self.input, self.output = name, seconds, files, [File(key)]
        self.wildcards_dict = {"task": key}
        self.scheduler_resources = {"_cores": 1, "_nodes": 1, "_job_count": 1}


class Workflow(DAGSchedulerInterface):  # type: ignore[misc]
    """A recorded workflow, in WfFormat 1.5."""

    def __init__(self, path: Path) -> None:
        workflow = json.loads(path.read_text("utf-8"))["workflow"]
        specification = workflow["specification"]
        measured = {task["id"]: task for task in workflow["execution"]["tasks"]}
        self.sizes = {
            File(each["id"]): each["sizeInBytes"] for each in specification.get("files", ())
        }
        self.jobs: list[Job] = []
        for task in specification["tasks"]:
            took = measured[task["id"]]
            rule = took.get("command", {}).get("program") or task["name"]
            files = [File(each) for each in task.get("inputFiles", ())]
            self.jobs.append(Job(rule, task["id"], took["runtimeInSeconds"], files))
        named = {
            task["id"]: job for task, job in zip(specification["tasks"], self.jobs, strict=True)
        }
        self.needs = {
            named[task["id"]]: [named[each] for each in task.get("parents", ())]
            for task in specification["tasks"]
        }
        self.done: set[Job] = set()

    def needrun_jobs(self) -> Iterator[Job]:
        return (job for job in self.jobs if job not in self.done)

    def job_dependencies(self, job: Job) -> list[Job]:
        return self.needs[job]

    def finished(self, job: Job) -> bool:
        return job in self.done

    def replay(self, rule: Any, cores: int) -> float:
        """Return when the last job ends, if the scheduler selects whenever one has ended."""
        self.done = set()
        waiting = {job: len(each) for job, each in self.needs.items()}
        dependents: dict[Job, list[Job]] = {job: [] for job in self.jobs}
        for job, needs in self.needs.items():
            for need in needs:
                dependents[need].append(job)
        ready = {job: None for job in self.jobs if not waiting[job]}
        free = {"_cores": cores, "_nodes": sys.maxsize, "_job_count": sys.maxsize}
        running: list[tuple[float, int, Job]] = []
        now, count, left = 0.0, 0, dict.fromkeys(self.jobs)
        vars(scheduler)["time"] = SimpleNamespace(time=lambda: now)
        while ready or running:
            if ready and free["_cores"]:
                for job in rule.select_jobs(list(ready), list(left), free, self.sizes):
                    del ready[job], left[job]
                    free["_cores"] -= 1
                    count += 1
                    heapq.heappush(running, (now + job.seconds, count, job))
                assert free["_cores"] >= 0
            now = running[0][0]
            while running and running[0][0] <= now:
                job = heapq.heappop(running)[2]
                free["_cores"] += 1
                self.done.add(job)
                for each in dependents[job]:
                    waiting[each] -= 1
                    if not waiting[each]:
                        ready[each] = None
        assert len(self.done) == len(self.jobs)
        vars(scheduler)["time"] = time
        return now

    def bound(self, cores: int) -> float:
        """Return a time that no order of the jobs can beat."""
        names = {job: job.output[0] for job in self.jobs}
        edges = [(names[need], names[job]) for job, needs in self.needs.items() for need in needs]
        work: dict[str, float] = {name: job.seconds for job, name in names.items()}
        dag = Dag(work, edges)
        return lower_bound(TaskGraph(dag, Network([1.0] * cores))).value


class Greedy(greedy.Scheduler):  # type: ignore[misc]
    """Snakemake's own, shown only the jobs that it would take.

    It takes jobs in the order of its reward while they fit. All jobs here ask one core, so they
    are the first ones, as many as cores are free; and it looks at each as often as it takes one.
    """

    def select_jobs(self, jobs: Any, remaining: Any, free: Any, sizes: Any) -> Any:
        first = heapq.nlargest(free["_cores"], jobs, key=lambda job: self.job_reward(job, sizes))
        return super().select_jobs(first, remaining, free, sizes)


def makespan_scheduler(workflow: Workflow, known: str, rng: np.random.Generator) -> Scheduler:
    """Return the scheduler with what it knows of earlier runs."""
    rule = Scheduler(workflow, SchedulerSettings(durations=None), LOGGER)
    for job in workflow.jobs:
        size = sum(workflow.sizes.get(file) or 0 for file in job.input)
        key = f"task={job.output[0]}"
        took = job.seconds * (rng.lognormal(0.0, NOISE) if known == NOISY else 1.0)
        if known == RULES:  # of other samples: no size, and no wildcards of this run
            rule.durations.record(job.name, f"other {key}", None, took)
        elif known != NONE:
            rule.durations.record(job.name, key, size, took)
    return rule


def many_ready() -> tuple[float, float, float]:
    """Return CPU seconds: of the greedy rule, of the first call and of a later call."""
    workflow = Workflow.__new__(Workflow)
    rng = np.random.default_rng(1)
    workflow.done = set()
    workflow.jobs = [
        Job(f"rule{index % 20}", f"{index}", float(rng.lognormal()), [File(f"in{index}")])
        for index in range(READY)
    ]
    last = Job("all", "all", 1.0, [File(f"{index}") for index in range(READY)])
    workflow.needs = {job: [] for job in workflow.jobs} | {last: list(workflow.jobs)}
    workflow.sizes = {job.input[0]: int(rng.integers(1, 1 << 30)) for job in workflow.jobs}
    ready = set(workflow.jobs)
    free = {"_cores": 64, "_nodes": sys.maxsize, "_job_count": sys.maxsize}
    ours = makespan_scheduler(workflow, KNOWN, rng)
    workflow.jobs.append(last)
    took = []
    for _ in range(6):
        left = [*ready, last]
        began = time.process_time()
        ready -= set(ours.select_jobs(ready, left, free, workflow.sizes))
        took.append(time.process_time() - began)
    free["_cores"] = 1
    began = time.process_time()
    theirs = greedy.Scheduler(workflow, greedy.SchedulerSettings(), LOGGER)
    theirs.select_jobs(list(ready), left, free, workflow.sizes)
    return time.process_time() - began, took[0], statistics.median(took[1:])


def main() -> None:
    """Print and write the table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "examples" / "workflows"
    paths = sorted(folder.rglob("*.json"))
    slow, first, later = many_ready()
    table = Table(
        "snakemake",
        "Snakemake: recorded workflows through its scheduler interface",
        f"{len(paths)} workflows of WfInstances, all of their jobs on one core, replayed: makespan "
        "of Snakemake's greedy rule over that of the plugin; above 1 the plugin is faster. Known: "
        f"what the plugin has of earlier runs; those of a run before are off by a lognormal factor "
        f"({NOISE:g}). With {READY:,} ready jobs and 64 free cores the first call takes "
        f"{shown_seconds(first)}, a later one {shown_seconds(later)}; the greedy rule, which "
        f"looks at all jobs once a free core, takes {shown_seconds(slow)} for one free core. "
        "At most: the geometric mean of a plan that would reach the lower bound of each workflow.",
        (
            *("known", "cores", "geometric mean", "at most", "least", "median", "greatest"),
            "slower than 1/1.02",
        ),
        clock="simulated time, and CPU time of calls",
    )
    workflows = [Workflow(path) for path in paths]
    before = {
        (path, cores): workflow.replay(Greedy(workflow, greedy.SchedulerSettings(), LOGGER), cores)
        for path, workflow in zip(paths, workflows, strict=True)
        for cores in CORES
    }
    for path, workflow in zip(paths, workflows, strict=True):
        if len(workflow.jobs) <= FEW:  # what Greedy is shown makes no difference
            plain = greedy.Scheduler(workflow, greedy.SchedulerSettings(), LOGGER)
            assert workflow.replay(plain, CORES[0]) == before[path, CORES[0]]
    most = {
        cores: statistics.geometric_mean(
            before[path, cores] / bound
            for path, workflow in zip(paths, workflows, strict=True)
            if (bound := workflow.bound(cores))
        )
        for cores in CORES
    }
    for known in (KNOWN, NOISY, RULES, NONE):
        for cores in CORES:
            ratios = []
            for seed, (path, workflow) in enumerate(zip(paths, workflows, strict=True)):
                rule = makespan_scheduler(workflow, known, np.random.default_rng(seed))
                ratios.append(before[path, cores] / workflow.replay(rule, cores))
            table.add(
                *(known, cores),
                f"{statistics.geometric_mean(ratios):.4f}×",
                f"{most[cores]:.4f}×",
                *(f"{each:.3f}×" for each in (min(ratios), statistics.median(ratios))),
                *(
                    f"{max(ratios):.2f}×",
                    f"{sum(each < 1 / 1.02 for each in ratios)} of {len(ratios)}",
                ),
            )
    table.write()


if __name__ == "__main__":
    main()
