"""Which segments lie in the arrays of a rank, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from makespan.reduction.model import ALL, AT_ROOT, DEALT, ENDS, OWN, ROOT, Bools, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """What one rank has of the segments before a collective, and gets by it.

    ``own`` are the segments of the array that it gives, and ``result`` of the one that it gets, in
    their order there; None where it has no such array. It has those that are ``held`` before, and
    must have those that are ``wanted`` after. ``blocks`` has the block of every segment. All that
    are dealt from one rank to another are a block; where none are dealt, all segments are.
    """

    blocks: tuple[int, ...]
    own: tuple[int, ...] | None
    result: tuple[int, ...] | None
    held: tuple[bool, ...]
    wanted: tuple[bool, ...]


def ends_of(collective: str, statement: Statement, ranks: Sequence[int]) -> list[Ends]:
    """Return the ends of every rank; machine i of the statement is rank ``ranks[i]``.

    An array has its blocks in the order of the ranks that they are from, or for, as MPI has them.
    A custom collective has all segments in both arrays.

    >>> from makespan.reduction.model import statement_of
    >>> statement = statement_of("gather", 2, 4, None, None, False)
    >>> [(each.own, each.result) for each in ends_of("gather", statement, [0, 1])]
    [((0, 2), (0, 2, 1, 3)), ((1, 3), None)]
    """
    first, last = ENDS.get(collective, (ALL, ALL))
    before, after = statement.before, statement.after
    blocks = np.zeros(before.shape[1], dtype=np.int64)
    for where, table in ((first, before), (last, after)):
        if where in (OWN, DEALT):
            blocks = blocks * len(ranks) + np.asarray(ranks)[table.argmax(axis=0)]
    order = np.argsort(blocks, kind="stable")
    whole = collective not in ENDS

    def array(where: str, holds: Bools, machine: int) -> tuple[int, ...] | None:
        if where == AT_ROOT and machine != ROOT:
            return None
        return tuple(order[holds[order] | whole].tolist())

    found: list[Ends | None] = [None] * len(ranks)
    for machine, rank in enumerate(ranks):
        result = array(last, after[machine], machine)
        found[rank] = Ends(
            blocks=tuple(blocks.tolist()),
            own=array(first, before[machine], machine),
            result=None if whole and not after[machine].any() else result,
            held=tuple(before[machine].tolist()),
            wanted=tuple(after[machine].tolist()),
        )
    return found  # type: ignore[return-value]
