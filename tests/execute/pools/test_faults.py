"""Faults of pools: all results once, or an error with those that are there; nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from makespan import ExecutionError, execute
from makespan.execute import ItemsFailed
from makespan.execute.pools.engine import PoolEngine
from tests.execute.pools import pools


def mapped(function: Any, *iterables: Any, **options: Any) -> Any:
    return execute.map(function, *iterables, progress=False, **options)


def none_left(before: set[int]) -> bool:
    """Whether processes that were started since have ended, after a moment at most."""
    for _ in range(100):
        if pools.descendants() <= before:
            return True
        time.sleep(0.05)
    return False


def test_a_process_that_dies_is_replaced(tmp_path: Path) -> None:
    """Its items go to others, once; the run tells of it."""
    before, once = pools.descendants(), tmp_path / "once"
    once.touch()
    function = partial(pools.dies_on, once=str(once), seconds=0.03)
    execution = mapped(function, range(100), on=2)
    assert execution.results == list(range(100))
    assert any("was killed by SIGKILL" in event for event in execution.events)
    assert any("joined" in event for event in execution.events)
    assert none_left(before)


def test_an_item_that_kills_its_workers_is_given_up() -> None:
    """Three times; no other item is."""
    with pytest.raises(ItemsFailed, match="item 13: ExecutionError: 3 workers died") as caught:
        mapped(pools.dies_on, range(40), on=2)
    found = caught.value.execution.results
    assert found == [None if item == 13 else item for item in range(40)]


@pytest.mark.parametrize("kind", [pytest.param("processes", marks=pytest.mark.thorough), "loky"])
def test_an_executor_that_breaks_ends_the_run(kind: str) -> None:
    """With what is known until then."""
    with pools.pool(kind) as on:
        mapped(pools.square, range(4), on=on)
        with pytest.raises(ExecutionError, match=r"no worker is left: .*(Brok|Term)") as caught:
            mapped(partial(pools.dies_on, which=150), range(200), on=on)
    found = caught.value.execution.results
    assert found[0] == 0
    assert all(value in (None, item) for item, value in enumerate(found))


def test_a_process_that_stops_is_not_waited_for(tmp_path: Path) -> None:
    """Others do what it held; it is killed in the end."""
    before, once = pools.descendants(), tmp_path / "once"
    once.touch()
    execution = mapped(partial(pools.stops_on, once=str(once)), range(60), on=2)
    assert execution.results == list(range(60))
    assert any("is late" in event for event in execution.events)
    assert none_left(before)


INTERRUPTED = """
import os, signal, sys, threading, time
from makespan import execute
from tests.execute.pools.pools import descendants, nap
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    execute.map(nap, range(100_000), on=2, progress=False)
except KeyboardInterrupt:
    print("interrupted", len(descendants()))
"""


@pytest.mark.usefixtures("usual_signals")
def test_ctrl_c_leaves_nothing() -> None:
    """The processes have ended when the interrupt is raised."""
    run = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.stdout.split() == ["interrupted", "0"], run.stderr


KILLED = """
import sys
from makespan import execute
from tests.execute.pools.pools import descendants, nap
def told(share, what):
    print(*descendants(), flush=True)
execute.map(nap, range(100_000), on=2, progress=told)
"""


@pytest.mark.thorough
def test_processes_end_with_the_client() -> None:
    """Also where that is killed."""
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        left: list[int] = []
        while len(left) < 2:
            left = [*map(int, run.stdout.readline().split())]
        run.kill()
    for _ in range(100):
        left = [one for one in left if Path(f"/proc/{one}").exists()]
        if not left:
            return
        time.sleep(0.05)
    for one in left:
        os.kill(one, signal.SIGKILL)
    pytest.fail(f"{left} are left")


def test_a_thread_pool_is_free_again_after_a_run() -> None:
    """Also after one that was given up in the middle."""
    with pools.pool("threads") as on:
        found = execute.imap(pools.nap, range(1000), on=on)
        assert next(found) == 0
        found.close()
        assert on.submit(pow, 2, 3).result(10.0) == 8
        assert not [one for one in threading.enumerate() if one.name == "makespan-slots"]


def interrupts(item: int) -> int:
    """Raise what Ctrl-C does in a worker, which ends its slot."""
    if item == 5:
        raise KeyboardInterrupt
    return item


def test_a_slot_that_is_interrupted_is_started_again() -> None:
    """A worker of an executor gets the signal of a terminal, too; its item is given up."""
    with pools.pool("threads") as on:
        execution = mapped(interrupts, range(20), on=on, keep_going=True)
    assert execution.results == [None if item == 5 else item for item in range(20)]
    assert any("died" in event for event in execution.events)


def test_a_slot_is_started_again_when_all_it_said_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that reads what a slot said may be late: the next of its name waits for it."""
    soon = PoolEngine._soon

    def late(self: PoolEngine, function: Callable[..., object], *arguments: Any) -> None:
        if function.__name__ == "_leave":
            time.sleep(0.2)
        soon(self, function, *arguments)

    monkeypatch.setattr(PoolEngine, "_soon", late)
    test_a_slot_that_is_interrupted_is_started_again()
