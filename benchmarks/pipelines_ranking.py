"""Pipelines: six published heuristics on random settings after their paper, beside ``auto``.

Benoit, Rehn-Sonigo and Robert 2007: links are alike, a machine receives, computes and sends in
turn. Stages hand over ``sizes`` units, 10 a second; machines have whole speeds of 1 to 20. Each
heuristic splits the interval of the longest period again and again, with the fastest machines that
are idle. The first of the six is the method ``splitting`` of the library.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

from benchmarks.table import Table
from makespan import Interconnect, Pipeline, solve
from makespan.core.numeric.arrays import Floats

PAIRS, RATE, HALVINGS, LIMIT, WIDER = 50, 10.0, 20, 0.2, 1.5
STAGES, MACHINES = (10, 40), (10, 100)
SETTINGS: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    "E1: all sizes 10, work 1 to 20": ((10, 10), (1, 20)),
    "E2: sizes 1 to 100, work 1 to 20": ((1, 100), (1, 20)),
    "E3: sizes 1 to 20, work 10 to 1000": ((1, 20), (10, 1000)),
    "E4: sizes 1 to 20, work 0.01 to 10": ((1, 20), (0.01, 10)),
}


class Case(NamedTuple):
    """Seconds that each stage's units hold a link, sums of work, and speeds, fastest first."""

    link: Floats
    work: Floats
    speeds: Floats


class Found(NamedTuple):
    """What a heuristic reaches."""

    period: float
    latency: float


def drawn(setting: str, stages: int, machines: int, seed: int) -> Case:
    """Return a chain and its machines."""
    rng = np.random.default_rng([list(SETTINGS).index(setting), stages, machines, seed])
    sizes, work = SETTINGS[setting]
    speeds = np.sort(rng.integers(1, 20, machines, endpoint=True))[::-1].astype(np.float64)
    sums = np.concatenate([[0.0], np.cumsum(rng.uniform(*work, stages))])
    return Case(rng.uniform(*sizes, stages + 1) / RATE, sums, speeds)


def split(
    case: Case, *, parts: int, both: bool, period: float = 0.0, latency: float = np.inf
) -> Found:
    """Split while the period is longer than asked, a split shortens it, and the latency allows it.

    An interval is cut in ``parts``, in all places, for the machine that has it and those that come
    next. ``both``: the split with the least increase of latency for a decrease of the period is
    taken, the worst of its parts; otherwise the one with the shortest periods.
    """
    last = len(case.work) - 1
    taken = [(0, last, 0)]  # intervals and their machines
    loads = [_load(case, 0, last, 0)]
    now = float(case.link[0] + case.work[-1] / case.speeds[0] + case.link[-1])
    machine = 1
    while max(loads) > period and machine + parts - 2 < len(case.speeds):
        at = int(np.argmax(loads))
        first, end, own = taken[at]
        cuts = np.array([*combinations(range(first + 1, end), parts - 1)], np.int64)
        if not cuts.size:
            break
        orders = np.array([*permutations([own, *range(machine, machine + parts - 1)])])
        edges = np.column_stack([np.full(len(cuts), first), cuts, np.full(len(cuts), end)])
        compute = (case.work[edges[:, 1:]] - case.work[edges[:, :-1]])[:, None] / (
            case.speeds[orders]
        )
        own_loads = compute + (case.link[edges[:, :-1]] + case.link[edges[:, 1:]])[:, None]
        seconds = float(case.work[end] - case.work[first]) / float(case.speeds[own])
        more = compute.sum(axis=2) - seconds + case.link[cuts].sum(axis=1)[:, None]
        allowed = (own_loads.max(axis=2) < loads[at] * (1 - 1e-12)) & (now + more <= latency)
        if not allowed.any():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            worst = (more[:, :, None] / (loads[at] - own_loads)).max(axis=2)
        worth = np.where(allowed, worst if both else own_loads.max(axis=2), np.inf)
        row, order = np.unravel_index(int(worth.argmin()), worth.shape)
        taken[at : at + 1] = [
            (int(low), int(high), int(one))
            for low, high, one in zip(edges[row], edges[row][1:], orders[order], strict=False)
        ]
        loads[at : at + 1] = own_loads[row, order].tolist()
        now += float(more[row, order])
        machine += parts - 1
    return Found(max(loads), now)


