"""Functions that the tests and the benchmark run on workers: calibrated sleeping as computation."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SECONDS_PER_ITEM = {"w1": 330e-6, "w2": 220e-6, "w3": 140e-6}
"""By worker; an item of the star's data has 1000 bytes. Half as fast elsewhere."""


def speed_of_this_worker() -> float:
    """Return the seconds that an item takes on this worker."""
    from distributed import get_worker

    return SECONDS_PER_ITEM.get(str(get_worker().name), 500e-6)


def slept(rows: np.ndarray) -> np.ndarray:
    """Sleep as long as the rows take here; return their first column."""
    time.sleep(len(rows) * speed_of_this_worker())
    return np.array(rows[:, 0])


def slept_each(item: Any) -> Any:
    """Sleep as long as one item takes here; return it."""
    time.sleep(speed_of_this_worker())
    return item


def squared(item: int) -> int:
    return item * item


def doubled(rows: np.ndarray) -> np.ndarray:
    return 2 * rows


def slow_square(item: int) -> int:
    time.sleep(0.01)
    return item * item


def fails_on_seven(item: int) -> int:
    if item == 7:
        raise ValueError("seven is not allowed")
    return item


def fails_on_large(batch: list[int]) -> list[int]:
    if max(batch) > 90:
        raise ValueError("too large")
    return batch


def too_few(batch: list[int]) -> list[int]:
    return batch[:-1]


def text_of(path: Path) -> tuple[str, str]:
    return path.name, path.read_text()


def locked() -> Callable[[Any], Any]:
    """Return a function that can't be pickled: it holds a lock."""
    lock = threading.Lock()

    def guarded(item: Any) -> Any:
        with lock:
            return item

    return guarded


def suicidal(item: int) -> int:
    """End the worker's process on item 13."""
    if item == 13:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def rows(count: int, seed: int = 0) -> np.ndarray:
    """Return rows of 1000 random bytes, of which the first tells them apart somewhat."""
    generator = np.random.default_rng(seed)
    return generator.integers(0, 256, (count, 1000), dtype=np.uint8)
