"""Searches for problems on which a method does badly."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import makespan
from makespan import Grid, InputError, adversary, check, read_problem
from makespan.core.control import Control
from makespan.core.errors import FileError
from makespan.core.inputs.rules import Mistakes
from makespan.core.registry import _REGISTER, register
from makespan.core.solution import Solution
from makespan.flow.kinds import KINDS, generate
from makespan.lab.adversary.changes import Range, changed, ranges_of
from makespan.lab.adversary.document import (
    document_of,
    is_symmetric,
    lists,
    names,
    numbers,
    pattern,
    references,
    resized,
    shown,
    without,
)

SMALL: dict[str, dict[str, Any]] = {
    "divisible": {"workers": 3},
    "independent": {"tasks": 6, "machines": 2},
    "partition": {"resources": 2, "tasks": 6},
    "pipeline": {"stages": 4, "machines": 2},
    "reduction": {"machines": 3, "segments": 2, "spread": 0.5},
    "taskgraph": {"size": 6, "machines": 3},
}
GRAPHS = Grid("taskgraph", options=SMALL["taskgraph"], seeds=4)


@pytest.mark.parametrize("kind", KINDS)
def test_changes_make_problems_of_every_kind(kind: str) -> None:
    """Numbers and lists change; each proposal is read back as the same document."""
    samples = [document_of(generate(kind, seed=seed, options=SMALL[kind])) for seed in range(4)]
    ranges = ranges_of(samples, {}, Mistakes())
    rng, document, what = np.random.default_rng(1), samples[0], set()
    for _ in range(60):
        text, after, problem = changed(document, ranges, rng)
        if problem is None:
            continue
        assert text
        assert after != document
        for path, value in numbers(after):
            allowed = ranges.numbers.get(pattern(path))
            assert allowed is None or allowed.low <= value <= allowed.high
        for path, each in lists(after):
            length = ranges.lengths.get(pattern(path))
            assert length is None or length.low <= len(each) <= length.high
        what.add(text.rpartition(" ")[2] in ("added", "away"))
        document = document_of(problem)
    assert what == {True, False}


@pytest.mark.thorough
def test_a_chain_is_worse_than_its_start_and_its_plans_are_valid() -> None:
    """The ratio is that of the plans, both refereed, to a proved optimum; the story leads there."""
    found = adversary("mct", GRAPHS, chains=2, iterations=150, time_limit=None)
    assert found.result is not None
    assert found.reference is not None
    assert found.problem is not None
    assert found.start is not None
    assert found.ratio is not None
    assert str(found.reference.status) == "optimal"
    assert check(found.result).ok
    assert check(found.reference).ok
    assert found.ratio == found.result.makespan / found.base  # type: ignore[operator]
    begin = makespan.solve(found.start, method="mct").makespan
    assert begin is not None
    assert found.ratio > begin / makespan.solve(found.start).makespan  # type: ignore[operator]
    assert found.story[-1][1] == pytest.approx(found.ratio)
    assert found.tried == 300
    again = makespan.solve(found.problem, method="mct")
    assert again.makespan == found.result.makespan


def test_the_same_seed_gives_the_same_search() -> None:
    """And another one another."""
    asked: dict[str, Any] = {"chains": 1, "iterations": 60, "time_limit": None}
    one, same, other = (adversary("heft", GRAPHS, rng=rng, **asked) for rng in (3, 3, 4))
    assert one.story == same.story
    assert one.story != other.story


def test_a_search_goes_on_where_it_was_ended(tmp_path: Path) -> None:
    """In slices of no time, each call does a problem; the end is that of a search in one go."""
    file = tmp_path / "search.json"
    asked: dict[str, Any] = {"chains": 2, "iterations": 40}
    whole = adversary("heft", GRAPHS, time_limit=None, **asked)
    for _ in range(200):
        part = adversary("heft", GRAPHS, time_limit=0.05, state=file, **asked)
        if sum(each["steps"] for each in json.loads(file.read_text())["chains"]) == 80:
            break
    assert part.ratio == whole.ratio
    assert part.story == whole.story
    with pytest.raises(FileError, match="its method is heft, not cpop"):
        adversary("cpop", GRAPHS, state=file, **asked)
    file.write_text("[]")
    with pytest.raises(FileError, match="not the file of a search"):
        adversary("heft", GRAPHS, state=file, **asked)


@pytest.mark.thorough
def test_ranges_of_the_user_hold() -> None:
    """Of numbers and of lists; starts outside are drawn anew, and minimal ones keep to them."""
    within = {"tasks.*.work": (1.0, 2.0), "tasks": (3, 4), "edges": (1, 9)}
    start = Grid("taskgraph", options={"size": 4, "machines": 2}, seeds=3)
    found = adversary(
        "cpop", start, within=within, chains=1, iterations=80, minimal=True, time_limit=None
    )
    assert found.problem is not None
    data = document_of(found.problem)
    assert all(1.0 <= task["work"] <= 2.0 for task in data["tasks"])
    assert 3 <= len(data["tasks"]) <= 4
    assert data["edges"]


@pytest.mark.thorough
def test_minimal_problems_are_smaller_and_as_bad() -> None:
    """Within a hundredth of the logarithm of the ratio."""
    asked: dict[str, Any] = {"chains": 1, "iterations": 120, "time_limit": None}
    whole, least = (adversary("mct", GRAPHS, minimal=each, **asked) for each in (False, True))
    assert least.ratio is not None
    assert whole.ratio is not None
    assert least.ratio >= whole.ratio**0.99 - 1e-12
    size = [len(str(document_of(each.problem))) for each in (whole, least)]  # type: ignore[arg-type]
    assert size[1] < size[0]


def test_against_a_method_and_a_bound() -> None:
    """The base is the other plan's makespan, or the bound of the method's own result."""
    asked: dict[str, Any] = {"chains": 1, "iterations": 30, "time_limit": None}
    tasks = Grid("independent", options=SMALL["independent"], seeds=2)
    found = adversary("lpt", tasks, against="multifit", **asked)
    assert found.reference is not None
    assert found.base == found.reference.makespan
    bound = adversary("lpt", tasks, against="bound", **asked)
    assert bound.reference is None
    assert bound.result is not None
    assert bound.base == bound.result.lower_bound
    assert "its lower bound" in str(bound)


def test_of_two_goals_the_first_that_differs_is_compared() -> None:
    """A longer plan of less energy is worse than the optimum, where time comes first."""
    options = {"resources": 3, "tasks": 12, "energy": True, "objective": "time-then-energy"}
    starts = [each.problem() for each in Grid("partition", options=options, seeds=4)]
    found = adversary("any-plan", starts, chains=1, iterations=40, time_limit=20)
    assert found.faults == ()
    assert found.ratio >= 1
    bound = adversary("any-plan", starts[:1], against="bound", chains=1, iterations=2)
    assert bound.ratio is None


def test_an_invalid_plan_is_a_fault_not_a_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method whose plans the referee refuses; and one that beats proved optima."""
    monkeypatch.setitem(_REGISTER, "independent", dict(_REGISTER.get("independent", {})))

    @register("independent", name="nothing-done", complexity="O(1)", source="a test")
    def nothing_done(problem: Any, control: Control) -> Solution:
        """Leave all tasks out."""
        plan = makespan.solve(problem, method="lpt").schedule
        assert plan is not None
        return Solution(schedule=plan.select(np.arange(len(plan)) > 0))

    tasks = Grid("independent", options=SMALL["independent"], seeds=2)
    found = adversary("nothing-done", tasks, chains=1, iterations=5, time_limit=None)
    assert found.ratio is None
    assert found.problem is None
    assert found.faults
    note, data = found.faults[0]
    assert note.startswith("a mistake: nothing-done")
    assert read_problem(data).kind == "independent"
    assert "no problem found" in str(found)


