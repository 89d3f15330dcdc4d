"""PyTorch where it is installed, and a group of its ranks as a communicator."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from makespan.core.system.startup import optional

OBJECT = 1 << 20  # the number of a message that holds an object; its length comes before
Array = NDArray[Any]


def torch() -> Any:
    """Return the module ``torch``."""
    return optional("torch")


def distributed() -> Any:
    """Return the module ``torch.distributed``."""
    return optional("torch.distributed")


def is_started() -> bool:
    """Whether this process is a rank; it is not before PyTorch is imported."""
    package = sys.modules.get("torch.distributed")
    return package is not None and bool(package.is_available() and package.is_initialized())


def rank_of(group: Any = None) -> int:
    """Return this process's place in a group, 0 where there is none."""
    return int(distributed().get_rank(group)) if is_started() else 0


def size_of(group: Any = None) -> int:
    """Return how many ranks a group has, 1 where there is none."""
    return int(distributed().get_world_size(group)) if is_started() else 1


def gathered(value: Any, group: Any = None) -> list[Any]:
    """Return the values of all ranks, on each; every rank calls this."""
    if not is_started():
        return [value]
    values = [None] * size_of(group)
    distributed().all_gather_object(values, value, group=group)
    return values


class Comm:
    """A group of gloo with the methods of mpi4py that measuring and choosing use.

    A send ends when the receiver has taken it.
    """

    def __init__(self, group: Any) -> None:
        self.group, self.rank, self.size = group, int(group.rank()), int(group.size())
        self._tensor = torch().from_numpy

    def Barrier(self) -> None:  # noqa: N802 - mpi4py's, as those below
        self.group.barrier().wait()

    def Ibarrier(self) -> Request:  # noqa: N802
        return Request(self.group.barrier)

    def allgather(self, value: Any) -> list[Any]:
        return gathered(value, self.group)

    def bcast(self, value: Any, root: int = 0) -> Any:
        return self.allgather(value if self.rank == root else None)[root]

    def send(self, value: Any, dest: int) -> None:
        data = np.frombuffer(bytearray(pickle.dumps(value)), np.uint8)
        self.Isend(np.array([len(data)]), dest, OBJECT).Wait()
        self.Isend(data, dest, OBJECT).Wait()

    def recv(self, source: int) -> Any:
        length = np.zeros(1, np.int64)
        self.Recv(length, source, OBJECT)
        data = np.zeros(int(length[0]), np.uint8)
        self.Recv(data, source, OBJECT)
        return pickle.loads(data.tobytes())

    def Isend(self, array: Array, dest: int, tag: int = 0) -> Request:  # noqa: N802
        return Request(self.group.send, [self._tensor(array)], dest, tag)

    def Irecv(self, array: Array, source: int, tag: int = 0) -> Request:  # noqa: N802
        return Request(self.group.recv, [self._tensor(array)], source, tag)

    def Send(self, array: Array, dest: int) -> None:  # noqa: N802
        self.Isend(array, dest).Wait()

    def Recv(self, array: Array, source: int, tag: int = 0) -> None:  # noqa: N802
        self.Irecv(array, source, tag).Wait()

    def Send_init(self, array: Array, dest: int, tag: int = 0) -> Request:  # noqa: N802
        return Request(self.group.send, [self._tensor(array)], dest, tag, started=False)


class Request:
    """A message or a barrier under way; it keeps what it is made of until it ends."""

    def __init__(self, begin: Callable[..., Any], *given: Any, started: bool = True) -> None:
        self._begin, self._given = begin, given
        self._work: Any = begin(*given) if started else None

    def Start(self) -> None:  # noqa: N802
        self._work = self._begin(*self._given)

    def Wait(self) -> None:  # noqa: N802
        self._work.wait()

    def Test(self) -> bool:  # noqa: N802 - of a barrier: messages of gloo end when waited for
        return bool(self._work.is_completed())
