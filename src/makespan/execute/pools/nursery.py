"""A process that forks workers for another: it has imported what they need, and nothing else.

To fork a process that has threads, or that holds what they hold, is not safe; to start Python anew
for each worker takes a tenth of a second. This one has no threads, opens nothing, and waits. It
ends with the process that started it.
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
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from multiprocessing.connection import Connection
from threading import Lock, Thread
from typing import Any

from makespan.core.errors import ExecutionError
from makespan.execute.pools.slot import hang_up, main

BEGIN = """
import sys
from multiprocessing.connection import Connection
line = Connection(int(sys.argv[1]))
sys.path[:] = line.recv()
from makespan.execute.pools.nursery import attend
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
