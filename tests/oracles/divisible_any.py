"""Any small divisible load problem, by trying everything that a plan decides.

A plan decides who is sent chunks in which order, in which order results return, how sends and
returns alternate on one port or which sends share a slot, between which receptions a worker
without a front end computes, and whether the master computes. Each choice gives a list of events
that follow each other; what is left is a linear programme over amounts and starts, or, for whole
units, every way to deal them out. Slow and obvious; it knows the statement and no method.

Workers compute their chunks in the order in which they come.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations, islice, pairwise, permutations, product

import numpy as np
from scipy.optimize import linprog

from makespan import DivisibleLoad, Star, Tree
from tests.oracles.divisible_any_tree import best_of_tree, covers_tree
from tests.oracles.divisible_rules import splits

MAX_CHUNKS = 3  # of continuous loads in any number of rounds: more might be better
MAX_CHOICES = 700
MAX_DEALS = 10_000  # of whole units, over all choices

Event = tuple[str, int]
"""What happens ("send", "compute", "return") to which chunk."""


def best(problem: DivisibleLoad) -> float | None:
    """Return the least makespan or price, or the most load where it is open; None without a plan.

    Exact where :func:`covers` says so. Elsewhere it is what some plan reaches: no bound lies
    beyond it, and no optimum is worse.
    """
    if isinstance(problem.platform, Tree):
        return best_of_tree(problem)
    if problem.chooses_master:
        found = [best(problem.with_master(index)) for index in range(len(problem.star))]
    else:
        found = [_value(problem, choice) for choice in islice(choices(problem), MAX_CHOICES)]
    reached = [value for value in found if value is not None]
    if not reached:
        return None
    return max(reached) if problem.load is None else min(reached)


def best_with(problem: DivisibleLoad, own: bool) -> float | None:
    """Return the best value, among the plans in which the master computes or it does not."""
    found = (_value(problem, choice) for choice in choices(problem) if choice.own == own)
    reached = [value for value in found if value is not None]
    if not reached:
        return None
    return max(reached) if problem.load is None else min(reached)


def covers(problem: DivisibleLoad) -> bool:
    """Whether :func:`best` tries every plan of the problem."""
    if isinstance(problem.platform, Tree):
        return covers_tree(problem)
    if problem.chooses_master:
        return all(covers(problem.with_master(index)) for index in range(len(problem.star)))
    if getattr(problem.star.master, "uplink", None) is not None:
        return False  # the rates of sends are not linear
    if _rounds(problem) is None and not problem.integral:
        return False
    if problem.load is None and (_rounds(problem) is None or _has_free_units(problem)):
        return False
    every = list(islice(choices(problem), MAX_CHOICES + 1))
    if problem.integral and sum(map(partial(_number_of_deals, problem), every)) > MAX_DEALS:
        return False
    return len(every) <= MAX_CHOICES


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a plan decides but the amounts: chunks in the order of sending, and who waits for whom.

    ``after`` holds events that begin when others have ended, ``level`` those that begin no
    earlier than others begin.
    """

    worker: tuple[int, ...]
    after: tuple[tuple[Event, Event], ...]
    level: tuple[tuple[Event, Event], ...]
    own: bool


def choices(problem: DivisibleLoad) -> Iterator[Choice]:
    """Iterate over all choices."""
    for worker in _sequences(problem):
        for back in _return_orders(problem, worker):
            for line in _lines(problem, worker, back):
                for gaps in _gaps(problem, worker):
                    for own in _own(problem):
                        yield replace(line, after=(*line.after, *gaps), own=own)


def _rounds(problem: DivisibleLoad) -> int | None:
    """Return the number of rounds; None if it is open."""
    return None if problem.rounds == "auto" else problem.rounds


def _may_miss(problem: DivisibleLoad, worker: int) -> bool:
    """Whether an empty chunk costs nothing."""
    star = problem.star
    return not (star.send_fixed[worker] or star.compute_fixed[worker] or star.return_fixed[worker])


