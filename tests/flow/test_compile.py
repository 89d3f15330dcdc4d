"""Kernels are compiled ahead by solving samples of every kind."""

from __future__ import annotations

import pytest

from makespan.cli.main import run
from makespan.core.numeric.jit import compiled, compiles
from makespan.flow import compile as _compile
from makespan.flow.kinds import KINDS

SMALL = {
    "divisible": (({"workers": 400}, {}), ({"workers": 3}, {"rounds": 2})),
    "independent": (({"tasks": 5}, {}),),
    "partition": (({"resources": 3, "tasks": 9}, {}),),
    "reduction": (({"machines": 3, "segments": 2}, {"order": "greedy"}),),
    "taskgraph": (({"size": 5}, {"communication": "blocking"}),),
}


def test_every_kind_has_samples_that_can_be_made() -> None:
    """Each sample is a problem of its kind, with the keys that are changed."""
    assert set(_compile.SAMPLES) == set(KINDS)
    for name in KINDS:
        kind = _compile.kind_named(name)
        assert all(problem.kind == name for problem in _compile._samples(kind))


@pytest.mark.skipif(not compiles(), reason="the compiler is off")
def test_samples_enter_the_kernels(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command names the kinds, and says how many kernels there are."""
    monkeypatch.setattr(_compile, "SAMPLES", SMALL)
    monkeypatch.setattr(_compile, "SECONDS", 0.05)
    assert run(["compile"]) == 0
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in err.splitlines()] == list(KINDS)
    assert int(out.split()[0]) == len(compiled()) > 0
