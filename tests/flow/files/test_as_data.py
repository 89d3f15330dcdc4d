"""Problems and results as data: dictionaries, JSON and streams in place of files."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import makespan
from makespan.core.errors import InputError, MakespanError, ProblemError
from makespan.flow.files.documents import parsed

CORPUS = Path(__file__).parents[2] / "corpus"
TASKS = makespan.IndependentTasks(2, {"a": 3.0, "b": 2.0, "c": 2.0}, release={"b": 1.0})


@pytest.mark.parametrize(
    "path", [*CORPUS.glob("[!ce]*/*.toml"), *CORPUS.glob("[!ce]*/*.plan.json")], ids=str
)
def test_a_dictionary_is_read_as_its_file(path: Path) -> None:
    """What a file holds, given as a dictionary, is the same problem or result."""
    read: Any = makespan.read_result if path.name.endswith(".plan.json") else makespan.read_problem
    found = read(
        parsed(path), **({} if read is makespan.read_result else {"files_in": path.parent})
    )
    if read is makespan.read_result:
        assert found.to_dict() == read(path).to_dict()
    else:
        assert found == read(path)


def test_a_result_goes_through_json_and_back() -> None:
    """The text of a result is read as the result, named tasks and all."""
    result = makespan.solve(TASKS)
    again = makespan.read_result(json.loads(result.to_json()))
    assert again.problem == TASKS
    assert again.schedule == result.schedule
    assert again.to_json() == result.to_json()
    assert set(again.answer["machine_of"]) == {"a", "b", "c"}


@pytest.mark.parametrize("name", ["json", "csv", "svg", "html", "npz"])
def test_a_stream_gets_what_a_file_would(name: str, tmp_path: Path) -> None:
    """A stream of text or bytes holds what the file of that suffix does."""
    result = makespan.solve(TASKS)
    path = tmp_path / f"plan.{name}"
    makespan.save(result, path)
    stream: Any = io.BytesIO() if name == "npz" else io.StringIO()
    makespan.save(result, stream, format=name)
    content = stream.getvalue()
    if name != "npz":  # a zip holds times
        assert content == path.read_text("utf-8")
    assert content


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda result: makespan.save(result, io.StringIO()), "format: is missing; a stream takes"),
        (
            lambda result: makespan.save(result, io.StringIO(), format="doc"),
            "format: 'doc' is not allowed; a stream takes one of json, csv",
        ),
        (
            lambda result: makespan.save(result, io.StringIO(), format="npz"),
            "format: 'npz' is bytes; the stream does not take it",
        ),
        (
            lambda result: makespan.save(result, "plan.json", format="json"),
            "format: is for a stream",
        ),
        (lambda result: makespan.read_problem({"kind": "job"}), "kind: 'job' is not"),
        (lambda result: makespan.read_problem({"kind": "independent"}), "machines: is missing"),
        (lambda result: makespan.read_result(result.to_dict()["problem"]), "solve it first"),
    ],
)
def test_what_is_wrong_is_named(call: Callable[[makespan.Result], Any], says: str) -> None:
    """A stream without its format, and dictionaries that hold something else."""
    with pytest.raises(MakespanError) as caught:
        call(makespan.solve(TASKS))
    assert says in str(caught.value)
    assert isinstance(caught.value, InputError)


def test_names_come_with_durations_speeds_workers_and_limits() -> None:
    """A mapping stands wherever things have names, and means what lists of both mean."""
    assert list(TASKS.tasks) == ["a", "b", "c"]
    assert TASKS.release is not None
    assert TASKS.release.tolist() == [0.0, 1.0, 0.0]
    plain = makespan.IndependentTasks(2, [3.0, 2.0, 2.0], names=["a", "b", "c"], release=[0, 1, 0])
    assert plain == TASKS
    assert makespan.IndependentTasks(2, {"T1": 1.0, "T2": 1.0}) == makespan.IndependentTasks(
        2, [1.0, 1.0]
    )
    unlike = makespan.IndependentTasks(2, {"a": [1.0, 2.0]})
    assert unlike.durations.tolist() == [[1.0, 2.0]]
    network = makespan.Network({"gpu": 2.0, "cpu": 1.0})
    assert (list(network.names), network.speed.tolist()) == (["gpu", "cpu"], [2.0, 1.0])
    star = makespan.Star({"near": makespan.Worker(send=1.0), "far": {"send": 2.0}})
    assert list(star.names) == ["near", "far"]
    costs = {"a": [0.0, 1.0, 2.0], "b": [0.0, 1.0, 2.0]}
    some = makespan.Partition(tasks=2, costs=costs, lower={"b": 1})
    assert some.costs.lower.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"durations": {"a": -1.0}}, "durations[0]: -1.0 is negative"),
        ({"durations": [1.0, 2.0], "names": ["a", "a"]}, "names[1]: 'a' is also the name"),
        ({"durations": [1.0, 2.0], "names": ["a"]}, "names: has 1 entries; there are 2 tasks"),
        ({"durations": [1.0], "names": "a"}, "names: 'a' is not a list of names"),
        ({"durations": {"long": 1.0}, "release": {"lomg": 1.0}}, "did you mean 'long'?"),
        ({"durations": {3: 1.0}}, "names[0]: 3 is not a name"),
    ],
)
def test_wrong_names_are_refused(arguments: dict[str, Any], says: str) -> None:
    """Names that are none, that stand twice, or of tasks that there are not."""
    with pytest.raises(ProblemError, match=r".*") as caught:
        makespan.IndependentTasks(2, **arguments)
    assert says in str(caught.value)


def test_the_error_of_an_option_lists_what_can_be_set() -> None:
    """Nothing that is internal is listed; what is near is suggested all the same."""
    with pytest.raises(MakespanError) as caught:
        makespan.solve(TASKS, foo=1)
    assert str(caught.value).endswith("has an option 'foo'; known are iterations")
    with pytest.raises(MakespanError, match="did you mean 'time_limit'"):
        makespan.solve(TASKS, time_limits=1)
