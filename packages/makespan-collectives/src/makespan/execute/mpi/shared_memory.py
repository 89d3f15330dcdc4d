"""Collectives of ranks on one computer, by memory that all of them see."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from makespan.execute.collectives.together import yield_until_all
from makespan.execute.mpi.arrays import arrays_of, check_length
from makespan.execute.mpi.operations import Combine, combiner
from makespan.execute.mpi.world import attached, calls_of, mpi
from makespan.reduction.problem import Collective as Name

Array = NDArray[Any]
ROOM, LEAST = 2**25, 2**20  # bytes: of all ranks, and of one where there are many
BLOCK = 2**18  # bytes that are combined at a time, and stay in the cache of a core
ALIGNED = 64


class Memory:
    """Slots for all pairs of ranks: ``slots[i][j]``, on rank i, holds what is there for rank j.

    The communicator is for nothing else; all its ranks are on one computer.
    """

    def __init__(self, comm: Any) -> None:
        ranks = comm.size
        size = max(LEAST, ROOM // ranks) // ranks // ALIGNED * ALIGNED
        self.comm, self.slot, self.calls = comm, size, calls_of(comm)
        self._window = mpi().Win.Allocate_shared(size * ranks, 1, comm=comm)
        self._window.Lock_all()
        whole = [
            np.frombuffer(self._window.Shared_query(rank)[0], np.uint8) for rank in range(ranks)
        ]
        self.slots = [memory.reshape(ranks, size) for memory in whole]

    def meet(self) -> None:
        """Wait for all ranks; what they wrote before is seen afterwards."""
        self._window.Sync()
        yield_until_all(self.comm, self.calls.rest)
        self._window.Sync()

    def free(self) -> None:
        """Give the memory back; all ranks call this."""
        self._window.Unlock_all()
        self._window.Free()


def _made(comm: Any) -> Memory | None:
    """Return memory that all ranks see, or None where there is none; all ranks call this."""
    near = comm.Split_type(mpi().COMM_TYPE_SHARED)
    together = near.size == comm.size
    near.Free()
    if not together:
        return None
    try:
        return Memory(comm)
    except mpi().Exception:  # no room, on all ranks alike
        return None


def _freed(memory: Memory | None) -> None:
    if memory is not None:
        memory.free()


memory_of = attached(_made, _freed)
"""Return the memory of a communicator, made by the first call for it; all ranks call this."""


class SharedMemory:
    """A reduction, broadcast or all-reduce, called as :class:`Collective` is.

    An array has a part for each rank. Every rank lays out the parts of the others, combines its
    own part of all in the order of the ranks, ((0 ∘ 1) ∘ 2) ∘ …, and takes the combined parts from
    the others. Everything is copied into the memory once and out of it once, and ranks meet twice.
    Arrays that are larger than the memory pass it in pieces.

    Slot (i, i) is written by rank i between the two meetings, and read after them; all else is
    written before and read between them. So a call may begin while others end the last.
    """

    def __init__(self, memory: Memory, collective: Name, root: int | None, operation: Any) -> None:
        self.collective, self._memory = collective, memory
        self._comm, self._operation = memory.comm, operation
        self._rank, self._ranks, self._root = memory.comm.rank, memory.comm.size, root or 0
        self._others = [(self._rank + step) % self._ranks for step in range(1, self._ranks)]

    def __call__(self, sendbuf: Any, recvbuf: Any = None) -> None:
        """Carry it out; every rank calls this."""
        is_root, spread = self._rank == self._root, self.collective == "broadcast"
        has_own, has_result = is_root or not spread, is_root or self.collective != "reduce"
        own, result = arrays_of(self.collective, has_own, has_result, sendbuf, recvbuf)
        assert own is not None
        if result is not None:
            check_length("recvbuf", result, len(own))
        combine = None if spread else combiner(self._operation, own.dtype)
        step = self._memory.slot // own.itemsize * (self._ranks - spread)
        with self._memory.calls:
            for begin in range(0, len(own), step):
                piece = own[begin : begin + step]
                if combine is None:
                    self._spread(piece)
                else:
                    into = None if result is None else result[begin : begin + step]
                    self._combine(piece, into, combine)

    def _spread(self, array: Array) -> None:
        """Copy what the root has by way of its slots for others."""
        parts = _cut(array, self._ranks - 1)
        places = [(self._root + step) % self._ranks for step in range(1, self._ranks)]
        if self._rank == self._root:
            for place, part in zip(places, parts, strict=True):
                self._slot(self._root, place, part)[...] = part
        self._memory.meet()
        if self._rank != self._root:
            for place, part in zip(places, parts, strict=True):
                part[...] = self._slot(self._root, place, part)
        self._memory.meet()

    def _combine(self, own: Array, result: Array | None, combine: Combine) -> None:
        """Combine one's part of all arrays, and take the others' where they are wanted."""
        parts = _cut(own, self._ranks)
        for rank in self._others:
            self._slot(self._rank, rank, parts[rank])[...] = parts[rank]
        self._memory.meet()
        mine = parts[self._rank]
        whole = [self._slot(rank, self._rank, mine) for rank in range(self._ranks)]
        into, whole[self._rank] = whole[self._rank], mine
        block = max(1, BLOCK // own.itemsize)
        kept = np.empty(min(block, len(mine)), own.dtype)
        for begin in range(0, len(mine), block):
            held, *others, last = (part[begin : begin + block] for part in whole)
            for other in others:
                combine(held, other, kept[: len(held)])
                held = kept[: len(held)]
            combine(held, last, into[begin : begin + block])
        self._memory.meet()
        if result is not None:
            parts = _cut(result, self._ranks)
            for rank in (self._rank, *self._others):
                parts[rank][...] = self._slot(rank, rank, parts[rank])

    def _slot(self, one: int, other: int, like: Array) -> Array:
        """Return slot (one, other) as far as it holds an array of this type and length."""
        slot: Array = self._memory.slots[one][other, : like.nbytes].view(like.dtype)
        return slot


def _cut(array: Array, count: int) -> list[Array]:
    """Return so many parts of an array, whose lengths differ by 1 at most."""
    return [
        array[place * len(array) // count : (place + 1) * len(array) // count]
        for place in range(count)
    ]
