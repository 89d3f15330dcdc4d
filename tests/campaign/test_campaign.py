"""The campaign itself: that it finds what is wrong, keeps it, and counts on from a file."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from campaign import (
    byte_level,
    cases,
    corpus,
    crew,
    differential,
    documents,
    odd,
    schemas,
    structure,
    truth,
)
from campaign.oracles import oracles
from campaign.part import MODULES, Defect, Part, Trial, part_named
from campaign.report import as_text, table
from campaign.smaller import smaller
from campaign.state import OtherVersion, State
from campaign.worker import Slice, _serve, failure_of
from makespan import Schedule
from makespan.flow.kinds import KINDS


def broken(trial: Trial) -> None:
    """A part that fails for every other seed."""
    number = trial.random("make").randrange(1000)
    trial.holds("input.json", str(number).encode())
    trial.count("inputs")
    if number % 2:
        raise Defect(f"{number} is odd")


BROKEN = Part(name="structure", promise="even", attempt=broken, goals={"inputs": 20}, share=1.0)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cases go to a folder of the test's own."""
    monkeypatch.setattr(cases, "FOLDER", tmp_path / "cases")
    return tmp_path / "cases"


def test_a_failing_try_is_kept_with_its_input(kept: Path, tmp_path: Path) -> None:
    """One slice of a broken part: its defects are one in kind, kept a few times, and counted on."""
    state = State.begin(tmp_path / "state.json", seed=3)
    report = _serve(BROKEN, Slice("structure", state.next_seed("structure"), 0.3), tmp_path, [0, 0])
    state.note(report)
    (entry,) = state.defects.values()
    assert entry["times"] == len(report.failures) > len(entry["cases"]) == 3
    case = json.loads((kept / entry["cases"][0] / "case.json").read_text())
    content = (kept / entry["cases"][0] / case["input"]).read_text()
    assert case["what"] == f"{content} is odd"
    assert f"{report.tries}" in as_text(state).replace(",", "")
    assert "| `structure` |" in table(state)
    assert f"inputs: {report.tries} of 1,000,000" in table(state).replace(
        f"{report.tries:,}", str(report.tries)
    )
    state.save()
    again = State.begin(tmp_path / "state.json", seed=99)
    assert (again.seed, again.tries, again.counts) == (3, state.tries, state.counts)


def test_a_state_of_another_version_is_refused(tmp_path: Path) -> None:
    """Counts of one source say nothing about another."""
    state = State.begin(tmp_path / "state.json", seed=1)
    state.version = "another"
    state.save()
    with pytest.raises(OtherVersion, match="another"):
        State.begin(tmp_path / "state.json", seed=1)


