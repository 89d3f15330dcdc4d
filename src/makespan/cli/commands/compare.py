"""The command compare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from makespan.cli import parameters
from makespan.cli.cluster import scheduler_option
from makespan.cli.process import DONE, INTERRUPTED

if TYPE_CHECKING:
    from makespan.cli.progress import ProgressLine
    from makespan.flow.comparison.several import Comparisons
    from makespan.flow.comparison.table import Comparison


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
    from makespan.cli import experiment
    from makespan.cli.progress import ProgressLine
    from makespan.flow.comparison.compare import comparing, problems_named
    from makespan.flow.comparison.several import Comparisons
    from makespan.flow.files.files import refuse_target

    chosen = _names(methods)
    if experiment.asks_for_one(files, outputs, seeds=seeds, jobs=jobs, scheduler=scheduler):
        asked = click.get_current_context().get_parameter_source("time_limit")
        limit = None if asked is ParameterSource.DEFAULT else time_limit
        return experiment.run(
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
    line = ProgressLine("comparing")
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
