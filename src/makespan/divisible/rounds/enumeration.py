"""All sequences of chunks of a kind, one at a time.

None is met twice, and the steps from one to the next are bounded by the length: a sequence is begun
only if it can be ended. So who asks for a few of them, and looks at the clock, is not kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

Send = tuple[int, ...]
"""The worker of each chunk in the order of sending."""


def some_entries(
    entries: Send, *, may_miss: Sequence[bool], needed: Collection[int]
) -> Iterator[Send]:
    """Yield the different sequences that are left when entries are missing.

    Of the ways to get one sequence, that is looked at which keeps the earliest entries.

    Parameters
    ----------
    entries
        The workers of a given activation.
    may_miss
        Whether entries of each worker may be missing.
    needed
        The workers of whom one entry has to be left.

    >>> list(some_entries((0, 0, 1), may_miss=[True, False], needed=()))
    [(0, 0, 1), (0, 1), (1,)]
    """
    last = {worker: at for at, worker in enumerate(entries)}
    if any(worker not in last for worker in needed):
        return
    order = sorted(needed, key=last.__getitem__)
    fixed = [len(entries)] * (len(entries) + 1)  # the next entry that can't be missing, from each
    for at in reversed(range(len(entries))):
        fixed[at] = fixed[at + 1] if may_miss[entries[at]] else at
    served: Counter[int] = Counter()

    def ways(begin: int, met: int) -> Iterator[tuple[int, int]]:
        """Yield the first entry of each worker who may be next; ``order[met]`` must still come."""
        until = fixed[begin] if met == len(order) else min(fixed[begin], last[order[met]])
        seen = set()
        for at in range(begin, min(until + 1, len(entries))):
            if entries[at] not in seen:
                seen.add(entries[at])
                yield entries[at], at + 1

    send: list[int] = []
    open_ = [(ways(0, 0), 0)]
    if not order and fixed[0] == len(entries):
        yield ()
    while open_:
        choices, met = open_[-1]
        worker, begin = next(choices, (-1, 0))
        if worker < 0:
            open_.pop()
            if send:
                served[send.pop()] -= 1
            continue
        send.append(worker)
        served[worker] += 1
        while met < len(order) and served[order[met]]:
            met += 1
        if met == len(order) and fixed[begin] == len(entries):
            yield tuple(send)
        open_.append((ways(begin, met), met))


def in_rounds(
    workers: Send, *, rounds: int, place: Send | None, needed: Collection[int]
) -> Iterator[Send]:
    """Yield the sequences of at most so many rounds, none of which serves a worker twice.

    Parameters
    ----------
    workers
        The workers that may be served.
    rounds
        The most rounds; each is as long as it can be.
    place
        The place of each worker in the order that every round keeps, where one is given.
    needed
        The workers that have to be served.

    >>> list(in_rounds((0, 1), rounds=1, place=None, needed=(1,)))
    [(1,), (1, 0), (0, 1)]
    """
    open_: list[tuple[Send, int, int]] = [((), 0, 0)]  # how many rounds, where the last one begins
    while open_:
        send, number, begin = open_.pop()
        missing = [worker for worker in workers if worker in needed and worker not in send]
        if not missing:
            yield send
        for worker in [*(each for each in workers if each not in missing), *missing]:
            behind = place is not None and begin < len(send) and place[worker] <= place[send[-1]]
            again = not send or behind or worker in send[begin:]
            longer = (*send, worker), number + again, len(send) if again else begin
            if longer[1] > rounds:
                continue
            left = [place[each] for each in missing if each != worker] if place else []
            if longer[1] < rounds or not place or min(left, default=len(place)) > place[worker]:
                open_.append(longer)


def dealt_out(count: int, places: int) -> Iterator[Send]:
    """Yield the ways to deal sends out to places that are alike; one where nothing is shared.

    >>> list(dealt_out(3, 2))
    [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1)]
    """
    if not places:
        yield ()
        return
    place = [0] * count
    while True:
        yield tuple(place)
        used = [1] * count  # places ahead of each send that are used
        for at in range(1, count):
            used[at] = max(used[at - 1], place[at - 1] + 1)
        more = [at for at in range(1, count) if place[at] < min(used[at], places - 1)]
        if not more:
            return
        place[more[-1]] += 1
        place[more[-1] + 1 :] = [0] * (count - more[-1] - 1)