def _load(case: Case, first: int, last: int, machine: int) -> float:
    work = (case.work[last] - case.work[first]) / case.speeds[machine]
    return float(case.link[first] + work + case.link[last])


def searched(case: Case, *, period: float = 0.0) -> Found:
    """Search by halving for the least latency within which splits in two reach a period."""
    best = split(case, parts=2, both=True, period=period)
    if best.period > period:
        return best
    low, high = 0.0, best.latency
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        tried = split(case, parts=2, both=True, period=period, latency=middle)
        if tried.period <= period:
            best, high = min(best, tried, key=lambda each: each.latency), middle
        else:
            low = middle
    return best


WITHIN_PERIOD: dict[str, Callable[..., Found]] = {
    "Sp mono P": partial(split, parts=2, both=False),
    "3-Explo mono": partial(split, parts=3, both=False),
    "3-Explo bi": partial(split, parts=3, both=True),
    "Sp bi P": searched,
}
WITHIN_LATENCY: dict[str, Callable[..., Found]] = {
    "Sp mono L": partial(split, parts=2, both=False),
    "Sp bi L": partial(split, parts=2, both=True),
}


def least_period(case: Case) -> float:
    """Return the least period that ``auto`` finds."""
    units = case.link * RATE
    columns = {"work": np.diff(case.work), "data": np.append(units[1:-1], 0.0)}
    machines = Interconnect(len(case.speeds), rate=RATE)
    problem = Pipeline(
        columns, machines, speeds=case.speeds, overlap=False, input=float(units[0]),
        output=float(units[-1]), outside=RATE,
    )  # fmt: skip
    found = solve(problem, time_limit=LIMIT)
    assert found.objective is not None
    return found.objective.value


def measured(setting: str, stages: int, machines: int) -> list[str]:
    """Return the cells of a row."""
    periods, latencies, shorter, auto = [], [], [], []
    for seed in range(PAIRS):
        case = drawn(setting, stages, machines, seed)
        least = np.array([one(case).period for one in WITHIN_PERIOD.values()])
        periods.append(least / least.min())
        auto.append(least_period(case) / least.min())
        within = WIDER * float(least.min())
        found = [one(case, period=within) for one in WITHIN_PERIOD.values()]
        reached = np.array([each.latency if each.period <= within else np.nan for each in found])
        latencies.append(reached / np.nanmin(reached))
        first = split(case, parts=2, both=False, period=np.inf).latency
        ends = [one(case, latency=WIDER * first).period for one in WITHIN_LATENCY.values()]
        shorter.append(np.array(ends) / min(ends))
    missed = np.isnan(np.array(latencies)).sum(axis=0)
    middle = np.nanmean(np.array(latencies), axis=0)
    return [
        " / ".join(f"{value:.2f}" for value in np.mean(periods, axis=0)),
        f"{np.mean(auto):.2f}",
        " / ".join(
            f"{value:.2f}" + (f" ({PAIRS - gone})" if gone else "")
            for value, gone in zip(middle, missed.tolist(), strict=True)
        ),
        " / ".join(f"{value:.2f}" for value in np.mean(shorter, axis=0)),
    ]


def main() -> None:
    """Print and write the table."""
    four, two = " / ".join(WITHIN_PERIOD), " / ".join(WITHIN_LATENCY)
    table = Table(
        "pipelines_ranking",
        "Pipelines: published heuristics on random settings",
        f"{PAIRS} chains and sets of machines a row, links alike, no overlap, after Benoit, "
        "Rehn-Sonigo and Robert 2007. Means of ratios to the best of the heuristics that are "
        f"compared: the least period that each reaches, and what `auto` finds in {LIMIT:g} s; "
        f"the latency within {WIDER:g} times the least period, in brackets of how many where some "
        f"fail; the period within {WIDER:g} times the least latency.",
        ("setting", "stages", "machines", f"least period: {four}", "`auto`", f"latency: {four}",
         f"period: {two}"),
        clock="no clock",
    )  # fmt: skip
    for setting in SETTINGS:
        for stages in STAGES:
            for machines in MACHINES:
                table.add(setting, stages, machines, *measured(setting, stages, machines))
    table.write()


if __name__ == "__main__":
    main()
