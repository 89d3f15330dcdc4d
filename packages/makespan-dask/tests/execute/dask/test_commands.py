"""The commands calibrate and run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from makespan import read_problem, save, solve
from makespan.cli.main import run
from tests.execute import functions


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """Rows of numbers in a file."""
    path = tmp_path / "sample.npy"
    np.save(path, np.arange(240.0).reshape(120, 2))
    return path


def test_calibrate_then_solve_then_run(
    local: Any, sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole way on the command line: a platform, a plan, results and pictures."""
    platform, plan = tmp_path / "platform.toml", tmp_path / "plan.json"
    results, page = tmp_path / "results.npy", tmp_path / "run.html"
    common = ["--scheduler", local.scheduler_address, "--batched"]
    common += ["--function", "tests.execute.functions:slept"]
    asked = ["calibrate", *common, "--sample", str(sample), "-o", str(platform)]
    assert run([*asked, "--load", "120"]) == 0
    out, err = capsys.readouterr()
    assert "sends:" in out
    assert err == ""
    problem = read_problem(platform)
    assert problem.machines == ("client", "0", "1", "2")
    save(solve(problem, time_limit=2.0), plan)
    asked = ["run", str(plan), *common, "--data", str(sample), "--results", str(results)]
    assert run([*asked, "--plot", str(page), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["format"] == "makespan.run/1"
    assert told["measured"] > 0
    assert np.array_equal(np.load(results), np.load(sample)[:, 0])
    assert page.stat().st_size > 1000


def test_a_partition_is_calibrated_solved_and_run(
    local: Any, sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables of counts and times in place of affine costs, from the cluster to the results."""
    platform, plan, out = (tmp_path / name for name in ("tables.toml", "plan.json", "out.npy"))
    common = ["--scheduler", local.scheduler_address, "--batched"]
    common += ["--function", "tests.execute.functions:slept"]
    asked = ["calibrate", *common, "--sample", str(sample), "-o", str(platform)]
    assert run([*asked, "--kind", "partition"]) == 0
    assert read_problem(platform).kind == "partition"
    assert run(["solve", str(platform), "-o", str(plan)]) == 0
    asked = ["run", str(plan), *common, "--data", str(sample), "--results", str(out)]
    assert run(asked) == 0
    assert "predicted" in capsys.readouterr().out
    assert np.array_equal(np.load(out), np.load(sample)[:, 0])


def test_data_comes_from_many_files(
    local: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lists, lines and folders are items, too; results can be JSON."""
    from makespan import DivisibleLoad, Star, Worker

    crew = [Worker(name=str(index), compute=1.0) for index in range(3)]
    (tmp_path / "folder").mkdir()
    for name in "abc":
        (tmp_path / "folder" / f"{name}.txt").write_text(name)
    (tmp_path / "list.json").write_text("[1, 2, 3]")
    (tmp_path / "lines.txt").write_text("x\ny\nz\n")
    plan, out = tmp_path / "plan.json", tmp_path / "out.json"
    save(solve(DivisibleLoad(platform=Star(crew), load=3), time_limit=2.0), plan)
    for source, function, expected in (
        ("list.json", "squared", [1, 4, 9]),
        ("lines.txt", "slept_each", ["x", "y", "z"]),
        ("folder", "text_of", [["a.txt", "a"], ["b.txt", "b"], ["c.txt", "c"]]),
    ):
        asked = ["run", str(plan), "--scheduler", local.scheduler_address]
        asked += ["--function", f"tests.execute.functions:{function}"]
        assert run([*asked, "--data", str(tmp_path / source), "--results", str(out)]) == 0
        assert json.loads(out.read_text()) == expected
        assert "measured" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"--function": "nowhere:f"}, "nowhere can't be imported"),
        ({"--function": "tests.execute.functions:nothing"}, "has no nothing"),
        ({"--function": "tests.execute.functions"}, "not of the form"),
        ({"--function": "tests.execute.functions:SECONDS_PER_ITEM"}, "can't be called"),
        ({"--sample": "nowhere.npy"}, "there is no such file"),
        ({"--scheduler": "tcp://127.0.0.1:1"}, "does not answer"),
        ({"--scheduler": "nonsense"}, "not of the form tcp://HOST:PORT"),
        ({"-o": "platform.svg"}, "can't write .svg here"),
    ],
)
def test_bad_input_is_told_in_a_line(
    changed: dict[str, str],
    message: str,
    sample: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exit code 2, no traceback."""
    import distributed

    original = distributed.Client
    monkeypatch.setattr(
        distributed, "Client", lambda *a, **k: original(*a, **{**k, "timeout": "0.2s"})
    )
    options = {
        "--scheduler": "tcp://127.0.0.1:1",
        "--function": "tests.execute.functions:doubled",
        "--sample": str(sample),
        **changed,
    }
    code = run(["calibrate", *(part for pair in options.items() for part in pair)])
    err = capsys.readouterr().err
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_what_succeeds_is_written_where_items_fail(
    local: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the item and shows the worker's traceback; the others have results."""
    from makespan import DivisibleLoad, Star, Worker

    crew = [Worker(name=str(index), compute=1.0) for index in range(3)]
    (tmp_path / "list.json").write_text("[5, 6, 7, 8]")
    plan, out = tmp_path / "plan.json", tmp_path / "out.json"
    save(solve(DivisibleLoad(platform=Star(crew), load=4), time_limit=2.0), plan)
    asked = ["run", str(plan), "--scheduler", local.scheduler_address]
    asked += ["--function", "tests.execute.functions:fails_on_seven"]
    assert run([*asked, "--data", str(tmp_path / "list.json"), "--results", str(out)]) == 2
    err = capsys.readouterr().err
    assert "item 2: ValueError: seven is not allowed" in err
    assert json.loads(out.read_text()) == [5, 6, None, 8]


def test_results_that_are_no_json_are_refused(tmp_path: Path) -> None:
    """The file is not written."""
    from makespan import FileError
    from makespan.cli.cluster import write_results

    with pytest.raises(FileError, match="can't hold these results"):
        write_results([functions.squared], str(tmp_path / "out.json"))
    assert not (tmp_path / "out.json").exists()