def test_a_case_is_tried_again_with_the_input_that_was_kept(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replay uses the kept input, and says how it fails or that it does not any more."""
    trial = Trial("1/structure/1/0", tmp_path)
    trial.holds("input.json", b"{}")
    name = cases.keep(failure_of("structure", trial, Defect("was wrong")), "v")
    assert cases.replay(str(kept / name)) is None  # {} is refused in words today
    monkeypatch.setattr(structure, "read", lambda trial, path: 1 / 0)
    found = cases.replay(name)
    assert found is not None
    assert found.what.startswith("ZeroDivisionError")


def test_a_kept_case_is_made_smaller(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the defect does not need is dropped, and its numbers become plain ones."""

    def attempt(trial: Trial) -> None:
        assert trial.given is not None
        trial.holds(*trial.given)
        values = json.loads(trial.given[1]).get("values", [])
        if any(value > 5 for value in values):
            raise Defect(f"{max(values)} is too much")
        if not values:
            raise Defect("there is nothing")

    monkeypatch.setattr(cases, "part_named", lambda name: replace(BROKEN, attempt=attempt))
    trial = Trial("1/structure/1/0", tmp_path)
    trial.holds("input.json", b'{"values": [3, 7.25, 9, 1], "other": {"x": 1}}')
    name = cases.keep(failure_of("structure", trial, Defect("9 is too much")), "v")
    assert smaller(name) == {"values": [9]}
    assert smaller(name, seconds=0.0) == {"values": [3, 7.25, 9, 1], "other": {"x": 1}}


def test_a_defect_that_no_case_shows_any_more_is_mended(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state of another version is read for it, and says what is still open."""
    state = State.begin(tmp_path / "state.json", seed=1)
    trial = Trial("1/structure/1/0", tmp_path)
    trial.holds("input.json", b"{}")
    state.note_failure(failure_of("structure", trial, Defect("was wrong")))
    state.version = "another"
    state.save()
    again = State.begin(tmp_path / "state.json", seed=1, closed=True)
    assert (again.version, again.open_defects("structure")) == ("another", 1)
    again.try_defects_again()  # {} is refused in words today
    assert again.open_defects("structure") == 0
    monkeypatch.setattr(structure, "read", lambda trial, path: 1 / 0)
    again.try_defects_again()
    assert again.open_defects("structure") == 1


@pytest.mark.thorough
def test_documents_of_the_corpus_are_read(tmp_path: Path) -> None:
    """Unchanged, most documents of the corpus are problems; changed, both outcomes occur."""
    assert len(corpus.problems()) > 40
    assert {suffix for suffix, _ in corpus.texts()} >= {".json", ".toml", ".stg", ".dot", ".csv"}
    counts = {"read and written again": 0, "refused": 0}
    for number in range(60):
        trial = Trial(f"0/test/{number}", tmp_path)
        for part in (structure, byte_level):
            name, content = part.made(trial.random("make"))
            try:
                part.read(trial, trial.holds(name, content))
            except Exception:  # what it finds is for the campaign, not for this test
                continue
        for what in counts:
            counts[what] += trial.counts[what]
    assert min(counts.values()) > 0


def test_changes_are_made_to_a_copy_and_follow_from_the_seed() -> None:
    """The same seed makes the same document; the one it starts from stays as it is."""
    original = corpus.problems()[0]
    before = json.dumps(original)
    made = [
        json.dumps(
            documents.changed(original, random.Random(5), corpus.problems(), ["x"]), default=str
        )
        for _ in range(2)
    ]
    assert made[0] == made[1]
    assert json.dumps(original) == before
    first, second = (schemas.document(corpus.schemas()[0], random.Random(5)) for _ in range(2))
    assert repr(first) == repr(second)


@pytest.mark.parametrize("name", MODULES)
def test_parts_are_complete(name: str) -> None:
    """Each part is called what it is found by, and promises something."""
    part = part_named(name)
    assert part.name == name
    assert part.promise.endswith(".")
    assert part.share > 0


def test_workers_that_die_or_hang_are_replaced(kept: Path, tmp_path: Path) -> None:
    """A worker killed from outside costs one try, which is kept; the campaign goes on."""
    state = State.begin(None, seed=1)
    hand = crew._Hand()
    try:
        hand.ask(Slice("structure", "1/structure/1", 30.0))
        hand.process.kill()
        hand.process.join()
        heard = crew._heard(hand, crew.Turns([structure.PART], state))
    finally:
        hand.kill()
    heard.end()
    assert heard is not hand
    (entry,) = state.defects.values()
    assert "died of signal 9" in entry["what"]


def test_tries_are_counted_and_the_same_again(kept: Path, tmp_path: Path) -> None:
    """So many tries are asked for, whoever makes them and however long they take."""
    asked = []
    for _ in range(2):
        state = State.begin(None, seed=5)
        turns = crew.Turns([BROKEN], state, tries=45)
        slices = []
        while (one := turns.next(2.0)) is not None:
            slices.append(one)
            state.note(report := _serve(BROKEN, one, tmp_path, [0, 0]))
            turns.note(one, report.tries, report.seconds)
        assert state.tries["structure"] == 45
        asked.append((slices, state.defects))
    assert asked[0][0] == asked[1][0]
    assert {key: entry["times"] for key, entry in asked[0][1].items()} == {
        key: entry["times"] for key, entry in asked[1][1].items()
    }


def test_workers_leave_nothing_where_the_campaign_is_killed() -> None:
    """A worker that nobody asks any more ends, and its folder of inputs is gone."""
    hand = crew._Hand()
    try:
        hand.pipe.close()
        hand.process.join(60.0)
        assert hand.process.exitcode == 0
        assert not hand.folder.exists()
    finally:
        hand.kill()


def test_differential_sees_an_untrue_claim() -> None:
    """A result that says optimal above the best value, or reaches less than it, is a defect."""
    from makespan import IndependentTasks, solve

    result = solve(IndependentTasks(machines=2, durations=[3.0, 3.0, 2.0]))
    truth.held("auto", result, 5.0, 1e-9)
    with pytest.raises(Defect, match="better than the best"):
        truth.held("auto", result, 5.5, 1e-9)
    with pytest.raises(Defect, match="is optimal"):
        truth.held("auto", result, 4.0, 1e-9)
    with pytest.raises(Defect, match="infeasible"):
        truth.held("auto", replace(result, status="infeasible"), 5.0, 1e-9)


def test_every_kind_has_an_oracle() -> None:
    """Which its generator and its answers make it, whatever else these take."""
    assert {oracle.kind for oracle in oracles()} == set(KINDS)


@pytest.mark.parametrize("what", ["divisible · whole-units · solved", "reduction · star · solved"])
def test_differential_prefers_methods_that_lag_behind(what: str, tmp_path: Path) -> None:
    """Problems are drawn for a proving method that is behind, though few are for it."""
    proving = what in differential.PART.goals
    times = 0
    for number in range(4):
        trial = Trial(f"0/{number}", tmp_path, open=(what,))
        differential.attempt(trial)
        times += trial.counts[what]
    assert (times == 4) == proving


def test_large_plans_are_seldom_drawn() -> None:
    """A plan of very many activities takes the time of a hundred small ones."""
    shortest = [("compute", 0, -1, 0, 1.0, 0.0, 1.0)]
    small, large = (Schedule.of_rows(["A"], shortest * times) for times in (1, structure.LARGE + 1))
    rng = random.Random(1)
    assert all(structure._is_drawn(small, rng) for _ in range(100))
    assert 0 < sum(structure._is_drawn(large, rng) for _ in range(100)) < 30


def test_changed_documents_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deep values are not put into deep values, which no writer could follow."""

    def deep(rng: random.Random) -> list[object]:
        inner: list[object] = []
        for _ in range(200):  # as deep as odd.deep goes
            inner = [inner]
        return inner

    monkeypatch.setattr(odd, "value", deep)
    for seed in range(50):
        made: dict[str, object] = {"x": 0}
        for _ in range(5):
            made = documents.changed(made, random.Random(seed), [{"x": 0}], ["x", "y"])
        structure.as_toml(made)
        structure.as_json(made)


def test_odd_values_are_copies() -> None:
    """What one document makes of an odd value is not in the next: a seed says what is made."""
    rng = random.Random(1)
    for found in (odd.value(rng) for _ in range(1000)):
        if isinstance(found, list):
            found.append("changed")
    assert not any("changed" in each for each in odd.TYPES if isinstance(each, list))