def test_mistakes_are_named_together() -> None:
    """A method of another kind, a place that is none, ends the wrong way round."""
    within: Any = {"tasks.*.wrok": (0, 1), "tasks.*.work": (2, 1), "edges": 3}
    with pytest.raises(InputError) as caught:
        adversary("lpt", GRAPHS, within=within)
    text = str(caught.value)
    for part in ("no method 'lpt'", "did you mean 'tasks.*.work'", "above the greatest", "a pair"):
        assert part in text
    with pytest.raises(InputError, match="neither a kind"):
        adversary("heft", "taskgarph")
    with pytest.raises(InputError, match="several kinds"):
        adversary("heft", [GRAPHS, Grid("independent")])


@pytest.mark.parametrize("place", ["method", "against"])
def test_a_method_that_applies_to_no_start_is_refused(place: str) -> None:
    """With the reason, before anything is searched."""
    start = Grid("independent", options={**SMALL["independent"], "environment": "uniform"})
    asked: dict[str, Any] = {"method": "mct", "against": "optimum", place: "lpt"}
    with pytest.raises(InputError, match=f"{place}: lpt applies to no start: it needs identical"):
        adversary(asked.pop("method"), start, **asked)


@pytest.mark.parametrize("environment", ["uniform", "unrelated"])
def test_optima_on_machines_that_differ_are_proved(environment: str) -> None:
    """Of the default problems: their durations have no common unit."""
    start = Grid("independent", options={"tasks": 6, "environment": environment}, seeds=2)
    found = adversary("min-min", start, chains=1, iterations=10, time_limit=None)
    assert found.tried == 10
    assert found.ratio is not None
    assert found.ratio > 1


