"""The commands for a plan that is there: referee it, replay it, draw it."""

from typing import Any

import click

from makespan.cli import parameters
from makespan.cli.process import CHECK_FAILED, DONE, INFEASIBLE
from makespan.cli.progress import meanwhile

DISTRIBUTIONS = ("normal", "uniform", "lognormal", "gamma", "bernoulli")
ERROR = 0.1


@click.command("check")
@parameters.file_argument("result")
@parameters.file_option(
    "--problem",
    says="The problem of a schedule that comes alone; takes the place of the result's own.",
)
@parameters.parts
@parameters.as_json
@meanwhile("checking")
def check_command(*, result: str, problem: str | None, parts: dict[str, Any], as_json: bool) -> int:
    """Put RESULT before the independent referee: is every rule of the problem kept?

    RESULT is what 'makespan solve -o' writes, or a file with a problem and a schedule made
    elsewhere, or a schedule alone beside --problem.
    """
    from makespan.core.report import Report
    from makespan.flow.check import check
    from makespan.flow.files.files import read_problem, read_result, read_schedule

    empty = ""
    if parts and problem is None:
        raise click.UsageError(f"--{next(iter(parts))} is for the problem in --problem FILE")
    if problem is not None:
        if problem == result == "-":
            raise click.UsageError("only one of the two files can be standard input")
        stated = read_problem(problem, **parts)
        report = check(stated, read_schedule(result, stated))
    else:
        plan = read_result(result)
        if plan.schedule is None:
            empty = f"nothing to check: {plan.status}, without a schedule"
        report = Report() if empty else check(plan)
    if as_json:
        parameters.print_json(report.as_dict())
    else:
        parameters.say(empty or str(report))
    return DONE if report.ok else CHECK_FAILED


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
def simulate_command(
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


@click.command("plot")
@parameters.file_argument("file")
@click.argument("out", type=click.Path())
@click.option(
    "--view",
    metavar="NAME",
    help="gantt, graph, platform, costs, front or tasks: which picture, where a kind has several.",
)
@click.option(
    "--by",
    metavar="NAME",
    help="type, level, path, machine or cluster: what colours tell apart in a task graph; "
    "transfer, in the Gantt chart of a reduction.",
)
@click.option("--fold", is_flag=True, help="Leave transfers out of a Gantt chart.")
@click.option("--width", metavar="6.5in", callback=parameters.inches, help="How wide: in, cm.")
@click.option("--landscape", is_flag=True, help="Put the layers of a graph side by side: slides.")
@parameters.parts
@parameters.file_option(
    "--beside",
    says="A second result, or a schedule, drawn below on a page (.html).",
    metavar="OTHER",
)
@meanwhile("drawing")
def plot_command(
    *,
    file: str,
    out: str,
    view: str | None,
    by: str | None,
    fold: bool,
    width: float | None,
    landscape: bool,
    parts: dict[str, Any],
    beside: str | None,
) -> int:
    """Draw FILE, a result or a problem, into OUT.

    \b
    .svg, .png, .pdf  a picture: of a result its Gantt chart, of a problem its graph,
                      platform or costs, or what --view says
    .html             a page; of a result, to zoom, filter and read in
    .trace.json       trace events of a result, for ui.perfetto.dev

    \b
    makespan plot result.json plan.svg
    makespan plot result.json graph.pdf --view graph --landscape --width 10in
    makespan plot problem.toml problem.svg
    """
    from makespan.core.errors import FileError
    from makespan.core.schedule import Schedule
    from makespan.flow.files.files import PICTURES, refuse_target, save
    from makespan.flow.files.reading import read_any, read_plan
    from makespan.flow.result import Result

    refuse_target(out, *(PICTURES if beside is None else (".html",)), source=file)
    if beside == file == "-":
        raise click.UsageError("only one of the two files can be standard input")
    thing = read_any(file, None, **parts)
    if isinstance(thing, Schedule):
        raise FileError(f"{file}: is a schedule alone; 'makespan convert' draws it")
    other = None
    if beside is not None:
        if not isinstance(thing, Result):
            raise click.UsageError("--beside needs two plans; the first file is a problem")
        other = read_plan(beside, thing.problem)
    for one in (thing, other):
        if isinstance(one, Result) and one.schedule is None:
            parameters.print_error(f"{out} not written: the result is {one.status}, without a plan")
            return INFEASIBLE
    save(thing, out, beside=other, view=view, by=by, fold=fold, width=width, landscape=landscape)
    parameters.say(f"{out} written")
    return DONE
