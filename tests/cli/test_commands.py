"""The commands, run inside this process: what they print, where, and how they exit."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from makespan import IndependentTasks, InvalidSchedule, read_result, save
from makespan._version import __version__
from makespan.cli.main import COMMANDS, run
from makespan.core import registry
from makespan.core.control import Control
from makespan.core.solution import Solution

STAR = """
kind = "divisible"
load = 10.0
[platform]
topology = "star"
workers = [{ send = 1.0, compute = 3.0 }, { send = 2.0, compute = 5.0 }]
"""


@pytest.fixture
def star(tmp_path: Path) -> str:
    path = tmp_path / "star.toml"
    path.write_text(STAR)
    return str(path)


@pytest.fixture
def infeasible(tmp_path: Path) -> str:
    path = tmp_path / "infeasible.toml"
    path.write_text('kind = "divisible"\nload = 1\nplatform = {topology = "star", workers = []}')
    return str(path)


@pytest.fixture
def result(star: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    path = str(tmp_path / "result.json")
    assert run(["solve", star, "-o", path]) == 0
    capsys.readouterr()
    return path


class Outcome:
    """Runs commands and keeps what they printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        out, err = self.capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Outcome:
    return Outcome(capsys)


def with_method(monkeypatch: pytest.MonkeyPatch, name: str, body: Any) -> None:
    """Register a method for divisible loads for the time of a test."""

    def method(problem: Any, control: Control) -> Solution:
        """Do what the test wants."""
        outcome: Solution = body(problem, control)
        return outcome

    registry.methods_of("divisible")
    made = registry.Method(name=name, run=method, complexity="", source="")
    monkeypatch.setitem(registry._REGISTER["divisible"], name, made)


def test_help_lists_every_command(call: Outcome) -> None:
    """The help names the commands and the exit codes."""
    code, out, _ = call("--help")
    assert code == 0
    assert all(f"\n  {name} " in out for name in COMMANDS)
    assert "130 interrupted" in " ".join(out.split())
    assert call("--version") == (0, f"makespan, version {__version__}\n", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, call: Outcome) -> None:
    """Each command explains itself."""
    code, out, err = call(name, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: makespan {name} ")


def test_no_command_is_a_usage_error(call: Outcome) -> None:
    """Without a command the help goes to stderr and the exit code is 2."""
    code, out, err = call()
    assert (code, out) == (2, "")
    assert err.startswith("Usage: makespan")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["slove"], "there is no command 'slove'; did you mean 'solve'?"),
        (["solve"], "Missing argument 'FILE'"),
        (["solve", "STAR", "--jsn"], "Did you mean"),
        (["solve", "STAR", "--method", "sta"], "did you mean 'star'?"),
        (["solve", "STAR", "--method", "tree"], "needs a tree"),
        (["solve", "STAR", "-O", "x"], "'x' is not of the form name=value"),
        (["solve", "STAR", "-O", "x=1", "-O", "x=2"], "x is given twice"),
        (["solve", "STAR", "-O", "method=star"], "method is given by --method"),
        (["solve", "STAR", "-O", "problem=1"], "no method has an option 'problem'"),
        (["solve", "STAR", "-O", "w1=1"], "has an option 'w1'"),
        (["solve", "STAR", "--time-limit", "nan"], "a limit is 0 or more seconds"),
        (["solve", "STAR", "--time-limit", "-1"], "a limit is 0 or more seconds"),
        (["solve", "STAR", "--time-limit", "soon"], "'soon' is not a time"),
        (["solve", "STAR", "--seed", "-1"], "Invalid value for '--seed'"),
        (["solve", "STAR", "-o", "plan.toml"], "allowed are .json"),
        (["solve", "STAR", "--plot", "plan.gif"], "allowed are .svg, .png"),
        (["solve", "STAR", "-o", "no/such/plan.json"], "there is no folder no/such"),
        (["solve", "none.toml"], "none.toml: there is no such file"),
        (["compare", "STAR", "--methods", "sta"], "did you mean 'star'?"),
        (["compare", "STAR", "--methods", ","], "names no method"),
        (["check", "STAR"], "is a problem, not a result; solve it first"),
        (["check", "-", "--problem", "-"], "only one of the two"),
        (["plot", "STAR", "plan.svg", "--view", "gantt"], "view: 'gantt' is not a picture of this"),
        (["plot", "STAR", "plan.gif"], "allowed are .svg, .png"),
        (
            ["methods", "divisibel"],
            "neither a file nor a kind of problem; did you mean 'divisible'",
        ),
    ],
)
def test_bad_usage_and_input_exit_with_2(
    arguments: list[str], expected: str, star: str, call: Outcome
) -> None:
    """The message says what is wrong and what is allowed; stdout stays empty."""
    code, out, err = call(*[star if word == "STAR" else word for word in arguments])
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert expected in err


