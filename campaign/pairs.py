"""A problem and a looser one: no claim of the looser is beaten by a plan of the tighter."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

from campaign import cuts
from campaign.agreeing import agree, results_of
from campaign.loosening import LOOSER
from campaign.oracles import module, oracles
from campaign.part import Defect, Part, Trial
from campaign.relations import Document
from makespan import InputError, Result, methods
from makespan.core.problem import Problem
from makespan.flow.files.files import as_dict, problem_of
from makespan.flow.kinds import generate
from makespan.flow.serialize import as_json

SMALL = 0.6  # of the problems are as small as those that are enumerated
STEPS = 3
"""Changes that a problem is loosened by, at most."""


def attempt(trial: Trial) -> None:
    """Loosen one problem, and solve both by methods and until cuts of their own."""
    rng = trial.random("make")
    if trial.given is not None:
        documents = json.loads(trial.given[1])
        tight, loose, names = documents["tight"], documents["loose"], documents["changes"]
    else:
        tight = _document(rng)
        loose, names = _loosened(tight, rng)
    if not names:
        trial.count("nothing to loosen")
        return
    pair = {"tight": tight, "loose": loose, "changes": names}
    trial.holds("input.json", as_json(pair).encode())
    try:
        problems = problem_of(tight), problem_of(loose)
    except InputError as error:
        raise Defect(f"{names}: the looser problem is refused: {error}") from error
    solves = trial.random("solves")
    hard, easy = (_results(trial, problem, solves) for problem in problems)
    try:
        agree(easy, hard)
    except Defect as defect:
        raise Defect(f"{', '.join(names)}: {defect}") from defect
    trial.count("pairs")
    for name in names:
        trial.count(name)


def _results(trial: Trial, problem: Problem, rng: random.Random) -> dict[str, Result]:
    """Return what ``auto`` and a method that applies make of a problem."""
    names = [verdict.name for verdict in methods(problem) if verdict.applies]
    return results_of(
        trial, problem, cuts.drawn(rng), ["auto", *rng.sample(names, min(1, len(names)))]
    )


def _loosened(document: Document, rng: random.Random) -> tuple[Document, list[str]]:
    """Return a looser document, and the names of what was changed."""
    loose = copy.deepcopy(document)
    names: list[str] = []
    wanted = rng.randint(1, STEPS)
    for relation in rng.sample(LOOSER, len(LOOSER)):
        if len(names) < wanted and relation.change(loose, rng) is not None:
            names.append(relation.name)
    return loose, names


def _document(rng: random.Random) -> Document:
    """Return the document of a problem, small or not so small."""
    pick = rng.random()
    if pick < 0.15:
        problem: Problem = module("divisible_priced").priced_problem(rng)
    elif pick < SMALL:
        problem = rng.choice(oracles()).random_problem(rng)
    else:
        kind = rng.choice(sorted(LARGER))
        problem = generate(kind, seed=rng.getrandbits(30), options=rng.choice(LARGER[kind])(rng))
    return _as_document(problem)


def _as_document(problem: Problem) -> Document:
    document: Document = json.loads(as_json(as_dict(problem)))
    return document


LARGER: dict[str, tuple[Any, ...]] = {
    "divisible": (
        lambda rng: {"workers": rng.randint(2, 8), "latency": 0.5},
        lambda rng: {"workers": rng.randint(2, 8), "topology": "tree", "latency": 0.5},
        lambda rng: {"workers": rng.randint(2, 6), "master_computes": True, "latency": 0.5},
    ),
    "independent": (
        lambda rng: {"tasks": rng.randint(4, 30), "machines": rng.randint(2, 5)},
        lambda rng: {"tasks": rng.randint(4, 20), "machines": 3, "preemptive": True},
        lambda rng: {"tasks": rng.randint(4, 20), "machines": 3, "equal_counts": True},
    ),
    "partition": (lambda rng: {"resources": rng.randint(2, 6), "tasks": rng.randint(5, 60)},),
    "reduction": (
        lambda rng: {"machines": rng.randint(2, 6), "segments": rng.randint(1, 4), "spread": 0.5},
    ),
    "taskgraph": (
        lambda rng: {"graph": "layered", "size": rng.randint(4, 15), "machines": rng.randint(2, 4)},
    ),
}
"""Options of what is generated, beyond what can be enumerated."""


PART = Part(
    name="pairs",
    promise="No bound and no proof of a loosened problem (a latency less, a machine faster, a "
    "release less, a deadline later, more budget or memory, a rule dropped) is beaten by a plan of "
    "the tighter one.",
    attempt=attempt,
    goals={"pairs": 20_000},
    share=1.0,
    patience=60.0,
    memory=4 * 2**30,
)
