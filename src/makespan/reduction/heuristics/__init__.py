"""The rule by which machines send: when a send can start, and when what came is combined.

A sender's port is busy for as long as it sends, a receiver's until all has arrived, a latency
later. A unit prepares what is copied, and combines what has arrived, one after another.
"""

from makespan.core.numeric.jit import part


@part
def greatest(table):  # type: ignore[no-untyped-def]
    """Return the greatest of the numbers of a table, all -1 or more.

    The method of an array takes half a second to compile, for each number of axes.

    >>> import numpy as np
    >>> int(greatest(np.array([[0, 3], [-1, 2]]))), greatest(np.zeros((1, 0), dtype=int))
    (3, -1)
    """
    found = -1
    for row in range(table.shape[0]):
        for column in range(table.shape[1]):
            found = max(found, table[row, column])
    return found


@part
def start_of(ready, sending, receiving, lag):  # type: ignore[no-untyped-def]
    """Return when a machine can start to send what is ``ready``: both ports are free by then.

    What is sent begins to arrive the latency ``lag`` later.

    >>> start_of(1, 2, 5, 1)
    4
    """
    return max(ready, sending, receiving - lag)


@part
def worked(ready, unit, work):  # type: ignore[no-untyped-def]
    """Return when a unit that is free at ``unit`` has done ``work`` on what is there at ``ready``.

    >>> worked(3, 5, 2)
    7
    """
    return max(ready, unit) + work


@part
def open_for(receiving, unit, lasts, backlog):  # type: ignore[no-untyped-def]
    """Return from when a receiver takes a part that lasts so long.

    Its port must be free, and its unit may be busy for no more than ``backlog`` when all has come.

    >>> open_for(1, 9, 2, 3)
    4
    """
    return max(receiving, unit - lasts - backlog)


@part
def links_open(sender, receiver, start, shared, ahead, link):  # type: ignore[no-untyped-def]
    """Return from when, after ``start``, all links that a pair shares with others take a copy.

    ``shared`` and ``ahead`` (sender, receiver, place) are the links, then -1, and the latency
    before each, or None; ``link`` says when each is free.
    """
    if shared is not None:
        for way in range(shared.shape[2]):
            on = shared[sender, receiver, way]
            if on >= 0:
                start = max(start, link[on] - ahead[sender, receiver, way])
    return start


@part
def strike_off(segment, machine, lacking, place, left):  # type: ignore[no-untyped-def]
    """Take a machine off the list of those that lack a segment: the last one takes its place.

    ``lacking`` (segment, place) are the machines, ``place`` (segment, machine) says where each
    stands, ``left`` (segment) how many they are.
    """
    left[segment] -= 1
    moved = lacking[segment, left[segment]]
    where = place[segment, machine]
    lacking[segment, where] = moved
    place[segment, moved] = where


@part
def copy_rows(source, target):  # type: ignore[no-untyped-def]
    """Copy a table into another one of its shape: an assignment takes longer to compile."""
    for row in range(len(source)):
        for column in range(source.shape[1]):
            target[row, column] = source[row, column]
