"""The worst problem that a search found, and how it came there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from makespan.core.display import Displayable, Exportable, HasFrame, Table, as_csv, counted
from makespan.core.errors import InputError
from makespan.core.problem import Problem
from makespan.flow.files.files import as_text, file_of
from makespan.flow.result import Result, summary
from makespan.lab.adversary.chain import Step
from makespan.lab.adversary.duel import BOUND, OPTIMUM

TOLD = 12  # changes that a summary tells: those that did most
WORTH = 1.005  # the least by which a change that is told makes the ratio greater
WORDS = {OPTIMUM: "the proved optimum", BOUND: "its lower bound"}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Adversary(Displayable, HasFrame, Exportable):
    """The problem on which a method did worst, against another one, the optimum or a bound.

    Parameters
    ----------
    method, against
        What was compared.
    ratio
        Of what the method reaches to what it is compared with; None where no problem had one.
    problem, start
        The worst problem, and the one that its chain began with.
    result, reference
        The plans of both; no ``reference`` where it is a bound.
    base
        What the ratio is to: the makespan (or objective) of the other plan, or the bound.
    story
        The changes from ``start`` to ``problem``, each with the ratio after it; as a data frame by
        :meth:`to_polars` or ``to_pandas``.
    tried
        How many problems were compared.
    left_out
        How many problems had no ratio, by the reason.
    faults
        Mistakes of methods that the search came upon (an invalid plan, one below a proved optimum,
        an internal error), each with the contents of its problem's file.
    notes
        Sentences for the reader.
    interrupted
        Whether the user stopped the search.

    >>> import makespan
    >>> found = makespan.adversary("mct", "taskgraph", chains=1, iterations=20)
    >>> found.ratio >= 1.0, makespan.check(found.result).ok
    (True, True)
    """

    SUFFIXES: ClassVar[tuple[str, ...]] = (".json", ".toml", ".html", ".csv")

    method: str
    against: str
    ratio: float | None = None
    problem: Problem | None = None
    result: Result | None = None
    reference: Result | None = None
    base: float | None = None
    story: tuple[Step, ...] = ()
    start: Problem | None = None
    tried: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    faults: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    notes: tuple[str, ...] = ()
    interrupted: bool = False

    def __str__(self) -> str:
        words = f"{self.method} against {WORDS.get(self.against, self.against)}"
        ending = [f"{counted(self.tried, 'problem')} compared"]
        ending += [f"left out {number:,}: {why}" for why, number in self.left_out.items()]
        ending += [f"note: {note}" for note in self.notes]
        if self.result is None:
            return "\n".join([f"no problem found: {words}", *ending])
        lines = [f"ratio {self.ratio:.4g}: {words}", "", *self._turns()]
        plans: list[tuple[str, Result | None]] = [(self.method, self.result)]
        if self.reference is not self.result:  # what proves its own plan is its own reference
            plans.append((self.against, self.reference))
        for name, plan in plans:
            lines += [f"{name}: {summary(plan, most=8)}", ""] if plan is not None else []
        return "\n".join([*lines, *ending])

    def _turns(self) -> list[str]:
        """Return the changes that did most as lines: the ratio before and after."""
        ratios = [ratio for _, ratio in self.story]
        steps = zip(self.story[1:], ratios, strict=False)
        rises = [(new / old, old, new, text) for (text, new), old in steps if new > old * WORTH]
        least = sorted(rises, reverse=True)[:TOLD]
        lines = [f"  {o:.4g} → {n:.4g}  {t}" for r, o, n, t in rises if (r, o, n, t) in least]
        if not lines:
            return [self._without_rises(), ""]
        return [f"{counted(len(self.story), 'change')}; those that did most:", *lines, ""]

    def _without_rises(self) -> str:
        """Return what a summary says where no change made the ratio much greater."""
        if not self.story:
            return "no change made it worse than this start"
        much = f"made the ratio more than {WORTH - 1:.1%} greater"
        return f"{counted(len(self.story), 'change')}; none {much}"

    def as_dict(self) -> dict[str, Any]:
        """Return what was found as data, but for the plans, which stand in files of their own."""
        names = ("method", "against", "ratio", "base", "tried", "interrupted")
        return {
            **{name: getattr(self, name) for name in names},
            "story": [{"change": text, "ratio": ratio} for text, ratio in self.story],
            "left_out": dict(self.left_out),
            "faults": [{"fault": note, "problem": data} for note, data in self.faults],
            "notes": list(self.notes),
        }

    def _facts(self) -> Sequence[str]:
        ratio = "no ratio" if self.ratio is None else f"ratio {self.ratio:.4g}"
        return [f"{self.method} against {self.against}", ratio, counted(self.tried, "problem")]

    def _tables(self) -> Sequence[Table]:
        return [Table.of(self._columns(), caption="What was changed")]

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return {"change": [text for text, _ in self.story], "ratio": [r for _, r in self.story]}

    def _in_form(self, suffix: str) -> str | bytes:
        if self.problem is None or self.result is None:
            raise InputError("no problem was found that could be written")
        if suffix == ".html":
            return file_of(self.result, "page.html", beside=self.reference)
        return as_csv(self._columns()) if suffix == ".csv" else as_text(self.problem, suffix)
