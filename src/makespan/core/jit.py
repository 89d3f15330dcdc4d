"""The one decorator for compiled loops.

Kernels that call one another share a file: the cache of a kernel is renewed when its own file
changes, not when a file it calls does. Kernels never use fastmath: sums keep their order.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiles() -> bool:
    """Whether kernels are compiled: not with ``NUMBA_DISABLE_JIT=1``."""
    return os.environ.get("NUMBA_DISABLE_JIT") != "1"


def kernel(function: Kernel) -> Kernel:
    """Compile ``function`` with Numba (cached on disk where possible, without the GIL).

    With ``NUMBA_DISABLE_JIT=1`` the function is returned as it is.
    """
    if not compiles():
        return function
    import numba

    try:
        compiled = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no folder that a cache could be written to
        compiled = numba.njit(nogil=True)(function)
    return compiled  # type: ignore[no-any-return]
