"""The page of the site that plans by itself: its methods give what the library gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from makespan import Dag, DivisibleLoad, Network, Star, TaskGraph, Worker, check, solve
from makespan.flow.files.files import as_dict, problem_of
from tests.browser import Browser, chromium
from tests.test_site import module

pytestmark = pytest.mark.skipif(chromium() is None, reason="there is no Chromium")
COUNT = 50
VERDICT = "document.getElementById('verdict').textContent"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    page: Path = tmp_path_factory.mktemp("site") / "play.html"
    page.write_text(module("play").html(), "utf-8")
    with Browser() as opened:
        opened.open(page)
        yield opened
        assert not opened.errors
        assert opened.requests == [page.as_uri()] or all(
            address.startswith(("file:", "data:")) for address in opened.requests
        )


def graph(rng: np.random.Generator) -> TaskGraph:
    """A small graph, in half of them with numbers that tie."""
    tasks, machines = int(rng.integers(1, 10)), int(rng.integers(2, 5))
    whole = rng.random() < 0.5

    def some(count: int, least: int = 0) -> list[float]:
        return (rng.integers(least, 4, count) if whole else rng.uniform(0, 4, count)).tolist()

    pairs = [(one, other) for other in range(tasks) for one in range(other)]
    chosen = [pair for pair in pairs if rng.random() < 0.4]
    edges = [(str(a), str(b), size) for (a, b), size in zip(chosen, some(len(chosen)), strict=True)]
    works = {str(task): work for task, work in enumerate(some(tasks, least=1))}
    speeds = (rng.integers(1, 3, machines) if whole else rng.uniform(0.5, 2, machines)).tolist()
    return TaskGraph(Dag(works, edges), Network(speeds, rate=float(rng.choice([0.5, 1, 2]))))


def stated(problem: Any) -> dict[str, Any]:
    """A problem as the page has it, every number there."""
    data = as_dict(problem)
    for machine in data.get("network", {}).get("machines", ()):
        machine.setdefault("speed", 1.0)
    for worker in data.get("platform", {}).get("workers", ()):
        worker.setdefault("send", data["platform"].get("send"))
    return data


@pytest.mark.thorough
def test_heft(browser: Browser) -> None:
    """Ends when the library's does."""
    problems = [graph(np.random.default_rng(seed)) for seed in range(COUNT)]
    found = browser.do(
        lambda page: page.evaluate(
            "all => all.map(one => makespan.endOf(one, makespan.heft(one)))",
            [stated(problem) for problem in problems],
        )
    )
    wanted = [solve(problem, method="heft").makespan for problem in problems]
    assert found == pytest.approx(wanted, rel=1e-9)
    assert len(set(found)) > COUNT / 2


def test_closed_form(browser: Browser) -> None:
    """Of stars, some of which are buses."""
    problems = []
    for seed in range(COUNT):
        rng = np.random.default_rng(seed)
        count, bus = int(rng.integers(1, 9)), rng.random() < 0.3
        send = np.full(count, rng.uniform(0, 3)) if bus else rng.uniform(0, 3, count)
        workers = [
            Worker(name=f"W{place}", send=float(each), compute=float(rng.uniform(0.1, 5)))
            for place, each in enumerate(send)
        ]
        problems.append(DivisibleLoad(load=float(rng.uniform(1, 100)), platform=Star(workers)))
    found = browser.do(
        lambda page: page.evaluate(
            "all => all.map(one => makespan.endOf(one, makespan.closedForm(one)))",
            [stated(problem) for problem in problems],
        )
    )
    results = [solve(problem) for problem in problems]
    assert {result.status for result in results} == {"optimal"}
    assert found == pytest.approx([result.makespan for result in results], rel=1e-9)


def test_what_breaks_a_plan(browser: Browser) -> None:
    """Is what the referee finds: of plans that are shaken some hold, some don't."""
    ask = """([problem, late]) => {
        const moves = makespan.heft(problem);
        moves.forEach((move, item) => (move.start = Math.max(0, move.start + late[item])));
        return [moves, makespan.broken(problem, moves)];
    }"""
    verdicts = set()
    for seed in range(COUNT):
        rng = np.random.default_rng(seed)
        problem = graph(rng)
        late = np.where(rng.random(len(problem.dag)) < 0.15, rng.integers(-2, 3), 0)
        asked = [stated(problem), late.tolist()]
        moves, said = browser.do(lambda page, asked=asked: page.evaluate(ask, asked))
        plan = solve(problem, method="heft").schedule
        start, end, count = plan.start.copy(), plan.end.copy(), len(problem.dag)
        assert [move["machine"] for move in moves] == [row["machine"] for row in plan][:count]
        length = end - start
        start[:count] = [move["start"] for move in moves]
        start[count:] = (start + length)[problem.dag.source[plan.item[count:]]]
        report = check(problem, plan.timed(start, start + length, earliest=False))
        assert report.ok == (not said), (seed, said, report)
        verdicts.add(report.ok)
    assert verdicts == {True, False}


def test_a_better_plan_is_told(browser: Browser) -> None:
    """By keys: what HEFT has on one machine is placed on two."""
    browser.do(lambda page: page.select_option("#example", "Fork and join: HEFT errs"))
    browser.settle()
    assert browser.value(VERDICT) == "HEFT ends at 10 s; best is 7 s."
    browser.do(lambda page: page.click("#clear"))
    for item, machine in ((0, "1"), (1, "1"), (3, "2"), (2, "2"), (4, "2"), (5, "1")):
        assert "Still to place: " in browser.value(VERDICT)
        browser.do(lambda page, at=item: page.focus(f'.board [data-item="{at}"]'))
        browser.key(machine)
    assert browser.value(VERDICT) == "Your plan ends at 11 s; best is 7 s. HEFT ends at 10 s."
    browser.key("2")
    said = "Your plan ends at 7 s: no plan ends earlier. HEFT ends at 10 s."
    assert browser.value(VERDICT) == said


def test_examples_end_where_their_best_plans_end(browser: Browser) -> None:
    """And what is typed wrong is told at its field."""
    for example in module("play").examples():
        problem = dict(example["problem"])
        problem.pop("options", None)
        assert solve(problem_of(problem)).makespan == pytest.approx(example["best"])
    browser.do(lambda page: page.select_option("#example", "A load behind unlike links"))
    browser.do(lambda page: page.fill('[data-place="load"] input[type=text]', "-1"))
    browser.settle()
    told = "document.querySelector('[data-place=load] .mistake').textContent"
    assert browser.value(told) == "-1 is not a number above 0"
