"""The JSON Schema of files: valid, and true to what is read and written."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from makespan.core.errors import ProblemError
from makespan.flow.kinds import KINDS, generate, kind_named, schema

jsonschema = pytest.importorskip("jsonschema")
PAGE = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```(toml|json)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def faults(data, kind=None):
    found = jsonschema.Draft202012Validator(schema(kind)).iter_errors(data)
    return [f"{error.json_path}: {error.message}" for error in found]


def parsed(suffix, text):
    return json.loads(text) if suffix == "json" else tomllib.loads(text)


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_schemas_are_valid(kind):
    """Each is a schema of the stated draft whose references all lead somewhere."""
    found = schema(kind)
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(found)
    text = json.dumps(found, allow_nan=False)
    for reference in set(re.findall(r'"#/\$defs/([^"]+)"', text)):
        assert reference in found["$defs"]


@pytest.mark.parametrize("index", range(len(EXAMPLES)))
def test_examples_of_the_docs_fit(index):
    """What the page on files shows fits the schema of its kind, and that of all."""
    data = parsed(*EXAMPLES[index])
    if "kind" in data:
        assert faults(data) == []
        assert faults(data, data["kind"]) == []


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("divisible", {"topology": "star", "returns": 0.1, "latency": 0.1}),
        ("divisible", {"topology": "bus", "master_computes": True}),
        ("divisible", {"topology": "tree"}),
        ("divisible", {"topology": "sources", "latency": 0.1, "master_computes": True}),
        ("divisible", {"workers": 1500}),
        ("divisible", {"topology": "tree", "workers": 1500}),
        ("independent", {"tasks": 100}),
    ],
)
def test_written_files_fit(kind, options):
    """What is written fits, as lists and as columns."""
    data = json.loads(json.dumps(kind_named(kind).file.write(generate(kind, options=options))))
    assert faults(data) == []


def test_mistakes_are_found():
    """Unknown keys, wrong kinds and wrong types do not fit."""
    good = kind_named("divisible").file.write(generate("divisible"))
    for change in ({"lode": 1.0}, {"kind": "divisble"}, {"load": "much"}, {"rounds": 0.5}):
        assert faults(good | change)
    assert faults({"load": 1.0})


def test_unknown_kind():
    """A kind that there is not has no schema."""
    with pytest.raises(ProblemError, match="did you mean 'divisible'"):
        schema("divisble")


def test_schema_of_a_kind_alone_is_its_own():
    """The schema of one kind is what its file room says."""
    assert schema("independent") == kind_named("independent").file.schema()
    assert np.all([kind in schema()["$defs"] for kind in KINDS])
