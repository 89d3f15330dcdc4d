"""What short runs need not spend: most commands are done in a fifth of a second."""

from __future__ import annotations

import atexit
import gc
import os
from collections.abc import Sequence

OBJECTS = 50_000  # between two searches for garbage in circles; imports make no such garbage
WITH_FUNCTIONS = ("run", "calibrate")
"""Commands that call functions of the user, who may multiply matrices."""


def begin(arguments: Sequence[str]) -> None:
    """Search seldom for garbage, leave what is there at the end to the system, start no threads.

    NumPy's linear algebra starts a thread for each core when it is loaded, which takes more time
    than reading a problem; nothing here multiplies large matrices.
    """
    gc.set_threshold(OBJECTS)
    atexit.register(gc.freeze)
    if not set(arguments).intersection(WITH_FUNCTIONS):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