def test_solve_prints_a_summary(star: str, call: Outcome) -> None:
    """Status, makespan, bound and who gets how much, on stdout."""
    code, out, err = call("solve", star)
    assert (code, err) == (0, "")
    assert out.splitlines()[:2] == ["optimal (star)", "makespan     28"]


def test_what_if_is_printed_and_written(star: str, tmp_path: Path, call: Outcome) -> None:
    """The tables stand below the plan; written results hold the numbers, and can be read."""
    plan = tmp_path / "plan.json"
    code, out, err = call("solve", star, "--what-if", "-o", str(plan))
    assert (code, err) == (0, "")
    assert "change of the makespan per unit of each" in out
    assert "with one machine more" in out
    known = read_result(plan).details["what_if"]
    assert known["value"] == 28.0
    assert [each["machine"] for each in known["additions"]] == ["P1", "P2"]
    code, out, err = call("solve", star, "--what-if", "--json")
    assert json.loads(out)["details"]["what_if"]["rates"] == known["rates"]


def test_what_if_of_no_plan_is_not_asked(infeasible: str, call: Outcome) -> None:
    code, out, _ = call("solve", infeasible, "--what-if")
    assert code == 3
    assert "change of" not in out


def test_json_is_one_object_and_nothing_else(star: str, tmp_path: Path, call: Outcome) -> None:
    """Files are written beside it without a word."""
    picture, plan = tmp_path / "plan.svg", tmp_path / "plan.json"
    code, out, err = call("solve", star, "--json", "--plot", str(picture), "-o", str(plan))
    assert (code, err) == (0, "")
    assert json.loads(out)["makespan"] == 28.0
    assert json.loads(plan.read_text()) == json.loads(out)
    assert picture.exists()


def test_what_was_written_is_said(star: str, tmp_path: Path, call: Outcome) -> None:
    """Without --json, each file is named when it is written."""
    picture, plan = tmp_path / "plan.svg", tmp_path / "plan.json"
    _, out, _ = call("solve", star, "--plot", str(picture), "-o", str(plan))
    assert out.splitlines()[-2:] == [f"{plan} written", f"{picture} written"]


def test_dash_is_standard_input_and_output(
    star: str, call: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A problem comes from stdin, a result goes to stdout, and back into check."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(STAR.encode())))
    code, out, _ = call("solve", "-", "-o", "-")
    assert code == 0
    assert json.loads(out)["status"] == "optimal"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(out.encode())))
    assert call("check", "-") == (0, "valid, ends at 28\n", "")


def test_infeasible_exits_with_3(infeasible: str, tmp_path: Path, call: Outcome) -> None:
    """There is a result that says why, as text and as JSON, and nothing to draw or to check."""
    plan, picture = tmp_path / "plan.json", tmp_path / "plan.svg"
    code, out, _ = call("solve", infeasible, "-o", str(plan), "--plot", str(picture))
    assert code == 3
    assert "note: there is a load, but no machine to compute it" in out
    assert f"{picture} not written: there is no plan to draw" in out
    code, out, err = call("solve", infeasible, "--json")
    assert (code, err) == (3, "")
    assert json.loads(out)["schedule"] is None
    assert call("check", str(plan))[:2] == (0, "nothing to check: infeasible, without a schedule\n")
    code, _, err = call("plot", str(plan), str(picture))
    assert code == 3
    assert "not written" in err
    assert not picture.exists()


