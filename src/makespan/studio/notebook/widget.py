"""The widget: what a person places in the browser becomes a result here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

import anywidget
import traitlets

from makespan.core.errors import InputError, MakespanError, Mistake, ProblemError
from makespan.core.inputs.rules import quoted
from makespan.core.problem import Problem, is_problem
from makespan.core.report import Report
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution, Status, relative_gap
from makespan.drawing.page.html import OF_MODULES, SCRIPTS, colours, page_data, shared
from makespan.flow.bound import best_bound
from makespan.flow.check import check
from makespan.flow.files.files import as_dict
from makespan.flow.files.results import schedule_of
from makespan.flow.kinds import kind_of
from makespan.flow.plot import chart
from makespan.flow.result import Result
from makespan.flow.serialize import as_json
from makespan.studio.answers import ANSWERS
from makespan.studio.notebook.fitting import misfits
from makespan.studio.orders import Order, Task
from makespan.studio.page import OWN_START

STUDIO = (
    *("past.js", "state.js", "fields.js", "tasks.js", "placing.js", "sketch.js", "given.js"),
    *("board.js", "showing.js", "referee.js"),
)
"""The scripts of the studio that a board needs, each after those that it uses."""
OWN = ("kernel.js", "start.js")
BY_HAND = "by hand"


@cache
def page() -> str:
    """Return the page inside the widget: scripts and looks of the studio in one text."""
    own = files("makespan.studio.notebook")
    studio = files("makespan.studio.page")
    scripts = [shared(name) for name in SCRIPTS if name != OWN_START]
    scripts += [(studio / name).read_text("utf-8") for name in STUDIO]
    scripts += [(own / name).read_text("utf-8") for name in OWN]
    return Template((own / "page.html").read_text("utf-8")).substitute(
        colours=colours(),
        style=shared("page.css") + (studio / "studio.css").read_text("utf-8"),
        tools=shared("tools.html"),
        script="".join(OF_MODULES.sub("", script) for script in scripts),
    )


class Board(anywidget.AnyWidget):  # type: ignore[misc]
    """A board in a notebook; made by :func:`makespan.board`.

    Attributes
    ----------
    problem
        What is planned.
    schedule
        What is placed so far; None where nothing is.
    report
        What the referee says of it; None where nothing is placed.
    result
        The plan with its bound and gap; None unless the referee accepts it.
    """

    _esm = (files("makespan.studio.notebook") / "widget.js").read_text("utf-8")
    _page = traitlets.Unicode().tag(sync=True)
    _stated = traitlets.Dict().tag(sync=True)
    _shown = traitlets.Dict(allow_none=True).tag(sync=True)
    _placed = traitlets.Dict().tag(sync=True)
    schedule = traitlets.Any(None, allow_none=True)
    report = traitlets.Any(None, allow_none=True)
    result = traitlets.Any(None, allow_none=True)

    def __init__(self, thing: Problem | Result) -> None:
        plan = thing if isinstance(thing, Result) else None
        if plan is None and not is_problem(thing):
            raise ProblemError(f"{quoted(thing)} is neither a problem nor a result")
        self.problem: Problem = plan.problem if plan is not None else thing  # type: ignore[assignment]
        stated = json.loads(as_json(as_dict(self.problem)))
        wrong = [Mistake(place, text) for place, text in misfits(stated)]
        if wrong and plan is None:
            raise ProblemError(wrong)
        shown, placed = None, {}
        if plan is not None and plan.schedule is not None:
            shown = page_data([chart(plan)])
            placed = {"activities": list(plan.schedule.records())} if not wrong else {}
        super().__init__(
            _page=page(), _stated={**stated, "placeable": not wrong}, _shown=shown, _placed=placed
        )
        if plan is not None:
            self.schedule, self.report = plan.schedule, check(plan)
            self.result = plan if self.report.ok else None
        self.observe(self._judge, "_placed")
        self.on_msg(self._answer)

    def _judge(self, change: Mapping[str, Any]) -> None:
        """Make a result of what is placed now, as far as it is one."""
        placed = {name: change["new"].get(name) for name in ("machines", "activities")}
        if not placed["activities"]:
            self.schedule = self.report = self.result = None
            return
        schedule = schedule_of(placed, "plan", self.problem)
        report = check(self.problem, schedule)
        self.schedule, self.report = schedule, report
        self.result = _result(self.problem, schedule) if report.ok else None

    def _answer(self, _: Any, request: Mapping[str, Any], __: Any) -> None:
        """Answer what the studio's scripts ask a server for."""
        try:
            what = request["what"]
            answer = ANSWERS[what](request["body"], Task(Order(0, what, b""), lambda _: None))
            reply = {"answer": json.loads(answer.content)}
        except InputError as error:
            found = [{"place": place, "message": text} for place, text in error.mistakes]
            reply = {"error": str(error), "mistakes": found}
        except MakespanError as error:
            reply = {"error": str(error)}
        self.send({"number": request["number"], **reply})


def _result(problem: Problem, schedule: Schedule) -> Result:
    """Return an accepted plan, as it was placed, with what bounds say of it."""
    proof = best_bound(kind_of(problem), problem, Solution(schedule=schedule), schedule.makespan)
    return Result(
        problem=problem,
        status=Status.OPTIMAL if proof.met else Status.FEASIBLE,
        schedule=schedule,
        makespan=schedule.makespan,
        lower_bound=proof.value,
        gap=None if proof.value is None else relative_gap(schedule.makespan, proof.value),
        method=BY_HAND,
        options={},
        seed=None,
        runtime=0.0,
        notes=proof.notes,
    )
