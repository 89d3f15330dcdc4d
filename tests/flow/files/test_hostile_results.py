"""Results made elsewhere: whatever stands in them, they are refereed, drawn or refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from makespan import (
    Dag,
    DivisibleLoad,
    IndependentTasks,
    InvalidSchedule,
    MakespanError,
    Network,
    Partition,
    Reduction,
    Star,
    TaskGraph,
    Worker,
    check,
    simulate,
    solve,
)
from makespan.core.problem import Problem
from makespan.core.schedule import WORDS
from makespan.flow.files.files import problem_of
from makespan.flow.files.results import result_of
from makespan.flow.picture import drawing
from makespan.flow.plot import html, svg, trace_events
from makespan.flow.result import Result
from makespan.flow.serialize import as_json, result_as_dict

WORKERS = [Worker(send=1.0, compute=3.0, return_=0.5), Worker(send=2.0, compute=5.0)]
EDGES = [("a", "b", 1.0), ("a", "c", 2.0)]
DAG = Dag({"a": 1.0, "b": 2.0, "c": 2.0}, EDGES)
PROBLEMS: list[Problem] = [
    DivisibleLoad(load=10.0, platform=Star(WORKERS[:1])),
    DivisibleLoad(load=10.0, platform=Star([WORKERS[1]] * 2), rounds=2),
    IndependentTasks(machines=2, durations=[3, 2, 2]),
    IndependentTasks(machines=2, durations=[3, 2, 2], preemptive=True),
    Partition(tasks=4, costs=[[0.0, 2.0, 4.0, 5.0, 6.0], [0.0, 1.0, 3.0, 6.0, 7.0]]),
    Reduction(machines=3, segments=2, transfer=1.0, reduce=0.5),
    TaskGraph(DAG, Network([1.0, 2.0])),
    TaskGraph(DAG, Network([1.0, 1.0]), duplication=True),
    TaskGraph(DAG, Network([1.0, 1.0]), contention="ports", communication="blocking"),
]
METHODS = {"taskgraph": "heft"}  # nothing is compiled while tests are collected
DOCUMENTS = [
    json.loads(as_json(result_as_dict(solve(problem, method=METHODS.get(problem.kind, "auto")))))
    for problem in PROBLEMS
]

ODD: dict[str, st.SearchStrategy[Any]] = {
    "kind": st.sampled_from(WORDS),
    "item": st.sampled_from([-(2**63), -2, -1, 0, 1, 2, 7, 2**31, 2**62, 2**63 - 1]),
    **dict.fromkeys(
        ("amount", "start", "end"),
        st.sampled_from([-1.0, 0.0, 5e-324, 1e-9, 0.5, 1, 4.0, 1e17, 1e250, 1.7e308]),
    ),
}


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Return a result's document with a few entries of its activities changed."""
    data = copy.deepcopy(draw(st.sampled_from(DOCUMENTS)))
    rows = data["schedule"]["activities"]
    names = st.sampled_from(data["schedule"]["machines"])
    odd = {**ODD, "machine": names, "peer": names | st.none()}
    for _ in range(draw(st.integers(1, 3))):
        if rows:
            what = draw(st.sampled_from(["change", "change", "copy", "drop"]))
            row = draw(st.integers(0, len(rows) - 1))
            key = draw(st.sampled_from(sorted(odd)))
            if what == "change":
                rows[row] = {**rows[row], key: draw(odd[key])}
            elif what == "copy":
                rows.append(dict(rows[row]))
            else:
                del rows[row]
    return data


USES = {
    "text": str,
    "document": lambda result: as_json(result_as_dict(result)),
    "svg": svg,
    "page": html,
    "trace": lambda result: json.dumps(trace_events(result), allow_nan=False),
    "simulation": lambda result: simulate(result, noise=0.1, repetitions=2),
}


@given(documents())
def test_no_result_breaks_its_readers(data: dict[str, Any]) -> None:
    """A changed plan is read or refused; what the referee accepts is shown in every way."""
    try:
        result: Result = result_of(data, problem_of)
    except MakespanError:
        return
    sound = check(result).ok
    refused = {}
    for use, show in USES.items():
        try:
            show(result)
        except MakespanError as error:
            refused[use] = error
    assert not (sound and refused)
    if _misses(result):
        assert isinstance(refused["simulation"], InvalidSchedule)


def _misses(result: Result) -> bool:
    """Whether the plan itself is invalid, not only what is stated about it."""
    assert result.schedule is not None
    return not check(result.problem, result.schedule).ok


@pytest.mark.parametrize("data", DOCUMENTS, ids=lambda data: data["kind"])
def test_unchanged_results_are_shown(data: dict[str, Any]) -> None:
    """The documents from which the others are made are sound."""
    result = result_of(data, problem_of)
    assert check(result).ok
    for show in USES.values():
        show(result)


def test_the_method_of_a_result_does_not_steer_a_terminal() -> None:
    """A carriage return in it is shown as an escape."""
    written = result_as_dict(solve(PROBLEMS[0]))
    result = result_of({**written, "method": "a\rb"}, problem_of)
    assert str(result).splitlines()[0].endswith("(a\\u000db)")


@pytest.mark.parametrize(
    "changed",
    [
        {"unknown": 1e15},
        {"unknown": [[1]]},
        {"front": 5},
        {"front": [{}]},
        {"front": [{"time": "a", "energy": 1, "counts": {}}]},
        {"front": [{"time": 1, "energy": 1, "counts": {"R9": 5}}]},
        {"front": [{"time": 1, "energy": 1, "counts": 5}]},
    ],
    ids=str,
)
def test_fronts_made_elsewhere_are_drawn_or_refused(changed: dict[str, Any]) -> None:
    """The page leaves out what it can't read; the view of the front says so."""
    costs, energy = [[0.0, 1.0, 2.0]] * 2, [[0.0, 3.0, 4.0], [0.0, 1.0, 9.0]]
    found = solve(Partition(tasks=2, costs=costs, energy=energy, objective="pareto"))
    data = json.loads(as_json(result_as_dict(found)))
    data["details"] |= changed
    result = result_of(data, problem_of)
    assert "<html" in html(result)
    said = ""
    try:
        assert drawing(result, "front")
    except MakespanError as error:
        said = str(error)
    assert not said or "can't be drawn" in said
