"""The kinds of problems that there are: one entry each."""

from __future__ import annotations

from makespan.core.errors import ProblemError
from makespan.core.inputs.mistakes import quoted
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.kind import Kind
from makespan.core.problem import Problem

KINDS = {
    kind.name: kind
    for kind in (
        Kind("divisible"),
        Kind("independent"),
        Kind("partition"),
        Kind("reduction"),
        Kind("taskgraph"),
    )
}


def kind_named(name: object) -> Kind:
    """Return the kind called ``name``.

    Raises
    ------
    ProblemError
        If there is none.
    """
    if not isinstance(name, str) or name not in KINDS:
        hint = did_you_mean(name, KINDS)
        raise ProblemError(f"kind: {quoted(name)} is not a kind of problem{hint}")
    return KINDS[name]


def kind_of(problem: Problem) -> Kind:
    """Return the kind of ``problem``.

    Raises
    ------
    ProblemError
        If it is not a problem at all.
    """
    if not hasattr(type(problem), "kind"):
        raise ProblemError(f"{quoted(problem)} is not a problem; makespan.read_problem reads one")
    return kind_named(problem.kind)
