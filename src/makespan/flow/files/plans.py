"""Plans in a format of others, MSCCL: results there and back."""

from __future__ import annotations

from typing import Any

from makespan.core.errors import FileError, headed
from makespan.core.problem import Problem
from makespan.core.report import InvalidSchedule
from makespan.flow.kinds import kind_of
from makespan.flow.result import Result
from makespan.flow.serialize import RESULT_FORMAT, schedule_as_dict

KIND = "reduction"
ASSUMED = (
    "the file says no times: every transfer is taken to last 1 second, and all else no time; "
    "with --problem FILE costs are those of a problem"
)


def document_in(text: str, name: str, problem: Problem | None) -> dict[str, Any]:
    """Return the plan in the text of a file called ``name`` as it stands in a result's file."""
    from makespan.reduction.formats import msccl
    from makespan.reduction.problem import Reduction

    if problem is not None and not isinstance(problem, Reduction):
        raise FileError(f"{name}: is a plan of a reduction; the problem is of kind {problem.kind}")
    with headed(name):
        stated, schedule = msccl.read(text, problem)
    return {
        "format": RESULT_FORMAT,
        "problem": kind_of(stated).file.write(stated),
        "schedule": schedule_as_dict(schedule, columns=True),
        "notes": [ASSUMED] if problem is None else [],
    }


def is_writable(result: Result) -> bool:
    """Whether a result may be written in the format."""
    return result.schedule is not None and result.problem.kind == KIND


def text_of(result: Result) -> str:
    """Return the plan of a result as the text of a file.

    Raises
    ------
    InvalidSchedule
        If the referee refuses the plan.
    ProblemError
        With everything that the format can't say.
    """
    from makespan.flow.check import check
    from makespan.reduction.formats import msccl
    from makespan.reduction.problem import Reduction

    assert isinstance(result.problem, Reduction)
    assert result.schedule is not None
    report = check(result.problem, result.schedule)
    if not report.ok:
        raise InvalidSchedule(f"{report.violations[0].message}; check says more")
    return msccl.write(result.problem, result.schedule)
