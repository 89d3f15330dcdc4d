"""Gradients weighted by the samples behind them, so that their mean is that of the global batch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from makespan.core.errors import InputError
from makespan.core.inputs.suggest import suggesting
from makespan.execute.torch.shares import Shares
from makespan.execute.torch.tuned import Tuned
from makespan.execute.torch.world import distributed, torch

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn.parallel import DistributedDataParallel


@suggesting
def weigh(
    model: DistributedDataParallel,
    shares: Shares | None = None,
    *,
    count: Callable[..., float] | None = None,
    all_reduce: Tuned | None = None,
) -> Weights:
    """Let a model's gradients count by samples; every rank calls this, once, before training.

    DDP takes the mean over ranks. With this it takes the mean over the samples of all ranks, to
    rounding, whatever the shares are, where the loss is a mean over the rank's own samples. The
    training loop stays as it is. The counts go round before the first gradients do, and with them
    what the step before took: where times drift, ``shares`` adapt.

    Parameters
    ----------
    model
        The ``DistributedDataParallel``.
    shares
        What is to adapt; None: nothing.
    count
        What a batch counts for, a function of the model's positional arguments: such as its tokens,
        where the loss is a mean over tokens. None: the first dimension of the first tensor.
    all_reduce
        What :func:`tuned` returned, to sum gradients with; None: the group's own.

    Returns
    -------
    Weights
        With ``parts`` for ranks whose share is above their memory.

    >>> from makespan.execute.torch import weigh
    >>> weigh(model, shares)  # doctest: +SKIP
    """
    return Weights(model, shares, count, all_reduce)


class Weights:
    """What gradients of a model count for; :func:`weigh` makes it.

    >>> from makespan.execute.torch import weigh
    >>> weights = weigh(model, shares)  # doctest: +SKIP
    >>> for (x, y), share in weights.parts(inputs, targets):  # doctest: +SKIP
    ...     (share * loss(model(x), y)).backward()
    """

    def __init__(
        self,
        model: DistributedDataParallel,
        shares: Shares | None,
        count: Callable[..., float] | None,
        all_reduce: Tuned | None,
    ) -> None:
        self.model, self.shares = model, shares
        self._count, self._tuned = count, all_reduce
        self._group: Any = model.process_group
        self._watch: _Watch | None = None  # of the step under way
        self._now: list[float] = [0.0, 0.0]  # its weight and samples
        self._last: tuple[float, _Watch | None] = 0.0, None  # of the step before
        self._rows: list[Any] = []  # of each rank: its weight; samples and seconds of its last step
        self._scale: Any = None
        self._has_exchanged = False
        model.register_forward_pre_hook(self._forward)
        # A function whose annotations are strings is refused, so this has none.
        model.register_comm_hook(self, lambda weights, bucket: weights.reduce(bucket))

    def parts(self, *tensors: Tensor) -> Iterator[tuple[tuple[Tensor, ...], float]]:
        """Yield a batch in the pieces that fit into memory, each with its share of the batch.

        A loss that is a mean over the samples of a piece is to be multiplied by that share. Ranks
        exchange gradients with the last piece alone.
        """
        samples = len(tensors[0])
        sizes = [samples] if self.shares is None else self.shares.pieces(None, samples)
        pieces = list(zip(*(tensor.split(sizes) for tensor in tensors), strict=True))
        for place, piece in enumerate(pieces):
            is_last = place == len(pieces) - 1
            with nullcontext() if is_last else self.model.no_sync():
                yield piece, len(piece[0]) / samples

    def _forward(self, module: Any, given: tuple[Any, ...]) -> None:
        """Before each forward pass: count its samples."""
        package = torch()
        if not package.is_grad_enabled():
            return
        first = next((each for each in given if package.is_tensor(each) and each.ndim), None)
        if first is None and (self._count is None or self.shares is not None):
            raise InputError(
                "weigh: the model's positional arguments hold no tensor, whose first dimension is "
                "the samples"
            )
        samples = 0.0 if first is None else float(len(first))
        self._now[0] += samples if self._count is None else float(self._count(*given))
        self._now[1] += samples
        if self._watch is None:
            self._begin(next(module.parameters()).device)

    def _begin(self, device: Any) -> None:
        """Begin a step: look at what went round in the one before."""
        if self.shares is not None and self._rows:
            _, samples, seconds = zip(*(row.tolist() for row in self._rows), strict=True)
            self.shares.observe(samples, seconds)
            if self.shares.due:
                self.shares.adapt()
        self._watch = _Watch(device)

    def reduce(self, bucket: Any) -> Any:
        """Return a future of the sum of a bucket of gradients; DDP calls this."""
        buffer, watch = bucket.buffer(), self._watch
        assert watch is not None
        if not self._has_exchanged:
            self._exchange(watch, buffer.device)
        buffer.mul_(self._scale)
        if bucket.is_last():
            watch.stop()
            self._last, self._now, self._watch = (self._now[1], watch), [0.0, 0.0], None
            self._has_exchanged = False
        if self._tuned is not None:
            return self._tuned.begin(buffer)
        work = distributed().all_reduce(buffer, group=self._group, async_op=True)
        return work.get_future().then(lambda done: done.value()[0])

    def _exchange(self, watch: _Watch, device: Any) -> None:
        """Tell all ranks what this one counts for now, and what its last step took.

        This is done before the first sum, where all ranks are, however many passes they made.
        """
        package, (samples, last) = torch(), self._last
        sent = [self._now[0], samples, 0.0 if last is None else last.seconds()]
        own = package.tensor(sent, dtype=package.float64, device=device)
        ranks = range(distributed().get_world_size(self._group))
        self._rows = [package.empty_like(own) for _ in ranks]
        work = distributed().all_gather(self._rows, own, group=self._group, async_op=True)
        watch.wait(work)
        self._scale = own[0] / sum(row[0] for row in self._rows)
        self._has_exchanged = True


class _Watch:
    """The seconds of a step on its device, without those for which it waits for other ranks."""

    def __init__(self, device: Any) -> None:
        self.cuda = torch().cuda if device.type == "cuda" else None
        self.marks = [self._mark()]

    def _mark(self) -> Any:
        if self.cuda is None:
            return time.perf_counter()
        event = self.cuda.Event(enable_timing=True)
        event.record()
        return event

    def wait(self, work: Any) -> None:
        """Wait for an exchange."""
        self.marks.append(self._mark())
        work.wait()
        self.marks.append(self._mark())

    def stop(self) -> None:
        """End the step."""
        self.marks.append(self._mark())

    def seconds(self) -> float:
        """Return what the step took, once it has ended."""
        begins, ends = self.marks[::2], self.marks[1::2]
        if self.cuda is None:
            return float(sum(ends) - sum(begins))
        ends[-1].synchronize()
        pairs = zip(begins, ends, strict=True)
        return float(sum(begin.elapsed_time(end) for begin, end in pairs)) / 1e3
