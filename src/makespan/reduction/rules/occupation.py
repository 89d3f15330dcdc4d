"""What a copy over each way takes, and which ports and links it holds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.reduction.problem import Reduction
from makespan.reduction.rules.reversal import broadcast_of, links_of_copies, ports_of_copies


class Occupation(NamedTuple):
    """The ways by which segments are copied, a row each, in reversed time where parts are combined.

    Times are whole numbers of ``unit`` where there is one, else seconds.

    Parameters
    ----------
    giver, taker
        The machines at both ends.
    latency
        Before what is sent begins to arrive.
    lasts, prepare
        For how long a segment of size 1 is sent, and what the giver does before that.
    holds
        Ports and shared links, numbered from 0, then -1; the first is the giver's port, the
        number of its unit, too.
    after
        How long after the start of a copy it holds each of these, for as long as it is sent.
    size
        The size of every segment.
    """

    giver: Integers
    taker: Integers
    latency: Any
    lasts: Any
    prepare: Any
    holds: Integers
    after: Any
    size: Any
    unit: Fraction | None

    def columns(self) -> dict[str, Any]:
        """Return the columns by the names of the parameters of a loop."""
        columns = self._asdict()
        del columns["unit"]
        return {"occupied" if name == "holds" else name: value for name, value in columns.items()}

    def take(self, rows: Any) -> Occupation:
        """Return some of the ways."""
        giver, taker, latency, lasts, prepare, holds, after = (
            np.ascontiguousarray(column[rows]) for column in self[:7]
        )
        return self._replace(
            giver=giver, taker=taker, latency=latency, lasts=lasts, prepare=prepare, holds=holds,
            after=after,
        )  # fmt: skip


def occupation_of(problem: Reduction) -> Occupation:
    """Return all ways of a problem in which segments are only copied, or only combined.

    Complexity: O(n²) times the shared links on a way.
    """
    count = len(problem.machines)
    tables = broadcast_of(problem).over(count)
    giver, taker = np.nonzero((tables.transfer >= 0) & ~np.eye(count, dtype=bool))
    exits, entries, owner, _ = ports_of_copies(problem)
    sending = giver if exits is None else exits[giver, taker]
    receiving = taker if entries is None else entries[giver, taker]
    latency = tables.latency[giver, taker]
    holds = [sending, len(owner) + receiving]
    after = [np.zeros_like(latency), latency]
    shared, ahead, _ = links_of_copies(problem, tables)
    if shared is not None:
        first = len(owner) + int(receiving.max()) + 1
        for place in range(shared.shape[2]):
            number = shared[giver, taker, place]
            holds.append(np.where(number < 0, -1, first + number))
            after.append(ahead[giver, taker, place])
    return Occupation(
        giver, taker, latency, tables.transfer[giver, taker], tables.reduce[giver],
        np.column_stack(holds), np.column_stack(after), tables.size, tables.unit,
    )  # fmt: skip
