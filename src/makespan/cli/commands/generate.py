"""The command generate."""

from typing import Any

import click

from makespan.cli import parameters
from makespan.cli.process import DONE
from makespan.cli.progress import meanwhile


@click.command("generate")
@click.argument("kind", required=False)
@parameters.named_values("An option of the generator; may be repeated.")
@parameters.seed
@parameters.output("Write the problem (.toml, .json or .npz); otherwise it is printed.")
@meanwhile("generating")
def command(
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
