"""The command simulate."""

from typing import Any

import click

from makespan.cli import parameters
from makespan.cli.process import DONE
from makespan.cli.progress import meanwhile

DISTRIBUTIONS = ("normal", "uniform", "lognormal", "gamma", "bernoulli")
ERROR = 0.1


@click.command("simulate")
@parameters.file_argument("result")
@click.option(
    "--error", type=float, help=f"The relative error of durations: 0.1 is 10 %.  [default: {ERROR}]"
)
@click.option("--transfers", type=float, help="The error of transfers, where it is another.")
@click.option("--distribution", type=click.Choice(DISTRIBUTIONS), help="[default: normal]")
@click.option(
    "--per",
    type=click.Choice(("activity", "machine")),
    help="What has an error of its own.  [default: activity]",
)
@parameters.file_option(
    "--noise",
    "file",
    says="A table (.toml, .json) of these and of [tasks] and [machines], which have errors by "
    "name; options come before it.",
)
@click.option("--repetitions", type=click.IntRange(min=1), default=1000, show_default=True)
@click.option("--policy", metavar="NAME", help="A policy that decides while it runs.")
@parameters.seed
@parameters.as_json
@meanwhile("simulating")
def command(
    result: str,
    file: str | None,
    repetitions: int,
    policy: str | None,
    seed: int | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Carry out the plan in RESULT many times with durations that differ from the predicted.

    RESULT is what 'makespan solve -o' writes. With --policy, the policy of that name (factoring,
    say) serves the problem of RESULT instead, deciding while it runs.
    """
    from makespan.flow.files.documents import parsed
    from makespan.flow.files.files import read_result
    from makespan.flow.simulate import simulate

    noise = {"error": ERROR} if file is None else parsed(file)
    noise |= {name: value for name, value in given.items() if value is not None}
    plan = read_result(result)
    simulation = simulate(plan, policy=policy, noise=noise, repetitions=repetitions, rng=seed)
    if as_json:
        parameters.print_json(simulation.as_dict())
    else:
        parameters.say(str(simulation))
    return DONE
