"""Held boards: what is taken, what is refused and why, and what the folder of boards says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import makespan
from makespan import FileError, IndependentTasks, InputError, InvalidSchedule, ProblemError
from makespan.cli.main import run
from makespan.flow.files.files import as_dict
from makespan.lab.held import BOUND, PLAN, PROBLEM, held, submit

ROOT = Path(__file__).parents[2]
TASKS = IndependentTasks(2, [3, 3, 2, 2, 2])


@pytest.fixture
def folder(tmp_path):
    """A board whose plan ends at 7, where 6 is the best."""
    board = tmp_path / "boards" / "five"
    board.mkdir(parents=True)
    makespan.save(TASKS, board / PROBLEM)
    makespan.save(makespan.solve(TASKS, method="lpt"), board / PLAN)
    bound = {"value": 6.0, "about": "a test", "proof": "bound", "name": "mean", "source": "none"}
    (board / BOUND).write_text(json.dumps(bound))
    return board.parent


@pytest.fixture
def better(tmp_path):
    makespan.save(makespan.solve(TASKS), tmp_path / "better.json")
    return tmp_path / "better.json"


def changed(path, change):
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    return path


def test_a_better_plan_is_taken(folder, better, capsys):
    """It stands in the file, refereed, with who found it; the same one is no better then."""
    assert run(["board", "submit", str(better), "--folder", str(folder), "--by", "Ada"]) == 0
    assert capsys.readouterr().out == "five: taken, ends at 6, gap 0 %\n"
    (board,) = held(folder)
    assert (board.plan.makespan, board.plan.status, board.gap) == (6.0, "optimal", 0.0)
    assert board.plan.details["by"] == "Ada"
    assert makespan.check(board.plan).ok
    assert run(["board", "submit", str(better), "--folder", str(folder)]) == 2
    assert "five: ends at 6; the held plan ends at 6" in capsys.readouterr().err


def test_a_schedule_alone_says_where_it_goes(folder, tmp_path):
    path = tmp_path / "alone.json"
    path.write_text(json.dumps(as_dict(makespan.solve(TASKS).schedule)))
    with pytest.raises(FileError, match="has no problem; --to says which board"):
        submit(path, folder)
    with pytest.raises(InputError, match="--to: there is no board 'fife'; did you mean 'five'"):
        submit(path, folder, to="fife")
    assert submit(path, folder, to="five").plan.makespan == 6.0


def test_what_the_referee_refuses_stays_outside(folder, better, capsys):
    """Whatever the file claims; the board is as before."""
    before = (folder / "five" / PLAN).read_text()

    def shorter(data):
        data["makespan"] = 1.0
        data["schedule"]["activities"][0]["end"] = 1.0

    path = changed(better, shorter)
    with pytest.raises(InvalidSchedule, match=r"five: the referee refuses this plan: .*violation"):
        submit(path, folder)
    assert run(["board", "submit", str(path), "--folder", str(folder)]) == 5
    assert (folder / "five" / PLAN).read_text() == before


def test_what_is_no_better_or_too_good(folder, tmp_path, better):
    path = tmp_path / "same.json"
    makespan.save(makespan.solve(TASKS, method="lpt"), path)
    with pytest.raises(InputError, match="five: ends at 7; the held plan ends at 7"):
        submit(path, folder)
    changed(folder / "five" / BOUND, lambda bound: bound.update(value=6.5))
    with pytest.raises(InputError, match=r"before the bound 6\.5: one of both is wrong"):
        submit(better, folder)


def test_what_is_of_no_board(folder, tmp_path):
    path = tmp_path / "other.json"
    makespan.save(makespan.solve(IndependentTasks(2, [1, 2])), path)
    with pytest.raises(ProblemError, match="that of no board; there are five"):
        submit(path, folder)
    path.write_text("[]")
    with pytest.raises(FileError, match="schedule"):
        submit(path, folder, to="five")
    path.write_text("{")
    with pytest.raises(FileError, match="is not JSON"):
        submit(path, folder)
    with pytest.raises(FileError, match="there is no board"):
        held(tmp_path / "nothing")
    (folder / "five" / BOUND).write_text('{"value": "much"}')
    with pytest.raises(FileError, match=r"bound\.json: is not that of a board"):
        held(folder)


BOARDS = held(ROOT / "boards")


def test_the_list(capsys):
    assert run(["board", "list", "--folder", str(ROOT / "boards")]) == 0
    assert all(board.name in capsys.readouterr().out for board in BOARDS[:1])


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_a_held_plan_is_what_it_says(board):
    """Refereed, of the board's own problem, above the bound; open."""
    assert makespan.check(board.plan).ok
    assert (
        as_dict(board.plan.problem) == as_dict(board.problem) or board.plan.problem == board.problem
    )
    assert board.plan.makespan > board.bound["value"]


def proved_again(board):
    """Return the bound that the proof of a board gives when it is made again."""
    if board.bound["proof"] == "bound":
        return makespan.lower_bound(board.problem).value
    asked = {name: board.bound[name] for name in ("method", "time_limit")}
    return makespan.solve(board.problem, rng=board.bound["seed"], **asked).lower_bound


@pytest.mark.parametrize(
    "board", [b for b in BOARDS if b.bound["proof"] == "bound"], ids=lambda board: board.name
)
def test_a_held_bound_is_that_of_its_theorem(board):
    assert proved_again(board) == pytest.approx(board.bound["value"], rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "board", [b for b in BOARDS if b.bound["proof"] == "solve"], ids=lambda board: board.name
)
def test_a_held_bound_is_found_again(board):
    """By the same solve, within its limit, on a quiet machine."""
    assert proved_again(board) >= board.bound["value"] * (1 - 1e-6)


def test_the_table_is_that_of_the_folder():
    """`python -m benchmarks.held_boards` writes it."""
    from benchmarks.held_boards import table

    page = (ROOT / "docs" / "benchmarks" / "held_boards.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    made = table(BOARDS).markdown()
    assert rows == [line for line in made.splitlines() if line.startswith("|")]


def test_what_was_copied_can_be_improved(tmp_path):
    """A board of the folder takes a better plan: here its own, after a worse one stood there."""
    board = next(each for each in BOARDS if each.problem.kind == "independent")
    shutil.copytree(board.folder, tmp_path / "boards" / board.name)

    def later(data):
        rows = data["schedule"]["activities"]
        end = data["makespan"]
        for row in rows:
            row["start"], row["end"] = row["start"] + end, row["end"] + end
        data["makespan"] = 2 * end

    changed(tmp_path / "boards" / board.name / PLAN, later)
    taken = submit(board.folder / PLAN, tmp_path / "boards", by="me")
    assert taken.plan.makespan == board.plan.makespan
