"""What can be wrong with a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from makespan.core.inputs.mistakes import Mistakes, shown
from makespan.core.inputs.rules import Rule
from makespan.core.network.checks import check_links, check_nodes, known_ends

if TYPE_CHECKING:
    from makespan.taskgraph.model.network import Network

SPEED = Rule("a speed is above 0 units of work per second", strictly=True)
SETUP = Rule("a set-up takes 0 or more seconds")
PRICE = Rule("a price is 0 or more")
DELAY = Rule("a delay is 0 or more seconds")


def collect(network: Network, mistakes: Mistakes) -> None:
    """Note every mistake of ``network``."""
    before = len(mistakes.found)
    _numbers(network, mistakes)
    check_nodes(network, mistakes)
    if len(mistakes.found) == before:
        check_links(network, mistakes)
        _delays(network, mistakes)
    if len(mistakes.found) == before:
        _reach(network, mistakes)


def _numbers(network: Network, mistakes: Mistakes) -> None:
    for name, rule in (
        ("speed", SPEED), ("task_setup", SETUP), ("message_setup", SETUP), ("price", PRICE),
        ("start_price", PRICE),
    ):  # fmt: skip
        mistakes.column(
            lambda machine, name=name: f"network.machines[{machine}].{name}",  # type: ignore[misc]
            getattr(network, name),
            rule,
        )


def _delays(network: Network, mistakes: Mistakes) -> None:
    known = set(network.names)
    for index, (pair, seconds) in enumerate(network.delays.items()):
        place = f"network.delays[{index}]"
        mistakes.number(f"{place}.seconds", seconds, DELAY)
        if not isinstance(pair, tuple) or len(pair) != 2:
            mistakes.add(place, f"{shown(pair)} is not a pair of machines")
        else:
            known_ends(place, pair, network.names, known, mistakes)


def _reach(network: Network, mistakes: Mistakes) -> None:
    """Note a pair of machines without a route."""
    count = len(network)
    missing = np.argwhere(network.routing.hops[:count, :count] < 0)
    if len(missing):
        a, b = missing[0].tolist()
        mistakes.add(
            "network.links",
            f"there is no route from {network.nodes[a]!r} to {network.nodes[b]!r}; "
            "every machine reaches every other",
        )
