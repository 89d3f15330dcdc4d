"""The least limit on the cost at which the tasks can be split: bounds, gallop, exact values."""

from collections.abc import Iterator

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import TooLarge
from makespan.core.numeric.arrays import Integers
from makespan.core.steps import Step
from makespan.partition.model.allowed_counts import Allowed
from makespan.partition.threshold.inverse import lexicographic
from makespan.partition.threshold.sums import Ends, Expired, Sums, sums_of

ONE_OCTAVE = 1 << 52  # adding this to the bit pattern of a positive float doubles it
HALF_OCTAVE = 1 << 51
FIRST_STEP = 1 << 32


def bits_of(value: float) -> int:
    """Return the bit pattern of a float that is 0 or more, as an integer of the same order.

    >>> bits_of(0.0), bits_of(2.0) - bits_of(1.0) == 1 << 52
    (0, True)
    """
    return int(np.float64(abs(value)).view(np.int64))


def value_of(bits: int) -> float:
    return float(np.int64(bits).view(np.float64))


LARGEST = bits_of(float(np.finfo(np.float64).max))


def first_containing(
    sums: Sums, tasks: int, cap: int, control: Control | None = None
) -> Ends | None:
    """Return the ends at the least limit up to ``cap`` between which ``tasks`` lies, or None.

    No plan can be cheaper: this is the lower bound. Bisection on the bit pattern of the limit, at
    most 64 probes of both ends of each row, each inside what the last ones left open. Raises
    Expired if the time of ``control`` is up first.
    """
    if tasks not in sums.containing:
        found = _first_containing(sums, tasks, cap, control)
        if found is None:
            return None
        sums.containing[tasks] = found
    ends = sums.containing[tasks]
    return ends if ends.limit <= cap else None


def _first_containing(sums: Sums, tasks: int, cap: int, control: Control | None) -> Ends | None:
    def look() -> None:
        if control is not None and control.expired():
            raise Expired(max(0, infeasible))

    least = sums.largest_least()
    if least > cap:
        return None
    infeasible, inside, outside = least - 1, None, None
    limit, step = least, ONE_OCTAVE
    while outside is None:
        look()
        ends = sums.ends(limit, inside, None)
        if ends is not None and ends.contain(tasks):
            outside = ends
        elif limit >= cap:
            return None
        else:
            infeasible, inside = limit, ends
            if limit == 0:  # it has no octaves
                limit = min(sums.least_above(0), cap)
                infeasible = limit - 1
            else:
                limit, step = min(limit + step, cap), 2 * step
    while outside.limit - infeasible > 1:
        look()
        middle = (infeasible + outside.limit) // 2
        ends = sums.ends(middle, inside, outside)
        if ends is not None and ends.contain(tasks):
            outside = ends
        else:
            infeasible, inside = middle, ends or inside
    return outside


