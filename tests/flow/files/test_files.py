"""Reading and saving: round trips, malformed files, and files written whole or not at all."""

from __future__ import annotations

import json
import math
import os
import socket
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from makespan import (
    DivisibleLoad,
    FileError,
    IndependentTasks,
    InputError,
    MakespanError,
    Schedule,
    Star,
    Worker,
    check,
    read_problem,
    read_result,
    save,
    solve,
)
from makespan.core.inputs import files
from makespan.core.inputs.files import file_beneath, read_text, write_whole
from makespan.flow.files.documents import parsed
from makespan.flow.files.files import problem_of, read_schedule
from makespan.flow.files.reading import problems_in
from makespan.flow.files.results import result_of
from makespan.flow.serialize import as_json, jsonable, result_as_dict
from tests.privileges import unprivileged

STAR = DivisibleLoad(
    load=10.0, platform=Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
)
TASKS = IndependentTasks(machines=2, durations=[3, 2, 2])
PROBLEMS = [STAR, TASKS]


def refusal(path: Path, reader: Any = read_problem) -> str:
    with pytest.raises(InputError) as caught:
        reader(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("suffix", [".toml", ".json"])
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.kind)
def test_problems_come_back_equal(problem: Any, suffix: str, tmp_path: Path) -> None:
    """What is saved as TOML or JSON is read back as an equal problem."""
    save(problem, tmp_path / f"problem{suffix}")
    assert read_problem(tmp_path / f"problem{suffix}") == problem


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.kind)
def test_results_come_back_equal(problem: Any, tmp_path: Path) -> None:
    """A result read back states the same, and the referee accepts it."""
    result = solve(problem)
    save(result, tmp_path / "result.json")
    again = read_result(tmp_path / "result.json")
    assert result_as_dict(again) == result_as_dict(result)
    assert again.problem == problem
    assert check(again).ok


def test_a_result_is_as_designed() -> None:
    """The keys of a result and of an activity are those of the design, in its order."""
    data = json.loads(as_json(result_as_dict(solve(STAR))))
    assert list(data) == [
        *("format", "kind", "method", "status", "makespan", "lower_bound", "gap", "runtime"),
        *("seed", "notes", "answer", "schedule", "problem", "details"),
    ]
    assert data["format"] == "makespan.result/1"
    assert data["schedule"]["format"] == "makespan.schedule/1"
    assert data["schedule"]["activities"][0] == {
        "kind": "send",
        "machine": "P0",
        "peer": "P1",
        "item": 0,
        "amount": 7.0,
        "start": 0.0,
        "end": 7.0,
    }


def test_infinity_is_null_in_json_and_inf_in_toml(tmp_path: Path) -> None:
    """JSON files hold no Infinity; TOML has a word for it."""
    workers = [Worker(name=f"w{index}", memory=index or math.inf) for index in range(1001)]
    problem = DivisibleLoad(load=1.0, platform=Star(workers))
    for suffix, word in ((".json", "null"), (".toml", "inf")):
        save(problem, tmp_path / f"p{suffix}")
        assert word in (tmp_path / f"p{suffix}").read_text()
        assert read_problem(tmp_path / f"p{suffix}") == problem