def test_nothing_found_exits_with_4(
    star: str, call: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit that is reached before any plan was found has its own code."""
    with_method(monkeypatch, "nothing", lambda problem, control: Solution(schedule=None))
    code, out, _ = call("solve", star, "--method", "nothing")
    assert code == 4
    assert out.startswith("limit (nothing)")


def test_an_interrupted_solve_prints_the_incumbent(
    star: str, call: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the first Ctrl-C the best plan is printed, and the exit code is 130."""

    def interrupted(problem: Any, control: Control) -> Solution:
        control.interrupted = True
        found = registry.find_method("divisible", "equal-split").run(problem, control)
        return Solution(schedule=found.schedule)

    with_method(monkeypatch, "slow", interrupted)
    code, out, _ = call("solve", star, "--method", "slow")
    assert code == 130
    assert "makespan     40" in out
    assert "note: interrupted" in out


def test_an_interrupt_without_a_plan_exits_with_130(
    star: str, call: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With nothing found there is nothing but the word."""

    def interrupted(problem: Any, control: Control) -> Solution:
        control.interrupted = True
        return Solution(schedule=None)

    def aborted(problem: Any, control: Control) -> Solution:
        raise KeyboardInterrupt

    with_method(monkeypatch, "slow", interrupted)
    code, _, err = call("solve", star, "--method", "slow")
    assert (code, err) == (130, "interrupted before any plan was found\n")
    code, out, err = call("compare", star, "--methods", "star,slow,bus")
    assert code == 130
    assert "star" in out
    with_method(monkeypatch, "slow", aborted)
    code, out, err = call("solve", star, "--method", "slow")
    assert (code, out, err.strip()) == (130, "", "interrupted")


def test_an_internal_error_exits_with_1(
    star: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line without a traceback, which --debug brings."""

    def broken(problem: Any, control: Control) -> Solution:
        raise ZeroDivisionError("by zero")

    def invalid(problem: Any, control: Control) -> Solution:
        raise InvalidSchedule("planned an invalid schedule", planned=True)

    with_method(monkeypatch, "broken", broken)
    assert run(["solve", star, "--method", "broken"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("internal error: ZeroDivisionError: by zero\n")
    assert "Traceback" not in err
    assert run(["--debug", "solve", star, "--method", "broken"]) == 1
    assert "Traceback" in capsys.readouterr().err
    with_method(monkeypatch, "broken", invalid)
    assert run(["solve", star, "--method", "broken"]) == 1
    assert "internal error: planned an invalid schedule" in capsys.readouterr().err


def test_debug_shows_where_bad_input_was_refused(
    star: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The traceback of a refusal is there for who asks for it."""
    assert run(["--debug", "solve", "none.toml"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_options_are_read_as_in_toml(
    star: str, call: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers, booleans, lists and bare words keep their types; a dash is an underscore."""
    seen: dict[str, Any] = {}

    def method(
        problem: Any, control: Control, *, w1: Any = 0, flag: Any = 0, level: Any = 0, a_b: Any = 0
    ) -> Solution:
        """Keep the options."""
        seen.update(w1=w1, flag=flag, level=level, a_b=a_b)
        return Solution(schedule=None)

    registry.methods_of("divisible")
    made = registry.Method(name="keeps", run=method, complexity="", source="")
    monkeypatch.setitem(registry._REGISTER["divisible"], "keeps", made)
    options = ["-O", "w1=1", "-O", "flag=true", "-O", "level=zeroed", "-O", "a-b=[1, 2.5]"]
    assert call("solve", star, "--method", "keeps", *options)[0] == 4
    assert seen == {"w1": 1, "flag": True, "level": "zeroed", "a_b": [1, 2.5]}


def test_the_log_is_printed_before_the_summary(
    star: str, call: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--log shows the steps of a method that logs them, and puts them into JSON."""

    def logging(problem: Any, control: Control) -> Solution:
        control.step("first step")
        return Solution(schedule=None)

    with_method(monkeypatch, "logs", logging)
    assert call("solve", star, "--method", "logs", "--log")[1].startswith("first step\n\nlimit")
    assert "first step" not in call("solve", star, "--method", "logs")[1]
    out = call("solve", star, "--method", "logs", "--log", "--json")[1]
    assert json.loads(out)["log"] == ["first step"]


def test_check_finds_what_is_broken(result: str, tmp_path: Path, call: Outcome) -> None:
    """A violated rule is named and exits with 5, as text and as JSON."""
    assert call("check", result) == (0, "valid, ends at 28\n", "")
    data = json.loads(Path(result).read_text())
    data["schedule"]["activities"][0]["end"] = 5.0
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(data))
    code, out, _ = call("check", str(broken))
    assert code == 5
    assert "violation" in out
    code, out, err = call("check", str(broken), "--json")
    report = json.loads(out)
    assert (code, err, report["ok"]) == (5, "", False)
    assert report["format"] == "makespan.report/1"
    assert report["violations"][0]["message"]


def test_check_takes_a_schedule_beside_its_problem(
    result: str, star: str, tmp_path: Path, call: Outcome
) -> None:
    """A schedule alone is checked against --problem, and so is a result."""
    alone = tmp_path / "schedule.json"
    schedule = read_result(result).schedule
    assert schedule is not None
    save(schedule, alone)
    assert call("check", str(alone), "--problem", star)[:2] == (0, "valid, ends at 28\n")
    assert call("check", result, "--problem", star)[0] == 0
    other = tmp_path / "other.toml"
    save(IndependentTasks(machines=2, durations=[1.0]), other)
    code, out, _ = call("check", str(alone), "--problem", str(other))
    assert code == 5
    assert "the problem has no machine 'P0'" in out
    assert "--problem FILE" in call("check", str(alone))[2]


def test_compare_prints_a_table_for_each_file(star: str, infeasible: str, call: Outcome) -> None:
    """With several files each table has its file's name above it."""
    code, out, _ = call("compare", star, "--methods", "star,equal-split,auto")
    assert code == 0
    assert out.splitlines()[1].startswith("*  auto")
    assert out.endswith("\n* the best; 'makespan methods divisible' describes the methods\n")
    code, out, _ = call("compare", star, infeasible, "--methods", "star")
    assert out.startswith(f"{star}\n")
    assert f"\n\n{infeasible}\n" in out


def test_compare_gives_one_json_object(star: str, call: Outcome) -> None:
    """All files are in one object."""
    code, out, err = call("compare", star, star, "--json", "--methods", "star")
    data = json.loads(out)
    assert (code, err) == (0, "")
    assert [part["rows"][0]["method"] for part in data["comparisons"]] == ["star", "star"]


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_plot_draws(result: str, suffix: str, tmp_path: Path, call: Outcome) -> None:
    """The picture is written and named."""
    picture = str(tmp_path / f"plan.{suffix}")
    assert call("plot", result, picture) == (0, f"{picture} written\n", "")
    assert Path(picture).stat().st_size > 1000


def test_what_does_not_fit_is_not_drawn(result: str, tmp_path: Path, call: Outcome) -> None:
    """A schedule on machines that its problem lacks is refused, not drawn."""
    data = json.loads(Path(result).read_text())
    data["problem"]["platform"]["workers"][0]["name"] = "Y"
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(data))
    assert call("check", str(broken))[0] == 5
    code, _, err = call("plot", str(broken), str(tmp_path / "plan.svg"))
    assert code == 2
    assert "the problem has no machine 'P1'" in err


def test_methods_lists_all_one_kind_or_what_applies(star: str, call: Outcome) -> None:
    """With a file, each method that does not apply says why."""
    everything = call("methods")[1]
    assert "divisible\n" in everything
    assert "independent\n" in everything
    one = call("methods", "independent")[1]
    assert "divisible" not in one
    assert "[published]" in one
    out = call("methods", star)[1]
    able, _, unable = out.partition("these do not\n")
    assert "  star" in able
    assert "needs a tree, but it is a star" in unable


def test_names_in_any_script_are_printed(tmp_path: Path, call: Outcome) -> None:
    """Names beyond ASCII come out as UTF-8 JSON."""
    path = tmp_path / "s.toml"
    path.write_text(STAR.replace("{ send = 1.0", '{ name = "Přístroj", send = 1.0'), "utf-8")
    assert "Přístroj" in call("solve", str(path), "--json")[1]


def test_an_installed_package_adds_a_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By an entry point of the group ``makespan.commands``; others are unknown as before."""
    import click

    @click.command("greet")
    @click.argument("name")
    def greet(name: str) -> int:
        click.echo(f"hello {name}")
        return 3

    class Entry:
        def load(self) -> click.Command:
            return greet

    def entry_points(*, group: str, name: str) -> list[Entry]:
        return [Entry()] if (group, name) == ("makespan.commands", "greet") else []

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    assert run(["greet", "you", "-q"]) == 3
    assert capsys.readouterr().out == "hello you\n"
    assert run(["great", "you"]) == 2
    assert "there is no command 'great'" in capsys.readouterr().err
