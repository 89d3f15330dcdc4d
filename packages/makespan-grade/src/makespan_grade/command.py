"""The command: ``makespan grade``, and ``makespan-grade``."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import click

from makespan import MakespanError


@click.command("grade")
@click.argument("exercise", type=click.Path(path_type=Path))
@click.argument("submissions", type=click.Path(path_type=Path), nargs=-1)
@click.option("--csv", "table", type=click.Path(path_type=Path), help="Write grades as a table.")
@click.option("--page", type=click.Path(path_type=Path), help="Write a page for the class (.html).")
@click.option("--anonymous", is_flag=True, help="The page numbers plans in place of names.")
@click.option(
    "--gradescope",
    "results",
    type=click.Path(path_type=Path),
    help="Write results.json of the one submission.",
)
@click.option("--otter", "tests", type=click.Path(path_type=Path), help="Write a test of otter.")
@click.option("--answer", default="answer", help="What notebooks call the answer (--otter).")
@click.option("--jobs", type=click.IntRange(min=1), default=2, help="How many at a time.")
@click.option("--trusted", is_flag=True, help="Run functions without isolation by the system.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, only that.")
def command(
    *,
    exercise: Path,
    submissions: tuple[Path, ...],
    table: Path | None,
    page: Path | None,
    anonymous: bool,
    results: Path | None,
    tests: Path | None,
    answer: str,
    jobs: int,
    trusted: bool,
    as_json: bool,
) -> int:
    """Grade SUBMISSIONS to an EXERCISE: points by the gap to the best plan, words of the referee.

    A submission is a plan (the studio's hand-in, a result or schedule as JSON, rows as CSV) or a
    Python file with a function. A folder stands for the submissions in it.

    \b
    makespan grade exercise.toml submissions/ --csv grades.csv --page class.html --anonymous
    makespan grade exercise.toml plan.json --gradescope results.json
    makespan grade exercise.toml --otter tests/q1.py --answer my_plan
    """
    from makespan_grade import reports
    from makespan_grade.exercise import read_exercise
    from makespan_grade.judge import grade

    try:
        asked = read_exercise(exercise)
        if tests is not None:
            tests.write_text(reports.otter(asked, exercise, answer), encoding="utf-8")
        paths = [each for path in submissions for each in _all_in(path, results is not None)]
        if results is not None and len(paths) != 1:
            raise click.UsageError(f"--gradescope is for one submission, not {len(paths)}")
        grades = grade(asked, paths, jobs=jobs, trusted=trusted)
    except (MakespanError, OSError) as error:
        raise click.ClickException(str(error)) from None
    written = {
        table: partial(reports.table, grades),
        page: partial(reports.page, asked, grades, anonymous=anonymous),
        results: partial(reports.gradescope, asked, *grades[:1]),
    }
    for file, text in written.items():
        if file is not None:
            file.write_text(text(), encoding="utf-8")
    if as_json:
        click.echo(json.dumps({"grades": [each.as_dict() for each in grades]}))
        return 0
    width = max((len(each.name) for each in grades), default=0)
    for each in grades:
        click.echo(f"{each.name:<{width}}  {each.points:>5g}  {each.feedback[0]}")
    return 0


def _all_in(path: Path, whole: bool) -> list[Path]:
    """Return the submissions in a folder, or what is one itself."""
    if not path.is_dir() or whole:
        return [path]
    return sorted(each for each in path.iterdir() if not each.name.startswith("."))
