"""The relay is the link that it says: its rate, its delay, and what it shares."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import pytest

from tests.execute.relay import Line
from tests.execute.stars import HOST, _relay, end_all, free_ports


def test_bytes_leave_at_the_rate() -> None:
    """A megabyte at 8 Mbit/s takes a second, however it is cut."""
    line = Line(8.0, 0.0)
    start = time.perf_counter()
    departures = [line.departure(1000) - start for _ in range(1000)]
    assert departures[-1] == pytest.approx(1.0, abs=0.05)
    assert departures == sorted(departures)


def test_a_shared_line_delays_both() -> None:
    """Two lines of 8 Mbit/s behind one of 8 Mbit/s get half of it each."""
    shared = Line(8.0, 0.0)
    lines = [Line(8.0, 0.0, shared) for _ in range(2)]
    start = time.perf_counter()
    for _ in range(500):
        ends = [line.departure(1000) - start for line in lines]
    assert max(ends) == pytest.approx(1.0, abs=0.05)


def test_a_relay_passes_bytes_on_both_ways_with_its_delay(tmp_path: Path) -> None:
    """An echo comes back whole, not before twice the delay has passed."""
    listen, target = free_ports(2)
    echo = socket.create_server((HOST, target))

    def answer() -> None:
        connection, _ = echo.accept()
        with connection:
            while data := connection.recv(65536):
                connection.sendall(data)

    thread = threading.Thread(target=answer)
    thread.start()
    star = {"links": [{"rate": 80.0, "delay": 50.0, "relays": [[listen, target]]}]}
    process = _relay(star, tmp_path)
    message = bytes(range(256)) * 400
    try:
        with socket.create_connection((HOST, listen)) as connection:
            start = time.perf_counter()
            sender = threading.Thread(target=connection.sendall, args=(message,))
            sender.start()
            got = b""
            while len(got) < len(message):
                got += connection.recv(65536)
            elapsed = time.perf_counter() - start
            sender.join()
    finally:
        end_all([process])
        thread.join()
        echo.close()
    assert got == message
    assert elapsed >= 0.1 + len(message) * 8 / 80e6
