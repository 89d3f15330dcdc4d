"""Divisible loads in files: what is written is read back equal, and mistakes name their place."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import Affine, DivisibleLoad, Master, ProblemError, Star, Tree, Worker
from makespan.divisible.file import read, schema, write
from makespan.flow.serialize import as_json
from tests.numbers import amounts

WORKERS = [{"name": "A", "send": 1.0, "compute": 3.0}, {"name": "B", "send": 2.0, "compute": 5.0}]


def star(**keys: Any) -> dict[str, Any]:
    platform = {"topology": "star", "workers": WORKERS}
    return {"kind": "divisible", "load": 10.0, "platform": platform, **keys}


def on(platform: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"kind": "divisible", "load": 10.0, "platform": platform, **keys}


def mistakes_of(data: dict[str, Any]) -> list[str]:
    with pytest.raises(ProblemError) as caught:
        read(data)
    return [str(mistake) for mistake in caught.value.mistakes]


def test_a_star_is_read_as_designed() -> None:
    """Every key of the design's example reaches the problem."""
    problem = read(
        on(
            {
                "topology": "star",
                "master": {"name": "H", "compute": {"per_unit": 3.0}, "uplink": 9.0, "sends": 2},
                "workers": [
                    {
                        "name": "P1",
                        "send": {"fixed": 0.1, "per_unit": 1.0},
                        "compute": {"fixed": 0.5, "per_unit": 3.0},
                    },
                    {
                        "name": "P2",
                        "send": 1.0,
                        "compute": 5.0,
                        "return": 0.2,
                        "memory": 500.0,
                        "release": 1.0,
                        "deadline": 20.0,
                        "price": {"fixed": 5.0, "per_unit": 1.0},
                    },
                ],
            },
            ports="many",
            rounds="auto",
            order=["P2", "P1"],
            options={"method": "star"},
        )
    )
    assert problem == DivisibleLoad(
        load=10.0,
        rounds="auto",
        ports="many",
        order=("P2", "P1"),
        options={"method": "star"},
        platform=Star(
            [
                Worker(name="P1", send=Affine(0.1, 1.0), compute=Affine(0.5, 3.0)),
                Worker(
                    name="P2",
                    send=1.0,
                    compute=5.0,
                    return_=0.2,
                    memory=500.0,
                    release=1.0,
                    deadline=20.0,
                    price=Affine(5.0, 1.0),
                ),
            ],
            master=Master(name="H", compute=3.0, uplink=9.0, sends=2),
        ),
    )


def test_a_bus_has_one_send_cost() -> None:
    """Workers of a bus have no send cost of their own; machines choose a master."""
    bus = {"topology": "bus", "send": 2.0, "workers": [{"compute": 1.0}, {"compute": 2.0}]}
    assert read(on(bus)).platform.send_per_unit.tolist() == [2.0, 2.0]
    chosen = {"topology": "bus", "send": 2.0, "master": "choose", "machines": [{"compute": 1.0}]}
    assert read(on(chosen)).chooses_master


def test_a_tree_is_read() -> None:
    """Nodes name their parents; a node without a compute cost only forwards."""
    nodes = [{"name": "R", "compute": 0.3}, {"name": "A", "parent": "R", "send": 0.2}]
    tree = read(on({"topology": "tree", "nodes": nodes})).platform
    assert tree.parent.tolist() == [-1, 0]
    assert tree.computes.tolist() == [True, False]


COSTS = st.builds(Affine, amounts(1e6), amounts(1e6))
LIMITS = st.one_of(st.just(math.inf), amounts(1e9))


@st.composite
def problems(draw: st.DrawFn) -> DivisibleLoad:
    bus = draw(st.booleans())
    send = draw(COSTS)
    workers = [
        Worker(
            name=f"W{index}",
            send=send if bus else draw(COSTS),
            compute=draw(COSTS),
            return_=draw(st.none() | COSTS),
            memory=draw(LIMITS),
            release=draw(amounts(1e3)),
            deadline=draw(LIMITS),
            price=draw(COSTS),
        )
        for index in range(draw(st.integers(0, 4)))
    ]
    names = tuple(worker.name for worker in workers)
    master: Any = Master(name=draw(st.sampled_from(["P0", "ü"])), compute=draw(st.none() | COSTS))
    if bus and workers and draw(st.booleans()):
        master = "choose"
    problem = DivisibleLoad(
        load=draw(amounts(1e9)),
        platform=Star(workers, master=master),
        rounds=draw(st.one_of(st.just("auto"), st.integers(1, 9))),
        ports=draw(st.sampled_from([1, 2, "many"])),
        use=draw(st.sampled_from(["any", "all"])),
        front_end=draw(st.booleans()),
        integral=draw(st.booleans()),
        deadline=draw(st.none() | amounts(1e9)),
        order=draw(st.none() | st.permutations(names)),
        discipline=draw(st.sampled_from([None, "fifo", "lifo"])),
    )
    if problem.ports == 1 and master != "choose" and draw(st.booleans()):
        transfers = tuple((what, name) for what in ("send", "return") for name in names)
        problem = replace(problem, transfers=transfers, rounds=1, order=None, discipline=None)
    return problem


