"""The pages for newcomers: every room is on them, and what they name is there."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Protocol

import pytest

from makespan import DivisibleLoad, Star, Worker, solve
from makespan.core import kind
from makespan.core.numeric.jit import MOST
from makespan.execute import carry_out
from makespan.execute.dealing import engine
from makespan.execute.pools import reception
from makespan.flow.kinds import KINDS
from tests.sources import PLACES

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "makespan"
SOURCES = [place / "makespan" for place in PLACES if (place / "makespan").is_dir()]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
ROOMS, PATH = PAGE.split("## The path of one plan")
ROWS = dict(re.findall(r"^\| `(\w+)/` \|(.*)$", ROOMS, re.MULTILINE))
NAMED = re.compile(r"`([\w/]+(?:/|\.py))`")
EXTENDING = (ROOT / "docs" / "extending.md").read_text("utf-8")
PROTOCOLS = [
    each
    for module in (kind, engine, carry_out, reception)
    for each in vars(module).values()
    if Protocol in getattr(each, "__bases__", ())
]


def folders(within: str) -> list[str]:
    return sorted(
        path.parent.name for own in SOURCES for path in own.glob(f"{within}*/__init__.py")
    )


def test_every_package_has_its_row() -> None:
    assert sorted(ROWS) == folders("")


@pytest.mark.parametrize("package", ROWS)
def test_every_room_is_in_its_row(package: str) -> None:
    """And nothing that looks like a room is not one."""
    rooms = folders(f"{package}/")
    missing = [room for room in rooms if not re.search(rf"\b{room}/", ROWS[package])]
    assert not missing, f"docs/architecture.md, in the row of {package}/, lacks {missing}"
    said = [name for name in NAMED.findall(ROWS[package]) if name.endswith("/")]
    places = [place for own in SOURCES for place in (own / package, own, ROOT)]
    assert all(any((place / name).is_dir() for place in places) for name in said)


@pytest.mark.parametrize("room", PROTOCOLS)
def test_every_function_of_a_room_is_told(room: type) -> None:
    """To who adds a kind, or an engine."""
    names = [name for name in {**vars(room), **room.__annotations__} if not name.startswith("_")]
    lacking = [name for name in names if not re.search(rf"`{name}\b", EXTENDING)]
    assert not lacking, f"docs/extending.md says nothing of {lacking} of {room.__name__}"


def test_what_is_named_is_there() -> None:
    """In the source, or from the root on; of a kind's files, with every kind."""
    for name in NAMED.findall(ROOMS.partition("## Where to look")[2]):
        assert any((place / name).exists() for place in (ROOT, *SOURCES)), name
    for name in re.findall(r"`<kind>/([\w/.]+)`", ROOMS):
        found = [each for each in KINDS if (SOURCE / each / name).exists()]
        assert found == list(KINDS) or name.startswith("referee"), name


def test_the_path_of_one_plan_goes_through_the_files_that_are_named() -> None:
    """In a solve as the page has it; nearly 40 in all."""
    entered = set()

    def called(frame: FrameType, event: str, argument: object) -> None:
        entered.add(frame.f_code.co_filename)

    workers = [Worker(send=1, compute=3), Worker(send=2, compute=5), Worker(send=2, compute=6)]
    problem = DivisibleLoad(load=10, platform=Star(workers))
    solve(problem)
    sys.setprofile(called)
    try:
        solve(problem)
    finally:
        sys.setprofile(None)
    own = {Path(file) for file in entered if Path(file).is_relative_to(SOURCE)}
    assert 30 < len(own) < 40
    steps = PATH.partition("1. ")[2].partition("A file goes")[0]
    for name in NAMED.findall(steps):
        places = (SOURCE, SOURCE / "divisible", SOURCE / "divisible" / "methods")
        assert any(
            entry.is_relative_to(place / name) for place in places for entry in own
        ) or name.endswith(("__init__.py", "result.py")), name


def test_no_group_is_repeated_possessively() -> None:
    """CPython before 3.11.5 loses its place behind such a group; an atomic one does the same."""
    repeated = re.compile(r"\)[*+?]\+")
    for path in (path for source in SOURCES for path in source.rglob("*.py")):
        assert not repeated.search(path.read_text("utf-8")), path


COMPILED = {"kernel", "loop", "graph_loop", "part"}
DECORATED = re.compile(rf"^ *@({'|'.join(COMPILED)})\b", re.MULTILINE)
FORMS = {"form", "chosen", "compiled", "plain"}  # of a loop: what is then bound


def _leaf(node: ast.AST) -> str:
    """The last name of a reference; of ``loop.at(size)``, ``loop``."""
    if isinstance(node, ast.Call):
        return _leaf(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    return getattr(node, "attr", getattr(node, "id", ""))


def _module(path: Path) -> str:
    return path.parent.name if path.stem == "__init__" else path.stem


def _is_compiled(node: ast.AST) -> bool:
    decorators = getattr(node, "decorator_list", ())
    names = (each.func if isinstance(each, ast.Call) else each for each in decorators)
    return any(_leaf(name) in COMPILED for name in names)


def _of_python(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what the interpreter runs: all but the bodies of what is compiled."""
    left = [tree]
    while left:
        for node in ast.iter_child_nodes(left.pop()):
            if not _is_compiled(node):
                yield node
                left.append(node)


def _held(node: ast.AST, loops: set[str]) -> Iterator[str]:
    """Yield the names to which an assignment gives forms of loops."""
    if isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
        for target, value in pairs:
            if isinstance(target, ast.Tuple):
                values = value.elts if isinstance(value, ast.Tuple) else [value]
                pairs += zip(target.elts, values, strict=False)
            else:
                form = value.func if isinstance(value, ast.Call) else value
                if getattr(form, "attr", "") in FORMS and _leaf(form.value) in loops:  # type: ignore[attr-defined]
                    yield _leaf(target)


@pytest.mark.thorough
def test_arguments_of_long_loops_are_bound_by_name() -> None:
    """A swap of two columns of one type is not silent: Python hands over few by position."""
    texts = {path: path.read_text("utf-8") for own in SOURCES for path in own.rglob("*.py")}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    long: dict[str, set[str]] = {}  # by file, the loops that are defined in it
    for path in (path for path, text in texts.items() if DECORATED.search(text)):
        for node in ast.walk(trees[path]):
            wide = isinstance(node, ast.FunctionDef) and len(node.args.args) > MOST
            if wide and _is_compiled(node):
                long.setdefault(_module(path), set()).add(node.name)  # type: ignore[attr-defined]
    assert len(set().union(*long.values())) > 30
    for path, tree in trees.items():
        loops = set(long.get(_module(path), ()))
        own = list(_of_python(tree))
        for node in own:
            if isinstance(node, ast.ImportFrom):
                place = (node.module or "").rpartition(".")[2]
                loops |= {each.name for each in node.names} & long.get(place, set())
        loops |= {name for node in own for name in _held(node, loops)}
        for call in (node for node in own if isinstance(node, ast.Call)):
            counted = [each for each in call.args if not isinstance(each, ast.Starred)]
            said = f"{path}:{call.lineno}: {_leaf(call.func)} takes {len(call.args)} by position"
            assert len(counted) <= MOST, said
            assert counted == call.args or _leaf(call.func) not in loops, said
