"""Held boards: public problems that stay open, each with the best plan and the best bound known."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from makespan.core.errors import FileError, InputError, ProblemError
from makespan.core.inputs.files import PathLike, read_text
from makespan.core.inputs.rules import quoted
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.problem import Problem
from makespan.core.report import InvalidSchedule
from makespan.core.solution import Status, relative_gap
from makespan.flow.check import check
from makespan.flow.files.files import as_dict, read_problem, read_result, save
from makespan.flow.files.results import schedule_of
from makespan.flow.result import Result
from makespan.flow.serialize import as_json

PROBLEM, PLAN, BOUND = "problem.json", "plan.json", "bound.json"
CLOSE = 1e-9  # as a share: a plan is better by more than that


@dataclass(frozen=True, kw_only=True)
class Held:
    """A board: a folder with a problem, its best plan, and its best bound with the proof.

    A ``bound`` has a ``value``; its ``proof`` is ``"bound"``, where a theorem's name and source say
    what :func:`makespan.lower_bound` works out, or a ``"solve"`` that finds it again, with its
    ``method``, ``time_limit`` and ``seed``. ``about`` says what the problem is, and its source.
    """

    name: str
    folder: Path
    problem: Problem
    plan: Result
    bound: dict[str, Any]

    @property
    def gap(self) -> float:
        """How far the plan may be above the best one, as a share of it."""
        assert self.plan.makespan is not None
        return relative_gap(self.plan.makespan, self.bound["value"])


def held(folder: PathLike) -> list[Held]:
    """Return the boards in a folder, by their names. Raises FileError if one is not whole."""
    found = [_board(each) for each in sorted(Path(folder).glob("*/")) if (each / PROBLEM).exists()]
    if not found:
        raise FileError(f"{folder}: there is no board, a folder with {PROBLEM}, in it")
    return found


def _board(folder: Path) -> Held:
    try:
        bound = json.loads(read_text(folder / BOUND))
        value, about, proof = float(bound["value"]), bound["about"], bound["proof"]
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{folder / BOUND}: is not that of a board: {error!r}") from None
    problem, plan = read_problem(folder / PROBLEM), read_result(folder / PLAN)
    bound |= {"value": value, "about": about, "proof": proof}
    return Held(name=folder.name, folder=folder, problem=problem, plan=plan, bound=bound)


def submit(path: PathLike, folder: PathLike, *, to: str | None = None, by: str = "") -> Held:
    """Put a plan in the place of a board's, if the referee accepts it and it ends earlier.

    Parameters
    ----------
    path
        A result, or a schedule alone, in a ``.json`` file. Only its activities count.
    folder
        Where the boards are.
    to
        Which board; without, that whose problem the result has.
    by
        Who found it.

    Raises
    ------
    FileError
        If there is no such board, or no plan in the file.
    InvalidSchedule
        If the referee refuses the plan.
    InputError
        If it does not end earlier, or ends before the bound.
    """
    try:
        data = json.loads(read_text(path))
    except ValueError as error:
        raise FileError(f"{path}: is not JSON: {error}") from None
    board = _meant(data, held(folder), to, path)
    rows = data.get("schedule", data) if isinstance(data, dict) else data
    schedule = schedule_of(
        {name: rows.get(name) for name in ("machines", "activities")} if rows else rows,
        "schedule",
        board.problem,
    )
    report = check(board.problem, schedule)
    if not report.ok:
        raise InvalidSchedule(f"{board.name}: the referee refuses this plan: {report}", report)
    before, now, bound = board.plan.makespan or 0.0, schedule.makespan, board.bound["value"]
    if now >= before * (1 - CLOSE):
        raise InputError(f"{board.name}: ends at {now:.10g}; the held plan ends at {before:.10g}")
    if now < bound * (1 - CLOSE):
        raise InputError(
            f"{board.name}: ends at {now:.10g}, before the bound {bound:.10g}: one of both is "
            "wrong; please report it with the plan"
        )
    known = {"by": by, "at": f"{datetime.now(UTC):%Y-%m-%d}"}
    met = now <= bound * (1 + CLOSE)
    plan = replace(
        board.plan, schedule=schedule, makespan=now, lower_bound=bound, method="submitted",
        status=Status.OPTIMAL if met else Status.FEASIBLE, gap=relative_gap(now, bound),
        options={}, seed=None, runtime=0.0, notes=(), details=known, log=(), steps=(),
    )  # fmt: skip
    save(plan, board.folder / PLAN)
    return replace(board, plan=plan)


def _meant(data: Any, boards: list[Held], to: str | None, path: PathLike) -> Held:
    """Return the board that is named, or whose problem stands in the file."""
    names = {each.name: each for each in boards}
    if to is not None:
        if to not in names:
            raise InputError(f"--to: there is no board {quoted(to)}{did_you_mean(to, names)}")
        return names[to]
    stated = data.get("problem") if isinstance(data, dict) else None
    if not isinstance(stated, dict):
        raise FileError(f"{path}: has no problem; --to says which board a schedule alone is for")
    same = as_json(as_dict(read_result({**data, "status": "limit", "schedule": None}).problem))
    for each in boards:
        if as_json(as_dict(each.problem)) == same:
            return each
    raise ProblemError(f"problem: is that of no board; there are {', '.join(names)}")
