"""What methods for reductions need of a problem."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from makespan.core import registry
from makespan.core.registry import CP_SAT, Need, condition, one_of
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import sends_in

FEW_MACHINES = 64
LOOKS_IN_REACH = 20_000_000  # about a fifth of a second a run
SENDS_IN_REACH = 100_000
PAIRS_IN_REACH = 50_000_000  # more take seconds to fill tables of them
SHARE = 0.5  # of the time that is left, where exact search follows
SHARE_ANNEALED = 0.85  # the same where sends are annealed, as exact search seldom improves them
SHARE_OVER_LINKS = 0.3  # the same, of an all-reduce over few links, as it often proves the optimum
SHARE_BEFORE_PROOF = 0.1  # the same, where it soon proves the optimum
FEW_SENDS = 20  # one way, whose plan exact search may prove, as it may over few links
FEW_ARCS = 600  # that are possible: an all-reduce over links, or one way in equal times
MOST_ARCS, ARCS_IN_REACH, ARCS_PROVED = 60_000, 6_000, 150


class Scope(NamedTuple):
    """What a method needs of a problem, and up to which sizes ``auto`` hands it problems."""

    needs: tuple[Need, ...]
    reach: tuple[Need, ...]


def is_tried(problem: Reduction, *scopes: Scope) -> bool:
    """Whether ``auto`` has one of these methods for a problem: they go on from plans of others."""
    return any(
        all(need.unmet(problem) is None for need in (*scope.needs, *scope.reach))
        for scope in scopes
    )


def has_ways_about(problem: Reduction) -> bool:
    """Whether segments are to be sent by others, too: there is no straight way, or a slow one."""
    differ = any(isinstance(each, np.ndarray) for each in (problem.latency, problem.transfer))
    return problem.links is not None or (differ and len(problem.machines) <= FEW_MACHINES)


def _same_times(problem: Reduction) -> str | None:
    if problem.segments == "auto" or problem.times is not None:
        return None
    for name in ("latency", "transfer", "reduce"):
        if getattr(getattr(problem, name), "ndim", 0):
            return f"{name} is a table"
    return "segment_sizes are given"


def _plan(problem: Reduction) -> str | None:
    for name in ("destinations", "sequences"):
        if getattr(problem, name) is not None:
            return f"{name} are given"
    return None


def _whole(problem: Reduction) -> str | None:
    if problem.segments == "auto" or problem.unit is not None:
        return None
    return "the times have no common unit"


def one_way(problem: Reduction) -> bool:
    if problem.segments == "auto":
        return problem.collective != "all-reduce"
    return problem.statement.one_way


def _sends_of_a_segment(problem: Reduction) -> int:
    """Return how many sends of a segment are possible."""
    machines = len(problem.machines)
    if problem.collective == "all-reduce":
        return 2 * machines * (machines - 1)
    return (machines - 1) ** 2


def _unmodelled(problem: Reduction) -> str | None:
    if problem.segments == "auto" or problem.statement.one_way:
        return None
    if problem.collective != "all-reduce":
        return f"collective is {problem.collective!r}"
    if problem.times is not None:
        at_once = problem.times.latency + problem.times.transfer <= 0
    else:
        apart = ~np.eye(len(problem.machines), dtype=bool)
        takes = (problem.latencies + problem.transfers * problem.sizes.min())[apart]
        at_once = bool((takes <= 0).any())
    return "a send takes no time" if at_once else None


def _annealed(problem: Reduction) -> str | None:
    before, after, _ = problem.statement
    sets = problem.statement.copied if one_way(problem) else [before & after]
    few = sends_in(problem) * len(problem.machines) <= SENDS_IN_REACH
    concerned = np.any(sets, axis=0)
    several = concerned.all() or (concerned.sum(axis=0) > 2).all()
    return None if few and problem.shared is None and several else "they aren't"


def _one_tree_or_two(problem: Reduction) -> str | None:
    if problem.segments == "auto" or problem.collective == "all-reduce" or one_way(problem):
        return None
    return "some are combined, and then copied"


def _linked(problem: Reduction) -> str | None:
    if problem.segments == "auto":
        return None
    if problem.shared is not None:
        return "links are shared"
    missing = problem.collective == "all-reduce" and problem.links is not None
    return "some are missing" if missing else None


def at_most(most: int, what: str, count: Callable[[Reduction], int]) -> Need:
    """Return the need of no more than so many, where the number of segments is given."""
    return registry.at_most(
        most, what, lambda problem: 0 if problem.segments == "auto" else count(problem)
    )


def links_between(pairs: Callable[[Reduction], tuple[Any, ...]], what: str) -> Need:
    """Return the need of links between the ``pairs`` of senders and receivers of a problem."""

    def unmet(problem: Reduction) -> str | None:
        if problem.links is None or problem.segments == "auto":
            return None
        senders, receivers = pairs(problem)
        missing = np.flatnonzero(~problem.links[senders, receivers])
        if not len(missing):
            return None
        sender, receiver = (
            problem.machines[int(ends[missing[0]])] for ends in (senders, receivers)
        )
        return f"none leads from {sender} to {receiver}"

    return Need(f"links {what}", unmet)


def _arcs(most: int) -> Need:
    return at_most(
        most,
        "possible sends, (n - 1)² m, or 2 n (n - 1) m",
        lambda problem: _sends_of_a_segment(problem) * problem.items,
    )


ALL_LINKS = links_between(
    lambda problem: np.nonzero(~np.eye(len(problem.machines), dtype=bool)), "between all machines"
)
WAYS_ABOUT = condition(
    f"missing links, or up to {FEW_MACHINES} machines linked in times that differ",
    has_ways_about,
    "the straight ways are the quickest",
)
GIVEN_COUNT = condition(
    "a given number of segments", lambda each: each.segments != "auto", "segments is 'auto'"
)
OPEN_COUNT = one_of("segments", "auto")
ONE_PORT = condition(
    "a port for sending and one for receiving a machine",
    lambda problem: problem.ports is None,
    "the network has ports = 'links'",
)
OPEN_PLAN = Need("a plan that is not given", _plan)
GIVEN_PLAN = condition("a given plan", _plan, "neither destinations nor sequences are given")
FREE_ORDER = one_of("order", "free")
FREE_PLAN = (GIVEN_COUNT, OPEN_PLAN, FREE_ORDER)
BACKFILLING_ORDER = one_of("order", "backfilling", "free")
GREEDY_ORDER = one_of("order", "greedy")
A_REDUCTION = one_of("collective", "reduce")
AN_ALL_REDUCE = one_of("collective", "all-reduce")
ONE_SEGMENT = one_of("segments", 1, text="one segment")
ONE_WAY = one_of("collective", "reduce", "broadcast")
COPIED_OR_COMBINED = condition(
    "segments that are only copied, or only combined", one_way, "they are combined, and then copied"
)
COMBINED_AND_COPIED = Need(
    "segments that are combined, and then copied",
    lambda problem: "they are only one of both" if one_way(problem) else None,
)
ONE_TREE_OR_TWO = Need("an all-reduce, or segments only copied, or only combined", _one_tree_or_two)
SAME_TIMES = Need("the same times for all machines and segments", _same_times)
UNEVEN_TIMES = Need(
    "times that differ between machines or segments",
    lambda problem: None if problem.segments == "auto" or problem.times is None else "they don't",
)
SEARCHED = Need(
    "times that differ between machines or segments, or a reduce or a broadcast",
    lambda problem: UNEVEN_TIMES.unmet(problem) and ONE_WAY.unmet(problem),
)
COMMON_UNIT = Need("times with a common unit", _whole)
MODELLED = Need(
    "segments that are only copied, or only combined, or an all-reduce whose sends take time",
    _unmodelled,
)
BY_DUE_DATES = Scope(
    (AN_ALL_REDUCE, *FREE_PLAN, ONE_PORT),
    (at_most(LOOKS_IN_REACH, "sends times segments", lambda each: sends_in(each) * each.items),),
)
FEW_PAIRS = at_most(
    PAIRS_IN_REACH, "machines times segments", lambda problem: len(problem.machines) * problem.items
)
ALONG_CRITICAL_PATH = Scope(FREE_PLAN, (SEARCHED, at_most(SENDS_IN_REACH, "sends", sends_in)))
ANNEALED = Scope(
    (*ALONG_CRITICAL_PATH.needs, ONE_PORT),
    (SEARCHED, Need("few segments, each of all machines or three, no shared links", _annealed)),
)
"""Of those that sends are annealed of, which needs the time more than what is before it."""
EJECTED = Scope(
    (
        ONE_TREE_OR_TWO,
        condition(
            "segments of one size",
            lambda each: each.segments == "auto" or each.sizes.min() == each.sizes.max(),
            "segment_sizes differ",
        ),
        *FREE_PLAN,
        ONE_PORT,
    ),
    (
        SEARCHED,
        at_most(SENDS_IN_REACH, "sends", sends_in),
        Need("no shared links, and in an all-reduce, links between all machines", _linked),
    ),
)
NOT_ANNEALED = Need("no annealing", lambda p: "'auto' anneals" if is_tried(p, ANNEALED) else None)
BY_CP_SAT = Scope(
    (CP_SAT, GIVEN_COUNT, MODELLED, FREE_ORDER, COMMON_UNIT, _arcs(MOST_ARCS)),
    (_arcs(ARCS_IN_REACH),),
)
"""Those of the methods that go on from plans of others."""
PROVED_SOON = Scope((AN_ALL_REDUCE, *BY_CP_SAT.needs), (UNEVEN_TIMES, _arcs(ARCS_PROVED)))
"""Of all-reduces that exact search proves in a second or two: what is before it must leave time."""


def share_of_search(problem: Reduction) -> float:
    """Return the part of the time that is left which a search has before exact search."""
    if not is_tried(problem, BY_CP_SAT):
        return 1.0
    if is_tried(problem, PROVED_SOON):
        return SHARE_BEFORE_PROOF
    one_way, links = problem.statement.one_way, problem.links
    arcs = _sends_of_a_segment(problem) if links is None else 2 * int(links.sum())
    few = arcs * problem.items <= FEW_ARCS
    if few and not one_way and links is not None:
        return SHARE_OVER_LINKS
    alike = few and problem.times is not None
    proved = one_way and (alike or sends_in(problem) < FEW_SENDS or links is not None)
    return SHARE_ANNEALED if is_tried(problem, ANNEALED) and not proved else SHARE
