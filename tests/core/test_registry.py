"""The register: a method is found by the name of its file, and its file alone is imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from makespan import MethodError
from makespan.core.registry import _modules, find_method, methods_of
from makespan.flow.kinds import KINDS

LOADED = """
import sys
from makespan.core.registry import find_method
find_method("independent", "lpt")
print(*(name for name in sys.modules if ".methods." in name))
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_holds_the_method_of_its_name(kind: str) -> None:
    """From a method's name to its file is no search; those that are alike share one."""
    assert {method.name for method in methods_of(kind)} == set(_modules(kind))
    for method in methods_of(kind):
        assert method.run.__module__ == _modules(kind)[method.name]


@pytest.mark.parametrize("kind", KINDS)
def test_the_line_up_names_methods(kind: str) -> None:
    """Every name in ``AUTO`` has a file, and none is kept for comparison only."""
    line_up = KINDS[kind].methods.AUTO
    assert set(line_up) <= set(_modules(kind))
    assert not [name for name in line_up if find_method(kind, name).published]


def test_one_method_loads_no_other() -> None:
    """A method that is asked for by name is the only one imported."""
    found = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["makespan.independent.methods.list_scheduling"]


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    """Names are suggested without importing anything."""
    with pytest.raises(MethodError, match="no method 'heftt' for taskgraph problems; did you mean"):
        find_method("taskgraph", "heftt")