def _sequences(problem: DivisibleLoad) -> Iterator[tuple[int, ...]]:
    """Iterate over who is sent a chunk, in order."""
    count = len(problem.star)
    needed = set(range(count)) if problem.use == "all" else set()
    names = problem.star.names
    if problem.loads is not None:
        busy = {index for index, name in enumerate(names) if problem.loads.get(name, 0.0) > 0}
        needed |= busy
    if problem.transfers is not None:
        sends = [name for what, name in problem.transfers if what == "send"]
        yield tuple(problem.workers_in(sends).tolist())
        return
    given = problem.activation
    if given is not None:
        entries = problem.workers_in(given).tolist()
        keeps = [(True, False) if _may_miss(problem, worker) else (True,) for worker in entries]
        for kept in product(*keeps):
            served = tuple(worker for worker, keep in zip(entries, kept, strict=True) if keep)
            if needed <= set(served):
                yield served
        return
    rounds = _rounds(problem)
    longest = MAX_CHUNKS if rounds is None else rounds * count
    if problem.integral and rounds is None and problem.load is not None:
        longest = int(problem.load) + len(needed)
    for length in range(longest + 1):
        for worker in product(range(count), repeat=length):
            line = [("send", names[each]) for each in worker]
            if needed - set(worker):
                continue
            if rounds is None or splits(line, rounds, problem.order):
                yield worker


def _return_orders(
    problem: DivisibleLoad, worker: tuple[int, ...]
) -> Iterator[tuple[int, ...] | None]:
    """Iterate over the chunks that return, in order; None where nothing orders them."""
    returns = problem.star.returns
    chunks = [chunk for chunk, each in enumerate(worker) if returns[each]]
    if problem.discipline is not None and problem.ports == "many":
        yield from permutations(chunks)  # sends that begin together return in any order
    elif problem.discipline is not None:
        yield tuple(chunks if problem.discipline == "fifo" else chunks[::-1])
    elif problem.return_order is None and problem.ports == "many":
        yield None
    else:
        for back in permutations(chunks):
            if _keeps_return_order(problem, [worker[chunk] for chunk in back]):
                yield back


def _keeps_return_order(problem: DivisibleLoad, workers: list[int]) -> bool:
    order = problem.return_order
    if order is None:
        return True
    names = [problem.star.names[worker] for worker in workers]
    if problem.activation is None:
        rounds = _rounds(problem)
        return rounds is None or splits([("return", name) for name in names], rounds, order)
    entries = problem.workers_in(order).tolist()
    returns = problem.star.returns
    entries = [worker for worker in entries if returns[worker]]
    keeps = [(True, False) if _may_miss(problem, worker) else (True,) for worker in entries]
    return any(
        [worker for worker, keep in zip(entries, kept, strict=True) if keep] == workers
        for kept in product(*keeps)
    )


def _lines(
    problem: DivisibleLoad, worker: tuple[int, ...], back: tuple[int, ...] | None
) -> Iterator[Choice]:
    """Iterate over how the transfers follow each other."""
    sends = [("send", chunk) for chunk in range(len(worker))]
    returns = [("return", chunk) for chunk in back or ()]
    chunks: list[tuple[Event, Event]] = []
    for chunk, each in enumerate(worker):
        chunks.append((("send", chunk), ("compute", chunk)))
        if problem.star.returns[each]:
            chunks.append((("compute", chunk), ("return", chunk)))
    for same in _by_worker(worker):
        chunks += pairwise(("compute", chunk) for chunk in same)

    def choice(after: list[tuple[Event, Event]], level: list[tuple[Event, Event]] = []) -> Choice:  # noqa: B006
        return Choice(worker=worker, after=(*chunks, *after), level=tuple(level), own=False)

    if problem.ports == 1:
        lines = _merged if problem.transfers is None else partial(_as_given, problem, worker)
        for line in lines(sends, returns):
            yield choice(list(pairwise(line)))
    elif problem.ports == 2:
        yield choice([*pairwise(sends), *pairwise(returns)])
    else:
        links = []
        for same in _by_worker(worker):
            links += pairwise(("send", chunk) for chunk in same)
            if problem.star.returns[worker[same[0]]]:
                links += pairwise(("return", chunk) for chunk in same)
        level = [*pairwise(sends), *pairwise(returns), *_ties(problem, back)]
        for slots in _slots(problem, len(worker)):
            yield choice([*links, *slots], level)


def _ties(problem: DivisibleLoad, back: tuple[int, ...] | None) -> Iterator[tuple[Event, Event]]:
    """Iterate over the sends that begin together, as their returns have not the discipline."""
    line = (back or ()) if problem.discipline == "fifo" else (back or ())[::-1]
    if problem.discipline is not None:
        for late, early in combinations(line, 2):
            if early < late:
                yield ("send", late), ("send", early)


