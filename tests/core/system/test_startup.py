"""What the first use costs once does not count against limits."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from makespan.core.control import Control
from makespan.core.numeric.jit import compiles, kernel
from makespan.core.system import startup


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
