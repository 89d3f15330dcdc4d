"""Plans of a front as they stand in the details of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from makespan.divisible.model.plan import Plan


def entry_of(names: Sequence[str], plan: Plan, behind: Sequence[int]) -> dict[str, Any]:
    """Return a plan with its workers by name; what is not asked of it is left out.

    >>> entry_of(["A", "B"], Plan.of([1, 0], [2.0, 3.0], master=1.0), ())
    {'chunks': [['B', 2.0], ['A', 3.0]], 'master': 1.0}
    """
    chunks = zip(plan.worker.tolist(), plan.amount.tolist(), strict=True)
    data: dict[str, Any] = {"chunks": [[names[worker], amount] for worker, amount in chunks]}
    if plan.master:
        data["master"] = plan.master
    if plan.transfers is not None and (plan.transfers < 0).any():
        data["transfers"] = plan.transfers.tolist()
    return data | ({"behind": list(behind)} if behind else {})


def plan_of(names: Sequence[str], entry: Mapping[str, Any]) -> tuple[Plan, tuple[int, ...] | None]:
    """Return the plan of an entry, and behind whose receptions its chunks are computed.

    >>> plan_of(["A", "B"], {"chunks": [["B", 2.0]]})[0].worker.tolist()
    [1]
    """
    position = {name: index for index, name in enumerate(names)}
    chunks = entry["chunks"]
    plan = Plan.of(
        [position[name] for name, _ in chunks],
        [amount for _, amount in chunks],
        master=entry.get("master", 0.0),
        transfers=entry.get("transfers"),
    )
    return plan, tuple(entry["behind"]) if "behind" in entry else None
