"""Random numbers that compiled loops and their plain forms draw alike."""

from __future__ import annotations

from makespan.core.numeric.jit import part


@part
def next_seed(seed):  # type: ignore[no-untyped-def]
    """Return the next state of the generator of ANSI C: 31 bits, of which the high ones are good.

    Draw from ``seed >> 8``: a number below ``n`` is ``(seed >> 8) % n``.

    >>> next_seed(1)
    1103527590
    """
    return (seed * 1103515245 + 12345) & 0x7FFFFFFF


@part
def uniform(seed):  # type: ignore[no-untyped-def]
    """Return a number from 0 to below 1 for a state of :func:`next_seed`.

    >>> uniform(1 << 30)
    0.5
    """
    return (seed >> 8) / 8388608.0


@part
def next_minimal(state):  # type: ignore[no-untyped-def]
    """Return the next state of the generator of Park and Miller 1988, from 1 to 2^31 - 2.

    >>> next_minimal(1)
    48271
    """
    return state * 48271 % 2147483647