def test_what_json_lacks_is_replaced() -> None:
    """Arrays become lists, NaN and infinities null, anything else its text."""
    data = {"a": np.array([1.0, np.nan]), "b": (math.inf, np.int64(3)), "c": {1: Path("x")}}
    assert json.loads(as_json(data)) == {"a": [1.0, None], "b": [None, 3], "c": {"1": "x"}}
    assert jsonable(np.bool_(True)) is True


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\xff\xfeh\x00", "is UTF-16 text; save it as UTF-8"),
        (b'kind = "x"\nname = "\xe9"', "line 2: byte 0xe9 is not UTF-8 text"),
        (b"load = ", "at its end: not valid TOML: Invalid value"),
        (b"load = \nrounds = 1", "line 1, column 8: not valid TOML: Invalid value"),
        (b"load = 1\nload = 2\n", "line 2, column 9: not valid TOML: Cannot overwrite a value"),
        (b"a = " + b"[" * 10_000, "is nested too deeply; 64 levels are allowed"),
        (b"a = " + b"[" * 70 + b"]" * 70, "is nested too deeply; 64 levels are allowed"),
        (b"load = " + b"9" * 5000, "a number can't be read: Exceeds the limit"),
        (b"load = 1", "kind: is missing; it is 'divisible'"),
        (
            b'kind = "divisble"',
            "kind: 'divisble' is not a kind of problem; did you mean 'divisible'?",
        ),
        (b"kind = 3", "kind: 3 is not a kind of problem"),
        (b'format = "makespan.problem/2"', "is newer than this makespan reads"),
        (b'format = "makespan.problem/9999999999"', "is newer than this makespan reads"),
        (b'format = "makespan.result/1"', "this is a result"),
        (b'format = "other/1"', "format: 'other/1' is not a format"),
        (b"format = 1", "format: 1 is not a format"),
    ],
)
def test_malformed_toml_is_refused(content: bytes, expected: str, tmp_path: Path) -> None:
    """Each refusal names the file and what is wrong with it, and where."""
    path = tmp_path / "problem.toml"
    path.write_bytes(content)
    assert expected in refusal(path)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("[1]", "holds a list; it must hold an object, {...}"),
        ("null", "holds a null"),
        ('{"kind": "div', "line 1, column 10: not valid JSON: Unterminated string"),
        ('{"kind": "divisible",\n  7}', "line 2, column 3: not valid JSON"),
        ('{"load": 1, "load": 2}', "the key 'load' stands twice in one object"),
        ('{"load": NaN}', "NaN is not JSON"),
        ('{"load": -Infinity}', "-Infinity is not JSON"),
        ('{"load": ' + "9" * 5000 + "}", "a number can't be read: Exceeds the limit"),
        ('{"a": "\\ud800"}', "half of a surrogate pair"),
        ('{"a":' * 100_000, "is nested too deeply; 64 levels are allowed"),
        ('{"a":' * 70 + "1" + "}" * 70, "is nested too deeply; 64 levels are allowed"),
    ],
)
def test_malformed_json_is_refused(content: str, expected: str, tmp_path: Path) -> None:
    """Broken, ambiguous and bottomless JSON is refused."""
    path = tmp_path / "problem.json"
    path.write_text(content)
    assert expected in refusal(path)


@pytest.mark.parametrize("key", ["a" + ".a" * 20_000, '"a"' + " . 'b'" * 14_000])
def test_bottomless_keys_are_refused(key: str, tmp_path: Path) -> None:
    """A key of many parts nests as deeply as tables in tables, and is found before it is split."""
    path = tmp_path / "problem.toml"
    for text in (f"{key} = 1", f"[{key}]\n", f"x = {{ {key} = 1 }}"):
        path.write_text(text)
        assert "is nested too deeply; 64 levels are allowed" in refusal(path)
    path.write_text('x = ["' + 'a", "' * 100_000 + '"]\ny = [' + "1.5, " * 100_000 + "]")
    assert "kind: is missing" in refusal(path)


def test_all_mistakes_come_under_the_name_of_the_file(tmp_path: Path) -> None:
    """The heading counts the mistakes, each on a line of its own."""
    path = tmp_path / "star.toml"
    path.write_text('kind = "divisible"\nload = -1\nrounds = 0\nplatform = {}\n')
    assert refusal(path).splitlines() == [
        f"{path}: 3 mistakes",
        "  platform.topology: is missing; it is 'star', 'bus', 'tree', 'sources'",
        "  load: -1 is negative; a load is 0 or more units",
        "  rounds: 0 is below 1; rounds are a whole number from 1, or 'auto'",
    ]


def test_what_is_no_readable_file_is_refused(tmp_path: Path) -> None:
    """A folder, a missing file and a path through a file are named as such."""
    assert "is a folder, not a file" in refusal(tmp_path)
    assert "there is no such file" in refusal(tmp_path / "none.toml")
    (tmp_path / "file").write_text("x")
    assert "is a file, not a folder" in refusal(tmp_path / "file" / "x.toml")


def test_no_permission_is_said(tmp_path: Path) -> None:
    """Files and folders without permission are refused by that name."""
    path = tmp_path / "p.toml"
    path.write_text("kind = 1")

    def act() -> None:
        path.chmod(0)
        assert "can't be read: no permission" in refusal(path)
        tmp_path.chmod(0o500)
        with pytest.raises(FileError, match="no permission"):
            save(STAR, tmp_path / "q.toml")

    unprivileged(act)


