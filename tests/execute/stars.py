"""Clusters of real processes: a scheduler, and workers behind slow links.

``with star_of([Link(rate=50), Link(rate=100)]) as cluster`` starts them all on 127.0.0.1 and ends
them all. Works outside the tests, too: the benchmark uses it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.sources import SOURCES

RELAY = Path(__file__).with_name("relay.py")
BARE = """
import sys


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "makespan":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
"""  # what Python runs when it starts where makespan is not to be found
HOST = "127.0.0.1"
NO_LIMIT = 8000.0  # Mbit/s, faster than the relay itself

NO_DASHBOARD = ("--no-dashboard", "--dashboard-address", f"{HOST}:0")
QUIET = {
    "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error",
    "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "False",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "10s",
    "OMP_NUM_THREADS": "1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A worker's link: Mbit/s and one-way milliseconds."""

    rate: float = NO_LIMIT
    delay: float = 0.0


@dataclass(slots=True, kw_only=True)
class Cluster:
    """The processes of a star: the scheduler's address, and the workers by name."""

    address: str
    workers: dict[str, subprocess.Popen[bytes]]
    folder: str

    def kill(self, name: str) -> None:
        """End a worker as a crash would."""
        self.workers[name].send_signal(signal.SIGKILL)
        self.workers[name].wait()

    def add(self, name: str) -> None:
        """Start one more worker, without a relay."""
        self.workers[name] = _worker(name, self.address, (), self.folder)


@contextmanager
def star_of(
    links: Sequence[Link], *, uplink: float | None = None, threads: int = 1, bare: bool = False
) -> Iterator[Cluster]:
    """Start a scheduler and a worker ``w1``, ``w2``, … behind each link; end them all after.

    On a ``bare`` cluster makespan is not installed.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        if bare:
            Path(folder, "sitecustomize.py").write_text(BARE)
        ports = free_ports(1 + 3 * len(links))
        scheduler = ports.pop()
        crew: dict[str, subprocess.Popen[bytes]] = {}
        stack.callback(lambda: end_all([*crew.values()]))
        command = ["scheduler", "--host", HOST, "--port", str(scheduler), "--no-show"]
        crew["scheduler"] = _start([*command, *NO_DASHBOARD], folder)
        wait_for_port(scheduler, crew["scheduler"])
        described = []
        workers = {}
        for index, link in enumerate(links, start=1):
            own, contact, upward = ports.pop(), ports.pop(), ports.pop()
            described.append(
                {
                    "rate": link.rate,
                    "delay": link.delay,
                    "relays": [[contact, own]],
                    "reverse": [[upward, scheduler]],
                }
            )
            workers[f"w{index}"] = (own, contact, upward)
        crew["relay"] = _relay({"uplink": uplink, "links": described}, Path(folder))
        for name, (own, contact, upward) in workers.items():
            addresses = ["--listen-address", f"tcp://{HOST}:{own}"]
            addresses += ["--contact-address", f"tcp://{HOST}:{contact}"]
            reach = f"tcp://{HOST}:{upward}"
            crew[name] = _worker(name, reach, addresses, folder, threads)
        cluster = Cluster(
            address=f"tcp://{HOST}:{scheduler}",
            workers={name: crew[name] for name in workers},
            folder=folder,
        )
        stack.callback(lambda: end_all([*cluster.workers.values()]))
        yield cluster


def _start(arguments: Sequence[str], folder: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **QUIET, "PYTHONPATH": os.pathsep.join([folder, SOURCES])}
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C in the tests is not theirs
    )


def _worker(
    name: str, scheduler: str, addresses: Sequence[str], folder: str, threads: int = 1
) -> subprocess.Popen[bytes]:
    command = ["worker", scheduler, "--name", name, "--nthreads", str(threads), "--no-nanny"]
    command += [*NO_DASHBOARD, "--memory-limit", "0", "--local-directory", folder]
    return _start([*command, *(addresses or ("--host", HOST))], folder)


def _relay(star: dict[str, object], folder: Path) -> subprocess.Popen[bytes]:
    path = folder / "star.json"
    path.write_text(json.dumps(star))
    process = subprocess.Popen(
        [sys.executable, str(RELAY), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    if process.stdout.readline() != b"ready\n":
        raise RuntimeError("the relay did not start")
    return process


def free_ports(count: int) -> list[int]:
    """Return ports that nothing listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until something listens on ``port``."""
    import time

    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError("the scheduler did not start")
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("the scheduler does not answer")


def end_all(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End processes that this module started, and wait for them."""
    for process in processes:
        if process.poll() is None:
            process.kill()
    for process in processes:
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
