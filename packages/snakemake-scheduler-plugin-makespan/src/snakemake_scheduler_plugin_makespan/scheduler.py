"""The scheduler: what is ready, by priority and by the work that waits for it."""

from __future__ import annotations

import atexit
import random
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from snakemake_interface_scheduler_plugins.base import SchedulerBase

from snakemake_scheduler_plugin_makespan.durations import Durations, benchmark_seconds
from snakemake_scheduler_plugin_makespan.jobs import (
    Sizes,
    ended,
    key_of,
    members,
    rule_of,
    size_of,
    stated_size,
    weights_of,
)
from snakemake_scheduler_plugin_makespan.levels import graph_of, tails_of
from snakemake_scheduler_plugin_makespan.lookahead import end_of
from snakemake_scheduler_plugin_makespan.ready import Key, Ready, demand_of
from snakemake_scheduler_plugin_makespan.settings import SchedulerSettings

BENCHMARKS = 1_000  # files of a rule that are read
LOOKS = 40_000  # jobs that all runs in advance look at, about 0.2 s
ORDERS = 16  # runs in advance
SPREADS = (0.1, 0.5, 9.0)  # how far levels are drawn apart in them, in turn
GAINS = (0.999, 0.98)
"""What the order by size, and one drawn apart, must come down to.

An order that was drawn for these durations gains less when they turn out otherwise.
"""
BY_SIZE = "by size"  # the order of Snakemake's greedy rule


