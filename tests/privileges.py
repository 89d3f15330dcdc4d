"""Permissions of files that bind root, too."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

VERSION = 0x20080522
"""Of the table of capabilities: two triples of effective, permitted and inheritable ones."""


def unprivileged(act: Callable[[], None]) -> None:
    """Call ``act`` without root's right to read and write everything."""
    if not hasattr(os, "geteuid"):
        pytest.skip("files have no permissions of POSIX here")
    if os.geteuid():
        act()
        return
    if not hasattr(ctypes.CDLL(None), "capset"):
        pytest.skip("root may do all here, and can't give it up")
    with ThreadPoolExecutor(1, initializer=_give_up) as thread:  # capabilities are of threads
        thread.submit(act).result()


def _give_up() -> None:
    header, none = (ctypes.c_uint32 * 2)(VERSION, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset(header, none) == 0
