"""Forms: strict about types, with mistakes that name their place."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from pydantic import Field

from makespan import Affine, ProblemError
from makespan.core.inputs.forms import (
    Column,
    Cost,
    Form,
    ProblemForm,
    Value,
    cost_entry,
    mistake_at,
    place_of,
    schema_of,
    validated,
)
from makespan.core.inputs.rules import Rule

AMOUNT = Rule("a number, 0 or more")
LIMIT = Rule("a number, 0 or more, or inf (null in JSON)", infinite=True)
ROUNDS = Rule("rounds are a number from 1 or 'auto'", low=1, whole=True, words=("auto",))


class Leaf(Form):
    name: str = ""
    send: Cost | None = None
    memory: Annotated[float, Value(LIMIT)] = math.inf
    return_: Cost | None = Field(None, alias="return")


class Root(ProblemForm):
    kind: Literal["root"]
    load: Annotated[float, Value(AMOUNT)] = 1.0
    rounds: Annotated[int, Value(ROUNDS)] = 1
    flag: bool = False
    leaves: list[Leaf] = Field(default_factory=list)
    column: Annotated[Any, Column(LIMIT)] = 0.0


def mistakes_of(**data: Any) -> list[str]:
    with pytest.raises(ProblemError) as caught:
        validated(Root, {"kind": "root", **data})
    return [str(mistake) for mistake in caught.value.mistakes]


def test_every_mistake_is_reported_with_its_place() -> None:
    """One refusal lists all mistakes, each with the path of keys and indices."""
    found = mistakes_of(
        load=-1.0, lode=2, leaves=[{"send": 1}, {"send": {"per_unit": -2}, "retrun": 1}, 3]
    )
    assert found == [
        "load: -1.0 is negative; a number, 0 or more",
        "leaves[1].send.per_unit: -2 is negative; a cost per unit is 0 or more seconds",
        "leaves[1]: unknown key 'retrun'; did you mean 'return'?",
        "leaves[2]: 3 is not a table of keys and values",
        "unknown key 'lode'; did you mean 'load'?",
    ]


@pytest.mark.parametrize(
    ("load", "fault"),
    [
        ("1", "'1' is not a number"),
        (True, "True is not a number"),
        (None, "null is not a number"),
        (math.nan, "nan is not a number"),
        (math.inf, "inf is infinite"),
        (-0.5, "-0.5 is negative"),
        (10**400, "is above 1e+100, the greatest magnitude allowed"),
        pytest.param(10**5000, "a value of type int is above 1e+100", id="5000 digits"),
        ([], "[] is not a number"),
    ],
)
def test_what_is_no_number_is_refused(load: Any, fault: str) -> None:
    """Texts, booleans, null, NaN, infinities, negatives and huge integers are no loads."""
    (found,) = mistakes_of(load=load)
    assert found.startswith("load: ")
    assert fault in found


@pytest.mark.parametrize("rounds", [0, -1, 1.0, True, "2", "Auto", None])
def test_what_is_no_whole_number_is_refused(rounds: Any) -> None:
    """A count is an integer in its range, or one of its words."""
    (found,) = mistakes_of(rounds=rounds)
    assert found.startswith("rounds: ")
    assert found.endswith("rounds are a number from 1 or 'auto'")


def test_a_number_stands_for_a_cost_per_unit() -> None:
    """A cost is a number or a table, and nothing else."""
    form = validated(Root, {"kind": "root", "leaves": [{"send": 2, "return": {"fixed": 1}}]})
    assert form.leaves[0].send is not None
    assert form.leaves[0].send.affine() == Affine(0.0, 2.0)
    assert form.leaves[0].return_ is not None
    assert form.leaves[0].return_.affine() == Affine(1.0, 0.0)
    assert "is not a cost" in mistakes_of(leaves=[{"send": "2"}])[0]
    assert cost_entry(Affine(0.0, 2.0)) == 2.0
    assert cost_entry(Affine(1.0, 2.0)) == {"fixed": 1.0, "per_unit": 2.0}


def test_null_stands_for_infinity_where_that_is_allowed() -> None:
    """A limit of null is infinite; a load of null is refused."""
    form = validated(Root, {"kind": "root", "leaves": [{"memory": None}], "column": [1, None]})
    assert form.leaves[0].memory == math.inf
    assert form.column.tolist() == [1.0, math.inf]


@pytest.mark.parametrize("entry", ["1", True, -1.0, math.nan, [1.0], 10**400])
def test_a_column_names_the_entry_that_is_wrong(entry: Any) -> None:
    """The place of a mistake in a column is the entry, and there alone."""
    (found,) = mistakes_of(column=[1.0, 2, entry])
    assert found.startswith("column[2]: ")


def test_a_column_becomes_an_array() -> None:
    """Numbers of both types are read as floats; one number stands for all."""
    form = validated(Root, {"kind": "root", "column": [1, 2.5]})
    assert form.column.dtype == np.float64
    assert np.ndim(validated(Root, {"kind": "root", "column": 3}).column) == 0


def test_many_mistakes_are_cut_short() -> None:
    """A million wrong leaves do not give a million lines."""
    found = mistakes_of(leaves=[{"name": 1}] * 500)
    assert len(found) == 51
    assert found[-1] == "and 450 more mistakes"


def test_the_start_of_the_place_is_given_by_the_caller() -> None:
    """``place`` stands before every mistake's own place."""
    with pytest.raises(ProblemError, match=r"^problem\.load: "):
        validated(Root, {"kind": "root", "load": "x"}, place="problem")
    assert place_of((2, "send"), "workers") == "workers[2].send"


def test_the_method_among_the_options_is_a_text() -> None:
    """``options.method`` names a method."""
    assert mistakes_of(options={"method": 3}) == ["options.method: 3 is not a method's name"]


def test_a_validator_can_name_the_key_that_is_wrong() -> None:
    """``mistake_at`` gives a mistake of a whole form the place of one of its keys."""
    error = mistake_at(("send",), "is one too many")
    assert error.errors()[0]["loc"] == ("send",)
    assert error.errors()[0]["msg"] == "is one too many"


def test_the_schema_is_json() -> None:
    """A schema holds no infinity and says what is required and allowed."""
    schema = schema_of(Root, "Root")
    json.dumps(schema, allow_nan=False)
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["kind"]
    assert schema["properties"]["load"]["minimum"] == 0
