"""Slow and obvious: the notebook's search as written, and the order-aware optimum by trying all."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from makespan import Interconnect, Reduction
from makespan.reduction.model import as_fraction


def notebook_search(
    n: int, m: int, evaluate: Any, same: float = 0.0
) -> tuple[Any, int, list[list[list[int]]]]:
    """Return value, number of optima and distinct optima by plain enumeration of all solutions."""
    best, count, distinct = None, 0, []
    rows = [[k for k in range(1, n + 1) if k != i] for i in range(2, n + 1)]
    for flat in product(*(choices for choices in rows for _ in range(m))):
        solution = [[1] * m] + [list(flat[i * m : (i + 1) * m]) for i in range(n - 1)]
        value = evaluate(solution)
        if value is None:
            continue
        if best is None or value < best - same:
            best, count, distinct = value, 0, []
        if abs(value - best) <= same:
            count += 1
            if not any(equal_up_to_renaming(solution, other) for other in distinct):
                distinct.append(solution)
    return best, count, distinct


def equal_up_to_renaming(one: list[list[int]], two: list[list[int]]) -> bool:
    """Whether a renaming of the machines other than the root turns one into the other."""
    n = len(one)
    for order in permutations(range(2, n + 1)):
        name = {1: 1, **{i + 2: order[i] for i in range(n - 1)}}
        if all([name[to] for to in one[i]] == two[name[i + 1] - 1] for i in range(1, n)):
            return True
    return False


def true_optimum(
    n: int,
    latency: list[list[Fraction]],
    transfer: list[list[Fraction]],
    reduce: list[Fraction],
    sizes: list[Fraction],
) -> Fraction:
    """Return the least makespan over all orders of sends to all destinations.

    Sends are added one after another, in the order in which receivers take them; combinations
    follow in the order of arrival.
    """
    m = len(sizes)
    best = [Fraction(10**9)]

    def extend(
        left: frozenset[tuple[int, int]],
        out: tuple[Fraction, ...],
        into: tuple[Fraction, ...],
        unit: tuple[Fraction, ...],
        ready: dict[tuple[int, int], Fraction],
        end: Fraction,
    ) -> None:
        if end >= best[0]:
            return
        if not left:
            best[0] = end
            return
        for i, k in sorted(left):
            for j in range(n):
                # a machine that has sent a segment can't take it any more
                if j == i or (j and (j, k) not in left):
                    continue
                lag, lasts = latency[i][j], transfer[i][j] * sizes[k]
                start = max(ready.get((i, k), Fraction(0)), out[i], into[j] - lag)
                arrival = start + lag + lasts
                done = max(arrival, unit[j]) + reduce[j] * sizes[k]
                extend(
                    left - {(i, k)},
                    (*out[:i], start + lasts, *out[i + 1 :]),
                    (*into[:j], arrival, *into[j + 1 :]),
                    (*unit[:j], done, *unit[j + 1 :]),
                    {**ready, (j, k): done},
                    max(end, done),
                )

    zero = (Fraction(0),) * n
    extend(
        frozenset((i, k) for i in range(1, n) for k in range(m)), zero, zero, zero, {}, Fraction(0)
    )
    return best[0]


def covers(problem: Reduction) -> bool:
    """Whether the problem is small enough to try everything."""
    machines = len(problem.machines)
    if problem.collective not in ("reduce", "broadcast", "all-reduce"):
        return machines <= 2 or machines * len(problem.sizes) <= 6 or problem.segments == 1
    ways = 2 if problem.collective == "all-reduce" else 1
    segments = 1 + _most_useful(problem) if problem.segments == "auto" else problem.segments
    return machines <= 4 and ways * (machines - 1) * segments <= 5


def best(problem: Reduction) -> float | None:
    """Return the least makespan, None where a given plan never ends."""
    counts = [None] if problem.segments != "auto" else range(1, 2 + _most_useful(problem))
    least: Fraction | None = None
    for count in counts:
        least = _least(problem if count is None else problem.with_segments(count), least)
    return None if least is None else float(least)


def _most_useful(problem: Reduction) -> int:
    """Return a number of segments above which one is better.

    Every message passes the root's port, and every combination its unit.
    """
    one = problem.with_segments(1)
    if len(problem.machines) == 1:
        return 1
    apart = ~np.eye(len(problem.machines), dtype=bool)
    nearest, farthest = one.latencies[apart].min(), one.latencies[apart].max()
    ways = 2 if problem.collective == "all-reduce" else 1
    of_one = (
        ways * (len(problem.machines) - 1) * (farthest + float(one.transfer) + float(one.reduce))
    )
    combined = problem.collective != "broadcast"
    least = max(problem.message_overhead or 0.0, combined * (problem.reduce_overhead or 0.0))
    return math.ceil((of_one - nearest) / least)


SHAPES = [(1, 2), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)]
WIDE = [(n, m) for n in range(1, 5) for m in range(1, 4)]
FEW = [(1, 2), (2, 1), (2, 2), (3, 1), (3, 1)]
WIDE_OF = {
    "all-reduce": [(1, 3), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)],
    "all-to-all": [(1, 3), (2, 2), (2, 3), (3, 1)],
    "custom": [shape for shape in WIDE if shape != (4, 3)],
}
"""Numbers of machines and segments; of wide problems, where all can be tried in seconds."""


def random_problem(
    rng: random.Random, missing: float = 0.0, *, network: bool = False, wide: bool = False
) -> Reduction:
    """Return a small problem with all fields mixed; of links, so many of 1 are ``missing``.

    ``network``: with a network in place of latencies and transfers. ``wide`` problems have up to
    4 machines and 3 segments.
    """
    collective = rng.choice(
        ["reduce", "reduce", "broadcast", "all-reduce", "all-gather", "reduce-scatter", "gather",
         "scatter", "all-to-all", "custom"]
    )  # fmt: skip
    shapes = FEW if collective in ("all-reduce", "all-to-all") else SHAPES
    if wide:
        shapes = WIDE_OF.get(collective, WIDE)
    machines, segments = rng.choice(shapes)
    step = Fraction(1, rng.choice([1, 1, 10, 4, 3]))

    def time() -> float:
        return float(rng.choice([0, 0, 1, 1, 2, 3, rng.randint(0, 9)]) * step)

    def table() -> Any:
        if rng.random() < 0.5 and not missing:
            return time()
        rows = [[time() for _ in range(machines)] for _ in range(machines)]
        if missing:
            rows = [[math.inf if rng.random() < missing else each for each in row] for row in rows]
        return rows

    fields: dict[str, Any] = {"machines": machines, "collective": collective, "latency": table()}
    counted = collective in ("reduce", "broadcast", "all-reduce")
    if counted and not network and rng.random() < 0.15 and machines <= 3:
        fields |= {
            "segments": "auto",
            "bytes": rng.choice([1.0, 2.0, 4.0]),
            "message_overhead": rng.choice([1.0, 2.0, 5.0]),
            "latency": rng.choice([0.0, 0.0, 1.0]),
            "transfer_per_byte": rng.choice([None, 0.25, 1.0]),
            "reduce_per_byte": rng.choice([None, 0.25, 1.0]),
            "reduce_overhead": rng.choice([None, 0.5]),
        }
        return Reduction(**fields)
    fields |= {"segments": segments, "transfer": table()}
    fields["reduce"] = time() if rng.random() < 0.5 else [time() for _ in range(machines)]
    if rng.random() < 0.3:
        fields["segment_sizes"] = [rng.choice([0.5, 1.0, 1.5, 2.0, 3.0]) for _ in range(segments)]
    if collective == "custom":
        fields["combine"] = rng.random() < 0.5
        some = [
            rng.sample(range(1, machines + 1), rng.randint(1, machines)) for _ in range(segments)
        ]
        fields["before"] = some
        fields["after"] = [
            rng.sample(row, rng.randint(1, len(row))) if fields["combine"]
            else rng.sample(range(1, machines + 1), rng.randint(0, machines))
            for row in some
        ]  # fmt: skip
    if collective == "reduce":
        fields["order"] = rng.choice(["free", "free", "greedy", "backfilling"])
        given = rng.random()
        trees = [rng.choice(list(_trees(machines))) for _ in range(segments)]
        if given < 0.2:
            fields["destinations"] = [[tree[i] + 1 for tree in trees] for i in range(machines)]
        elif given < 0.4:
            fields["order"] = "free"
            rows: list[list[tuple[int, int]]] = [[]]
            for machine in range(1, machines):
                row = [(k + 1, trees[k][machine] + 1) for k in range(segments)]
                rng.shuffle(row)
                rows.append(row)
            fields["sequences"] = rows
    if network:
        del fields["machines"], fields["latency"], fields["transfer"]
        fields["network"] = random_network(rng, machines)
    return Reduction(**fields)


def network_ways(network: Interconnect) -> dict[tuple[int, int], Any]:
    """Return latency, seconds per unit, and the links with the latency before each, of all ways.

    Of the ways from a machine to another by routers alone: the first of fewest links, by the lowest
    nodes. A link is a pair of nodes, of both directions where it carries one at a time; a bus is
    one link.
    """
    count, nodes = len(network), len(network.nodes)
    linked: dict[int, list[int]] = {
        a: [b for b in range(nodes) if network.arcs[a, b] > 0] for a in range(nodes)
    }
    found = {}
    for start in range(count):
        ways: dict[int, list[int]] = {start: [start]}
        queue = [start]
        for node in queue:
            for other in linked[node] if node == start or node >= count else ():
                if other not in ways:
                    ways[other] = [*ways[node], other]
                    queue.append(other)
        for goal in range(count):
            if goal == start or goal not in ways:
                continue
            latency, slowest, links = Fraction(0), Fraction(0), []
            for hop in pairwise(ways[goal]):
                link: Any = hop if network.duplex else tuple(sorted(hop))
                links.append(("bus" if network.topology == "bus" else link, latency))
                latency += as_fraction(float(network.latencies[hop]))
                slowest = max(slowest, 1 / Fraction(float(network.arcs[hop])))
            found[start, goal] = latency, slowest, tuple(links)
    return found


def random_network(rng: random.Random, machines: int, ports: float = 0.5) -> Interconnect:
    """Return a network of any topology, its links shared or not, some with ports by link."""
    fields: dict[str, Any] = {
        "topology": rng.choice(["complete", "bus", "star", "ring", "tree", "links", "links"]),
        "rate": rng.choice([1.0, 0.5, 2.0]),
        "latency": rng.choice([0.0, 0.5, 1.0, 0.1]),
        "duplex": rng.random() < 0.6,
        "ports": "links" if rng.random() < ports else "machines",
    }
    names = [f"M{machine + 1}" for machine in range(machines)]
    if machines in (2, 4) and rng.random() < 0.3:
        fields |= {"topology": "nodes", "shape": [2, machines // 2]}
        fields["links"] = [("card 1", "switch", rng.choice([0.5, 1.0]))]
    elif fields["topology"] == "star" and rng.random() < 0.7:
        fields["routers"] = ["switch"]
    elif fields["topology"] == "links":
        fields["routers"] = routers = ["A", "B"][: rng.randint(0, 2)]
        pairs = list(combinations([*names, *routers], 2))
        chosen = [pair for pair in pairs if rng.random() < 0.6]
        links = [(*pair, rng.choice([1.0, 0.5]), rng.choice([0.0, 1.0])) for pair in chosen]
        fields["links"] = [link for link in links if rng.random() < 0.7]
        fields["one_way_links"] = [link for link in links if link not in fields["links"]]
    return Interconnect(machines, **fields)


class _Send(NamedTuple):
    """A send: who, to whom, which segment, whether of a broadcast, and what it costs."""

    sender: int
    receiver: int
    segment: int
    final: bool
    latency: Any
    transfer: Any
    reduce: Any
    links: Any = ()  # on the way, each with the latency before it
    exit: Any = None  # the port that it leaves by
    entry: Any = None  # the port that it arrives by


def _trees(machines: int) -> Iterator[tuple[int, ...]]:
    """Yield all maps of machines to machines by which every machine reaches machine 0."""
    for parents in product(range(machines), repeat=machines - 1):
        tree = (0, *parents)
        ends = tree
        for _ in range(machines):
            ends = tuple(tree[end] for end in ends)
        if not any(ends) and all(tree[own] != own for own in range(1, machines)):
            yield tree


def _ends(problem: Reduction) -> Iterator[tuple[set[int], set[int]]]:
    """Yield for each segment who holds it before, and who must hold it after."""
    n, m = len(problem.machines), problem.segments
    every = set(range(n))
    for k in range(len(problem.sizes)):
        owner = {k % n}
        if problem.collective == "custom":
            before, after = ({i - 1 for i in ends[k]} for ends in (problem.before, problem.after))
            yield before, after
            continue
        yield {
            "reduce": (every, {0}), "broadcast": ({0}, every), "all-reduce": (every, every),
            "all-gather": (owner, every), "reduce-scatter": (every, owner),
            "gather": (owner, {0}), "scatter": ({0}, owner),
            "all-to-all": ({k // m}, {k % m % n}),
        }[problem.collective]  # fmt: skip


def _ways(machines: int, before: set[int], after: set[int], combining: bool) -> Iterator[Any]:
    """Yield all sets of (sender, receiver, whether complete) that do one segment."""
    every = range(machines)
    for home in sorted(after) if combining else [None]:
        sources = before if home is None else {home}
        ups: list[Any] = [()]
        if home is not None:
            ups = list(_maps(sorted(before - {home}), dict.fromkeys(before, before), {home}))
        optional = {i: {*every, None} - (set() if i not in after else {None}) for i in every}
        copied = home is None or len(after) > 1
        downs = _maps(sorted(set(every) - sources), optional, sources) if copied else [()]
        for down in downs:
            for up in ups:
                yield [(i, j, False) for i, j in up] + [(j, i, True) for i, j in down]


def _maps(machines: list[int], parents: dict[int, Any], ends: set[int]) -> Iterator[Any]:
    """Yield (machine, parent) pairs by which all that have a parent reach one of the ``ends``."""
    for choice in product(*(sorted(parents[i], key=str) for i in machines)):
        above = {i: j for i, j in zip(machines, choice, strict=True) if j is not None}
        last = dict(above)
        for _ in above:
            last = {i: above.get(j, j) for i, j in last.items()}
        if all(j in ends for j in last.values()) and all(i != j for i, j in above.items()):
            yield tuple(above.items())


def _least(problem: Reduction, least: Fraction | None) -> Fraction | None:
    """Return the least makespan, or ``least`` where there is nothing below."""
    combining = problem.combine or problem.collective in ("reduce", "all-reduce", "reduce-scatter")
    linked = np.isfinite(problem.latencies) & np.isfinite(problem.transfers)
    if problem.network is not None:
        ways = network_ways(problem.network)
        linked = np.array(
            [[(i, j) in ways for j in range(len(linked))] for i in range(len(linked))]
        )
    choices = [
        [
            way
            for way in _ways(len(problem.machines), before, after, combining)
            if all(linked[i, j] for i, j, _ in way)
        ]
        for before, after in _ends(problem)
    ]
    given: Any = problem.destinations
    if problem.sequences is not None:
        to = [dict(row) for row in problem.sequences]
        given = [[to[i].get(k + 1, 1) for k in range(len(choices))] for i in range(len(to))]
    if given is not None:
        choices = [
            [[(i, given[i][k] - 1, False) for i in range(1, len(given))]]
            for k in range(len(choices))
        ]
    for chosen in product(*choices):
        sends = _sends(problem, chosen)
        if problem.order != "free" and problem.sequences is None:
            value: Fraction | None = _by_rule(problem, sends)
        else:
            value = _of_trees(problem, sends, least)
        if value is not None and (least is None or value < least):
            least = value
    return least


def _sends(problem: Reduction, chosen: Any) -> list[_Send]:
    def exact(value: Any) -> Fraction:
        return as_fraction(value) or Fraction(value)

    ways = None if problem.network is None else network_ways(problem.network)
    return [
        _Send(
            i, j, k, final,
            exact(float(problem.latencies[i, j])) if ways is None else ways[i, j][0],
            (exact(float(problem.transfers[i, j])) if ways is None else ways[i, j][1]) * size,
            Fraction(0) if final else exact(float(problem.reduces[j])) * size,
            () if ways is None else ways[i, j][2],
            *((i, ways[i, j][2][0][0]), (j, ways[i, j][2][-1][0]))
            if ways is not None and problem.network.ports == "links" else (i, j),
        )
        for k, size in enumerate(map(exact, problem.sizes.tolist()))
        for i, j, final in chosen[k]
    ]  # fmt: skip


def _by_rule(problem: Reduction, sends: list[_Send]) -> Fraction:
    """Return when a rule ends: again and again, the ready leaf that can start first."""
    zero = Fraction(0)
    out: dict[int, Fraction] = {}
    into: dict[int, Fraction] = {}
    unit: dict[int, Fraction] = {}
    ready: dict[tuple[int, int], Fraction] = {}
    left = list(sends)
    while left:
        lowest = min(send.segment for send in left)
        leaves = [
            send
            for send in left
            if (problem.order == "backfilling" or send.segment == lowest)
            and not any(
                other.receiver == send.sender and other.segment == send.segment for other in left
            )
        ]
        start, _, _, send = min(
            (
                max(
                    ready.get((send.sender, send.segment), zero),
                    out.get(send.sender, zero),
                    into.get(send.receiver, zero) - send.latency,
                ),
                send.segment,
                send.sender,
                send,
            )
            for send in leaves
        )
        left.remove(send)
        out[send.sender] = start + send.transfer
        into[send.receiver] = start + send.latency + send.transfer
        done = max(into[send.receiver], unit.get(send.receiver, zero)) + send.reduce
        unit[send.receiver] = ready[send.receiver, send.segment] = done
    return max(unit.values(), default=zero)


def _deadlocked(problem: Reduction, sends: list[_Send]) -> bool:
    """Whether given sequences never end, whatever their sends take, nothing included."""
    rest = [[segment - 1 for segment, _ in row] for row in problem.sequences or ()]
    waits = [(send.receiver, send.segment) for send in sends]
    while any(rest):
        able = [i for i, row in enumerate(rest) if row and (i, row[0]) not in waits]
        if not able:
            return True
        segment = rest[able[0]].pop(0)
        receiver = next(s.receiver for s in sends if (s.sender, s.segment) == (able[0], segment))
        waits.remove((receiver, segment))
    return False


def _of_trees(problem: Reduction, sends: list[_Send], least: Fraction | None) -> Fraction | None:
    """Return the least makespan of given trees, None where it isn't below ``least``.

    Times are counted in whole units. Everything starts as early as it can; where two sends meet
    on a port, or are combined in another order than they arrive, either is put first in turn,
    unless a port or unit can't be through in time with all that it has to do.
    What never ends is given up once it takes longer than all sends one after another.
    """
    count = len(sends)
    if not count:
        return Fraction(0)
    parts = math.lcm(*(time.denominator for send in sends for time in send[4:7]))
    parts = math.lcm(parts, *(ahead.denominator for send in sends for _, ahead in send.links))
    sends = [
        send._replace(
            latency=int(send.latency * parts),
            transfer=int(send.transfer * parts),
            reduce=int(send.reduce * parts),
            links={link: int(ahead * parts) for link, ahead in send.links},
        )
        for send in sends
    ]
    if problem.sequences is not None and _deadlocked(problem, sends):
        return None
    most = 2 * sum(s.latency + s.transfer + s.reduce for s in sends) + 1
    known = most if least is None else least * parts
    found = [known]
    before: list[tuple[int, int, str]] = []
    for b, later in enumerate(sends):
        for a, sooner in enumerate(sends):
            if sooner.segment == later.segment and sooner.receiver == later.sender:
                copied = any(
                    other.final and (other.segment, other.receiver) == (later.segment, later.sender)
                    for other in sends
                )
                if sooner.final == (later.final and copied):
                    before.append((a, b, "brings"))
    if problem.sequences is not None:
        index = {(s.sender, s.segment): row for row, s in enumerate(sends)}
        for machine, row in enumerate(problem.sequences):
            for (one, _), (two, _) in pairwise(row):
                before.append((index[machine, one - 1], index[machine, two - 1], "sends"))

    exits, entries = (
        [[a for a in range(count) if port_of(sends[a]) == port] for port in {*map(port_of, sends)}]
        for port_of in (attrgetter("exit"), attrgetter("entry"))
    )

    def earliest(
        orders: list[tuple[int, int, str]],
    ) -> tuple[list[int], list[int]] | None:
        start = [0] * count
        combine = [s.latency + s.transfer for s in sends]
        moved = True
        while moved:
            moved = False
            for a, b, why in orders:
                one, two = sends[a], sends[b]
                if why in ("brings", "sends", "takes"):
                    least_start = {
                        "brings": combine[a] + one.reduce,
                        "sends": start[a] + one.transfer,
                        "takes": start[a] + one.latency + one.transfer - two.latency,
                    }[why]
                else:  # a link that both hold
                    least_start = start[a] + one.links[why] + one.transfer - two.links[why]
                least_combine = max(start[b], least_start) + two.latency + two.transfer
                if why == "takes" and not one.final and not two.final:
                    least_combine = max(least_combine, combine[a] + one.reduce)
                if least_start > start[b] or least_combine > combine[b]:
                    start[b] = max(start[b], least_start)
                    combine[b] = max(combine[b], least_combine)
                    moved = True
                    if combine[b] + two.reduce >= found[0]:
                        return None
        return None if too_busy(start, combine) else (start, combine)

    def too_busy(start: list[int], combine: list[int]) -> bool:
        """Whether a port or unit does all it has to, one after another, too late."""
        for port in exits:
            end = min(start[a] for a in port) + sum(sends[a].transfer for a in port)
            if end + min(sends[a].latency + sends[a].reduce for a in port) >= found[0]:
                return True
        for port in entries:
            end = min(start[a] + sends[a].latency for a in port)
            end += sum(sends[a].transfer for a in port)
            if end + min(sends[a].reduce for a in port) >= found[0]:
                return True
            units = [a for a in port if not sends[a].final]
            if units:
                end = min(combine[a] for a in units) + sum(sends[a].reduce for a in units)
                if end >= found[0]:
                    return True
        return False

    def search(orders: list[tuple[int, int, str]]) -> None:
        times = earliest(orders)
        if times is None:
            return
        start, combine = times
        end = max((c + s.reduce for c, s in zip(combine, sends, strict=True)), default=0)
        if end >= found[0]:
            return
        for a, b in combinations(range(count), 2):
            one, two = sends[a], sends[b]
            if one.exit == two.exit and not (
                start[a] + one.transfer <= start[b] or start[b] + two.transfer <= start[a]
            ):
                search([*orders, (a, b, "sends")])
                search([*orders, (b, a, "sends")])
                return
            for link in one.links.keys() & two.links.keys():
                into, other = start[a] + one.links[link], start[b] + two.links[link]
                if into + one.transfer > other and other + two.transfer > into:
                    search([*orders, (a, b, link)])
                    search([*orders, (b, a, link)])
                    return
            if one.entry == two.entry:
                units = not one.final and not two.final

                def kept(x: int, y: int, units: bool = units) -> bool:
                    first, second = sends[x], sends[y]
                    over = start[x] + first.latency + first.transfer <= start[y] + second.latency
                    return over and (not units or combine[x] + first.reduce <= combine[y])

                if not kept(a, b) and not kept(b, a):
                    search([*orders, (a, b, "takes")])
                    search([*orders, (b, a, "takes")])
                    return
        found[0] = end

    search(before)
    return Fraction(found[0], parts) if found[0] < known else None
