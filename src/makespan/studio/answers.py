"""Requests → answers, in a process that may take its time."""

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from makespan.core.errors import MakespanError, MethodError, ProblemError, TooLarge
from makespan.core.inputs.forms import validated
from makespan.core.problem import Problem
from makespan.core.registry import Applicability
from makespan.core.schedule import Activity, Schedule
from makespan.flow.check import check as checked
from makespan.flow.comparison.compare import comparing
from makespan.flow.files.files import as_dict, as_text, file_of, problem_of
from makespan.flow.files.results import result_of, schedule_of
from makespan.flow.kinds import KINDS, kind_of, methods as methods_for, schema as schema_of_kind
from makespan.flow.result import Result
from makespan.flow.sensitivity import sensitivity as sensitivity_of
from makespan.flow.serialize import as_json, result_as_dict
from makespan.flow.solve import solve_controlled
from makespan.studio.exercises import read_exercise
from makespan.studio.orders import Answer, Task
from makespan.studio.requests import (
    LONGEST,
    CheckRequest,
    CompareRequest,
    ExerciseRequest,
    MethodsRequest,
    ProblemRequest,
    SaveRequest,
    SensitivityRequest,
    SolveRequest,
    bounded,
    document,
    one_of,
    snippet,
)

LARGEST = 64 * 2**20  # bytes of an answer
FEW = 10_000  # tasks whose plan is not large
SAMPLE = 500  # of them that are written to see
SURE = 1.1  # times the largest: what is more is refused before anybody knows the digits
PER_SECOND = 15e6  # bytes that are written
COMPARED = 12  # methods of a comparison, of whose plans a view is made


def refuse_larger(size: float, times: float = 1.0) -> None:
    """Refuse an answer of so many bytes, if these are so many times the most.

    Raises TooLarge with both sizes.
    """
    if size > times * LARGEST:
        raise TooLarge(
            f"the answer would be larger than {LARGEST // 2**20} MiB, the most: "
            f"about {size / 2**20:.0f} MiB"
        )


def size_of_plan(schedule: Schedule) -> float:
    """Return about how many bytes the rows of a schedule take."""
    rows = np.linspace(0, len(schedule) - 1, min(SAMPLE, len(schedule))).astype(np.int64)
    return _size_of(list(schedule.take(rows).records()), len(schedule))


def _size_of(some: Any, count: int) -> float:
    """Return about how many bytes that many take, where some are this."""
    return len(as_json({"some": some})) * count / max(1, len(some))


def size_of_solution(problem: Problem) -> float:
    """Return about how many bytes a plan of a problem of many tasks takes, with its answer.

    Some tasks are written as one machine would run them. Of problems of other things, whose plans
    may have few rows, nothing is known.
    """
    names = kind_of(problem).tasks(problem)
    if names is None or len(names) <= FEW:
        return 0.0
    count = len(names)
    items = np.linspace(0, count - 1, SAMPLE).astype(np.int64)
    durations = np.asarray(cast("Any", problem).durations)
    seconds = durations[items].reshape(SAMPLE, -1)[:, 0]
    end = np.cumsum(seconds) * (count / SAMPLE / len(problem.machines))
    plan = Schedule.of_columns(
        problem.machines,
        kind=Activity.COMPUTE,
        machine=items % len(problem.machines),
        peer=-1,
        item=items,
        amount=seconds,
        start=end - seconds,
        end=end,
    )
    told = [(names[item], row) for item, row in zip(items.tolist(), plan.records(), strict=True)]
    answer = {key: {name: row[key] for name, row in told} for key in ("machine", "start", "end")}
    return _size_of(list(plan.records()), count) + sum(
        _size_of(each, count) for each in answer.values()
    )


def found(data: Any) -> Answer:
    """Return the answer that holds ``data``."""
    return Answer(200, as_json(data).encode())


def problem(request: Mapping[str, Any], task: Task) -> Answer:
    """Read a problem, and write it as files have it."""
    stated = validated(ProblemRequest, request).stated()
    return found({"problem": as_dict(stated), "toml": as_text(stated, ".toml")})


def solve(request: Mapping[str, Any], task: Task) -> Answer:
    """Solve a problem; the answer is the result, as files have it."""
    asked = validated(SolveRequest, request)
    task.limit(asked.time_limit)
    control = task.control(time_limit=asked.time_limit, rng=asked.seed, log_steps=asked.steps)
    for name in {"problem", "control", "method"} & asked.options.keys():
        raise MethodError(f"options: no method has an option {name!r}")
    stated = asked.stated()
    size = size_of_solution(stated)
    refuse_larger(size, SURE)
    with control.reserving(min(size / PER_SECOND, asked.time_limit / 2)):
        result = solve_controlled(stated, control, method=asked.method, **asked.options)
    task.go_on()
    if result.schedule is not None:
        refuse_larger(size_of_plan(result.schedule))
    answer = result_as_dict(result)
    if asked.view and result.schedule is not None:
        answer["view"] = _view([result], task, diagrams=asked.diagrams)
    return found(answer)


def compare(request: Mapping[str, Any], task: Task) -> Answer:
    """Solve a problem by several methods."""
    asked = validated(CompareRequest, request)
    stated = asked.stated()
    names = asked.methods
    if names is None:
        names = [verdict.name for verdict in methods_for(stated) if verdict.applies]
    limit = min(asked.time_limit, LONGEST / max(1, len(names)))
    task.limit(limit * len(names))
    ((_, comparison),) = comparing(
        {"": stated}, names, limit, asked.seed, lambda line: task.progress(doing=line), task.control
    )
    answer = comparison.as_dict()
    if asked.view:
        plans = [comparison.results[row.method] for row in comparison.rows if row.makespan]
        answer["view"] = _view(plans[:COMPARED], task) if plans else None
    return found(answer)


