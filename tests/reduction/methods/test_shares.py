"""What methods take of a limit before the local search along the critical path."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from makespan import Reduction, read_problem
from makespan.core.control import Control
from makespan.core.registry import find_method
from makespan.core.solution import Solution
from makespan.reduction import needs
from makespan.reduction.halves import merging
from makespan.reduction.sends import sends_in

BOARD = Path(__file__).parents[3] / "boards" / "all-reduce-6" / "problem.json"


def seconds_of(name: str, problem: Any, limit: float, monkeypatch: pytest.MonkeyPatch) -> float:
    """Return the least seconds that a method is left inside, after another one found a plan."""
    first = find_method("reduction", "hierarchical").run(problem, Control(time_limit=1.0))
    control, left = Control(time_limit=limit), []
    control.incumbent = Solution(schedule=first.schedule)
    limited = control.limited

    @contextmanager
    def noted(seconds: float | None) -> Iterator[None]:
        with limited(seconds):
            left.append(control.remaining)
            control.interrupted = True  # nothing is searched
            yield

    monkeypatch.setattr(control, "limited", noted)
    monkeypatch.setattr(merging, "_planned", lambda *_: Solution(schedule=first.schedule))
    find_method("reduction", name).run(problem, control)
    return min(left)


@pytest.mark.parametrize("name", ["reduce-scatter-all-gather", "earliest-due-date"])
def test_a_longer_limit_is_for_the_local_search(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a small problem: the methods before it take the same of 40 s as of 400 s."""
    problem = read_problem(BOARD)
    assert isinstance(problem, Reduction)
    most = needs.seconds_before_local_search(problem)
    assert most == pytest.approx(needs.SECONDS_A_SEND * sends_in(problem))
    for limit in (40.0, 400.0):
        assert seconds_of(name, problem, limit, monkeypatch) == pytest.approx(most, abs=0.5)
    short = seconds_of(name, problem, 1.0, monkeypatch)
    assert 0 < short < 0.7
