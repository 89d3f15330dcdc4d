"""The command solve."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from makespan.cli import parameters
from makespan.cli.process import DONE, INFEASIBLE, INTERRUPTED, NOTHING_FOUND

if TYPE_CHECKING:
    from makespan.flow.result import Result

OWN_OPTIONS = {
    "method": "method is given by --method",
    "time_limit": "time_limit is given by --time-limit",
    "rng": "rng is given by --seed",
    "seed": "seed is given by --seed",
    "problem": "no method has an option 'problem'",
    "control": "no method has an option 'control'",
}


@click.command("solve")
@parameters.file_argument("file")
@click.option("--method", metavar="NAME", default="auto", help="See 'makespan methods FILE'.")
@parameters.time_limit
@parameters.seed
@parameters.named_values("An option of the method; may be repeated.", refused=OWN_OPTIONS)
@parameters.parts
@parameters.as_json
@parameters.output("Write the result (.json, .csv, or '-': JSON).")
@parameters.file_option(
    "--plot", "picture", says="Draw it: .svg, .png, .pdf, .html or .trace.json."
)
@click.option("--all", "all_rows", is_flag=True, help="Print all rows, however many there are.")
@click.option(
    "--what-if",
    is_flag=True,
    help="Say what a unit of each cost, and one machine more, would change.",
)
@click.option("--log", is_flag=True, help="Print the steps of the method, where it logs them.")
def command(
    *,
    file: str,
    method: str,
    time_limit: float | None,
    seed: int | None,
    options: dict[str, Any],
    parts: dict[str, Any],
    as_json: bool,
    output: str | None,
    picture: str | None,
    all_rows: bool,
    what_if: bool,
    log: bool,
) -> int:
    """Plan the problem in FILE; print a summary, or the result with --json.

    \b
    makespan solve star.toml
    makespan solve star.toml --plot plan.svg -o result.json
    makespan solve star.toml -o plan.csv
    makespan solve star.toml --what-if
    makespan solve gpus.csv --tasks 100000 --interpolation linear
    makespan solve gpus.csv --tasks 512 --objective pareto
    makespan solve graph.toml --method list-scheduling --time-limit 60 -O w1=1
    """
    from makespan.cli.progress import working
    from makespan.core.control import Control
    from makespan.core.steps import printed
    from makespan.flow.files.files import PICTURES, TEXTS, read_problem, refuse_target
    from makespan.flow.result import summary
    from makespan.flow.sensitivity import sensitivity
    from makespan.flow.solve import solve_controlled

    if output not in (None, "-"):
        refuse_target(output, *TEXTS["result"], source=file)
    refuse_target(picture, *PICTURES, source=file)
    with working("solving") as line:
        problem = read_problem(file, **parts)
        control = Control(time_limit=time_limit, rng=seed, progress=line.progress, log_steps=log)
        result = solve_controlled(problem, control, method=method, **options)
        known = None
        if what_if and result.schedule is not None and not control.interrupted:
            known = sensitivity(result, time_limit=time_limit)
            result = replace(result, details={**result.details, "what_if": known.as_dict()})
        written = _write(result, output, picture)
    if as_json or output == "-":
        from makespan.flow.serialize import result_as_dict

        parameters.print_json(result_as_dict(result))
    else:
        steps = printed(result.steps)
        text = summary(result, **({"most": sys.maxsize} if all_rows else {}))
        parameters.say("\n".join([*steps, *[""] * bool(steps), text]))
        if known is not None:
            parameters.say(f"\n{known}")
        if result.status == "infeasible":
            parameters.say_between(file, parts)
        for each in written:
            parameters.say(each)
    if control.interrupted:
        if result.schedule is None:
            click.echo("interrupted before any plan was found", err=True)
        return INTERRUPTED
    return {"infeasible": INFEASIBLE, "limit": NOTHING_FOUND}.get(str(result.status), DONE)


def _write(result: Result, output: str | None, picture: str | None) -> list[str]:
    """Write what was asked for; return a line about each file."""
    from makespan.flow.files.files import save

    lines = []
    if output not in (None, "-"):
        if result.schedule is None and not output.endswith(".json"):
            lines.append(f"{output} not written: there is no plan")
        else:
            save(result, output)
            lines.append(f"{output} written")
    if picture is not None:
        if result.schedule is None:
            lines.append(f"{picture} not written: there is no plan to draw")
        else:
            save(result, picture)
            lines.append(f"{picture} written")
    return lines
