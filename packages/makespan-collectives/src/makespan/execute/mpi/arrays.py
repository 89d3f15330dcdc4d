"""The arrays of a call: what is taken, and where their segments lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from makespan.core.errors import InputError
from makespan.core.inputs.rules import quoted
from makespan.core.numeric.arrays import Floats
from makespan.execute.collectives.ends import Ends
from makespan.execute.mpi.world import mpi
from makespan.reduction.problem import Reduction

Array = NDArray[Any]
UNDIVIDED = ("reduce", "broadcast", "all-reduce", "custom")
APART = ("gather", "all-gather")  # every rank contributes a block


def arrays_of(
    collective: str, has_own: bool, has_result: bool, sendbuf: Any, recvbuf: Any
) -> tuple[Array | None, Array | None]:
    """Return what a rank contributes, and what takes the result, as they lie in memory.

    In place, and in a broadcast, that is one array; None where the rank has none.
    Raises InputError if the arrays are not of the form that the collective takes.
    """
    in_place = mpi().IN_PLACE
    if collective == "broadcast":
        if recvbuf is not None or sendbuf is in_place:
            raise InputError("recvbuf: a broadcast has one array, which it fills elsewhere")
        array = _array("sendbuf", sendbuf, not has_own)
        return array, array
    if collective == "scatter":
        if sendbuf is in_place:
            raise InputError("sendbuf: in a scatter, MPI.IN_PLACE stands for the root's recvbuf")
        has_result = has_result and not (has_own and recvbuf is in_place)
    result = _array("recvbuf", recvbuf, True) if has_result else None
    if sendbuf is in_place:
        if result is None:
            raise InputError("sendbuf: MPI.IN_PLACE is for ranks that get the result")
        return result, result
    own = _array("sendbuf", sendbuf, False) if has_own else None
    if own is not None and result is not None:
        if own.dtype != result.dtype:
            raise InputError(f"recvbuf: is of {result.dtype}, sendbuf of {own.dtype}")
        if np.may_share_memory(own, result):
            raise InputError("recvbuf: overlaps with sendbuf; MPI.IN_PLACE stands for that")
    return own, result


def _array(name: str, given: Any, written: bool) -> Array:
    """Return an array as it lies in memory, one-dimensional."""
    array = np.asarray(given)
    if array.dtype.hasobject or given is None or given is mpi().IN_PLACE:
        raise InputError(f"{name}: {quoted(given)} is not an array of numbers")
    if not array.flags.c_contiguous:
        raise InputError(f"{name}: is not contiguous")
    is_copy = array.size > 0 and not np.may_share_memory(array, given)
    if written and (is_copy or not array.flags.writeable):
        raise InputError(f"{name}: can't be written")
    return array.reshape(-1)


def counts_of(collective: str, ranks: int, ends: Ends, given: Any) -> tuple[int, ...] | None:
    """Return how many elements each block has, as given; None for blocks of one length.

    ``ends`` are those of any rank. Raises InputError if the counts are not of the form that the
    collective takes, or if a block that may have elements has no segment.
    """
    shape, counts = (ranks,) * (1 + (collective == "all-to-all")), None
    if given is not None:
        if collective in UNDIVIDED:
            raise InputError(f"counts: the arrays of a collective {collective!r} have no blocks")
        table = np.asarray(given)
        if table.shape != shape or table.dtype.kind not in "iu" or (table < 0).any():
            form = " × ".join(map(str, shape))
            raise InputError(f"counts: {quoted(given)} is not {form} whole numbers of 0 or more")
        counts = tuple(table.ravel().tolist())
    dealt = set(ends.blocks)
    for block in range(1 if collective in UNDIVIDED else math.prod(shape)):
        if block not in dealt and (counts is None or counts[block]):
            raise InputError(
                f"plan: deals no segment to rank {block % ranks}; its block needs one, or a count "
                "of 0 in counts"
            )
    return counts


def lengths_of(sizes: Floats, blocks: Sequence[int], counts: Sequence[int] | int) -> list[int]:
    """Return the elements of every segment; those of a block are in proportion to their sizes.

    ``counts`` are the elements of every block, or of each.

    >>> lengths_of(np.ones(4), [0, 1, 0, 1], 5), lengths_of(np.ones(3), [0, 1, 0], [3, 2])
    ([2, 2, 3, 3], [2, 2, 1])
    """
    inside: dict[int, list[int]] = {}
    for segment, block in enumerate(blocks):
        inside.setdefault(block, []).append(segment)
    lengths = [0] * len(sizes)
    for block, segments in inside.items():
        cuts = cuts_of(sizes[segments], counts if isinstance(counts, int) else counts[block])
        for segment, (begin, end) in zip(segments, pairwise(cuts), strict=True):
            lengths[segment] = end - begin
    return lengths


class Parts(NamedTuple):
    """The elements of all segments, and where those lie that a rank contributes, and gets."""

    lengths: list[int]
    held: dict[int, Array]
    wanted: dict[int, Array]


def parts_of(
    ends: Ends,
    sizes: Floats,
    counts: Sequence[int] | None,
    own: Array | None,
    result: Array | None,
    copied: bool,
) -> Parts:
    """Cut the arrays of a rank into segments, or say which has the wrong size.

    Without ``own``, what is contributed lies in the result. ``copied`` says that ``own`` is a copy
    of the array whose beginning takes the result.
    """
    arrays = [("sendbuf", own, ends.own), ("recvbuf", result, ends.result)]
    name, array, order = next(each for each in arrays if each[1] is not None)
    assert array is not None
    each: Sequence[int] | int = counts or 0
    if counts is None:
        blocks = len({ends.blocks[segment] for segment in order or ()})
        each, rest = divmod(len(array), blocks)
        if rest:
            raise InputError(
                f"{name}: has {len(array):,} elements, not {blocks} blocks of one length"
            )
    lengths = lengths_of(sizes, ends.blocks, each)
    totals = [sum(lengths[segment] for segment in order or ()) for _, _, order in arrays]
    if own is not None:
        check_length("sendbuf", own, totals[0])
    if result is not None:
        result = result[: totals[1]] if copied else result
        check_length("recvbuf", result, totals[1])
    place = cut(result, ends.result, lengths)
    given = place if own is None else cut(own, ends.own, lengths)
    return Parts(
        lengths,
        {segment: part for segment, part in given.items() if ends.held[segment]},
        {segment: part for segment, part in place.items() if ends.wanted[segment]},
    )


def shares_of(problem: Reduction, ends: Ends, lengths: Sequence[int]) -> Any:
    """Return the counts for arrays of these lengths, those that the ranks contribute.

    Blocks of one array are in proportion to the sizes of their segments. Where ranks have different
    blocks at first, the lengths are the counts.
    """
    ranks = len(lengths)
    if problem.collective in UNDIVIDED:
        return None
    if problem.collective in APART:
        return list(lengths)
    sizes = np.zeros(ranks)
    np.add.at(sizes, np.asarray(ends.blocks) % ranks, problem.sizes)
    counts = [end - begin for begin, end in pairwise(cuts_of(sizes, lengths[0]))]
    return [counts] * ranks if problem.collective == "all-to-all" else counts


def check_length(name: str, array: Array, length: int) -> None:
    """Raise InputError if an array has another length."""
    if len(array) != length:
        raise InputError(f"{name}: has {len(array):,} {array.dtype}; {length:,} are needed")


def cut(
    array: Array | None, order: Sequence[int] | None, lengths: Sequence[int]
) -> dict[int, Array]:
    """Return where each of these segments lies in an array."""
    if array is None or order is None:
        return {}
    ends = accumulate((lengths[segment] for segment in order), initial=0)
    spans = zip(order, pairwise(ends), strict=True)
    return {segment: array[begin:end] for segment, (begin, end) in spans}


def cuts_of(sizes: Floats, length: int) -> list[int]:
    """Return where segments begin and end in an array, in proportion to their sizes.

    >>> cuts_of(np.ones(4), 10), cuts_of(np.ones(4), 2)
    ([0, 2, 5, 8, 10], [0, 0, 1, 2, 2])
    """
    total = float(sizes.sum())
    share = np.cumsum(sizes) / total if total > 0 else np.arange(1, len(sizes) + 1) / len(sizes)
    cuts: list[int] = np.rint(share * length).astype(np.int64).tolist()
    return [0, *cuts[:-1], length]