def _by_worker(worker: tuple[int, ...]) -> list[list[int]]:
    return [
        [chunk for chunk, each in enumerate(worker) if each == which]
        for which in dict.fromkeys(worker)
    ]


def _merged(sends: list[Event], returns: list[Event]) -> Iterator[list[Event]]:
    """Iterate over the ways to merge two lines, no return before its send."""
    if not returns:
        yield sends
        return
    ahead = [chunk for _, chunk in sends]
    if returns[0][1] not in ahead:
        for rest in _merged(sends, returns[1:]):
            yield [returns[0], *rest]
    if sends:
        for rest in _merged(sends[1:], returns):
            yield [sends[0], *rest]


def _as_given(
    problem: DivisibleLoad, worker: tuple[int, ...], sends: list[Event], returns: list[Event]
) -> Iterator[list[Event]]:
    """Yield the merged line that is the given transfers, but for returns of nothing, if it is."""
    assert problem.transfers is not None
    names = list(problem.star.names)
    left, line = {"send": sends[::-1], "return": returns[::-1]}, list[Event]()
    for what, name in problem.transfers:
        if what == "send" or problem.star.returns[names.index(name)]:
            if not left[what] or names[worker[left[what][-1][1]]] != name:
                return
            line.append(left[what].pop())
            if what == "return" and ("send", line[-1][1]) not in line:
                return
    if not any(left.values()):
        yield line


def _slots(problem: DivisibleLoad, count: int) -> Iterator[list[tuple[Event, Event]]]:
    """Iterate over the ways to share out sends among those that the master has at a time."""
    master = problem.star.master
    assert not isinstance(master, str)
    slots = 1 if master.uplink is not None else master.sends
    if slots is None or slots >= count:
        yield []
        return
    for slot in product(range(slots), repeat=count):
        if all(each <= max(slot[:place], default=-1) + 1 for place, each in enumerate(slot)):
            same = [[c for c in range(count) if slot[c] == each] for each in set(slot)]
            pairs = chain(*(pairwise(("send", chunk) for chunk in group) for group in same))
            yield list(pairs)


def _gaps(problem: DivisibleLoad, worker: tuple[int, ...]) -> Iterator[list[tuple[Event, Event]]]:
    """Iterate over the receptions between which chunks are computed without a front end."""
    if problem.front_end:
        yield []
        return
    by_worker = []
    for same in _by_worker(worker):
        ways = []
        for places in product(range(len(same)), repeat=len(same)):
            if any(place < own for own, place in enumerate(places)) or list(places) != sorted(
                places
            ):
                continue
            edges: list[tuple[Event, Event]] = []
            for own, place in enumerate(places):
                edges.append((("send", same[place]), ("compute", same[own])))
                if place + 1 < len(same):
                    edges.append((("compute", same[own]), ("send", same[place + 1])))
            ways.append(edges)
        by_worker.append(ways)
    for each in product(*by_worker):
        yield list(chain(*each))


def _own(problem: DivisibleLoad) -> tuple[bool, ...]:
    """Return whether the master may compute."""
    master = problem.star.master
    assert not isinstance(master, str)
    if problem.loads is not None:
        return (problem.loads.get(master.name, 0.0) > 0,)
    return (False,) if master.compute is None else (True, False)


def _costs(problem: DivisibleLoad, event: str, worker: int) -> tuple[float, float]:
    """Return what an event costs on a worker: fixed, and per unit."""
    star: Star = problem.star
    fixed = float(getattr(star, f"{event}_fixed")[worker])
    per_unit = float(getattr(star, f"{event}_per_unit")[worker])
    uplink = getattr(star.master, "uplink", None)
    if event == "send" and uplink is not None:
        per_unit = max(per_unit, 1.0 / uplink)
    return fixed, per_unit


def _pieces(problem: DivisibleLoad, event: str, worker: int) -> list[tuple[float, float]]:
    """Return the lines on which the pieces of a cost lie; it is the greatest of them."""
    fixed, per_unit = _costs(problem, event, worker)
    pieces = [(fixed, per_unit)]
    if event == "compute":
        for size, cost in getattr(problem.star.workers[worker].compute, "beyond", ()):
            fixed, per_unit = fixed + (per_unit - cost) * size, cost
            pieces.append((fixed, per_unit))
    return pieces


def _events(problem: DivisibleLoad, choice: Choice) -> list[Event]:
    return [
        (event, chunk)
        for chunk, worker in enumerate(choice.worker)
        for event in ("send", "compute", "return")
        if event != "return" or problem.star.returns[worker]
    ]


