"""Dask under faults: processes killed, stopped and restarted in every phase of a run."""

from __future__ import annotations

import logging
from functools import cache
from multiprocessing.util import Finalize
from typing import Any

from campaign.part import Defect, Part, Skipped, Trial
from tests.sources import is_installed

KILLS = ("kill", "restart", "kill", "memory")
OTHERS = 0.2  # of the faults are drawn from all


def attempt(trial: Trial) -> None:
    """Let one fault happen in one phase of a map, a run or a compute."""
    if not is_installed("makespan.execute.dask"):
        raise Skipped("makespan-dask is not installed")
    from campaign.faulty_cluster import CLUSTER_FAULTS, PHASES, WHATS, WORKER_FAULTS

    rng = trial.random("make")
    what, phase = rng.choice(WHATS), rng.choice(PHASES)
    others = (*WORKER_FAULTS, rng.choice(CLUSTER_FAULTS))
    fault = rng.choice(others) if rng.random() < OTHERS else rng.choice(KILLS)
    if (what, phase) == ("run", "measuring"):
        phase = "sending"  # a run does not measure
    try:
        outcome = _cluster().run(rng.getrandbits(30), what, fault, phase)
        if outcome.wrong:
            raise Defect(f"{what}, {fault} while {phase}: {outcome.wrong[0][-400:]}")
        if fault in WORKER_FAULTS and outcome.ended != "complete":
            raise Defect(f"{what}, {fault} while {phase}: {outcome.ended}: {outcome.error}")
    except Exception:
        _end_cluster()  # what is left on it would be a defect of the next try, too
        raise
    if outcome.struck:
        trial.count("faults")
        trial.count("kills" if fault in KILLS else f"faults: {fault}")


@cache
def _cluster() -> Any:
    from campaign.faulty_cluster import Faulty

    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    cluster = Faulty()
    Finalize(None, _end_cluster, exitpriority=10)  # a worker runs no handlers of atexit
    return cluster.__enter__()


def _end_cluster() -> None:
    """End the cluster; the next try has a new one."""
    if _cluster.cache_info().currsize:
        cluster = _cluster()
        _cluster.cache_clear()
        cluster.__exit__()


PART = Part(
    name="faults",
    promise="When workers or the scheduler are killed, stopped or restarted in any phase of `map`, "
    "`run` and `compute` on Dask, all results come, or an error with those there are, within a "
    "stated time; nothing stays on the cluster.",
    attempt=attempt,
    goals={"kills": 500},
    share=2.0,
    patience=150.0,
    memory=None,
)