class Scheduler(SchedulerBase):  # type: ignore[misc]
    """Takes the jobs of the highest priority first, then those of the greatest bottom level."""

    def __post_init__(self) -> None:
        """Read what earlier runs kept."""
        self.durations = Durations()
        self._path = (self.settings or SchedulerSettings()).durations
        if self._path is not None:
            self.durations.load(self._path)
        self._tails: dict[Any, float] | None = None  # what waits for a job's end
        self._took: dict[Any, float] = {}  # what jobs take, before their inputs are there
        self._order: Mapping[Any, float] | str = {}
        self._ready = Ready(self._key_of)
        self._sizes: Sizes = {}
        self._running: dict[Any, float] = {}
        self._capacity: dict[str, int] = {}
        self._recorded = False
        # Jobs that Snakemake runs in a process of their own come with a scheduler, too.
        workflow = getattr(self.dag, "workflow", None)
        if getattr(workflow, "is_main_process", False):
            atexit.register(self.finish)

    def dag_updated(self) -> None:
        """Plan anew at the next selection; Snakemake 9.27 never calls this."""
        self._tails = None

    def select_jobs(
        self,
        selectable_jobs: Collection[Any],
        remaining_jobs: Sequence[Any],
        available_resources: Mapping[str, int | str],
        input_sizes: Mapping[Any, int],
    ) -> list[Any]:
        """Return the jobs to start now."""
        self._sizes = input_sizes
        for name, value in available_resources.items():
            if not isinstance(value, str):
                self._capacity[name] = max(value, self._capacity.get(name, 0))
        self._note_ends()
        tails = self._tails
        if tails is None or not all(map(tails.__contains__, remaining_jobs)):
            self._plan(remaining_jobs)
        taken = self._ready.take(selectable_jobs, available_resources)
        now = time.time()
        self._running.update((job, now) for job in taken)
        return taken

    def finish(self) -> None:
        """Write down what the jobs of this run took."""
        self._note_ends()
        if self._recorded and self._path is not None:
            try:
                self.durations.save(self._path)
            except OSError as error:
                self.logger.warning(f"makespan: durations are not kept: {error}")

    def _note_ends(self) -> None:
        """Record jobs that ended since the last call."""
        now = time.time()
        for job, start in list(self._running.items()):
            singles = members(job)
            if not all(map(self.dag.finished, singles)):
                continue
            del self._running[job]
            for single in singles:
                took = benchmark_seconds(str(single.benchmark or ""), start)
                if took is None and single is job and single.output:
                    took = ended(single.output, start, now) - start
                if took is not None:
                    size = size_of(single, self._sizes)
                    size = stated_size(single.input) if size is None else size
                    self.durations.record(rule_of(single), key_of(single), size, took)
                    self._recorded = True

    def _plan(self, remaining: Sequence[Any]) -> None:
        """Compute bottom levels, and choose the order that ends first where that is looked up."""
        if self._tails is None:
            self._read_benchmarks(remaining)
        jobs, needs = graph_of([*remaining, *self.dag.needrun_jobs()], self.dag.job_dependencies)
        seconds = [self._seconds(job) for job in jobs]
        tails = tails_of(needs, seconds)
        self._tails = dict.fromkeys(remaining, 0.0)
        self._tails.update(zip(jobs, tails, strict=True))
        self._took = dict(zip(jobs, seconds, strict=True))
        # Where nothing is known, the greedy rule decides: it goes by the sizes of inputs at least.
        self._order = (
            BY_SIZE if not self.durations else self._best_order(jobs, needs, seconds, tails)
        )
        self._ready = Ready(self._key_of)

    def _read_benchmarks(self, remaining: Sequence[Any]) -> None:
        """Read the benchmark files of earlier runs; Snakemake's graph shows finished jobs, too."""
        read: Counter[str] = Counter()
        jobs = getattr(self.dag, "jobs", remaining)
        for job in remaining if callable(jobs) else jobs:
            if read[rule_of(job)] >= BENCHMARKS or not job.benchmark:
                continue
            took = benchmark_seconds(str(job.benchmark))
            if took is not None:
                read[rule_of(job)] += 1
                self.durations.record(rule_of(job), key_of(job), stated_size(job.input), took)

    def _seconds(self, job: Any) -> float:
        """Return what a job may take, whatever the size of its inputs."""
        rule = rule_of(job)
        key = key_of(job) if rule in self.durations.rules else ""
        return self.durations.estimate(rule, key)

    def _seconds_now(self, job: Any) -> float:
        """Return what a job may take whose inputs are there."""
        rule = rule_of(job)
        if self.durations.grows(rule):
            return self.durations.estimate(rule, key_of(job), size_of(job, self._sizes))
        took = self._took.get(job)
        return self._seconds(job) if took is None else took

    def _best_order(
        self, jobs: list[Any], needs: list[list[int]], seconds: list[float], tails: list[float]
    ) -> Mapping[Any, float] | str:
        """Return factors of levels, or the order by size, whichever ends first.

        The plain levels are tried first and kept unless another order is better.
        """
        runs = min(ORDERS, LOOKS // max(1, len(jobs)))
        if runs < 2:
            return {}
        names = [name for name, value in self._capacity.items() if value]
        demands = [demand_of(job, names) for job in jobs]
        capacity = tuple(self._capacity[name] for name in names)
        now = time.time()
        running = {each: start for job, start in self._running.items() for each in members(job)}
        left = [
            took - min(took, now - running[job]) if job in running else took
            for job, took in zip(jobs, seconds, strict=True)
        ]
        first = [-float("inf") if job in running else -job.priority for job in jobs]
        levels = [tail + took for tail, took in zip(tails, seconds, strict=True)]
        generator = random.Random(0)
        best: Mapping[Any, float] | str = {}
        least: float | None = None
        keys: list[Key]
        for run in range(runs):
            if run == 1:
                keys = [
                    (rank, *self._by_size(job), -level)
                    for rank, job, level in zip(first, jobs, levels, strict=True)
                ]
            else:
                spread = SPREADS[run % len(SPREADS)] if run else 0.0
                factors = [1.0 + spread * generator.random() for _ in jobs]
                keys = [
                    (rank, -level * factor)
                    for rank, level, factor in zip(first, levels, factors, strict=True)
                ]
            end = end_of(keys, left, needs, demands, capacity, LOOKS)
            if end is None:
                break
            if least is None or end < GAINS[run > 1] * least:
                least = end
                if run:
                    best = BY_SIZE if run == 1 else dict(zip(jobs, factors, strict=True))
        return best

    def _by_size(self, job: Any) -> tuple[float, float]:
        """Return the key of a job by the sizes of its last run, before its inputs are there."""
        record = self.durations.found(rule_of(job), key_of(job))
        temporary, total = weights_of(job, self._sizes)
        if not total and record is not None and record.size:
            total = record.size
            temporary = total if any(path.is_flagged("temp") for path in job.input) else 0
        return -temporary, -total

    def _key_of(self, job: Any) -> Key:
        """Return what jobs are sorted by: the least comes first."""
        tails = self._tails or {}
        level = 0.0
        for single in members(job):
            factor = 1.0 if isinstance(self._order, str) else self._order.get(single, 1.0)
            own = tails.get(single, 0.0) + self._seconds_now(single)
            level = max(level, own * factor)
        temporary, total = weights_of(job, self._sizes)
        if self._order == BY_SIZE:
            return -job.priority, -temporary, -total, -level
        return -job.priority, -level, -temporary, -total
