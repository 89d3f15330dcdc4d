"""What a worker says beside xdist: the groups of its tests, and what shared fixtures took."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any

import pytest

GROUP = " @xdist_group="  # between a node id and its group, while a collection is sent
LEAST = 0.005  # seconds of a fixture from which it counts


def split_group(name: str) -> tuple[str, str | None]:
    """Return a node id, and its group if it has one."""
    test, mark, group = name.partition(GROUP)
    return test, group if mark else None


class Worker:
    """A plugin of the process that runs tests."""

    def __init__(self) -> None:
        self.made: dict[str, float] = {}  # for the present test
        self.shared: dict[str, dict[str, str]] = {}  # name of a fixture → place → what it is called

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Add groups to the node ids that xdist sends, and to nothing else."""
        groups = [
            "_".join(sorted({_group(mark) for mark in item.iter_markers("xdist_group")}))
            for item in session.items
        ]
        for plugin in session.config.pluginmanager.get_plugins():
            if any(groups) and hasattr(plugin, "sendevent"):
                plugin.sendevent = partial(_send, plugin.sendevent, groups)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, Any, Any]:
        if fixturedef.scope == "function":
            return (yield)
        start = time.perf_counter()
        try:
            return (yield)
        finally:
            seconds = time.perf_counter() - start
            if seconds >= LEAST:
                place = request.node.nodeid
                called = f"{fixturedef.scope} {place}::{fixturedef.argname}"
                self.shared.setdefault(fixturedef.argname, {})[place] = called
                self.made[called] = seconds

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, Any, Any]:
        report = yield
        if call.when == "setup":
            uses = [
                called
                for name in getattr(item, "fixturenames", ())
                for place, called in self.shared.get(name, {}).items()
                if within(item.nodeid, place)
            ]
            report.makespan = {"made": self.made, "uses": uses}
            self.made = {}
        return report


def within(test: str, place: str) -> bool:
    """Whether a test is in a session, package, module or class."""
    return place in ("", ".", test) or test.startswith((f"{place}::", f"{place}/"))


def _send(sendevent: Callable[..., None], groups: Sequence[str], name: str, **values: Any) -> None:
    if name == "collectionfinish":
        pairs = zip(values["ids"], groups, strict=True)
        values["ids"] = [f"{test}{GROUP}{group}" if group else test for test, group in pairs]
    sendevent(name, **values)


def _group(mark: pytest.Mark) -> str:
    return str(mark.args[0] if mark.args else mark.kwargs.get("name", "default"))
