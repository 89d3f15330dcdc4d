"""Processes of this machine that do what they are told, and may die."""

import contextlib
import faulthandler
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from makespan.core.errors import ExecutionError
from makespan.core.system import memory


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


def run_child() -> None:
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


ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


def own_folder() -> tempfile.TemporaryDirectory[str]:
    """Make a folder for the files of processes, or raise ExecutionError."""
    try:
        return tempfile.TemporaryDirectory(prefix="makespan-")
    except OSError as error:
        raise ExecutionError(f"processes need a folder of their own: {error.strerror}") from error


class Child:
    """A process, as the one that started it sees it.

    ``make``, which is pickled, makes its :class:`~makespan.core.system.subprocesses.Service` there.
    ``arrived`` is called with this and each message of the process, and with this and None when it
    has ended, in a thread of its own. What it prints goes to the file ``errors``. It may be pinned
    to the first of ``cores`` that is free, and first imports ``imports``, modules that register
    methods.
    """

    def __init__(
        self,
        make: Callable[[], Service],
        arrived: Callable[[Any, Any], None],
        errors: Path,
        *,
        cores: Sequence[int] = (),
        imports: Sequence[str] = (),
    ) -> None:
        self.errors = errors
        self.fault: tuple[str, str] | None = None  # why it was ended: a status and a note
        code = f"import sys; sys.path[:] = {sys.path!r}\n"
        code += f"from {__package__}.subprocesses import run_child; run_child()"
        with errors.open("wb") as file:
            self.popen = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                env={**os.environ, **ONE_THREAD},
            )
        self.send(Setup(cores, tuple(imports)))
        self.send(make)
        threading.Thread(target=self._listen, args=(arrived,), daemon=True).start()

    def send(self, message: Any) -> None:
        """Send a message; one to a dead process is lost."""
        assert self.popen.stdin is not None
        with contextlib.suppress(OSError):
            self.popen.stdin.write(pickle.dumps(message))
            self.popen.stdin.flush()

    def end(self, status: str, note: str) -> None:
        """Kill it, for a reason; the first counts."""
        if self.fault is None:
            self.fault = (status, note)
            self.popen.kill()

    def watch_memory(self, most: float) -> None:
        """End it if it holds more than ``most`` bytes."""
        held = memory.held_by(self.popen.pid)
        if held > most:
            note = f"it held {held / 1e9:.2f} GB; a solve may have {most / 1e9:.2f} GB here"
            self.end("out of memory", note)

    def death(self) -> tuple[str, str]:
        """Return the status and the note of a process that has ended."""
        code, words = self.popen.wait(), self.last_words()
        if self.fault is not None:
            return self.fault
        if code == -9:
            return "killed", "ended from outside; systems do that where memory runs out"
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return "crashed", f"its process ended with {how}{': ' * bool(words)}{words}"

    def last_words(self) -> str:
        """Return what says most in what it printed: what it died of."""
        text = self.errors.read_bytes()[-10_000:].decode("utf-8", "replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        fatal = [line for line in lines if line.startswith("Fatal Python error")]
        return (fatal or lines or [""])[-1]

    def reap(self) -> None:
        """Wait for the end of one that was killed, and close its pipes."""
        self.popen.wait()
        for pipe in (self.popen.stdin, self.popen.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError, ValueError):
                pipe.close()

    def _listen(self, arrived: Callable[[Any, Any], None]) -> None:
        assert self.popen.stdout is not None
        try:
            while True:
                arrived(self, pickle.load(self.popen.stdout))
        except Exception:  # the end, or a message that a kill tore
            arrived(self, None)
