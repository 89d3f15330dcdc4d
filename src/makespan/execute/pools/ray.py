"""A Ray cluster: a task for each slot, which calls this process back."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from time import perf_counter
from typing import Any

from makespan.core.errors import ExecutionError, InputError
from makespan.core.system.startup import optional
from makespan.execute.dealing.rival import LONGEST, PROBES, OwnMap

OWN_NAMES = {"CPU": "num_cpus", "GPU": "num_gpus"}
HEARING = 1.0  # seconds in which a process ends that Ray has told to
KILLING = 10.0  # seconds in which another process is there that kills it
ARGUMENTS = ("num_cpus", "num_gpus", "memory")


class RayPool:
    """The running Ray instance of this process, one at an address, or one that it starts.

    Each slot is a task that lasts as long as the run. Slots come with nodes that join, and are
    started again where their process or node has gone. Nodes have to reach this process by TCP.

    The address is as for ``ray.init``; None is the instance that is running, or a new one on this
    machine, which stays until this process ends, as with Ray. Each slot needs the ``resources``:
    ``num_cpus`` (1), ``num_gpus``, ``memory``, or some of one's own.
    """

    inside = False

    def __init__(
        self, address: str | None = None, resources: Mapping[str, float] | None = None
    ) -> None:
        self._ray = optional("ray")
        if not self._ray.is_initialized():
            try:
                self._ray.init(address=address, log_to_driver=False)
            except (ConnectionError, ValueError) as error:
                raise ExecutionError(f"on: Ray at {address} does not answer: {error}") from error
        needed = {OWN_NAMES.get(name, name): one for name, one in (resources or {}).items()}
        self._needed = {"num_cpus": 1.0, **needed}
        own = {name: one for name, one in self._needed.items() if name in ARGUMENTS}
        others = {name: one for name, one in self._needed.items() if name not in ARGUMENTS}
        self._options = {**own, "resources": others or None, "max_retries": 0}
        self._tasks: dict[str, Any] = {}
        self._slot: Any = None  # the function, sent once to Ray for all slots
        self.host: str | None = self._ray.util.get_node_ip_address()
        self.own_map: OwnMap | None = OwnMap(
            name="ray.util.multiprocessing.Pool.map", pieces=4, in_turn=True
        )
        if not self.count():
            raise InputError(f"resources: no node has {dict(needed)}")

    def count(self) -> int:
        """Return how many slots the nodes that are there have room for."""
        there = self._ray.cluster_resources()
        names = {"num_cpus": "CPU", "num_gpus": "GPU"}
        room = [
            there.get(names.get(name, name), 0.0) // one
            for name, one in self._needed.items()
            if one > 0.0
        ]
        return int(min(room, default=1))

    def overhead(self, slots: int) -> float | None:
        """Return what a task loses, by some that do nothing."""
        nothing, begun = self._ray.remote(**self._options)(_nothing), perf_counter()
        try:
            self._ray.get([nothing.remote() for _ in range(PROBES * slots)], timeout=LONGEST)
        except Exception:  # it is busy with something else, or gone
            return None
        return (perf_counter() - begun) / PROBES

    def start(self, serve: Callable[..., None], where: Any, name: str) -> Future[Any]:
        """Submit a slot."""
        try:
            self._slot = self._slot or self._ray.remote(**self._options)(serve)
            self._tasks[name] = self._slot.remote(where, name)
        except Exception as error:
            raise ExecutionError(f"Ray takes no task: {error}") from error
        found: Future[Any] = self._tasks[name].future()
        return found

    def why(self, ended: Future[Any]) -> str:
        """Nobody knows."""
        return "died"

    def end(self, name: str, address: str) -> None:
        """Kill a slot; a process that has stopped hears nothing of Ray: another one kills it."""
        with suppress(Exception):
            self._ray.cancel(self._tasks[name], force=bool(address))
            if not address:
                return
            ended, _ = self._ray.wait([self._tasks[name]], timeout=HEARING)
            host, _, process = address.rpartition(":")
            there = (one for one in self._ray.nodes() if one["NodeManagerHostname"] == host)
            nodes = [one["NodeID"] for one in there if one["Alive"]]
            if nodes and not ended:
                strategies = self._ray.util.scheduling_strategies
                near = strategies.NodeAffinitySchedulingStrategy(nodes[0], soft=False)
                kill = self._ray.remote(num_cpus=0, scheduling_strategy=near)(os.kill)
                self._ray.get(kill.remote(int(process), signal.SIGKILL), timeout=KILLING)

    def close(self) -> None:
        """Let go of the tasks."""
        self._tasks.clear()


def _nothing() -> None:
    """Do nothing."""
