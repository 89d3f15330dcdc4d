"""Rates of a plan on a star: dual values of the programme that sizes the chunks of its sequence.

Every number of the problem stands linearly in the rows and limits of that programme; so a step of
one number, with everything else in place, gives the change of the optimum by the dual values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from makespan.backends.highs import Answer, Verdict
from makespan.core.control import Control
from makespan.core.costs import Affine
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Activity, Schedule
from makespan.core.sensitivity import Rate, Varied
from makespan.divisible.model.plan import computed
from makespan.divisible.problem import MASTER, DivisibleLoad
from makespan.divisible.returns.decisions import Terms
from makespan.divisible.returns.receptions import Behind, Sequence as Transfers
from makespan.divisible.returns.transfer_programme import TransferProgramme
from makespan.divisible.timing import matched

STEP = 2.0**-20
"""Of a number of the programme, which are near 1: no limit lies as near to another."""
AT_ALL = 1e-30
"""A release time that delays nothing, but has its row in the programme."""
SAME = 1e-6
"""Relative: amounts as near as that to the best are the best."""
COSTS = {
    "send.fixed": "send_fixed",
    "send.per_unit": "send",
    "compute.fixed": "compute_fixed",
    "compute.per_unit": "compute",
    "return.fixed": "back_fixed",
    "return.per_unit": "back",
    "memory": "memory",
    "release": "release",
    "deadline": "deadline",
    "price.fixed": "price_fixed",
    "price.per_unit": "price",
}
"""The terms of the costs of a worker, by the names that these have in files."""


def varied_star(problem: DivisibleLoad, schedule: Schedule, machines: Sequence[str]) -> Varied:
    """Return the rates of a plan on a star.

    Complexity: a linear programme, and O(chunks) for each number.
    """
    problem, schedule = matched(problem, schedule)
    if getattr(problem.star.master, "uplink", None) is not None:
        return Varied(rates=(), notes=("costs: the shares of an uplink have no dual values",))
    plan = _Read.of(problem, schedule)
    base = Terms.of(problem)
    base = replace(base, whole=False, release=np.where(base.release > 0, base.release, AT_ALL))
    fixed = plan.amount / base.unit if problem.integral else None
    built, answer = plan.solved(base, fixed)
    if answer.verdict is not Verdict.OPTIMAL:
        return Varied(rates=(), notes=("costs: the programme of the plan has no optimum",))
    out = base.second if problem.load is not None else -base.unit
    notes: list[str] = []
    value = schedule.makespan if problem.load is not None else float(computed(schedule).sum())
    if abs(answer.value * out - value) > SAME * value:
        best = answer.value * out
        notes.append(f"costs: of the best amounts in the order of the plan, which give {best:.8g}")
    if problem.integral:
        notes.append("costs: the amounts, whole units, stay as they are")

    def rate(terms: Terms) -> float:
        changed = plan.built(terms, fixed).programme
        return built.programme.change(answer, changed) / STEP * out

    rates = []
    for machine, cost, number, scale, terms in _steps(problem, base, machines, plan):
        change = rate(terms) * scale if machine in plan.used or not machine else 0.0
        rates.append(Rate(machine=machine, cost=cost, value=number, change=change + 0.0))
    return Varied(rates=tuple(rates), notes=tuple(notes))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Read:
    """What a schedule decides: its transfers, when chunks are computed, and who computes."""

    transfers: Transfers
    behind: Behind
    amount: Floats
    own: bool
    used: frozenset[str]

    @classmethod
    def of(cls, problem: DivisibleLoad, schedule: Schedule) -> _Read:
        """Read off what a schedule with times decides."""
        sends, backs = schedule.rows_of(Activity.SEND), schedule.rows_of(Activity.RETURN)
        rows = np.concatenate([sends, backs])
        rows = rows[np.lexsort((schedule.kind[rows], schedule.end[rows], schedule.start[rows]))]
        is_send = schedule.kind[rows] == Activity.SEND
        send = rows[is_send]
        chunk_of = {item: chunk for chunk, item in enumerate(schedule.item[send].tolist())}
        returns = problem.star.returns
        code = [
            chunk_of[item] if sent else -1 - chunk_of[item]
            for item, sent, machine in zip(
                schedule.item[rows].tolist(), is_send, schedule.machine[rows] - 1, strict=True
            )
            if sent or returns[machine]
        ]
        computing = schedule.rows_of(Activity.COMPUTE)
        worker = schedule.peer[send] - 1
        sequence = Transfers(
            worker=tuple(worker.tolist()),
            transfers=tuple(code),
            place=_places(problem, schedule.end[send]),
        )
        begun = np.zeros(len(send))
        for row in computing[schedule.machine[computing] != MASTER].tolist():
            begun[chunk_of[int(schedule.item[row])]] = schedule.start[row]
        took_part = {MASTER} if (schedule.machine[computing] == MASTER).any() else set()
        names = problem.machines
        return cls(
            transfers=sequence,
            behind=() if problem.front_end else _behind(worker, schedule.end[send], begun),
            amount=schedule.amount[send],
            own=bool(took_part),
            used=frozenset(names[index] for index in took_part | set((worker + 1).tolist())),
        )

    def built(self, terms: Terms, fixed: Floats | None) -> TransferProgramme:
        """Return the programme of the sequence; of ``fixed`` amounts only the times are open."""
        found = TransferProgramme(terms, self.transfers, own=self.own, behind=self.behind)
        if fixed is not None:
            found.programme.rows(found.amount[:, np.newaxis], 1.0, low=fixed, high=fixed)
        return found

    def solved(self, terms: Terms, fixed: Floats | None) -> tuple[TransferProgramme, Answer]:
        found = self.built(terms, fixed)
        return found, found.programme.solve(Control())


def _behind(worker: Integers, received: Floats, begun: Floats) -> Behind:
    """Return for each chunk the last one of its worker that had come when it was begun."""
    chunk = np.arange(len(worker))
    return tuple(
        int(chunk[(worker == worker[each]) & ((received <= begun[each]) | (chunk == each))][-1])
        for each in chunk
    )


def _places(problem: DivisibleLoad, end: Floats) -> tuple[int, ...]:
    """Return the place of each send where only so many can be under way at a time."""
    limit = Terms.of(problem).at_a_time
    if not limit:
        return ()
    free = np.zeros(limit)
    found = []
    for done in end:
        place = int(np.argmin(free))
        free[place] = done
        found.append(place)
    return tuple(found)


def _steps(
    problem: DivisibleLoad, base: Terms, machines: Sequence[str], plan: _Read
) -> Iterator[tuple[str, str, float, float, Terms]]:
    """Yield machine, cost, its value, what a step of 1 in the programme is worth, and the step."""
    second, unit = 1.0 / base.second, 1.0 / base.unit
    spent = problem.budget or 1.0
    rate = second * base.unit
    scales = dict.fromkeys(COSTS, second)
    scales |= dict.fromkeys(("send.per_unit", "compute.per_unit", "return.per_unit"), rate)
    scales |= {"memory": unit, "price.fixed": 1.0 / spent, "price.per_unit": base.unit / spent}

    def whole(cost: str, value: float, scale: float, **step: Any) -> Any:
        return "", cost, value, scale, replace(base, **step)

    if problem.load is None:
        yield whole("deadline", base.end * base.second, second, end=base.end + STEP)
    elif problem.loads is None and not problem.integral:
        assert base.load is not None
        yield whole("load", problem.load, unit, load=base.load + STEP)
    if problem.budget is not None:
        yield whole("budget", problem.budget, 1.0 / spent, budget=base.budget + STEP)
    position = {name: index for index, name in enumerate(problem.machines)}
    for name in machines:
        index = position[name]
        if index == MASTER:
            yield from _own_steps(name, base, second, rate, problem)
            continue
        for cost, term in COSTS.items():
            column: Floats = getattr(base, term)
            if _is_there(problem, base, cost, index - 1):
                stepped = column.copy()
                stepped[index - 1] += STEP
                value = float(getattr(problem.star, _column(cost))[index - 1])
                one: dict[str, Any] = {term: stepped}
                yield name, cost, value, scales[cost], replace(base, **one)


def _own_steps(
    name: str, base: Terms, second: float, rate: float, problem: DivisibleLoad
) -> Iterator[tuple[str, str, float, float, Terms]]:
    """Yield the costs of a master that computes."""
    own, cost = base.own, problem.star.master_cost
    if own is not None:
        fixed = replace(base, own=Affine(own.fixed + STEP, own.per_unit))
        yield name, "compute.fixed", cost.fixed, second, fixed
        per_unit = replace(base, own=Affine(own.fixed, own.per_unit + STEP))
        yield name, "compute.per_unit", cost.per_unit, rate, per_unit


def _is_there(problem: DivisibleLoad, base: Terms, cost: str, worker: int) -> bool:
    """Whether a cost is one of the problem: limits where there are any, returns where there are."""
    if cost.startswith("return"):
        return bool(base.returns[worker])
    if cost.startswith("price"):
        return problem.budget is not None
    if cost in ("memory", "deadline"):
        return bool(np.isfinite(getattr(base, cost)[worker]))
    return True


def _column(cost: str) -> str:
    """Return the column of a star that holds a cost.

    >>> _column("send.per_unit"), _column("release")
    ('send_per_unit', 'release')
    """
    return cost.replace(".", "_")
