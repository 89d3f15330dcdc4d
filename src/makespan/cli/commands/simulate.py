"""The command simulate."""

from __future__ import annotations

import click

from makespan.cli import parameters
from makespan.cli.codes import DONE
from makespan.cli.progress import meanwhile

DISTRIBUTIONS = ("normal", "uniform", "lognormal", "gamma")


@click.command("simulate")
@parameters.file_argument("result")
@click.option(
    "--error",
    type=float,
    default=0.1,
    show_default=True,
    help="The relative error of durations: 0.1 is 10 %.",
)
@click.option(
    "--distribution", type=click.Choice(DISTRIBUTIONS), default="normal", show_default=True
)
@click.option(
    "--per",
    type=click.Choice(("activity", "machine")),
    default="activity",
    show_default=True,
    help="What has an error of its own.",
)
@click.option(
    "--of",
    type=click.Choice(("all", "compute", "transfers")),
    default="all",
    show_default=True,
    help="The activities that have errors.",
)
@click.option("--repetitions", type=click.IntRange(min=1), default=1000, show_default=True)
@click.option("--policy", metavar="NAME", help="A policy that decides while it runs.")
@parameters.seed
@parameters.as_json
@meanwhile("simulating")
def command(
    result: str,
    error: float,
    distribution: str,
    per: str,
    of: str,
    repetitions: int,
    policy: str | None,
    seed: int | None,
    as_json: bool,
) -> int:
    """Carry out the plan in RESULT many times with durations that differ from the predicted.

    RESULT is what 'makespan solve -o' writes. With --policy, the policy of that name (factoring,
    say) serves the problem of RESULT instead, deciding while it runs.
    """
    from makespan.core.simulation.noise import Noise
    from makespan.flow.files.files import read_result
    from makespan.flow.simulate import simulate

    noise = Noise(distribution, error, per=per, of=of)  # type: ignore[arg-type]
    plan = read_result(result)
    simulation = simulate(plan, policy=policy, noise=noise, repetitions=repetitions, rng=seed)
    if as_json:
        parameters.print_json(simulation.as_dict())
    else:
        parameters.say(str(simulation))
    return DONE
