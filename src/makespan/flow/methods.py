"""problem or kind → the methods that there are."""

from __future__ import annotations

from makespan.core.inputs.suggest import suggesting
from makespan.core.problem import Problem
from makespan.core.registry import Applicability, Methods, applicability, methods_of
from makespan.flow.kinds import kind_named, kind_of


@suggesting
def methods(problem_or_kind: Problem | str) -> Methods:
    """Return every method of a kind, and for a problem, why it does not apply.

    They are printed as a table.

    Raises
    ------
    ProblemError
        If there is no such kind.

    >>> [verdict.name for verdict in methods("independent") if verdict.method.published]
    ['list-scheduling']
    """
    if isinstance(problem_or_kind, str):
        kind = kind_named(problem_or_kind)
        return Methods(Applicability(method=method) for method in methods_of(kind.name))
    kind = kind_of(problem_or_kind)
    return Methods(applicability(method, problem_or_kind) for method in methods_of(kind.name))
