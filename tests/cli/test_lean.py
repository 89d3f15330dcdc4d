"""What short runs need not spend."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest

from makespan.cli import process

THREADS = "OPENBLAS_NUM_THREADS"


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(process.atexit, "register", lambda function: None)
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize(("command", "limited"), [("solve", True), ("run", False)])
def test_functions_of_users_keep_their_threads(
    command: str, limited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other commands have one, unless the caller says how many."""
    monkeypatch.setenv(THREADS, "4")  # so that it is as before in the end
    monkeypatch.delenv(THREADS)
    process.be_lean([command, "x.toml"])
    assert (os.environ.get(THREADS) == "1") is limited
    monkeypatch.setenv(THREADS, "2")
    process.be_lean([command, "x.toml"])
    assert os.environ[THREADS] == "2"


def test_garbage_is_looked_for_seldom_not_never() -> None:
    """Long searches are not to grow."""
    process.be_lean(["solve"])
    assert gc.isenabled()
    assert gc.get_threshold()[0] == process.OBJECTS
