"""Experiments on the command line: ``compare`` with seeds, with processes, or of a file."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
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
}


TABLES = (".csv", ".jsonl", ".json", ".parquet")


def asks_for_one(files: tuple[str, ...], outputs: tuple[str, ...], **given: Any) -> bool:
    """Whether a call of ``compare`` asks for an experiment: a table with a row a solve."""
    from makespan.lab.statement import is_experiment

    if any(value is not None for value in given.values()):
        return True
    if any(Path(output).suffix.lower() in (".parquet", ".jsonl") for output in outputs):
        return True
    return len(files) == 1 and is_experiment(files[0])


def run(
    files: tuple[str, ...],
    *,
    given: Mapping[str, Any],
    outputs: tuple[str, ...],
    parts: Mapping[str, Any],
    jobs: int | None,
    scheduler: str | None,
    others: Mapping[str, Any],
) -> int:
    """Run the experiment of a file, or of options; ``given`` replace what the file says.

    ``parts`` are those of its problems. Of the ``outputs`` one is the table, the others reports.
    """
    from makespan.flow.files.files import refuse_target
    from makespan.lab.experiment import Experiment
    from makespan.lab.overview import Overview, report
    from makespan.lab.run import experiment
    from makespan.lab.statement import asked_in, is_experiment

    for name, reason in REFUSED.items():
        if others.get(name):
            raise click.UsageError(reason)
    tables = [output for output in outputs if Path(output).suffix.lower() in TABLES]
    reports = [output for output in outputs if output not in tables]
    asked_for = {name: value for name, value in given.items() if value is not None}
    if len(files) == 1 and is_experiment(files[0]):
        asked = asked_in(files[0])
        asked_for = {**asked.parts, **asked_for, "parts": {**asked.parts["parts"], **parts}}
        if jobs is None and scheduler is None:
            jobs, scheduler = asked.jobs, asked.scheduler
        tables = [str(asked.output)] if not tables and asked.output else tables
    else:
        asked_for = {"instances": list(files), **asked_for, "parts": parts}
        if "methods" not in asked_for:
            raise click.UsageError("--methods says what an experiment compares: heft,peft,auto")
    if len(tables) != 1:
        found = f"; {' and '.join(tables)} are several" if tables else ""
        allowed = ", ".join(TABLES)
        raise click.UsageError(f"-o names one table of an experiment: {allowed}{found}")
    (output,) = tables
    for each in reports:
        refuse_target(each, *Overview.SUFFIXES)
    if jobs is not None and scheduler is not None:
        raise click.UsageError("--jobs and --scheduler say two places; choose one")
    with headed(files[0] if len(files) == 1 and "folder" in asked_for else ""):
        wanted = Experiment(**asked_for)
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
    if reports and len(results):
        parameters.save_each(report(results), reports)
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
        yield import_module("makespan.execute.dask").Workers(client)


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
