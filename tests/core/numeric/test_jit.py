"""Loops in two forms: which runs, on what, and that both give the same."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numba  # noqa: F401  (the compiler is loaded)
import numpy as np
import pytest

from makespan.core.numeric import files, jit
from makespan.core.numeric.binding import bind
from makespan.core.numeric.jit import Loop, kernel, loop, part


@loop(pays_from=1_000, loaded_from=100)
def running_total(numbers, totals, start):
    total = start
    for place in range(len(numbers)):
        total += numbers[place]
        totals[place] = total
    return total


def test_both_forms_give_the_same(form: bool) -> None:
    """Lists or arrays: the outputs are written, the value is returned."""
    totals = np.zeros(3)
    assert running_total.run(0, (np.array([0.1, 0.2, 0.3]),), (totals,), (1.0,)) == totals[-1]
    assert totals.tolist() == [1.1, 1.1 + 0.2, 1.1 + 0.2 + 0.3]
    chosen, column = running_total.chosen(0)
    assert isinstance(column([1.0]), np.ndarray if form else list)
    assert (chosen is running_total.plain) is not (form and jit.compiles())


def test_the_size_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small work is not worth a compiler; where it is loaded, less is enough."""
    assert [running_total.pays(size) for size in (99, 100, 1_000)] == [False, True, True]
    monkeypatch.delitem(jit.sys.modules, "numba")
    monkeypatch.setattr(jit, "_rented", 0.0)
    assert [running_total.pays(size) for size in (99, 100, 1_000)] == [False, False, True]
    assert Loop(running_total.plain, 5).at(4) is running_total.plain


def test_much_small_work_is_worth_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """As soon as plain forms have done as much as it is loaded for; never for less than that."""
    monkeypatch.delitem(jit.sys.modules, "numba")
    monkeypatch.setattr(jit, "_rented", 0.0)
    assert [running_total.pays(size) for size in (400, 400, 400, 400, 99)] == [
        *(False, False, False),
        *(True, False),
    ]


@part
def drawn(seed):
    return (seed * 1103515245 + 12345) & 0x7FFFFFFF


@part
def pushed(values, place, seed):
    seed = drawn(seed)
    values[place] += (seed >> 8) / 8388608.0
    return seed


@loop(pays_from=1_000)
def walked(values, seed):
    for place in range(len(values)):
        seed = pushed(values, place, seed)
    return seed


def test_a_loop_calls_parts_in_both_forms() -> None:
    """Parts may call parts; arrays and numbers that come back are equal to the bit."""
    plain, compiled = np.linspace(0.0, 1.0, 50), np.linspace(0.0, 1.0, 50)
    assert walked.plain(plain, 7) == walked.compiled(compiled, 7)
    assert plain.tolist() == compiled.tolist() != np.linspace(0.0, 1.0, 50).tolist()


@part
def summed(rows, row):
    total = 0.0
    for place in range(rows.shape[1]):
        total = later(total, rows[row, place])
        if total > 1e9:
            return total
    return total


@part
def later(one, other):
    return max(one, other)


@part
def filled(rows, row, value):
    np.positive(rows[row - 1], rows[row])
    rows[row] += value


@kernel
def worn(count):
    found = 0.0
    for _ in range(count):
        rows = np.zeros((3, 4))
        for row in range(1, 3):
            filled(rows, row, 1.0)
            found += summed(rows, row)
    return found


@pytest.mark.thorough
@pytest.mark.skipif(not jit.compiles(), reason="without the compiler, Python counts")
def test_parts_leave_no_memory_behind() -> None:
    """Whether or not a part counts references, arrays of its loop are freed, and not before."""
    from numba.core.runtime import _nrt_python, rtsys

    _nrt_python.memsys_enable_stats()
    assert worn(2) == 6.0
    before = rtsys.get_allocation_stats()
    assert worn(50) == 150.0
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0


