"""The loop of guided ejection: copies in rounds, each placed where least has to go for it."""

import numpy as np

from makespan.core.numeric.jit import loop, next_seed, part

ASKED = 48  # holders of a segment, from any one on: is there a round with nothing in the way?
TROUBLED = 16  # if not, in which round of these weighs least what is?
WORD = 62  # rounds, a bit each
SHUFFLED = 10  # steps in which not the last of those taken out is placed, but any
NOBODY = -1  # instead of a machine, a round, or a copy
FORWARDS, BACKWARDS = 0, 1  # time; who gives sends forwards, and takes backwards


@part
def _mark(free, kind, machine, moment, rounds, is_free):  # type: ignore[no-untyped-def]
    """Mark a round as free or taken, forwards and in reversed time."""
    for way in range(2):
        time = rounds - 1 - moment if way == BACKWARDS else moment
        if is_free:
            free[kind, way, machine, time // WORD] |= 1 << time % WORD
        else:
            free[kind, way, machine, time // WORD] &= ~(1 << time % WORD)


@part
def _both_free(free, way, giver, taker, at, behind):  # type: ignore[no-untyped-def]
    """Return in which rounds from ``at`` on both ports are free, the taker's ``behind`` later."""
    word, shift = at // WORD, at % WORD
    low, high = free[way, way, giver, word], free[way, way, giver, word + 1]
    here = low >> shift | high << WORD - shift
    word, shift = (at + behind) // WORD, (at + behind) % WORD
    low, high = free[1 - way, way, taker, word], free[1 - way, way, taker, word + 1]
    return here & (low >> shift | high << WORD - shift) & (1 << WORD) - 1


@part
def _lowest(bits):  # type: ignore[no-untyped-def]
    """Return the place of the lowest bit that is set.

    >>> _lowest(0b101000)
    3
    """
    bits &= -bits
    at = 0
    for width in (32, 16, 8, 4, 2, 1):
        if bits >> width != 0:
            bits >>= width
            at += width
    return at


@part
def _gather(lacks, ready, mixed, seed, pool):  # type: ignore[no-untyped-def]
    """Put all that is lacking on the pool, in order or ``mixed``; return how many, and the seed."""
    segments, machines = ready.shape
    size = 0
    for segment in range(segments - 1, -1, -1):
        first = 0 if mixed else size
        for machine in range(machines):
            if ready[segment, machine] < 0 and lacks[segment, machine]:
                seed = next_seed(seed)
                other = first + (seed >> 8) % (size - first + 1)
                pool[size] = pool[other]
                pool[other] = segment * machines + machine
                size += 1
    return size, seed


@part
def _spans(lag, lasts, way, giver, taker):  # type: ignore[no-untyped-def]
    """Return how many rounds later the taker's port is held, and for how many both are."""
    pairs = 1 if lag.shape[1] > 1 else 0
    return lag[way, giver * pairs, taker * pairs], lasts[way, giver * pairs, taker * pairs]


@part
def _first_gap(free, way, giver, taker, at, last, behind, long):  # type: ignore[no-untyped-def]
    """Return from which round on, from ``at`` on, both ports are free for long enough.

    Where there is none by ``last``, it is a later one.
    """
    if behind == 0 and long == 1:
        left = -1 << at % WORD  # of the first word, the rounds from then on
        for word in range(at // WORD, free.shape[3]):
            both = free[way, way, giver, word] & free[1 - way, way, taker, word] & left
            if both != 0:
                return WORD * word + _lowest(both)
            left = -1
        return last + 1
    while at <= last:
        both = _both_free(free, way, giver, taker, at, behind)
        if both == 0:
            at += WORD
            continue
        at += _lowest(both)
        room, taken = 0, 0
        while taken == 0 and room < long:
            both = _both_free(free, way, giver, taker, at + room, behind)
            taken = ~both & (1 << WORD) - 1
            room += WORD if taken == 0 else _lowest(taken)
        if room >= long:
            break
        at += room
    return at


@part
def _find_free(  # type: ignore[no-untyped-def]
    segment, machine, way, offset, dear, ready, lag, lasts, reserved, busy, free, held, holder
):
    """Return a holder and a round from which both ports are free, or twice :data:`NOBODY`.

    Where times differ, they are those by which it comes first; a round that ports are held counts
    ``dear`` more.
    """
    rounds = reserved.shape[1]
    count = held[segment]
    source = at = NOBODY
    soonest = 2.0 * rounds * (1.0 + dear)
    for step in range(min(count, ASKED)):
        other = holder[segment, (offset + step) % count]
        since = int(ready[segment, other])
        if since >= rounds:
            continue
        own = reserved[other, since] == segment
        if own and busy[0, other, since] < 0 and busy[1, machine, since] < 0:
            return other, since
        behind, long = _spans(lag, lasts, way, other, machine)
        last = rounds - behind - long
        if long <= 0 or since > last or since + behind + (1.0 + dear) * long >= soonest:
            continue
        time = _first_gap(free, way, other, machine, since, last, behind, long)
        late = time + behind + (1.0 + dear) * long
        if time <= last and late < soonest:
            source, at, soonest = other, time, late
            if lag.shape[1] == 1:  # all are alike
                break
    return source, at


@part
def _begin_of(way, at, behind, long, rounds):  # type: ignore[no-untyped-def]
    """Return from which rounds on a copy holds the ports of giver and taker, forwards."""
    if way == BACKWARDS:
        return rounds - at - long, rounds - at - behind - long
    return at, at + behind


@part
def _find_lightest(  # type: ignore[no-untyped-def]
    segment, machine, way, offset, seed, ready, lag, lasts, reserved, busy, heft, held, holder
):
    """Return a holder and a round in which those in the way weigh least; ties at random.

    Returns the holder and the round, :data:`NOBODY` where nobody has the segment in time, the
    weight, and the seed.
    """
    rounds = reserved.shape[1]
    count = held[segment]
    least = source = at = NOBODY
    ties = 0
    for turn in range(min(count, TROUBLED)):
        other = holder[segment, (offset + turn) % count]
        behind, long = _spans(lag, lasts, way, other, machine)
        if long <= 0:
            continue
        ours, theirs, kept = busy[way, other], busy[1 - way, machine], reserved[other]
        for time in range(int(ready[segment, other]), rounds - behind - long + 1):
            here, there = _begin_of(way, time, behind, long, rounds)
            if way == FORWARDS and kept[here] >= 0 and kept[here] != segment:
                continue
            trouble = 0
            one = two = NOBODY
            for step in range(long):
                first, second = ours[here + step], theirs[there + step]
                if first >= 0 and first != one:
                    trouble += heft[first]
                    one = first
                if second >= 0 and second != two and second != first:  # noqa: PLR1714
                    trouble += heft[second]
                    two = second
                if trouble > least >= 0:
                    break
            if least < 0 or trouble < least:
                least, ties, source, at = trouble, 1, other, time
            elif trouble == least:
                ties += 1
                seed = next_seed(seed)
                if (seed >> 8) % ties == 0:
                    source, at = other, time
    return source, at, least, seed


@part
def _enter(code, giver, taker, way, at, behind, long, reserved, busy, free):  # type: ignore[no-untyped-def]
    """Enter a copy at both ports, or that they are free where it is :data:`NOBODY`."""
    rounds = reserved.shape[1]
    here, there = _begin_of(way, at, behind, long, rounds)
    for step in range(long):
        busy[way, giver, here + step] = busy[1 - way, taker, there + step] = code
        if way == BACKWARDS or reserved[giver, here + step] < 0:
            _mark(free, way, giver, here + step, rounds, code < 0)
        _mark(free, 1 - way, taker, there + step, rounds, code < 0)


@part
def _link(row, machine, source, giver, heft, weight, child, behind, ahead):  # type: ignore[no-untyped-def]
    """Put a copy below ``source`` into the tree of its segment."""
    machines = giver.shape[1]
    ahead[row, machine] = NOBODY
    behind[row, machine] = child[row, source]
    if child[row, source] >= 0:
        ahead[row, child[row, source]] = machine
    child[row, source] = machine
    heft[row * machines + machine] = weight
    while source >= 0:
        heft[row * machines + source] += weight
        source = giver[row, source]


@part
def _eject(  # type: ignore[no-untyped-def]
    code, count, ready, mirrored, lag, lasts, reserved, giver, when, busy, free, heft, child,
    behind, ahead, held, holder, place, pool, taken,
):  # fmt: skip
    """Take out a copy with those that depend on it; return how many then wait to be placed.

    They are put on the ``pool``, of ``count`` so far, the copy itself last; their rounds are free.
    """
    machines = len(reserved)
    way = BACKWARDS if mirrored[code // machines] else FORWARDS
    row, root = code // machines, code % machines
    here = giver[row, root]
    while here >= 0:
        heft[row * machines + here] -= heft[code]
        here = giver[row, here]
    if ahead[row, root] >= 0:
        behind[row, ahead[row, root]] = behind[row, root]
    else:
        child[row, giver[row, root]] = behind[row, root]
    if behind[row, root] >= 0:
        ahead[row, behind[row, root]] = ahead[row, root]
    taken[0] = root
    top, seen = 1, 0
    while seen < top:
        here = child[row, taken[seen]]
        seen += 1
        while here >= 0:
            taken[top] = here
            top += 1
            here = behind[row, here]
    for seen in range(top - 1, -1, -1):
        here = taken[seen]
        other = giver[row, here]
        after, long = _spans(lag, lasts, way, other, here)
        _enter(NOBODY, other, here, way, int(when[row, here]), after, long, reserved, busy, free)
        giver[row, here] = when[row, here] = ready[row, here] = NOBODY
        child[row, here] = behind[row, here] = ahead[row, here] = NOBODY
        held[row] -= 1
        last = holder[row, held[row]]
        holder[row, place[row, here]] = last
        place[row, last] = place[row, here]
        pool[count] = row * machines + here
        count += 1
    return count


@part
def _insert(  # type: ignore[no-untyped-def]
    segment, machine, source, at, ready, mirrored, lag, lasts, work, reserved, giver, when, busy,
    free, weight, heft, child, behind, ahead, held, holder, place,
):  # fmt: skip
    """Place a copy: enter it at both ports, and put it into the tree of its segment."""
    pairs = 1 if work.shape[1] > 1 else 0
    way = BACKWARDS if mirrored[segment] else FORWARDS
    code = segment * len(reserved) + machine
    after, long = _spans(lag, lasts, way, source, machine)
    _enter(code, source, machine, way, at, after, long, reserved, busy, free)
    giver[segment, machine], when[segment, machine] = source, at
    ready[segment, machine] = at + after + long + work[way, machine * pairs]
    place[segment, machine] = held[segment]
    holder[segment, held[segment]] = machine
    held[segment] += 1
    _link(segment, machine, source, giver, heft, weight[code], child, behind, ahead)


@part
def _begin(ready, reserved, giver, when, free, held, holder, place):  # type: ignore[no-untyped-def]
    """Enter who has what from the start, and all free rounds."""
    segments, machines = ready.shape
    rounds = reserved.shape[1]
    for machine in range(machines):
        for time in range(rounds):
            _mark(free, 0, machine, time, rounds, reserved[machine, time] < 0)
            _mark(free, 1, machine, time, rounds, True)
        for segment in range(segments):
            giver[segment, machine] = when[segment, machine] = NOBODY
            if ready[segment, machine] >= 0:
                place[segment, machine] = held[segment]
                holder[segment, held[segment]] = machine
                held[segment] += 1


@part
def _place_given(  # type: ignore[no-untyped-def]
    given, ready, mirrored, lag, lasts, work, reserved, giver, when, busy, free, weight, heft,
    child, behind, ahead, held, holder, place,
):  # fmt: skip
    """Place those of the given copies that are possible."""
    for row in range(len(given)):
        segment, machine, source, at = given[row, 0], given[row, 1], given[row, 2], given[row, 3]
        way = BACKWARDS if mirrored[segment] else FORWARDS
        after, long = _spans(lag, lasts, way, source, machine)
        last = reserved.shape[1] - after - long
        if at > last or ready[segment, source] < 0 or at < ready[segment, source]:
            continue
        if _first_gap(free, way, source, machine, at, at, after, long) == at:
            _insert(
                segment, machine, source, at, ready, mirrored, lag, lasts, work, reserved, giver,
                when, busy, free, weight, heft, child, behind, ahead, held, holder, place,
            )  # fmt: skip


@part
def _move_root(segment, due, ready, mirrored, work, when, child, behind, holder, rounds):  # type: ignore[no-untyped-def]
    """Let the root of a tree have its segment as early as the tree of the other half allows."""
    pairs = 1 if work.shape[1] > 1 else 0
    other = (segment + len(ready) // 2) % len(ready)
    root = holder[segment, 0]
    until = due[other]
    here = child[other, root]
    while here >= 0:
        until = min(until, when[other, here])
        here = behind[other, here]
    if until > ready[other, root]:
        works = work[FORWARDS, root * pairs] + work[BACKWARDS, root * pairs]
        ready[other, root] = until
        ready[segment, root] = rounds - until + works


@loop(pays_from=10_000, loaded_from=200)
def eject_and_insert(  # type: ignore[no-untyped-def]
    ready, lacks, lag, lasts, work, mirrored, due, given, reserved, rounds, steps, dear, seed,
    giver, when, stop,
):  # fmt: skip
    """Place a copy of each segment at all that lack it; return how many could not be, at least.

    A port sends one copy at a time, and takes one. Where all ports are taken in all rounds, the
    copies in the way are taken out, with those that depend on them, and wait to be placed again,
    last in, first out (Nagata and Bräysy 2009). They weigh the more, the more often they were in
    vain to be placed without; those that weigh least are taken out. A step has four phases: choose
    what is placed, find rounds for it, eject what is in the way, and insert it.

    - ``ready``: (segment, machine) From which round on it gives it, -1 for not yet; is filled in.
    - ``lacks``: (segment, machine) Who gets it.
    - ``lag``, ``lasts``: (2, giver, taker) After how many rounds the taker's port is held, and for
      how many both are, 0 for no link; forwards, and in reversed time. Tables of one row and
      column where all are alike.
    - ``work``: (2, machine) How many rounds later it can give what has come.
    - ``mirrored``: (segment) Whether it goes in reversed time, in which round r is ``rounds - 1 -
      r``, and those who have it take.
    - ``due``: (segment) Where the second half of the segments are the first half, copied on: until
      when roots may wait, that one half's tree or the other's can begin sooner. Else empty.
    - ``given``: (row, 4) Segment, taker, giver and round of copies that are placed at first.
    - ``reserved``: (machine, round) The segment that alone its port may send then; -1 for any.
    - ``rounds``, ``steps``: how many rounds there are, and how many copies are placed at most.
    - ``dear``: by how many rounds later those may come, at most, that hold ports a round less.
    - ``giver``, ``when``: (segment, machine) Get who gives it from which round on, of reversed time
      where mirrored, or -1.
    - ``stop``: (1) The loop ends soon after this is no longer 0.
    """
    segments, machines = ready.shape
    # of ports for sending and for taking: whether rounds are free, a bit each, forwards and in
    # reversed time, and the copies that hold them
    free = np.zeros((2, 2, machines, rounds // WORD + 3), np.int64)
    busy = np.full((2, machines, rounds), NOBODY, np.int32)
    weight = np.ones(segments * machines, np.int32)
    heft = weight.copy()  # with all that depend on it
    child = np.full((segments, machines), NOBODY, np.int32)  # who was given it by one, in a list
    behind = np.full((segments, machines), NOBODY, np.int32)
    ahead = np.full((segments, machines), NOBODY, np.int32)
    held = np.zeros(segments, np.int64)
    holder = np.empty((segments, machines), np.int32)
    place = np.empty((segments, machines), np.int32)
    pool = np.empty(segments * machines, np.int32)  # copies that wait to be placed
    taken = np.empty(machines, np.int32)
    _begin(ready, reserved, giver, when, free, held, holder, place)
    _place_given(
        given, ready, mirrored, lag, lasts, work, reserved, giver, when, busy, free, weight, heft,
        child, behind, ahead, held, holder, place,
    )  # fmt: skip
    count, seed = _gather(lacks, ready, lag.shape[1] > 1, seed, pool)
    fewest = count
    for _ in range(steps):
        if count == 0 or stop[0] != 0:
            break
        # choose: the last one, now and then any
        seed = next_seed(seed)
        if (seed >> 8) % SHUFFLED == 0:
            seed = next_seed(seed)
            other = (seed >> 8) % count
            pool[count - 1], pool[other] = pool[other], pool[count - 1]
        count -= 1
        wanted = pool[count]
        segment, machine = wanted // machines, wanted % machines
        way = BACKWARDS if mirrored[segment] else FORWARDS
        if len(due) > 0:
            _move_root(segment, due, ready, mirrored, work, when, child, behind, holder, rounds)
        # find
        seed = next_seed(seed)
        offset = (seed >> 8) % held[segment]
        source, at = _find_free(
            segment, machine, way, offset, dear * (seed >> 8) / 8388608, ready, lag, lasts,
            reserved, busy, free, held, holder,
        )  # fmt: skip
        least = 0
        if source < 0:
            source, at, least, seed = _find_lightest(
                segment, machine, way, offset, seed, ready, lag, lasts, reserved, busy, heft, held,
                holder,
            )  # fmt: skip
        if source < 0:  # nobody has it in time: it waits anywhere in the pool
            seed = next_seed(seed)
            other = (seed >> 8) % (count + 1)
            pool[count] = pool[other]
            pool[other] = wanted
            count += 1
            continue
        # eject
        weight[wanted] += least > 0
        after, long = _spans(lag, lasts, way, source, machine)
        here, there = _begin_of(way, at, after, long, rounds)
        for step in range(2 * long if least > 0 else 0):
            code = busy[way, source, here + step // 2]
            if step % 2:
                code = busy[1 - way, machine, there + step // 2]
            if code >= 0:
                count = _eject(
                    code, count, ready, mirrored, lag, lasts, reserved, giver, when, busy,
                    free, heft, child, behind, ahead, held, holder, place, pool, taken,
                )  # fmt: skip
        _insert(
            segment, machine, source, at, ready, mirrored, lag, lasts, work, reserved, giver,
            when, busy, free, weight, heft, child, behind, ahead, held, holder, place,
        )  # fmt: skip
        fewest = min(fewest, count)
    return fewest
