"""Traces of runs and their graphs with bytes changed: they are read, or refused in words."""

from __future__ import annotations

import math
import random
from functools import cache
from pathlib import Path

from campaign import corpus
from campaign.byte_level import changed
from campaign.part import Defect, Part, Trial
from campaign.reading import check_refusal
from makespan import InputError
from makespan.flow.predict import read_run
from makespan.taskgraph.formats.traces import Trace

FOLDER = corpus.FOLDER / "traces"
GRAPHS = {
    "nextflow.txt": "nextflow.dot",
    "bench/align/a.tsv": "snakemake.dot",
    "ninja_log.txt": "ninja.dot",
    "stream.json": "stream_graph.json",
    "workflow.json": None,
}
"""The graph of each trace."""


@cache
def samples() -> dict[str, bytes]:
    """Return the files by name."""
    paths = [path for path in sorted(FOLDER.rglob("*")) if path.is_file()]
    return {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in paths}


def attempt(trial: Trial) -> None:
    """Read a trace, or the graph of one, that is changed."""
    rng = trial.random("make")
    trace = rng.choice(list(GRAPHS))
    graph = GRAPHS[trace]
    about_graph = graph is not None and rng.random() < 0.3
    name, content = trial.given or _made(graph if about_graph and graph else trace, rng)
    path = trial.holds(name, content)
    trial.count("inputs")
    try:
        if name in GRAPHS.values():
            of = next(each for each, graph in GRAPHS.items() if graph == name)
            found = read_run(FOLDER / of, path)
        else:
            beside = next((g for t, g in GRAPHS.items() if Path(t).name == name and g), None)
            beside = beside if rng.random() < 0.5 else None
            found = read_run(path, None if beside is None else FOLDER / beside)
    except InputError as error:
        check_refusal(error, path, *map(FOLDER.joinpath, samples()))
        trial.count("refused")
        return
    _sound(found)
    trial.count("read")


def _made(name: str, rng: random.Random) -> tuple[str, bytes]:
    content = samples()[name]
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        content = changed(content, rng)
    return Path(name).name, content


def _sound(run: Trace) -> None:
    """Raise Defect if a run holds what no run does."""
    numbers = [*run.dag.work.tolist(), *run.reads, run.setup, run.makespan or 0.0]
    if not all(math.isfinite(each) and each >= 0 for each in numbers):
        raise Defect("a run has a number that is negative or not finite")
    if len(run.reads) != len(run.dag) or not all(each >= 1 for each in run.machines):
        raise Defect("a run has not a number of bytes for each task, or a machine without cores")


PART = Part(
    name="traces",
    promise="A trace of Nextflow, Snakemake, ninja, Dask or in WfFormat with any bytes changed, or "
    "its graph, is read or refused, as above.",
    attempt=attempt,
    goals={"inputs": 100_000},
    share=0.5,
    prepare=samples,
)
