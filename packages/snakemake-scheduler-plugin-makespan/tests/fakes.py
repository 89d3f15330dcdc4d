"""Jobs and graphs as the interface of Snakemake shows them, and a run of them on a clock."""

from __future__ import annotations

import heapq
import logging
from collections.abc import Iterable, Iterator
from typing import Any

from snakemake_scheduler_plugin_makespan import Scheduler, scheduler as module
from snakemake_scheduler_plugin_makespan.settings import SchedulerSettings

LOGGER = logging.getLogger("makespan")


class File(str):
    """A path with flags."""

    flags: tuple[str, ...] = ()

    @classmethod
    def temp(cls, name: str) -> File:
        file = cls(name)
        file.flags = ("temp",)
        return file

    def is_flagged(self, flag: str) -> bool:
        return flag in self.flags


class Job:
    """A single job; its wildcards are its key."""

    def __init__(
        self,
        name: str,
        key: str = "",
        *,
        needs: Iterable[Job] = (),
        priority: int = 0,
        files: Iterable[File] = (),
        benchmark: str | None = None,
        **resources: int,
    ) -> None:
        self.name, self.priority, self.benchmark = name, priority, benchmark
        self.wildcards_dict = {"w": key}
        self.input, self.output = list(files), [File(f"{name}-{key}.out")]
        self.log: list[File] = []
        self.needs = list(needs)
        self.scheduler_resources: dict[str, Any] = {"_cores": 1, **resources}

    def __repr__(self) -> str:
        return f"{self.name}:{self.wildcards_dict['w']}"


class Group:
    """Jobs that run as one."""

    priority = 0

    def __init__(self, *jobs: Job) -> None:
        self.jobs = frozenset(jobs)
        self.input = [path for job in jobs for path in job.input]
        self.scheduler_resources = {"_cores": max(j.scheduler_resources["_cores"] for j in jobs)}


class Dag:
    """A graph of jobs, some of which are done."""

    def __init__(self, *jobs: Job) -> None:
        self.all = list(jobs)
        self.done: set[Job] = set()

    def needrun_jobs(self) -> Iterator[Job]:
        return (job for job in self.all if job not in self.done)

    def job_dependencies(self, job: Job) -> list[Job]:
        return job.needs

    def finished(self, job: Job) -> bool:
        return job in self.done


def scheduler_of(dag: Dag, seconds: dict[Job, float] | None = None) -> Scheduler:
    """Return a scheduler that keeps no file and knows these seconds."""
    scheduler = Scheduler(dag, SchedulerSettings(durations=None), LOGGER)
    for job, took in (seconds or {}).items():
        scheduler.durations.record(job.name, f"w={job.wildcards_dict['w']}", None, took)
    return scheduler


class Clock:
    """Stands for the module ``time``."""

    def __init__(self) -> None:
        self.now = 0.0

    def time(self) -> float:
        return self.now


def run(scheduler: Any, dag: Dag, seconds: dict[Job, float], capacity: dict[str, int]) -> float:
    """Run the graph to its end, never beyond the capacity, and return when it ends."""
    clock = module.time = Clock()  # type: ignore[assignment]
    free = dict(capacity)
    started: set[Job] = set()
    running: list[tuple[float, int, Job]] = []
    while len(dag.done) < len(dag.all):
        ready = [j for j in dag.all if j not in started and dag.done.issuperset(j.needs)]
        left = [job for job in dag.all if job not in started]
        taken = list(scheduler.select_jobs(ready, left, dict(free), {})) if ready else []
        assert len(set(taken)) == len(taken)
        assert set(taken) <= set(ready)
        for job in taken:
            started.add(job)
            heapq.heappush(running, (clock.now + seconds[job], len(started), job))
            for name in free:
                free[name] -= job.scheduler_resources.get(name, 0)
        assert min(free.values()) >= 0
        assert not any(fits(job, free) for job in ready if job not in started), "left out"
        end, _, job = heapq.heappop(running)
        clock.now = end
        dag.done.add(job)
        for name in free:
            free[name] += job.scheduler_resources.get(name, 0)
    return clock.now


def fits(job: Job, free: dict[str, int]) -> bool:
    return all(job.scheduler_resources.get(name, 0) <= value for name, value in free.items())
