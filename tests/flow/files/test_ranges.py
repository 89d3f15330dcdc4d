"""One rule for each number: the JSON Schema and the model allow the same range."""

from __future__ import annotations

import copy
import functools
import math
import operator

import pytest

from makespan.core.errors import ProblemError, TooLarge
from makespan.core.inputs import forms
from makespan.core.inputs.rules import GREATEST, LEAST
from makespan.flow.kinds import KINDS, kind_named, schema
from tests.thorough import few

jsonschema = pytest.importorskip("jsonschema")

COST = {"fixed": 1.0, "per_unit": 1.0}
SLOWER = COST | {"beyond": [[2.0, 3.0]]}
WORKER = {
    "send": COST, "compute": 2.0, "return": 1.0, "memory": 5.0, "release": 0.0, "deadline": 9.0,
    "price": COST,
}  # fmt: skip
COLUMN = ("send", "compute", "return", "price")
COLUMNS = {f"{of}_{part}": [1.0, 2.0] for of in COLUMN for part in COST} | {
    "memory": [5.0, None], "release": 0.0, "deadline": 9.0,
}  # fmt: skip
NODES = {"parent": [-1, 0], "send_fixed": 0.0, "send_per_unit": [1.0, 2.0]} | {
    "compute_fixed": 0.0, "compute_per_unit": [1.0, None],
}  # fmt: skip
MASTER = {"compute": 3.0, "uplink": 2.0, "sends": 1}
MACHINES = [{"speed": 2.0, "task_setup": 0.5, "message_setup": 0.5, "cores": 2}] * 2
TIMED = {"rate": 2.0, "latency": 0.5}
TIMED |= {"links": [{"between": ["M1", "M2"], "rate": 1.0, "latency": 0.5}]}
LINKS = {
    "links": [{"between": ["M1", "M2"], "rate": 2.0}],
    "delays": [{"from": "M1", "to": "M2", "seconds": 1.0}],
}
SOURCE = {"load": 9.0, "send": [dict(COST), 2.0], "compute": COST, "release": 1.0}
TABLE = {"costs": [0.5, 1.5], "energy": [0.5, 1.5]}
SAMPLES = "count,time\n0,0.5\n1,1.5\n"
DOCUMENTS = {
    "divisible": [
        {"load": 9.0, "deadline": 99.0, "budget": 9.0, "ports": "many", "rounds": 2}
        | {"platform": {"topology": "star", "master": MASTER, "workers": [WORKER]}},
        {"load": 9.0, "platform": {"topology": "star", "columns": COLUMNS}},
        {"load": 9.0}
        | {"platform": {"topology": "star", "workers": [WORKER | {"compute": SLOWER}]}},
        {"load": 9.0, "loads": {"P1": 9.0}}
        | {"platform": {"topology": "bus", "send": 1.0, "workers": [{"compute": 1.0}]}},
        {"load": 9.0, "platform": {"topology": "tree", "columns": NODES}},
        {"load": 9.0}
        | {"platform": {"topology": "tree", "nodes": [{"send": 1.0, "compute": COST}]}},
        {"platform": {"topology": "sources", "sources": [SOURCE]} | {"workers": [{}, {}]}},
    ],
    "independent": [
        {"machines": 2, "durations": [1.0, 2.0], "speeds": [1.0, 2.0]},
        {"machines": 2, "durations": [[1.0, 2.0], [2.0, 3.0]]},
        {"machines": 2, "durations": [1.0, 2.0], "release": [1.0, 2.0]},
        {"machines": 2, "durations": [1.0, 2.0], "release": 1.0},
        {"machines": 2, "durations": [1.0, 2.0], "sizes": [1.0, 2.0], "capacity": [3.0, 4.0]},
        {"machines": 2, "durations": [1.0, 2.0], "sizes": [1.0, 2.0], "capacity": 4.0},
        {"machines": 2, "durations": [1.0, 2.0], "counts": 2},
        {"machines": 2, "durations": [1.0, 2.0], "counts": {"least": 1, "most": [1, 2]}},
    ],
    "partition": [
        {"tasks": 1, "deadline": 9.0, "resources": [TABLE | {"first": 0, "lower": 0, "upper": 1}]},
        {"tasks": 1, "resources": [{"counts": [0, 1], "time": [0.5, 1.5]}]},
        {"tasks": 1, "resources": [{"samples": "table.csv", "granularity": 1}]},
        {"tasks": 1, "resources": [{"cost": COST, "energy_cost": 1.0}]},
    ],
    "pipeline": [
        {"stages": [{"work": 1.0, "data": 1.0, "memory": 1.0, "memory_per_item": 1.0}]}
        | {"machines": [{"speed": 1.0, "memory": 9.0, "price": 1.0, "outside": 1.0}] * 2}
        | {"network": {"topology": "mesh", "shape": [1, 2]} | TIMED}
        | {"period_limit": 9.0, "latency_limit": 9.0, "budget": 9.0}
        | {"input": 1.0, "output": 1.0, "items": 2, "in_flight": 2, "replicas": 2},
        {"stages": [{"durations": [1.0, 2.0]}], "machines": 2},
        {"columns": {"work": [1.0], "data": [1.0], "memory": 1.0, "memory_per_item": [1.0]}}
        | {"machines": 2},
    ],
    "reduction": [
        {"machines": 2, "segments": 2, "latency": 1.0, "transfer": [[0.0, 1.0], [1.0, 0.0]]}
        | {"reduce": [1.0, 1.0], "segment_sizes": [1.0, 2.0]},
        {"machines": 2, "segments": "auto", "bytes": 1.0, "message_overhead": 1.0}
        | {"transfer_per_byte": 1.0, "reduce_per_byte": 1.0, "reduce_overhead": 1.0},
        {"machines": 2, "segments": 2, "network": {"topology": "mesh", "shape": [1, 2]} | TIMED},
    ],
    "taskgraph": [
        {"tasks": [{"name": "a", "work": 2.0, "release": 1.0}], "deadline": 9.0, "budget": 40.0}
        | {"network": {"machines": [{"price": 1.0, "start_price": 2.0}]}, "objective": "price"},
        {"tasks": [{"name": "a", "work": 2.0}, {"name": "b", "work": 1.0, "deadline": 9.0}]}
        | {"edges": [{"from": "a", "to": "b", "size": 1.0}]}
        | {"network": {"machines": MACHINES, "rate": 2.0, **LINKS}},
        {"columns": {"durations": [[1.0, 2.0]] * 2, "source": [0], "target": [1], "size": [1.0]}}
        | {"network": {"machines": MACHINES, "rate": [[0.0, 1.0], [1.0, 0.0]]}},
        {"tasks": [{"name": "a", "work": 2.0, "cores": 1}], "network": {"machines": MACHINES}},
        {"columns": {"work": [1.0], "cores": [1]}, "network": {"machines": MACHINES}},
        {"columns": {"work": [1.0, 2.0], "release": [0.0, 1.0], "deadline": [4.0, 9.0]}}
        | {"network": {"machines": MACHINES, "topology": "mesh", "shape": [1, 2]}},
    ],
}  # fmt: skip
BEYOND = (-1, 0, 1, 2**31, 2**53 - 1, 2**53, 2**53 + 1, 10**9, 10**9 + 1, 10**7 + 1, 10**101)
SIZES = (-LEAST, LEAST / 2, LEAST, 0.5, GREATEST, 2 * GREATEST, -1e-3, 1e300, math.inf, None)


