"""All sequences of chunks: none left out, none twice, and the first few of very many at once."""

from __future__ import annotations

from itertools import compress, islice, product

import numpy as np
import pytest

from makespan.divisible.rounds.sequences import Send, dealt_out, in_rounds, some_entries


def test_entries_that_may_be_missing() -> None:
    """What is left of an activation, against all subsets of its entries."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        workers = int(rng.integers(1, 4))
        entries = tuple(rng.integers(0, workers, rng.integers(0, 9)).tolist())
        may_miss = (rng.random(workers) < 0.7).tolist()
        needed = set(np.flatnonzero(rng.random(workers) < 0.3).tolist())
        found = list(some_entries(entries, may_miss=may_miss, needed=needed))
        choices = [(True, False) if may_miss[worker] else (True,) for worker in entries]
        left = {tuple(compress(entries, kept)) for kept in product(*choices)}
        assert len(found) == len(set(found))
        assert set(found) == {send for send in left if needed <= set(send)}


@pytest.mark.parametrize("ordered", [False, True])
def test_sequences_of_rounds(ordered: bool) -> None:
    """At most so many rounds, against all sequences that are no longer than such rounds."""
    rng = np.random.default_rng(1)
    for workers, rounds in ((1, 3), (2, 1), (2, 2), (3, 1)):
        for _ in range(4):
            needed = set(np.flatnonzero(rng.random(workers) < 0.4).tolist())
            place = tuple(rng.permutation(workers).tolist()) if ordered else None
            crew = tuple(range(workers))
            found = list(in_rounds(crew, rounds=rounds, place=place, needed=needed))
            every = (
                send for long in range(workers * rounds + 1) for send in product(crew, repeat=long)
            )
            right = {
                send for send in every if needed <= set(send) and _rounds(send, place) <= rounds
            }
            assert len(found) == len(set(found))
            assert set(found) == right


def test_sends_dealt_out_to_places() -> None:
    """Each way once, up to the names of the places."""
    for count, places in ((0, 2), (1, 3), (4, 2), (5, 3), (4, 9)):
        found = list(dealt_out(count, places))
        ways = {_renamed(way) for way in product(range(places), repeat=count)}
        assert len(found) == len(ways)
        assert set(found) == ways


def test_the_first_of_very_many() -> None:
    """Some of 2^2400, of a billion rounds, of 3000^3000: none is looked for among all."""
    entries = tuple(range(12)) * 200
    free = [True] * 12
    assert len({*islice(some_entries(entries, may_miss=free, needed=()), 50)}) == 50
    needed = some_entries(entries, may_miss=free, needed=range(12))
    assert all(set(send) == set(range(12)) for send in islice(needed, 50))
    for place in (None, tuple(range(12))):
        every = in_rounds(tuple(range(12)), rounds=10**9, place=place, needed=range(12))
        assert len({*islice(every, 50)}) == 50
    once = in_rounds(tuple(range(12)), rounds=1, place=tuple(range(12)), needed=range(12))
    assert list(once) == [tuple(range(12))]
    assert len({*islice(dealt_out(3000, 3000), 20)}) == 20


def _renamed(way: Send) -> Send:
    """Return a way with the places named in the order of their first use."""
    names: dict[int, int] = {}
    return tuple(names.setdefault(place, len(names)) for place in way)


def _rounds(send: Send, place: Send | None) -> int:
    """Return the fewest rounds that a sequence can be cut into."""
    if not send:
        return 0
    fewest = len(send)
    for end in range(1, len(send) + 1):
        first = send[:end]
        places = first if place is None else [place[worker] for worker in first]
        in_order = place is None or list(places) == sorted(places)
        if len(set(first)) == end and in_order:
            fewest = min(fewest, 1 + _rounds(send[end:], place))
    return fewest
