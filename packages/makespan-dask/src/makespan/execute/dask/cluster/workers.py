"""The workers of a Dask cluster: who is there, who leaves, falls silent, or joins."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from inspect import signature
from types import TracebackType
from typing import Any, TypeVar

from makespan.core.errors import ExecutionError
from makespan.execute.dask.cluster.client import LONGEST_TIDYING, trouble_of
from makespan.execute.dask.cluster.load import Load
from makespan.execute.dealing.engine import WorkerInfo, WorkerLost

SILENCE = 60.0  # seconds without a heartbeat after which a worker counts as gone
LISTEN_EVERY = 5.0  # seconds at most between looks at the heartbeats
LOOK_EVERY = 0.25  # seconds between looks at who is there
PATIENCE = 10.0  # seconds to wait for a worker when all are gone, where one does not wait forever
WAIT_EVERY = 0.05  # seconds between looks whether one came
LONG_WAIT = 10.0  # seconds after which the log says so

Value = TypeVar("Value")
log = logging.getLogger("makespan")


def silence() -> float:
    """Return after how many seconds without a sign of life nobody is waited for any more.

    :data:`SILENCE`, or what ``makespan.silence`` says in Dask's configuration.
    """
    import dask

    return float(dask.config.get("makespan.silence", default=SILENCE))


class Heard:
    """How long nothing was heard of each worker, while this machine itself was listening."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}
        self._quiet: dict[str, float] = {}
        self._listened = time.monotonic()

    @property
    def age(self) -> float:
        """The seconds since somebody listened."""
        return time.monotonic() - self._listened

    def note(self, heartbeats: dict[str, float]) -> None:
        """Note the time of each worker's last heartbeat, on whatever clock."""
        passed = min(self.age, 2 * LISTEN_EVERY)
        self._quiet = {
            address: self._quiet.get(address, 0.0) + passed
            if self._last.get(address) == moment
            else 0.0
            for address, moment in heartbeats.items()
        }
        self._last = heartbeats
        self._listened = time.monotonic()

    def silent(self, address: str, longest: float) -> bool:
        """Whether nothing was heard of a worker for longer than that."""
        return self._quiet.get(address, 0.0) > longest


def as_dask_waits() -> float:
    """Return for how many seconds Dask lets tasks wait for a worker: forever, unless told."""
    import dask
    from dask.utils import parse_timedelta

    given = dask.config.get("distributed.scheduler.no-workers-timeout", default=None)
    return math.inf if given is None else float(parse_timedelta(given))


@dataclass(frozen=True, slots=True)
class Only:
    """Which workers may be used: by name, address or host, and by what they have to offer."""

    workers: frozenset[str] = frozenset()
    resources: Mapping[str, float] = field(default_factory=dict)

    def threads(self, worker: Mapping[str, Any], address: str) -> int:
        """Return how many tasks a worker may run at a time, from what the scheduler says of it."""
        host = address.rpartition(":")[0].rpartition("/")[2]
        if self.workers and self.workers.isdisjoint((str(worker["name"]), address, host)):
            return 0
        offered = worker.get("resources", {})
        most = (int(offered.get(kind, 0) / need) for kind, need in self.resources.items() if need)
        return min([int(worker["nthreads"]), *most])


ANY = Only()


