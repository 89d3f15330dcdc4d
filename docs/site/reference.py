"""The reference of Python: a page for each public name, with its example and what that draws."""

from __future__ import annotations

import doctest
import inspect
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File

import makespan
from makespan._public import PUBLIC, names_of

INDEX = "reference/python.md"
GROUPS = {
    "Problems": "DivisibleLoad Partition TaskGraph Reduction IndependentTasks Pipeline",
    "Parts of problems": (
        "Star Worker Master Affine Convex Price Tree TreeNode Source Sources Dag Network "
        "Interconnect Stage"
    ),
    "From a problem to a plan": (
        "solve methods lower_bound check compare simulate sensitivity predict Noise plot "
        "microbatches bubble"
    ),
    "Files": "read_problem read_result save",
    "Results": (
        "Result Schedule Bound Report Violation Comparison Comparisons Simulation Sensitivity "
        "Prediction"
    ),
    "Experiments": (
        "Experiment Grid read_experiment experiment records Record Results report Overview "
        "adversary Adversary landscape Landscape board"
    ),
    "Errors": (
        "MakespanError InputError ProblemError MethodError FileError InvalidSchedule "
        "ExecutionError MissingExtra"
    ),
}
ENGINES = {
    "The file to copy": "makespan.balance",
    "On Dask": "makespan.execute.dask",
    "On MPI": "makespan.execute.mpi",
    "On PyTorch": "makespan.execute.torch",
}
SPLIT = "makespan.solve(makespan.DivisibleLoad(load=10, platform=star))"
GRAPH = "makespan.TaskGraph(dag, makespan.Network.complete(speeds=[1.0, 2.0]))"
DRAWN: dict[str, tuple[str, str]] = {
    "DivisibleLoad": (SPLIT, ""),
    "Partition": ("problem", "costs"),
    "TaskGraph": (f"makespan.solve({GRAPH})", ""),
    "Reduction": (
        "makespan.solve(Reduction(machines=4, segments=3, latency=1, transfer=1, reduce=1))",
        "",
    ),
    "IndependentTasks": ("makespan.solve(tasks)", ""),
    "Star": (SPLIT, "platform"),
    "Tree": ("makespan.solve(makespan.DivisibleLoad(load=10, platform=tree))", "platform"),
    "Dag": (GRAPH, "graph"),
    "Network": ("makespan.TaskGraph(makespan.Dag({'a': 1.0}, []), network)", "platform"),
    "solve": (SPLIT, ""),
    "plot": ("plan", ""),
    "compare": ("compare(problem)", ""),
    "simulate": ("result", ""),
    "check": ("result", ""),
    "Result": ("result", ""),
    "Comparison": ("comparison", ""),
    "Overview": ("overview", ""),
}
"""By name: what of its example is drawn, and as which picture."""
RUNS = ("map", "run", "Execution")
"""What of Dask brings a run, which is drawn by what measured it."""


def pages(config: MkDocsConfig) -> Iterator[File]:
    """Yield the pages and their pictures; refuse a public name that no group has."""
    listed = {name for names in GROUPS.values() for name in names.split()}
    missing = set(makespan.__all__) - listed - {"__version__"}
    if missing:
        raise ValueError(f"the reference has no group for {sorted(missing)}")
    yield File.generated(config, INDEX, content="".join(_index()))
    for place, name, _ in _entries():
        path, picture = _path(place, name), _drawn(place, name)
        text = _page(place, name)
        if picture is not None:
            code, drawn = picture
            own = f"{Path(path).stem}.svg"
            yield File.generated(config, f"{Path(path).parent}/{own}", content=drawn)
            text += f"\n\n## As a picture\n\n```python\n{code}\n```\n\n![{name}]({own})\n"
        elif place == ENGINES["On Dask"] and name in RUNS:
            text += "\n\n## As a picture\n\n![A plan and its run](../../images/dask-run.svg)\n"
        yield File.generated(config, path, content=text)


def in_nav() -> list[Any]:
    """Return what the navigation lists below *Python*: the groups, with a page for each name."""
    groups: dict[str, list[Any]] = {}
    for place, name, group in _entries():
        groups.setdefault(group, []).append({name: _path(place, name)})
    return [INDEX, *({title: found} for title, found in groups.items())]


def _entries() -> Iterator[tuple[str, str, str]]:
    """Yield every public name: its place, itself, its group."""
    for title, names in GROUPS.items():
        yield from (("makespan", name, title) for name in names.split())
    for place in PUBLIC:
        if place != "makespan":
            yield from ((place, name, place) for name in names_of(place))
    for title, place in ENGINES.items():
        yield from ((place, name, title) for name in import_module(place).__all__)


def _path(place: str, name: str) -> str:
    """Return the page of a name; file systems may take `report` and `Report` for one."""
    folder = "classes" if inspect.isclass(_thing(place, name)) else "functions"
    own = ".".join([*place.split(".")[1:], name]).removeprefix("execute.")
    return f"reference/{folder}/{own}.md"


def _thing(place: str, name: str) -> Any:
    return getattr(import_module(place), name)


def _index() -> Iterator[str]:
    yield "# Python\n\nWhat `import makespan` offers. Times are in seconds everywhere.\n"
    before = None
    for place, name, group in _entries():
        if group != before:
            before = group
            yield f"\n## {group}\n\n"
            if place != "makespan":
                above, _, own = place.rpartition(".")
                yield f"`from {above} import {own}`\n\n"
            if place in ENGINES.values():
                yield _directive(place, "members: false", "show_root_heading: false")
            yield "| name | what it is |\n|---|---|\n"
        summary = (inspect.getdoc(_thing(place, name)) or "").partition("\n\n")[0]
        said = " ".join(summary.split()).replace("|", "\\|")
        yield f"| [`{name}`]({_path(place, name).removeprefix('reference/')}) | {said} |\n"


def _page(place: str, name: str) -> str:
    thing = _thing(place, name)
    dotted = (
        thing.__name__
        if inspect.ismodule(thing)
        else f"{thing.__module__}.{getattr(thing, '__qualname__', name)}"
    )
    head = f"---\ntitle: {name}\nsearch:\n  boost: 0.5\n---\n\n"
    return head + _directive(dotted, "heading_level: 1") + f"\n`from {place} import {name}`\n"


def _directive(dotted: str, *options: str) -> str:
    lines = "".join(f"      {option}\n" for option in options)
    return f"::: {dotted}\n    options:\n{lines}\n"


def _drawn(place: str, name: str) -> tuple[str, bytes] | None:
    """Return what draws the picture of an example, and the picture; None where there is none."""
    if place != "makespan" or name not in DRAWN:
        return None
    expression, view = DRAWN[name]
    given = {each: getattr(makespan, each) for each in makespan.__all__} | {"makespan": makespan}
    text = inspect.getdoc(_thing(place, name)) or ""
    example = doctest.DocTestParser().get_doctest(text, given, name, None, None)
    doctest.DocTestRunner(verbose=False).run(example, out=lambda _: None, clear_globs=False)
    known = example.globs
    asked = {"view": view} if view else {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drawn.svg"
        makespan.save(eval(expression, known), path, **asked)
        said = f', view="{view}"' if view else ""
        return f'makespan.save({expression}, "drawn.svg"{said})', path.read_bytes()
