"""The public surface."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import makespan
from makespan._public import PUBLIC, names_of
from tests.sources import PLACES as SOURCES, is_installed

SOURCE = Path(makespan.__file__)
ROOT = Path(__file__).parents[1]
PLACES = ("*.md", "docs/*.md", "docs/stories/*.md", "docs/notebooks/*.py", "examples/**/*.py")
ENGINES = ("makespan.execute.dask", "makespan.execute.mpi", "makespan.execute.torch")
INSTALLED = [*filter(is_installed, ENGINES)]
PAGES = [path for place in PLACES for path in ROOT.glob(place)]
PACKAGES = {tuple(place.rsplit(".", 1)) for place in PUBLIC if "." in place} | {
    ("makespan", "execute"), ("makespan.execute", "dask"), ("makespan.execute", "mpi"),
    ("makespan.execute", "torch"),
    ("makespan", "balance"),
}  # fmt: skip


@pytest.mark.parametrize("place", PUBLIC)
def test_all_is_what_type_checkers_see(place):
    """``__all__``, the table of public names and the imports for type checkers agree."""
    module = import_module(place)
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    seen = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.If)
        for statement in node.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert seen == set(names_of(place)) == set(module.__all__) - {"__version__"}


def code_of(path):
    """The Python that a page or a script shows, with its place."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return [text]
    blocks = re.findall(r"^```(?:python|pycon)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [
        "\n".join(line.removeprefix(">>> ").removeprefix("... ") for line in block.splitlines()
                  if not block.startswith(">>>") or line.startswith((">>>", "...")))
        for block in blocks
    ]  # fmt: skip


def imported(code):
    """The names of makespan that a piece of Python imports, or reaches by dots."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("makespan"):
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "makespan":
            yield "makespan", node.attr


def listed(place):
    """What a place lists; of an engine, which need not be installed, as its file has it."""
    if place not in ENGINES:
        return import_module(place).__all__
    files = (Path(source, *place.split("."), "__init__.py") for source in SOURCES)
    (text,) = (file.read_text(encoding="utf-8") for file in files if file.exists())
    return re.findall(r'^    "(\w+)",$', text.partition("__all__ = [")[2], re.MULTILINE)


def test_what_an_engine_lists_is_read_right():
    """From its file, where there is more to compare it with."""
    for place in ENGINES:
        assert "Calibration" in listed(place)
        assert place not in INSTALLED or listed(place) == import_module(place).__all__


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_what_is_shown_is_public(path):
    """Pages and examples import nothing that is not public, but where methods are added."""
    for code in code_of(path):
        for place, name in imported(code):
            if path.name == "extending.md":
                assert hasattr(import_module(place), name)
            elif (place, name) not in PACKAGES:
                assert name in listed(place), f"{path.name}: {place}.{name}"
    for dotted in re.findall(r"`(makespan(?:\.[a-z_]+)+)[(]", path.read_text(encoding="utf-8")):
        place, _, name = dotted.rpartition(".")
        assert (place, name) in PACKAGES or name in listed(place), dotted


@pytest.mark.parametrize("place", [*PUBLIC, *INSTALLED])
def test_wrong_keywords_name_the_nearest(place):
    """Every public function with a keyword of a letter too much says which was meant."""
    module = import_module(place)
    functions = [getattr(module, name) for name in module.__all__]
    for function in filter(inspect.isfunction, functions):
        parameters = inspect.signature(function).parameters.values()
        starred = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
        named = [each.name for each in parameters if each.kind not in starred]
        if named and len(named) == len(parameters):
            with pytest.raises(TypeError, match=f"did you mean '{named[-1]}'"):
                function(**{f"{named[-1]}s": 1})


def test_every_name_resolves_and_is_documented():
    """Every public name can be had and has a docstring."""
    for name in makespan.__all__:
        value = getattr(makespan, name)
        assert name == "__version__" or value.__doc__


@pytest.mark.parametrize("place", [*PUBLIC, *INSTALLED])
def test_every_name_has_an_example(place):
    """In its docstring; of a module, in one of a function or in its own."""
    module = import_module(place)
    for name in set(module.__all__) - {"__version__"}:
        value = getattr(module, name)
        within = vars(value).values() if inspect.ismodule(value) else ()
        assert any(">>> " in (inspect.getdoc(each) or "") for each in (value, *within)), name


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
