"""``makespan.execute.map`` beside each pool's own map where a worker dies, stops or joins.

``python -m benchmarks.pools_faults [POOL...] [--write]`` keeps what it saw in
``build/pools_faults.json``. The worker that gets hold of a token kills or stops itself once, with
the item that it has; a worker joins where the engine has a way to add one.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.pools import POOLS, WORKERS
from benchmarks.table import Table, keep, kept_in
from makespan import execute

ITEMS, EACH = 400, 0.01  # and their seconds
AFTER = 0.3  # seconds until something happens
PATIENCE = 30.0  # seconds until no end is said
KEPT = Path("build") / "pools_faults.json"
ENDED = "ended:"
EVENTS = {"dies": signal.SIGKILL, "stops": signal.SIGSTOP, "joins": None}
POOLS_WITH_PROCESSES = ("local", "processes", "loky", "ray", "dask")


class Struck:
    """Sleep; the first worker that has an item after a time is struck by a signal, once."""

    def __init__(self, token: str, number: int | None) -> None:
        self.token, self.number, self.at = token, number, time.time() + AFTER

    def __call__(self, item: int) -> int:
        time.sleep(EACH)
        if self.number is not None and time.time() > self.at:
            with suppress(FileExistsError), open(self.token, "x") as token:
                token.write(str(os.getpid()))
                token.flush()
                os.kill(os.getpid(), self.number)
        return item


def said(call: Callable[[], Any]) -> str:
    """Return the seconds that a call takes, or how it ends."""
    found: list[str] = []

    def run() -> None:
        begun = time.perf_counter()
        try:
            results = call()
        except BaseException as error:
            found.append(type(error).__name__)
        else:
            assert results == list(range(ITEMS))
            found.append(f"{time.perf_counter() - begun:.2f} s")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return found[0] if found else f"no end within {PATIENCE:g} s"


def tried(name: str, event: str, ours: bool) -> str:
    """Return how a map ends on a new pool, by its own map or by ours."""
    with tempfile.TemporaryDirectory() as folder, POOLS[name][1]() as (on, own):
        token = Path(folder, "token")
        function = Struck(str(token), EVENTS[event])
        execute.forget()
        execute.map(abs, range(40), on=on, progress=False)
        own(abs, range(40), 0)
        function.at = time.time() + AFTER
        if event == "joins":
            threading.Timer(AFTER, lambda: on.cluster.scale(WORKERS + 2)).start()
        items = range(ITEMS)
        call = (
            (lambda: list(execute.map(function, items, on=on, progress=False).results))
            if ours
            else (lambda: list(own(function, items, 0)))
        )
        ended = said(call)
        if token.exists():
            with suppress(ProcessLookupError):
                os.kill(int(token.read_text()), signal.SIGKILL)
        return ended


def main() -> None:
    """Try what is asked for, each in a process of its own; print and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("pools", nargs="*", metavar="POOL", help=", ".join(POOLS_WITH_PROCESSES))
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    kept = kept_in(KEPT)
    for name in asked.pools or ([] if asked.write else POOLS_WITH_PROCESSES):
        for event in EVENTS if name == "dask" else ("dies", "stops"):
            for ours in (False, True):
                ended = _apart(name, event, ours)
                kept[f"{name}, {event}, {ours}"] = ended
                print(name, event, "ours" if ours else "own", ended, flush=True)
                keep(KEPT, kept)
    table = Table(
        "pools_faults",
        "A worker that dies, stops or joins",
        f"Four workers on this machine, {ITEMS} items that sleep {ITEMS * EACH:g} s together: 1 s "
        f"on four workers. After {AFTER:g} s one worker is killed, or stopped (`SIGSTOP`), or two "
        "join. Seconds until all results are there, or how the map ends.",
        ("pool", "a worker", "its own map", "execute.map"),
        clock="wall-clock time",
    )
    for name in POOLS_WITH_PROCESSES:
        for event in EVENTS:
            if f"{name}, {event}, True" in kept:
                ends = (kept[f"{name}, {event}, {ours}"] for ours in (False, True))
                table.add(name, event, *ends)
    if asked.write:
        table.write()


def _apart(name: str, event: str, ours: bool) -> str:
    """Try in a process that is killed afterwards, whatever is left of it."""
    code = f"from benchmarks.pools_faults import tried; import os; print({ENDED!r}, tried("
    code += f"{name!r}, {event!r}, {ours!r}), flush=True); os._exit(0)"
    running = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert running.stdout is not None
    lines = (line for line in running.stdout if line.startswith(ENDED))  # engines print, too
    line = next(lines, "")
    with suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    return line.removeprefix(ENDED).strip() or "ends the program"


if __name__ == "__main__":
    main()
