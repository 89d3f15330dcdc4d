"""The statement: what is accepted, and what is refused with which words."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from makespan import ProblemError, Reduction
from makespan.reduction import file
from makespan.reduction.generate import generate
from makespan.reduction.model import common_unit

GOOD: dict[str, Any] = {"machines": 3, "segments": 2, "latency": 1, "transfer": 1, "reduce": 1}


@pytest.mark.parametrize(
    ("changed", "place", "words"),
    [
        ({"machines": 0}, "machines", "from 1"),
        ({"machines": True}, "machines", "from 1"),
        ({"machines": ["A", "A"]}, "machines[1]", "names differ"),
        ({"segments": 1.5}, "segments", "whole number"),
        ({"segments": "many"}, "segments", "'auto'"),
        ({"latency": -1}, "latency", "negative"),
        ({"latency": math.nan}, "latency", "not a number"),
        ({"latency": [[0, 1], [1, 0]]}, "latency", "3 × 3"),
        ({"transfer": None}, "transfer", "missing"),
        ({"transfer": [[0, 1, 1], [1, 0, -2], [1, 1, 0]]}, "transfer[1][2]", "negative"),
        ({"reduce": [1, math.inf, 1]}, "reduce[1]", "infinite"),
        ({"segment_sizes": [1, 0]}, "segment_sizes[1]", "above 0"),
        ({"order": "gredy"}, "order", "'greedy'"),
        ({"collective": "gossip"}, "collective", "'gossip' is not allowed"),
        ({"bytes": 5}, "bytes", "'auto' only"),
        ({"collective": "broadcast", "order": "greedy"}, "order", "collective = 'reduce'"),
        ({"destinations": [[1, 1], [1, 1]]}, "destinations", "3 rows of 2"),
        ({"destinations": [[1, 2], [1, 1], [1, 1]]}, "destinations[0][1]", "root keeps"),
        ({"destinations": [[1, 1], [1, 4], [1, 1]]}, "destinations[1][1]", "not a machine"),
        ({"destinations": [[1, 1], [1, 2], [1, 1]]}, "destinations[1][1]", "to itself"),
        ({"destinations": [[1, 1], [1, 3], [1, 2]]}, "destinations[1][1]", "cycle"),
        ({"sequences": [[], [[1, 1]], [[1, 1], [2, 1]]]}, "sequences[1]", "1 to 2 once"),
        ({"sequences": [[[1, 1]], [[1, 1], [2, 1]], [[1, 1], [2, 1]]]}, "sequences[0]", "root"),
    ],
)
def test_every_mistake_names_its_place(changed: dict[str, Any], place: str, words: str) -> None:
    """A refusal says where, what was found, and what is allowed."""
    with pytest.raises(ProblemError) as caught:
        Reduction(**{**GOOD, **changed})
    assert any(m.place == place and words in m.message for m in caught.value.mistakes), str(
        caught.value
    )


def test_all_mistakes_are_reported_together() -> None:
    """One error lists everything that is wrong."""
    with pytest.raises(ProblemError) as caught:
        Reduction(machines=0, segments=0, latency=-1, transfer=-1, reduce=-1, order="x")  # type: ignore[arg-type]
    assert {m.place for m in caught.value.mistakes} >= {
        "machines", "segments", "latency", "transfer", "reduce", "order",
    }  # fmt: skip


def test_open_number_of_segments_needs_an_overhead() -> None:
    """Without an overhead per message more segments always help, and that is refused."""
    with pytest.raises(ProblemError, match="more segments always help"):
        Reduction(machines=3, segments="auto", bytes=8, transfer_per_byte=1)


def test_units_are_found_from_the_numbers_as_written() -> None:
    """Decimals and simple fractions have a common unit; irrational times have none."""
    assert Reduction(**{**GOOD, "latency": 0.1, "reduce": 0.3}).unit == Fraction(1, 10)
    assert common_unit([1 / 3, 0.5]) == Fraction(1, 6)
    assert Reduction(**{**GOOD, "latency": 2**0.5}).unit is None
    assert Reduction(**GOOD, segment_sizes=[0.5, 1.5]).unit == Fraction(1, 2)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"machines": ["A", "B", "C"]},
        {"latency": np.arange(9.0).reshape(3, 3), "reduce": [1, 2, 3], "segment_sizes": [1, 2.5]},
        {"order": "greedy", "destinations": [[1, 1], [1, 3], [1, 1]]},
        {"sequences": [[], [[1, 1], [2, 3]], [[1, 1], [2, 1]]]},
        {"collective": "all-reduce", "options": {"method": "reduce-then-broadcast"}},
        {"segments": "auto", "transfer": None, "reduce": None, "bytes": 5, "message_overhead": 1},
    ],
)
def test_files_keep_the_problem(changed: dict[str, Any]) -> None:
    """What is written reads back as the same problem."""
    problem = Reduction(**{**GOOD, **changed})
    assert file.read(file.write(problem)) == problem


def test_files_refuse_unknown_keys_and_wrong_types() -> None:
    """Mistakes in a file are all named."""
    with pytest.raises(ProblemError) as caught:
        file.read({"kind": "reduction", "machine": 3, "segments": "x", "latency": [[1], ["a"]]})
    text = str(caught.value)
    assert "did you mean 'machines'" in text
    assert "segments" in text
    assert "latency" in text
    assert file.schema()["title"]


def test_equality_compares_tables() -> None:
    """Problems are equal when all their fields are."""
    table = [[0, 1, 2], [1, 0, 2], [1, 2, 0]]
    one = Reduction(**{**GOOD, "latency": table})
    assert one == Reduction(**{**GOOD, "latency": np.array(table)})
    assert one != Reduction(**GOOD)
    assert hash(one) == hash(Reduction(**{**GOOD, "latency": table}))


def test_generated_problems_follow_the_seed() -> None:
    """The same seed gives the same problem; a spread gives tables with a common unit."""
    one = generate(np.random.default_rng(3), machines=4, spread=0.5)
    assert one == generate(np.random.default_rng(3), machines=4, spread=0.5)
    assert one != generate(np.random.default_rng(4), machines=4, spread=0.5)
    assert one.times is None
    assert one.unit == Fraction(1, 10)
    assert generate(np.random.default_rng(3)).times == (1, 1, 1)
    with pytest.raises(ProblemError, match="spread"):
        generate(np.random.default_rng(3), spread=2.0)


def test_what_all_the_bytes_cost_has_an_allowed_magnitude() -> None:
    """It is refused with the field, not while solving."""
    with pytest.raises(ProblemError, match="99 for each of 1000 bytes is above"):
        Reduction(machines=3, segments="auto", bytes=1000, message_overhead=1, reduce_per_byte=1e99)


@pytest.mark.parametrize("rows", [[[0.0, 1.0], [1.0]], [[], [1.0, 2.0]]])
@pytest.mark.parametrize("array", [list, np.array])
def test_ragged_tables_are_refused_by_their_rows(rows: Any, array: Any) -> None:
    """However the rows came: as lists, or as the arrays that a file's rows become."""
    ragged = [array(row) for row in rows]
    found = f"{min(map(len, rows))} to {max(map(len, rows))}"
    with pytest.raises(ProblemError, match=f"latency: has rows of {found} entries; 2 × 2 are"):
        Reduction(machines=2, segments=1, transfer=1.0, latency=ragged)
