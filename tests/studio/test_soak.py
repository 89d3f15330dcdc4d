"""Many requests, a tenth of them broken or abandoned: none fails, and no process grows."""

from __future__ import annotations

import json
import random
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from makespan.core.system import memory
from makespan.studio.exercises import examples

PROBLEMS = [example["toml"] for example in examples()]
BROKEN = [b"{", b"\xff\xfe", b'{"problem": 1}', b'{"problem": "kind = 1"}', b"[]", b"\0" * 1000]
HEADERS = {"content-type": "application/json"}
MEGABYTE = 2**20


def abandoned(address: str, body: bytes, rng: random.Random) -> None:
    """Send a request, or a part of one, and hang up."""
    host, port = address.removeprefix("http://").split(":")
    head = f"POST /api/solve HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
    whole = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(whole[: rng.choice([len(whole), len(whole) // 2, 10])])


class Waits(NamedTuple):
    """How many requests a client has sent, how often each status came, and its longest wait."""

    statuses: Counter[int]
    longest: float


def ask(address: str, number: int, count: int) -> Waits:
    """Be one client; the status of requests that are abandoned is 0."""
    rng, statuses, longest = random.Random(number), Counter[int](), 0.0
    with httpx.Client(base_url=address, timeout=120, trust_env=False) as client:
        for _ in range(count):
            asked = {"problem": rng.choice(PROBLEMS), "time_limit": rng.choice([0.02, 0.1])}
            body = json.dumps({**asked, "view": rng.random() < 0.5}).encode()
            kind = rng.random()
            if kind < 0.05:
                abandoned(address, body, rng)
                statuses[0] += 1
                continue
            if kind < 0.1:
                body = rng.choice(BROKEN)
            begun = time.monotonic()
            answer = client.post("/api/solve", content=body, headers=HEADERS)
            longest = max(longest, time.monotonic() - begun)
            statuses[answer.status_code] += 1
            assert answer.json()
    return Waits(statuses, longest)


def held(server: subprocess.Popen[str]) -> list[int]:
    """Return the bytes that the server and its processes hold."""
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    return [memory.held_by(int(pid)) for pid in (server.pid, *children)]


def soak(address: str, clients: int, each: int) -> tuple[list[Waits], float]:
    """Return what each client met, and the seconds that all of them took together."""
    begun = time.monotonic()
    with ThreadPoolExecutor(clients) as threads:
        asking = [threads.submit(ask, address, number, each) for number in range(clients)]
        return [one.result() for one in asking], time.monotonic() - begun


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system tells no memory")
@pytest.mark.parametrize(
    ("clients", "each"), [(10, 12), pytest.param(20, 50, marks=pytest.mark.slow)]
)
def test_soak(
    clients: int,
    each: int,
    server: subprocess.Popen[str],
    address: str,
    record_testsuite_property: Callable[[str, object], None],
) -> None:
    """Answers, refusals of what is broken, and nothing else; then as much memory as before.

    How long the longest waited is noted beside the mean; that nobody is overtaken, the pool's tests
    say.
    """
    soak(address, clients, 6)  # every method was used once
    before = held(server)
    met, seconds = soak(address, clients, each)
    record_testsuite_property(f"longest wait of {clients}, s", max(one.longest for one in met))
    record_testsuite_property(f"mean wait of {clients}, s", seconds / each)
    found = sum((one.statuses for one in met), Counter())
    assert found.total() == clients * each
    assert set(found) <= {0, 200, 400, 422}
    assert found[200] > 0.8 * found.total()
    after = held(server)
    assert len(after) == len(before)
    assert after[0] < before[0] + 20 * MEGABYTE
    assert max(after[1:]) < max(before[1:]) + 40 * MEGABYTE  # each uses each library at some time
