"""Topologies and routes against networkx and an obvious search."""

from __future__ import annotations

import itertools

import networkx
import numpy as np
import pytest

from makespan import Dag, Network, ProblemError, TaskGraph, solve
from tests.oracles.taskgraph_instances import TOPOLOGIES, random_network
from tests.oracles.taskgraph_rules import shortest_route

SIDES = {
    "ring": networkx.cycle_graph(6),
    "mesh": networkx.grid_graph([3, 2]),
    "torus": networkx.grid_graph([4, 3], periodic=True),
    "hypercube": networkx.hypercube_graph(3),
    "tree": networkx.balanced_tree(2, 2),
    "star": networkx.star_graph(4),
    "complete": networkx.complete_graph(5),
}


@pytest.mark.parametrize("topology", SIDES)
def test_topologies_are_those_of_networkx(topology: str) -> None:
    """The links of each topology form the graph that is known by its name."""
    expected = SIDES[topology]
    shape = {"mesh": (2, 3), "torus": (3, 4)}.get(topology, ())
    network = Network([1.0] * len(expected), topology=topology, shape=shape)
    links = network.arcs > 0
    assert (links == links.T).all()
    found = networkx.from_numpy_array(links)
    assert networkx.is_isomorphic(found, expected)


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_routes_are_the_first_shortest(topology: str) -> None:
    """Among shortest routes the one with lowest nodes is taken, and costs are sums over hops."""
    for seed in range(4):
        network = random_network(np.random.default_rng(seed), topology)
        TaskGraph(Dag({"a": 1.0}), network)
        routing, machines = network.routing, len(network)
        for a in range(machines):
            for b in range(machines):
                path = shortest_route_of(network, a, b)
                assert [a, *(head for _, head in routing.route(a, b))] == path
                hops = list(itertools.pairwise(path))
                rate = sum(1.0 / network.arcs[hop] for hop in hops)
                setup = sum(network.message_setup[u] for u, _ in hops if u < machines)
                delay = network.delays.get((network.nodes[a], network.nodes[b]), 0.0)
                assert routing.seconds_per_unit[a, b] == pytest.approx(rate)
                assert routing.fixed_seconds[a, b] == pytest.approx(setup + delay)


def shortest_route_of(network: Network, a: int, b: int) -> list[int]:
    return shortest_route(TaskGraph(Dag({"a": 1.0}), network), a, b)


def test_a_route_may_lead_through_a_router() -> None:
    """Routers forward without set-up; the sender of a hop pays its own."""
    network = Network(
        [1.0, 1.0], message_setup=[0.5, 0.25], topology="star", routers=["S"], rate=2.0
    )
    assert network.nodes == ("M1", "M2", "S")
    assert network.routing.route(0, 1) == [(0, 2), (2, 1)]
    assert network.routing.seconds(0, 1, 4.0) == 0.5 + 2.0 + 2.0


def test_the_routing_table_prints() -> None:
    """Hops and preferred link of each destination; unknown machines are refused."""
    network = Network([1.0] * 6, topology="mesh", shape=(2, 3))
    assert list(map(str, network.routing_table("M1"))) == [
        "to M2: 1 hop by M2",
        "to M3: 2 hops by M2",
        "to M4: 1 hop by M4",
        "to M5: 2 hops by M2",
        "to M6: 3 hops by M2",
    ]
    with pytest.raises(KeyError, match="no machine 'M7'"):
        network.routing_table("M7")


def test_asymmetric_rates() -> None:
    """A table of rates goes from row to column; one-way links likewise."""
    table = Network.complete(speeds=[1, 1], rate=[[0, 2], [4, 0]])
    links = Network([1, 1], topology="links", one_way_links=[("M1", "M2", 2.0), ("M2", "M1", 4.0)])
    for network in (table, links):
        assert network.routing.seconds_per_unit.tolist() == [[0.0, 0.5], [0.25, 0.0]]


def test_links_override_rates_of_a_topology() -> None:
    """A link given for a ring replaces the rate of that link, in both directions."""
    network = Network([1.0] * 4, topology="ring", rate=1.0, links=[("M1", "M2", 8.0)])
    assert network.arcs[0, 1] == network.arcs[1, 0] == 8.0
    assert network.arcs[1, 2] == 1.0


def test_media() -> None:
    """A duplex link has two media, a half-duplex one has one, a bus one in all."""
    duplex, half = Network([1, 1]), Network([1, 1], duplex=False)
    bus = Network([1, 1, 1], topology="bus")
    assert duplex.medium[0, 1] != duplex.medium[1, 0]
    assert half.medium[0, 1] == half.medium[1, 0]
    assert len(np.unique(bus.medium)) == 1


def test_large_networks_are_routed_quickly_enough_to_use() -> None:
    """A torus of 400 machines is routed, and its farthest machines are 20 hops apart."""
    network = Network(np.ones(400), topology="torus", shape=(20, 20))
    assert int(network.routing.hops.max()) == 20


def test_cores_are_as_many_as_floats_count() -> None:
    """More than any machine has are allowed, more than whole numbers that are floats are not."""
    dag = Dag({"a": 1.0, "b": 1.0}, [("a", "b", 9.0)])
    assert solve(TaskGraph(dag, Network([1.0], cores=10**12))).makespan == 2.0
    with pytest.raises(ProblemError, match="a whole number from 1 to 9,007,199,254,740,991"):
        TaskGraph(dag, Network([1.0], cores=2**63 - 1))


def test_nodes_are_complete_and_meet_behind_their_cards() -> None:
    """Two nodes of two: a direct link within, over both cards and the switch between."""
    network = Network([1.0] * 4, topology="nodes", shape=[2, 2], links=[("card 1", "switch", 0.5)])
    assert network.nodes == ("M1", "M2", "M3", "M4", "card 1", "card 2", "switch")
    hops = network.routing.hops[:4, :4]
    assert hops.tolist() == [[0, 1, 4, 4], [1, 0, 4, 4], [4, 4, 0, 1], [4, 4, 1, 0]]
    assert network.routing.seconds(0, 2, 3.0) == 3 + 6 + 3 + 3
    for fields, said in (
        ({"shape": [2]}, "the nodes and the machines of each"),
        ({}, r"2 nodes of 4 machines are \[2, 4\]"),
        ({"shape": [2, 2], "routers": ["r"]}, "they are the cards"),
        ({"shape": [3, 2]}, "holds 6 machines, but there are 4"),
    ):
        with pytest.raises(ProblemError, match=said):
            TaskGraph(Dag({"a": 1}, []), Network([1.0] * 4, topology="nodes", **fields))
