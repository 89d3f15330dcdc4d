"""What starts slots, how they are heard, and what is known of one."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import tempfile
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing.connection import Listener
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Protocol

from makespan.execute.dealing.engine import WorkerInfo
from makespan.execute.dealing.rival import OwnMap
from makespan.execute.pools.slot import Inside, Line, Where

log = logging.getLogger("makespan")


class Pool(Protocol):
    """What starts slots.

    ``host`` is this machine's address for its slots; None where they are on it. ``inside`` says
    that slots are threads of this process; ``own_map`` is what the pool itself offers.
    """

    host: str | None
    inside: bool
    own_map: OwnMap | None

    def overhead(self, slots: int) -> float | None:
        """Return what a task of its own map loses, by tasks that do nothing; None: no answer."""

    def count(self) -> int:
        """Return how many slots there may be now."""

    def start(self, serve: Callable[..., None], where: Any, name: str) -> Future[Any]:
        """Begin to call ``serve(where, name)`` in a slot; the future is done when that has ended.

        Raises :class:`ExecutionError` where the pool can't any more.
        """

    def why(self, ended: Future[Any]) -> str:
        """Say what became of a slot that has hung up, as a predicate."""

    def close(self) -> None:
        """Leave nothing behind."""

    def end(self, name: str, address: str) -> None:
        """See to it that a slot ends which has not done what it has, or never came.

        ``address`` is its host and process; nothing where it never came.
        """


class Slot:
    """A worker: its line, what waits to be written, what is expected from it, and what it has."""

    def __init__(self, line: Line | Inside, info: WorkerInfo, same_clock: bool) -> None:
        self.line, self.info, self.same_clock = line, info, same_clock
        self.outbox: SimpleQueue[Any] = SimpleQueue()
        self.expected: dict[Any, asyncio.Future[Any]] = {}
        self.working: set[str] = set()
        self.ended: Future[Any] = Future()


class Reception:
    """Waits for slots that call, and hands each line on; who has no key is refused.

    ``host`` is this machine's address for slots on others; None: all are here. ``meet`` is called
    with each line, in the thread that listens.
    """

    def __init__(self, host: str | None, meet: Callable[[Line], object]) -> None:
        key = secrets.token_bytes(32)
        self._meet, self._closing = meet, False
        self._folder = tempfile.TemporaryDirectory(prefix="makespan-")
        address: Any = (host or "127.0.0.1", 0)
        if host is None and hasattr(socket, "AF_UNIX"):
            address = str(Path(self._folder.name, "line"))
        try:
            self._listener = Listener(address, backlog=128, authkey=key)
        except OSError:  # the folder's name is too long for the address of a socket
            self._listener = Listener(("127.0.0.1", 0), backlog=128, authkey=key)
        self.where = Where(self._listener.address, key)
        Thread(target=self._accept, name="makespan-slots", daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except Exception as error:  # whoever it was has no key, or has gone
                if self._closing:
                    return
                log.debug("a call was refused: %s", error)
                continue
            self._meet(Line(connection))

    def close(self) -> None:
        """Wait for nobody any more."""
        self._closing = True
        family = socket.AF_UNIX if isinstance(self.where.address, str) else socket.AF_INET
        with suppress(OSError), socket.socket(family) as last:
            last.connect(self.where.address)
        with suppress(OSError):
            self._listener.close()
        self._folder.cleanup()