def test_a_summary_of_a_method_that_is_optimal() -> None:
    """One plan, which is its own reference; no list of changes that did nothing."""
    start = Grid("partition", options=SMALL["partition"], seeds=2)
    text = str(adversary("threshold", start, chains=1, iterations=5, time_limit=None))
    assert text.count("optimal (threshold)") == 1
    assert "no change made it worse" in text
    assert "those that did most" not in text


def test_notes_say_what_kept_a_search_from_more() -> None:
    """Its limit; and numbers that are the same everywhere."""
    tasks = makespan.IndependentTasks(2, [3.0, 3.0, 3.0])
    found = adversary("lpt", tasks, chains=2, iterations=10**6, time_limit=0.01)
    assert re.search("ended the search after [0-9,]+ of 2,000,000 problems", found.notes[0])
    assert "give some a range" in found.notes[1]
    ranges: dict[str, Any] = {"within": {"durations.*": (1, 9)}, "time_limit": None}
    assert not adversary("lpt", tasks, chains=1, iterations=3, **ranges).notes


def test_what_belongs_together_goes_together() -> None:
    """Lists of one length in a table, and what mentions a name."""
    network = {"machines": [{"name": "A"}, {"name": "B"}], "rate": [[1, 2], [3, 4]]}
    assert resized(network, 2, 1, more=False) == {"machines": [{"name": "A"}], "rate": [[1]]}
    more = resized(network, 2, 0, more=True)
    assert more["rate"] == [[1, 2, 1], [3, 4, 3], [1, 2, 1]]
    graph = {"tasks": [{"name": "A"}], "edges": [{"from": "A", "to": "B"}, {"between": ["A", "C"]}]}
    assert without(graph, "A") == {"tasks": [], "edges": []}
    graph["tasks"].append({"name": "B"})
    assert names(graph) == {"tasks": ["A", "B"]}
    assert [path for path, _, _ in references(graph)] == [
        *(("edges", 0, "from"), ("edges", 0, "to"), ("edges", 1, "between", 0))
    ]
    assert shown(graph, ("edges", 0, "to")) == "edges[A → B].to"
    assert not is_symmetric(network["rate"])
    assert Range(0.0, 10.0).rounded(3.14159) == 3.14


def test_files_of_the_worst_problem(tmp_path: Path) -> None:
    """A problem that can be read, a page with both plans, and the changes."""
    found = adversary("mct", GRAPHS, chains=1, iterations=60, time_limit=None)
    for suffix in ("json", "toml", "html", "csv"):
        makespan.save(found, tmp_path / f"worst.{suffix}")
    assert found.problem is not None
    read = read_problem(tmp_path / "worst.json")
    assert document_of(read) == document_of(found.problem)
    assert document_of(read_problem(tmp_path / "worst.toml")) == document_of(found.problem)
    assert (tmp_path / "worst.csv").read_text().count("\n") == len(found.story) + 1
    page = (tmp_path / "worst.html").read_text()
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert len(json.loads(data[1])["charts"]) == 2


def test_the_command_writes_what_it_finds(tmp_path: Path) -> None:
    """In two processes, with a file of its state; the same ratio as JSON."""
    from makespan.cli.main import run

    worst, state = tmp_path / "worst.json", tmp_path / "state.json"
    asked = ["adversary", "mct", "taskgraph", "-O", "size=5", "-O", "machines=2", "--chains", "2"]
    asked += ["--iterations", "30", "--within", "tasks.*.work=1:9", "--state", str(state)]
    assert run([*asked, "--jobs", "2", "-q", "-o", str(worst)]) == 0
    data = document_of(read_problem(worst))
    assert all(1 <= task["work"] <= 9 for task in data["tasks"])
    assert [each["steps"] for each in json.loads(state.read_text())["chains"]] == [30, 30]


def test_the_command_refuses_what_makes_no_sense(capsys: pytest.CaptureFixture[str]) -> None:
    """Ranges that are none, options of a generator for files, unknown methods."""
    from makespan.cli.main import run

    for arguments, part in (
        (["adversary", "heft", "taskgraph", "--within", "tasks=3"], "PLACE=LOW:HIGH"),
        (["adversary", "heft", "graph.json", "-O", "size=3"], "-O is for"),
        (["adversary", "hefty", "taskgraph"], "no method 'hefty'"),
        (["adversary", "heft", "nothing.json"], "neither a kind"),
        (["adversary", "lpt", "independant"], "did you mean 'independent'?"),
        (["adversary", "lpt", "independent", "taskgraph"], "independent is a kind"),
    ):
        assert run(arguments) == 2
        assert part in capsys.readouterr().err