QUICK_FIRST = sorted(KINDS, key=lambda kind: kind in ("divisible", "partition", "taskgraph"))


class OnlyTypes:
    """Stands for the mistakes of the forms, which then let every number through."""

    def column(self, place, values, rule):
        return list(values)

    def __bool__(self):
        return False


def numbers_in(part, path=()):
    """The places of the numbers (and of null, for infinity) in a document."""
    if isinstance(part, dict | list):
        for key, entry in part.items() if isinstance(part, dict) else enumerate(part):
            yield from numbers_in(entry, (*path, key))
    elif part is None or (isinstance(part, int | float) and not isinstance(part, bool)):
        yield path


def at(data, path):
    return functools.reduce(operator.getitem, path, data)


def changed(data, path, value):
    data = copy.deepcopy(data)
    at(data, path[:-1])[path[-1]] = value
    return data


def depends(path, value):
    """Whether more than the number's rule decides whether it is allowed."""
    if value in (math.inf, None):  # where the count is forbidden; as a node that only forwards
        return "energy" in path or path[1:2] == ("nodes",)
    return value == 0 and path[1:2] == ("rate",)  # from a machine to itself


def sentences(part):
    """The sentences of all ranges in a schema."""
    if isinstance(part, dict):
        kinds = [part, *part.get("anyOf", ())]
        if "description" in part and any("minimum" in each for each in kinds):
            yield part["description"]
        for entry in part.values():
            yield from sentences(entry)
    elif isinstance(part, list):
        for entry in part:
            yield from sentences(entry)


@pytest.mark.parametrize("kind", few(QUICK_FIRST, 1, thorough=len(KINDS)))
def test_schema_and_model_allow_the_same_numbers(kind, monkeypatch, tmp_path):
    """Without the forms, the model refuses what the schema refuses, and nothing else by a rule."""
    (tmp_path / "table.csv").write_text(SAMPLES)
    met: set[str] = set()
    monkeypatch.setattr(forms, "Mistakes", OnlyTypes)
    monkeypatch.setattr(forms, "refusal", lambda value, rule: None)
    described = schema(kind)
    valid = jsonschema.Draft202012Validator(described).is_valid
    rules = set(sentences(described))

    def refused(data):
        try:
            kind_named(kind).read(data, tmp_path)
        except ProblemError as error:
            return [text for _, text in error.mistakes]
        except TooLarge:
            return ["too large for this machine"]
        return []

    for document in DOCUMENTS[kind]:
        data = {"kind": kind, **document}
        assert valid(data)
        assert not refused(data)
        for path in numbers_in(data):
            whole = isinstance(at(data, path), int)
            for value in (*BEYOND, 0.5) if whole else (*BEYOND, *SIZES):
                if depends(path, value):
                    continue
                new = changed(data, path, value)
                found = refused(new) if value is not None or valid(new) else ["null"]
                broken = {rule for text in found for rule in rules if text.endswith(f"; {rule}")}
                met |= broken
                if valid(new):
                    assert not broken, (path, value, found)
                else:
                    assert found, (path, value)
    assert met == rules
