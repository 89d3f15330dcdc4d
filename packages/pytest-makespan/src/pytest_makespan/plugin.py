"""The hooks: ``--dist makespan``, its options, and the line at the end."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest

NAME = "makespan"


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    if pluginmanager.is_blocked("xdist"):
        return
    if not parser.getgroup("xdist").options:  # they must be there first
        from xdist import plugin

        pluginmanager.register(plugin, "xdist")
    for option in parser.getgroup("xdist").options:
        if option.dest == "dist":
            option.attrs()["choices"].append(NAME)
    group = parser.getgroup(NAME, "--dist makespan: the longest tests first")
    group.addoption(
        "--makespan-scope",
        choices=["group", "class", "module"],
        default="group",
        help="What one worker runs as a whole: tests of one xdist_group (default), and with "
        "'class' or 'module' also those of a class or module.",
    )
    group.addoption(
        "--makespan-durations",
        metavar="FILE",
        help="Seconds of tests that have not run here yet: .test_durations, JUnit XML, or CSV.",
    )


def pytest_configure(config: pytest.Config) -> None:
    if getattr(config, "workerinput", {}).get(NAME):
        from pytest_makespan.worker import Worker

        config.pluginmanager.register(Worker(), "makespan-worker")
    option = config.option
    if getattr(option, "dist", "no") == NAME and option.tx and not option.collectonly:
        config.pluginmanager.register(Controller(config), "makespan-controller")


class Controller:
    """A plugin of the process that gives tests out."""

    def __init__(self, config: pytest.Config) -> None:
        from pytest_makespan.durations import Durations

        self.config = config
        self.durations = Durations()
        self.durations.load(config)
        if config.option.makespan_durations:
            self.durations.read(config.option.makespan_durations)
        self.scheduler: Any = None
        self.start = time.monotonic()

    def pytest_sessionstart(self) -> None:
        self.start = time.monotonic()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[NAME] = True

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        from pytest_makespan.scheduler import MakespanScheduling

        scope = config.option.makespan_scope
        self.scheduler = MakespanScheduling(config, log, self.durations, scope)
        return self.scheduler

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.durations.failed.add(report.nodeid)
        said = getattr(report, NAME, None)
        if said is not None:
            self.durations.record_fixtures(report.nodeid, said["made"], said["uses"])

    def pytest_sessionfinish(self) -> None:
        self.durations.save(self.config)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        began = getattr(self.scheduler, "began", None)
        if began is not None and self.durations.now and self.config.option.verbose >= 0:
            run = time.monotonic() - self.start
            weights = self.scheduler.weights()
            terminalreporter.write_line(
                summary(run, began - self.start, weights, self.scheduler.numnodes)
            )


def summary(run: float, startup: float, weights: list[float], workers: int) -> str:
    """Return the line at the end: this run, the bound, and what one worker more may bring.

    The worker more saves what it saves a plan of the same tests with nothing in between.
    """
    from makespan.balance import balance

    bound = startup + max(*weights, math.fsum(weights) / workers)
    ends = [
        max(math.fsum(weights[each] for each in group) for group in balance(weights, count, None))
        for count in (workers, workers + 1)
    ]
    return (
        f"makespan: {run:.2f} s on {workers} workers; no order takes less than {bound:.2f} s; "
        f"{workers + 1} workers: about {run - ends[0] + ends[1]:.2f} s"
    )
