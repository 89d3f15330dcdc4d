"""Collectives on few unlike machines: how far plans and bounds are from proven optima.

``python -m benchmarks.ground_truth PLANS.json [--cases 20] [--seed 20488] [--find]``: optima that
``ground_truth.json`` and the file lack are found by the plain model of
``tests/oracles/reduction_optimum.py``, half a minute each at most, and kept in the file; with
``--find`` no more is done. Then each case is planned for 2 s. A run that was stopped goes on: plans
that the file has are not made again. The optima of 200 cases a family of seed 20488 are kept.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import Table, keep, kept_in
from makespan import Interconnect, Reduction, solve
from tests.oracles.reduction_optimum import optimum

OPTIMA, SEED = Path(__file__).with_suffix(".json"), 20488
SECONDS, ORACLE_SECONDS = 2.0, 30.0
COLLECTIVES = "reduce", "broadcast", "all-reduce"
LINKS = "table", "racks", "ring"


def case(links: str, collective: Any, seed: Sequence[int], *, middle: bool = False) -> Reduction:
    """Return a case of a family: 4 to 6 machines, 1 to 3 segments, whole times.

    With ``middle``, 12 to 24 machines and 2 to 8 segments.

    Of a table, transfers take 2 to 16, of two racks 1 within and 2 to 8 between; of a ring each
    wire takes 1 to 4. Half of the cases have latencies, and half combine in other than no time.
    """
    rng = np.random.default_rng([*seed, LINKS.index(links), COLLECTIVES.index(collective)])
    least, most = (12, 24) if middle else (4, 5 if collective == "all-reduce" else 6)
    count = int(rng.integers(least, most + 1))
    segments = int(rng.integers(2, 9) if middle else rng.integers(1, 4))
    given: dict[str, Any] = {"segments": segments, "collective": collective}
    latency, work = (bool(rng.integers(2)) for _ in range(2))
    if work:
        given["reduce"] = rng.integers(0, 4, count).astype(float)
    if links == "ring":
        each = [
            (f"M{machine + 1}", f"M{(machine + 1) % count + 1}", 1 / float(rng.integers(1, 5)))
            for machine in range(count)
        ]
        network = Interconnect(
            count, topology="links", links=each, latency=float(latency * rng.integers(1, 4))
        )
        return Reduction(network=network, **given)
    if links == "racks":
        rack = np.arange(count) >= (count + 1) // 2
        transfer = np.where(rack[:, None] == rack, 1.0, float(rng.integers(2, 9)))
        lag = np.where(rack[:, None] == rack, 0.0, float(latency * rng.integers(1, 5)))
    else:
        transfer = rng.integers(2, 17, (count, count)).astype(float)
        lag = latency * rng.integers(0, 5, (count, count)).astype(float)
    return Reduction(machines=count, transfer=transfer, latency=lag, **given)


def find(problem: Reduction) -> int | None:
    """Return the optimum, or None where it was not proved in time."""
    plan = solve(problem, time_limit=SECONDS / 2)
    assert plan.makespan is not None
    found = optimum(problem, plan.makespan, seconds=ORACLE_SECONDS)
    return found.makespan if found.makespan == found.bound else None


def main() -> None:
    """Find the optima that are missing, measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plans", type=Path)
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--find", action="store_true")
    given = parser.parse_args()
    known = {**kept_in(OPTIMA), **kept_in(given.plans)}
    families = [(links, collective) for collective in COLLECTIVES for links in LINKS]
    for links, collective in families:
        for number in range(given.cases):
            name = f"{collective} {links} {given.seed} {number}"
            if name not in known:
                known[name] = find(case(links, collective, (given.seed, number)))
                keep(given.plans, known)
    if given.find:
        return
    columns = (
        "collective",
        "links",
        "cases",
        "plan optimal",
        "plan above",
        "bound below",
        "proved",
    )
    table = Table(
        "ground_truth",
        "Collectives on few unlike machines: distance to the optimum",
        "Plans of 2 s and their bounds, in percent of the optimum that a plain model for CP-SAT "
        "proves: median, 95 % of the cases, worst. 4 to 6 machines (all-reduce: 5), 1 to 3 "
        f"segments, whole times; {given.cases} cases a family, less those that the model leaves "
        "open after half a minute.",
        columns,
        clock="wall time",
    )
    for links, collective in families:
        above, below, proved = [], [], 0
        for number in range(given.cases):
            best = known[f"{collective} {links} {given.seed} {number}"]
            if best is None:
                continue
            name = f"plan {collective} {links} {given.seed} {number}"
            if name not in known:
                result = solve(case(links, collective, (given.seed, number)), time_limit=SECONDS)
                known[name] = [result.makespan, result.lower_bound, result.status]
                keep(given.plans, known)
            makespan, bound, status = known[name]
            above.append(100 * (makespan / best - 1))
            below.append(100 * (1 - bound / best))
            proved += status == "optimal"
        met = sum(each < 1e-6 for each in above)
        count = len(above)
        row = [collective, links, count, f"{met} of {count}"]
        table.add(*row, _shown(above), _shown(below), f"{proved} of {count}")
    table.write()


def _shown(percents: list[float]) -> str:
    found = np.quantile(percents, (0.5, 0.95, 1.0), method="higher")
    return ", ".join(f"{max(0.0, each):.1f} %" for each in found)


if __name__ == "__main__":
    main()
