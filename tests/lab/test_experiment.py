"""Experiments in this process: what they consist of, their rows, and how they go on."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import polars
import pytest

import makespan
from makespan import Experiment, Grid, IndependentTasks, Record, experiment, records, solve
from makespan.core.errors import FileError, InputError
from makespan.flow.kinds import generate
from makespan.lab.instances import Generated
from makespan.lab.record import COLUMNS

GRID = Grid("independent", options={"tasks": [6, 9], "machines": [2, 3]}, seeds=2)
TASKS = IndependentTasks(machines=3, durations=[4, 4, 4, 4, 3, 2])
TIMES = ("cpu_time", "wall_time", "peak_memory")
SUFFIXES = (".csv", ".jsonl", ".json", ".parquet")


def untimed(rows: Any) -> list[dict[str, Any]]:
    """Rows without what differs from run to run, in the order of their keys."""
    found = [{k: v for k, v in row.as_dict().items() if k not in TIMES} for row in rows]
    return sorted(found, key=lambda row: [str(row[name]) for name in COLUMNS[:6]])


def test_a_grid_is_every_combination() -> None:
    """Each combination of options with each seed, by a name that says which; then its problem."""
    combinations = set(itertools.product([6, 9], [2, 3], [0, 1]))
    found = {(one.options["tasks"], one.options["machines"], one.seed) for one in GRID}
    assert found == combinations
    assert len(GRID) == len(combinations) == len({one.name for one in GRID})
    one = next(iter(GRID))
    same = generate("independent", seed=one.seed, options=one.options)
    assert one.problem().durations.tolist() == same.durations.tolist()
    assert one.name == Generated("independent", dict(reversed(one.options.items())), 0).name


def test_rows_are_what_solve_says() -> None:
    """A row of each method, instance and seed, with the numbers of the result."""
    asked = Experiment([TASKS, GRID], methods=["lpt", ("multifit", {}), "auto"], seeds=[3, 1])
    rows = list(records(asked))
    assert len(rows) == len(asked) == 9 * 3 * 2 == len({row.key for row in rows})
    assert [row.key for row in rows] == [cell.key for cell in asked.cells()]
    for row in rows[:6]:
        result = solve(TASKS, method=row.method, rng=row.seed)
        assert (row.makespan, row.bound, row.status, row.gap) == (
            *(result.makespan, result.lower_bound, result.status, result.gap),
        )
        assert (row.kind, row.size, row.version) == ("independent", 6, makespan.__version__)
        assert row.wall_time is not None
        assert row.peak_memory is None or row.peak_memory > 10**6


def test_what_goes_wrong_is_a_row(tmp_path: Path) -> None:
    """A file without a problem, a method of another kind, an option out of range."""
    (tmp_path / "broken.toml").write_text("kind = 'independent'\nmachines = -1\ndurations = [1]\n")
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "ignored.txt").write_text("")
    grid = Grid("independent", options={"tasks": -1})
    asked = Experiment([tmp_path, TASKS, grid], methods=["heft", "lpt"])
    rows = {(Path(row.instance).name, row.method): row for row in records(asked)}
    status = {key: row.status for key, row in rows.items()}
    assert status == {
        ("broken.toml", "heft"): "unreadable",
        ("broken.toml", "lpt"): "unreadable",
        ("other.json", "heft"): "unreadable",
        ("other.json", "lpt"): "unreadable",
        ("problem 2", "heft"): "refused",
        ("problem 2", "lpt"): "optimal",
        ("independent tasks=-1 seed=0", "heft"): "unreadable",
        ("independent tasks=-1 seed=0", "lpt"): "unreadable",
    }
    assert "machines" in rows["broken.toml", "lpt"].note
    assert "no method 'heft'" in rows["problem 2", "heft"].note
    table = str(experiment(Experiment([tmp_path, TASKS, grid], methods=["heft"])))
    assert table.splitlines()[1].endswith("0.000 s  3 unreadable, 1 refused")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_goes_on(suffix: str, tmp_path: Path) -> None:
    """What is there is not solved again, and the table is that of all at once."""
    path = tmp_path / f"table{suffix}"
    first = experiment(Experiment(GRID, methods="lpt"), output=path)
    assert (len(first), first.before) == (8, 0)
    solved = []
    again = experiment(
        Experiment(GRID, methods=["lpt", "multifit"], seeds=2),
        output=path,
        progress=lambda done, total, left: solved.append((done, total)),
    )
    assert (len(again), again.before) == (32, 8)
    assert solved == [(done, 32) for done in range(9, 33)]
    whole = experiment(Experiment(GRID, methods=["lpt", "multifit"], seeds=2))
    assert untimed(again) == untimed(whole)
    assert list(tmp_path.iterdir()) == [path]
    assert again.to_polars()["makespan"].sum() == pytest.approx(whole.to_pandas()["makespan"].sum())
    assert "multifit" in str(again)


def test_tables_are_read_by_others(tmp_path: Path) -> None:
    """Polars finds the columns and their types in each form."""
    asked = Experiment([TASKS, {}][:1], methods=["lpt", "heft"])
    for suffix in SUFFIXES:
        experiment(asked, output=tmp_path / f"t{suffix}")
    frames = [polars.read_csv(tmp_path / "t.csv"), polars.read_parquet(tmp_path / "t.parquet")]
    frames.append(polars.read_ndjson(tmp_path / "t.jsonl"))
    frames.append(polars.DataFrame(json.loads((tmp_path / "t.json").read_text())["rows"]))
    for frame in frames:
        assert tuple(frame.columns) == COLUMNS
        assert frame["makespan"].to_list() == frames[0]["makespan"].to_list()
    assert frames[1].schema["size"] == polars.Int64
    assert frames[1].schema["gap"] == polars.Float64


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_torn_lines_are_cut_off(suffix: str, tmp_path: Path) -> None:
    """Wherever a kill tears the file, going on gives the table of an uninterrupted run."""
    asked = Experiment({'=a,\n"b': TASKS}, methods=["lpt", "multifit"], seeds=2)
    path = tmp_path / f"t{suffix}"
    whole = untimed(experiment(asked, output=path))
    text = path.read_bytes()
    for end in (0, 1, 7, text.index(b"\n"), text.index(b"\n") + 1, len(text) // 2, len(text) - 1):
        path.write_bytes(text[:end])
        assert untimed(experiment(asked, output=path)) == whole, end
    assert whole[0]["instance"].startswith("'=a")


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_a_journal_that_is_left_counts(suffix: str, tmp_path: Path) -> None:
    """Killed before the table was made: the journal beside it holds what was done."""
    path, journal = tmp_path / f"t{suffix}", tmp_path / f"t{suffix}.jsonl"
    asked = Experiment(TASKS, methods=["lpt", "multifit"])
    whole = experiment(asked, output=path)
    experiment(Experiment(TASKS, methods=["lpt"]), output=tmp_path / "half.jsonl")
    (tmp_path / "half.jsonl").rename(journal)
    again = experiment(asked, output=path)
    assert (again.before, len(again)) == (1, 2)
    assert untimed(again) == untimed(whole)
    assert not journal.exists()


def test_other_tables_are_refused(tmp_path: Path) -> None:
    """Another version, another limit, another file: said, and nothing is written."""
    path = tmp_path / "t.csv"
    asked = Experiment(TASKS, methods="lpt")
    experiment(asked, output=path)
    text = path.read_text()
    with pytest.raises(FileError, match=r"a time limit of 10 s, the experiment asks for 3 s"):
        experiment(Experiment(TASKS, methods="lpt", time_limit=3), output=path)
    path.write_text(text.replace(f",{makespan.__version__},", ",0.0.1,"))
    with pytest.raises(FileError, match=r"its rows are of makespan 0\.0\.1, this is"):
        experiment(asked, output=path)
    path.write_text(text.replace("makespan,bound", "bound,makespan"))
    with pytest.raises(FileError, match="not the table of an experiment"):
        experiment(asked, output=path)
    path.write_text(text + "x,y\n")
    with pytest.raises(FileError, match="line 3: is not a row"):
        experiment(asked, output=path)
    for name in ("x.parquet", "x.json", "x.csv", "x.jsonl"):
        (tmp_path / name).write_text("something else")
        with pytest.raises(FileError, match="not the table of an experiment"):
            experiment(asked, output=tmp_path / name)
        assert (tmp_path / name).read_text() == "something else"
    assert len(list(tmp_path.iterdir())) == 5  # no journal is left


def test_rows_of_other_experiments_are_named(tmp_path: Path) -> None:
    """Fewer methods than before: their rows stay, and it is said."""
    path = tmp_path / "t.jsonl"
    experiment(Experiment(TASKS, methods=["lpt", "multifit"]), output=path)
    (note,) = experiment(Experiment(TASKS, methods=["lpt"]), output=path).notes
    assert note == "1 row of the file: of no solve of this experiment"


def test_ctrl_c_leaves_what_is_done(tmp_path: Path) -> None:
    """The rows until then are in the table, and the same call goes on."""
    path = tmp_path / "t.parquet"
    asked = Experiment(GRID, methods=["lpt"])

    def interrupt(done: int, total: int, left: float | None) -> None:
        if done == 3:
            raise KeyboardInterrupt

    stopped = experiment(asked, output=path, progress=interrupt)
    assert stopped.interrupted
    assert len(stopped) == len(polars.read_parquet(path)) == 3
    again = experiment(asked, output=path)
    assert (again.before, len(again), again.interrupted) == (3, 8, False)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"methods": ["heftt"]}, r"methods\[0\]: there is no method 'heftt'; did you mean 'heft'"),
        ({"methods": []}, "methods: names none"),
        ({"methods": [("heft", {"x": 1})]}, r"methods\[0\]: heft has no option 'x'"),
        ({"methods": [3]}, r"methods\[0\]: 3 is neither a method's name nor"),
        ({"seeds": 0}, "seeds: 0 is below 1"),
        ({"seeds": [1, -1]}, r"seeds\[1\]: -1 is negative"),
        ({"seeds": [1, 1]}, r"seeds\[1\]: 1 stands in the list before"),
        ({"seeds": []}, "seeds: is an empty list"),
        ({"time_limit": "long"}, "time_limit: 'long' is not a number"),
        ({"instances": []}, "instances: names none"),
        ({"instances": ["nowhere/"]}, r"instances\[0\]: nowhere/: there is no such file"),
        ({"instances": [3]}, r"instances\[0\]: 3 is neither"),
    ],
)
def test_mistakes_name_their_place(parts: dict[str, Any], message: str) -> None:
    """What is wrong with an experiment is said before anything is solved."""
    with pytest.raises(InputError, match=message):
        Experiment(**{"instances": TASKS, "methods": "lpt", **parts})


@pytest.mark.parametrize(
    ("kind", "parts", "message"),
    [
        ("independant", {}, "'independant' is not a kind of problem; did you mean 'independent'"),
        ("independent", {"options": {"task": 3}}, "no option 'task'; did you mean 'tasks'"),
        ("independent", {"options": {"tasks": []}}, "options.tasks: is an empty list"),
        ("independent", {"options": {"tasks": {1}}}, r"options.tasks: \{1\} can't stand in a file"),
        ("independent", {"seeds": 1.5}, "seeds: 1.5 is not a whole number"),
    ],
)
def test_mistakes_of_grids(kind: str, parts: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Grid(kind, **parts)


def test_rows_come_from_wherever_cells_run() -> None:
    """Another place takes cells and gives rows in its own order."""

    def backwards(cells: Any) -> Any:
        from makespan.lab.solving import Solver

        return iter([[Solver().solve(cell)] for cell in reversed(list(cells))])

    asked = Experiment(GRID, methods=["lpt"])
    assert untimed(experiment(asked, where=backwards)) == untimed(experiment(asked))


def test_records_survive_any_text() -> None:
    """A row read back has the key that it had."""
    row = Record("=a\n\t\u202e", "m", '{"x": "\\n"}', 0, None, "v", "m", "s")
    assert Record.from_dict(row.as_dict()).key == row.key
    assert Record.from_dict({k: "" if v is None else str(v) for k, v in row.as_dict().items()}) == (
        Record.from_dict(row.as_dict())
    )
