"""Calibrate, plan and run in one call."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from makespan.core.errors import ExecutionError
from makespan.core.inputs.suggest import suggesting
from makespan.divisible.model.platform import Master, Star
from makespan.divisible.problem import DivisibleLoad
from makespan.execute.dask.cluster.calibrate import calibrate
from makespan.execute.dask.cluster.calibration import MASTER_NAME, Calibration
from makespan.execute.dask.cluster.client import client_or_local, on_loop, pickled
from makespan.execute.dask.cluster.crew import present
from makespan.execute.dask.cluster.items import Items
from makespan.execute.dask.execution import Execution
from makespan.execute.dask.graphs.compute import forget_graphs
from makespan.execute.dask.maps.estimates import Estimates
from makespan.execute.dask.maps.order import Order, transfers_of
from makespan.execute.dask.maps.rounds import Ports, Shares, best_plan, plan
from makespan.execute.dask.maps.run import Job, carry_out
from makespan.execute.dask.maps.runner import Replan
from makespan.execute.progress import Progress, Tell, teller
from makespan.flow.result import Result

SAMPLE_SHARE = 0.125  # of the items, for the calibration
MIN_ITEMS = 8  # a worker: with fewer items there is nothing to plan
MIN_TAIL = 0.1  # uncertainty from which the end of the load is dealt out
MAX_TAIL = 0.4
CALIBRATION_SECONDS = 1.0  # a worker; see calibrate
SENDS = {"one-port": 1, "shared-link": 2, "own-links": None}  # at a time, of what is dealt out
ROUNDS_AGAIN = (4, 8)  # for what is planned again in haste

_KNOWN: WeakKeyDictionary[Any, dict[Any, tuple[Calibration, dict[float, Result]]]] = (
    WeakKeyDictionary()
)


@suggesting
def map(  # noqa: A001
    function: Callable[[Any], Any],
    data: Any,
    client: Any = None,
    *,
    batched: bool = False,
    adaptive: bool = True,
    calibration: Calibration | None = None,
    keep_going: bool = False,
    progress: Progress = True,
) -> Execution:
    """Apply a function to all items of the data on a Dask cluster, by a plan made for it.

    The cluster is measured first, unless it was before with this function and the same workers;
    then the load is planned on what was measured, and the plan is run.

    Parameters
    ----------
    function, data, client, batched, keep_going, progress
        As everywhere in :mod:`makespan.execute.dask`.
    adaptive
        Whether to plan again what is not sent yet when measured speeds leave the band of the
        calibration, or workers join or leave; and to deal out the end of the load in pieces that
        grow smaller, the more the less certain the calibration is.
    calibration
        What :func:`calibrate` measured, to be used in place of a new measurement.

    Returns
    -------
    Execution
        ``results`` in the order of the data; the plan, and what was measured.

    Raises
    ------
    ItemsFailed, ExecutionError, InputError
        As for :func:`run` and :func:`calibrate`.

    Source: Y. Yang, H. Casanova, RUMR: Robust scheduling for divisible workloads, HPDC 2003, for
    the tail of decreasing pieces, whose share follows the uncertainty.
    """
    items = Items(data)
    sent = pickled(function)
    with client_or_local(client) as used, teller(progress) as tell:
        made = None
        if len(items) > 1:
            there = on_loop(used, lambda: present(used))
            if len(items) >= MIN_ITEMS * max(1, len(there)):
                key = _key(there, sent, items, batched)
                calibration = calibration or _calibrated(used, key, function, items, batched, tell)
                made = _planned(used, key, calibration, items, len(there))
        bands = {w.name: w.band for w in calibration.workers} if calibration is not None else {}
        problem = made.problem if made is not None else None
        workers = calibration.star(waits=0.0).workers if calibration is not None else ()
        promised = (made.makespan or 0.0) if made is not None else 0.0
        estimates = Estimates(workers, bands, promised)
        job = Job(
            function=sent,
            items=items,
            batched=batched,
            plan=made,
            estimates=estimates,
            sends=SENDS[calibration.sharing.kind] if calibration is not None else None,
            tell=tell,
            replan=_replanner(estimates, problem) if adaptive else None,
            tail=_tail(max(bands.values(), default=0.0)) if adaptive else 0.0,
            calibration=calibration,
            overlap=calibration is not None and calibration.ports == "many",
        )
        return carry_out(used, job, keep_going=keep_going)


@suggesting
def forget(client: Any) -> None:
    """Forget what was measured on a client's cluster, so that it is measured again."""
    _KNOWN.pop(client, None)
    forget_graphs(client)


