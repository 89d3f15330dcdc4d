"""A star of slow links without root: TCP relays with a rate and a delay.

``python relay.py STAR.json`` relays until its standard input closes. STAR.json holds a list of
links, and optionally the rate that all of them share on the master's side::

    {"uplink": 100.0,
     "links": [{"rate": 50.0, "delay": 40.0, "relays": [[9201, 9101], [9301, 8786]]}]}

Rates are Mbit/s, delays one-way milliseconds. A relay ``[listen, target]`` passes what connects to
``listen`` on to ``target``, both on 127.0.0.1. All relays of a link share its rate, in each
direction; a relay to the scheduler is ``reverse``: what connects to it comes from the worker.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
LARGEST_PIECE = 65536
PIECE_SECONDS = 2e-3


class Line:
    """One direction of a link: bytes leave one after another at its rate, first come first served.

    ``shared`` is the line behind it, which the other links use, too.
    """

    def __init__(self, megabits: float, milliseconds: float, shared: Line | None = None) -> None:
        self.rate = megabits * 1e6 / 8
        self.delay = milliseconds / 1e3
        self.shared = shared
        self.free = 0.0
        self.piece = int(min(LARGEST_PIECE, max(4096, self.rate * PIECE_SECONDS)))
        self.window = int(max(4 * self.piece, 2 * self.rate * self.delay, LARGEST_PIECE))

    def departure(self, count: int) -> float:
        """Return when the last of ``count`` bytes that come now has left."""
        before = 0.0 if self.shared is None else self.shared.departure(count)
        self.free = max(self.free, before - count / self.rate, time.perf_counter())
        self.free += count / self.rate
        return self.free


class Stream:
    """Bytes on their way from a reader to a writer through a line."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: Line
    ) -> None:
        self.reader = reader
        self.writer = writer
        self.line = line
        self.flight: deque[tuple[float, bytes]] = deque()
        self.in_flight = 0
        self.changed = asyncio.Condition()

    async def carry(self) -> None:
        """Carry until either end closes."""
        with suppress(OSError, asyncio.IncompleteReadError):
            await asyncio.gather(self._take(), self._deliver())
        self.writer.close()

    async def _take(self) -> None:
        line = self.line
        while True:
            async with self.changed:
                await self.changed.wait_for(lambda: self.in_flight <= line.window)
            data = b""
            with suppress(OSError):
                data = await self.reader.read(line.piece)
            async with self.changed:
                self.flight.append((line.departure(len(data)) + line.delay, data))
                self.in_flight += len(data)
                self.changed.notify_all()
            if not data:
                return

    async def _deliver(self) -> None:
        while True:
            async with self.changed:
                await self.changed.wait_for(lambda: self.flight)
                moment, data = self.flight.popleft()
            await asyncio.sleep(max(0.0, moment - time.perf_counter()))
            if not data:
                with suppress(OSError):
                    self.writer.write_eof()
                return
            with suppress(OSError):
                self.writer.write(data)
                await self.writer.drain()
            async with self.changed:
                self.in_flight -= len(data)
                self.changed.notify_all()


def no_waiting(writer: asyncio.StreamWriter) -> None:
    """Send small messages at once, and keep little in the buffers."""
    writer.transport.set_write_buffer_limits(high=LARGEST_PIECE)
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


async def relay(listen: int, target: int, forward: Line, backward: Line) -> None:
    """Serve one relay."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(HOST, target, limit=1 << 18)
        except OSError:
            writer.close()
            return
        for end in (writer, far_writer):
            no_waiting(end)
        await asyncio.gather(
            Stream(reader, far_writer, forward).carry(),
            Stream(far_reader, writer, backward).carry(),
        )

    await asyncio.start_server(connected, HOST, listen, limit=1 << 18)


async def serve(star: dict[str, Any]) -> None:
    """Relay for all links of a star until standard input closes."""
    uplink = star.get("uplink")
    out = None if uplink is None else Line(uplink, 0.0)
    back = None if uplink is None else Line(uplink, 0.0)
    for link in star["links"]:
        down = Line(link["rate"], link["delay"], out)
        up = Line(link["rate"], link["delay"], back)
        for listen, target in link["relays"]:
            await relay(listen, target, down, up)
        for listen, target in link.get("reverse", ()):
            await relay(listen, target, up, down)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    os._exit(0)  # connections are cut, as when a machine goes


if __name__ == "__main__":
    asyncio.run(serve(json.loads(Path(sys.argv[1]).read_text())))
