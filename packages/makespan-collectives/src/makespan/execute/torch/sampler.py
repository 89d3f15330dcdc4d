"""The samples of each rank: its share of each global batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from typing import Any

from makespan.balance import balance
from makespan.core.errors import InputError
from makespan.core.inputs.rules import quoted
from makespan.core.inputs.suggest import suggesting
from makespan.execute.torch.shares import Shares
from makespan.execute.torch.world import rank_of, size_of, torch


class UnevenSampler:
    """Lists of indices, for ``DataLoader(data, batch_sampler=…)``: a rank's part of each batch.

    Global batch k holds the same samples whatever the shares are, so a run can go on with others,
    or on other ranks. Shares that change count from the next list on; all ranks need loaders with
    equally many workers, as those fetch ahead.

    Parameters
    ----------
    data
        The data set, or what else has its length.
    shares
        The :class:`Shares`; or the samples of a global batch, of which all ranks get equally many.
    rank
        Whose samples; None: those of this process.
    ranks
        How many ranks there are, where the shares are a number; None: all.
    shuffle, seed
        Whether samples are drawn anew in each epoch, and from which seed, as in PyTorch's
        ``DistributedSampler``.
    drop_last
        Whether the samples beyond the last full batch are left out. Else they make a smaller one,
        filled up with first samples if there are fewer than ranks.
    lengths
        What each sample costs, such as its tokens. Where shares are equal, samples of each batch
        are dealt out so that the sums on the ranks are even (:func:`makespan.balance.balance`).

    Raises
    ------
    InputError
        If an argument is not of that form.

    >>> sampler = UnevenSampler(range(8), 4, rank=0, ranks=2, shuffle=False,
    ...     lengths=[9, 1, 2, 8, 5, 4, 4, 5])
    >>> len(sampler), list(sampler)
    (2, [[0, 1], [4, 5]])
    """

    @suggesting
    def __init__(
        self,
        data: Sized,
        shares: Shares | int,
        *,
        rank: int | None = None,
        ranks: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
        lengths: Sequence[float] | None = None,
    ) -> None:
        if not isinstance(shares, Shares) and (not isinstance(shares, int) or shares < 1):
            raise InputError(f"shares: {quoted(shares)} is neither Shares nor a number of samples")
        if lengths is not None and (isinstance(shares, Shares) or len(lengths) != len(data)):
            raise InputError(
                "lengths: go with equal shares, where the samples of a batch are given in place of "
                f"Shares; and there is one for each of the {len(data)} samples"
            )
        self.samples, self.shares, self.lengths = len(data), shares, lengths
        self.rank = rank_of() if rank is None else rank
        self.ranks = shares.calibration.ranks if isinstance(shares, Shares) else ranks or size_of()
        self.size = shares.batch if isinstance(shares, Shares) else shares
        if not 0 <= self.rank < self.ranks or self.size < self.ranks:
            raise InputError(
                f"rank: {self.rank} of {self.ranks} ranks can't get a share of {self.size} samples"
            )
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.epoch, self.batch = 0, 0

    def set_epoch(self, epoch: int) -> None:
        """Go on with another epoch, from its first batch; the same epoch goes on where it is."""
        if epoch != self.epoch:
            self.epoch, self.batch = epoch, 0

    def state_dict(self, batches: int | None = None) -> dict[str, int]:
        """Return where the sampler is, for :meth:`load_state_dict`.

        ``batches`` of this epoch are done; None: as many as were given out, which is more where
        workers of a loader fetch ahead.
        """
        done = self.batch if batches is None else batches
        return {"epoch": self.epoch, "batch": done, "seed": self.seed}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on from a state: the next iteration begins with the batch after those done."""
        self.epoch, self.batch, self.seed = state["epoch"], state["batch"], state["seed"]

    def __len__(self) -> int:
        full, rest = divmod(self.samples, self.size)
        return full + (rest > 0 and not self.drop_last)

    def __iter__(self) -> Iterator[list[int]]:
        order = self._order()
        while self.batch < len(self):
            begin = self.batch * self.size
            whole = order[begin : begin + self.size]
            while len(whole) < self.ranks:
                whole = whole + order[: self.ranks - len(whole)]
            self.batch += 1
            yield self._own(whole)
        self.batch = 0

    def _order(self) -> list[int]:
        if not self.shuffle:
            return list(range(self.samples))
        random = torch().Generator().manual_seed(self.seed + self.epoch)
        order: list[int] = torch().randperm(self.samples, generator=random).tolist()
        return order

    def _own(self, whole: list[int]) -> list[int]:
        """Return this rank's part of a global batch."""
        if self.lengths is not None:
            lengths: list[Any] = [self.lengths[sample] for sample in whole]
            return [whole[place] for place in balance(lengths, self.ranks)[self.rank]]
        if isinstance(self.shares, Shares):
            counts: Sequence[int] = self.shares.split(len(whole))
        else:
            least, more = divmod(len(whole), self.ranks)
            counts = [least + (rank < more) for rank in range(self.ranks)]
        begin = sum(counts[: self.rank])
        return whole[begin : begin + counts[self.rank]]
