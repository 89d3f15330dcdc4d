"""Real runs of xdist, small ones."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

PLUGINS = "-p", "xdist", "-p", "pytest_makespan"
SUITE = """
import pytest

@pytest.mark.parametrize("number", range(6))
def test_many(number):
    pass

class TestClass:
    def test_one(self): pass
    def test_two(self): pass
"""


def kept(pytester: pytest.Pytester) -> Any:
    return json.loads((pytester.path / ".pytest_cache/v/makespan/durations").read_text())


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess(*PLUGINS, "--dist", "makespan", "-n", "2", *options)


def test_a_first_and_a_second_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each test once, its seconds kept, and a line at the end; found by its entry point."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    pytester.makepyfile(SUITE)
    for _ in range(2):
        result = pytester.runpytest_subprocess("--dist", "makespan", "-n", "2")
        result.assert_outcomes(passed=8)
        result.stdout.fnmatch_lines(["makespan: * s on 2 workers; no order *; 3 workers: about *"])
        assert len(kept(pytester)["tests"]) == 8


def test_files_that_are_gone_are_forgotten(pytester: pytest.Pytester) -> None:
    """What is kept does not grow for ever."""
    old = pytester.makepyfile(SUITE)
    run(pytester)
    old.rename(pytester.path / "test_new.py")
    run(pytester).assert_outcomes(passed=8)
    assert {name.partition("::")[0] for name in kept(pytester)["tests"]} == {"test_new.py"}


def test_without_workers_nothing_changes(pytester: pytest.Pytester) -> None:
    """-n 0, no -n, only a collection, and no xdist."""
    pytester.makepyfile(SUITE)
    for options in (["-n", "0"], [], ["-n", "2", "--collect-only"]):
        result = pytester.runpytest_subprocess(*PLUGINS, "--dist", "makespan", *options)
        assert result.ret == 0
        result.stdout.no_fnmatch_line("makespan: *")
    for options in (["-p", "no:xdist", *PLUGINS[2:]], [*PLUGINS[2:], *PLUGINS[:2]]):
        pytester.runpytest_subprocess(*options).assert_outcomes(passed=8)
    assert not (pytester.path / ".pytest_cache/v/makespan").exists()


def test_a_worker_that_crashes(pytester: pytest.Pytester) -> None:
    """Its test fails, all others run, on a worker in its place."""
    pytester.makepyfile(
        """
        import os, pytest

        @pytest.mark.parametrize("number", range(8))
        def test_many(number):
            if number == 3:
                os._exit(1)
        """
    )
    result = run(pytester)
    result.assert_outcomes(passed=7, failed=1)
    result.stdout.fnmatch_lines(["*crashed while running*test_many?3?*"])


def test_failures(pytester: pytest.Pytester) -> None:
    """-x stops, --maxfail too, --lf runs the failed ones again, also of a group."""
    pytester.makepyfile(
        """
        import pytest, time

        @pytest.mark.xdist_group("group")
        def test_bad(): assert 0

        @pytest.mark.parametrize("number", range(40))
        def test_good(number): time.sleep(0.02)
        """
    )
    for option in ("-x", "--maxfail=1"):
        result = run(pytester, option)
        assert result.ret == pytest.ExitCode.INTERRUPTED
        outcomes = result.parseoutcomes()
        assert outcomes["failed"] == 1
        assert outcomes.get("passed", 0) < 40
    run(pytester, "--lf").assert_outcomes(failed=1)


def test_groups_and_modules(pytester: pytest.Pytester) -> None:
    """One process for each; node ids stay as they are."""
    text = """
        import os, pytest

        @pytest.mark.xdist_group("{group}")
        @pytest.mark.parametrize("number", range(3))
        def test_group(number, record_property):
            open(f"{group}-{{os.getpid()}}", "a").close()

        @pytest.mark.parametrize("number", range(6))
        def test_module(number):
            open(f"{module}-{{os.getpid()}}", "a").close()
        """
    for module in ("one", "two"):
        content = text.format(group="shared", module=module)
        pytester.makepyfile(**{f"test_{module}": content})
    result = run(pytester, "-v", "--makespan-scope", "module")
    result.assert_outcomes(passed=18)
    result.stdout.no_fnmatch_line("*xdist_group=*")
    for what in ("shared", "one", "two"):
        assert len(list(pytester.path.glob(f"{what}-*"))) == 1


def test_fixtures_that_take_long(pytester: pytest.Pytester) -> None:
    """What is made once for several tests is kept apart, by its scope."""
    pytester.makepyfile(
        """
        import pytest, time

        @pytest.fixture(scope="session")
        def database(): time.sleep(0.2)

        @pytest.fixture(scope="module")
        def server(database): time.sleep(0.1)

        def test_plain(): pass
        def test_one(server): pass
        def test_two(server): pass
        def test_three(database): pass
        """
    )
    run(pytester)
    result = run(pytester)
    result.assert_outcomes(passed=4)
    found = kept(pytester)
    file = "test_fixtures_that_take_long.py"
    assert set(found["fixtures"]) == {"session ::database", f"module {file}::server"}
    assert set(found["uses"][f"{file}::test_two"]) == set(found["fixtures"])
    assert f"{file}::test_plain" not in found["uses"]
    assert max(found["tests"].values()) < 0.1 <= min(found["fixtures"].values())


def test_workers_that_collect_other_tests(pytester: pytest.Pytester) -> None:
    """The error of xdist."""
    pytester.makepyfile(
        """
        import os, pytest

        @pytest.mark.parametrize("name", [os.environ.get("PYTEST_XDIST_WORKER")])
        def test_other(name): pass
        """
    )
    result = run(pytester)
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*Different tests were collected between gw*"])


def test_seconds_from_a_file(pytester: pytest.Pytester) -> None:
    """The longest begin first; what can't be read is an error of usage."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(30))
        def test_many(number):
            with open("order", "a") as file: file.write(f"{number} ")
        """
    )
    file = "test_seconds_from_a_file.py"
    seconds = {f"{file}::test_many[{number}]": 1 + number for number in range(30)}
    (pytester.path / ".test_durations").write_text(json.dumps(seconds))
    run(pytester, "--makespan-durations", ".test_durations").assert_outcomes(passed=30)
    order = (pytester.path / "order").read_text().split()
    assert {order[0], order[1]} & {"28", "29"}
    assert order.index("29") < 5
    result = run(pytester, "--makespan-durations", "missing")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--makespan-durations: missing: *"])


def interruptible() -> None:
    """Take signals as a terminal gives them, also below a program that ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_an_interrupt(pytester: pytest.Pytester) -> None:
    """What was measured until then is kept."""
    pytester.makepyfile(
        """
        import pathlib, pytest, time

        @pytest.mark.parametrize("number", range(50))
        def test_many(number):
            if number in (10, 40):
                pathlib.Path("begun").touch()
                time.sleep(60)
        """
    )
    command = [sys.executable, "-m", "pytest", *PLUGINS, "--dist", "makespan", "-n", "2"]
    process = subprocess.Popen(
        command,
        cwd=pytester.path,
        start_new_session=True,
        preexec_fn=interruptible,  # noqa: PLW1509
    )
    for _ in range(600):
        if Path(pytester.path / "begun").exists():
            break
        time.sleep(0.05)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == pytest.ExitCode.INTERRUPTED
    assert 0 < len(kept(pytester)["tests"]) < 50
