"""Kernels are compiled ahead by solving samples of every kind; afterwards nothing is left."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from makespan import IndependentTasks
from makespan.cli.main import run
from makespan.core.numeric import first_use, jit
from makespan.flow import compile as _compile
from makespan.flow.kinds import KINDS, generate, kind_named
from makespan.flow.solve import UNCOMPILED, solve

SMALL: dict[str, tuple[_compile.Sample, ...]] = {
    "divisible": (({"workers": 3}, {}), ({"workers": 3}, {"rounds": 2})),
    "independent": (({"tasks": 5}, {}),),
    "partition": (({"resources": 3, "tasks": 9}, {}),),
    "pipeline": (({}, {}),),
    "reduction": (({"machines": 3, "segments": 2}, {"order": "greedy"}),),
    "taskgraph": (({"size": 5}, {"communication": "blocking"}),),
}
ROOT = Path(__file__).parents[2]
GIGABYTES = 2.0
RARE = {
    "makespan.reduction.exact.branching.decide",
}
"""Kernels that no sample reaches: those of searches that small problems end before."""
needs_compiler = pytest.mark.skipif(not jit.compiles(), reason="the compiler is off")


def test_every_kind_has_samples_that_can_be_made() -> None:
    """Each sample is a problem of its kind, with the keys that are changed."""
    assert set(_compile.SAMPLES) == set(KINDS)
    for name in KINDS:
        kind = _compile.kind_named(name)
        assert all(problem.kind == name for problem in _compile._samples(kind))


def test_links_that_are_shared_are_among_the_samples() -> None:
    """Loops over copies are compiled once more for these."""
    samples = [*_compile._samples(kind_named("reduction"))]
    assert {problem.shared is None for problem in samples} == {True, False}


@pytest.mark.thorough
@needs_compiler
def test_samples_enter_the_kernels(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command shows the kinds one by one, and says how many kernels there are."""
    solved: list[str] = []
    monkeypatch.setattr(_compile, "SAMPLES", SMALL)
    monkeypatch.setattr(_compile, "_enter", lambda problem: solved.append(problem.kind))
    assert run(["compile"]) == 0
    out, err = capsys.readouterr()
    assert solved == [name for name in KINDS for _ in SMALL[name]]
    assert [line.split(":")[0] for line in err.splitlines()] == list(KINDS)
    assert int(out.splitlines()[-1].split()[0]) == len(jit.compiled())


@pytest.mark.thorough
@needs_compiler
def test_what_compiling_took(tmp_path: Path) -> None:
    """A kernel has the seconds of its own compiling, none where it is found on disk."""
    name = "makespan.core.numeric.sorting.inserted"
    assert _child("one_kernel", tmp_path) == {"compiled": [name]}
    assert _child("one_kernel", tmp_path) == {"compiled": []}


def test_every_loop_is_compiled_inside_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """However small its work; and as before behind it."""
    monkeypatch.setattr(jit, "forced", None)
    with jit.always():
        assert jit.pays(1, 1e9, of=())
        with jit.always(False):
            assert not jit.pays(1e12, 1, of=())
    assert not jit.pays(1, 1e9, of=())


@needs_compiler
def test_a_cold_solve_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It has a plan in its time, and what is compiled beside it is this problem first."""
    handed: list[Any] = []
    monkeypatch.setenv("MAKESPAN_COMPILE", "beside")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(first_use, "_listed", set())
    monkeypatch.setattr(first_use, "_read", (-1.0, (-1, 0.0)))
    monkeypatch.setattr(first_use, "_start", lambda job: handed.append(job()))
    options = {"machines": 50, "segments": 60}  # so large that every loop would be compiled
    problem = generate("reduction", options=options)
    result = solve(problem, time_limit=0.5)
    assert UNCOMPILED in result.notes
    assert result.makespan is not None
    assert {job[1] for job in handed} == {"auto"}
    assert all(job[0] is problem and job[3] == 0.5 for job in handed)


def test_a_proved_plan_lacks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No search could have found more, so nothing is said of loops that ran uncompiled."""
    cold = nullcontext(SimpleNamespace(missed=True))
    monkeypatch.setattr(first_use, "limited", lambda *_: cold)
    tasks = IndependentTasks(machines=2, durations=[3, 3, 2, 2, 2])
    proved, open_ = solve(tasks, method="multifit"), solve(tasks, method="lpt")
    assert (proved.status, open_.status) == ("optimal", "feasible")
    assert UNCOMPILED in open_.notes
    assert UNCOMPILED not in proved.notes


@pytest.mark.slow
@needs_compiler
def test_one_that_is_killed_leaves_what_can_be_used(tmp_path: Path) -> None:
    """Two at once, both killed in the midst of their work; then a solve finds whole files."""
    problem = generate("divisible", options={"workers": 8, "latency": 0.2})
    job = pickle.dumps((problem, "auto", {}, 2.0))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    code = "from makespan.flow.compile import fill; fill()"
    for _ in range(2):
        started = [
            subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, env=environment)
            for _ in range(2)
        ]
        for each in started:
            assert each.stdin is not None
            each.stdin.write(job)
            each.stdin.close()
        known = len(list(tmp_path.rglob("*.nbc")))
        while len(list(tmp_path.rglob("*.nbc"))) <= known + 1:
            if None not in [each.poll() for each in started]:
                break  # a busy machine: their minute is over, which kills them, too
            time.sleep(0.02)
        for each in started:
            each.kill()
            each.wait()
    assert _child("solved_once", tmp_path)["makespan"] == solve(problem, time_limit=5.0).makespan


@pytest.mark.slow
@needs_compiler
def test_nothing_is_left_to_compile(tmp_path: Path) -> None:
    """Into an empty folder, in bounded memory; then each kind is solved, small and large.

    Hardly a kernel of the source is left out, and no solve by ``auto`` compiles one.
    """
    first = _child("compiled_ahead", tmp_path)
    assert first["gigabytes"] < GIGABYTES
    assert set(first["never met"]) <= RARE
    assert len(first["compiled"]) > 50
    assert _child("solved_by_auto", tmp_path)["compiled"] == []


def _child(what: str, cache: Path) -> dict[str, Any]:
    """Return what a part of ``tests.flow.compiling`` prints, with its kernels in ``cache``."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.flow.compiling", what],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found