def check(request: Mapping[str, Any], task: Task) -> Answer:
    """Put a schedule before the referee."""
    asked = validated(CheckRequest, request)
    one_of(result=asked.result, schedule=asked.schedule)
    plan: Result | Schedule
    if asked.result is not None:
        plan = result_from(asked.result)
        stated = plan.problem
        report = checked(plan)
    else:
        if asked.problem is None:
            raise ProblemError("problem: is missing; a schedule is one of a problem")
        stated = ProblemRequest(problem=asked.problem).stated()
        plan = schedule_of(asked.schedule, "schedule", stated)
        report = checked(stated, plan)
    answer = report.as_dict()
    if asked.view:
        try:
            answer["view"] = _view([plan], task, stated)
        except MakespanError:  # what the referee says is the answer, whether it can be drawn or not
            answer["view"] = None
    return found(answer)


def sensitivity(request: Mapping[str, Any], task: Task) -> Answer:
    """Say what a plan gains or loses by other costs, and by one machine more."""
    asked = validated(SensitivityRequest, request)
    task.limit(asked.time_limit)
    plan = result_from(asked.result)
    if plan.schedule is not None and not (report := checked(plan)).ok:
        raise ProblemError(f"result: holds a plan that its problem does not allow: {report}")
    known = sensitivity_of(plan, machines=asked.machines, time_limit=asked.time_limit)
    return found(known.as_dict())


def methods(request: Mapping[str, Any], task: Task) -> Answer:
    """List the methods of a problem, of a kind, or of all kinds."""
    asked = validated(MethodsRequest, request)
    if asked.problem is not None:
        stated = ProblemRequest(problem=asked.problem).stated()
        return found([_verdict(verdict) for verdict in methods_for(stated)])
    if asked.kind is not None:
        return found([_verdict(verdict) for verdict in methods_for(asked.kind)])
    return found({kind: [_verdict(verdict) for verdict in methods_for(kind)] for kind in KINDS})


def save(request: Mapping[str, Any], task: Task) -> Answer:
    """Write a result or a problem in another format."""
    asked = validated(SaveRequest, request)
    one_of(result=asked.result, problem=asked.problem)
    thing: Result | Problem
    if asked.result is not None:
        thing = result_from(asked.result)
        name = "problem" if asked.format == "toml" else "plan"
        thing = thing.problem if asked.format == "toml" else thing
    else:
        thing, name = ProblemRequest(problem=asked.problem).stated(), "problem"
    suffix, media = FORMATS[asked.format]
    if suffix == ".py":
        content: str | bytes = snippet(thing)
    else:
        content = file_of(thing, name + suffix, view=asked.picture, by=asked.by, fold=asked.fold)
    data = content.encode() if isinstance(content, str) else content
    return Answer(200, data, media, name + suffix)


def schema(request: Mapping[str, Any], task: Task) -> Answer:
    """Return the JSON Schema of a kind's files."""
    return found(schema_of_kind(request.get("kind")))


def openapi(request: Mapping[str, Any], task: Task) -> Answer:
    """Return what this service answers, as OpenAPI says it."""
    return found(document())


def result_from(data: Mapping[str, Any]) -> Result:
    """Return the result that a request holds, with what an answer had beside it left out."""
    own = {name: value for name, value in data.items() if name != "view"}
    return result_of(own, lambda stated: bounded(problem_of(stated)))


def exercise(request: Mapping[str, Any], task: Task) -> Answer:
    """Read an exercise."""
    return found(read_exercise(validated(ExerciseRequest, request).toml))


def _verdict(verdict: Applicability) -> dict[str, Any]:
    method = verdict.method
    return {
        "name": verdict.name,
        "summary": method.summary,
        "applies": verdict.applies,
        "reasons": list(verdict.reasons),
        "options": {name: str(default) for name, default in method.options.items()},
        "exact": method.proves is not None,
        "published": method.published,
        "complexity": method.complexity,
        "source": method.source,
    }


def _view(
    plans: list[Any], task: Task, stated: Problem | None = None, *, diagrams: bool = True
) -> dict[str, Any]:
    """Return what the script of a page draws plans from, on one axis of time."""
    from makespan.drawing.page.html import page_data
    from makespan.flow.plot import chart

    charts = []
    for plan in plans:
        task.go_on()
        charts.append(chart(plan, stated, diagrams=diagrams))
    task.go_on()
    return page_data(charts)


FORMATS = {
    "toml": (".toml", "application/toml"),
    "json": (".json", "application/json"),
    "csv": (".csv", "text/csv; charset=utf-8"),
    "svg": (".svg", "image/svg+xml"),
    "png": (".png", "image/png"),
    "pdf": (".pdf", "application/pdf"),
    "html": (".html", "text/html; charset=utf-8"),
    "trace": (".trace.json", "application/json"),
    "python": (".py", "text/x-python; charset=utf-8"),
}
"""What is saved, its suffix and its media type."""
ANSWERS: dict[str, Callable[[Mapping[str, Any], Task], Answer]] = {
    "problem": problem,
    "solve": solve,
    "compare": compare,
    "check": check,
    "sensitivity": sensitivity,
    "methods": methods,
    "exercise": exercise,
    "save": save,
    "schema": schema,
    "openapi": openapi,
}
