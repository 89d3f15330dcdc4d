"""Runs in which something dies, and what has to hold of them all the same.

``with Faulty() as cluster: cluster.run(seed, what, fault, phase)`` runs ``what`` on three workers,
lets the fault happen at a random moment of the phase, and says what is wrong with what came of it:
results must be complete and right, or an ExecutionError must have all there is; in bounded time;
and nothing may be left on the cluster. The cluster is mended and used again.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np

from makespan import Dag, DivisibleLoad, ExecutionError, Network, Star, TaskGraph, Worker, solve
from makespan.execute import dask, loop
from makespan.execute.dask.cluster import workers
from tests.execute.nursery import MEMORY, Nursery
from tests.execute.stars import HOST, free_ports

WHATS = ("map", "run", "compute")
PHASES = ("measuring", "sending", "computing", "returning")
WORKER_FAULTS = ("kill", "stop", "pause", "restart", "full", "memory")
"""Of one worker: killed, stopped for good or a moment, killed and started anew; paused by Dask;
killed by its nanny as a task takes too much memory."""
CLUSTER_FAULTS = (
    *("scheduler", "scheduler restarts", "scheduler stops"),
    *("close", "cancel", "restart all", "all die", "interrupt"),
)
"""Of all: the scheduler killed, restarted, stopped for good; the client closed; tasks cancelled by
somebody; all workers restarted by the client, or killed and started anew; Ctrl-C."""
FAULTS = WORKER_FAULTS + CLUSTER_FAULTS

NAMES = ("w1", "w2", "w3")
SILENCE, PATIENCE = 1.0, 1.0  # seconds, in place of the long ones of the library
LONGEST = 40.0  # seconds: a run that takes longer hangs (on a busy machine, too)
LONGEST_TIDYING = 15.0  # seconds until nothing is left
ITEMS = 60


@dataclass(slots=True)
class Outcome:
    """What came of a run with a fault.

    ``ended`` is "complete", "error" (with what there is), "interrupted", or "hangs"; ``wrong`` says
    in sentences what must not be; ``struck`` whether the fault happened before the end; ``late`` is
    how long the run went on after it.
    """

    seed: int
    what: str
    fault: str
    phase: str
    ended: str = "hangs"
    seconds: float = 0.0
    late: float = 0.0
    struck: bool = False
    error: str = ""
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        said = f"{self.what}, {self.fault} while {self.phase} (seed {self.seed}): {self.ended}"
        said += f" after {self.seconds:.1f} s, {self.late:.1f} s after the fault"
        return "\n  ".join([said, *self.wrong])


def value_of(item: int) -> tuple[int, bytes]:
    """Compute for a moment; return what is large enough to be cut off on its way."""
    _swell_if_told()
    time.sleep(0.004)
    return item, bytes(20_000)


def layer_value(number: int, *_: Any) -> tuple[int, bytes]:
    """The same as a task of a graph."""
    _swell_if_told()
    time.sleep(0.02)
    return number, bytes(50_000)


_TOLD: list[bool] = []  # on a worker: whether the next task shall take too much memory


def _swell_if_told() -> None:
    if _TOLD:
        taken = b"x" * MEMORY
        time.sleep(LONGEST)  # the nanny comes first
        del taken


class Faulty:
    """A cluster of three workers to let faults happen on; use it as a context."""

    def __init__(self) -> None:
        self._pids: dict[str, int] = {}
        self._nannied = ""
        self._client: Any = None
        self._stack = ExitStack()

    def __enter__(self) -> Faulty:
        import dask as package

        self._stack.enter_context(package.config.set({"makespan.silence": SILENCE}))
        for module, name, value in (
            (workers, "PATIENCE", PATIENCE),
            (loop, "LOOK_AT_LOOP", 0.02),  # an interrupt of a thread comes no sooner
        ):
            self._stack.enter_context(mock.patch.object(module, name, value))
        self._nursery = self._stack.enter_context(Nursery())
        self._stack.callback(self._close_client)
        self._new_scheduler()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, seed: int, what: str, fault: str, phase: str) -> Outcome:
        """Run ``what`` (of WHATS) with a fault (of FAULTS) in a phase (of PHASES)."""
        generator = np.random.default_rng(seed)
        outcome = Outcome(seed, what, fault, phase)
        strike = _Strike(self, fault, generator)
        self._mend(nannied=strike.name if fault == "memory" else "")
        act, expected = self._runs(what, phase)
        strike.victim = thread = threading.Thread(
            target=self._watched, args=(act, expected, outcome), daemon=True
        )
        with _at(self._client, what, phase, strike, generator):
            began = time.monotonic()
            thread.start()
            thread.join(LONGEST)
            outcome.seconds = time.monotonic() - began
        strike.finish()
        outcome.struck = 0.0 < strike.moment < began + outcome.seconds
        outcome.late = began + outcome.seconds - strike.moment if outcome.struck else 0.0
        if fault == "memory" and outcome.struck:
            outcome.struck = self.address(strike.name) != strike.address
        if thread.is_alive():
            outcome.wrong.append(f"still runs after {LONGEST:g} s: {_tasks_of(self._client)}")
        outcome.wrong += self._left()
        return outcome

    def _runs(self, what: str, phase: str) -> tuple[Callable[[], Any], Sequence[Any]]:
        """Return what runs, and the results that it should have."""
        client, data = self._client, list(range(ITEMS))
        right = [value_of(item) for item in data]
        if what == "run":
            workers = [Worker(name=name, send=1e-4, compute=0.004) for name in NAMES]
            plan = solve(DivisibleLoad(platform=Star(workers), load=ITEMS, rounds=3))
            return lambda: dask.run(plan, value_of, data, client), right
        if what == "map":
            return lambda: dask.map(value_of, data, client, progress=False), right
        graph, keys, right = _graph()
        options: dict[str, Any] = {"time_limit": 0.05, "keys": keys, "progress": False}
        options["plan"] = None if phase == "measuring" else _plan(graph)
        return lambda: dask.compute(graph, client, **options), right

    def _watched(self, act: Callable[[], Any], expected: Sequence[Any], outcome: Outcome) -> None:
        """Run, and see what comes of it."""
        try:
            results = act().results
        except ExecutionError as error:
            outcome.ended, outcome.error = "error", str(error)
            if error.execution is not None:
                outcome.wrong += _untrue(error.execution.results, expected)
        except KeyboardInterrupt:
            outcome.ended = "interrupted"
            if outcome.fault != "interrupt":
                outcome.wrong.append("nobody interrupted it")
        except BaseException:
            outcome.ended = "error"
            outcome.wrong.append(traceback.format_exc())
        else:
            outcome.ended = "complete"
            if results != expected:
                outcome.wrong.append("results are not those expected")

    # the faults

    def pids(self) -> dict[str, int]:
        """Return the process ids of the workers."""
        return {name: self._pids[name] for name in NAMES}

    def end(self, name: str) -> None:
        """Kill a process and see it die; it need not be there any more."""
        with suppress(ProcessLookupError):
            os.kill(self._pids[name], signal.SIGKILL)
        while self._runs_now(name):
            time.sleep(0.001)

    def stop(self, name: str) -> None:
        """Stop a process until somebody lets it go on."""
        os.kill(self._pids[name], signal.SIGSTOP)

    def start(self, name: str) -> None:
        """Start the scheduler, or a worker of that name."""
        if name == "scheduler":
            self._pids[name] = self._nursery.scheduler(self.port)
        elif name == self._nannied:
            self._pids[name] = self._nursery.nanny(name, self.port)
        else:
            self._pids[name] = self._nursery.worker(name, self.port)

    def address(self, name: str) -> str:
        """Return where a worker is; nothing where it is not there."""
        found: dict[str, str] = self._client.run_on_scheduler(_addresses)
        return found.get(name, "")

    @property
    def client(self) -> Any:
        """The client that runs."""
        return self._client

    # before and after

    def _new_scheduler(self) -> None:
        for name in list(self._pids):
            self.end(name)
        self._close_client()
        while True:  # a port that was free a moment ago may have been taken since
            self.port = free_ports(1)[0]
            self.start("scheduler")
            if self._listens():
                break
        for name in NAMES:
            self.start(name)

    def _listens(self) -> bool:
        """Wait until the scheduler can be reached; say whether it lives to see that."""
        while self._runs_now("scheduler"):
            try:
                socket.create_connection((HOST, self.port), timeout=1.0).close()
            except OSError:
                time.sleep(0.01)
            else:
                return self._runs_now("scheduler")
        return False

    def _close_client(self) -> None:
        if self._client is not None and self._client.status != "closed":
            self._client.close(timeout=5)

    def _mend(self, nannied: str) -> None:
        """See to it that the scheduler, a client and three workers are there, with one nanny."""
        from distributed import Client

        if nannied != self._nannied:
            for name in {nannied, self._nannied} - {""}:
                self.end(name)
            self._nannied = nannied
        if self._client is None or self._client.status != "running":
            self._close_client()
            self._client = Client(f"tcp://{HOST}:{self.port}", set_as_default=False, timeout=30)
        dask.forget(self._client)
        until = time.monotonic() + 30.0
        while time.monotonic() < until:
            there = self._there()
            if sorted(there) == sorted(NAMES) and all(self._runs_now(name) for name in NAMES):
                return
            for name in NAMES:
                if name not in there and not self._runs_now(name):
                    self.start(name)
            time.sleep(0.05)
        raise RuntimeError(f"the workers did not come: {there}")

    def _runs_now(self, name: str) -> bool:
        """Whether a process runs, rather than being dead and not waited for."""
        try:
            with open(f"/proc/{self._pids[name]}/stat") as file:
                return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
        except OSError:
            return False

    def _there(self) -> list[str]:
        return list(self._client.run_on_scheduler(_addresses))

    def _left(self) -> list[str]:
        """Say what is left on the cluster, once it had time to go."""
        from distributed import Client

        for name, pid in self._pids.items():
            if self._runs_now(name):
                os.kill(pid, signal.SIGCONT)
        if not self._runs_now("scheduler"):
            self._new_scheduler()
            return []
        with Client(f"tcp://{HOST}:{self.port}", set_as_default=False, timeout=30) as observer:
            until = time.monotonic() + LONGEST_TIDYING
            while True:
                with suppress(OSError):  # a worker that was stopped may be leaving just now
                    observer.run(_go_on)
                    tasks = observer.run_on_scheduler(_tasks)
                    held = {k: v for k, v in observer.run(_kept).items() if v}
                    if not tasks and not held:
                        return []
                    if time.monotonic() > until:
                        return [f"left on the scheduler: {tasks}; on workers: {held}"]
                time.sleep(0.05)


class _Strike:
    """Lets a fault happen, once."""

    def __init__(self, cluster: Faulty, fault: str, generator: np.random.Generator) -> None:
        self.cluster, self.fault = cluster, fault
        self.name = str(generator.choice(NAMES))
        self.pause = float(generator.uniform(0.2, 2.5))
        self.moment = 0.0
        self.address = ""
        self.victim: threading.Thread
        self._timers: list[threading.Thread] = []
        self._lock = threading.Lock()

    def after(self, seconds: float) -> None:
        """Strike in so many seconds."""
        timer = threading.Timer(seconds, self._now)
        self._timers.append(timer)
        timer.start()

    def finish(self) -> None:
        """Wait until everything has happened."""
        for timer in list(self._timers):
            timer.join(LONGEST)

    def _now(self) -> None:
        with self._lock:
            if self.moment:
                return
            self.moment = time.monotonic()
        with suppress(Exception):  # the cluster may be gone by its own doing
            self._act()

    def _act(self) -> None:
        cluster, client = self.cluster, self.cluster.client
        pid = cluster.pids()[self.name]
        if self.fault in ("kill", "restart"):
            cluster.end(self.name)
            if self.fault == "restart":
                cluster.start(self.name)
        elif self.fault in ("stop", "pause"):
            os.kill(pid, signal.SIGSTOP)
            if self.fault == "pause":
                time.sleep(self.pause)
                os.kill(pid, signal.SIGCONT)
        elif self.fault in ("full", "memory"):
            self.address = cluster.address(self.name)
            client.run(_pause if self.fault == "full" else _tell, workers=[self.address])
        elif self.fault == "all die":
            for act in (cluster.end, cluster.start):
                for name in NAMES:
                    act(name)
        elif self.fault == "scheduler stops":
            cluster.stop("scheduler")
        elif self.fault == "interrupt":
            number = ctypes.c_ulong(self.victim.ident or 0)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(KeyboardInterrupt))
        elif self.fault in ("scheduler", "scheduler restarts"):
            cluster.end("scheduler")
            if self.fault == "scheduler restarts":
                for name in ("scheduler", *NAMES):
                    cluster.start(name)
        elif self.fault == "close":
            client.close()
        elif self.fault == "cancel":
            client.cancel([_named(client, key) for key in list(client.futures)], force=True)
        elif self.fault == "restart all":
            client.restart(wait_for_workers=False)
            for name in NAMES:
                cluster.start(name)


def _named(client: Any, key: Any) -> Any:
    from distributed import Future

    return Future(key, client)


@contextmanager
def _at(
    client: Any, what: str, phase: str, strike: _Strike, generator: np.random.Generator
) -> Iterator[None]:
    """Let the strike happen at a random call of what the phase consists of, or a little later."""
    from distributed import utils_comm

    graph = what == "compute"
    calls_of = {
        "measuring": (client, str(generator.choice(["run", "submit"])) if graph else "scatter"),
        "sending": (client, "get" if graph else "scatter"),
        "computing": (client, "get" if graph else "submit"),
        "returning": (client, "gather") if graph else (utils_comm, "gather_from_workers"),
    }
    owner, name = calls_of[phase]
    once = graph and phase != "measuring"
    count = 1 if once else int(generator.integers(1, 16 if phase == "measuring" else 4))
    delay = generator.uniform(0.0, {"measuring": 0.05, "computing": 0.1}.get(phase, 0.005))
    original = getattr(owner, name)
    calls = iter(range(1, sys.maxsize))

    def counted(*arguments: Any, **options: Any) -> Any:
        if next(calls) == count:
            strike.after(float(delay))
        return original(*arguments, **options)

    with mock.patch.object(owner, name, counted):
        yield


def _graph() -> tuple[dict[str, Any], list[str], list[tuple[int, bytes]]]:
    """Three layers of four tasks, each of which needs two of the layer above."""
    width, depth = 4, 3
    graph: dict[str, Any] = {}
    for layer in range(depth):
        for place in range(width):
            above = (f"t-{layer - 1}-{place}", f"t-{layer - 1}-{(place + 1) % width}")
            task = (layer_value, layer * width + place, *(above if layer else ()))
            graph[f"t-{layer}-{place}"] = task
    keys = [f"t-{depth - 1}-{place}" for place in range(width)]
    return graph, keys, [(8 + place, bytes(50_000)) for place in range(width)]


def _plan(graph: dict[str, Any]) -> Any:
    dag = Dag.from_dask(graph, work=lambda _: 0.02, size=lambda _: 1.0)
    network = Network.complete(speeds=[1.0] * 3, names=list(NAMES), rate=200.0)
    return solve(TaskGraph(dag, network, contention="ports"), method="heft")


def _untrue(results: Sequence[Any], expected: Sequence[Any]) -> list[str]:
    """Say which of the results that there are is wrong."""
    pairs = list(zip(results, expected, strict=True))
    wrong = [place for place, (found, right) in enumerate(pairs) if found not in (None, right)]
    return [f"results of the error are wrong at {wrong}"] if wrong else []


def _addresses(dask_scheduler: Any) -> dict[str, str]:
    """Where the workers are, by name."""
    return {str(worker.name): address for address, worker in dask_scheduler.workers.items()}


def _tell(dask_worker: Any) -> None:
    """Let the next task take too much memory."""
    _TOLD.append(True)


def _pause(dask_worker: Any) -> None:
    """Pause, as for lack of memory."""
    dask_worker.status = type(dask_worker.status).paused


def _go_on(dask_worker: Any) -> None:
    if dask_worker.status.name == "paused":
        dask_worker.status = type(dask_worker.status).running


def _tasks(dask_scheduler: Any) -> list[str]:
    """What the scheduler keeps."""
    return [str(key) for key in dask_scheduler.tasks]


def _kept(dask_worker: Any) -> list[str]:
    """What a worker keeps: data, tasks, plugins, and a way to answer that is not its own."""
    found = [*map(str, dask_worker.data), *map(str, dask_worker.state.tasks)]
    found += [name for name in dask_worker.plugins if name.startswith("makespan")]
    if "Conductor" in repr(dask_worker.handlers["get_data"]):
        found.append("a conductor answers for it")
    return found


def _tasks_of(client: Any) -> str:
    """Say what a client waits for."""
    tasks = asyncio.all_tasks(client.loop.asyncio_loop)
    stacks = [[f"{f.f_code.co_filename}:{f.f_lineno}" for f in task.get_stack()] for task in tasks]
    return "\n    ".join([f"{len(stacks)} tasks", *map(str, stacks)])