def test_parts_load_no_compiler() -> None:
    """What has loops and parts is imported, and run on small inputs, without Numba."""
    code = (
        "import sys; from makespan.reduction.heuristics import allreduce_edd, rarest_first;"
        "from makespan.core.numeric.jit import next_seed; next_seed(1);"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


SHARED = """
from makespan.core.numeric.jit import part
FACTOR = {factor}
@part
def times(number):
    return number * {factor}
"""
CALLING = """
from makespan.core.numeric.jit import kernel
from {name} import FACTOR, times
@kernel
def run(number):
    return times(number) + FACTOR
"""


def imported(path: Path) -> ModuleType:
    """Import a file as a new module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    spec.loader.exec_module(module)
    sys.dont_write_bytecode = before
    files._text.cache_clear()  # as in a new process
    return module


@pytest.mark.skipif(not jit.compiles(), reason="without the compiler there is no cache")
def test_a_part_that_changes_renews_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel is loaded from disk as long as the files of its parts and its constants stay."""
    shared, calling = tmp_path / "shared_part.py", tmp_path / "calling_kernel.py"
    monkeypatch.setattr(jit, "_kernels", {})
    monkeypatch.setattr(jit, "_parts", set(jit._parts))
    calling.write_text(CALLING.format(name=shared.stem))
    found = []
    for factor in (2, 2, 3):
        shared.write_text(SHARED.format(factor=factor))
        imported(shared)
        run = imported(calling).run
        found.append((run(10), sum(run.stats.cache_hits.values())))
    for name in (shared.stem, calling.stem):
        del sys.modules[name]
    assert found == [(22, 0), (22, 1), (33, 0)]


class Ends(NamedTuple):
    """Two columns of one type."""

    low: list[int]
    high: list[int]


def between(low, high, at, stop):
    return [a <= at <= b for a, b in zip(low, high, strict=True)][: stop or None]


def test_columns_are_bound_by_name() -> None:
    """In whatever order they are given, each goes to the parameter of its name."""
    ends = Ends(low=[1, 5], high=[3, 9])
    assert bind(between, ends, at=6)(0) == bind(between, at=6, high=[3, 9])(low=[1, 5], stop=0)
    assert bind(between, ends)(at=2, stop=1) == [True]


@pytest.mark.parametrize(
    ("given", "then", "message"),
    [
        ({"lower": []}, {}, "between: lower is not one of its parameters: low, high, at, stop"),
        ({"low": []}, {"low": []}, "between: low is given twice"),
        ({"at": 1}, {"stop": 0}, "between: give low, high by name"),
        ({"low": [], "high": [], "at": 1, "stop": 0}, {"at": 2}, "at is given twice"),
    ],
)
def test_columns_that_are_wrong_are_named(given, then, message) -> None:
    """A name that is unknown, given twice, or missing is an error, before anything runs."""
    with pytest.raises(TypeError, match=message):
        bind(between, **given)(**then)


def test_no_two_arguments_go_by_position() -> None:
    """What is swapped must not be silent: only a single argument may go without its name."""
    with pytest.raises(TypeError, match="give at, stop by name"):
        bind(between, Ends([], []))(1, 2)


def test_a_loop_of_many_arguments_is_bound() -> None:
    """Its forms are not handed out to be called by position."""
    names = [f"column{number}" for number in range(jit.MOST + 1)]
    scope: dict[str, object] = {}
    exec(f"def wide({', '.join(names)}): return column3", scope)
    wide = Loop(scope["wide"], 1_000)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="wide takes more than 16 arguments: bind them by name"):
        wide.at(0)
    assert wide.bind(0, **{name: number for number, name in enumerate(names)})() == 3


@loop(pays_from=100)
def shifted(numbers, factor, shift, written):  # type: ignore[no-untyped-def]
    """Write numbers times a factor, and a shift."""
    for index in range(len(numbers)):
        written[index] = numbers[index] * factor + shift


def test_columns_are_taken_by_their_names(form: bool) -> None:
    """In any order; a name that is unknown, missing or given twice is an error, in both forms."""
    numbers, written = np.arange(3.0), np.zeros(3)
    shifted.run_by_name(3, {"numbers": numbers}, {"written": written}, shift=1.0, factor=2.0)
    assert written.tolist() == [1.0, 3.0, 5.0]
    run = shifted.prepared_by_name(3, {"numbers": numbers})
    for wrong in ({"factor": 1.0}, {"factor": 1.0, "shft": 1.0}):
        with pytest.raises((TypeError, KeyError), match=r"shift|shft"):
            run({"written": written}, wrong)
    with pytest.raises(TypeError, match="numbers is given twice"):
        run({"written": written}, {"numbers": 1.0, "factor": 1.0, "shift": 1.0})