@given(problems())
def test_what_is_written_is_read_back_equal(problem: DivisibleLoad) -> None:
    """Writing loses nothing, through JSON as well."""
    assert read(write(problem)) == problem
    assert read(json.loads(as_json(write(problem)))) == problem


@pytest.mark.parametrize("bus", [False, True])
def test_many_workers_are_written_as_columns(bus: bool) -> None:
    """Above a thousand workers there is a list a column, without an object a worker."""
    count = 1500
    numbers = np.arange(count, dtype=float)
    platform = Star.from_arrays(
        send_per_unit=2.0 if bus else numbers,
        compute_per_unit=numbers + 1.0,
        memory=np.where(numbers > 3, np.inf, 5.0),
        names=[f"m{index}" for index in range(count)],
    )
    problem = DivisibleLoad(load=1.0, platform=platform)
    data = write(problem)
    assert "workers" not in data["platform"]
    assert read(json.loads(as_json(data))) == problem


def test_many_nodes_are_written_as_columns() -> None:
    """Large trees are columns, too, and nodes that only forward stay so."""
    count = 1500
    compute = np.where(np.arange(count) % 7, 3.0, np.inf)
    tree = Tree.from_arrays(
        parent=np.arange(count) - 1, send_per_unit=1.0, compute_per_unit=compute
    )
    problem = DivisibleLoad(load=1.0, platform=tree)
    assert read(json.loads(as_json(write(problem)))) == problem


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (star(load=-1), "load: -1 is negative; a load is 0 or more units"),
        (star(lode=1), "unknown key 'lode'; did you mean 'load'?"),
        (
            star(rounds=True),
            "rounds: True is not allowed; rounds are a whole number from 1, or 'auto'",
        ),
        (star(ports=True), "ports: True is not allowed; it is 1, 2 or 'many'"),
        (star(ports=3), "ports: 3 is not allowed; it is 1, 2 or 'many'"),
        (star(order=["A", 2]), "order[1]: 2 is not a text"),
        (star(order=["A", "C"]), "order[1]: 'C' is not a worker; known are A, B"),
        (star(loads={"A": "x"}), "loads.A: 'x' is not a number; a load is 0 or more units"),
        (star(deadline=math.inf), "deadline: inf is infinite; a deadline is 0 or more seconds"),
        (star(front_end=1), "front_end: 1 is not true or false"),
        (star(options=[]), "options: [] is not a table of keys and values"),
        (
            star(transfers=[{"send": "A", "return": "A"}]),
            "transfers[0]: a transfer is either { send = NAME } or { return = NAME }",
        ),
        (on([]), "platform: [] is not a platform; it is a table with a topology"),
        (on({}), "platform.topology: is missing; it is 'star', 'bus', 'tree', 'sources'"),
        (
            on({"topology": "tre"}),
            "platform.topology: 'tre' is not a topology of divisible loads; did you mean 'tree'?",
        ),
        (
            on({"topology": "star"}),
            "platform.workers: is missing; give workers or columns",
        ),
        (
            on({"topology": "star", "workers": [], "columns": {"names": []}}),
            "platform.columns: can't stand beside workers",
        ),
        (
            on({"topology": "bus", "send": 1, "master": "choose", "workers": []}),
            "platform.workers: can't stand beside master = 'choose'; that list is called machines",
        ),
        (
            on({"topology": "bus", "send": 1, "machines": []}),
            "platform.machines: needs master = 'choose'; "
            "beside a given master the list is called workers",
        ),
        (
            on({"topology": "star", "master": "me", "workers": []}),
            "platform.master: 'me' is not a master; it is 'choose', or a table with a name",
        ),
        (
            on(
                {"topology": "bus", "send": 1, "master": "choose", "machines": [{}, {"name": "P0"}]}
            ),
            "platform.machines[1].name: 'P0' is also the name of platform.workers[0]; names differ",
        ),
        (
            on({"topology": "star", "columns": {"send_per_unit": 1}}),
            "platform.columns: don't say how many workers there are; one column has to be a list",
        ),
        (
            on({"topology": "star", "columns": {"send_per_unit": [1, 2], "memory": [1, -1]}}),
            "platform.columns.memory[1]: -1 is negative; "
            "the largest chunk is 0 or more units, or inf",
        ),
        (
            on({"topology": "star", "columns": {"send_fixed": [1, 2], "compute_fixed": [1]}}),
            "platform.columns.compute_fixed: has shape (1,); columns are scalars or of length 2",
        ),
        (
            on({"topology": "tree", "columns": {"parent": [-1, 5]}}),
            "platform.columns.parent[1]: 5 is not a node",
        ),
    ],
)
def test_mistakes_name_place_finding_and_remedy(data: dict[str, Any], expected: str) -> None:
    """Each mistake says where it is in the file, what was found and what is allowed."""
    assert mistakes_of(data) == [expected]


