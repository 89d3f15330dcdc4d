"""Starting programs on several ranks of PyTorch, on this computer."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from tests.sources import python_path


def launch(
    ranks: int,
    *arguments: Any,
    inside: Sequence[Sequence[str]] = (),
    extra: dict[str, str] | None = None,
    timeout: float = 400,
) -> list[Any]:
    """Run Python with arguments on so many ranks; return what each printed last, from JSON.

    ``inside`` are commands that a rank is started by, ``extra`` is added to the environment.
    """
    pytest.importorskip("torch")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = {**os.environ, "PYTHONPATH": python_path(), "MASTER_ADDR": "127.0.0.1"}
    common |= {"MASTER_PORT": str(port), "WORLD_SIZE": str(ranks), "OMP_NUM_THREADS": "1"}
    common |= extra or {}
    with ExitStack() as stack:
        said = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(2 * ranks)]
        running = [
            subprocess.Popen(
                [*(inside[rank] if inside else ()), sys.executable, *map(str, arguments)],
                env={**common, "RANK": str(rank)},
                stdin=subprocess.DEVNULL,
                stdout=said[2 * rank],
                stderr=said[2 * rank + 1],
            )
            for rank in range(ranks)
        ]
        until = time.monotonic() + timeout
        while any(process.poll() is None for process in running):
            if any(process.poll() for process in running) or time.monotonic() > until:
                break  # what one has left, others would wait for
            time.sleep(0.05)
        for process in running:
            process.kill()
        codes = [process.wait() for process in running]
        for file in said:
            file.seek(0)
        printed = [file.read() for file in said]
    if any(codes):
        raise RuntimeError("\n".join([f"ranks ended with {codes}", *printed[1::2]]))
    return [json.loads(text.splitlines()[-1]) for text in printed[::2]]