def least_feasible(sums: Sums, tasks: int, cap: int, control: Control) -> Ends | None:
    """Return the ends at the least limit up to ``cap`` that lets the tasks be split, or None.

    The lower bound is often feasible. If not, the limit gallops up; then the costs between the last
    infeasible and the first feasible limit are searched: by the median of some of them while they
    are many, over their exact values as soon as they are few. Raises Expired if the time is up
    first.
    """
    search = _LimitSearch(sums, tasks, control)
    if not search.gallop(cap, FIRST_STEP):
        return None
    costs, all_costs = search.costs_between()
    while search.width > 1 and len(costs) > (1 if all_costs else 0):
        limit = int(costs[(len(costs) - 1) // 2])
        search.probe(limit if limit < search.feasible_limit else search.middle)
        if all_costs:
            low, high = search.infeasible_limit, search.feasible_limit
            costs = costs[(costs > low) & (costs <= high)]
        else:
            costs, all_costs = search.costs_between()
    return search.feasible


def feasible_within_half_octave(
    sums: Sums, tasks: int, cap: int, control: Control
) -> tuple[Ends, int] | None:
    """Return the ends at a feasible limit, and a limit that no plan is below, in bits.

    The quotient of the two is at most about 1.5. Returns None where no limit up to ``cap`` lets the
    tasks be split. Raises Expired if the time is up first.
    """
    search = _LimitSearch(sums, tasks, control)
    if not search.gallop(cap, HALF_OCTAVE):
        return None
    while search.width > HALF_OCTAVE:
        search.probe(search.middle)
    assert search.feasible is not None
    return search.feasible, min(search.infeasible_limit + 1, search.feasible_limit)


class _LimitSearch:
    """The greatest limit known to be infeasible, and the least known to be feasible."""

    def __init__(self, sums: Sums, tasks: int, control: Control) -> None:
        self._sums = sums
        self._tasks = tasks
        self._control = control
        self._infeasible: Ends | None = None
        self.feasible: Ends | None = None

    @property
    def infeasible_limit(self) -> int:
        return self.feasible_limit - 1 if self._infeasible is None else self._infeasible.limit

    @property
    def feasible_limit(self) -> int:
        assert self.feasible is not None
        return self.feasible.limit

    @property
    def width(self) -> int:
        """How many bit patterns lie between the two, and 1."""
        return self.feasible_limit - self.infeasible_limit

    @property
    def middle(self) -> int:
        return (self.infeasible_limit + self.feasible_limit) // 2

    def gallop(self, cap: int, step: int) -> bool:
        """Go up from the lower bound in growing steps; return whether a limit is feasible."""
        lower = first_containing(self._sums, self._tasks, cap, self._control)
        if lower is None:
            return False
        self._decide(lower)
        while self.feasible is None:
            limit = self.infeasible_limit
            if limit >= cap:
                return False
            self.probe(min(limit + step, cap))
            step = min(8 * step, max(ONE_OCTAVE, 2 * (limit + step - lower.limit)))
        return True

    def probe(self, limit: int) -> None:
        """Decide about a limit between the two."""
        self._control.report(None, value_of(self.infeasible_limit))
        if self._control.expired():
            raise Expired(self.infeasible_limit, self.feasible)
        ends = self._sums.ends(limit, self._infeasible, self.feasible)
        assert ends is not None  # a higher limit than one at which no row was empty
        self._decide(ends)

    def costs_between(self) -> tuple[Integers, bool]:
        """Return distinct costs between the two, and whether these are all."""
        assert self.feasible is not None
        return self._sums.costs_between(self.infeasible_limit, self.feasible, self._tasks)

    def _decide(self, ends: Ends) -> None:
        try:
            reached = self._sums.reach(ends, self._tasks)
            if self._control.log_steps:
                self._log(ends, reached=reached)
            if reached:
                self.feasible = ends
            else:
                self._infeasible = ends
        except Expired as expired:
            bound = expired.bound if self._infeasible is None else self._infeasible.limit
            raise Expired(bound, self.feasible) from None

    def _log(self, ends: Ends, *, reached: bool) -> None:
        limit = f"{value_of(ends.limit):.8g}"
        word = "possible" if reached else "not possible"
        if not reached and not ends.contain(self._tasks):
            word = "too few" if ends.greatest < self._tasks else "too many"
        counts = f"{ends.least:,} to {ends.greatest:,}"
        self._control.step(
            Step(
                text=f"at most {limit}: counts add up to {counts}; {self._tasks:,} are {word}",
                cells={"at most": limit, "counts": counts, f"{self._tasks:,} tasks": word},
                values={"limit": value_of(ends.limit)},
            )
        )


GRACE = 0.3  # seconds that finding some plan may take after the time is up


def quick_entries(choices: Allowed, tasks: int, cap: int) -> Integers | None:
    """Return entries that cost up to ``cap`` (bits) and whose counts add up to the tasks.

    At limits in growing steps from the lower bound on, every resource in turn takes the largest
    step towards the tasks. Where that does not end there, sets of sums are tried at ``cap``; last,
    a table without holes always has a plan. Returns None where nothing was found within a short
    time. Complexity: O(table) for each of about ten limits.
    """
    control = Control(time_limit=GRACE)
    sums = sums_of(choices, control=control)
    try:
        lowest = ends = first_containing(sums, tasks, cap)
        if lowest is None:
            return None
        for limit in _limits(lowest.limit, cap):
            ends = lowest if limit == lowest.limit else sums.ends(limit, ends, None)
            assert ends is not None  # a higher limit than one at which no row was empty
            entries = _stepped(choices, ends, tasks, control)
            if entries is not None:
                return entries
        return _by_sums(sums, cap, tasks)
    except Expired:
        return _without_holes(choices, cap, tasks)


def _limits(least: int, most: int) -> Iterator[int]:
    """Yield limits in growing steps, the last at ``most``."""
    step = ONE_OCTAVE
    while least < most:
        yield least
        least, step = least + step, 2 * step
    yield most


def _stepped(choices: Allowed, ends: Ends, tasks: int, control: Control) -> Integers | None:
    """Return entries after every row took the largest step that is not too much."""
    counts_at = choices.table.counts_at
    down, rest = ends.from_top(tasks), ends.width(tasks)
    entries = (ends.last if down else ends.first).copy()
    spans = counts_at(ends.last) - counts_at(ends.first)
    for row in np.argsort(-spans, kind="stable").tolist():
        if rest == 0:
            break
        if control.expired():
            raise Expired(0)
        allowed = ends.allowed(choices.bits, row)
        places = counts_at(allowed, row)
        steps = places[-1] - places if down else places - places[0]
        fitting = np.flatnonzero(steps <= rest)
        at = int(fitting[0] if down else fitting[-1])
        entries[row], rest = allowed[at], rest - int(steps[at])
    if rest == 0:
        return entries
    return _mended(choices, ends, entries, -rest if down else rest, control)


def _mended(
    choices: Allowed, ends: Ends, entries: Integers, more: int, control: Control
) -> Integers | None:
    """Return the entries after one row took exactly what is missing, if any can."""
    counts_at = choices.table.counts_at
    for row, entry in enumerate(entries.tolist()):
        if control.expired():
            raise Expired(0)
        allowed = ends.allowed(choices.bits, row)
        wanted = counts_at(allowed, row) == counts_at(entry, row) + more
        if wanted.any():
            entries[row] = allowed[int(np.argmax(wanted))]
            return entries
    return None


def _by_sums(sums: Sums, cap: int, tasks: int) -> Integers | None:
    ends = sums.ends(cap, None, None)
    try:
        return None if ends is None or not ends.contain(tasks) else sums.trace(ends, tasks)
    except TooLarge:
        return None


def _without_holes(choices: Allowed, cap: int, tasks: int) -> Integers | None:
    """Return the lexicographically least plan where every count of every row is allowed."""
    if not choices.contiguous.all() or int(choices.bits.max(initial=0)) > cap:
        return None
    lower, upper = choices.least_counts, choices.greatest_counts
    if not int(lower.sum()) <= tasks <= int(upper.sum()):
        return None
    return choices.low + (lexicographic(lower, upper, tasks) - lower)
