"""``compare`` of seeds, of processes, of an experiment's file."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import tomli_w
from hypothesis import given, strategies as st

from makespan import Experiment, read_experiment
from makespan.cli.main import run
from makespan.core.errors import InputError
from makespan.lab.journal import read_records
from tests.thorough import examples

WHOLE = """
format = "makespan.experiment/1"
instances = ["tasks.toml", { generate = "independent", options = { tasks = [5, 6] }, seeds = 2 }]
methods = ["lpt", { method = "multifit", options = {} }]
seeds = [0, 7]
time_limit = 5
jobs = 1
output = "t.csv"
"""
TASKS = "kind = 'independent'\nmachines = 3\ndurations = [4, 4, 4, 4, 3, 2]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "tasks.toml").write_text(TASKS)
    (tmp_path / "deep" / "e.toml").write_text(WHOLE)
    return tmp_path


def test_a_file_says_all_of_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Instances, methods, seeds, limit, processes and table; options replace what it says."""
    assert run(["compare", "deep/e.toml"]) == 0
    assert "t.csv written: 20 rows\n" in capsys.readouterr().out
    rows = list(read_records(folder / "deep" / "t.csv"))
    assert {row.seed for row in rows} == {0, 7}
    assert {row.time_limit for row in rows} == {5.0}
    assert sum(row.instance == "tasks.toml" for row in rows) == 4
    call = ["compare", "deep/e.toml", "--methods", "lpt", "--seeds", "3", "-o", "x.parquet"]
    assert run([*call, "--time-limit", "2"]) == 0
    assert {row.time_limit for row in read_records("x.parquet")} == {2.0}
    assert len(list(read_records("x.parquet"))) == 15


def test_options_say_it_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Seeds make an experiment of a comparison; the same command goes on."""
    call = ["compare", "deep/tasks.toml", "--methods", "lpt,multifit", "-o", "t.json"]
    assert run([*call, "--seeds", "2"]) == 0
    assert "4 rows\n" in capsys.readouterr().out
    assert run([*call, "--seeds", "3"]) == 0
    assert "6 rows, 4 of them there before\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seeds", "2"], "--methods says what an experiment compares"),
        (["--seeds", "2", "--methods", "lpt"], "-o names one table of an experiment"),
        (["--jobs", "2", "--methods", "lpt", "-o", "t.svg"], "-o names one table of an"),
        (["--seeds", "2", "--methods", "lpt", "-o", "t.csv", "-o", "u.csv"], "are several"),
        (["--seeds", "2", "--methods", "lpt", "-o", "t.csv", "-o", "u.doc"], "can't write .doc"),
        (["--seeds", "2", "--methods", "lpt", "-o", "t.csv", "--json"], "stand in the file of -o"),
        (["--seeds", "2", "--methods", "lpt", "-o", "t.csv", "--seed", "3"], "takes --seeds"),
        (["--seeds", "2", "--methods", "lptt", "-o", "t.csv"], "methods[0]: there is no method"),
    ],
)
def test_mistakes_of_calls(
    arguments: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", "deep/tasks.toml", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "t.csv").exists()


def test_parts_make_other_instances_and_reports_follow(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other machines are other instances; what does not fit is said in the row; -o twice."""
    call = ["compare", "deep/tasks.toml", "--methods", "lpt", "--seeds", "1", "-o", "t.csv"]
    assert run([*call, "-o", "t.tex", "-o", "t.html"]) == 0
    assert run([*call, "--machines", "2"]) == 0
    assert run([*call, "--set", "platform.load=3"]) == 0
    ends = {row.instance: row.makespan for row in read_records("t.csv")}
    plain, two, wrong = sorted(ends)
    assert (plain, two) == ("deep/tasks.toml", "deep/tasks.toml machines=2")
    assert ends[two] == 11.0 > ends[plain]  # type: ignore[operator]
    assert ends[wrong] is None
    assert "unknown key" in next(x.note for x in read_records("t.csv") if x.instance == wrong)
    assert (folder / "t.tex").read_text().startswith("\\begin{tabular}")
    assert (folder / "t.html").exists()
    capsys.readouterr()


