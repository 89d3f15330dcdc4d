"""The widget: what a person places in the browser becomes a result here.

A problem fits its board if its transfers follow from what computes where and when.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

import anywidget
import traitlets

from makespan.core.errors import Mistake, ProblemError
from makespan.core.inputs.rules import quoted
from makespan.core.problem import Problem, is_problem
from makespan.core.solution import Solution
from makespan.drawing.page.html import OF_MODULES, SCRIPTS, colours, page_data, shared
from makespan.flow.check import check
from makespan.flow.files.files import as_dict
from makespan.flow.files.results import schedule_of
from makespan.flow.plot import chart
from makespan.flow.result import Result
from makespan.flow.serialize import as_json
from makespan.flow.solve import refereed
from makespan.studio.orders import Order, Task
from makespan.studio.page import OWN_START
from makespan.studio.worker import answered

MOST = 200  # tasks, machines or segments that a person can place
Test = tuple[str, Callable[[Any], bool], str]
UNFIT: Mapping[str, tuple[Test, ...]] = {
    "taskgraph": (
        ("columns", lambda p: "columns" in p, f"more than {MOST} tasks are not placed by hand"),
        ("network", lambda p: bool(set(p["network"]) - {"machines", "rate", "topology"}) or
         p["network"].get("topology", "complete") != "complete" or
         isinstance(p["network"].get("rate"), list),
         "transfers are filled in where all pairs of machines have links of one rate"),
        ("contention", lambda p: p.get("contention", "none") != "none",
         "transfers are filled in where they don't wait for one another"),
    ),
    "divisible": (
        ("platform", lambda p: "workers" not in p["platform"] or
         any("return" in each for each in p["platform"]["workers"]),
         "loads are placed on the workers of a star or a bus, without results"),
        ("rounds", lambda p: p.get("rounds", 1) != 1 or "load" not in p,
         "a given load is placed, in one round"),
    ),
    "reduction": (
        ("network", lambda p: "network" in p or "transfer" not in p or
         not isinstance(p["segments"], int),
         "messages of given segments are placed where each pair of machines has a link"),
    ),
    "pipeline": (("kind", lambda _: True, "pipelines are not placed by hand"),),
}  # fmt: skip
"""By kind: a place, whether what a file has there does not fit, and why."""


def misfits(stated: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return why a problem, as files have it, does not fit a board, each with its place.

    >>> misfits({"kind": "independent", "machines": 300, "durations": [1.0]})
    [('machines', '300 are more than 200, the most that are placed by hand')]
    """
    found = [(place, why) for place, test, why in UNFIT.get(stated["kind"], ()) if test(stated)]
    for name in ("tasks", "durations", "resources", "machines", "segments"):
        many = stated.get(name, 0)
        count = len(many) if isinstance(many, list) else many
        if isinstance(count, int) and count > MOST and stated["kind"] != "partition":
            found.append((name, f"{count} are more than {MOST}, the most that are placed by hand"))
    return found


STUDIO = (
    *("past.js", "state.js", "fields.js", "tasks.js", "placing.js", "sketch.js", "given.js"),
    *("board.js", "showing.js", "referee.js"),
)
"""The scripts of the studio that a board needs, each after those that it uses."""
OWN, STUDIO_PAGE = files("makespan.studio.notebook"), files("makespan.studio.page")


@cache
def page() -> str:
    """Return the page inside the widget: scripts and looks of the studio in one text."""
    scripts = [shared(name) for name in SCRIPTS if name != OWN_START]
    scripts += [(STUDIO_PAGE / name).read_text("utf-8") for name in STUDIO]
    scripts += [(OWN / name).read_text("utf-8") for name in ("kernel.js", "start.js")]
    return Template((OWN / "page.html").read_text("utf-8")).substitute(
        style=colours() + shared("page.css") + (STUDIO_PAGE / "studio.css").read_text("utf-8"),
        tools=shared("tools.html"),
        script="".join(OF_MODULES.sub("", script) for script in scripts),
    )


class Board(anywidget.AnyWidget):  # type: ignore[misc]
    """A board in a notebook, made by :func:`makespan.board`, which says what it has."""

    _esm = (OWN / "widget.js").read_text("utf-8")
    _page = traitlets.Unicode().tag(sync=True)
    _stated = traitlets.Dict().tag(sync=True)
    _shown = traitlets.Dict(allow_none=True).tag(sync=True)
    _placed = traitlets.Dict().tag(sync=True)
    schedule = traitlets.Any(None, allow_none=True)
    report = traitlets.Any(None, allow_none=True)
    result = traitlets.Any(None, allow_none=True)

    def __init__(self, problem: Problem | Result) -> None:
        plan = problem if isinstance(problem, Result) else None
        if plan is None and not is_problem(problem):
            raise ProblemError(f"problem: {quoted(problem)} is neither a problem nor a result")
        self.problem: Any = problem if plan is None else plan.problem
        stated = json.loads(as_json(as_dict(self.problem)))
        wrong = [Mistake(place, why) for place, why in misfits(stated)]
        if wrong and plan is None:
            raise ProblemError(wrong)
        given: dict[str, Any] = {"_page": page(), "_shown": None}
        given["_stated"] = {**stated, "placeable": not wrong}
        if plan is not None and plan.schedule is not None:
            given["_shown"] = page_data([chart(plan)])
            given["_placed"] = {"activities": [] if wrong else list(plan.schedule.records())}
            given |= {"schedule": plan.schedule, "report": check(plan)}
            given["result"] = plan if given["report"].ok else None
        super().__init__(**given)
        self.observe(self._judge, "_placed")
        self.on_msg(self._answer)

    def _judge(self, change: Mapping[str, Any]) -> None:
        """Make a result of what is placed now, as far as it is one: as it is, not earlier."""
        placed = {name: change["new"].get(name) for name in ("machines", "activities")}
        schedule = schedule_of(placed, "plan", self.problem) if placed["activities"] else None
        report, result = None, None
        if schedule is not None:
            report = check(self.problem, schedule)
        if schedule is not None and report is not None and report.ok:
            solution = Solution(schedule=schedule.timed(schedule.start, schedule.end))
            result = replace(refereed(self.problem, solution, "by hand"), notes=())
        self.schedule, self.report, self.result = schedule, report, result

    def _answer(self, _: Any, asked: Mapping[str, Any], __: Any) -> None:
        """Answer what the scripts of the studio ask a server for."""
        answer = answered(Task(Order(0, asked["what"], asked["body"].encode()), lambda _: None))
        content = json.loads(answer.content)
        self.send({"number": asked["number"], "status": answer.status, "answer": content})