class WorkerPool:
    """The workers by name, looked at again and again while it is entered.

    ``members`` holds those that are there and run; ``changed`` is called with each that
    comes, or has gone. When the scheduler is lost, or the client closed, the block is ended from
    within and raises :class:`ExecutionError`: whatever is awaited in it need not look out for that.
    All methods run on the client's event loop.

    Where it ``expels``, the scheduler is told to forget workers that are silent, as it would by
    itself after its worker-ttl: tasks that it may place anywhere wait for them. Unless it looks
    ``at_once``, ``members`` are known after :data:`LOOK_EVERY` only, and entering costs nothing.
    Where there is no worker, one is waited for with ``patience``, in seconds; None: with
    :data:`PATIENCE`. Work that waits is shown to the scheduler as a ``load``.
    """

    def __init__(
        self,
        client: Any,
        *,
        expels: bool = False,
        only: Only = ANY,
        at_once: bool = True,
        patience: float | None = None,
    ) -> None:
        self.client = client
        self.patience = patience
        self.load = Load(client)
        self.only = only
        self._threads: dict[str, int] = {}
        self.expels = expels
        self.at_once = at_once
        self.members: dict[str, WorkerInfo] = {}
        self.changed: Callable[[WorkerInfo], None] = lambda worker: None
        self._looking = asyncio.Lock()
        self._names: dict[str, str] = {}
        self._heard = Heard()
        self._silence = silence()
        self._lost = ""

    async def __aenter__(self) -> WorkerPool:
        task = asyncio.current_task()
        assert task is not None
        self._task, self._cancelled_before = task, task.cancelling()
        self._line = self.client.scheduler_comm
        self._answered = time.monotonic()
        try:
            if self.at_once:
                async with asyncio.timeout(self._silence):
                    await self.look()
        except Exception as error:
            raise ExecutionError(self._trouble(error) or str(error)) from error
        self._watch = asyncio.create_task(self._keep_looking())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._watch.cancel()  # not awaited: a loop that ends would interrupt that
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(LONGEST_TIDYING):
                await self.load.close()
        if self._lost and self._task.uncancel() > self._cancelled_before:
            return  # somebody else wants the block to end, too
        if isinstance(error, (Exception, asyncio.CancelledError)):
            trouble = self._lost or self._trouble(error)
            if trouble:
                raise ExecutionError(trouble) from error

    def _trouble(self, error: BaseException | None = None) -> str:
        """Say what is wrong with the client or the scheduler; nothing where all is well."""
        trouble = trouble_of(self.client)
        if not trouble and self.client.scheduler_comm is not self._line:
            trouble = f"{_scheduler(self.client)} was lost; what was on its way is gone"
        if not trouble and isinstance(error, (OSError, TimeoutError)):
            trouble = f"{_scheduler(self.client)} does not answer"
            trouble += f": {error}" if str(error) else f" within {self._silence:g} s"
        if not trouble and isinstance(error, CancelledError):
            trouble = f"tasks were cancelled from outside of the run: {error}"
        return trouble

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.members)

    def member(self, name: str) -> WorkerInfo:
        """Return a worker that is there."""
        if name not in self.members:
            raise WorkerLost(name)
        return self.members[name]

    async def look(self) -> None:
        """See who is there now."""
        async with self._looking:
            await self._look()

    async def _look(self) -> None:
        present = await self._present()
        for name, member in list(self.members.items()):
            if present.get(name, ("", 0))[0] != member.address:
                del self.members[name]
                silent = self._heard.silent(member.address, self._silence)
                member.retired = not silent and await self._retired(member.address)
                if silent:
                    member.why = f"was silent for {silence():g} s"
                elif member.retired:
                    member.why = "was retired"
                member.gone.set()
                log.info("worker %s %s", name, member.why)
                if silent and self.expels:
                    await self.client.scheduler.unregister(
                        address=member.address, stimulus_id=f"makespan-silent-{time.time()}"
                    )
                self.changed(member)
        for name, (address, threads) in present.items():
            if name not in self.members:
                self.members[name] = WorkerInfo(name, address, threads)
                self.changed(self.members[name])

    async def _present(self) -> dict[str, tuple[str, int]]:
        """Return name → (address, threads) of those that run, ordered by name."""
        known = self._names and self._heard.age <= min(LISTEN_EVERY, self._silence / 8)
        threads = await self.client.scheduler.ncores_running() if known else {}
        if not known or not threads.keys() <= self._names.keys():
            wants = "n_workers" in signature(self.client.scheduler_info).parameters
            arguments = {"n_workers": -1} if wants else {}
            identity = await self.client.scheduler.identity(**arguments)
            workers = identity["workers"].items()
            self._names = {address: str(worker["name"]) for address, worker in workers}
            self._threads = {a: self.only.threads(worker, a) for a, worker in workers}
            self._heard.note({address: worker["last_seen"] for address, worker in workers})
            threads = {a: worker for a, worker in workers if worker["status"] == "running"}
        self._answered = time.monotonic()
        found = [
            (self._names[address], address, self._threads[address])
            for address in threads
            if self._threads.get(address) and not self._heard.silent(address, self._silence)
        ]
        found.sort(key=lambda entry: _natural(entry[0]))
        return {name: (address, count) for name, address, count in found}

    async def _retired(self, address: str) -> bool:
        """Whether somebody sent a worker away, rather than that it died, or paused."""
        try:
            events = await self.client.scheduler.events(topic=address)
        except Exception as error:
            log.debug("the scheduler does not say why %s left: %s", address, error)
            return False
        said = [(event.get("action"), event.get("status", ""), event) for _, event in events]
        return any(
            action == "closing-worker"
            or (action == "worker-status-change" and status.startswith("closing"))
            or (action == "remove-worker" and event.get("expected"))
            for action, status, event in said
        )

    async def _keep_looking(self) -> None:
        """Look until the cluster is lost; then end the block."""
        while not self._lost:
            await asyncio.sleep(LOOK_EVERY)
            try:
                async with asyncio.timeout(self._silence):
                    await self.look()
            except Exception as error:
                log.debug("could not look who is there: %s", error)
                if time.monotonic() - self._answered >= self._silence:
                    self._lost = self._trouble(TimeoutError())
            self._lost = self._lost or self._trouble()
        self._task.cancel()

    async def while_there(self, members: Sequence[WorkerInfo], work: Awaitable[Value]) -> Value:
        """Await ``work``, which needs workers."""
        task = asyncio.ensure_future(work)
        task.add_done_callback(forget_outcome)
        gone = [asyncio.create_task(member.gone.wait()) for member in members]
        try:
            await asyncio.wait({task, *gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in gone:
                each.cancel()
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=LONGEST_TIDYING)
        if task.done() and not task.cancelled():
            error = task.exception()
            if error is None:
                return task.result()
            await self._refuse_if_gone(members, error)
            raise error
        lost = (member.name for member in members if member.gone.is_set())
        raise WorkerLost(next(lost, members[0].name))

    async def _refuse_if_gone(self, members: Sequence[WorkerInfo], error: BaseException) -> None:
        broken = isinstance(error, (OSError, TimeoutError))
        if broken:
            await asyncio.sleep(LOOK_EVERY)  # the scheduler may not have noticed yet
        await self.look()
        lost = [member.name for member in members if member.gone.is_set()]
        if lost or broken:
            raise WorkerLost(lost[0] if lost else members[0].name, error) from error

    async def call(self, member: WorkerInfo, function: Callable[..., Any], *inputs: Any) -> Any:
        """Call a function on a worker, outside of tasks; return its answer."""
        if trouble_of(self.client):  # nobody is reached; reconnecting takes long
            raise WorkerLost(member.name)
        calling = self.client.run(function, *inputs, workers=[member.address])
        return (await self.while_there([member], calling))[member.address]

    async def call_all(
        self, members: Iterable[WorkerInfo], function: Callable[..., Any], *inputs: Any
    ) -> dict[str, Any]:
        """Call a function on workers; return the answers, by name, of those that are there."""
        asked = [member for member in members if not member.gone.is_set()]
        calls = (self.call(member, function, *inputs) for member in asked)
        answers = await asyncio.gather(*calls, return_exceptions=True)
        found = {}
        for member, answer in zip(asked, answers, strict=True):
            if isinstance(answer, BaseException):
                log.info("worker %s did not answer: %s", member.name, answer)
            else:
                found[member.name] = answer
        return found

    def others(self) -> str:
        """Return which workers there are besides those asked for, in words."""
        names = ", ".join(sorted(self._names.values(), key=_natural))
        there = f"; there are {names}" if names else ""
        return "" if self.only == ANY else f" of those asked for{there}"

    async def wait_for_one(self, tasks: int = 1) -> None:
        """Wait until a worker is there, for as many tasks as there are to do."""
        patience = PATIENCE if self.patience is None else self.patience
        began, said = time.monotonic(), False
        while not self.members:
            waited = time.monotonic() - began
            if waited > patience:
                raise ExecutionError(f"no worker is left, and none came in {patience:g} s")
            if waited > LONG_WAIT and not said:
                text = "%s has no worker%s; waiting for one"
                log.warning(text, _scheduler(self.client), self.others())
                said = True
            self.load.show(None, tasks)
            await asyncio.sleep(WAIT_EVERY)
            with suppress(OSError):  # whoever keeps looking sees to that
                await self.look()


def forget_outcome(task: asyncio.Future[Any]) -> None:
    """Take the exception of a task that nobody awaits any more."""
    if not task.cancelled():
        task.exception()


def _natural(name: str) -> tuple[int, int | str, str]:
    """Order numbered names by their number."""
    return (0, int(name), "") if name.isdecimal() else (1, 0, name)


def _scheduler(client: Any) -> str:
    return f"the scheduler at {client.scheduler.address}"


def refuse_no_worker(pool: WorkerPool) -> None:
    """Say so where there is nobody to work."""
    if not pool.members:
        raise ExecutionError(f"{_scheduler(pool.client)} has no worker{pool.others()}")
