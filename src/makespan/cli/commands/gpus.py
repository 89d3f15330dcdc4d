"""The command gpus."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from makespan.cli import parameters
from makespan.cli.process import DONE, INFEASIBLE, NOTHING_FOUND
from makespan.core.errors import MakespanError

if TYPE_CHECKING:
    from makespan.flow.result import Result


@click.command("gpus")
@parameters.file_argument("costs")
@parameters.time_limit
@parameters.parts
@parameters.as_json
@parameters.output("Write a page (.html): with energies, one to choose between time and energy.")
def command(
    *,
    costs: str,
    time_limit: float | None,
    parts: dict[str, Any],
    as_json: bool,
    output: str | None,
) -> int:
    """Split a batch over GPUs, or other resources, whose costs were measured; say how.

    COSTS is a CSV file: which GPU (gpu), how many items (items), how many seconds they took
    (seconds), and perhaps how much energy (joules). Counts that were not measured are interpolated
    where the measured ones don't add up to the batch.

    \b
    makespan gpus costs.csv --tasks 512
    makespan gpus costs.csv --tasks 512 --objective energy --deadline 0.35 -o page.html
    """
    from makespan.cli.progress import working
    from makespan.flow.files.files import read_problem, refuse_target, save
    from makespan.flow.serialize import result_as_dict
    from makespan.flow.solve import solve
    from makespan.partition.problem import Partition

    refuse_target(output, ".html", source=costs)
    with working("solving"):
        problem = read_problem(costs, **parts)
        if not isinstance(problem, Partition):
            raise click.UsageError(f"{costs}: is a {problem.kind} problem, not a table of costs")
        result, between = solve(problem, time_limit=time_limit), ""
        if str(result.status) == "infeasible" and "interpolation" not in parts:
            try:
                again = solve(
                    read_problem(costs, **parts, interpolation="linear"), time_limit=time_limit
                )
            except MakespanError:  # a file that is not CSV has none
                again = result
            if again.schedule is not None:
                result, between = again, "; costs between measured counts are interpolated"
        if output is not None and result.schedule is not None:
            assert isinstance(result.problem, Partition)
            front = result.problem.has_energy and result.problem.deadline is None
            both = replace(result.problem, objective="pareto") if front else None
            save(result if both is None else solve(both, time_limit=time_limit), output)
    if as_json:
        parameters.print_json(result_as_dict(result))
    elif result.schedule is None:
        parameters.say("\n".join([f"{result.status}: no split was found", *result.notes]))
    else:
        parameters.say(sentence(result) + between)
        if output is not None:
            parameters.say(f"{output} written")
    return {"infeasible": INFEASIBLE, "limit": NOTHING_FOUND}.get(str(result.status), DONE)


def sentence(result: Result) -> str:
    """Return who takes how many, what that costs, and how good it is, in one sentence."""
    counts = {name: count for name, count in result.answer["counts"].items() if count}
    total = sum(counts.values())
    split = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    ends = f"ends at {result.makespan:.5g} s"
    energy = result.answer.get("energy")
    if isinstance(energy, dict):
        ends += f" and takes {sum(energy.values()):.5g} J"
    aim = "makespan" if result.objective is None else result.objective.name
    proof = {"makespan": "no split is faster", "energy": "no split takes less energy"}
    proved = proof.get(aim, "proved optimal") if str(result.status) == "optimal" else "not proved"
    return f"{total:,} items: {split or 'nobody has any'}; this {ends} ({proved})"