def test_mistakes_of_several_places_come_together() -> None:
    """One reading reports the mistakes of the platform and of the problem."""
    data = on({"topology": "bus", "sned": 1, "workers": [{"compute": "x"}]}, rounds=0)
    assert [line.partition(":")[0] for line in mistakes_of(data)] == [
        "platform.send",
        "platform.workers[0].compute",
        "platform",
        "rounds",
    ]


def test_the_schema_is_json_and_names_the_keys() -> None:
    """The schema can be dumped strictly and knows the key ``return``."""
    text = json.dumps(schema(), allow_nan=False)
    assert '"return"' in text
    assert '"return_"' not in text


MACHINES = [
    {"name": "A", "send": 0.5, "compute": {"fixed": 0.1, "per_unit": 2.0}, "return": 0.25},
    {"send": {"fixed": 1.0}, "memory": None, "release": 1.0, "deadline": 9, "price": 3.0},
]
NODES = [{"name": "R", "compute": 0.3}, {"parent": "R", "send": {"fixed": 1.0}, "compute": None}]


def platform_of(make):
    """A platform as it is built, and checked, in Python; else the mistakes."""
    try:
        return DivisibleLoad(load=1.0, platform=make()).platform
    except ProblemError as error:
        return [str(mistake) for mistake in error.mistakes]


def platform_in_file(**table):
    """The same, as it is read from a file."""
    try:
        return read(on(table)).platform
    except ProblemError as error:
        return [str(mistake) for mistake in error.mistakes]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"sned": 1.0},
        {"send": {"fixd": 1.0}},
        {"send": {"per_unit": -1.0}},
        {"compute": {"fixed": "fast"}},
        {"name": ""},
    ],
)
def test_tables_are_taken_as_in_files(change):
    """Star, bus and tree of the tables of a file are the file's; so are the mistakes found."""
    workers, nodes = [{**MACHINES[0], **change}, MACHINES[1]], [{**NODES[0], **change}, NODES[1]]
    master = {"name": "M", "compute": 3.0}
    star = platform_in_file(topology="star", workers=workers, master=master)
    assert platform_of(lambda: Star(workers, master=master)) == star
    if change != {"name": ""}:  # the other node names its parent
        assert platform_of(lambda: Tree(nodes)) == platform_in_file(topology="tree", nodes=nodes)
    if change.keys() <= {"name", "compute"}:
        bare = [{key: each[key] for key in each if key != "send"} for each in workers]
        bus = platform_in_file(topology="bus", send=2.0, workers=bare)
        assert platform_of(lambda: Star.bus(send=2.0, workers=bare)) == bus


@pytest.mark.parametrize(
    ("make", "mistake"),
    [
        (lambda: Star([{"name": 5}]), "platform.workers[0].name: 5 is not a name"),
        (lambda: Tree([{"name": ["R"]}]), "platform.nodes[0].name: ['R'] is not a name"),
        (lambda: Tree([{"name": "R"}, {"parent": 5}]), "platform.nodes[1].parent: 5 is not a node"),
        (lambda: Star([{"memory": "much"}]), "platform.workers[0].memory: 'much' is not a number"),
        (lambda: Star([], master={"nmae": "M"}), "platform.master: unknown key 'nmae'; did you"),
        (lambda: Star([], master={"uplink": 0}), "platform.master.uplink: 0 is zero"),
    ],
)
def test_mistakes_in_tables_have_their_places(make, mistake):
    """What only a table can hold is refused, too, where it stands."""
    assert any(text.startswith(mistake) for text in platform_of(make))
