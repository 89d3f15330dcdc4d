"""Did you mean …?"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST = 200
"""Characters of what was found that are compared."""


def did_you_mean(found: object, known: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for the nearest known name, else the known names.

    >>> did_you_mean("lode", ["load", "rounds"])
    "; did you mean 'load'?"
    >>> did_you_mean("zzz", ["load", "rounds"])
    '; known are load, rounds'
    """
    names = sorted(known)
    if not isinstance(found, str):
        from makespan.core.inputs.mistakes import (
            shown,  # loads numpy, which a wrong command does without
        )

        found = shown(found)
    near = get_close_matches(found[:LONGEST].lower(), names, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; known are {', '.join(names)}" if names else ""
