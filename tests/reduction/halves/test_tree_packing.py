"""Plans in which every way is used in proportion to a packing of spanning trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import makespan
from makespan import Interconnect, MethodError, Reduction
from makespan.core.control import Control
from makespan.reduction.generate import generate
from makespan.reduction.halves.tree_packing import _Search
from makespan.reduction.heuristics.symmetry import schedule_at
from tests.thorough import few

COLLECTIVES = ("broadcast", "reduce", "all-gather", "reduce-scatter")
EVERY_WAY = [
    (topology, ports, COLLECTIVES[(place + turn) % 4])
    for turn in range(4)
    for place, topology in enumerate(("torus", "switch", "nodes", "bus"))
    for ports in ("machines", "links")
]


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(("topology", "ports", "collective"), few(EVERY_WAY, 4, thorough=16))
def test_plans_are_valid_and_end_when_the_loop_says(
    topology: str, ports: Any, collective: Any
) -> None:
    """Ports, units and shared links are free when the loop takes them, in both of its forms."""
    problem = generate(
        np.random.default_rng(7), machines=8, segments=8, network=topology, spread=0.5,
        collective=collective, ports=ports,
    )  # fmt: skip
    search = _Search(problem, Control())
    search.styles = search.styles[::4]
    for _ in range(len(search.styles) + 4):
        search.run()
    assert search.found is not None
    schedule = schedule_at(problem, *search.found)
    assert makespan.check(problem, schedule).ok
    assert schedule.makespan <= float(search.end) * float(search.ways.unit or 1) * (1 + 1e-9)
    assert search.end >= search.bound * (1 - 1e-9)


@pytest.mark.parametrize("seed", few(24, 6))
def test_plans_of_uneven_networks_are_valid(seed: int) -> None:
    """Switches, missing and shared links, segments of several sizes."""
    rng = np.random.default_rng(seed)
    topology = ("star", "ring", "mesh", "tree", "nodes", "hypercube")[seed % 6]
    problem = generate(
        rng, machines=8, segments=int(rng.integers(1, 20)), network=topology, spread=0.6,
        collective=COLLECTIVES[seed % 4], decimals=3,
    )  # fmt: skip
    if seed % 2:
        sizes = rng.uniform(0.2, 3.0, problem.items)
        problem = makespan.Reduction(
            network=problem.network, segments=problem.segments, segment_sizes=sizes,
            collective=problem.collective, reduce=problem.reduce,
        )  # fmt: skip
    result = makespan.solve(problem, method="tree-packing", runs=6)
    assert makespan.check(result).ok
    assert result.makespan >= result.lower_bound * (1 - 1e-9)


@pytest.mark.thorough
def test_what_a_row_of_machines_can_do_is_done() -> None:
    """There is one way to everybody; whoever passes everything on is never idle."""
    network = Interconnect(9, topology="mesh", shape=[9], latency=1.0)
    problem = Reduction(network=network, segments=50, collective="broadcast")
    assert makespan.solve(problem, method="tree-packing").status == "optimal"


def test_two_boxes_behind_links_of_their_own() -> None:
    """As accelerators are wired: 8 of each box on a switch, each with a slow link to the other.

    Every machine gets something by both ports without a pause: the bound is nearly met, which no
    plan does that sends each segment over one slow link only.
    """
    links = [(f"{box}{gpu}", f"switch {box}", 12.0) for box in "ab" for gpu in range(4)]
    slow = [(f"a{gpu}", f"b{gpu}", 1.0) for gpu in range(4)]
    network = Interconnect(
        [f"{box}{gpu}" for box in "ab" for gpu in range(4)], topology="links", ports="links",
        routers=["switch a", "switch b"], links=[*links, *slow],
    )  # fmt: skip
    problem = Reduction(network=network, segments=104, collective="all-gather")
    result = makespan.solve(problem, method="tree-packing", runs=24)
    assert result.makespan <= 1.1 * result.lower_bound


@pytest.mark.usefixtures("form")
def test_more_on_the_way_than_there_is_room_for() -> None:
    """Of latencies of a hundred transfers, most transfers are on the way at a time."""
    network = Interconnect(3, topology="ring", latency=100.0, links=[("M1", "M2", 1.0, 250.0)])
    problem = Reduction(network=network, segments=300, collective="broadcast")
    result = makespan.solve(problem, method="tree-packing", runs=2)
    assert makespan.check(result).ok


def test_needs() -> None:
    """A network, and segments that all need."""
    ring = Interconnect(4, topology="ring")
    for problem, said in (
        (Reduction(machines=4, segments=4, transfer=1.0), "times that differ"),
        (Reduction(network=ring, segments=4, collective="gather"), "segments that all of 2 to 64"),
    ):
        with pytest.raises(MethodError, match=said):
            makespan.solve(problem, method="tree-packing")