def test_too_large_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not more than a bounded number of bytes is read."""
    monkeypatch.setattr(files, "LARGEST", 2**20)
    path = tmp_path / "p.json"
    path.write_bytes(b" " * (2**20 + 1))
    assert "is larger than 1 MiB, the most that is read" in refusal(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_devices_and_pipes_are_not_files(tmp_path: Path) -> None:
    """Devices are never read; a pipe is where its path was given, not where a folder holds it."""
    assert "is a device, not a file" in refusal(Path("/dev/zero"))
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(tmp_path / "s.toml"))
        assert "is a socket, not a file" in refusal(tmp_path / "s.toml")
    os.mkfifo(tmp_path / "p.toml")
    with pytest.raises(FileError, match=r"p\.toml: is a pipe, not a file"):
        read_text(tmp_path / "p.toml")
    save(TASKS, tmp_path / "q.toml")
    assert problems_in(tmp_path) == ({str(tmp_path / "q.toml"): TASKS}, ())
    writer = Thread(target=(tmp_path / "p.toml").write_bytes, args=[b"\xef\xbb\xbfx = 1"])
    writer.start()
    assert parsed(tmp_path / "p.toml") == {"x": 1}
    writer.join()


def test_files_named_in_files_lie_beneath(tmp_path: Path) -> None:
    """A name may not lead out of the folder, by dots, from the root or by a link."""
    inside = tmp_path / "inside"
    (inside / "deeper").mkdir(parents=True)
    (inside / "deeper" / "x.csv").write_text("x")
    (tmp_path / "y.csv").write_text("y")
    (inside / "link.csv").symlink_to("../y.csv")
    (inside / "own.csv").symlink_to("deeper/x.csv")
    for name in ("deeper/x.csv", "deeper/../deeper/x.csv", "own.csv"):
        assert file_beneath(inside, name).read_text() == "x"
    for name in ("../y.csv", "link.csv", str(tmp_path / "y.csv"), "/dev/zero"):
        with pytest.raises(FileError, match="leads out of the folder"):
            file_beneath(inside, name)
    assert file_beneath(inside, "../y.csv", tmp_path).read_text() == "y"
    assert file_beneath(inside, "own.csv", tmp_path / "inside" / "deeper").read_text() == "x"
    for name, fault in (("deeper", "is a folder"), ("no.csv", "no such file"), ("a\0b", "read")):
        with pytest.raises(FileError, match=fault):
            file_beneath(inside, name)


def test_other_suffixes_are_read_by_content(tmp_path: Path) -> None:
    """A file that starts with a brace is JSON, any other is TOML; a byte order mark is skipped."""
    save(STAR, tmp_path / "p.json")
    (tmp_path / "p.txt").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "p.json").read_bytes())
    assert read_problem(tmp_path / "p.txt") == STAR
    (tmp_path / "q").write_text('kind = "independent"\nmachines = 2\ndurations = [3, 2, 2]')
    assert read_problem(tmp_path / "q") == TASKS


@pytest.mark.parametrize(
    ("thing", "name", "allowed"),
    [
        (STAR, "p.yaml", ".json, .toml"),
        (STAR, "p.csv", ".json, .toml, .npz, .svg"),
        (STAR, "p", ".json, .toml"),
        (STAR, "p.trace.json", ".json, .toml"),
        (solve(STAR), "r.toml", ".json, "),
    ],
)
def test_other_suffixes_are_not_written(
    thing: Any, name: str, allowed: str, tmp_path: Path
) -> None:
    """A suffix that does not fit is refused with those that do, and nothing is written."""
    with pytest.raises(FileError, match=f"allowed are {allowed}"):
        save(thing, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_what_is_neither_is_not_saved(tmp_path: Path) -> None:
    """Only results, problems and schedules are saved."""
    with pytest.raises(FileError, match="can't be saved"):
        save("text", tmp_path / "x.json")  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_pictures_are_saved(suffix: str, tmp_path: Path) -> None:
    """A picture's suffix draws the plan."""
    save(solve(STAR), tmp_path / f"plan{suffix}")
    head = (tmp_path / f"plan{suffix}").read_bytes()[:8]
    assert head.startswith(b"<svg" if suffix == ".svg" else b"\x89PNG") or b"<" in head


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the disk is full, the file is as it was and no half of another lies beside it."""
    path = tmp_path / "result.json"
    path.write_text("old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="can't be written: No space left on device"):
        save(solve(STAR), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_writing_keeps_links_and_modes(tmp_path: Path) -> None:
    """A link still points to the file, which keeps its permissions."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640
    write_whole(os.devnull, b"gone")
    with pytest.raises(FileError, match="there is no such folder"):
        write_whole(tmp_path / "no" / "file", "x")


