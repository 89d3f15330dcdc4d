"""The command check."""

from typing import Any

import click

from makespan.cli import parameters
from makespan.cli.process import CHECK_FAILED, DONE
from makespan.cli.progress import meanwhile


@click.command("check")
@parameters.file_argument("result")
@parameters.file_option(
    "--problem",
    says="The problem of a schedule that comes alone; takes the place of the result's own.",
)
@parameters.parts
@parameters.as_json
@meanwhile("checking")
def command(*, result: str, problem: str | None, parts: dict[str, Any], as_json: bool) -> int:
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
