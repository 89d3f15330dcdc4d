"""A server of its own for the tests, on a port that is free."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

SERVE = [sys.executable, "-m", "makespan", "serve", "--no-browser", "--port", "0"]


def address_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    return (
        next(word for word in line.split() if word.startswith("http://"))
        .partition("/#")[0]
        .rstrip("/")
    )


@pytest.fixture(scope="session")
def server() -> Iterator[subprocess.Popen[str]]:
    """A server for all tests; at the end, that it said nothing but where it is."""
    with subprocess.Popen(
        SERVE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.terminate()
        _, errors = process.communicate(timeout=20)
    assert errors == ""


@pytest.fixture(scope="session")
def address(server: subprocess.Popen[str]) -> str:
    return address_of(server)


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=60, trust_env=False) as found:
        yield found
