"""Which problems fit a board, where transfers follow from what computes where and when."""

from collections.abc import Callable, Mapping
from typing import Any

MOST = 200  # tasks, machines or segments that a person can place
Test = tuple[str, Callable[[Any], bool], str]
UNFIT: Mapping[str, tuple[Test, ...]] = {
    "taskgraph": (
        ("columns", lambda p: "columns" in p, f"more than {MOST} tasks are not placed by hand"),
        ("network", lambda p: bool(set(p["network"]) - {"machines", "rate", "topology"}) or
         p["network"].get("topology", "complete") != "complete" or
         isinstance(p["network"].get("rate"), list),
         "transfers are filled in where all pairs of machines have links of one rate"),
        ("contention", lambda p: p.get("contention", "none") != "none",
         "transfers are filled in where they don't wait for one another"),
    ),
    "divisible": (
        ("platform", lambda p: "workers" not in p["platform"] or
         any("return" in each for each in p["platform"]["workers"]),
         "loads are placed on the workers of a star or a bus, without results"),
        ("rounds", lambda p: p.get("rounds", 1) != 1 or "load" not in p,
         "a given load is placed, in one round"),
    ),
    "reduction": (
        ("network", lambda p: "network" in p or "transfer" not in p or
         not isinstance(p["segments"], int),
         "messages of given segments are placed where each pair of machines has a link"),
    ),
    "pipeline": (("kind", lambda _: True, "pipelines are not placed by hand"),),
}  # fmt: skip
"""By kind: a place, whether what a file has there does not fit, and why."""


def misfits(stated: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return why a problem, as files have it, does not fit a board, each with its place.

    >>> misfits({"kind": "independent", "machines": 300, "durations": [1.0]})
    [('machines', '300 are more than 200, the most that are placed by hand')]
    """
    found = [(place, why) for place, test, why in UNFIT.get(stated["kind"], ()) if test(stated)]
    for name in ("tasks", "durations", "resources", "machines", "segments"):
        many = stated.get(name, 0)
        count = len(many) if isinstance(many, list) else many
        if isinstance(count, int) and count > MOST and stated["kind"] != "partition":
            found.append((name, f"{count} are more than {MOST}, the most that are placed by hand"))
    return found
