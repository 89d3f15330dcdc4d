"""Method → the problem on which it does worst, and a smaller one that is as bad."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from makespan._version import __version__
from makespan.core.errors import FileError, InputError, MethodError
from makespan.core.inputs.files import PathLike, read_text, write_whole
from makespan.core.inputs.rules import Mistakes, Rule, whole
from makespan.core.inputs.suggest import did_you_mean, suggesting
from makespan.core.registry import applicability, find_method
from makespan.flow.files.files import problem_of
from makespan.flow.kinds import KINDS
from makespan.lab.adversary.chain import Annealing, State, Step
from makespan.lab.adversary.changes import (
    Proposal,
    Ranges,
    problem_in,
    ranges_of,
    resizings,
    with_number,
)
from makespan.lab.adversary.document import Document, document_of, lists, numbers, pattern, shown
from makespan.lab.adversary.duel import BOUND, OPTIMUM, UNPROVED, Duel, Named
from makespan.lab.adversary.found import Adversary
from makespan.lab.instances import Grid, Instances, sources_of

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


Where = Callable[..., Iterable[State]]
"""``map``, or one like it."""
TellProgress = Callable[[int, int, float], None]
"""Called with the problems that were tried, how many there may be, and the greatest ratio."""

FORMAT = "makespan.adversary/1"
SAMPLES = 8  # starts from a kind's generator
SMALL: Mapping[str, Mapping[str, Any]] = {
    "divisible": {"workers": 4, "latency": 0.1},
    "independent": {"tasks": 7, "machines": 3},
    "partition": {"resources": 3, "tasks": 12},
    "pipeline": {"stages": 6, "machines": 3},
    "reduction": {"machines": 3, "segments": 2, "spread": 0.5},
    "taskgraph": {"size": 8, "machines": 3},
}
"""Options of the generators by kind: most optima of such problems are proved within a second."""
SLICE = 2.0  # seconds after which chains say how far they are
SEARCHING = 0.8  # of the time, where the worst problem is made smaller in the rest
TOO_LARGE = "smaller problems, or a longer limit of each solve, have more proved optima"
SECONDS = Rule("it is above 0 seconds", strictly=True, infinite=True)


@suggesting
def adversary(
    method: str | Named,
    start: Instances,
    *,
    against: str | Named = OPTIMUM,
    within: Mapping[str, tuple[float, float]] | None = None,
    iterations: int = 500,
    chains: int = 4,
    rng: int = 0,
    time_limit: float | None = 60.0,
    solve_limit: float = 1.0,
    minimal: bool = False,
    state: PathLike | None = None,
    where: Where = map,
    progress: TellProgress | None = None,
) -> Adversary:
    """Search for the problem on which a method does worst, by simulated annealing.

    Each step changes one thing of a problem, as its file has it: a number, the length of a list
    (with all that belongs to the element), or what a name refers to. Both plans are refereed.

    Parameters
    ----------
    method
        A method's name; with options, a pair of name and options.
    start
        Where to begin: a :class:`makespan.Grid`, problems or files; or the name of a kind, for
        small problems by its generator, whose optima can be proved.
    against
        Another method, ``"optimum"`` (only proved ones count) or ``"bound"``, the lower bound of
        the method's own result.
    within
        Ranges by place, with ``*`` for what is numbered: ``{"tasks.*.work": (0, 1)}`` of numbers,
        ``{"tasks": (3, 5)}`` of the length of a list. Without, numbers stay between the least and
        the greatest of the starts, and lists may lose half of their elements.
    iterations, chains
        Problems of a chain, and chains, each from a start of its own.
    rng
        The seed: the same one gives the same search, unless a limit ends it or a solve.
    time_limit, solve_limit
        Seconds of the whole search, and of each solve.
    minimal
        Whether to take away what the worst problem does not need, and shorten its numbers. The
        ratio stays, but for a hundredth of its logarithm.
    state
        A ``.json`` file of how far the chains are; the same call goes on with it.
    where
        What runs the chains, as ``map`` does here: ``makespan.execute.Executor(on=2).map``, or
        that of a cluster.
    progress
        Called about every two seconds.

    Returns
    -------
    Adversary
        Ctrl-C ends the search early, with the worst problem found by then.

    Raises
    ------
    InputError
        With every mistake found in what is asked.
    FileError
        If ``state`` is of another search.

    The method is that of PISA (Coleman and Krishnamachari 2025), for any kind of problem.

    >>> import makespan
    >>> found = makespan.adversary("lpt", "independent", chains=1, iterations=30)
    >>> found.ratio >= 1.0
    True
    """
    mistakes = Mistakes()
    mistakes.number("iterations", iterations, whole("it is"))
    mistakes.number("chains", chains, whole("it is"))
    limit = math.inf if time_limit is None else time_limit
    mistakes.number("time_limit", limit, SECONDS)
    mistakes.number("solve_limit", solve_limit, SECONDS)
    starts = _starts(start, mistakes, rng)
    duel = Duel(_named(method), _named(against), solve_limit, rng)
    _refuse_unfit(duel, starts, mistakes)
    ranges = ranges_of(starts, within or {}, mistakes)
    mistakes.raise_if_any(InputError)
    annealing = Annealing(duel, ranges, tuple(starts), iterations, rng)
    asked = {
        **{"version": __version__, "method": duel.method, "against": duel.against, "rng": rng},
        **{"solve_limit": solve_limit, "within": within or {}, "iterations": iterations},
    }
    states = _kept(state, asked) if state is not None else []
    states += [State(chain=chain) for chain in range(len(states), chains)]
    began = time.monotonic()
    ends, interrupted = began + limit * (SEARCHING if minimal else 1.0), False
    try:
        while todo := [each for each in states if each.steps < iterations]:
            left = ends - time.monotonic()
            if left <= 0:
                break
            advanced = partial(annealing.advanced, seconds=min(SLICE, left))
            for one in where(advanced, todo):
                states[one.chain] = one
                if state is not None:
                    chains_ = [asdict(each) for each in states]
                    data = {"format": FORMAT, "search": asked, "chains": chains_}
                    write_whole(state, json.dumps(data) + "\n")
                if progress is not None:
                    tried = sum(each.steps for each in states)
                    best = max(each.best_ratio for each in states)
                    progress(tried, iterations * len(states), best)
    except KeyboardInterrupt:
        interrupted = True
    shrink = began + limit if minimal and not interrupted else None
    return _found(annealing, states, shrink, interrupted)


def _found(
    annealing: Annealing, states: Sequence[State], shrink: float | None, interrupted: bool
) -> Adversary:
    """Return the worst of all chains, its plans made anew; ``shrink``: made smaller until then."""
    duel = annealing.duel
    worst = max(states, key=lambda each: each.best_ratio)
    left_out: Counter[str] = sum((Counter(each.left_out) for each in states), Counter())
    found = Adversary(
        method=duel.method[0],
        against=duel.against[0],
        tried=sum(each.steps for each in states) - left_out.total(),
        left_out=dict(left_out.most_common()),
        faults=tuple(tuple(fault) for each in states for fault in each.faults),  # type: ignore[misc]
        interrupted=interrupted,
    )
    notes = _notes(annealing, states, interrupted)
    if worst.best is None or worst.start is None:
        return replace(found, notes=(*notes, *([TOO_LARGE] if UNPROVED in left_out else [])))
    document, story = worst.best, worst.trail[: worst.turns]
    if shrink is not None:
        shrinking = Shrinking(duel, annealing.ranges, document, worst.best_ratio, shrink)
        document, steps = shrinking.done()
        story += steps
    outcome = duel.fought(problem_of(document))
    if outcome.ratio is None or not math.isclose(outcome.ratio, worst.best_ratio, rel_tol=0.05):
        notes.append(
            f"the search saw a ratio of {worst.best_ratio:.4g}: where the clock ends a solve, "
            "plans differ from one to the next"
        )
    return replace(
        found,
        ratio=outcome.ratio,
        problem=problem_of(document),
        result=outcome.result,
        reference=outcome.reference,
        base=outcome.base,
        story=tuple((text, ratio) for text, ratio in story),
        start=problem_of(worst.start),
        notes=tuple(notes),
    )


def _notes(annealing: Annealing, states: Sequence[State], interrupted: bool) -> list[str]:
    """Return what kept the search from more: its limit, or numbers without a range."""
    notes = []
    done, asked = sum(each.steps for each in states), annealing.iterations * len(states)
    if done < asked and not interrupted:
        notes.append(f"the time limit ended the search after {done:,} of {asked:,} problems")
    if not annealing.ranges.numbers:
        notes.append("all numbers stay as in the start: give some a range (within)")
    return notes


def starts_of(kind: str, options: Mapping[str, Any], seed: int) -> Grid:
    """Return small random problems to begin with; ``options`` of the generator overrule."""
    return Grid(kind, options={**SMALL.get(kind, {}), **options}, seeds=range(seed, seed + SAMPLES))


def _starts(start: Any, mistakes: Mistakes, seed: int) -> list[Document]:
    """Return the problems to begin with, all of one kind."""
    if isinstance(start, str) and start in KINDS:
        start = starts_of(start, {}, seed)
    if isinstance(start, str) and not Path(start).exists():
        hint = did_you_mean(start, KINDS)
        raise InputError(f"start: {start!r} is neither a kind of problem nor a file{hint}")
    sources = sources_of(start, mistakes)
    mistakes.raise_if_any(InputError)
    documents = [document_of(each.problem()) for source in sources for each in source]
    kinds = sorted({each["kind"] for each in documents})
    if len(kinds) > 1:
        mistakes.add("start", f"holds problems of several kinds: {', '.join(kinds)}")
        mistakes.raise_if_any(InputError)
    return documents


def _named(method: str | Named) -> Named:
    name, options = (method, {}) if isinstance(method, str) else method
    return name, dict(options)


def _refuse_unfit(duel: Duel, starts: Sequence[Document], mistakes: Mistakes) -> None:
    """Note names that are no method of the kind, and methods that apply to none of the starts."""
    known = {"method": ("auto",), "against": ("auto", OPTIMUM, BOUND)}
    for place, (name, _) in (("method", duel.method), ("against", duel.against)):
        if name in known[place]:
            continue
        try:
            method = find_method(starts[0]["kind"], name)
        except MethodError as error:
            mistakes.add(place, str(error))
            continue
        verdicts = [applicability(method, problem_of(start)) for start in starts]
        if not any(verdict.applies for verdict in verdicts):
            mistakes.add(place, f"{name} applies to no start: it {verdicts[0].reasons[0]}")


def _kept(path: PathLike, asked: dict[str, Any]) -> list[State]:
    """Return the chains in the file of a search; none where there is no file yet."""
    if not Path(path).exists():
        return []
    try:
        data = json.loads(read_text(path))
        before, states = data["search"], [State(**each) for each in data["chains"]]
    except (ValueError, KeyError, TypeError):
        raise FileError(
            f"{path}: is not the file of a search; name a new file, which is written"
        ) from None
    for key, value in json.loads(json.dumps(asked)).items():
        if before.get(key) != value:
            raise FileError(
                f"{path}: holds another search: its {key} is {_said(before.get(key))}, not "
                f"{_said(value)}; ask for the same, or name another file"
            )
    return states


def _said(value: Any) -> str:
    """Return a part of what was asked as users write it."""
    if isinstance(value, dict):
        return ", ".join(f"{at}={low:g}:{high:g}" for at, (low, high) in value.items()) or "empty"
    if isinstance(value, list):
        name, options = value
        return " ".join([name, *(f"{key}={each}" for key, each in options.items())])
    return str(value)
