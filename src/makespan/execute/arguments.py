"""What maps are given: data, functions, and keywords for either."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from numbers import Real
from types import MappingProxyType
from typing import Any

from makespan.core.errors import InputError
from makespan.core.inputs.rules import quoted
from makespan.core.inputs.suggest import did_you_mean
from makespan.execute.dealing.items import Items, Stream, refuse_indivisible


def items_of(data: Any, more: Sequence[Any]) -> Items:
    """Return the data, several side by side, as items in a row; an iterator as a stream."""
    if isinstance(data, Items):
        return data
    if isinstance(data, Iterator) or any(isinstance(one, Iterator) for one in more):
        return Stream(zip(data, *more, strict=False) if more else iter(data))
    data, *more = (
        one if hasattr(one, "__len__") or not isinstance(one, Iterable) else [*one]
        for one in (data, *more)
    )
    refuse_indivisible(data, "data")
    for place, one in enumerate(more):
        refuse_indivisible(one, f"more[{place}]")
    return Items(list(zip(data, *more, strict=False)) if more else data)


def parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter] | None:
    """Return the parameters of a function, None where nobody knows them."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None


def for_function(
    own: Mapping[str, inspect.Parameter] | None,
    keywords: Mapping[str, Any],
    known: Iterable[str],
    refused: Mapping[str, tuple[Any, str]],
) -> dict[str, Any]:
    """Return what is passed on; refuse what neither the function nor map can do anything with."""
    some = own is None or any(one.kind is inspect.Parameter.VAR_KEYWORD for one in own.values())
    named = own or {}
    passed = {}
    for name, value in keywords.items():
        if name in named or (some and name not in refused) or (some and name == "key"):
            passed[name] = value
        elif name not in refused:
            hint = did_you_mean(name, {*known, *named})
            raise TypeError(f"neither map() nor the function has a parameter {name!r}{hint}")
        elif value is not refused[name][0]:
            raise InputError(f"{name}: {quoted(value)} can't be had; {refused[name][1]}")
    return passed


def number(
    name: str, given: float | None, annotations: Mapping[str, Any] = MappingProxyType({})
) -> float:
    """Return an argument, or else what is annotated, or 0."""
    value = annotations.get(name, 0.0) if given is None else given
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value):
        raise InputError(f"{name}: {quoted(value)} is not a number")
    return float(value)
