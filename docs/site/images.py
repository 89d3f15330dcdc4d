"""Draw the pictures of the pages anew: ``python docs/site/images.py``.

Those of Dask are drawn by what measures them, screenshots of pages are taken by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import makespan
from makespan import Affine, DivisibleLoad, Reduction, Star, Worker

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
CREW = (
    Worker(send=Affine(0.1, 0.2), compute=Affine(0.2, 1.0), return_=0.05),
    Worker(send=Affine(0.05, 0.1), compute=Affine(0.1, 2.0), return_=0.05),
    Worker(send=Affine(0.1, 0.4), compute=Affine(0.3, 0.8), return_=0.05),
)


def lecture(folder: Path) -> None:
    """Draw the exercise of task graphs."""
    spec = spec_from_file_location("draw", ROOT / "examples" / "lecture" / "draw.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(folder)


def reductions(folder: Path) -> None:
    """Draw the notebook's optimum, the true one, and that by its transfers."""
    times = {"machines": 4, "segments": 4, "latency": 1, "transfer": 1, "reduce": 1}
    makespan.save(
        makespan.solve(Reduction(**times, order="greedy")), folder / "reduction-notebook.svg"
    )
    best = makespan.solve(Reduction(**times))
    makespan.save(best, folder / "reduction-true.svg")
    makespan.save(best, folder / "transfers.svg", by="transfer")


def rounds(folder: Path) -> None:
    """Draw a load in one round, in several, and with results: what is found by the clock."""
    plain = Star([Worker(send=each.send, compute=each.compute) for each in CREW])
    for name, platform, asked in (
        ("one", plain, {}),
        ("many", plain, {"rounds": "auto"}),
        ("returns", Star(CREW), {"rounds": 5}),
    ):
        problem = DivisibleLoad(load=40, platform=platform, **asked)
        method = "sends-first" if name == "returns" else "auto"
        makespan.save(makespan.solve(problem, method=method), folder / f"rounds-{name}.svg")


def gpus(folder: Path) -> None:
    """Draw the front of time and energy of the batch over unlike GPUs."""
    batch = ROOT / "examples" / "mixed_gpus" / "gpus.csv"
    front = makespan.read_problem(batch, tasks=512, objective="pareto", interpolation="linear")
    makespan.save(makespan.solve(front), folder / "gpus-front.svg", view="front")


def layers(folder: Path) -> None:
    """Draw which of three unlike GPUs takes which layers for the least period."""
    example = ROOT / "examples" / "unlike_gpus" / "gpus.toml"
    problem = makespan.read_problem(example, objective="period")
    makespan.save(makespan.solve(problem), folder / "layers-mapping.svg", view="mapping")


def allreduce(folder: Path) -> None:
    """Draw who sends to whom in an all-reduce of four machines."""
    times = {"machines": 4, "segments": 2, "latency": 1, "transfer": 1, "reduce": 1}
    result = makespan.solve(Reduction(**times, collective="all-reduce"))
    makespan.save(result, folder / "allreduce.svg", view="graph")


def landscape(folder: Path) -> None:
    """Draw a map of small graphs, and the worst that a short search finds for HEFT."""
    options = {"size": [6, 12, 20], "machines": [2, 4], "ccr": [0.1, 1.0, 5.0]}
    grid = makespan.Grid("taskgraph", options=options, seeds=6)
    methods = ["heft", "cpop", "peft", "min-min"]
    results = makespan.experiment(makespan.Experiment(grid, methods=methods))
    found = makespan.adversary("heft", "taskgraph", chains=1, iterations=120, time_limit=None)
    makespan.save(makespan.landscape(results, corners=[found.problem]), folder / "landscape.svg")


SURE: tuple[Callable[[Path], None], ...] = (lecture, reductions, allreduce)
"""Those that are the same whenever they are drawn."""

if __name__ == "__main__":
    for draw in (*SURE, rounds, gpus, layers, landscape):
        draw(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
