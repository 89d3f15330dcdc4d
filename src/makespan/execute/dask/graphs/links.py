"""What worker-to-worker transfers cost, and whether they get into one another's way."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, Literal

import numpy as np

from makespan.execute.dask.cluster.crew import Crew, Member
from makespan.execute.dask.cluster.fit import Fit, fit
from makespan.execute.progress import Tell
from makespan.taskgraph.model.network import Network

FIRST = 1 << 18  # bytes of the first transfer of each pair
LEAST, MOST = 1 << 16, 1 << 25  # bytes of the largest transfers
WANTED = 0.12  # seconds that the largest transfers take
SHARES = (1.0, 0.25, 0.0)
REPEATS = 3
SHARED_FROM = 0.75  # of the sum of what they take alone: two transfers share something
CHAIN = 8  # tasks
SWITCH = "switch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wires:
    """The measured network.

    Parameters
    ----------
    names
        The workers.
    costs
        The affine cost of bytes by (sender, receiver).
    sends, receives
        What two transfers from one worker, or to one, took together, as a share of the sum of
        what they take alone; 0.5 where they do not disturb one another.
    handing
        Seconds by worker from the end of a task to the start of one that waited for it there, in
        the middle between an idle line and one on which the worker sends.
    """

    names: tuple[str, ...]
    costs: dict[tuple[str, str], Fit]
    sends: float
    receives: float
    handing: dict[str, float]

    @property
    def contention(self) -> Literal["none", "links", "ports"]:
        """The contention of the :class:`makespan.TaskGraph` that comes nearest."""
        if self.receives >= SHARED_FROM:
            return "ports" if self.sends >= SHARED_FROM else "links"
        return "links" if self.sends >= SHARED_FROM else "none"

    def network(self, cores: Sequence[int]) -> Network:
        """Return the network to plan on, rates in bytes per second.

        Where the transfers of a sender, or to a receiver, share its line, each worker has a link
        to, or from, a switch that is infinitely fast.
        """
        count = len(self.names)
        common: dict[str, Any] = {
            "names": self.names,
            "cores": cores,
            "task_setup": [self.handing[name] for name in self.names],
            "message_setup": self._fixed(),
        }
        rates = self._rates()
        if self.contention != "links":
            return Network.complete(speeds=np.ones(count), rate=rates, **common)
        out = self.sends >= SHARED_FROM
        np.fill_diagonal(rates, 0.0)
        best = rates.max(axis=1 if out else 0).tolist()
        infinite = float("inf")
        links = []
        for name, rate in zip(self.names, best, strict=True):
            links.append((name, SWITCH, rate if out else infinite))
            links.append((SWITCH, name, infinite if out else rate))
        return Network(
            np.ones(count), topology="links", routers=[SWITCH], one_way_links=links, **common
        )

    def _fixed(self) -> list[float]:
        """Return the median latency of what each worker sends."""
        return [
            median([found.cost.fixed for (a, _), found in self.costs.items() if a == name] or [0.0])
            for name in self.names
        ]

    def _rates(self) -> np.ndarray:
        rates = np.full((len(self.names), len(self.names)), np.inf)
        place = {name: index for index, name in enumerate(self.names)}
        for (a, b), found in self.costs.items():
            if found.cost.per_unit > 0.0:
                rates[place[a], place[b]] = 1.0 / found.cost.per_unit
        return rates


async def pulled(sender: str, key: str, *, dask_worker: Any = None) -> tuple[int, float]:
    """Ask another worker for a result as Dask does; return its bytes and the seconds."""
    from distributed.worker import get_data_from_worker

    start = time.perf_counter()
    answer = await get_data_from_worker(
        rpc=dask_worker.rpc, keys=[key], worker=sender, who=dask_worker.address
    )
    return len(answer["data"][key]), time.perf_counter() - start


def random_bytes(count: int) -> bytes:
    """Return bytes that nothing can compress."""
    return np.random.default_rng().bytes(count)


def clock(*_: Any) -> tuple[float, float]:
    """Return the time, twice: what a task without work starts and ends at."""
    return time.time(), time.time()


class Probe:
    """Measures the wires between members of a crew.

    Parameters
    ----------
    crew, members
        The workers, and those of them that are measured.
    tell
        Called with the share done, and what is measured now.
    """

    def __init__(self, crew: Crew, members: tuple[Member, ...], tell: Tell) -> None:
        self.crew, self.client = crew, crew.client
        self.members = members
        self.tell = tell
        self.prefix = f"makespan-wire-{uuid.uuid4().hex[:12]}"
        self.futures: list[Any] = []

    async def run(self) -> Wires:
        """Measure; nothing is left on the workers."""
        try:
            idle = await self._handing()
            found: dict[tuple[str, str], list[tuple[float, float]]] = {}
            keys = await self._blobs([FIRST] * len(self.members))
            first = await self._rounds(keys, "finding sizes")
            if not first:
                return Wires(names=self._names, costs={}, sends=0.5, receives=0.5, handing=idle)
            largest = self._largest(first)
            sized = [await self._blobs([int(n * share) + 1 for n in largest]) for share in SHARES]
            for repeat in range(REPEATS):
                for keys in sized:
                    what = f"transfers, {repeat + 1} of {REPEATS}"
                    for pair, each in (await self._rounds(keys, what)).items():
                        found.setdefault(pair, []).append(each)
            loaded = await self._handing_under_load(sized[0])
            handing = {name: (idle[name] + loaded[name]) / 2 for name in idle}
            costs = {pair: fit(*zip(*each, strict=True)) for pair, each in found.items()}
            sends = await self._together(sized[0], largest, costs, from_one=True)
            receives = await self._together(sized[0], largest, costs, from_one=False)
            return Wires(
                names=self._names, costs=costs, sends=sends, receives=receives, handing=handing
            )
        finally:
            self._close()

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(member.name for member in self.members)

    def _largest(self, first: dict[tuple[str, str], tuple[float, float]]) -> list[int]:
        sizes = []
        for member in self.members:
            rates = [
                size / seconds for (a, _), (size, seconds) in first.items() if a == member.name
            ]
            sizes.append(int(min(MOST, max(LEAST, WANTED * median(rates)))))
        return sizes

    async def _blobs(self, sizes: Sequence[int]) -> list[str]:
        """Put so many bytes on each worker; return their keys."""
        keys = []
        for member, size in zip(self.members, sizes, strict=True):
            keys.append(f"{self.prefix}-{len(self.futures)}")
            self._submit(random_bytes, size, key=keys[-1], member=member)
        await self._done(self.futures[-len(keys) :])
        return keys

    def _submit(self, function: Any, *inputs: Any, key: str, member: Member) -> Any:
        future = self.client.submit(
            function, *inputs, key=key, workers=[member.address], pure=False
        )
        self.futures.append(future)
        return future

    async def _done(self, futures: list[Any]) -> None:
        from distributed import wait

        with self.client.as_current():
            waiting = wait(futures)
        await waiting

    async def _pull(self, sender: int, receiver: int, key: str) -> tuple[float, float]:
        member = self.members[receiver]
        try:
            size, seconds = await self.crew.call(member, pulled, self.members[sender].address, key)
        except KeyError as error:  # the sender has it no more
            raise CancelledError(key) from error
        return float(size), float(seconds)

    async def _rounds(
        self, keys: Sequence[str], what: str
    ) -> dict[tuple[str, str], tuple[float, float]]:
        """Let each worker have a blob of each other: every one sends and receives one at a time."""
        count, names, found = len(self.members), self._names, {}
        for shift in range(1, count):
            self.tell(shift / count, what)
            pairs = [(a, (a + shift) % count) for a in range(count)]
            taken = await asyncio.gather(*(self._pull(a, b, keys[a]) for a, b in pairs))
            for (a, b), each in zip(pairs, taken, strict=True):
                found[names[a], names[b]] = each
        return found

    async def _together(
        self,
        keys: Sequence[str],
        sizes: Sequence[int],
        costs: dict[tuple[str, str], Fit],
        *,
        from_one: bool,
    ) -> float:
        """Return what two transfers take together, as a share of the sum, median over workers."""
        count, names, shares = len(self.members), self._names, []
        if count < 3:
            return 1.0 if from_one else 0.5  # nobody else to send to: nothing to tell apart
        for one in range(count):
            others = [(one + 1) % count, (one + 2) % count]
            pairs = [(one, other) if from_one else (other, one) for other in others]
            start = time.perf_counter()
            await asyncio.gather(*(self._pull(a, b, keys[a]) for a, b in pairs))
            together = time.perf_counter() - start
            alone = [costs[names[a], names[b]].cost.of(float(sizes[a])) for a, b in pairs]
            shares.append(0.5 + 0.5 * (together - max(alone)) / min(alone))
        return float(np.clip(median(shares), 0.5, 1.0))

    async def _handing_under_load(self, keys: Sequence[str]) -> dict[str, float]:
        """Return the same while each worker sends: its messages queue behind the data."""
        count = len(self.members)
        sends = (self._pull(a, (a + 1) % count, keys[a]) for a in range(count))
        sending = asyncio.gather(*sends)
        handing = await self._handing()
        await sending
        return handing

    async def _handing(self) -> dict[str, float]:
        """Return what passes between tasks that wait for one another, by worker."""
        chains = []
        for member in self.members:
            chain: list[Any] = []
            for _ in range(CHAIN):
                key = f"{self.prefix}-{len(self.futures)}"
                chain.append(self._submit(clock, *chain[-1:], key=key, member=member))
            chains.append(chain)
        await self._done([future for chain in chains for future in chain])
        times = [await self.client.gather(chain, asynchronous=True) for chain in chains]
        return {
            member.name: median([later[0] - sooner[1] for sooner, later in pairwise(t)])
            for member, t in zip(self.members, times, strict=True)
        }

    def _close(self) -> None:
        futures, self.futures = self.futures, []
        for future in futures:
            future.release()
