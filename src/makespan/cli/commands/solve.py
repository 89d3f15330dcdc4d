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
@parameters.output(
    "Write the result: .json, .csv, .npz, or '-' (JSON); or its picture: .svg, .png, .pdf, .html.",
    several=True,
)
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
    outputs: tuple[str, ...],
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
    makespan solve gpus.csv --tasks 512 --objective energy --deadline 1.5
    makespan solve graph.dot --machines 8 -o plan.json -o plan.pdf
    makespan solve star.toml --set rounds=8
    makespan solve graph.toml --method list-scheduling --time-limit 60 -O w1=1
    """
    from makespan.cli.progress import working
    from makespan.core.control import Control
    from makespan.core.steps import printed
    from makespan.flow.files.files import PICTURES, TEXTS, read_problem, refuse_target
    from makespan.flow.result import summary
    from makespan.flow.sensitivity import sensitivity
    from makespan.flow.solve import solve_controlled

    files = [output for output in outputs if output != "-"]
    for output in files:
        refuse_target(output, *TEXTS["result"], *PICTURES, source=file)
    refuse_target(picture, *PICTURES, source=file)
    files += [] if picture is None else [picture]
    with working("solving") as line:
        problem = read_problem(file, **parts)
        control = Control(time_limit=time_limit, rng=seed, progress=line.progress, log_steps=log)
        result = solve_controlled(problem, control, method=method, **options)
        known = None
        if what_if and result.schedule is not None and not control.interrupted:
            known = sensitivity(result, time_limit=time_limit)
            result = replace(result, details={**result.details, "what_if": known.as_dict()})
        written = [_written(result, each) for each in files]
    if as_json or "-" in outputs:
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


def _written(result: Result, output: str) -> str:
    """Write a file; return a line about it."""
    from makespan.flow.files.documents import suffix_of
    from makespan.flow.files.files import PICTURES, save

    if result.schedule is None and not output.endswith(".json"):
        drawn = " to draw" if suffix_of(output) in PICTURES else ""
        return f"{output} not written: there is no plan{drawn}"
    save(result, output)
    return f"{output} written"
