"""The widget: what a person places in the browser becomes a result here."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
from makespan.studio.notebook.fitting import misfits
from makespan.studio.orders import Order, Task
from makespan.studio.page import OWN_START
from makespan.studio.worker import answered

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
        order = Order(0, asked["what"], asked["body"].encode())
        answer = answered(Task(order, lambda _: None))
        content = json.loads(answer.content)
        self.send({"number": asked["number"], "status": answer.status, "answer": content})
