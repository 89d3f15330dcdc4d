"""Validation of divisible load problems: everything at once, each with its place."""

from __future__ import annotations

import math

import numpy as np
import pytest

from makespan import DivisibleLoad, Master, ProblemError, Star, Tree, Worker
from makespan.divisible.file import read


def mistakes_of(**fields):
    """The mistakes found in a problem, as text."""
    with pytest.raises(ProblemError) as caught:
        DivisibleLoad(**fields)
    return [str(mistake) for mistake in caught.value.mistakes]


def test_all_mistakes_at_once():
    """Every mistake is reported in one error, with place, value and what is allowed."""
    star = Star(
        [
            Worker(name="A", send=-1.0, compute="fast"),
            Worker(name="A", send=1.0, compute=math.nan, memory=-2),
        ],
        master=Master(compute=(math.inf, 1.0)),
    )
    found = mistakes_of(load=-5, platform=star, rounds=0, ports=3, order=("A", "B"))
    text = "\n".join(found)
    assert "load: -5 is negative; a load is 0 or more units" in found
    assert (
        "platform.workers[0].send.per_unit: -1.0 is negative; "
        "a cost per unit is 0 or more seconds" in found
    )
    for place in (
        "platform.workers[0].compute.per_unit: 'fast' is not a number",
        "platform.workers[1].compute.per_unit: nan is not a number",
        "platform.workers[1].memory: -2 is negative",
        "platform.workers[1].name: 'A' is also the name of platform.workers[0]",
        "platform.master.compute.fixed: inf is infinite",
        "rounds: 0 is below 1",
        "ports: 3 is not allowed",
        "order[1]: 'B' is not a worker",
    ):
        assert place in text


def test_arrays_are_validated_without_a_flood():
    """A column full of mistakes names the first ones and counts the others."""
    star = Star.from_arrays(send_per_unit=np.full(1000, -1.0), compute_per_unit=1.0)
    found = mistakes_of(load=1.0, platform=star)
    assert len(found) == 21
    assert found[-1].endswith("and 980 more such entries")


def test_arrays_of_different_lengths():
    """Columns of different lengths are refused with their shapes."""
    with pytest.raises(ProblemError, match=r"compute_per_unit: has shape \(2,\)"):
        Star.from_arrays(send_per_unit=[1, 2, 3], compute_per_unit=[1, 2])


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "load: is missing"),
        ({"load": 1, "order": ("P1",)}, "order: lacks P2"),
        ({"load": 1, "order": ("P1", "P1")}, "order[1]: 'P1' stands twice"),
        ({"load": 1, "activation": ("P1", "P3")}, "activation[1]: 'P3' is not a worker"),
        ({"load": 1, "loads": {"P1": 2}}, "loads: add up to 2.0, but load is 1"),
        ({"load": 1, "loads": {"P9": 1}}, "loads.P9: no such machine computes"),
        ({"load": 1, "transfers": (("push", "P1"),)}, "transfers[0]: ('push', 'P1')"),
        ({"load": 1, "discipline": "filo"}, "discipline: 'filo' is not allowed"),
        ({"load": True}, "load: True is not a number"),
        ({"load": 10**400}, "is above 1e+100, the greatest magnitude allowed"),
        ({"load": 1, "integral": 1}, "integral: 1 is not true or false"),
        ({"load": 1, "activation": ("P1",), "rounds": 2}, "rounds: can't stand beside"),
    ],
)
def test_single_mistakes(fields, expected):
    """Each mistake is named with its place."""
    star = Star([Worker(send=1, compute=1), Worker(send=1, compute=1)])
    assert any(expected in found for found in mistakes_of(platform=star, **fields))


def test_choose_needs_a_bus():
    """Choosing the master needs one send cost for all."""
    star = Star([Worker(send=1, compute=1), Worker(send=2, compute=1)], master="choose")
    assert any("needs a bus" in found for found in mistakes_of(load=1, platform=star))


def test_columns_are_read_only_copies():
    """A star keeps its own read-only columns, whatever happens to the caller's array."""
    mine = np.array([1.0, 2.0])
    star = Star.from_arrays(send_per_unit=mine, compute_per_unit=mine)
    mine[0] = 99.0
    assert star.send_per_unit.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        star.send_per_unit[0] = 5.0


def test_a_master_may_not_have_a_workers_name() -> None:
    """Not one that was given, nor one that was made up for columns."""
    columns = {"send_per_unit": [1.0, 2.0], "compute_per_unit": [2.0, 3.0]}
    platform = {"topology": "star", "columns": columns, "master": {"name": "P2"}}
    with pytest.raises(ProblemError, match=r"platform\.master\.name: 'P2' is also a worker's"):
        read({"kind": "divisible", "load": 1.0, "platform": platform})


@pytest.mark.parametrize("platform", [Star, Tree])
def test_an_empty_name_is_refused(platform):
    """A file could not tell it from one that is not given."""
    parent = {"parent": [-1, 0]} if platform is Tree else {}
    found = platform.from_arrays(
        send_per_unit=[0.0, 1.0], compute_per_unit=1.0, names=["", "b"], **parent
    )
    mistakes = mistakes_of(load=1.0, platform=found)
    assert any("'' is not a name; a name is a text, not empty" in text for text in mistakes)
