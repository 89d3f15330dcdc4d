"""Schedule → who gets how much, in which order."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.machines import Master
from makespan.divisible.model.plan import computed, is_priced, price_of, rounds_of, sends_by_start
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.tree import Tree
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import matched

SHOWN = 20


def answer(problem: DivisibleLoad, schedule: Schedule) -> dict[str, Any]:
    """Return loads, order, rounds, chunks, the order of returns, the master, and a price if any.

    ``loads`` holds every machine, ``chunks`` are in the order of sending with rounds counted
    from 1, ``order`` names the workers by their first send.
    """
    problem, schedule = matched(problem, schedule)
    names = problem.machines
    if isinstance(problem.platform, Sources):
        return _of_sources(problem, problem.platform, schedule)
    sends = schedule.rows_of(Activity.SEND)
    workers = schedule.peer[sends]
    rounds = rounds_of(workers.tolist())
    returns = schedule.rows_of(Activity.RETURN)
    amounts = computed(schedule).tolist()
    priced = problem.is_star and is_priced(problem.star)
    price = {"price": price_of(problem.star, schedule)} if priced else {}
    return {
        "loads": {names[index]: amounts[index] for index in _computing(problem)},
        "order": [names[index] for index in _served(schedule).tolist()],
        "rounds": max(rounds, default=-1) + 1,
        "chunks": [
            {"worker": names[worker], "amount": amount, "round": number + 1}
            for worker, amount, number in zip(
                workers.tolist(), schedule.amount[sends].tolist(), rounds, strict=True
            )
        ],
        "return_order": [names[index] for index in schedule.machine[returns].tolist()],
        "master": names[problem.holders[0]],
        **price,
    }


def _of_sources(problem: DivisibleLoad, platform: Sources, schedule: Schedule) -> dict[str, Any]:
    """Return loads, order, rounds and chunks; of each chunk its source, and what sources send."""
    names, sends = schedule.machines, sends_by_start(schedule)
    source, peer, amount = (
        column[sends].tolist() for column in (schedule.machine, schedule.peer, schedule.amount)
    )
    links: dict[tuple[int, int], int] = {}
    chunks = []
    for link, units in zip(zip(source, peer, strict=True), amount, strict=True):
        links[link] = links.get(link, 0) + 1
        chunks.append(
            {"source": names[link[0]], "worker": names[link[1]], "amount": units}
            | {"round": links[link]}
        )
    count = len(platform.source_names)
    sent = np.bincount(schedule.machine[sends], schedule.amount[sends], minlength=count)
    amounts = computed(schedule).tolist()
    return {
        "loads": {names[index]: amounts[index] for index in _computing(problem)},
        "order": [names[index] for index in dict.fromkeys(peer)],
        "rounds": max(links.values(), default=0),
        "chunks": chunks,
        "sends": dict(zip(platform.source_names, sent.tolist(), strict=False)),
    }


def _served(schedule: Schedule) -> Integers:
    peers = schedule.peer[schedule.rows_of(Activity.SEND)]
    return peers[np.sort(np.unique(peers, return_index=True)[1])]


def _computing(problem: DivisibleLoad) -> Sequence[int]:
    platform = problem.platform
    if isinstance(platform, Tree):
        return [int(node) for node in np.flatnonzero(platform.computes)]
    if isinstance(platform, Sources):
        own = np.flatnonzero(platform.computes).tolist()
        return [*own, *range(len(platform.source_names), len(problem.machines))]
    alone = isinstance(platform.master, Master) and platform.master.compute is None
    return range(1 if alone else 0, len(problem.machines))


def lines(problem: DivisibleLoad, schedule: Schedule, *, most: int = SHOWN) -> list[str]:
    """Return the loads as a table: name, load, share, and when the machine is done."""
    problem, schedule = matched(problem, schedule)
    names, holders, computing = problem.machines, problem.holders, _computing(problem)
    loads = computed(schedule)
    ends = np.zeros(len(names))
    np.maximum.at(ends, schedule.machine, schedule.end)
    total = loads.sum() or 1.0
    at_home = [root for root in holders if loads[root] > 0]
    shown = [*at_home, *_served(schedule)[:most].tolist()]
    width = max([7, *(len(names[index]) for index in shown)])
    table = [f"{'machine':<{width}}  {'load':>14}  {'share':>7}  {'done':>14}"]
    for index in shown:
        table.append(
            f"{names[index]:<{width}}  {loads[index]:>14.8g}  "
            f"{100 * loads[index] / total:>6.2f}%  {ends[index]:>14.8g}"
        )
    busy = int((loads > 0).sum())
    more = busy - sum(loads[index] > 0 for index in shown)
    if more > 0:
        table.append(f"… and {more} more machines")
    workers = len(computing) - sum(root in computing for root in holders)
    idle = workers - busy + len(at_home)
    if idle > 0:
        table.append(f"{idle} of {workers} workers get nothing")
    if problem.is_star and is_priced(problem.star):
        table.append(f"price {price_of(problem.star, schedule):.8g}")
    return table