def _affordable(problem: DivisibleLoad, choice: Choice) -> float:
    """Return what the budget leaves for the load."""
    used = sorted(set(choice.worker))
    limit = math.inf if problem.budget is None else problem.budget
    return limit - float(problem.star.price_fixed[used].sum())


def _rent(problem: DivisibleLoad, choice: Choice) -> float:
    """Return what a second of the plan costs."""
    return float(problem.star.price_per_second[sorted(set(choice.worker))].sum())


def _value(problem: DivisibleLoad, choice: Choice) -> float | None:
    if problem.integral:
        return _by_units(problem, choice)
    return _by_programme(problem, choice)


def _by_programme(problem: DivisibleLoad, choice: Choice) -> float | None:
    """Return the best value of a choice by linear programme, None where it has no plan.

    Columns: the amounts, the master's amount, the starts of the events, the makespan.
    """
    star, worker = problem.star, choice.worker
    events = _events(problem, choice)
    place = {event: len(worker) + 1 + index for index, event in enumerate(events)}
    width = len(worker) + 2 + len(events)
    upper: list[tuple[list[tuple[int, float]], float]] = []  # sum of terms <= limit
    equal: list[tuple[list[tuple[int, float]], float]] = []
    own, end = len(worker), width - 1
    limits = [(0.0, float(star.memory[each])) for each in worker]
    limits.append((0.0, math.inf if choice.own else 0.0))
    limits += [
        (float(star.release[worker[chunk]]) if event == "compute" else 0.0, math.inf)
        for event, chunk in events
    ]
    limits.append((0.0, math.inf if problem.deadline is None else problem.deadline))
    for event, chunk in events:
        for fixed, per_unit in _pieces(problem, event, worker[chunk]):
            length = [(place[event, chunk], 1.0), (chunk, per_unit)]
            upper.append(([*length, (end, -1.0)], -fixed))
            if event == "compute" and np.isfinite(star.deadline[worker[chunk]]):
                upper.append((length, float(star.deadline[worker[chunk]]) - fixed))
            for before, later in choice.after:
                if before == (event, chunk):
                    upper.append(([*length, (place[later], -1.0)], -fixed))
    for before, later in choice.level:
        upper.append(([(place[before], 1.0), (place[later], -1.0)], 0.0))
    if choice.own:
        cost = star.master.compute
        upper.append(([(own, cost.per_unit), (end, -1.0)], -cost.fixed))
    if problem.budget is not None:
        prices = [(chunk, float(star.price_per_unit[each])) for chunk, each in enumerate(worker)]
        upper.append(([*prices, (end, _rent(problem, choice))], _affordable(problem, choice)))
    if problem.load is not None:
        equal.append(([(chunk, 1.0) for chunk in range(len(worker) + 1)], problem.load))
    if problem.loads is not None:
        for index, name in enumerate(star.names):
            mine = [(chunk, 1.0) for chunk, each in enumerate(worker) if each == index]
            equal.append((mine, float(problem.loads.get(name, 0.0))))
    objective = np.zeros(width)
    if problem.load is None:
        objective[: own + 1] = -1.0
    elif problem.objective == "price":
        objective[:own] = [float(star.price_per_unit[each]) for each in worker]
        objective[end] = _rent(problem, choice)
    else:
        objective[end] = 1.0
    solved = linprog(
        objective,
        **_rows("A_ub", "b_ub", upper, width),
        **_rows("A_eq", "b_eq", equal, width),
        bounds=limits,
    )
    if solved.status == 2:
        return None
    if solved.status in (3, 4) and problem.load is None:
        return math.inf
    assert solved.status == 0, solved.message
    fixed = star.price_fixed[sorted(set(worker))].sum() if problem.objective == "price" else 0.0
    return abs(float(solved.fun)) + float(fixed)


def _rows(
    matrix: str, limit: str, rows: list[tuple[list[tuple[int, float]], float]], width: int
) -> dict[str, np.ndarray]:
    if not rows:
        return {}
    values = np.zeros((len(rows), width))
    for row, (terms, _) in enumerate(rows):
        for column, value in terms:
            values[row, column] += value
    return {matrix: values, limit: np.array([at for _, at in rows])}


