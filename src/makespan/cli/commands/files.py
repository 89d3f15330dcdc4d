"""The commands that make the file of a problem, and turn files into others."""

from typing import Any

import click

from makespan.cli import parameters
from makespan.cli.process import DONE, INFEASIBLE
from makespan.cli.progress import meanwhile


@click.command("generate")
@click.argument("kind", required=False)
@parameters.named_values("An option of the generator; may be repeated.")
@parameters.seed
@parameters.output("Write the problem (.toml, .json or .npz); otherwise it is printed.")
@meanwhile("generating")
def generate_command(
    *, kind: str | None, options: dict[str, Any], seed: int | None, output: str | None
) -> int:
    """Make a random problem of KIND; without KIND, list the kinds and their options.

    \b
    makespan generate divisible -O workers=20 -O latency=0.1 --seed 7 -o star.toml
    makespan generate independent -O distribution=triplets | makespan solve -
    """
    from makespan.flow.files.files import TEXTS, as_text, refuse_target, save
    from makespan.flow.kinds import generate

    if kind is None:
        parameters.print_text("\n".join(_listed()))
        return DONE
    if output not in (None, "-"):
        refuse_target(output, *TEXTS["problem"])
    problem = generate(kind, seed=seed or 0, options=options)
    if output in (None, "-"):
        parameters.print_text(as_text(problem, ".toml").rstrip("\n"))
    else:
        save(problem, output)
        parameters.say(f"{output} written")
    return DONE


def _listed() -> list[str]:
    from makespan.flow.kinds import KINDS, generator_options

    lines = []
    for name in KINDS:
        lines.append(name)
        options = generator_options(name).items()
        lines += [f"  -O {option}={_written(value)}" for option, value in options]
    return lines


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@click.command("convert")
@click.argument("source", metavar="IN", type=click.Path())
@click.argument("out", metavar="OUT", type=click.Path())
@parameters.file_option("--problem", says="The problem of a schedule that comes alone.")
@parameters.parts
@click.option(
    "--to", type=click.Choice(["toml", "json", "csv"]), help="What to write where OUT is '-'."
)
@click.option(
    "--for",
    "system",
    type=click.Choice(["vllm", "llama.cpp", "exo", "torch"]),
    help="Write a pipeline's plan to '-' as the options of a system that runs models.",
)
@meanwhile("converting")
def convert_command(
    *,
    source: str,
    out: str,
    problem: str | None,
    parts: dict[str, Any],
    to: str | None,
    system: str | None,
) -> int:
    """Write what IN holds as OUT; the suffix of OUT decides.

    \b
    a problem               .toml, .json, .npz, .svg, .png, .pdf, .html
    a result, a schedule    .json, .csv, .npz, .svg, .png, .pdf, .html, .trace.json
    a collective's result   .msccl.xml, too
    """
    from makespan.core.inputs.files import write_whole
    from makespan.flow.files.files import (
        as_text,
        file_of,
        read_problem,
        refuse_suffix,
        refuse_target,
        suffixes_of,
    )
    from makespan.flow.files.reading import read_any
    from makespan.flow.result import Result

    if (out == "-") != (to is not None or system is not None) or (to and system):
        raise click.UsageError(
            "--to says what to write where OUT is '-', and only there; so does --for"
        )
    if source == problem == "-":
        raise click.UsageError("only one of the two files can be standard input")
    stated = None if problem is None else read_problem(problem, **parts)
    thing = read_any(source, stated, **(parts if problem is None else {}))
    if system is not None:
        parameters.print_text(_options_for(system, thing))
        return DONE
    target = f"output.{to}" if to is not None else out
    if isinstance(thing, Result) and thing.schedule is None and not target.endswith(".json"):
        parameters.print_error(f"{out} not written: {source} is {thing.status}, without a plan")
        return INFEASIBLE
    suffix = refuse_suffix(target, *suffixes_of(thing))
    if to is not None:
        parameters.print_text(as_text(thing, suffix).rstrip("\n"))
        return DONE
    refuse_target(out, suffix, source=source)
    write_whole(out, file_of(thing, out, problem=stated))
    parameters.say(f"{out} written")
    return DONE


def _options_for(system: str, thing: Any) -> str:
    """Return the options of a system that runs models, of the result of a pipeline."""
    from makespan.core.errors import InputError
    from makespan.flow.result import Result
    from makespan.pipeline.formats import options_for

    if not isinstance(thing, Result) or thing.problem.kind != "pipeline" or not thing.schedule:
        raise InputError("--for needs the result of a pipeline, with a plan")
    return options_for(system, thing.problem, thing.schedule)  # type: ignore[arg-type]
