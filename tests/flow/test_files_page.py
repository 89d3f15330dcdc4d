"""The page on files: its examples are read, solved and checked as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from makespan import check, read_problem, solve
from makespan.cli.main import cli

PAGE = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
SAMPLES = "count,time,energy\n0,0,0\n8,0.3,1\n512,4.1,50\n"
EXAMPLES = re.findall(r"^```(toml|json)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("index", range(len(EXAMPLES)))
def test_every_example_is_read_and_solved(index: int, tmp_path: Path) -> None:
    """Each problem on the page has a plan that the referee accepts."""
    suffix, text = EXAMPLES[index]
    path = tmp_path / f"example.{suffix}"
    path.write_text(text, encoding="utf-8")
    (tmp_path / "tpu.csv").write_text(SAMPLES, encoding="utf-8")
    result = solve(read_problem(path), time_limit=0.5)
    assert result.schedule is not None
    assert check(result).ok


def test_there_are_examples_of_every_form() -> None:
    """Stars, buses, trees, columns, tasks and options are all shown."""
    shown = "".join(text for _, text in EXAMPLES)
    for word in ('"star"', '"bus"', '"choose"', '"tree"', '"columns"', "durations", "[options]"):
        assert word in shown


COMMANDS = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text(encoding="utf-8")
CALL = re.compile(r"^makespan ([a-z]+)(.*?)(?:#.*)?$", re.MULTILINE)


def test_every_command_and_option_of_the_page_is_there() -> None:
    """Each command line on ``command_line.md`` names a command and options that it has."""
    calls = CALL.findall(COMMANDS)
    assert len(calls) > 10
    for name, rest in calls:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None, name
        known = {option for each in command.params for option in each.opts}
        given = re.findall(r"(?<= )--?[a-zA-Z][a-z-]*", rest.partition(" | ")[0])
        assert set(given) <= known, (name, given)
    table = COMMANDS.partition("| option |")[2].partition("\n\n")[0]
    command = cli.get_command(click.Context(cli), "solve")
    assert command is not None
    known = {option for each in command.params for option in each.opts}
    assert set(re.findall(r"`(--[a-z]+)", table)) <= known
