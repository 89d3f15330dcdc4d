"""Result → what it gains or loses by other costs, and by one machine more."""

from __future__ import annotations

from collections.abc import Iterable

from makespan.core.control import Control
from makespan.core.errors import InputError
from makespan.core.inputs.suggest import did_you_mean, suggesting
from makespan.core.kind import HasVariants, OffersCopies
from makespan.core.sensitivity import Addition, Copied, Rate, Sensitivity
from makespan.core.solution import Status
from makespan.flow.kinds import kind_of
from makespan.flow.result import Result
from makespan.flow.solve import checked_limit, solve_controlled

SECONDS = 10.0
MOST = 100  # machines that are asked about where none are named: more than anyone reads


@suggesting
def sensitivity(
    result: Result, *, machines: Iterable[str] | None = None, time_limit: float | None = None
) -> Sensitivity:
    """Say by how much the makespan changes per unit of each cost, and with one machine more.

    Parameters
    ----------
    result
        A result with a plan.
    machines
        The machines whose costs change, and that there is a copy of in turn; None: all, but at
        most 100, and of those that are alike one copy.
    time_limit
        Seconds for the problems with one machine more; None: 10 s.

    Returns
    -------
    Sensitivity
        ``rates`` of divisible loads are the dual values of the programme that sizes the chunks in
        the order of the plan: what the best amounts in that order gain or lose, to first order, as
        a number rises. ``notes`` name those of which a fall has another rate.
        ``additions`` are problems solved anew. Where a deadline stands in place of the load, the
        load by then changes, not the makespan.

    Raises
    ------
    InputError
        If there is no plan, a name is not a machine's, or the kind answers neither.

    Source: the envelope theorem of Milgrom and Segal 2002, theorem 5.

    >>> from makespan import DivisibleLoad, Star, Worker, solve
    >>> star = Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
    >>> known = sensitivity(solve(DivisibleLoad(load=10.0, platform=star)))
    >>> round(known.rate("send.per_unit", "P1"), 6), round(known.rate("load"), 6)
    (7.0, 2.8)
    """
    limit = checked_limit(time_limit)
    kind = kind_of(result.problem)
    if getattr(result.problem, "objective", None) == "pareto":
        raise InputError("sensitivity: a front has many values; ask with one objective")
    room = kind.what_if
    if room is None:
        raise InputError(f"sensitivity: {kind.name} problems have no answer to what if")
    if result.schedule is None:
        raise InputError(f"sensitivity: the result is {result.status}, without a plan")
    asked = _asked(result, machines)
    control = Control(time_limit=SECONDS if limit is None else limit)
    rates: tuple[Rate, ...] = ()
    notes: tuple[str, ...] = ()
    additions: list[Addition] = []
    everyone = len(result.problem.machines)
    if machines is None and everyone > MOST:
        notes += (f"only of the first {MOST} of {everyone:,} machines; others can be named",)
    if isinstance(room, HasVariants):
        varied = room.varied(result.problem, result.schedule, asked)
        rates, notes = varied.rates, notes + varied.notes
    else:
        notes += ("costs: only what a machine more is worth is known of this kind",)
    if isinstance(room, OffersCopies):
        copies, more = room.copies(result.problem, asked, named=machines is not None)
        notes += more
        additions = [
            _with_one_more(result, copy, control, len(copies) - done)
            for done, copy in enumerate(copies)
        ]
    if result.status is not Status.OPTIMAL:
        notes += ("the plan is not proved optimal: a better one has other rates",)
    name, value = _objective(result)
    return Sensitivity(
        objective=name, value=value, rates=rates, additions=tuple(additions), notes=notes
    )


def _asked(result: Result, machines: Iterable[str] | None) -> tuple[str, ...]:
    known = result.problem.machines
    if machines is None:
        return tuple(known[:MOST])
    asked = (machines,) if isinstance(machines, str) else tuple(machines)
    for index, name in enumerate(asked):
        if name not in known:
            hint = did_you_mean(name, list(known[:200]))
            raise InputError(f"machines[{index}]: {name!r} is not a machine of the problem{hint}")
    return asked


def _objective(result: Result) -> tuple[str, float]:
    if result.objective is not None:
        return result.objective.name, result.objective.value
    assert result.makespan is not None
    return "makespan", result.makespan


def _with_one_more(result: Result, copy: Copied, control: Control, left: int) -> Addition:
    """Solve a problem with one machine more, in its share of the time that is left."""
    seconds = None if control.remaining is None else max(0.0, control.remaining) / left
    found = solve_controlled(copy.problem, Control(time_limit=seconds))
    maximise = result.objective is not None and result.objective.maximise
    before = _objective(result)[1]
    value = None if found.schedule is None else _objective(found)[1]
    if copy.optional:  # the plan without it is one of its plans
        value = before if value is None else (max if maximise else min)(value, before)
    bound = found.lower_bound if found.objective is None else found.objective.bound
    change = None if value is None else value - before
    return Addition(machine=copy.machine, value=value, bound=bound, change=change)
