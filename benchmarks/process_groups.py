"""Collectives of groups of machines that share a network, all at once.

``python -m benchmarks.process_groups``: groups of neighbours, as of machines that share a model's
layers, and groups across racks or nodes, as of those that share its data. 3 s of CPU time each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.table import Table
from makespan import Interconnect, Reduction, solve
from makespan.core.system.startup import by_processor

SECONDS = 3.0
SHAPES = (16, 4, 4), (32, 4, 8), (64, 8, 8)  # machines, groups, segments of each
RACK_FACTOR = 6.0


def in_groups(
    machines: int, groups: int, segments: int, *, across: bool, combine: bool, **times: Any
) -> Reduction:
    """Return an all-reduce in each group or, where parts aren't combined, an all-gather."""
    size = machines // groups
    members = np.arange(1, machines + 1).reshape(
        (size, groups) if across else (groups, size), order="C"
    )
    lists = (members.T if across else members).tolist()
    after = [each for each in lists for _ in range(segments)]
    held = [[each[place % size]] for each in lists for place in range(segments)]
    return Reduction(
        machines=None if "network" in times else machines, segments=len(after), after=after,
        collective="custom", combine=combine, before=after if combine else held, **times,
    )  # fmt: skip


def links_of(name: str, machines: int) -> dict[str, Any]:
    """Return the times of equal machines, of two racks, or the network of nodes with a card."""
    if name == "equal":
        return {"transfer": 1.0, "latency": 0.5}
    if name == "racks":
        rack = np.arange(machines) // (machines // 2)
        within = rack[:, None] == rack
        return {"transfer": np.where(within, 1.0, RACK_FACTOR)}
    cards = [(f"card {node + 1}", "switch", 1.0) for node in range(4)]
    shape = [4, machines // 4]
    network = Interconnect(machines, topology="nodes", shape=shape, rate=4.0, links=cards)
    return {"network": network}


def main() -> None:
    """Plan all, print and write the table."""
    columns = "collective", "machines", "groups", "segments each", "links", "makespan", "bound"
    table = Table(
        "process_groups",
        "Collectives of groups that share a network",
        f"Two racks: 1 within, {RACK_FACTOR:g} between. Four nodes: a card each, a quarter as fast "
        f"as links within. {SECONDS:g} s of CPU time each.",
        (*columns, "above it"),
        clock="CPU time",
    )
    for combine in (True, False):
        for machines, groups, segments in SHAPES:
            for across in (False, True):
                for links in ("equal", "racks", "nodes"):
                    problem = in_groups(
                        machines, groups, segments, across=across, combine=combine,
                        **links_of(links, machines),
                    )  # fmt: skip
                    with by_processor():
                        found = solve(problem, time_limit=SECONDS)
                    assert found.makespan is not None
                    assert found.lower_bound is not None
                    above = found.makespan / found.lower_bound - 1
                    table.add(
                        "all-reduce" if combine else "all-gather", machines,
                        f"{groups} {'across' if across else 'of neighbours'}", segments, links,
                        f"{found.makespan:g}", f"{found.lower_bound:g}", f"{100 * above:.0f} %",
                    )  # fmt: skip
    table.write()


if __name__ == "__main__":
    main()
