"""All-reduces that take a plan for the measured links where it was seen to be faster than gloo."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from makespan.core.errors import InputError
from makespan.core.inputs.suggest import suggesting
from makespan.execute.collectives.calibration import Calibration as Links
from makespan.execute.collectives.choosing import Chosen, fastest, known_or_measured
from makespan.execute.collectives.measuring import Measuring
from makespan.execute.collectives.pipelines import Pipeline
from makespan.execute.collectives.tables import NO_MESSAGE, Step, Work
from makespan.execute.collectives.together import ROOT
from makespan.execute.progress import Progress, teller
from makespan.execute.torch.world import Comm, distributed, is_started, torch

if TYPE_CHECKING:
    from torch import Tensor
    from torch.distributed import ProcessGroup

LEAST = 2**16  # bytes: smaller tensors are gloo's at once, as messages in turn only cost more


@suggesting
def tuned(
    group: ProcessGroup | None = None,
    *,
    calibration: Links | str | os.PathLike[str] | None = None,
    seconds: float = 5.0,
    progress: Progress = True,
) -> Tuned:
    """Return the all-reduce of a group, as fast as is known; every rank calls this.

    The links between the ranks are measured. The first call with a tensor of a size, to within a
    factor of √2, plans the best pipelined tree for them, and times it beside gloo's own all-reduce
    on copies. The faster one is used from then on, gloo's own where it is about as fast.

    Parameters
    ----------
    group
        A group of gloo that is used for nothing else; None: a new one of all ranks.
    calibration
        The ``calibration`` of an earlier :class:`Tuned`, or a file: read where there is one, and
        else written with what is measured. None: it is measured.
    seconds
        How long measuring may take, about, without the first calls.
    progress
        See :mod:`makespan.execute.progress`.

    Raises
    ------
    InputError
        On all ranks alike: if the calibration is for another number of ranks, or
        ``torch.distributed`` is not started.
    FileError
        If the file holds no calibration, or can't be written.
    MissingExtra
        If PyTorch is not installed.

    >>> from makespan.execute.torch import tuned
    >>> fast = tuned(calibration="links.json")  # doctest: +SKIP
    >>> fast.all_reduce(tensor)  # doctest: +SKIP
    """
    package = distributed()
    if not is_started():
        raise InputError("tuned: torch.distributed is not started; call init_process_group first")
    comm = Comm(package.new_group(backend="gloo") if group is None else group)
    if comm.size == 1:
        return Tuned(comm, None)

    def measure() -> Links:
        with teller(progress if comm.rank == ROOT else False) as tell:
            return Measuring(comm, float(seconds), tell).all("float32")

    return Tuned(comm, known_or_measured(comm, calibration, measure))


class Tuned(Chosen):
    """The all-reduce of a group; :func:`tuned` makes it. All ranks make the same calls.

    Contiguous tensors in the memory of the processor are summed, multiplied, or their least or
    greatest taken by a plan; all else is passed to gloo. ``choices`` says what was seen with each
    size; ``calibration`` what was measured of the links.

    >>> from makespan.execute.torch import tuned
    >>> fast = tuned(seconds=1)  # doctest: +SKIP
    >>> fast.all_reduce(tensor); fast.choices  # doctest: +SKIP
    """

    def __init__(self, comm: Comm, calibration: Links | None) -> None:
        super().__init__(comm.size, calibration)
        self._comm = comm
        self._kept: dict[Any, Planned | None] = {}
        self._turn = ThreadPoolExecutor(1)  # calls one after another, in the order of the program
        self._begun: Future[None] | None = None  # the last of them

    def all_reduce(self, tensor: Tensor, op: Any = None) -> None:
        """Combine the tensors of all ranks, everywhere, in place; ``op`` is a sum where None."""
        if self._begun is None or self._begun.done():
            self._all_reduce(tensor, op)
        else:
            self._turn.submit(self._all_reduce, tensor, op).result()

    def begin(self, tensor: Tensor) -> Any:
        """Begin a sum and return a ``torch.futures.Future`` of it."""
        future = torch().futures.Future()

        def ended(done: Future[None]) -> None:
            error = done.exception()
            if error is None:
                future.set_result(tensor)
            else:
                future.set_exception(error)

        self._begun = self._turn.submit(self._all_reduce, tensor, None)
        self._begun.add_done_callback(ended)
        return future

    def _all_reduce(self, tensor: Any, op: Any) -> None:
        own = distributed()
        op = own.ReduceOp.SUM if op is None else op

        def library(array: Any) -> None:
            own.all_reduce(array, op, group=self._comm.group)

        combine = _combine(op)
        nbytes = tensor.numel() * tensor.element_size()
        if (
            self.calibration is None
            or combine is None
            or nbytes < LEAST
            or tensor.device.type != "cpu"
            or not tensor.is_contiguous()
            or tensor.requires_grad
        ):
            library(tensor)
            return
        key = tensor.dtype, str(op), round(2 * np.log2(nbytes))
        if key not in self._kept:
            self._kept[key] = self._chosen(tensor, combine, library, nbytes)
        (self._kept[key] or library)(tensor)

    def _chosen(
        self, tensor: Any, combine: Callable[..., Any], library: Callable[..., Any], nbytes: int
    ) -> Planned | None:
        """Return what is faster than gloo, on copies of the tensor."""
        comm, found = self._comm, self.calibration
        assert found is not None

        def ways_of(pipeline: Pipeline, promising: bool) -> dict[str, Planned]:
            return {"plan": Planned(comm, pipeline.work(comm.rank), combine)} if promising else {}

        copies = (tensor.clone(),)
        choice, way = fastest(comm, found, ("all-reduce", nbytes, None), library, copies, ways_of)
        self.choices.append(choice)
        return way


def _combine(op: Any) -> Callable[..., Any] | None:
    """Return what combines a tensor with another in place, or None."""
    package, known = torch(), distributed().ReduceOp
    for name, function in (
        (known.SUM, package.Tensor.add_),
        (known.PRODUCT, package.Tensor.mul_),
        (known.MIN, lambda one, other: package.minimum(one, other, out=one)),
        (known.MAX, lambda one, other: package.maximum(one, other, out=one)),
    ):
        if op == name:
            return function
    return None


class Planned:
    """An all-reduce by a tree, over sends of gloo; called with a tensor, in place.

    Segments go up the tree and are combined, those that are complete come down. A rank between
    root and leaves does both at once, as messages of gloo can only be waited for.
    """

    def __init__(self, comm: Comm, work: Work, combine: Callable[..., Any]) -> None:
        self._group, self._work, self._combine = comm.group, work, combine
        receives, steps = work.table.receives, work.table.steps
        is_root = comm.rank == work.root
        self._up = [step for step in steps if is_root or not step.final]
        self._down = [step for step in steps if not is_root and step.final]
        self._children = sorted({each.source for each in receives if not each.final})
        self._aside = ThreadPoolExecutor(1) if self._children and not is_root else None

    def __call__(self, tensor: Any) -> None:
        """Carry out the plan; every rank calls this."""
        parts = tensor.view(-1).tensor_split(len(self._work.sizes))
        came = {child: torch().empty_like(tensor).view(-1) for child in self._children}
        came = {child: own.tensor_split(len(parts)) for child, own in came.items()}
        messages = [
            (each, parts[each.segment] if each.final else came[each.source][each.segment])
            for each in self._work.table.receives
        ]
        arriving = [
            self._group.recv([into], each.source, 2 * each.segment + each.final)
            for each, into in messages
        ]

        def carry_out(steps: Sequence[Step]) -> list[Any]:
            sent = []
            for step in steps:
                part = parts[step.segment]
                if step.message == NO_MESSAGE:
                    tag = 2 * step.segment + step.final
                    sent.append(self._group.send([part], step.peer, tag))
                    continue
                arriving[step.message].wait()
                if not step.final:
                    self._combine(part, messages[step.message][1])
            return sent

        down = self._aside.submit(carry_out, self._down) if self._aside else None
        sent = carry_out(self._up)
        sent += down.result() if down else carry_out(self._down)
        for send in sent:
            send.wait()
