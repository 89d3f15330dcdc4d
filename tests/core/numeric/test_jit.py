"""Loops in two forms: which runs, on what, and that both give the same."""

from __future__ import annotations

import numba  # noqa: F401  (the compiler is loaded)
import numpy as np
import pytest

from makespan.core.numeric import jit
from makespan.core.numeric.jit import Loop, loop


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
