"""Did you mean …?"""

import inspect
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

ELSEWHERE = {
    "seed": "rng",
    "random_state": "rng",
    "timeout": "time_limit",
    "limit": "time_limit",
    "algorithm": "method",
    "solver": "method",
    "callback": "progress",
    "repeat": "repetitions",
}
"""What other libraries call it, and what it is called here."""
LONGEST = 200  # characters of what was found that are compared


def did_you_mean(found: object, known: Iterable[str], *, unlisted: Collection[str] = ()) -> str:
    """Return ``; did you mean 'x'?`` for the nearest known name, else the known names.

    Those ``unlisted`` are suggested where they are near, and not listed.

    >>> did_you_mean("lode", ["load", "rounds"])
    "; did you mean 'load'?"
    >>> did_you_mean("zzz", ["load", "rounds"])
    '; known are load, rounds'
    """
    names = sorted(known)
    if isinstance(found, str) and ELSEWHERE.get(found) in names:
        return f"; did you mean {ELSEWHERE[found]!r}?"
    if not isinstance(found, str):
        # loads numpy, which a wrong command does without
        from makespan.core.inputs.rules import quoted

        found = quoted(found)
    near = get_close_matches(found[:LONGEST].lower(), names, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]!r}?"
    names = [name for name in names if name not in unlisted]
    return f"; known are {', '.join(names)}" if names else ""


def keywords_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return what can be given to ``function`` by name, but for what ``**options`` takes."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD))


def suggesting(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Let a wrong keyword end in a TypeError that names the nearest.

    >>> suggesting(lambda rng: rng)(seed=3)
    Traceback (most recent call last):
    TypeError: <lambda>() has no parameter 'seed'; did you mean 'rng'?
    """
    known = keywords_of(function)

    @wraps(function)
    def called(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Returned:
        for name in keywords:
            if name not in known:
                hint = did_you_mean(name, known)
                raise TypeError(f"{function.__name__}() has no parameter {name!r}{hint}")
        return function(*arguments, **keywords)

    return called
