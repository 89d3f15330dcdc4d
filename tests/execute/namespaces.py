"""A star of real links: network namespaces joined by a bridge, with token buckets; needs root.

Processors can be throttled, too: each worker gets a control group (version 1) of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.execute.stars import NO_DASHBOARD, QUIET, end_all
from tests.sources import SOURCES

NETWORK = "10.99.0"
PORT = 8786
CONTROL = Path("/sys/fs/cgroup/cpu")
SETTINGS = (
    "net.ipv4.tcp_congestion_control=bbr",
    "net.ipv4.tcp_slow_start_after_idle=0",
)
PERIOD = 20_000  # microseconds, in each of which a throttled worker gets its share of a core


def possible() -> bool:
    """Whether this process may make namespaces."""
    return hasattr(os, "geteuid") and os.geteuid() == 0 and all(map(shutil.which, ("ip", "tc")))


def throttling_possible() -> bool:
    """Whether processors can be throttled here."""
    return possible() and (CONTROL / "cpu.cfs_quota_us").exists()


def _do(command: str) -> None:
    subprocess.run(command.split(), check=True, capture_output=True)


@contextmanager
def joined(rates: Sequence[float | None]) -> Iterator[list[str]]:
    """Give namespaces, each behind a link of so many Mbit/s, None for as fast as it goes.

    Namespace k has the address ``NETWORK.(k + 1)``. Everything is taken down afterwards. Names hold
    the process's number, so that two can run.
    """
    tag = f"mk{os.getpid()}"
    spaces = [f"{tag}{index}" for index in range(len(rates))]
    switch = f"{tag}s"
    with ExitStack() as stack:
        for space in (*spaces, switch):
            _do(f"ip netns add {space}")
            stack.callback(_do, f"ip netns del {space}")
            _do(f"ip -n {space} link set lo up")
        _do(f"ip -n {switch} link add br0 type bridge")
        _do(f"ip -n {switch} link set br0 up")
        for index, (space, rate) in enumerate(zip(spaces, rates, strict=True)):
            _do(f"ip -n {space} link add e0 type veth peer name p{index} netns {switch}")
            _do(f"ip -n {space} addr add {NETWORK}.{index + 1}/24 dev e0")
            _do(f"ip -n {space} link set e0 up")
            _do(f"ip -n {switch} link set p{index} master br0")
            _do(f"ip -n {switch} link set p{index} up")
            if rate is not None:
                _do(f"ip netns exec {switch} tc qdisc add dev p{index} {_bucket(rate)}")
                _do(f"ip netns exec {space} tc qdisc add dev e0 {_bucket(rate)}")
            for setting in SETTINGS:
                _do(f"ip netns exec {space} sysctl -qw {setting}")
        yield spaces


@contextmanager
def star_of_namespaces(
    rates: Sequence[float], *, uplink: float | None = None, shares: Sequence[float] = ()
) -> Iterator[str]:
    """Give the namespace of a master, with a scheduler and workers behind links of these Mbit/s.

    All share the master's ``uplink``, Mbit/s, where it is given. ``shares`` of a core throttle the
    workers. Everything is taken down afterwards.
    """
    with ExitStack() as stack:
        spaces = stack.enter_context(joined([uplink, *rates]))
        folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        processes: list[subprocess.Popen[bytes]] = []
        stack.callback(end_all, processes)
        host = f"{NETWORK}.1"
        command = ["scheduler", "--host", host, "--port", str(PORT), "--no-show", *NO_DASHBOARD[:1]]
        processes.append(_start(spaces[0], command, folder))
        for index in range(1, len(spaces)):
            command = ["worker", f"tcp://{host}:{PORT}", "--host", f"{NETWORK}.{index + 1}"]
            command += ["--name", f"w{index}", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
            command += ["--memory-limit", "0", "--local-directory", folder]
            processes.append(_start(spaces[index], command, folder))
            if shares:
                group = CONTROL / spaces[index]
                group.mkdir()
                stack.callback(_remove, group, processes)
                _throttle(group, processes[-1].pid, shares[index - 1])
        yield spaces[0]


def _bucket(rate: float) -> str:
    return f"root tbf rate {rate}mbit burst 64kb latency 100ms"


def _throttle(group: Path, process: int, share: float) -> None:
    """Let a process have no more than its share of a core."""
    (group / "cpu.cfs_period_us").write_text(str(PERIOD))
    (group / "cpu.cfs_quota_us").write_text(str(int(share * PERIOD)))
    (group / "cgroup.procs").write_text(str(process))


def _remove(group: Path, processes: Sequence[subprocess.Popen[bytes]]) -> None:
    end_all(processes)
    group.rmdir()


def _start(space: str, command: Sequence[str], folder: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["ip", "netns", "exec", space, sys.executable, "-m", "dask", *command],
        cwd=folder,
        env={**os.environ, **QUIET, "PYTHONPATH": SOURCES},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def run_inside(space: str, *arguments: str) -> str:
    """Run Python with these arguments in a namespace and return what it printed."""
    found = subprocess.run(
        ["ip", "netns", "exec", space, sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": SOURCES},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if found.returncode:
        raise RuntimeError(found.stderr)
    return found.stdout
