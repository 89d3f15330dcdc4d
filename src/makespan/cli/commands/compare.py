"""The command compare, and what becomes an experiment: seeds, processes, or a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from makespan.cli import parameters
from makespan.cli.cluster import scheduler_option
from makespan.cli.process import DONE, INTERRUPTED
from makespan.cli.progress import ProgressLine
from makespan.core.errors import headed

if TYPE_CHECKING:
    from makespan.flow.comparison.several import Comparisons
    from makespan.flow.comparison.table import Comparison


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


def run_experiment(
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
    line = ProgressLine("solving", logged=True)

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


@click.command("compare")
@parameters.file_argument("files", nargs=-1)
@click.option("--methods", metavar="A,B,C", help="Only these methods; 'auto' may be among them.")
@click.option(
    "--time-limit",
    type=parameters.Seconds(),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="The limit for each method.",
)
@parameters.seed
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    metavar="N",
    help="An experiment: each method N times on each problem, with the seeds 0, 1, …",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="An experiment in N processes; one that dies costs one solve.",
)
@scheduler_option(required=False, says=" An experiment on its workers.")
@parameters.parts
@parameters.as_json
@parameters.output(
    "Write it: .csv, .json, .html, .svg, .png or .pdf; an experiment: one table (.csv, .json, "
    ".jsonl, .parquet), and reports of it (.html, .svg, .png, .pdf, .tex).",
    several=True,
)
@parameters.file_option("--plot", "picture", says="Draw it: .svg, .png, .pdf or .html.")
def command(
    *,
    files: tuple[str, ...],
    methods: str | None,
    time_limit: float,
    seed: int | None,
    seeds: int | None,
    jobs: int | None,
    scheduler: str | None,
    parts: dict[str, Any],
    as_json: bool,
    outputs: tuple[str, ...],
    picture: str | None,
) -> int:
    """Solve each FILE by every method that applies, and print them side by side.

    A folder stands for all problem files in it. A star marks the best. The gap is to the best
    bound that any of the methods proved. Of several files, a summary follows: how often each
    method was best, its values over the best ones (geometric mean and largest), its mean gap, its
    time in all; and a performance profile: on which share of the problems it was within x % of
    the best.

    \b
    makespan compare star.toml
    makespan compare graphs/ --methods heft,peft --time-limit 1 -o methods.csv
    makespan compare gpus.csv --tasks 512 --interpolation linear
    makespan compare graphs/ --machines 8 -o methods.csv -o methods.pdf

    With --seeds, --jobs or --scheduler, into a .parquet or .jsonl file, or of an experiment.toml
    it is an experiment: a row for each solve, written when it is done. The same command goes on
    with a file that is there.

    \b
    makespan compare graphs/ --methods heft,peft,auto --seeds 5 --jobs 2 -o results.parquet
    makespan compare experiment.toml
    """
    from makespan.flow.comparison.compare import comparing, problems_named
    from makespan.flow.comparison.several import Comparisons
    from makespan.flow.files.files import refuse_target

    chosen = _names(methods)
    if asks_for_one(files, outputs, seeds=seeds, jobs=jobs, scheduler=scheduler):
        asked = click.get_current_context().get_parameter_source("time_limit")
        limit = None if asked is ParameterSource.DEFAULT else time_limit
        return run_experiment(
            files,
            given={"methods": chosen, "seeds": seeds, "time_limit": limit},
            outputs=outputs,
            parts=parts,
            jobs=jobs,
            scheduler=scheduler,
            others={"seed": seed, "as_json": as_json, "picture": picture},
        )
    suffixes = Comparisons.SUFFIXES
    for output in outputs:
        refuse_target(output, *suffixes)
    refuse_target(picture, *suffixes[2:])
    problems, left_out = problems_named(files, parts)
    for other in left_out:
        parameters.print_error(f"left out: {other}")
    line = ProgressLine("comparing", logged=True)
    comparisons = comparing(problems, chosen, time_limit, seed, line.say)
    found = dict(_print_each(comparisons, line, len(problems), None if as_json else parts))
    together = Comparisons(by_name=found, left_out=left_out)
    if as_json:
        parameters.print_json(together.as_dict())
    elif len(together) > 1:
        parameters.say(f"\n{together.over_all()}")
    if not as_json:
        parameters.say(_legend(files[0], together, everything=chosen is None))
    targets = [target for target in (*outputs, picture) if target is not None]
    parameters.save_each(together, targets, as_json)
    if together.interrupted:
        click.echo("interrupted: the methods that follow did not run", err=True)
    return INTERRUPTED if together.interrupted else DONE


def _names(methods: str | None) -> list[str] | None:
    if methods is None:
        return None
    names = [name.strip() for name in methods.split(",") if name.strip()]
    if not names:
        raise click.BadParameter("names no method", param_hint="--methods")
    return names


def _legend(file: str, comparisons: Comparisons, *, everything: bool) -> str:
    """Say what the star means, and where the methods are described, or why there is only one."""
    kinds = {each.problem.kind for each in comparisons.by_name.values()}
    asked = kinds.pop() if len(kinds) == 1 else "KIND"
    if everything and [len(each.rows) for each in comparisons.by_name.values()] == [1]:
        return f"one method applies: 'makespan methods {file}' says why"
    return f"* the best; 'makespan methods {asked}' describes the methods"


def _print_each(
    comparisons: Iterator[tuple[str, Comparison]],
    line: ProgressLine,
    count: int,
    parts: dict[str, Any] | None,
) -> Iterator[tuple[str, Comparison]]:
    """Yield the comparisons, each printed when it is there, unless ``parts`` is None."""
    for number in range(1, count + 1):
        with line.shown():
            name, comparison = next(comparisons)
        yield name, comparison
        if parts is not None:
            heading = f"{name}\n" if count > 1 else ""
            parameters.say(f"{heading}{comparison}" + "\n" * (number < count))
            if any(row.status == "infeasible" for row in comparison.rows):
                parameters.say_between(name, parts)
        if comparison.interrupted:
            return
