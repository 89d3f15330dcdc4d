"""Experiments on the command line: ``compare`` with seeds, with processes, or of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from makespan.cli import parameters
from makespan.cli.process import DONE, INTERRUPTED
from makespan.cli.progress import ProgressLine
from makespan.core.errors import headed

REFUSED = {
    "seed": "an experiment takes --seeds",
    "as_json": "rows of an experiment stand in the file of -o",
    "picture": "a picture shows a comparison; an experiment is a table",
    "parts": "an experiment takes each file as it is",
}


def asks_for_one(files: tuple[str, ...], output: str | None, **given: Any) -> bool:
    """Whether a call of ``compare`` asks for an experiment: a table with a row a solve."""
    from makespan.lab.statement import is_experiment

    if any(value is not None for value in given.values()):
        return True
    if output is not None and Path(output).suffix.lower() in (".parquet", ".jsonl"):
        return True
    return len(files) == 1 and is_experiment(files[0])


def run(
    files: tuple[str, ...],
    *,
    given: Mapping[str, Any],
    output: str | None,
    jobs: int | None,
    scheduler: str | None,
    others: Mapping[str, Any],
) -> int:
    """Run the experiment of a file, or of options; ``given`` replace what the file says."""
    from makespan.lab.experiment import Experiment
    from makespan.lab.run import experiment
    from makespan.lab.statement import asked_in, is_experiment

    for name, reason in REFUSED.items():
        if others.get(name):
            raise click.UsageError(reason)
    parts = {name: value for name, value in given.items() if value is not None}
    if len(files) == 1 and is_experiment(files[0]):
        asked = asked_in(files[0])
        parts = {**asked.parts, **parts}
        if jobs is None and scheduler is None:
            jobs, scheduler = asked.jobs, asked.scheduler
        output = str(asked.output) if output is None and asked.output else output
    else:
        parts = {"instances": list(files), **parts}
        if "methods" not in parts:
            raise click.UsageError("--methods says what an experiment compares: heft,peft,auto")
    if output is None:
        raise click.UsageError("-o names the file of an experiment: .csv, .jsonl, .json, .parquet")
    if jobs is not None and scheduler is not None:
        raise click.UsageError("--jobs and --scheduler say two places; choose one")
    with headed(files[0] if len(files) == 1 and "folder" in parts else ""):
        wanted = Experiment(**parts)
    _refuse_among_instances(output, files)
    line = ProgressLine("solving")

    def tell(done: int, total: int, left: float | None) -> None:
        rest = "" if left is None else f", about {_duration(left)} left"
        line.say(f"{done:,} of {total:,} solves{rest}")

    with _where(scheduler) as where, line.shown():
        results = experiment(wanted, output=output, jobs=jobs, where=where, progress=tell)
    parameters.say(str(results))
    for note in results.notes:
        parameters.print_error(f"note: {note}")
    before = f", {results.before:,} of them there before" if results.before else ""
    parameters.say(f"{output} written: {len(results):,} rows{before}")
    if results.interrupted:
        click.echo("interrupted: the same command goes on", err=True)
    return INTERRUPTED if results.interrupted else DONE


@contextmanager
def _where(scheduler: str | None) -> Iterator[Any]:
    """Give the workers of a scheduler; None where none is named."""
    if scheduler is None:
        yield None
        return
    from makespan.cli.cluster import connected

    with connected(scheduler) as client:
        from makespan.execute.dask.experiments import Workers

        yield Workers(client)


def _refuse_among_instances(output: str, files: tuple[str, ...]) -> None:
    """Refuse a table in a folder of instances where it would be taken for one the next time."""
    folder = Path(output).resolve().parent
    if Path(output).suffix.lower() == ".json" and folder in {Path(f).resolve() for f in files}:
        raise click.UsageError(f"{output}: lies in a folder of instances; choose another")


def _duration(seconds: float) -> str:
    """Return a time to wait in words.

    >>> _duration(7.2), _duration(500), _duration(9000)
    ('7 s', '8 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