def _key(there: Sequence[tuple[str, int]], sent: bytes, items: Items, batched: bool) -> Any:
    """Return what a calibration depends on: workers, function, and the kind of the data."""
    kind = (type(items.data).__name__, getattr(items.data, "dtype", None))
    shape = getattr(items.data, "shape", (0,))[1:]
    return tuple(sorted(there)), hashlib.sha256(sent).digest(), (*kind, shape), batched


def _calibrated(
    client: Any, key: Any, function: Callable[[Any], Any], items: Items, batched: bool, tell: Tell
) -> Calibration:
    """Return what is known of the cluster, measured now if it was not before."""
    known = _KNOWN.setdefault(client, {})
    if key not in known:
        sample = items.spread(math.ceil(SAMPLE_SHARE * len(items)))
        found = calibrate(
            function,
            sample.data,
            client,
            batched=batched,
            time_limit=CALIBRATION_SECONDS,
            progress=tell,
        )
        known[key] = (found, {})
    return known[key][0]


def _planned(client: Any, key: Any, calibration: Calibration, items: Items, workers: int) -> Result:
    """Return the plan for these items, the same as before where nothing changed."""
    entry = _KNOWN.get(client, {}).get(key)
    plans = entry[1] if entry is not None and entry[0] is calibration else {}
    if items.load not in plans:
        rounds = max(1, len(items) // max(1, workers))
        plans[items.load] = plan(calibration, items.load, most_rounds=rounds)
    return plans[items.load]


def _tail(uncertainty: float) -> float:
    """Return the share of the load that is dealt out at the end."""
    return min(MAX_TAIL, uncertainty) if uncertainty >= MIN_TAIL else 0.0


def _replanner(estimates: Estimates, problem: Any) -> Replan:
    """Return what plans a load again on the costs observed; the tail of it stays in the pool."""
    ports: Ports = problem.ports if isinstance(problem, DivisibleLoad) else "many"
    uplink = getattr(problem.star.master, "uplink", None) if problem is not None else None

    def replan(
        load: float, names: Sequence[str], first: int
    ) -> tuple[Sequence[tuple[str, float]], Order] | None:
        off = estimates.farthest
        estimates.accept()

        def platform(waits: Shares, taken: Ports) -> Star:
            shared = uplink if taken == "many" else None
            return estimates.star(names, Master(name=MASTER_NAME, uplink=shared))

        try:
            share = 1.0 - _tail(off)
            found = best_plan(platform, load * share, ports=ports, rounds=ROUNDS_AGAIN)
        except ExecutionError:
            return None
        schedule = found.schedule
        assert schedule is not None
        assert isinstance(found.problem, DivisibleLoad)
        return _renumbered(schedule, found.problem, first)

    return replan


def _renumbered(
    schedule: Any, problem: DivisibleLoad, first: int
) -> tuple[Sequence[tuple[str, float]], Order]:
    from dataclasses import replace

    transfers = transfers_of(schedule)
    sends = [transfer for transfer in transfers if transfer.activity.word == "send"]
    number = {transfer.item: first + place for place, transfer in enumerate(sends)}
    amounts = {
        int(item): float(amount)
        for item, amount, kind in zip(schedule.item, schedule.amount, schedule.kind, strict=True)
        if kind == sends[0].activity
    }
    renumbered = [replace(transfer, item=number[transfer.item]) for transfer in transfers]
    return [(send.worker, amounts[send.item]) for send in sends], Order(renumbered, problem)
