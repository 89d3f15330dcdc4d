"""The loop of guided ejection: copies in rounds, each placed where least has to go for it."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.jit import loop

ASKED = 48  # holders of a segment, from any one on: is there a round with nothing in the way?
TROUBLED = 16  # if not, in which round of these weighs least what is?
WORD = 62  # rounds, a bit each
SHUFFLED = 10  # steps in which not the last of those taken out is placed, but any


@loop(pays_from=10_000, loaded_from=200)
def eject_and_insert(  # type: ignore[no-untyped-def]
    ready, lacks, lag, mirrored, reserved, rounds, steps, seed, giver, when, stop
):
    """Place a copy of each segment at all that lack it; return how many could not be, at least.

    A port sends once in a round at most, and takes once. Who has segment k from round
    ``ready[k, machine]`` on (-1: not yet) may send it from then on, and who is sent it in round r
    from ``r + lag[k]`` on. Segments that are ``mirrored`` go that way in reversed time, in which
    round r is ``rounds - 1 - r``, and those who have one take. In a round that is
    ``reserved[machine, round]`` for a segment, not -1, its port sends no other.

    ``giver`` and ``when`` (segment, machine) get who gives it in which round, of reversed time
    where mirrored, or -1; ``ready`` is filled in. Stops early as soon as ``stop`` says so.

    Where all ports are taken in all rounds, the copies in the way are taken out, with those that
    depend on them, and wait to be placed again, last in, first out (Nagata and Bräysy 2009). They
    weigh the more, the more often they were in vain to be placed without; those that weigh least
    are taken out.
    """
    segments, machines = ready.shape
    words = rounds // WORD + 1
    sends = np.zeros((2, machines, words), np.int64)  # the rounds in which ports are free,
    takes = np.zeros((2, machines, words), np.int64)  # forwards and in reversed time
    for time in range(rounds):
        for machine in range(machines):
            for way in range(2):
                moment = rounds - 1 - time if way else time
                takes[way, machine, time // WORD] |= 1 << time % WORD
                if reserved[machine, moment] < 0:
                    sends[way, machine, time // WORD] |= 1 << time % WORD
    out = np.full((machines, rounds), -1, np.int32)
    into = np.full((machines, rounds), -1, np.int32)
    weight = np.ones(segments * machines, np.int32)
    heft = weight.copy()  # with all that depend on it
    child = np.full((segments, machines), -1, np.int32)  # those who were given it by one, in a list
    behind = np.full((segments, machines), -1, np.int32)
    ahead = np.full((segments, machines), -1, np.int32)
    held = np.zeros(segments, np.int64)
    holder = np.empty((segments, machines), np.int32)
    place = np.empty((segments, machines), np.int32)
    pool = np.empty(segments * machines, np.int32)
    taken = np.empty(machines, np.int32)
    size = 0
    for segment in range(segments - 1, -1, -1):
        first = size
        for machine in range(machines):
            giver[segment, machine] = when[segment, machine] = -1
            if ready[segment, machine] >= 0:
                place[segment, machine] = held[segment]
                holder[segment, held[segment]] = machine
                held[segment] += 1
            elif lacks[segment, machine]:
                seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
                other = first + (seed >> 8) % (size - first + 1)
                pool[size] = pool[other]
                pool[other] = segment * machines + machine
                size += 1
    fewest = size
    for _ in range(steps):
        if size == 0 or stop[0] != 0:
            break
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        if (seed >> 8) % SHUFFLED == 0:
            seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
            other = (seed >> 8) % size
            pool[size - 1], pool[other] = pool[other], pool[size - 1]
        size -= 1
        wanted = pool[size]
        segment, machine = wanted // machines, wanted % machines
        turned = mirrored[segment]
        count = held[segment]
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        offset = (seed >> 8) % count
        least = source = at = -1
        for step in range(min(count, ASKED)):
            other = holder[segment, (offset + step) % count]
            since = int(ready[segment, other])
            if since >= rounds:
                continue
            own = reserved[other, since] == segment
            if own and out[other, since] < 0 and into[machine, since] < 0:
                least, source, at = 0, other, since
                break
            left = -1 << since % WORD
            for word in range(since // WORD, words):
                if turned:
                    free = sends[1, machine, word] & takes[1, other, word] & left
                else:
                    free = sends[0, other, word] & takes[0, machine, word] & left
                if free != 0:
                    free &= -free  # the first one
                    least, source, at = 0, other, WORD * word
                    for width in (32, 16, 8, 4, 2, 1):
                        if free >> width != 0:
                            free >>= width
                            at += width
                    break
                left = -1
            if least == 0:
                break
        ties = 0
        for step in range(0 if least == 0 else min(count, TROUBLED)):
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
                    seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
                    if (seed >> 8) % ties == 0:
                        source, at = other, time
        if source < 0:  # nobody has it in time
            seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
            other = (seed >> 8) % (size + 1)
            pool[size] = pool[other]
            pool[other] = wanted
            size += 1
            continue
        sender, receiver, moment = source, machine, at
        if turned:
            sender, receiver, moment = machine, source, rounds - 1 - at
        weight[wanted] += least > 0
        for side in range(2):
            code = out[sender, moment] if side == 0 else into[receiver, moment]
            if code < 0:
                continue
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
                out[one, time] = into[two, time] = -1
                if reserved[one, time] < 0:
                    sends[0, one, time // WORD] |= 1 << time % WORD
                    sends[1, one, back // WORD] |= 1 << back % WORD
                takes[0, two, time // WORD] |= 1 << time % WORD
                takes[1, two, back // WORD] |= 1 << back % WORD
                giver[row, here] = when[row, here] = ready[row, here] = -1
                child[row, here] = behind[row, here] = ahead[row, here] = -1
                held[row] -= 1
                last = holder[row, held[row]]
                holder[row, place[row, here]] = last
                place[row, last] = place[row, here]
                pool[size] = row * machines + here
                size += 1
        out[sender, moment] = into[receiver, moment] = wanted
        back = rounds - 1 - moment
        sends[0, sender, moment // WORD] &= ~(1 << moment % WORD)
        sends[1, sender, back // WORD] &= ~(1 << back % WORD)
        takes[0, receiver, moment // WORD] &= ~(1 << moment % WORD)
        takes[1, receiver, back // WORD] &= ~(1 << back % WORD)
        giver[segment, machine], when[segment, machine] = source, at
        ready[segment, machine] = at + lag[segment]
        place[segment, machine] = held[segment]
        holder[segment, held[segment]] = machine
        held[segment] += 1
        ahead[segment, machine] = -1
        behind[segment, machine] = child[segment, source]
        if child[segment, source] >= 0:
            ahead[segment, child[segment, source]] = machine
        child[segment, source] = machine
        heft[wanted] = weight[wanted]
        while source >= 0:
            heft[segment * machines + source] += weight[wanted]
            source = giver[segment, source]
        fewest = min(fewest, size)
    return fewest
