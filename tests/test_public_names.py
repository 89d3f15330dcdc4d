"""The public surface."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import makespan

SOURCE = Path(makespan.__file__)


def test_all_is_what_type_checkers_see():
    """``__all__``, the lazy table and the imports for type checkers name the same things."""
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    seen = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.If)
        for statement in node.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert seen == set(makespan.__all__) - {"__version__"}


SURFACE = [
    "solve",
    "check",
    "plot",
    "simulate",
    "compare",
    "lower_bound",
    "methods",
    "read_problem",
    "read_result",
    "save",
    "Affine",
    "Worker",
    "Master",
    "Star",
    "Tree",
    "TreeNode",
    "Comparison",
    "Simulation",
    "DivisibleLoad",
    "Partition",
    "Dag",
    "Network",
    "TaskGraph",
    "Reduction",
    "IndependentTasks",
    "Noise",
    "Schedule",
    "Result",
    "Report",
    "Violation",
    "Bound",
    "MakespanError",
    "InputError",
    "ProblemError",
    "FileError",
    "MethodError",
    "MissingExtra",
    "InvalidSchedule",
    "ExecutionError",
    "__version__",
]


def test_the_public_surface():
    """Exactly the documented names are public."""
    assert sorted(makespan.__all__) == sorted(SURFACE)


def test_every_name_resolves_and_is_documented():
    """Every public name can be had and has a docstring."""
    for name in makespan.__all__:
        value = getattr(makespan, name)
        assert name == "__version__" or value.__doc__


def test_no_module_bears_the_name_of_a_public_function():
    """``makespan.solve`` is the function, whatever is imported first."""
    functions = {name for name in makespan.__all__ if name[0].islower()}
    modules = {path.stem for path in SOURCE.parent.iterdir()}
    assert not functions & modules


def test_import_is_light():
    """Importing makespan imports neither NumPy nor anything heavier."""
    heavy = ("numpy", "numba", "pydantic", "matplotlib", "ortools", "highspy", "click", "rich")
    code = f"import sys, makespan; print([m for m in {heavy!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
