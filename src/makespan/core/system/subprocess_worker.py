"""What a process does that :class:`makespan.core.system.subprocesses.Child` started."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol


class Service(Protocol):
    """What a process is there for."""

    def hear(self, message: Any) -> None:
        """Take a message; called in a thread of its own."""

    def run(self, tell: Callable[[Any], None]) -> None:
        """Work in the main thread without end; what is told goes to the other process."""


class Setup(NamedTuple):
    """What a process is told first."""

    cores: Sequence[int]
    imports: Sequence[str]


def main() -> None:
    """Serve until standard input ends, which is also when the other process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal
    faulthandler.enable()
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what libraries print is no message
    setup: Setup = pickle.load(sys.stdin.buffer)
    claim = pinned(setup.cores)
    for name in setup.imports:
        import_module(name)
    service: Service = pickle.load(sys.stdin.buffer)()
    threading.Thread(target=_listen, args=(service,), daemon=True).start()
    with claim:
        service.run(lambda message: _write(out.fileno(), pickle.dumps(message)))


def pinned(cores: Sequence[int]) -> socket.socket | contextlib.nullcontext[None]:
    """Keep to the first of these cores that no process like this has; to the first if none is left.

    Who has one shows in a name that the system gives to one process, until that ends.
    """
    for core in cores:
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0makespan-core-{core}")
        except OSError:
            claim.close()
        else:
            os.sched_setaffinity(0, {core})
            return claim
    if cores:
        os.sched_setaffinity(0, {cores[0]})
    return contextlib.nullcontext()


def _listen(service: Service) -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            service.hear(pickle.load(sys.stdin.buffer))
    os._exit(0)


def _write(descriptor: int, data: bytes) -> None:
    """Write all: a pipe that is nearly full takes a part."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
