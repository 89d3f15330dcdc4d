"""Packing of spanning trees: every way is used in proportion to what the best packing uses it."""

from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from makespan.core.control import Control, stoppable
from makespan.core.registry import Need
from makespan.core.solution import Solution
from makespan.reduction import needs
from makespan.reduction.answer import finished
from makespan.reduction.bounding.cuts import capacity, directed
from makespan.reduction.bounding.packing import VIOLATED, Packing, packing, shallow, spans
from makespan.reduction.bounds import best_bound
from makespan.reduction.halves import planner
from makespan.reduction.heuristics.symmetry import occupation_of, schedule_at
from makespan.reduction.heuristics.weighted_links import NEEDED, UNEVEN, follow_packing
from makespan.reduction.model import Bools
from makespan.reduction.needs import FREE_ORDER, GIVEN_COUNT, OPEN_PLAN, UNEVEN_TIMES
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import claim_sends

EVEN = (0.0, 0.02, 0.2)
"""What ways get beside their part of the packing, of what a machine's share of all segments is."""
NARROW = (0.9, 0.5)
"""How much of the time narrow groups that nothing enters twice must be entered for, but none."""
LONGER = (0.0, 0.3, 1.0)  # how much longer packings of less deep trees may take
LEAST = 1e-9  # shares up to which ways are left out
KEPT = 4  # of the styles, once each was tried
ANOTHER = 0.25  # of the runs, by a rule of choice drawn anew
RUNS = 400
SENDS_IN_ALL = 4_000_000
PATIENCE = 10  # times as many within a time limit
FIRST = 8  # times as long a run is done to its end, where there is no plan yet
WATCHED_FROM = 2_000_000  # sends times ways
SHARE, SHARE_BEFORE = 0.35, 0.2  # of the time that is left, and where sends are then annealed

SPANNING = Need(
    "segments that all of 2 to 64 machines have or must get, only copied or only combined",
    lambda problem: None if spans(problem) else "they are not that",
)


@planner(
    name="tree-packing",
    needs=(GIVEN_COUNT, UNEVEN_TIMES, SPANNING, OPEN_PLAN, FREE_ORDER),
    complexity="O(s (w + m)) a run, for s sends over w ways",
    source="Edmonds 1973; Beaumont, Legrand, Marchal and Robert 2005; Massoulié, Twigg, "
    "Gkantsidis and Rodriguez 2007; ForestColl, Zhao et al. 2024",
)
def tree_packing(problem: Reduction, control: Control, *, runs: int | None = None) -> Solution:
    """Pack spanning trees by a linear programme; use every way in proportion to what they use it.

    Restarts with more or less even shares, then keeps the beginning of the best plan.
    """
    claim_sends(problem)
    left = control.remaining
    known = control.incumbent is not None
    share = SHARE_BEFORE if needs.is_tried(problem, needs.ANNEALED) else SHARE
    with control.limited(None if left is None or not known else share * left):
        search = _Search(problem, control)
        for _ in range(search.budget if runs is None else max(1, runs)):
            search.run()
            if search.end <= search.bound or control.expired():
                break
    if search.found is None:
        return Solution(schedule=None, stopped=True)
    schedule, lower_bound = schedule_at(problem, *search.found), best_bound(problem)
    facts: dict[str, Any] = {"backwards": True, "details": search.details}
    return finished(problem, control, schedule, lower_bound, **facts)


class _Style(NamedTuple):
    """How a run goes: by which rule segments are chosen, what ways get beside their part of which
    packing, and which groups nothing enters twice.
    """

    choice: int
    even: float
    groups: int
    packing: int


