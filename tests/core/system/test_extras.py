"""What is not installed is named where it is missed, and done without where that can be."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import makespan
from makespan import Dag, Network, TaskGraph
from makespan.core.system.extras import EXTRAS, missing, optional

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


def test_extras_are_those_of_the_package() -> None:
    """Each library stands in the extra that is said to bring it."""
    extras = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["optional-dependencies"]
    for library, extra in EXTRAS.items():
        assert any(requirement.startswith(library) for requirement in extras[extra]), library


@pytest.mark.parametrize("library", EXTRAS)
def test_what_is_missing_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra that brings it."""
    assert missing(library) is None
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(makespan.MissingExtra, match=f"{library} .*makespan.{EXTRAS[library]}"):
        optional(library)


def test_a_library_too_old_is_not_called_missing() -> None:
    """The message says what could not be imported."""
    with pytest.raises(makespan.MissingExtra, match=r"networkx can't be used \(No module named"):
        optional("networkx.of_another_version")


def test_auto_does_without_cp_sat(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what the plan lacks; by name, the method is refused with the reason."""
    draw = np.random.default_rng(1).integers
    works = {f"T{number}": float(draw(1, 20)) for number in range(40)}
    edges = [
        (f"T{before}", f"T{number}", float(draw(1, 30)))
        for number in range(1, 40)
        for before in sorted(set(draw(0, number, 2).tolist()))
    ]
    problem = TaskGraph(Dag(works, edges), Network([1.0, 1.3, 0.7]))
    monkeypatch.setitem(sys.modules, "ortools", None)
    result = makespan.solve(problem, time_limit=0.3)
    assert result.status == "feasible"
    assert any("makespan[exact]" in note for note in result.notes), result.notes
    with pytest.raises(makespan.MethodError, match=r"ortools is not installed.*makespan\[exact\]"):
        makespan.solve(problem, method="cp-sat")
