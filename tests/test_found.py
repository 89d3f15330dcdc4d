"""Inputs that went wrong: each ends in a plan or in an error that a person can use."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from makespan.cli.codes import DONE, INFEASIBLE, NOTHING_FOUND, USAGE
from makespan.cli.main import run

FOUND = Path(__file__).parent / "cases" / "found"
ALLOWED = {DONE, INFEASIBLE, NOTHING_FOUND, USAGE}
CONTROL = {*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)} - {9, 10}


@pytest.mark.xfail(strict=False, reason="not all of them are mended")
@pytest.mark.parametrize("path", sorted(FOUND.iterdir()), ids=lambda path: path.name)
def test_ends_in_a_plan_or_a_clear_error(path: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(["solve", str(path), "--time-limit", "1"])
    text = out.getvalue() + err.getvalue()
    assert code in ALLOWED, text
    assert "internal error" not in text
    assert "not believed" not in text
    if code == USAGE:
        assert err.getvalue().startswith("error: "), text
    assert not CONTROL & set(map(ord, text))
