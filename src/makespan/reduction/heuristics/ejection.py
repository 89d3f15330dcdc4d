"""The loop of guided ejection: copies in rounds, each placed where least has to go for it."""

import numpy as np

from makespan.core.numeric.jit import loop, next_seed, part

ASKED = 48  # holders of a segment, from any one on: is there a round with nothing in the way?
TROUBLED = 16  # if not, in which round of these weighs least what is?
WORD = 62  # rounds, a bit each
SHUFFLED = 10  # steps in which not the last of those taken out is placed, but any
NOBODY = -1  # instead of a machine, a round, or a copy
FORWARDS, BACKWARDS = 0, 1  # rows of the tables of free rounds


@part
def _set(bits, way, machine, time):  # type: ignore[no-untyped-def]
    """Mark a round as free."""
    bits[way, machine, time // WORD] |= 1 << time % WORD


@part
def _clear(bits, way, machine, time):  # type: ignore[no-untyped-def]
    """Mark a round as taken."""
    bits[way, machine, time // WORD] &= ~(1 << time % WORD)


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
def _begin(  # type: ignore[no-untyped-def]
    ready, lacks, reserved, seed, giver, when, sends, takes, held, holder, place, pool
):
    """Enter who has what from the start, and all free rounds; return how many copies to place.

    The copies to be placed are shuffled within each segment. The seed is returned, too.
    """
    segments, machines = ready.shape
    rounds = reserved.shape[1]
    for time in range(rounds):
        for machine in range(machines):
            for way in range(2):
                moment = rounds - 1 - time if way == BACKWARDS else time
                _set(takes, way, machine, time)
                if reserved[machine, moment] < 0:
                    _set(sends, way, machine, time)
    size = 0
    for segment in range(segments - 1, -1, -1):
        first = size
        for machine in range(machines):
            giver[segment, machine] = when[segment, machine] = NOBODY
            if ready[segment, machine] >= 0:
                place[segment, machine] = held[segment]
                holder[segment, held[segment]] = machine
                held[segment] += 1
            elif lacks[segment, machine]:
                seed = next_seed(seed)
                other = first + (seed >> 8) % (size - first + 1)
                pool[size] = pool[other]
                pool[other] = segment * machines + machine
                size += 1
    return size, seed


@part
def _find_free(  # type: ignore[no-untyped-def]
    segment, machine, turned, offset, ready, reserved, out, into, sends, takes, held, holder
):
    """Return a holder and a round in which both ports are free, or twice :data:`NOBODY`."""
    rounds = reserved.shape[1]
    count = held[segment]
    for step in range(min(count, ASKED)):
        other = holder[segment, (offset + step) % count]
        since = int(ready[segment, other])
        if since >= rounds:
            continue
        own = reserved[other, since] == segment
        if own and out[other, since] < 0 and into[machine, since] < 0:
            return other, since
        left = -1 << since % WORD  # of the first word, the rounds from then on
        for word in range(since // WORD, sends.shape[2]):
            if turned:
                free = sends[BACKWARDS, machine, word] & takes[BACKWARDS, other, word] & left
            else:
                free = sends[FORWARDS, other, word] & takes[FORWARDS, machine, word] & left
            if free != 0:
                return other, WORD * word + _lowest(free)
            left = -1
    return NOBODY, NOBODY


@part
def _find_lightest(  # type: ignore[no-untyped-def]
    segment, machine, turned, offset, seed, ready, reserved, out, into, heft, held, holder
):
    """Return a holder and a round in which those in the way weigh least; ties at random.

    Returns the holder and the round, :data:`NOBODY` where nobody has the segment in time, the
    weight, and the seed.
    """
    rounds = reserved.shape[1]
    count = held[segment]
    least = source = at = NOBODY
    ties = 0
    for step in range(min(count, TROUBLED)):
        other = holder[segment, (offset + step) % count]
        for time in range(int(ready[segment, other]), rounds):
            sender, receiver, moment = other, machine, time
            if turned:
                sender, receiver, moment = machine, other, rounds - 1 - time
            if reserved[sender, moment] >= 0 and reserved[sender, moment] != segment:
                continue
            one, two = out[sender, moment], into[receiver, moment]
            trouble = heft[one] if one >= 0 else 0
            if two >= 0 and two != one:
                trouble += heft[two]
            if least < 0 or trouble < least:
                least, ties, source, at = trouble, 1, other, time
            elif trouble == least:
                ties += 1
                seed = next_seed(seed)
                if (seed >> 8) % ties == 0:
                    source, at = other, time
    return source, at, least, seed


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
    code, size, ready, mirrored, reserved, giver, when, sends, takes, out, into, heft, child,
    behind, ahead, held, holder, place, pool, taken,
):  # fmt: skip
    """Take out a copy with those that depend on it; return how many then wait to be placed.

    They are put on the ``pool``, of ``size`` so far, the copy itself last; their rounds are free.
    """
    machines, rounds = reserved.shape
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
        one, two, time = giver[row, here], here, int(when[row, here])
        back = rounds - 1 - time
        if mirrored[row]:
            one, two, time, back = two, one, back, time
        out[one, time] = into[two, time] = NOBODY
        if reserved[one, time] < 0:
            _set(sends, FORWARDS, one, time)
            _set(sends, BACKWARDS, one, back)
        _set(takes, FORWARDS, two, time)
        _set(takes, BACKWARDS, two, back)
        giver[row, here] = when[row, here] = ready[row, here] = NOBODY
        child[row, here] = behind[row, here] = ahead[row, here] = NOBODY
        held[row] -= 1
        last = holder[row, held[row]]
        holder[row, place[row, here]] = last
        place[row, last] = place[row, here]
        pool[size] = row * machines + here
        size += 1
    return size


@loop(pays_from=10_000, loaded_from=200)
def eject_and_insert(  # type: ignore[no-untyped-def]
    ready, lacks, lag, mirrored, reserved, rounds, steps, seed, giver, when, stop
):
    """Place a copy of each segment at all that lack it; return how many could not be, at least.

    A port sends once in a round at most, and takes once. Where all ports are taken in all rounds,
    the copies in the way are taken out, with those that depend on them, and wait to be placed
    again, last in, first out (Nagata and Bräysy 2009). They weigh the more, the more often they
    were in vain to be placed without; those that weigh least are taken out. A step has four phases:
    choose what is placed, find a round for it, eject what is in the way, and insert it.

    - ``ready``: (segment, machine) From which round on it has it, -1 for not yet; is filled in.
    - ``lacks``: (segment, machine) Who gets it.
    - ``lag``: (segment) After how many rounds who was sent it may send it.
    - ``mirrored``: (segment) Whether it goes in reversed time, in which round r is ``rounds - 1 -
      r``, and those who have it take.
    - ``reserved``: (machine, round) The segment that alone its port may send then; -1 for any.
    - ``rounds``, ``steps``: how many rounds there are, and how many copies are placed at most.
    - ``giver``, ``when``: (segment, machine) Get who gives it in which round, of reversed time
      where mirrored, or -1.
    - ``stop``: (1) The loop ends soon after this is no longer 0.
    """
    segments, machines = ready.shape
    words = rounds // WORD + 1
    sends = np.zeros((2, machines, words), np.int64)  # the rounds in which ports are free,
    takes = np.zeros((2, machines, words), np.int64)  # forwards and in reversed time
    out = np.full((machines, rounds), NOBODY, np.int32)  # the copies that ports send, and take
    into = np.full((machines, rounds), NOBODY, np.int32)
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
    size, seed = _begin(
        ready, lacks, reserved, seed, giver, when, sends, takes, held, holder, place, pool
    )
    fewest = size
    for _ in range(steps):
        if size == 0 or stop[0] != 0:
            break
        # choose: the last one, now and then any
        seed = next_seed(seed)
        if (seed >> 8) % SHUFFLED == 0:
            seed = next_seed(seed)
            other = (seed >> 8) % size
            pool[size - 1], pool[other] = pool[other], pool[size - 1]
        size -= 1
        wanted = pool[size]
        segment, machine = wanted // machines, wanted % machines
        turned = mirrored[segment]
        # find
        seed = next_seed(seed)
        offset = (seed >> 8) % held[segment]
        source, at = _find_free(
            segment, machine, turned, offset, ready, reserved, out, into, sends, takes, held, holder
        )
        least = 0
        if source < 0:
            source, at, least, seed = _find_lightest(
                segment, machine, turned, offset, seed, ready, reserved, out, into, heft, held,
                holder,
            )  # fmt: skip
        if source < 0:  # nobody has it in time: it waits anywhere in the pool
            seed = next_seed(seed)
            other = (seed >> 8) % (size + 1)
            pool[size] = pool[other]
            pool[other] = wanted
            size += 1
            continue
        sender, receiver, moment = source, machine, at
        if turned:
            sender, receiver, moment = machine, source, rounds - 1 - at
        # eject
        weight[wanted] += least > 0
        for side in range(2):
            code = out[sender, moment] if side == 0 else into[receiver, moment]
            if code >= 0:
                size = _eject(
                    code, size, ready, mirrored, reserved, giver, when, sends, takes, out, into,
                    heft, child, behind, ahead, held, holder, place, pool, taken,
                )  # fmt: skip
        # insert
        out[sender, moment] = into[receiver, moment] = wanted
        back = rounds - 1 - moment
        _clear(sends, FORWARDS, sender, moment)
        _clear(sends, BACKWARDS, sender, back)
        _clear(takes, FORWARDS, receiver, moment)
        _clear(takes, BACKWARDS, receiver, back)
        giver[segment, machine], when[segment, machine] = source, at
        ready[segment, machine] = at + lag[segment]
        place[segment, machine] = held[segment]
        holder[segment, held[segment]] = machine
        held[segment] += 1
        _link(segment, machine, source, giver, heft, weight[wanted], child, behind, ahead)
        fewest = min(fewest, size)
    return fewest
