"""Networks of collectives: ways by routers, links that are shared, and what is refused."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import makespan
from makespan import InputError, Interconnect, ProblemError, Reduction
from makespan.core.control import Control
from makespan.core.schedule import Schedule
from makespan.flow.picture import drawing
from makespan.reduction.bounds import bounds
from makespan.reduction.generate import generate
from makespan.reduction.halves.rarest_first import Spreader
from makespan.reduction.heuristics.symmetry import schedule_from_copies
from tests.oracles import reduction_brute as oracle
from tests.reduction.test_claims import all_are_true
from tests.thorough import few


def made(seed: int) -> tuple[Reduction, float | None]:
    """Return a problem with a network that can be done, and its optimum."""
    rng = random.Random(seed)
    while True:
        try:
            problem = oracle.random_problem(rng, network=True)
        except ProblemError:
            continue
        if oracle.covers(problem):
            return problem, oracle.best(problem)


COLLECTIVES = ["broadcast", "reduce", "all-to-all", "reduce-scatter"]


@pytest.mark.parametrize("seed", few(150, 4, thorough=36))
def test_methods_and_bounds_claim_only_what_is_true(seed: int) -> None:
    """Every method that applies, CP-SAT on some; every bound, and the grain."""
    without = ("cp-sat",) if seed >= 40 else ()
    all_are_true(*made(seed), without=without, exact=("cp-sat",), time_limit=2.0)


@pytest.mark.parametrize("seed", range(40))
def test_ways_are_those_of_a_plain_search(seed: int) -> None:
    """Latency and slowest link of every way; missing where there is none."""
    rng = random.Random(seed)
    network = oracle.random_network(rng, rng.randint(2, 6))
    ways, expected = network.ways, oracle.network_ways(network)
    for pair in np.ndindex(len(network), len(network)):
        if pair[0] == pair[1]:
            continue
        latency, seconds, links = expected.get(pair, (np.inf, np.inf, ()))
        assert (ways.latency[pair], ways.seconds[pair]) == (float(latency), float(seconds))
        assert (ways.shared[pair] >= 0).sum() <= len(links)


def two_nodes(**fields: Any) -> Reduction:
    """Return a collective on two nodes of two machines behind a card each."""
    network = Interconnect(4, topology="nodes", shape=[2, 2], rate=2.0, latency=0.5)
    return Reduction(**{"network": network, "segments": 4, "reduce": 0.0, **fields})


def test_cards_carry_one_transfer_at_a_time() -> None:
    """The referee refuses two sends through one card at a time, and retiming puts them in turn."""
    problem = two_nodes(collective="all-to-all", segments=4)
    free = replace(problem, network=None)
    result = makespan.solve(free, method="direct")
    found = {violation.rule for violation in makespan.check(problem, result.schedule).violations}
    assert found == {"shared-link"}
    message = str(makespan.check(problem, result.schedule))
    assert "the link card 1 → switch carries S" in message
    repaired = makespan.solve(problem, method="direct")
    assert makespan.check(repaired).ok
    assert repaired.makespan > result.makespan


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("collective", few(COLLECTIVES, 1))
def test_rarest_first_keeps_to_cards_with_both_forms_of_its_loop(collective: Any) -> None:
    """Its own times are those of the plan: links are taken in the order of its decisions."""
    problem = two_nodes(collective=collective, reduce=0.25)
    spreader = Spreader(problem, Control())
    assert spreader.run(1, 0)
    schedule = schedule_from_copies(problem, spreader.copies)
    assert schedule.makespan <= float(spreader.end * spreader.unit)
    assert makespan.check(problem, schedule).ok


def test_uniform_networks_are_plain_problems() -> None:
    """A switch, or links from each to each: the same times everywhere, and all methods for them."""
    switch = Interconnect(8, topology="star", routers=["switch"], rate=4.0, latency=0.25)
    problem = Reduction(network=switch, segments=8, reduce=0.5, collective="broadcast")
    assert problem.times == (0.5, 0.25, 0.0)
    same = Reduction(machines=8, segments=8, latency=0.5, transfer=0.25, collective="broadcast")
    assert makespan.solve(problem).makespan == makespan.solve(same).makespan


@pytest.mark.parametrize(
    ("network", "collective", "optimum"),
    [
        (Interconnect(5, topology="bus", latency=0.5), "all-gather", 20.5),
        (Interconnect(5, topology="bus", latency=0.5), "all-reduce", 40.5),
        (Interconnect(8, topology="nodes", shape=[2, 4], latency=0.5), "all-to-all", 18.0),
        (Interconnect(4, topology="star", latency=0.5), "all-to-all", 9.5),
        (Interconnect(8, topology="mesh", shape=[8]), "scatter", 7.0),
        (Interconnect(16, topology="mesh", shape=[4, 4]), "scatter", 15.0),
    ],
)  # fmt: skip
def test_cuts_meet_the_optimum(network: Interconnect, collective: Any, optimum: float) -> None:
    """What a bus, a card, a hub or the middle of a chain must carry is what the plan takes."""
    problem = Reduction(network=network, segments=len(network), reduce=0.0, collective=collective)
    values = {bound.name: bound.value for bound in bounds(problem)}
    assert values["cuts"] <= optimum * (1 + 1e-9)
    result = makespan.solve(problem, time_limit=5.0)
    assert (result.makespan, result.status) == (optimum, "optimal")


def test_cuts_are_quick_for_many_machines() -> None:
    """Groups are fewer the more segments differ."""
    problem = Reduction(
        network=Interconnect(64, topology="torus", shape=[8, 8]),
        segments=64, collective="all-to-all",
    )  # fmt: skip
    values = {bound.name: bound.value for bound in bounds(problem)}
    assert values["cuts"] == pytest.approx(256.0)  # 4 hops on average, for each of 64 machines
    assert values["ports"] < 65


def by_links(topology: str, machines: int, **fields: Any) -> Reduction:
    """Return a collective in which machines have ports for each of their links."""
    network = Interconnect(machines, topology=topology, ports="links")
    return Reduction(**{"network": network, "segments": machines, "reduce": 0.0, **fields})


def large(*values):
    return pytest.param(*values, marks=pytest.mark.thorough)


@pytest.mark.parametrize(
    ("problem", "optimum"),
    [
        large(by_links("ring", 8, collective="all-gather", segments=16), 7.0),
        large(by_links("hypercube", 8, collective="all-gather", segments=24), 7.0),
        large(by_links("hypercube", 8, collective="all-to-all"), 4.0),
        (by_links("hypercube", 4, collective="all-gather", segments=8), 3.0),
        (by_links("complete", 5, collective="all-to-all", segments=5), 1.0),
        (by_links("complete", 5, collective="all-reduce", segments=20), 8.0),
        (by_links("ring", 6, collective="broadcast", segments=1), 3.0),
        (by_links("star", 4, collective="scatter", segments=4), 1.0),
        (by_links("bus", 4, collective="scatter", segments=4), 3.0),
    ],
)
def test_machines_use_all_their_links_at_once(problem: Reduction, optimum: float) -> None:
    """What enters a machine does so over all its links; a way takes its hops."""
    result = makespan.solve(problem, time_limit=60.0)
    assert (result.makespan, result.status) == (optimum, "optimal")
    assert makespan.check(result).ok


@pytest.mark.parametrize(("collective", "most"), [("all-gather", 62.0), ("reduce-scatter", 62.0)])
def test_slow_links_take_what_quick_ones_would_bring_later(collective: Any, most: float) -> None:
    """On a mesh ten times as slow down as across; what is sent as soon as can be takes 100."""
    machines = [[f"M{6 * row + place + 1}" for place in range(6)] for row in range(6)]
    links = [(one, other, 1.0) for row in machines for one, other in pairwise(row)]
    links += [(*pair, 0.1) for rows in pairwise(machines) for pair in zip(*rows, strict=True)]
    network = Interconnect(36, topology="links", links=links, ports="links")
    problem = Reduction(network=network, segments=36, collective=collective)
    result = makespan.solve(problem, method="rarest-first", restarts=1, rebuilds=0)
    assert makespan.check(result).ok
    assert 55.0 <= result.makespan <= most


def test_a_link_takes_one_transfer_at_a_time_in_each_direction() -> None:
    """The referee lets a machine send over two links at once, and not twice over one."""
    problem = by_links("complete", 3, collective="all-to-all", segments=3)
    rows = [(0, 0, 1, 1), (0, 0, 2, 2), (0, 1, 0, 3), (0, 1, 2, 5), (0, 2, 0, 6), (0, 2, 1, 7)]

    def plan(*sends: tuple[float, int, int, int]) -> Schedule:
        made = []
        for start, giver, taker, segment in sends:
            made.append(("send", giver, taker, segment, 1.0, start, start + 1))
            made.append(("reduce", taker, giver, segment, 1.0, start + 1, start + 1))
        return Schedule.of_rows(problem.machines, made)

    assert makespan.check(problem, plan(*rows)).ok
    one = replace(problem, network=Interconnect(3), latency=0.0, transfer=None)
    found = {violation.rule for violation in makespan.check(one, plan(*rows)).violations}
    assert found == {"send-port", "receive-port"}
    twice = replace(problem, collective="scatter", segments=6)
    early = plan((0, 0, 1, 1), (0, 0, 2, 2), (0.5, 0, 1, 4), (1, 0, 2, 5))
    sent, taken = makespan.check(twice, early).violations
    assert (sent.rule, taken.rule) == ("send-port", "receive-port")
    assert "M1 sends S5 from 0.5 on, but is busy with S2 until 1.0" in sent.message
    assert "M2 receives S5 from 0.5 on, but is busy with S2 until 1.0" in taken.message


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("collective", few(COLLECTIVES, 1))
def test_rarest_first_keeps_to_ports_of_links(collective: Any) -> None:
    """With both forms of its loop, its own times are those of the plan."""
    problem = by_links("ring", 5, collective=collective, reduce=0.25)
    spreader = Spreader(problem, Control())
    assert spreader.run(1, 0)
    schedule = schedule_from_copies(problem, spreader.copies)
    assert schedule.makespan <= float(spreader.end * spreader.unit)
    assert makespan.check(problem, schedule).ok


def test_parts_that_come_at_once_are_all_waited_for() -> None:
    """Each link has a unit; who sends waits for the last of them, whichever arrived last."""
    network = Interconnect(
        4, topology="links", ports="links", links=[("M2", "M3", 0.5), ("M2", "M4", 1.0)],
        one_way_links=[("M2", "M1", 1.0)],
    )  # fmt: skip
    problem = Reduction(network=network, segments=1, reduce=[0, 3, 0, 0])
    result = makespan.solve(problem)
    assert (result.makespan, result.status) == (6.0, "optimal")
    assert makespan.check(result).ok


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"order": "greedy", "collective": "reduce"}, "order: is for one port a machine"),
        ({"sequences": [[], [[1, 1]]]}, "sequences: is for one port a machine"),
    ],
)
def test_rules_for_one_port_are_refused_with_ports_of_links(fields: Any, message: str) -> None:
    """They say in which order a machine sends, and here it sends on several ports at once."""
    with pytest.raises(ProblemError, match=message):
        by_links("complete", 2, segments=1, **fields)
    with pytest.raises(ProblemError, match=r"network\.ports: 'cables' is not allowed"):
        Reduction(network=Interconnect(2, ports="cables"), segments=1)


def test_files_state_networks(tmp_path: Path) -> None:
    """Written and read again; a result can be read, too."""
    network = Interconnect(
        ["a", "b", "c"], topology="links", routers=["r"], duplex=False, ports="links",
        links=[("a", "r", 2.0, 0.5), ("r", "b", 1.0)],
        one_way_links=[("r", "c", 3.0), ("c", "a", 1.0)],
    )  # fmt: skip
    problem = Reduction(network=network, segments=2, collective="broadcast")
    for name in ("problem.toml", "problem.json"):
        makespan.save(problem, tmp_path / name)
        assert makespan.read_problem(tmp_path / name) == problem
    plan = makespan.solve(problem, method="shortest-paths")
    makespan.save(plan, tmp_path / "plan.json")
    assert makespan.read_result(tmp_path / "plan.json").problem == problem


@pytest.mark.parametrize("ports", ["machines", "links"])
@pytest.mark.parametrize("collective", few(["reduce", "broadcast", "all-reduce"], 1, thorough=2))
def test_open_counts_of_segments_go_over_networks(
    ports: str, collective: Any, tmp_path: Path
) -> None:
    """Rates are bytes a second, links take the overhead; no count beats the bound over all."""
    network = Interconnect(
        3, topology="links", links=[("M1", "M2", 2.0, 0.5), ("M2", "M3", 1.0)], ports=ports
    )
    problem = Reduction(
        network=network, segments="auto", bytes=4.0, message_overhead=0.5, reduce_per_byte=0.25,
        collective=collective,
    )  # fmt: skip
    assert problem.with_segments(2).transfers[0, 1] == 1.5
    assert problem.with_segments(2).transfers[1, 2] == 2.5
    result = makespan.solve(problem, time_limit=2.0)
    assert makespan.check(result).ok
    for count in (1, 2):
        best = oracle.best(problem.with_segments(count))
        assert best is not None
        assert all(bound.value <= best * (1 + 1e-9) for bound in bounds(problem))
        assert result.makespan <= 1.6 * best
    makespan.save(problem, tmp_path / "problem.toml")
    assert makespan.read_problem(tmp_path / "problem.toml") == problem


def test_open_counts_of_segments_go_without_links(tmp_path: Path) -> None:
    """Infinity per byte is a missing link: the same as the network without it."""
    none = np.inf
    problem = Reduction(
        machines=3, segments="auto", bytes=4.0, message_overhead=0.5, latency=0.5,
        transfer_per_byte=[[0, 0.5, none], [0.5, 0, 1.0], [none, 1.0, 0]], collective="broadcast",
    )  # fmt: skip
    network = Interconnect(
        3, topology="links", latency=0.5, links=[("M1", "M2", 2.0), ("M2", "M3", 1.0)]
    )
    same = replace(problem, network=network, latency=0.0, transfer_per_byte=None)
    results = [makespan.solve(each, time_limit=1.0) for each in (problem, same)]
    assert results[0].makespan == pytest.approx(results[1].makespan)
    assert makespan.check(results[0]).ok
    makespan.save(problem, tmp_path / "problem.json")
    assert makespan.read_problem(tmp_path / "problem.json") == problem
    with pytest.raises(ProblemError, match="transfer_per_byte: over the links that there are"):
        replace(problem, transfer_per_byte=[[0, 0.5, none], [0.5, 0, none], [none, none, 0]])


def test_refusals() -> None:
    """Fields that contradict a network, and what is wrong with the network itself."""
    ring = Interconnect(4, topology="ring")
    bus = Interconnect(4, topology="bus")
    for fields, said in (
        ({"network": ring, "transfer": 1.0}, "transfer: can't be given beside a network"),
        ({"network": ring, "machines": 5}, "network: connects other machines"),
        (
            {"network": ring, "segments": "auto", "message_overhead": np.ones((4, 4))},
            "message_overhead: is one number beside a network",
        ),
        (
            {"network": ring, "segments": "auto", "message_overhead": [[0.1, 1.0], [5.0]]},
            "message_overhead: is one number beside a network",
        ),
        ({"network": "ring"}, "'ring' is not a makespan.Interconnect"),
        ({"network": bus, "order": "greedy"}, "a rule for links that are not shared"),
        ({"network": Interconnect(4, topology="mesh")}, "network.shape: is missing"),
        ({"network": Interconnect(4, latency=-1.0)}, "network.latency: -1.0 is negative"),
        (
            {"network": Interconnect(2, topology="links")},
            "network.links: over the links that there are, S1 has no way from M2 to M1",
        ),
        ({}, "machines: is missing"),
        ({"network": Interconnect(-1)}, "network.machines: -1 is negative"),
        ({"network": Interconnect("ring")}, "network.machines: 'ring' is not a whole number"),
    ):
        with pytest.raises(ProblemError, match=said):
            Reduction(**{"segments": 2, **fields})


@pytest.mark.parametrize(
    "topology",
    ["complete", "bus", "star", "switch", "ring", "mesh", "torus", "hypercube", "tree", "nodes"],
)
@pytest.mark.parametrize("spread", few([0.5, 0.0], 1))
def test_generated_networks(topology: str, spread: float) -> None:
    """Every topology can be asked for, follows the seed, and is planned."""
    options: dict[str, Any] = {"machines": 8, "segments": 8, "network": topology, "spread": spread}
    problem = generate(np.random.default_rng(3), collective="all-gather", **options)
    assert problem == generate(np.random.default_rng(3), collective="all-gather", **options)
    assert problem.network is not None
    latencies = problem.network.latencies[problem.network.arcs > 0]
    assert (len(np.unique(latencies)) > 1) == (spread > 0 and topology not in ("complete", "bus"))
    result = makespan.solve(problem, method="rarest-first", restarts=1, rebuilds=0)
    assert makespan.check(result).ok


def test_generated_networks_refuse_what_does_not_fit() -> None:
    for options, said in (
        ({"network": "hypercube", "machines": 6}, "a hypercube has 1, 2, 4, 8"),
        ({"network": "nodes", "machines": 6}, "holds 4 machines, but there are 6"),
        ({"network": "rings"}, "is not a topology; did you mean 'ring'"),
    ):
        with pytest.raises(ProblemError, match=said):
            generate(np.random.default_rng(1), **options)


def test_pictures_show_what_links_carry(tmp_path: Path) -> None:
    """Of a problem, rates and latencies; of a plan, the data over each link."""
    problem = two_nodes(collective="broadcast", segments=2)
    result = makespan.solve(problem, method="shortest-paths")
    makespan.save(problem, tmp_path / "problem.svg", view="platform")
    makespan.save(result, tmp_path / "plan.svg", view="platform")
    assert "rate of every link: 2, latency 0.5" in (tmp_path / "problem.svg").read_text()
    drawn = drawing(result, "platform")
    labels = dict(zip(zip(drawn.edges.source, drawn.edges.target, strict=True), drawn.edges.label,
                      strict=True))  # fmt: skip
    assert labels[4, 6] == labels[5, 6]  # what leaves one node enters the other
    assert float(labels[4, 6]) >= 2
    with pytest.raises(InputError, match="the problem states none"):
        makespan.save(replace(problem, network=None), tmp_path / "none.svg", view="platform")


@pytest.mark.parametrize("name", ["ring", "nodes"])
def test_examples(name: str) -> None:
    problem = makespan.read_problem(Path(__file__).parents[2] / f"examples/networks/{name}.toml")
    result = makespan.solve(problem, method="rarest-first", restarts=12, rebuilds=0)
    assert makespan.check(result).ok
    assert result.lower_bound > 0.6 * result.makespan


def test_two_levels_are_crossed_once() -> None:
    """Each segment passes a card once for each other node, better than a ring does."""
    problem = makespan.read_problem(Path(__file__).parents[2] / "examples/networks/nodes.toml")
    ours = makespan.solve(problem, method="rarest-first", restarts=40, rebuilds=0)
    assert ours.makespan < makespan.solve(problem, method="ring").makespan
    assert ours.makespan < 1.15 * ours.lower_bound
    everywhere = replace(problem, collective="all-reduce")
    values = {bound.name: bound.value for bound in bounds(everywhere)}
    assert 48 < values["cuts"] < 51  # of four nodes, each sends 3/4 of all segments twice


@pytest.mark.parametrize("name", ["latency", "transfer"])
def test_no_other_costs_beside_a_network(name: str) -> None:
    """Whatever form they have; its own are the same problem."""
    network = Interconnect(4, topology="ring", latency=1.0)
    for other in (2.5, [[1.0], [2.0, 3.0]], "x"):
        with pytest.raises(ProblemError, match=f"{name}: can't be given beside a network"):
            Reduction(network=network, segments=2, **{name: other})
    plain = Reduction(network=network, segments=2)
    assert replace(plain, **{name: getattr(plain, name)}) == plain


def test_a_table_without_machines_is_named() -> None:
    """Also where costs a byte are open."""
    with pytest.raises(ProblemError, match="machines"):
        Reduction(
            machines=[], segments="auto", bytes=10.0, transfer_per_byte=[[2.0, 3.0], [], [1.0]]
        )