def changed(**keys: Any) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(as_json(result_as_dict(solve(STAR))))
    for path, value in keys.items():
        place: Any = data
        *steps, last = [int(step) if step.isdigit() else step for step in path.split("__")]
        for step in steps:
            place = place[step]
        place[last] = value
    return data


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"makespan": "4"}, "makespan: '4' is not a number; it is a number or null"),
        ({"gap": True}, "gap: True is not a number; it is a number or null"),
        ({"lower_bund": 1}, "unknown key 'lower_bund'; did you mean 'lower_bound'?"),
        ({"status": "best"}, "status: 'best' is not allowed; it is 'optimal'"),
        ({"status": "infeasible"}, "status: a result that is 'infeasible' can't have a schedule"),
        ({"schedule": None}, "status: a result that is 'optimal' needs a schedule"),
        ({"seed": "a"}, "seed: 'a' is not a whole number or null"),
        ({"notes": "a"}, "notes: 'a' is not a list of texts"),
        ({"details": []}, "details: [] is not a table of keys and values"),
        ({"objective": 3}, "objective: 3 is not a table of keys and values"),
        ({"objective": {"name": "x"}}, "objective: is not complete"),
        ({"kind": "independent"}, "kind: 'independent' differs from the problem's 'divisible'"),
        ({"problem": None}, "problem: is not a table of keys and values"),
        ({"problem__load": -1}, "problem.load: -1 is negative"),
        ({"schedule": 3}, "schedule: 3 is not a schedule, {machines, activities}"),
        ({"schedule__activities": None}, "schedule.activities: is missing"),
        ({"schedule__machines": "P0"}, "schedule.machines: 'P0' is not a list of names"),
        ({"schedule__machines": ["P0"] * 2}, "schedule.machines: 'P0' stands twice"),
        (
            {"schedule__activities__1__start": "0"},
            "schedule.activities[1].start: '0' is not a number",
        ),
        (
            {"schedule__activities__1__end": None},
            "schedule.activities[1].end: None is not a number",
        ),
        (
            {"schedule__activities__0__kind": "sand"},
            "schedule.activities[0].kind: 'sand' is not a kind of activity; did you mean 'send'?",
        ),
        (
            {"schedule__activities__0__machine": "Q"},
            "schedule.activities[0].machine: 'Q' is not a machine of the schedule",
        ),
        (
            {"schedule__activities__0__peer": 2},
            "schedule.activities[0].peer: 2 is not a machine of the schedule",
        ),
        (
            {"schedule__activities__0__item": 1.5},
            "schedule.activities[0].item: 1.5 is not a whole number",
        ),
        ({"schedule__activities__0": []}, "schedule.activities[0]: [] is not a table"),
        (
            {"schedule__activities__0__strat": 1},
            "schedule.activities[0]: unknown key 'strat'; did you mean 'start'?",
        ),
        (
            {"schedule__activities__0__amount": 10**400},
            "schedule.activities[0].amount: 1000000000",
        ),
        ({"format": "makespan.result/2"}, "is newer than this makespan reads"),
    ],
)
def test_mistakes_in_results_name_their_place(
    keys: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    """Every part of a result is held against its form before anything is made of it."""
    path = tmp_path / "result.json"
    path.write_text(json.dumps(changed(**keys)))
    assert expected in refusal(path, read_result)


def test_a_missing_part_of_an_activity_is_named() -> None:
    """An activity says when it starts; nothing is assumed for it."""
    data = changed()
    del data["schedule"]["activities"][2]["start"]
    with pytest.raises(FileError, match=r"schedule\.activities\[2\]\.start: is missing"):
        result_of(data, problem_of)


def test_many_wrong_activities_are_cut_short() -> None:
    """Twenty activities are explained, the others counted."""
    data = changed(schedule__activities=[3] * 50)
    with pytest.raises(FileError) as caught:
        result_of(data, problem_of)
    assert len(caught.value.mistakes) == 21
    assert "and 30 more activities" in str(caught.value)


def test_parts_of_a_result_are_refused_by_name(tmp_path: Path) -> None:
    """A problem alone and a schedule alone are not results, and the refusal says what they are."""
    save(STAR, tmp_path / "problem.json")
    assert "is a problem, not a result" in refusal(tmp_path / "problem.json", read_result)
    (tmp_path / "schedule.json").write_text('{"machines": [], "activities": []}')
    assert "is a schedule alone" in refusal(tmp_path / "schedule.json", read_result)


def test_a_schedule_made_elsewhere_is_read(tmp_path: Path) -> None:
    """A problem and a schedule are enough, without a format, machines in any order."""
    data = changed()
    rows = data["schedule"]["activities"]
    for row in rows:
        if row["peer"] is None:
            del row["peer"]
    part = {"problem": data["problem"], "schedule": {"activities": rows}}
    (tmp_path / "plan.json").write_text(json.dumps(part))
    result = read_result(tmp_path / "plan.json")
    assert result.makespan == 28.0
    assert result.status == "feasible"
    assert check(result).ok
    data["schedule"]["machines"].reverse()
    (tmp_path / "alone.json").write_text(json.dumps(data["schedule"]))
    schedule = read_schedule(tmp_path / "alone.json", STAR)
    assert schedule.machines == STAR.machines
    assert check(STAR, schedule).ok


def test_a_foreign_machine_is_left_to_the_referee(tmp_path: Path) -> None:
    """A schedule that names a machine of its own is read; the referee refuses it."""
    rows = [("send", 0, 1, 0, 10.0, 0.0, 10.0)]
    save(Schedule.of_rows(["P0", "Q"], rows), tmp_path / "s.json")
    report = check(STAR, read_schedule(tmp_path / "s.json", STAR))
    assert [violation.message for violation in report.violations] == [
        "the problem has no machine 'Q'"
    ]


def test_only_machines_in_use_are_named_when_there_are_very_many(tmp_path: Path) -> None:
    """A billion idle machines are not listed."""
    problem = IndependentTasks(machines=10**9, durations=[1.0, 2.0])
    save(solve(problem), tmp_path / "r.json")
    data = json.loads((tmp_path / "r.json").read_text())
    assert data["schedule"]["machines"] == ["M1", "M2"]
    assert check(read_result(tmp_path / "r.json")).ok
    foreign = Schedule.of_rows(["X"], [("compute", 0, -1, 0, 1.0, 0.0, 1.0)])
    assert str(check(problem, foreign)).endswith("the problem has no machine 'X'")


WORDS = (
    "kind format load platform topology workers send compute master columns names machines "
    "durations options method order transfers problem schedule activities status start nodes "
    "parent loads x"
)
KEYS = st.sampled_from(WORDS.split())
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from([10**400, -1, 0, 1, 3]),
    st.sampled_from(["divisible", "independent", "star", "bus", "tree", "choose", "P1", "auto"]),
    st.text(max_size=3),
)
VALUES = st.recursive(
    SCALARS,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(KEYS, part, max_size=5),
    max_leaves=15,
)


@given(st.dictionaries(KEYS, VALUES, max_size=8), st.sampled_from(["divisible", "independent"]))
@example({"platform": {"topology": "star", "columns": {"names": ["a"]}}, "load": 1}, "divisible")
def test_no_structure_gives_anything_but_a_makespan_error(data: dict[str, Any], kind: str) -> None:
    """Whatever stands in a file, it is read, or refused by an error of makespan's own."""
    for content in (data, {"load": 1.0, **data, "kind": kind}):
        for reader in (problem_of, lambda given: result_of(given, problem_of)):
            with suppress(MakespanError):
                assert reader(content) is not None


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
@example(b'{"a": 1e999999999}')
@example(b"a = 1e999999999")
def test_no_bytes_give_anything_but_a_file_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    """Whatever bytes a file holds, they are a table or refused."""
    path = tmp_path_factory.getbasetemp() / "bytes"
    path.write_bytes(content)
    with suppress(FileError):
        assert isinstance(parsed(path), dict)
