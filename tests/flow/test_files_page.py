"""The page on files: its examples are read, solved and checked as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from makespan import check, read_problem, solve

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
