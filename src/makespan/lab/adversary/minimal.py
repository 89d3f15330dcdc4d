"""Worst problem → a smaller one that is as bad."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from makespan.lab.adversary.chain import Step
from makespan.lab.adversary.changes import Proposal, problem_in, resizings, with_number
from makespan.lab.adversary.document import Document, lists, numbers, pattern, shown
from makespan.lab.adversary.duel import Duel
from makespan.lab.adversary.ranges import Ranges

KEPT = 0.99  # of the logarithm of the ratio


class Shrinking:
    """Takes elements away and shortens numbers while the ratio stays (delta debugging)."""

    def __init__(
        self, duel: Duel, ranges: Ranges, document: Document, ratio: float, deadline: float
    ) -> None:
        self.duel, self.ranges, self.document, self.deadline = duel, ranges, document, deadline
        self.least = ratio**KEPT
        self.steps: list[Step] = []

    def done(self) -> tuple[Document, list[Step]]:
        """Return the smallest problem found, and what was done."""
        while self._kept(self._smaller()) or self._kept(self._shorter()):
            pass
        return self.document, self.steps

    def _kept(self, proposals: Iterator[Proposal]) -> bool:
        """Take the first proposal that is as bad; False where none is, or time is up."""
        for text, proposal in proposals:
            if time.monotonic() > self.deadline:
                return False
            problem = problem_in(proposal)
            ratio = None if problem is None else self.duel.fought(problem).ratio
            if ratio is not None and ratio >= self.least:
                self.document = proposal
                self.steps.append((text, ratio))
                return True
        return False

    def _smaller(self) -> Iterator[Proposal]:
        """Yield documents with an element less, of the longest lists first."""
        rng = np.random.default_rng(0)  # nothing is drawn where elements go
        for path, value in sorted(lists(self.document), key=lambda each: -len(each[1])):
            if len(value) > self.ranges.least.get(pattern(path), 0):
                for index in reversed(range(len(value))):
                    yield from resizings(self.document, path, index, self.ranges, rng, more=False)

    def _shorter(self) -> Iterator[Proposal]:
        """Yield documents with a number that has fewer digits."""
        for path, value in numbers(self.document):
            allowed = self.ranges.numbers.get(pattern(path))
            for digits in (1, 2) if allowed is not None else ():
                new = float(f"{value:.{digits}g}")
                if new != value and allowed is not None and allowed.low <= new <= allowed.high:
                    text = f"{shown(self.document, path)}: {value:.6g} → {new:.6g}"
                    yield text, with_number(self.document, path, int(new) if allowed.whole else new)