def test_a_file_gives_parts(folder: Path) -> None:
    """``parts`` of an experiment's file; those of the call take their place."""
    text = WHOLE.replace("seeds = [0, 7]", "parts = { machines = 2 }")
    text = text.replace(
        ', { generate = "independent", options = { tasks = [5, 6] }, seeds = 2 }', ""
    )
    (folder / "deep" / "p.toml").write_text(text)
    assert run(["compare", "deep/p.toml", "-q"]) == 0
    assert {row.instance for row in read_records("deep/t.csv")} == {"tasks.toml machines=2"}
    assert run(["compare", "deep/p.toml", "-q", "--machines", "4", "-o", "u.csv"]) == 0
    assert {row.instance for row in read_records("u.csv")} == {"tasks.toml machines=4"}


def test_a_table_among_instances_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A JSON file there would be an instance the next time."""
    call = ["compare", "deep", "--methods", "lpt", "--seeds", "2", "-o", "deep/t.json"]
    assert run(call) == 2
    assert "lies in a folder of instances" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seeds = [0, 7]", "seeds = -1", "seeds: -1 is below 1"),
        ("seeds = [0, 7]", "seed = 3", "unknown key 'seed'; did you mean 'seeds'?"),
        ("time_limit = 5", "time_limit = -5", "time_limit: -5 is negative"),
        ("jobs = 1", "jobs = 0", "jobs: 0 is below 1"),
        ('output = "t.csv"', "output = 3", "output: 3 is not a text"),
        ('"tasks.toml"', '"none.toml"', "instances[0]: none.toml: there is no such file"),
        ('"tasks.toml"', "7", "instances[0]: 7 is neither a path nor a table"),
        ("tasks = [5, 6]", "task = 5", "instances[1].options: independent problems have no option"),
        ("tasks = [5, 6]", "tasks = []", "instances[1].options.tasks: is an empty list"),
        ('"independent"', '"independant"', "instances[1].generate: 'independant' is not a kind"),
        ("seeds = 2", "seeds = 0", "instances[1].seeds: 0 is below 1"),
        ("seeds = 2", "sedes = 2", "instances[1]: unknown key 'sedes'"),
        ('method = "multifit"', 'name = "multifit"', "methods[1].method: is missing"),
        ('method = "multifit"', 'method = "multifitt"', "methods[1]: there is no method"),
        ("options = {} }", "options = { x = 1 } }", "methods[1]: multifit has no option 'x'"),
        ("/1", "/2", "format: 'makespan.experiment/2' is not allowed"),
    ],
)
def test_mistakes_name_the_field(
    old: str, new: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each with its file and its place in it."""
    (folder / "deep" / "e.toml").write_text(WHOLE.replace(old, new, 1))
    assert run(["compare", "deep/e.toml"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: deep/e.toml")
    assert message in error


def test_all_mistakes_are_named_together(folder: Path) -> None:
    """Those of entries, of methods and of the rest, each with its own place."""
    (folder / "e.toml").write_text(
        "instances = [7, 'none', { generate = 'taskgraph', options = { siz = 3 } }]\n"
        "methods = [{ name = 'x' }, 'heftt']\nseeds = 'x'\ntime_limit = nan\njobs = 0\n"
    )
    with pytest.raises(InputError) as raised:
        read_experiment(folder / "e.toml")
    assert {one.place for one in raised.value.mistakes} == {
        *("instances[0]", "instances[1]", "instances[2].options", "methods[0].method"),
        *("methods[0]", "methods[1]", "seeds", "time_limit", "jobs"),
    }


LEAVES = st.one_of(
    *(st.none(), st.booleans(), st.integers(-3, 9), st.floats(allow_nan=True), st.text(max_size=3)),
    *(st.lists(st.integers(), max_size=2), st.dictionaries(st.text(max_size=3), st.integers())),
)
PLACES = [
    *(("instances",), ("methods",), ("seeds",), ("time_limit",), ("jobs",), ("output",)),
    *(("instances", 0), ("instances", 1), ("instances", 1, "options"), ("instances", 1, "seeds")),
    *(("instances", 1, "generate"), ("methods", 0), ("methods", 1, "options"), ("format",)),
]


@examples(50)
@given(place=st.sampled_from(PLACES), value=LEAVES)
def test_any_value_anywhere_is_taken_or_refused(
    place: tuple[str | int, ...], value: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever stands in a field, there is an experiment, or an error that names the field."""
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "tasks.toml").write_text(TASKS)
    data = tomllib.loads(WHOLE)
    inner = data
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    try:
        (folder / "e.toml").write_text(tomli_w.dumps(data), encoding="utf-8")
    except (TypeError, UnicodeEncodeError):
        return
    said = str(place[0])
    try:
        assert isinstance(read_experiment(folder / "e.toml"), Experiment)
    except InputError as error:
        said = str(error)
    assert str(place[0]) in said
