"""What scheduler and workers do for a planned graph: results leave in the order of the plan.

Dask's workers ask one another for data when a task is handed out, which is when the last of its
inputs is there, and a worker that is asked by several answers all at once. A :class:`Conductor`
on each worker lets data leave as soon as they are there, one transfer after another in the order
of the plan: it tells the receiver to ask for them, and lets other requests wait for their turn.

The text of this file travels (:mod:`makespan.execute.travel`): it imports nothing of
makespan, and of Dask only inside functions.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

LOOK_EVERY = 0.01  # seconds between looks whether a result is there
LONGEST_WAIT = 1.0  # seconds, and
LONGEST_TIMES = 10.0  # times its length: after so long nobody waits for a transfer any more
PATIENCE = 0.5  # of its own length: so long a transfer waits for one before it that is late
LONGEST_UNKNOWN = 60.0  # seconds until the tasks of a run are handed to the scheduler

_WATCHES: set[asyncio.Task[None]] = set()
log = logging.getLogger("makespan")


class Leaving(NamedTuple):
    """A transfer of the plan: what leaves for where (an address), and how long it takes."""

    key: Any
    receiver: str
    seconds: float


class Seen(NamedTuple):
    """What was seen of a worker in a run: (start, stop) by computed key, and what it sent.

    ``sent`` holds (key, address of the receiver, start, stop), ``sizes`` the bytes of results where
    they were seen.
    """

    computed: dict[Any, tuple[float, float]]
    sent: tuple[tuple[Any, str, float, float], ...]
    sizes: dict[Any, int]


def name_of(run: str) -> str:
    """Return the name of the plugin of a run."""
    return f"makespan-{run}"


class _Asked(NamedTuple):
    """A request that waits for its turn."""

    keys: frozenset[Any]
    go: asyncio.Future[None]


class _State(NamedTuple):
    """What is to leave, what is there, and who has asked."""

    waiting: list[Leaving]
    there: dict[Any, float]
    asked: dict[str, _Asked]
    told: dict[tuple[Any, str], asyncio.Future[None]]


class Conductor:
    """Orders what leaves a worker during the run named ``run``, which has the keys ``keys``.

    ``leaving`` are the transfers from this worker in the order of the plan. ``in_turn``: one
    follows another; else each leaves as soon as it can.
    """

    def __init__(
        self, run: str, keys: Collection[Any], leaving: Collection[Leaving], *, in_turn: bool
    ) -> None:
        self.name = name_of(run)
        self.keys = frozenset(keys)
        self.computed: dict[Any, tuple[float, float]] = {}
        self.sent: list[tuple[Any, str, float, float]] = []
        self.in_turn = in_turn
        self._planned = {(one.key, one.receiver) for one in leaving}
        self._sources = {one.key for one in leaving}
        self._state = _State(list(leaving), {}, {}, {})
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._background: set[asyncio.Task[None]] = set()

    def setup(self, worker: Any) -> None:
        """Take over the requests for data."""
        self.worker = worker
        self._given = worker.handlers["get_data"]
        worker.handlers["get_data"] = self.get_data
        worker.handlers["makespan_take"] = _taking(worker)
        if self.in_turn:
            self._task = asyncio.create_task(self._conduct())

    def teardown(self, worker: Any) -> None:
        """Let everything go, and give the requests back."""
        self.loosen()
        handler, outer = worker.handlers["get_data"], None
        while handler != self.get_data:
            outer = getattr(handler, "__self__", None)  # of a run that began later
            if not isinstance(outer, Conductor):
                return
            handler = outer._given
        if outer is None:
            worker.handlers["get_data"] = self._given
        else:
            outer._given = self._given

    def loosen(self) -> None:
        """Let everything go as Dask has it; still note what happens."""
        if self._task is not None:
            self._task.cancel()
        self._planned.clear()
        self._state.waiting.clear()
        self._let_all_go()

    def _let_all_go(self) -> None:
        self.in_turn = False
        for asked in self._state.asked.values():
            if not asked.go.done():
                asked.go.set_result(None)

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """Note a result that is there now."""
        if finish != "memory" or key not in self.keys:
            return
        for entry in self.worker.state.tasks[key].startstops:
            if entry["action"] == "compute":
                self.computed[key] = entry["start"], entry["stop"]
        if key not in self._sources:
            return
        self._state.there[key] = time.monotonic()
        if self.in_turn:
            self._changed.set()
            return
        for one in [one for one in self._state.waiting if one.key == key]:
            self._state.waiting.remove(one)
            self._spawn(self._tell(one))

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def get_data(
        self, comm: Any, keys: Collection[Any], who: str | None = None, serializers: Any = None
    ) -> Any:
        """Answer a request for data when its turn has come."""
        pairs = {(key, who) for key in keys} & self._planned
        told = any(receiver == who for _, receiver in self._state.told)
        if self.in_turn and pairs and not told:
            asked = _Asked(frozenset(keys), asyncio.get_running_loop().create_future())
            self._state.asked[str(who)] = asked
            self._changed.set()
            await asked.go
        start = time.time()
        try:
            return await self._given(comm, keys=keys, who=who, serializers=serializers)
        finally:
            stop = time.time()
            self.sent += [(key, str(who), start, stop) for key in keys if key in self.keys]
            for pair in pairs:
                self._over(pair)

    def _over(self, pair: tuple[Any, str | None]) -> None:
        self._planned.discard(pair)
        waiting = self._state.waiting
        waiting[:] = [one for one in waiting if (one.key, one.receiver) != pair]
        done = self._state.told.pop(pair, None)  # type: ignore[arg-type]
        if done is not None and not done.done():
            done.set_result(None)

    async def _conduct(self) -> None:
        """Let one transfer leave after another; whatever happens, nobody waits for ever."""
        try:
            while self._state.waiting:
                self._changed.clear()
                one, until = self._following()
                if one is None:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._changed.wait(), until)
                    continue
                await self._leave(one)
        finally:
            self._let_all_go()

    def _following(self) -> tuple[Leaving | None, float | None]:
        """Return what leaves next; or None, and how long to wait for what is late."""
        now, until = time.monotonic(), None
        for place, one in enumerate(self._state.waiting):
            since = self._state.there.get(one.key)
            if since is None:
                continue
            left = since + PATIENCE * one.seconds - now
            if place == 0 or left <= 0.0:
                return one, None
            until = left if until is None else min(left, until)
        return None, until

    async def _leave(self, one: Leaving) -> None:
        state, receiver = self._state, one.receiver
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        asked = state.asked.pop(receiver, None)
        pairs = {(one.key, receiver)}
        if asked is not None:  # a worker asks another for one thing at a time: that goes first
            pairs = {(key, receiver) for key in asked.keys} & self._planned
            if not asked.go.done():
                asked.go.set_result(None)
        else:
            self._spawn(self._tell(one))
        if not pairs:
            return
        state.told.update(dict.fromkeys(pairs, done))
        await asyncio.wait({done}, timeout=LONGEST_WAIT + LONGEST_TIMES * one.seconds)
        for pair in pairs:
            self._over(pair)

    async def _tell(self, one: Leaving) -> None:
        """Tell the receiver to ask for a result; it answers when it has it, from wherever."""
        try:
            size = self.worker.state.tasks[one.key].get_nbytes()
            await self.worker.rpc(one.receiver).makespan_take(
                key=one.key, sender=self.worker.address, size=size
            )
        except Exception as error:
            log.info("%s could not be told to take %s: %s", one.receiver, one.key, error)
        self._over((one.key, one.receiver))


def _taking(worker: Any) -> Any:
    """Return a handler that makes a worker ask for a result."""
    from distributed.worker_state_machine import AcquireReplicasEvent

    async def makespan_take(key: Any, sender: str, size: int) -> bool:
        tasks = worker.state.tasks
        if key not in tasks or tasks[key].state != "memory":
            worker.handle_stimulus(
                AcquireReplicasEvent(
                    who_has={key: [sender]},
                    nbytes={key: size},
                    stimulus_id=f"makespan-{time.time()}",
                )
            )
        while key in tasks and tasks[key].state in ("fetch", "flight"):
            await asyncio.sleep(LOOK_EVERY)
        return True

    return makespan_take


async def begin(
    run: str,
    wanted: Any,
    keys: Collection[Any],
    leaving: Collection[Leaving],
    in_turn: bool,
    *,
    dask_worker: Any = None,
) -> None:
    """Conduct a run on this worker, as long as anybody wants the result ``wanted``."""
    from distributed import WorkerPlugin

    class Plugin(Conductor, WorkerPlugin):  # type: ignore[misc]
        pass

    conductor = Plugin(run, keys, leaving, in_turn=in_turn)
    await dask_worker.plugin_add(conductor, name_of(run), catch_errors=False)
    watch = asyncio.create_task(end_when_orphaned(run, wanted, dask_worker))
    _WATCHES.add(watch)
    watch.add_done_callback(_WATCHES.discard)


async def end_when_orphaned(run: str, wanted: Any, dask_worker: Any) -> None:
    """Stop conducting a run whose client is gone, as the scheduler says at each heartbeat."""
    begun, known_before = time.monotonic(), False
    while name_of(run) in dask_worker.plugins:
        await asyncio.sleep(dask_worker.periodic_callbacks["heartbeat"].callback_time / 1e3)
        try:
            states = await dask_worker.scheduler.get_task_status(keys=[wanted])
        except OSError:
            continue
        known = states[wanted] is not None
        if not known and (known_before or time.monotonic() - begun > LONGEST_UNKNOWN):
            await end(run, dask_worker=dask_worker)
        known_before = known_before or known


def loosen(run: str, *, dask_worker: Any = None) -> None:
    """Order nothing any more in a run on this worker."""
    conductor = dask_worker.plugins.get(name_of(run))
    if conductor is not None:
        conductor.loosen()


async def end(run: str, *, dask_worker: Any = None) -> Seen | None:
    """Stop conducting a run on this worker; return what was seen of it."""
    conductor = dask_worker.plugins.get(name_of(run))
    if conductor is None:
        return None
    await dask_worker.plugin_remove(name_of(run))
    return Seen(conductor.computed, tuple(conductor.sent), {})


def moved(
    seconds: float, until: float, *, dask_worker: Any = None
) -> list[tuple[tuple[Any, ...], str, float, float]]:
    """Return what this worker sent from that to so many seconds ago."""
    now = time.time() + dask_worker.scheduler_delay
    return [
        (tuple(entry["keys"]), str(entry["who"]), entry["start"], entry["stop"])
        for entry in dask_worker.transfer_outgoing_log
        if now - seconds <= entry["start"] <= now - until
    ]


def unpinned(
    keys: Collection[str],
    gone: Collection[str],
    goal: Mapping[str, str],
    *,
    dask_scheduler: Any = None,
) -> None:
    """Pin the tasks that nobody has begun to their new workers, free others of those that are gone.

    A worker that is paused still has what was handed to it, and begins none of it: that is handed
    out again. What it is computing it goes on with.
    """
    lost, mine, pinned = set(gone), set(), {}
    for key in keys:
        task = dask_scheduler.tasks.get(key)
        if task is None:
            continue
        address = goal.get(key)
        new = [address] if address in dask_scheduler.workers else None
        if task.worker_restrictions and task.worker_restrictions <= lost:
            mine.add(key)
            pinned[key] = new
        elif new and task.state == "waiting":
            pinned[key] = new
    dask_scheduler.set_restrictions(pinned)
    waiting = [task.key for task in dask_scheduler.unrunnable if task.key in mine]
    held = [
        task.key
        for address in gone
        if (worker := dask_scheduler.workers.get(address)) is not None
        for task in worker.processing
        if task.key in mine and task not in worker.executing
    ]
    dask_scheduler.transitions(
        dict.fromkeys(waiting, "processing") | dict.fromkeys(held, "released"),
        stimulus_id=f"makespan-unpinned-{time.time()}",
    )


def progress_of(
    keys: Sequence[str], wanted: str, *, dask_scheduler: Any = None
) -> dict[int, tuple[str, str]] | None:
    """Return the state of tasks by place, and the worker that has it, or computes it.

    None where the graph is not there: it comes on another way than this call, and may be late.
    ``wanted`` is a key of it that is there until the end.
    """
    there = dask_scheduler.tasks.get(wanted)
    if there is None or there.run_spec is None:
        return None
    found = {}
    for place, key in enumerate(keys):
        task = dask_scheduler.tasks.get(key)
        if task is None:
            continue
        holder = next(iter(task.who_has or ()), None) or task.processing_on
        found[place] = task.state, "" if holder is None else holder.address
    return found