def _by_units(problem: DivisibleLoad, choice: Choice) -> float | None:
    """Return the best value of a choice over all ways to deal whole units out."""
    if problem.load is not None and not float(problem.load).is_integer():
        return None
    found = None
    for amount, own in _deals(problem, choice):
        end = _end(problem, choice, amount, own)
        if end is None:
            continue
        value = end if problem.load is not None else float(sum(amount) + own)
        if problem.budget is not None or problem.objective == "price":
            price = _price(problem, choice, amount, end)
            if problem.budget is not None and price > problem.budget * (1 + 1e-9):
                continue
            value = price if problem.objective == "price" else value
        if found is None or (value > found if problem.load is None else value < found):
            found = value
    return found


def _deals(problem: DivisibleLoad, choice: Choice) -> Iterator[tuple[tuple[int, ...], int]]:
    """Iterate over whole amounts of the chunks and of the master."""
    star, worker = problem.star, choice.worker
    ranges = [range(_most_units(problem, each) + 1) for each in worker]
    total = problem.load
    own_most = 0
    if choice.own:
        cost = star.master.compute
        own_most = _by(problem, cost.per_unit) if total is None else int(total)
    for amount in product(*ranges):
        left = None if total is None else int(total) - sum(amount)
        owns = range(own_most + 1) if left is None else [left] if 0 <= left <= own_most else []
        for own in owns:
            names = [star.names[each] for each in worker]
            if problem.loads is not None and any(
                sum(a for a, at in zip(amount, names, strict=True) if at == name)
                != problem.loads.get(name, 0.0)
                for name in star.names
            ):
                continue
            yield amount, own


def _number_of_deals(problem: DivisibleLoad, choice: Choice) -> int:
    """Return how many ways there are to look at."""
    return math.prod(_most_units(problem, each) + 1 for each in choice.worker)


def _price(
    problem: DivisibleLoad, choice: Choice, amount: tuple[int, ...], seconds: float
) -> float:
    """Return what whole units on the workers of a choice cost."""
    star, worker = problem.star, choice.worker
    units = np.dot([float(star.price_per_unit[each]) for each in worker], amount)
    fixed = float(star.price_fixed[sorted(set(worker))].sum())
    return float(units) + fixed + _rent(problem, choice) * seconds


def _has_free_units(problem: DivisibleLoad) -> bool:
    """Whether whole units without a maximum would have to be tried."""
    star = problem.star
    free = (star.send_per_unit + star.compute_per_unit == 0) & np.isinf(star.memory)
    cost = getattr(star.master, "compute", None)
    return problem.integral and bool(free.any() or (cost is not None and cost.per_unit == 0))


def _by(problem: DivisibleLoad, per_unit: float) -> int:
    assert problem.deadline is not None
    return int(problem.deadline / per_unit + 1e-9) if per_unit else MAX_FREE_UNITS


MAX_FREE_UNITS = 5


def _most_units(problem: DivisibleLoad, worker: int) -> int:
    star = problem.star
    most = math.inf if problem.load is None else problem.load
    most = min(most, float(star.memory[worker]))
    if math.isinf(most):
        most = _by(problem, float(star.send_per_unit[worker] + star.compute_per_unit[worker]))
    return int(most + 1e-9)


def _end(problem: DivisibleLoad, choice: Choice, amount: tuple[int, ...], own: int) -> float | None:
    """Return when a plan ends that starts everything as early as it can, None if too late."""
    star, worker = problem.star, choice.worker
    events = _events(problem, choice)
    start = {
        (event, chunk): float(star.release[worker[chunk]]) if event == "compute" else 0.0
        for event, chunk in events
    }
    length = {}
    for event, chunk in events:
        pieces = _pieces(problem, event, worker[chunk])
        length[event, chunk] = max(fixed + cost * amount[chunk] for fixed, cost in pieces)
    for _ in range(len(events) + 1):
        changed = False
        for first, then in choice.after:
            ready = start[first] + length[first]
            changed, start[then] = changed or ready > start[then], max(start[then], ready)
        for first, then in choice.level:
            changed, start[then] = (
                changed or start[first] > start[then],
                max(start[then], start[first]),
            )
        if not changed:
            break
    else:
        return None  # a cycle
    end = max((start[event] + length[event] for event in events), default=0.0)
    if choice.own and own:
        end = max(end, star.master.compute.of(own))
    for event, chunk in events:
        over = start[event, chunk] + length[event, chunk] - star.deadline[worker[chunk]]
        if event == "compute" and over > 1e-9 * max(1.0, end):
            return None
    late = problem.deadline is not None and end > problem.deadline * (1 + 1e-9)
    return None if late else end
