"""A slot: a process or thread of any pool that takes chunks from a client until that hangs up.

Whoever runs :func:`serve` calls the client back and becomes a worker that can be spoken to, whether
or not its pool knows it by name. What it computes comes one by one; a thread listens meanwhile.
"""

from __future__ import annotations

import os
import pickle
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Client, Connection
from queue import SimpleQueue
from typing import Any, NamedTuple

ENDING = 1.0  # seconds that a process of ours has to end by itself


class Where(NamedTuple):
    """Where a client listens, and what it is known by."""

    address: Any
    key: bytes


class Line:
    """A connection of two processes: what goes over it is pickled, large buffers are not copied."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sending = threading.Lock()
        with _socket_of(connection) as held:
            if held.family in (socket.AF_INET, socket.AF_INET6):
                # A message is several writes: by Nagle's algorithm the second would wait 40 ms.
                held.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, *message: Any) -> None:
        """Send a message; several threads may."""
        buffers: list[pickle.PickleBuffer] = []
        data = pickle.dumps(message, protocol=5, buffer_callback=buffers.append)
        raw = [buffer.raw() for buffer in buffers]
        head = pickle.dumps((len(data), [one.nbytes for one in raw]))
        with self._sending:
            self._connection.send_bytes(head)
            self._connection.send_bytes(data)
            for part in (one for one in raw if one.nbytes):
                self._connection.send_bytes(part)

    def receive(self) -> Any:
        """Wait for a message; ``EOFError`` or ``OSError`` once the other end is gone."""
        length, sizes = pickle.loads(self._connection.recv_bytes())
        parts = [bytearray(size) for size in (length, *sizes)]
        for part in parts:
            if part:
                self._connection.recv_bytes_into(part)
        return pickle.loads(parts[0], buffers=parts[1:])

    def close(self) -> None:
        """Hang up."""
        hang_up(self._connection)


def _socket_of(connection: Connection) -> socket.socket:
    """Return the socket of a connection, to be closed by itself."""
    return socket.socket(fileno=os.dup(connection.fileno()))


def hang_up(connection: Connection) -> None:
    """Close a connection, whoever is sending or waiting at either end."""
    with suppress(OSError), _socket_of(connection) as held:
        held.shutdown(socket.SHUT_RDWR)
    with suppress(OSError):
        connection.close()


class Inside:
    """Both directions between threads of one process: everything goes as it is."""

    def __init__(self, there: SimpleQueue[Any], back: SimpleQueue[Any]) -> None:
        self._there, self._back = there, back

    @classmethod
    def pair(cls) -> tuple[Inside, Inside]:
        """Return both ends."""
        there: SimpleQueue[Any] = SimpleQueue()
        back: SimpleQueue[Any] = SimpleQueue()
        return cls(there, back), cls(back, there)

    def send(self, *message: Any) -> None:
        """Send a message."""
        self._there.put(message)

    def receive(self) -> Any:
        """Wait for a message; ``EOFError`` once either end has hung up."""
        message = self._back.get()
        if message is None:
            raise EOFError
        return message

    def close(self) -> None:
        """Hang up."""
        self._there.put(None)
        self._back.put(None)


def serve(where: Where, name: str) -> None:
    """Call a client, and take chunks from it until it hangs up, or is not there any more."""
    from makespan.execute import remote, travel  # noqa: F401 - by the name that it travels under

    with suppress(OSError, EOFError):  # the run is over
        attend(Line(Client(where.address, authkey=where.key)), name, remote.work, remote.taken_back)


def serve_inside(line: Inside, name: str) -> None:
    """Be a slot in a thread of the client's process."""
    from makespan.execute import remote

    with suppress(EOFError):
        attend(line, name, remote.work, remote.taken_back, leaves=False)


def attend(
    line: Line | Inside,
    name: str,
    work: Callable[..., Any],
    taken_back: Callable[..., Any],
    *,
    leaves: bool = True,
    gone: Callable[[], object] = lambda: None,
) -> None:
    """Take chunks from the other end of a line until that hangs up.

    ``leaves`` is whether results leave the process; ``gone`` is called in the listening thread once
    there is nobody any more who waits for them.
    """
    chunks: SimpleQueue[Any] = SimpleQueue()
    held: dict[str, tuple[str, int, int]] = {}
    line.send("here", name, socket.gethostname(), os.getpid())
    _, function, batched = line.receive()
    listening = threading.Thread(target=_listen, args=(line, chunks, held, taken_back, gone))
    listening.daemon = True
    listening.start()
    try:
        while (chunk := chunks.get()) is not None:
            line.send(*_answer(work, function, batched, leaves, *chunk))
            held.pop(chunk[1], None)
            del chunk
    except OSError:
        pass
    finally:
        line.close()


def _answer(
    work: Callable[..., Any],
    function: Any,
    batched: bool,
    leaves: bool,
    items: Any,
    key: str,
    low: int,
    high: int,
) -> tuple[Any, ...]:
    """Do a chunk; return what to tell of it."""
    try:
        return "done", key, work(function, items, key, low, high, batched, 1, None, leaves)
    except Exception as error:
        return "failed", key, f"{type(error).__name__}: {error}"


def _listen(
    line: Line | Inside,
    chunks: SimpleQueue[Any],
    held: dict[str, tuple[str, int, int]],
    taken_back: Callable[..., Any],
    gone: Callable[[], object],
) -> None:
    """Take what the client says."""
    try:
        while True:
            what, *message = line.receive()
            if what == "chunk":
                items, key, low, high = message
                held[key] = key, low, high
                chunks.put((items, key, low, high))
            else:
                number, asked, kept = message
                line.send("back", number, taken_back(asked, kept))
    except (EOFError, OSError):
        taken_back([*held.values()], 0.0)  # nothing more is begun
        chunks.put(None)
        gone()


def main(where: tuple[Any, bytes], name: str) -> None:
    """Be a process of the client's own: it ends with the client, and with nothing left to do."""

    def ended() -> None:
        time.sleep(ENDING)
        os._exit(1)

    from makespan.execute import remote, travel  # noqa: F401 - by the name that it travels under

    with suppress(OSError, EOFError):
        line = Line(Client(where[0], authkey=where[1]))
        attend(line, name, remote.work, remote.taken_back, gone=ended)
