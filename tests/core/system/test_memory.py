"""Memory is asked for before it is taken."""

from __future__ import annotations

import pytest

from makespan.core.errors import MethodError, TooLarge
from makespan.core.system import memory


def test_what_fits_is_granted_and_what_does_not_is_refused() -> None:
    """The limit is two gibibytes, or half of what is free where that is less."""
    assert memory.allowed() <= memory.USUAL_LIMIT
    memory.claim(0.9 * memory.allowed(), "a small thing")
    with pytest.raises(TooLarge, match=r"a large thing would take [\d.,]+ GB"):
        memory.claim(1.1 * memory.allowed() + 2**30, "a large thing")


def test_the_environment_sets_another_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """MAKESPAN_MEMORY is in GB; what is not a number is refused."""
    monkeypatch.setenv(memory.VARIABLE, "0.5")
    assert memory.allowed() == 0.5e9
    for wrong in ("much", "-1", "nan"):
        monkeypatch.setenv(memory.VARIABLE, wrong)
        with pytest.raises(MethodError, match=memory.VARIABLE):
            memory.allowed()
