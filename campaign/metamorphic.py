"""Pairs of problems whose answers must agree, and one problem solved in other circumstances."""

from __future__ import annotations

import copy
import json
import os
import random
import subprocess
import sys
import threading
from functools import cache
from multiprocessing.util import Finalize
from typing import Any

from campaign import corpus, oracles
from campaign.part import Defect, Part, Trial
from campaign.relations import RELATIONS, Relation
from campaign.version import ROOT
from makespan import InputError, MethodError, Result, methods, solve
from makespan.core.problem import Problem
from makespan.flow.files.files import as_dict, problem_of
from makespan.flow.kinds import KINDS, generate
from makespan.flow.serialize import as_json, result_as_dict

CLOSE = 1e-6
LIMIT = 0.5
SEARCH_IN_PARALLEL = ("cp-sat", "cp-sat-transfers", "cumulative", "exact", "reduce-then-broadcast")
"""Methods whose threads race for the best plan: its value is always the same, the plan not."""
RANK = {"optimal": 0, "infeasible": 0, "feasible": 1, "limit": 2}


def attempt(trial: Trial) -> None:
    """Compare the answers to one pair."""
    rng = trial.random("make")
    document = _document(rng)
    if document is None:
        return
    trial.holds("input.json", as_json(document).encode())
    pick = rng.random()
    try:
        if pick < 0.7:
            _related(trial, document, rng.choice(RELATIONS), rng)
        elif pick < 0.8:
            _looser(trial, problem_of(document))
        else:
            _repeated(trial, document, rng)
    except MethodError:
        trial.count("no method applies")


def _document(rng: random.Random) -> dict[str, Any] | None:
    """Return the document of a small problem."""
    pick = rng.random()
    if pick < 0.6 and oracles.oracles():
        return json.loads(as_json(as_dict(oracles.random_problem(rng)[1])))  # type: ignore[no-any-return]
    if pick < 0.8:
        document = copy.deepcopy(rng.choice(corpus.sound()))
        return document if "kind" in document and not corpus.names_a_file(document) else None
    kind = rng.choice(list(KINDS))
    problem = generate(kind, seed=rng.getrandbits(30), options=rng.choice(corpus.SMALL[kind]))
    return json.loads(as_json(as_dict(problem)))  # type: ignore[no-any-return]


def _related(
    trial: Trial, document: dict[str, Any], relation: Relation, rng: random.Random
) -> None:
    other = copy.deepcopy(document)
    factor = relation.change(other, rng)
    if factor is None:
        return
    try:
        second = solve(problem_of(other), time_limit=LIMIT)
    except InputError as error:
        if "magnitude" in str(error):  # scaled out of what is allowed
            return
        raise Defect(f"{relation.name}: the changed problem is refused: {error}") from error
    first = solve(problem_of(document), time_limit=LIMIT)
    _agree(relation, first, second, factor)
    trial.count("comparisons")
    trial.count(relation.name)


def _agree(relation: Relation, first: Result, second: Result, factor: float) -> None:
    """Hold what is proved of one problem against the plan of the other."""
    name = relation.name
    if "infeasible" in (first.status, second.status):
        wrong = second.schedule if first.status == "infeasible" else first.schedule
        if wrong is not None and (relation.exact or first.schedule is not None):
            raise Defect(f"{name}: {first.status} becomes {second.status}")
        return
    if first.objective is not None or first.makespan is None or second.makespan is None:
        return
    low, high = first.lower_bound, second.lower_bound
    room = CLOSE * second.makespan
    if relation.exact and low is not None and low * factor > second.makespan + room:
        raise Defect(f"{name}: the bound {low!r} x {factor} is above {second.makespan!r}")
    if high is not None and high > first.makespan * factor + room:
        raise Defect(f"{name}: the bound {high!r} is above {first.makespan!r} x {factor}")


def _looser(trial: Trial, problem: Problem) -> None:
    """Give more time: the status must not be worse."""
    tight, loose = (solve(problem, time_limit=limit) for limit in (0.01, LIMIT))
    if RANK[loose.status] > RANK[tight.status]:
        raise Defect(f"a looser limit: {tight.status} becomes {loose.status}")
    trial.count("comparisons")
    trial.count("looser limit")


def _repeated(trial: Trial, document: dict[str, Any], rng: random.Random) -> None:
    """Solve again in other threads, and in a process with another hash seed."""
    problem = problem_of(document)
    names = [verdict.name for verdict in methods(problem) if verdict.applies]
    method = rng.choice([*names, "auto"])
    first, quick = answered(problem, method)
    others: list[tuple[str, bool]] = []
    if rng.random() < 0.5:
        threads = [
            threading.Thread(target=lambda: others.append(answered(problem_of(document), method)))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        where = "in another thread"
    else:
        others = [_elsewhere(document, method)]
        where = "in another process"
    for other, also_quick in others:
        if quick and also_quick and other != first:
            raise Defect(f"{method} gives another plan {where}")
    trial.count("comparisons")
    trial.count(where)


def answered(problem: Problem, method: str) -> tuple[str, bool]:
    """Return the plan as text, and whether no limit had a part in it."""
    try:
        result = solve(problem, method=method, time_limit=4 * LIMIT)
    except MethodError as error:
        return str(error), True
    data = result_as_dict(result)
    kept = ["status", "makespan", "lower_bound"]
    if result.method not in SEARCH_IN_PARALLEL:
        kept.append("schedule")
    text = as_json({key: data[key] for key in kept})
    return text, result.runtime < LIMIT


@cache
def _echo() -> subprocess.Popen[str]:
    """Return a process with a hash seed of its own, which solves what it is sent."""
    seed = str(random.SystemRandom().randrange(2**32))
    process = subprocess.Popen(
        [sys.executable, "-m", "campaign.echo"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    Finalize(None, process.kill, exitpriority=10)  # a worker runs no handlers of atexit
    return process


def _elsewhere(document: dict[str, Any], method: str) -> tuple[str, bool]:
    process = _echo()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(as_json({"problem": document, "method": method}) + "\n")
    process.stdin.flush()
    text, quick = json.loads(process.stdout.readline())
    return text, quick


PART = Part(
    name="metamorphic",
    promise="What is proved of a problem holds of the same problem scaled by a power of two, "
    "shuffled, renamed, with one more machine, with more time; a plan is the same in every thread "
    "and process.",
    attempt=attempt,
    goals={"comparisons": 10_000},
    share=0.8,
    patience=60.0,
    prepare=corpus.sound,
)
