"""Arguments of loops by their names: two columns of one type are not swapped in silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def parameters(form: Callable[..., Any]) -> tuple[str, ...]:
    code = getattr(form, "py_func", form).__code__
    return tuple(code.co_varnames[: code.co_argcount])


def bind(form: Callable[..., Any], /, *groups: Any, **columns: Any) -> Callable[..., Any]:
    """Give a loop arguments by their names; return what calls it with all others.

    ``form``: a loop in one of its forms, or a kernel. ``groups``: columns that travel together:
    dataclasses or named tuples whose fields are parameters. ``columns``: single arguments. What is
    returned takes the parameters that are left by name; a single one by position, too. Raises
    TypeError if a name is not that of a parameter, is given twice, or is missing in the call.

    >>> def scaled(number, factor, shift):
    ...     return number * factor + shift
    >>> bind(scaled, factor=2, shift=1)(20)
    41
    >>> bind(scaled, factor=2)(number=20, shfit=1)
    Traceback (most recent call last):
    ...
    TypeError: scaled: shfit is not one of its parameters: number, factor, shift
    """
    names = parameters(form)
    bound: dict[str, Any] = {}
    for group in groups:
        _take(form, names, bound, fields(group))
    _take(form, names, bound, columns)

    whole = [bound[name] for name in names] if len(bound) == len(names) else None

    def call(*last: Any, **others: Any) -> Any:
        if whole is not None and not last and not others:
            return form(*whole)
        values = dict(bound)
        _take(form, names, values, others)
        left = [name for name in names if name not in values]
        if len(left) != len(last) or len(last) > 1:
            raise TypeError(f"{form.__name__}: give {', '.join(left) or 'no more'} by name")
        if left:
            values[left[0]] = last[0]
        return form(*[values[name] for name in names])

    call.form = form  # type: ignore[attr-defined]
    return call


def is_plain(loop: Callable[..., Any]) -> bool:
    """Whether a loop, bound or not, is in its plain form: some hundred times slower."""
    return not hasattr(getattr(loop, "form", loop), "py_func")


def fields(group: Any) -> dict[str, Any]:
    """Return the columns of a dataclass or named tuple by their names."""
    names = getattr(group, "_fields", None) or group.__dataclass_fields__
    return {name: getattr(group, name) for name in names}


def _take(
    form: Callable[..., Any], names: tuple[str, ...], values: dict[str, Any], more: dict[str, Any]
) -> None:
    for name, value in more.items():
        if name not in names:
            listed = ", ".join(names)
            raise TypeError(f"{form.__name__}: {name} is not one of its parameters: {listed}")
        if name in values:
            raise TypeError(f"{form.__name__}: {name} is given twice")
        values[name] = value
