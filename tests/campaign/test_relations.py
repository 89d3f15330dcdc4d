"""The pairs of problems that the campaign compares: that they are what their names say."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from campaign import corpus, relations
from campaign.metamorphic import _agree
from campaign.part import Defect
from campaign.relations import RELATIONS, Relation
from makespan import solve
from makespan.flow.files.files import problem_of
from tests.thorough import few

SIMPLE: dict[str, Any] = {"kind": "independent", "machines": 2, "durations": [3.0, 3.0, 2.0, 1.0]}


def documents() -> list[dict[str, Any]]:
    return [each for each in corpus.sound() if "kind" in each and not corpus.names_a_file(each)]


@pytest.mark.parametrize("relation", RELATIONS, ids=[relation.name for relation in RELATIONS])
def test_what_is_changed_is_a_problem_still(relation: Relation) -> None:
    """Each relation applies to many documents of the corpus, and none of them becomes invalid."""
    rng, changed = random.Random(1), 0
    for document in documents():
        other = copy.deepcopy(document)
        if relation.change(other, rng) is not None:
            problem_of(other)
            changed += other != document
    assert changed > 5


@pytest.mark.parametrize("index", few(range(0, len(documents()), 9), 12))
def test_scaled_times_scale_the_makespan(index: int) -> None:
    """A power of two loses nothing, whatever the kind."""
    document = documents()[index]
    other = copy.deepcopy(document)
    factor = relations.times_scaled(other, random.Random(2))
    if factor is None or "deadline" in str(document) or document.get("rounds") == "auto":
        return
    first, second = (solve(problem_of(each), time_limit=0.5) for each in (document, other))
    if first.status == second.status == "optimal":
        assert second.makespan == pytest.approx((first.makespan or 0.0) * factor, rel=1e-9)


def test_a_pair_that_disagrees_is_a_defect() -> None:
    """A bound of one problem above the plan of the other can't be true."""
    relation = RELATIONS[0]
    result = solve(problem_of(SIMPLE))
    _agree(relation, result, result, 1.0)
    with pytest.raises(Defect, match="is above"):
        _agree(relation, result, result, 2.0)
    with pytest.raises(Defect, match="is above"):
        _agree(relation, result, result, 0.5)