class _Search:
    """Runs of the loop, and the best plan so far; ``end`` is in the unit of the ways."""

    def __init__(self, problem: Reduction, control: Control) -> None:
        self.control = control
        self.rng = np.random.default_rng(control.rng.integers(2**31))
        self.ways = ways = occupation_of(problem)
        self.holds, lacks = map(np.ascontiguousarray, problem.statement.copied)
        count = len(self.holds)
        self.number = np.full((count, count), -1)
        self.number[ways.giver, ways.taker] = np.arange(len(ways.giver))
        packed = packing(problem)
        even = np.full(len(ways.giver), 1.0 / count)
        self.amounts = [even] if packed is None else [packed.amount, *shallow(problem, LONGER)]
        self.details = {} if packed is None else {"packing": {"seconds": packed.seconds}}
        self.member = [np.zeros(count, dtype=np.int64)]
        for least in NARROW:
            if packed is None:
                break
            groups = narrow(problem, packed, least)
            member = (groups.astype(np.int64) << np.arange(len(groups))[:, None]).sum(axis=0)
            if (member != self.member[-1]).any():
                self.member.append(member)
        numbers = range(len(self.member)), range(len(self.amounts))
        self.styles = [
            _Style(self._choice(), even, *each) for even in EVEN for each in product(*numbers)
        ]
        self.count = int(lacks.sum())
        patience = 1 if control.remaining is None else PATIENCE
        self.budget = max(1, min(RUNS, SENDS_IN_ALL // self.count)) * patience
        unit = ways.unit
        bound = best_bound(problem) / float(unit or 1)
        self.bound = bound * (1 + 1e-12) if unit is None else round(bound)
        self.end: Any = np.inf
        self.found: tuple[Any, Any] | None = None
        self.ends: dict[_Style, float] = {}
        dtype = np.asarray(ways.latency).dtype
        self.huge = dtype.type(np.iinfo(np.int64).max // 16 if dtype.kind == "i" else 1e300)

    def run(self) -> None:
        """Run once: first in every style, then in the best ones, mostly from a known beginning."""
        tried = len(self.ends)
        if tried < len(self.styles):
            self._run(self.styles[tried], None)
            return
        best = sorted(self.ends, key=lambda each: self.ends[each])[:KEPT]
        style = best[int(self.rng.integers(len(best)))]
        if self.rng.random() < ANOTHER:
            style = style._replace(choice=self._choice())
        rows = None
        if self.found is not None and self.rng.random() < 0.75:
            rows = int(self.rng.integers(self.count))
        self._run(style, rows)

    def _choice(self) -> int:
        return int(self.rng.integers(1 + (NEEDED | UNEVEN)))

    def _run(self, style: _Style, rows: int | None) -> None:
        share = np.maximum(self.amounts[style.packing] + style.even / len(self.holds), LEAST)
        dtype = self.huge.dtype
        kept, begun, begin = np.empty((0, 2), np.int64), np.empty(0, dtype), dtype.type(0)
        used = share > LEAST
        if rows is not None:
            assert self.found is not None
            copies, start = self.found
            way = self.number[copies[:rows, 0], copies[:rows, 1]]
            used[way] = True
            kept = np.column_stack([np.cumsum(used)[way] - 1, copies[:rows, 2]])
            begun, begin = start[:rows], start[rows]
        ways, share = self.ways.take(used), share[used]
        first = len(self.ends) < len(self.styles)
        allowed = self.huge if first or self.found is None else self.end
        copies, start = np.empty((self.count, 3), np.int64), np.empty(self.count, dtype)
        loop = follow_packing.bind(
            self.count, **ways.columns(), holds=self.holds, stride=share.max() / share,
            member=self.member[style.groups], kept=kept, kept_from=begun, begin=begin,
            seed=int(self.rng.integers(2**31)), style=style.choice, allowed=allowed, copies=copies,
            start=start,
        )  # fmt: skip
        long = self.count * len(share) / WATCHED_FROM
        end = stoppable(self.control, loop, long=long if self.found else long / FIRST)
        if 0 <= end < self.end:
            self.end, self.found = dtype.type(end), (copies, start)
        if first:
            self.ends[style] = float(end) if end >= 0 else np.inf


MOST = 62  # bits of a whole number


def narrow(problem: Reduction, packing: Packing, least: float) -> Bools:
    """Return groups of several machines that nothing enters twice in a packing, a row each.

    What they need takes at least the part ``least`` of the packing's time to enter. Of any two, one
    holds the other, or they have nothing in common: who lacks something can then get it from inside
    the smallest group in which somebody has it. The narrowest are taken first. Complexity: O(n²)
    for each group of the packing, and each pair.
    """
    ways, _ = directed(problem, back=problem.statement.combining, least=None)
    used = occupation_of(problem)
    holds, _ = problem.statement.copied
    count, whole = len(holds), float(problem.sizes.sum())
    pairs = np.zeros((count * (count - 1) // 2, count), dtype=bool)
    for row, both in zip(pairs, combinations(range(count), 2), strict=True):
        row[list(both)] = True
    every = np.unique(np.concatenate([packing.groups, pairs]), axis=0)
    over = np.isfinite(ways.seconds)
    parts: list[tuple[float, int]] = []
    several = every.sum(axis=1) > 1 if packing.seconds > 0 else np.zeros(len(every), dtype=bool)
    for place in np.flatnonzero(several).tolist():
        group = every[place]
        need = float(problem.sizes[~holds[group].any(axis=0)].sum())
        enters = packing.amount[~group[used.giver] & group[used.taker]].sum()
        if need > 0 and enters <= need / whole + VIOLATED:
            rate = capacity(ways, over & ~group[:, None] & group)
            parts.append((-need / rate / packing.seconds, place))
    found: list[Bools] = []
    for part, place in sorted(parts):
        group = every[place]
        if -part < least or len(found) == MOST:
            break
        shared = [group & other for other in found]
        if all(
            not both.any() or (both == group).all() or (both == other).all()
            for both, other in zip(shared, found, strict=True)
        ):
            found.append(group)
    return np.array(found, dtype=bool).reshape(-1, count)
