"""A task as it is sent: the task itself, and inputs that only order it. It runs on workers."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


def by_value(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of builtins alone that is sent with its code: it is short, tasks many."""
    assert isinstance(function, FunctionType)
    own = FunctionType(function.__code__, {}, function.__name__)
    own.__module__ = "__main__"
    return own


@by_value
def step(node: Any, inputs: tuple[Any, ...], *values: Any) -> Any:
    """Compute a node of a graph; values beyond its inputs are only waited for."""
    return node(dict(zip(inputs, values, strict=False)))


@by_value
async def step_awaited(node: Any, inputs: tuple[Any, ...], *values: Any) -> Any:
    """Compute a node whose function is a coroutine."""
    return await node(dict(zip(inputs, values, strict=False)))
