"""The command compare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from makespan.cli import parameters
from makespan.cli.codes import DONE, INTERRUPTED

if TYPE_CHECKING:
    from makespan.core.problem import Problem

COMPARISON_FORMAT = "makespan.comparison/1"


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
@parameters.as_json
@click.option(
    *("--plot", "picture"),
    type=click.Path(),
    metavar="FILE",
    help="Draw it: .svg, .png, .pdf or .html.",
)
def command(
    *,
    files: tuple[str, ...],
    methods: str | None,
    time_limit: float,
    seed: int | None,
    as_json: bool,
    picture: str | None,
) -> int:
    """Solve each FILE by every method that applies, and print them side by side.

    A folder stands for all problem files in it. A star marks the best. The gap is to the best
    bound that any of the methods proved. Of several files, a summary follows: how often each
    method was best, its values over the best ones (geometric mean and largest), its mean gap, its
    time in all; and a performance profile: on which share of the problems it was within x % of
    the best.
    """
    from makespan.flow.comparison.compare import compare
    from makespan.flow.comparison.pictures import SUFFIXES, write_comparisons
    from makespan.flow.comparison.summary import profile, profile_table, summarise, summary_table
    from makespan.flow.files.files import refuse_target

    if picture is not None:
        refuse_target(picture, *SUFFIXES)

    chosen = None
    if methods is not None:
        chosen = [name.strip() for name in methods.split(",") if name.strip()]
        if not chosen:
            raise click.BadParameter("names no method", param_hint="--methods")
    problems = _problems(files)
    found, comparisons = [], {}
    interrupted = False
    for number, (file, problem) in enumerate(problems, 1):
        comparison = compare(problem, methods=chosen, time_limit=time_limit, rng=seed)
        interrupted = comparison.interrupted
        comparisons[file if file not in comparisons else f"{file} ({number})"] = comparison
        found.append({"file": file, **comparison.as_dict()})
        if not as_json:
            heading = f"{file}\n" if len(problems) > 1 else ""
            parameters.print_text(f"{heading}{comparison}" + "\n" * (number < len(problems)))
        if interrupted:
            break
    several = list(comparisons.values()) if len(comparisons) > 1 else []
    summaries, shares = summarise(several), profile(several)
    if as_json:
        data = {"format": COMPARISON_FORMAT, "comparisons": found}
        if summaries:
            data["summary"] = [one.as_dict() for one in summaries]
            data["profile"] = [row.as_dict() for row in shares]
        parameters.print_json(data)
    elif summaries:
        parameters.print_text(f"\n{len(comparisons)} problems\n{summary_table(summaries)}")
        parameters.print_text(f"\n{profile_table(shares)}")
    if picture is not None:
        write_comparisons(comparisons, picture)
        if not as_json:
            parameters.print_text(f"{picture} written")
    if interrupted:
        click.echo("interrupted: the methods that follow did not run", err=True)
    return INTERRUPTED if interrupted else DONE


def _problems(files: tuple[str, ...]) -> list[tuple[str, Problem]]:
    """Read the files, and those of the folders; say which files of folders hold no problem."""
    from makespan.flow.files.files import problems_in, read_problem

    problems: list[tuple[str, Problem]] = []
    for file in files:
        if not Path(file).is_dir():
            problems.append((file, read_problem(file)))
            continue
        found, others = problems_in(file)
        problems += found.items()
        for other in others:
            parameters.print_error(f"left out: {other}")
    return problems
