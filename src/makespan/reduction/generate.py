"""Random reductions."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from makespan.core.inputs.rules import Mistakes, Rule
from makespan.core.network.checks import squarish
from makespan.core.network.interconnect import Interconnect
from makespan.reduction.problem import Collective, Reduction


def generate(
    rng: np.random.Generator,
    *,
    machines: int = 8,
    segments: int = 4,
    latency: float = 1.0,  # mean times, seconds
    transfer: float = 1.0,
    reduce: float = 1.0,
    spread: float = 0.0,  # times from 1 - spread to 1 + spread of the means, uniform
    collective: Collective = "reduce",  # as in :class:`~makespan.Reduction`
    decimals: Literal[0, 1, 2, 3] = 1,  # what times are rounded to, so that they have a common unit
    network: str | None = None,
    devices: int = 4,  # machines of each of the ``nodes``, which meet behind a card each
    ports: Literal["machines", "links"] = "machines",  # a pair each, or for each link
) -> Reduction:
    """Return a reduction with times around the given ones, one per pair of machines and one per
    machine.

    ``network`` is a topology (:class:`~makespan.Interconnect`), or ``"switch"``, with such times
    for a link; meshes and tori are as square as possible. None: each to each, in tables.
    """
    mistakes = Mistakes()
    mistakes.number("spread", spread, Rule("a spread is from 0 to 1", high=1.0))
    mistakes.raise_if_any()
    ends: dict[str, Any] = {}
    if collective == "custom":  # copies from anywhere to anywhere
        ends["before"] = rng.integers(1, machines + 1, (segments, 1)).tolist()
        wanted = rng.integers(0, 2, (segments, machines)).astype(bool)
        ends["after"] = [(np.flatnonzero(row) + 1).tolist() for row in wanted]
    given: dict[str, Any] = {"segments": segments, "collective": collective, **ends}

    def around(mean: float, *shape: int) -> np.ndarray:
        return np.round(mean * rng.uniform(1 - spread, 1 + spread, shape), decimals)

    if network is not None:
        near = around if spread else None
        links = _network(machines, network, devices, ports, latency, transfer, near)
        own = around(reduce, machines) if spread else reduce
        return Reduction(network=links, reduce=own, **given)
    if spread == 0:
        given |= {"latency": latency, "transfer": transfer, "reduce": reduce}
        return Reduction(machines=machines, **given)
    return Reduction(
        machines=machines,
        latency=around(latency, machines, machines),
        transfer=around(transfer, machines, machines),
        reduce=around(reduce, machines),
        **given,
    )


def _network(
    machines: int, topology: str, devices: int, ports: str, latency: float, transfer: float,
    near: Callable[[float], Any] | None,
) -> Interconnect:  # fmt: skip
    """Return a network whose links take the given times, or times ``near`` them."""
    shape = squarish(machines) if topology in ("mesh", "torus") else ()
    if topology == "nodes":
        shape = (machines // max(1, devices), devices)
    fields: dict[str, Any] = {"topology": topology, "shape": shape, "latency": latency}
    fields["ports"] = ports

    def rate(seconds: float) -> float:
        return 1 / seconds if seconds else np.inf

    if topology == "switch":
        fields |= {"topology": "star", "routers": ["switch"]}
    usual = Interconnect(machines, rate=rate(transfer), **fields)
    usual.collect_mistakes(mistakes := Mistakes())
    mistakes.raise_if_any()
    if near is None or topology in ("complete", "bus"):
        return usual
    nodes = usual.nodes
    fields["links"] = [
        (nodes[one], nodes[other], rate(float(near(transfer))), float(near(latency)))
        for one, other in np.argwhere(np.triu(usual.arcs)).tolist()
    ]
    return Interconnect(machines, rate=usual.rate, **fields)
