"""Recorded workflows: what is predicted from other runs of their engine beside what was measured.

git clone https://github.com/wfcommons/WfInstances
python -m benchmarks.predict_traces WfInstances

Engines and the data that they move take most of the time of these runs. So overheads are fitted to
other runs, none of the same configuration: the measured makespan of a run is only compared.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.table import Table
from makespan.core.numeric.arrays import Floats
from makespan.flow.predict import SHARE, calibrated, engine_of, machines_of, read_run
from makespan.flow.replay import Engine, Overheads

NOISE, RUNS = 0.1, 50
REPEAT = re.compile(r"-\d{3}$")  # what tells the repetitions of a configuration apart


class Instance(NamedTuple):
    """A recorded run, what it is a repetition of, and by which runs it may be predicted."""

    engine: str
    workflow: str
    configuration: str
    measured: float
    run: Engine
    works: int


def main() -> None:
    """Print and write the table."""
    instances = list(_instances(Path(sys.argv[1])))
    table = Table(
        "predict",
        "Predicted makespans of recorded workflows",
        f"{len(instances)} runs of WfInstances that say their machines and makespans, on these "
        "machines. Error: how far the predicted makespan is from the measured one, relative to "
        "that, median and 90 % quantile. Without overheads: tasks and cores alone. By other runs: "
        "overheads fitted to the other runs of the workflow, none of the same configuration (of "
        "Nextflow: to the other workflows, as each was run once). By other workflows: fitted to "
        "all other workflows of the engine. Within: runs that took what the interval of "
        f"{SHARE:.0%} says, with durations that are off by {NOISE:.0%}.",
        (
            *("engine", "workflow", "runs", "without overheads", "by other runs", "90 %"),
            *("within", "by other workflows"),
        ),
        clock="recorded time",
    )
    rows: list[tuple[Instance, float, float, bool, float]] = []
    rng = np.random.default_rng(0)
    for each in instances:
        own = [other for other in instances if other.workflow == each.workflow]
        if each.engine == "nextflow":
            own = [other for other in instances if other.engine == each.engine]
        rows.append(_row(each, own, instances, rng))
        print(*rows[-1][0][:3], *rows[-1][1:], flush=True)
    workflows = dict.fromkeys((row[0].engine, _shown(row[0])) for row in rows)
    for engine, workflow in workflows:
        _add(table, engine, workflow, [row for row in rows if _shown(row[0]) == workflow])
    _add(table, "all", "all", rows)
    table.write()


CACHE: dict[tuple[str, ...], tuple[Overheads, tuple[float, ...]]] = {}


def _fitted(others: Iterable[Instance]) -> tuple[Overheads, tuple[float, ...]]:
    runs = list(others)
    key = tuple(f"{each.workflow} {each.configuration} {each.measured}" for each in runs)
    if key not in CACHE:
        found = calibrated([each.run for each in runs], [each.measured for each in runs])
        CACHE[key] = found.overheads, tuple(found.ratios)
    return CACHE[key]


def _row(
    each: Instance, own: list[Instance], all_of: list[Instance], rng: np.random.Generator
) -> tuple[Instance, float, float, bool, float]:
    overheads, ratios = _fitted(other for other in own if other.configuration != each.configuration)
    bare, end = each.run.run(Overheads()).end, each.run.run(overheads).end
    ends: Floats = np.array(
        [
            each.run.run(overheads, rng.normal(1.0, NOISE, each.works).clip(0.0).tolist()).end
            for _ in range(RUNS)
        ]
    ) * rng.choice(ratios, RUNS)
    low, high = np.quantile(ends, [(1 - SHARE) / 2, (1 + SHARE) / 2])
    others = [
        other for other in all_of if other.engine == each.engine and other.workflow != each.workflow
    ]
    apart = each.run.run(_fitted(others)[0]).end if others else np.nan
    errors = [abs(found / each.measured - 1) for found in (bare, end, apart)]
    return each, errors[0], errors[1], bool(low <= each.measured <= high), errors[2]


def _instances(folder: Path) -> Iterable[Instance]:
    for path in sorted(folder.rglob("*.json")):
        found = read_run(path)
        if found.makespan is None or not found.machines:
            continue
        engine, workflow = path.relative_to(folder).parts[0], path.stem.partition("-")[0]
        if engine == "helloworld":  # by Pegasus; a chain, and a fork with its join
            engine = "pegasus"
        configuration = REPEAT.sub("", path.stem)
        run = engine_of(found, machines_of(None, found))
        yield Instance(engine, workflow, configuration, found.makespan, run, len(found.dag))


def _shown(each: Instance) -> str:
    return "15 of nf-core" if each.engine == "nextflow" else each.workflow


def _add(
    table: Table, engine: str, workflow: str, rows: list[tuple[Instance, float, float, bool, float]]
) -> None:
    _, bare, errors, within, apart = zip(*rows, strict=True)
    table.add(
        *(engine.capitalize() if engine != "all" else "all", workflow, len(rows)),
        *(f"{100 * np.median(bare):.1f} %", f"{100 * np.median(errors):.1f} %"),
        f"{100 * np.quantile(errors, 0.9):.0f} %",
        f"{sum(within)} of {len(rows)}",
        f"{100 * np.nanmedian(apart):.0f} %",
    )


if __name__ == "__main__":
    main()
