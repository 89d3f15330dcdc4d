"""Dask under faults: workers killed or stopped at any moment of a map, a run or a compute."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

from campaign.part import Defect, Part, Skipped, Trial
from makespan import DivisibleLoad, ExecutionError, Result, Star, Worker, solve

WORKERS = 3
ITEMS = 120
GRACE = 60.0  # seconds for anything on a cluster from which workers go
BACK = 30.0  # seconds until killed workers are there again


def attempt(trial: Trial) -> None:
    """Let one call lose a worker or two, and see what it gives."""
    if find_spec("distributed") is None:
        raise Skipped("dask is not installed")
    rng = trial.random("make")
    cluster, client = _cluster()
    client.wait_for_workers(WORKERS, timeout=BACK)
    verb = rng.choice(list(VERBS))
    timers = [_fault(cluster, rng, trial) for _ in range(rng.choice((1, 1, 1, 2)))]
    begun = time.monotonic()
    try:
        VERBS[verb](client)
        trial.count("complete")
    except ExecutionError as error:
        _keeps_what_there_is(error)
        trial.count("ended in words")
    finally:
        for timer in timers:
            timer.join()
    if time.monotonic() - begun > GRACE:
        raise Defect(f"{verb} takes {time.monotonic() - begun:.0f} s")
    _clean(client, verb)
    trial.count(f"{verb} under faults")


def _slowly_squared(item: int) -> int:
    time.sleep(0.01)
    return item * item


def _mapped(client: Any) -> None:
    from makespan.execute import dask

    dask.forget(client)
    execution = dask.map(_slowly_squared, list(range(ITEMS)), client, progress=False)
    _complete(execution.results)


def _run(client: Any) -> None:
    from makespan.execute import dask

    execution = dask.run(_planned(client), _slowly_squared, list(range(ITEMS)), client)
    _complete(execution.results)


def _planned(client: Any) -> Result:
    names = [str(info["name"]) for info in client.scheduler_info(n_workers=-1)["workers"].values()]
    crew = [Worker(name=name, send=1e-4, compute=0.01) for name in names or ["0"]]
    return solve(DivisibleLoad(platform=Star(crew), load=ITEMS, rounds=3))


def _computed(client: Any) -> None:
    from makespan.execute import dask

    graph: dict[str, Any] = {f"leaf-{item}": (_slowly_squared, item) for item in range(40)}
    graph["sum"] = (_total, *graph)
    execution = dask.compute(graph, client, keys="sum", seconds=0.1, progress=False)
    if execution.results != sum(item * item for item in range(40)):
        raise Defect(f"compute gives {execution.results!r}")


def _total(*values: int) -> int:
    return sum(values)


VERBS: dict[str, Callable[[Any], None]] = {"map": _mapped, "run": _run, "compute": _computed}


def _complete(results: Any) -> None:
    if list(results) != [item * item for item in range(ITEMS)]:
        raise Defect("results are missing or wrong, without an error")


def _keeps_what_there_is(error: ExecutionError) -> None:
    execution = getattr(error, "execution", None)
    results = getattr(execution, "results", None)
    if isinstance(results, list) and len(results) == ITEMS:
        wrong = [i for i, found in enumerate(results) if found not in (None, i * i)]
        if wrong:
            raise Defect(f"results of an error are wrong, first of item {wrong[0]}") from error


def _fault(cluster: Any, rng: random.Random, trial: Trial) -> threading.Thread:
    """Kill a worker, or stop it for a while, at a random moment."""
    when, chosen, stopped = rng.uniform(0.0, 1.5), rng.randrange(WORKERS), rng.random() < 0.25
    pause = rng.uniform(0.1, 2.0)

    def act() -> None:
        time.sleep(when)
        nanny = list(cluster.workers.values())[chosen]
        process = nanny.pid
        if process is None:
            return
        try:
            if stopped:
                os.kill(process, signal.SIGSTOP)
                time.sleep(pause)
                os.kill(process, signal.SIGCONT)
                trial.count("workers stopped for a while")
            else:
                os.kill(process, signal.SIGKILL)
                trial.count("kills")
        except ProcessLookupError:
            return

    thread = threading.Thread(target=act)
    thread.start()
    return thread


def _clean(client: Any, verb: str) -> None:
    """Wait until the scheduler has forgotten all tasks."""
    left: list[str] = []
    for _ in range(100):
        left = client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.tasks])
        if not left:
            return
        time.sleep(0.1)
    raise Defect(f"{verb} leaves {len(left)} tasks on the scheduler")


@cache
def _cluster() -> tuple[Any, Any]:
    """Return a cluster whose nannies start killed workers again, and its client."""
    import logging

    import dask
    from distributed import Client, LocalCluster

    dask.config.set({"distributed.scheduler.allowed-failures": 100})
    cluster = LocalCluster(
        n_workers=WORKERS,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    )
    return cluster, Client(cluster, set_as_default=False)


PART = Part(
    name="faults",
    promise="When workers are killed or stopped at any moment of `map`, `run` and `compute` on "
    "Dask, all results come, or an error that has those there are; nothing stays on the cluster.",
    attempt=attempt,
    goals={"kills": 500},
    share=1.5,
    patience=150.0,
    memory=None,
)
