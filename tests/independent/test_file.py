"""Problems of independent tasks in files."""

import json

import pytest
from hypothesis import given, strategies as st

from makespan import IndependentTasks, ProblemError
from makespan.independent import file
from tests.numbers import amounts


def mistakes(data):
    with pytest.raises(ProblemError) as caught:
        file.read(data)
    return [str(mistake) for mistake in caught.value.mistakes]


@given(
    st.integers(1, 9),
    st.lists(amounts(1e9)),
    st.booleans(),
    st.sampled_from([{}, {"method": "lpt"}]),
)
def test_what_is_written_is_read(machines, durations, preemptive, options):
    """Writing to JSON and reading back gives an equal problem."""
    problem = IndependentTasks(machines, durations, preemptive=preemptive, options=options)
    assert file.read(json.loads(json.dumps(file.write(problem)))) == problem


def test_the_documented_file_is_read():
    """The keys of the format's description are enough."""
    data = {"kind": "independent", "machines": 3, "durations": [4, 4, 4, 4, 3, 2]}
    assert file.read(data) == IndependentTasks(3, [4, 4, 4, 4, 3, 2])


def test_all_mistakes_are_reported_with_their_places():
    """Wrong entries, wrong types and unknown keys come in one error."""
    found = mistakes(
        {
            "kind": "independent",
            "machine": 3,
            "durations": [1, -2, "x", float("nan"), True, None],
            "preemptive": 1,
        }
    )
    assert "durations[1]: -2 is negative; a duration is 0 or more seconds" in found
    assert "unknown key 'machine'; did you mean 'machines'?" in found
    assert "machines: is missing" in found
    for place in ("durations[2]", "durations[3]", "durations[4]", "durations[5]", "preemptive"):
        assert any(line.startswith(f"{place}: ") for line in found)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("machines", 0),
        ("machines", 2.0),
        ("machines", True),
        ("machines", 10**10),
        ("durations", 4),
        ("durations", "4"),
        ("preemptive", "yes"),
        ("options", []),
        ("format", "makespan.problem/9"),
        ("kind", "divisible"),
    ],
)
def test_one_wrong_key_is_named(key, value):
    """Each key refuses what it can't hold, at its place."""
    data = {"kind": "independent", "machines": 2, "durations": [1.0], key: value}
    found = mistakes(data)
    assert len(found) == 1
    assert found[0].startswith(f"{key}: ")


@pytest.mark.parametrize("data", [[1], None, "x"])
def test_only_a_table_is_read(data):
    """A file that holds something else is refused."""
    assert "not a table" in mistakes(data)[0]


def test_the_schema_describes_the_keys():
    """The JSON Schema requires what the reader requires and forbids other keys."""
    described = file.schema()
    assert set(described["required"]) == {"kind", "machines", "durations"}
    kinds = described["properties"]["durations"]["anyOf"]
    assert [each["type"] for each in kinds] == ["array", "array"]
    assert described["additionalProperties"] is False
