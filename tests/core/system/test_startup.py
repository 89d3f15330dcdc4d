"""What the first use costs once does not count against limits."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import makespan
from makespan import Dag, Network, TaskGraph, execute
from makespan.core.control import Control
from makespan.core.numeric.jit import compiles, kernel
from makespan.core.system import startup
from makespan.core.system.startup import EXTRAS, PACKAGES, missing, optional
from tests.sources import ENGINES, ROOT


@pytest.mark.parametrize(
    ("mode", "startup_took", "left"),
    [("beside", 0.3, 2.0), ("beside", 0.7, 1.6), ("beside", 60.0, 1.2), ("now", 60.0, 2.0)],
)
def test_a_moment_of_startup_is_free(
    monkeypatch: pytest.MonkeyPatch, mode: str, startup_took: float, left: float
) -> None:
    """What goes beyond it counts, for at most two fifths of the limit; not at all by ``now``."""
    monkeypatch.setenv("MAKESPAN_COMPILE", mode)
    now = [100.0]
    monkeypatch.setattr(startup, "clock", lambda: now[0])
    control = Control(time_limit=2.0)
    with startup.startup():
        now[0] += startup_took
        assert control.remaining == pytest.approx(left)
    assert control.remaining == pytest.approx(left)
    now[0] += left + 1e-6
    assert control.expired()


def test_startup_is_left_out_of_the_elapsed_time() -> None:
    """Time in a start-up block passes for the clock, not for the control; blocks may be nested."""
    control = Control(time_limit=0.05)
    with startup.startup(), startup.startup():
        time.sleep(0.1)
    assert not control.expired()
    time.sleep(0.06)
    assert control.expired()


@pytest.mark.skipif(not compiles(), reason="the compiler is off")
def test_compiling_is_startup_and_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel's first call compiles: that is start-up, and who watches is told."""
    import numba

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def total(values):  # type: ignore[no-untyped-def]
        result = 0.0
        for value in values:
            result += value
        return result

    told: list[str | None] = []
    before = startup.spent()
    with startup.watched(told.append):
        assert kernel(total)(np.ones(3)) == 3.0
    assert startup.spent() > before
    assert told[0] is not None
    assert told[-1] is None
    assert startup.spent() == startup.spent()  # every block that began has ended


FORKED = """
import os, threading, time
from makespan.core.control import Control
from makespan.core.system import startup

began, ends = threading.Event(), threading.Event()

def compile_long():
    with startup.startup():
        began.set()
        ends.wait({seconds})

thread = threading.Thread(target=compile_long, daemon=True)
thread.start()
began.wait()
startup.LONGEST = {longest}
threading.Timer(0.1, ends.set).start() if {ending} else None
process = os.fork()
if not process:
    control = Control(time_limit=0.05)
    with startup.startup():
        pass
    time.sleep(0.1)
    os._exit(3 if control.expired() else 4)
code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
print(code, thread.is_alive())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork of POSIX")
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"seconds": 60, "longest": 60, "ending": True}, "3 False"),
        ({"seconds": 60, "longest": 0.1, "ending": False}, "3 True"),
    ],
    ids=["waited for", "too long"],
)
def test_a_fork_waits_for_what_others_compile(options: dict[str, float], told: str) -> None:
    """And in the process that was forked the clock goes on, even if it was not waited for."""
    command = [sys.executable, "-W", "ignore", "-c", FORKED.format(**options)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    assert done.stdout.strip() == told, done.stderr


def project(folder: Path) -> dict[str, Any]:
    stated: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
    return stated["project"]


def test_extras_are_those_of_the_package() -> None:
    """Each library stands in the extra that is said to bring it, or in what that installs."""
    extras = project(ROOT)["optional-dependencies"]
    for library, extra in EXTRAS.items():
        brought = list(extras[extra])
        if extra in PACKAGES:
            own = project(ROOT / "packages" / f"makespan-{PACKAGES[extra]}")
            brought += own["dependencies"] + own.get("optional-dependencies", {}).get(extra, [])
        assert any(requirement.startswith(library) for requirement in brought), library


def test_distributions_that_share_modules_have_one_version() -> None:
    """Each asks for that of the others which it is made with."""
    stated = [project(folder) for folder in (ROOT, *ENGINES)]
    asked = [
        requirement
        for each in stated
        for group in (each["dependencies"], *each.get("optional-dependencies", {}).values())
        for requirement in group
        if re.match(r"makespan(-\w+)?(\[\w+\])?==", requirement)
    ]
    assert len(asked) == 5
    assert {requirement.partition("==")[2] for requirement in asked} == {makespan.__version__}
    assert all("version" in each["dynamic"] for each in stated)


def test_distributions_share_no_module() -> None:
    """Whatever is installed last replaces nothing of the others."""
    places = [folder / "src" for folder in (ROOT, *ENGINES)]
    files = [path.relative_to(place) for place in places for path in place.rglob("*.py")]
    assert len(files) == len(set(files))


@pytest.mark.parametrize("engine", ["dask", "mpi", "torch"])
def test_an_engine_that_is_missing_is_named(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However it is imported; modules that nobody has are what they are elsewhere."""
    monkeypatch.setattr(execute, "__path__", execute.__path__[:1])
    for name in [name for name in sys.modules if name.startswith(f"makespan.execute.{engine}")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(execute, engine, raising=False)
    said = rf"makespan\[{engine}\].* ./packages/makespan-{PACKAGES[engine]}"
    for code in ("from makespan.execute import {}", "import makespan.execute.{}"):
        with pytest.raises(makespan.MissingExtra, match=said):
            exec(code.format(engine))
    with pytest.raises(ModuleNotFoundError, match="dusk"):
        exec("import makespan.execute.dusk")


@pytest.mark.parametrize(
    "library", [name for name in EXTRAS if EXTRAS[name] not in ("ray", "torch")]
)
def test_what_is_missing_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra that brings it."""
    if EXTRAS[library] in PACKAGES:
        pytest.importorskip(library)
    assert missing(library) is None
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(makespan.MissingExtra, match=f"{library} .*makespan.{EXTRAS[library]}"):
        optional(library)


def test_a_library_too_old_is_not_called_missing() -> None:
    """The message says what could not be imported."""
    with pytest.raises(makespan.MissingExtra, match=r"networkx can't be used \(No module named"):
        optional("networkx.of_another_version")


def test_auto_does_without_cp_sat(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what the plan lacks; by name, the method is refused with the reason."""
    draw = np.random.default_rng(1).integers
    works = {f"T{number}": float(draw(1, 20)) for number in range(40)}
    edges = [
        (f"T{before}", f"T{number}", float(draw(1, 30)))
        for number in range(1, 40)
        for before in sorted(set(draw(0, number, 2).tolist()))
    ]
    problem = TaskGraph(Dag(works, edges), Network([1.0, 1.3, 0.7]))
    monkeypatch.setitem(sys.modules, "ortools", None)
    result = makespan.solve(problem, time_limit=0.3)
    assert result.status == "feasible"
    assert any("makespan[exact]" in note for note in result.notes), result.notes
    with pytest.raises(makespan.MethodError, match=r"ortools is not installed.*makespan\[exact\]"):
        makespan.solve(problem, method="cp-sat")
