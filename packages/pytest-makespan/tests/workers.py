"""Workers as xdist has them, on a clock that jumps: each begins a test when it knows the next."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from pytest_makespan.durations import Durations
from pytest_makespan.scheduler import MakespanScheduling
from pytest_makespan.worker import GROUP


class Node:
    """A worker: what it was sent, what it runs, and when that ends."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name, spec=name)
        self.queue: list[int] = []
        self.sent: list[list[int]] = []
        self.ran: list[int] = []
        self.shutting_down = False
        self.ends: float | None = None

    def send_runtest_some(self, indices: Sequence[int]) -> None:
        assert not self.shutting_down
        self.sent.append(list(indices))
        self.queue.extend(indices)

    def shutdown(self) -> None:
        self.shutting_down = True


class Config:
    """As much of pytest's config as a scheduler asks for."""

    def __init__(self, workers: int) -> None:
        self.option = SimpleNamespace(tx=["popen"] * workers, maxschedchunk=None, debug=False)
        self.reports: list[Any] = []
        self.hook = SimpleNamespace(pytest_collectreport=self._report)

    def _report(self, report: Any) -> None:
        self.reports.append(report)

    def getoption(self, name: str) -> Any:
        return getattr(self.option, name)

    getvalue = getoption


class Run:
    """A run of tests, each of which takes its real seconds and those of fixtures not made yet."""

    def __init__(
        self,
        tests: Sequence[str],
        seconds: Sequence[float],
        workers: int,
        known: dict[str, float] | None = None,
        *,
        scope: str = "group",
        groups: dict[str, str] | None = None,
        fixtures: dict[str, float] | None = None,
        uses: dict[str, list[str]] | None = None,
    ) -> None:
        self.now, self.seconds = 0.0, list(seconds)
        self.durations = Durations(known)
        self.durations.fixtures, self.durations.uses = dict(fixtures or {}), dict(uses or {})
        self.config = Config(workers)
        self.scheduler = MakespanScheduling(
            self.config, None, self.durations, scope, clock=lambda: self.now
        )
        groups = groups or {}
        self.sent = [f"{test}{GROUP}{groups[test]}" if test in groups else test for test in tests]
        self.nodes = [self.add(f"gw{index}") for index in range(workers)]
        self.crashed: list[str] = []

    def add(self, name: str, sent: Sequence[str] | None = None) -> Node:
        node = Node(name)
        self.scheduler.add_node(node)
        self.scheduler.add_node_collection(node, list(self.sent if sent is None else sent))
        return node

    def begin(self) -> None:
        self.scheduler.schedule()
        self._start()

    def _start(self) -> None:
        for node in self.nodes:
            known = len(node.queue) > 1 or (node.queue and node.shutting_down)
            if node.ends is None and known:
                node.ends = self.now + self._takes(node, node.queue[0])

    def _takes(self, node: Node, test: int) -> float:
        name = self.sent[test].partition(GROUP)[0]
        uses = self.durations.uses.get(name, [])
        last = self.durations.uses.get(self.sent[node.ran[-1]], []) if node.ran else []
        ever = {each for one in node.ran for each in self.durations.uses.get(self.sent[one], [])}
        there = {each for each in uses if each in (ever if each.startswith("session") else last)}
        return self.seconds[test] + sum(self.durations.fixtures[each] for each in {*uses} - there)

    def step(self) -> bool:
        """Go on to the next test that ends; False: none runs."""
        running = [node for node in self.nodes if node.ends is not None]
        if not running:
            return False
        node = min(running, key=lambda node: node.ends or 0.0)
        assert node.ends is not None
        self.now, node.ends = node.ends, None
        test = node.queue.pop(0)
        node.ran.append(test)
        self.scheduler.mark_test_complete(node, test, self.seconds[test])
        self._start()
        return True

    def crash(self, node: Node) -> None:
        """Let a worker die in its test, and come another in its place."""
        self.nodes.remove(node)
        node.shutting_down = True
        found = self.scheduler.remove_node(node)
        if found is not None:
            self.crashed.append(found)
        self.nodes.append(self.add(f"{node.gateway.id}+"))
        self.scheduler.schedule()
        self._start()

    def go(self) -> float:
        """Run to the end; return when the last test ended."""
        if self.scheduler.collection is None:
            self.begin()
        while self.step():
            pass
        return self.now

    @property
    def ran(self) -> list[int]:
        return sorted(test for node in self.nodes for test in node.ran)
