"""Processes of this machine that are nobody else's: started for a run, started again, ended.

A process that has imported what they need, and nothing else, forks them. To fork a process that has
threads, or that holds what they hold, is not safe; to start Python anew for each worker takes a
tenth of a second. This one, the nursery, has no threads, opens nothing, and waits. It ends with the
process that started it.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent import futures
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from multiprocessing.connection import Connection
from threading import Lock, Thread
from typing import Any

from makespan.core.errors import ExecutionError, InputError
from makespan.core.inputs.rules import quoted
from makespan.execute.dealing.rival import OwnMap
from makespan.execute.pools.slot import hang_up, main

BEGIN = """
import sys
from multiprocessing.connection import Connection
line = Connection(int(sys.argv[1]))
sys.path[:] = line.recv()
from makespan.execute.pools.processes import attend
attend(line)
"""


class Nursery:
    """The process that forks, as the one that asks it sees it."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self.owner = os.getpid()
        self._line = Connection(ours.detach())
        with theirs:
            descriptor = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-c", BEGIN, str(descriptor)],
                pass_fds=[descriptor],
                stdin=subprocess.DEVNULL,
            )
        self._line.send(path())
        self._numbers = count()
        self._ended: dict[int, Future[int | None]] = {}
        self._lock = Lock()
        self.gone = False
        Thread(target=self._listen, name="makespan-nursery", daemon=True).start()
        atexit.register(self._close)

    def start(self, where: Any, name: str) -> tuple[int, Future[int | None]]:
        """Start a worker; return what it is called here, and a future of its exit code."""
        ended: Future[int | None] = Future()
        ended.set_running_or_notify_cancel()
        with self._lock:
            number = next(self._numbers)
            self._ended[number] = ended
            try:
                self._line.send((number, tuple(where), name, dict(os.environ), os.getcwd(), path()))
            except OSError as error:
                raise ExecutionError(f"no process can be started: {error}") from error
        return number, ended

    def kill(self, number: int) -> None:
        """Kill a worker."""
        with self._lock, suppress(OSError):
            self._line.send((number,))

    def _listen(self) -> None:
        with suppress(OSError, EOFError):
            while True:
                number, code = self._line.recv()
                self._ended.pop(number).set_result(code)
        self.gone = True
        for future in list(self._ended.values()):
            future.set_result(None)

    def _close(self) -> None:
        if self.owner == os.getpid():
            hang_up(self._line)
            self._process.wait()


def path() -> list[str]:
    """Return where this process finds modules."""
    return [os.path.abspath(entry) for entry in sys.path]


def _leave() -> None:
    """End this process, as those of multiprocessing do: taking Python apart takes 70 ms more."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for the function's threads
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(0)


def attend(line: Connection) -> None:
    """Fork a worker whenever that is asked for, and tell of the end of each."""
    import cloudpickle  # noqa: F401 - workers have what is imported here

    from makespan.execute import remote, travel  # noqa: F401

    gc.freeze()  # a worker that looks for garbage would copy all of this
    workers: dict[int, int] = {}
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever asks

    def ended(*_: object) -> None:
        with suppress(ChildProcessError, OSError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                line.send((workers.pop(found[0]), os.waitstatus_to_exitcode(found[1])))

    signal.signal(signal.SIGCHLD, ended)
    with suppress(OSError, EOFError):
        while True:
            number, *asked = line.recv()
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
            if not asked:
                for process in [one for one, other in workers.items() if other == number]:
                    os.kill(process, signal.SIGKILL)
            elif process := os.fork():
                workers[process] = number
            else:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
                line.close()
                where, name, environment, folder, entries = asked
                os.environ.clear()
                os.environ.update(environment)
                os.chdir(folder)
                sys.path[:] = entries
                main(where, name)
                _leave()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


TELLING = 0.5  # seconds in which the end of a process is told

_NURSERY: list[Nursery] = []
_LOCK = Lock()


def cores() -> int:
    """Return on how many cores this process may run."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Processes:
    """So many processes on this machine, one for each core by default, that load what they are to
    do.

    They lack what this process has set or opened; functions and classes of its ``__main__`` go to
    them as they are. One that dies is followed by another.
    """

    host: str | None = None
    inside = False
    own_map: OwnMap | None = None

    def __init__(self, number: int | None = None) -> None:
        if number is not None and (isinstance(number, bool) or number < 1):
            raise InputError(f"on: {quoted(number)} is not a number of processes, 1 or more")
        self.number = cores() if number is None else int(number)
        self._processes: dict[str, tuple[Nursery, int, futures.Future[Any]]] = {}

    def overhead(self, slots: int) -> float | None:
        """There is nothing to compare with."""
        return None

    def count(self) -> int:
        """Return how many processes there are to be."""
        return self.number

    def start(self, serve: Callable[..., None], where: Any, name: str) -> futures.Future[Any]:
        """Start a process that calls where it is told to."""
        with _LOCK:
            if not _NURSERY or _NURSERY[0].gone or _NURSERY[0].owner != os.getpid():
                _NURSERY[:] = [Nursery()]
            nursery = _NURSERY[0]
        number, ended = nursery.start(where, name)
        self._processes[name] = nursery, number, ended
        return ended

    def why(self, ended: futures.Future[Any]) -> str:
        """Say what became of a process, as a predicate."""
        with suppress(futures.TimeoutError):
            code = ended.result(TELLING)
            if code is not None and code < 0:
                return f"was killed by {signal.Signals(-code).name}"
            return f"ended with code {code}"
        return "hung up"

    def end(self, name: str, address: str = "") -> None:
        """Kill a process."""
        nursery, number, ended = self._processes[name]
        nursery.kill(number)
        with suppress(futures.TimeoutError):
            ended.result(TELLING)

    def close(self) -> None:
        """Kill whatever is left."""
        for name, (_, _, ended) in self._processes.items():
            if not ended.done():
                self.end(name)
