"""Collectives on 12 to 24 unlike machines: how far plans are from their bounds.

``python -m benchmarks.unlike PLANS.json [--cases 2] [--seeds 1 2] [--before OTHER.json] [--many]``:
the families of ``benchmarks/ground_truth.py``, larger, each case planned for 2 s of CPU time, so
that what else the machine does counts for little; with ``--many``, all-reduces of 16 times as many
segments. Plans are kept in the file; those that it has are not made again. With ``--before``, a
column shows the gaps of another run of the same cases.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.ground_truth import COLLECTIVES, LINKS, SECONDS, case
from benchmarks.table import Table, keep, kept_in
from makespan import solve
from makespan.core.system.startup import by_processor

MANY = 16  # times as many segments


def main() -> None:
    """Plan what is missing, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plans", type=Path)
    parser.add_argument("--cases", type=int, default=2)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--before", type=Path)
    parser.add_argument("--many", action="store_true")
    given = parser.parse_args()
    known = kept_in(given.plans)
    before = None if given.before is None else kept_in(given.before)
    collectives = ["all-reduce"] if given.many else COLLECTIVES
    families = [(links, collective) for collective in collectives for links in LINKS]
    numbers = [(seed, number) for seed in given.seeds for number in range(given.cases)]
    names = {
        (links, collective): [f"{collective} {links} {seed} {number}" for seed, number in numbers]
        for links, collective in families
    }
    for place, seed in enumerate(numbers):
        for links, collective in families:
            name = names[links, collective][place]
            if name not in known:
                problem = case(links, collective, seed, middle=True)
                if given.many:
                    problem = replace(problem, segments=MANY * problem.items)
                with by_processor():
                    result = solve(problem, time_limit=SECONDS)
                known[name] = [result.makespan, result.lower_bound, result.method]
                keep(given.plans, known)
    table = Table(
        "unlike_many" if given.many else "unlike",
        f"{'Many segments' if given.many else 'Collectives'} on 12 to 24 unlike machines: gaps",
        f"Gap of plan to bound: median and worst. {'32 to 128' if given.many else '2 to 8'} "
        "segments, whole times, 2 s of CPU time; "
        f"{len(numbers)} cases a family.",
        ("collective", "links", *(["gap before"] if before else []), "gap", "proved"),
        clock="CPU time",
    )
    for (links, collective), each in names.items():
        shown = [_gaps(found, each) for found in (before, known) if found]
        proved = sum(known[name][0] <= known[name][1] * (1 + 1e-9) for name in each)
        table.add(collective, links, *shown, f"{proved} of {len(each)}")
    table.write()


def _gaps(known: dict[str, list[float]], names: list[str]) -> str:
    gaps = [100 * (known[name][0] / known[name][1] - 1) for name in names]
    return f"{np.median(gaps):.1f} %, {max(gaps):.1f} %"


if __name__ == "__main__":
    main()
