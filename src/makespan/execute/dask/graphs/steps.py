"""A task as it is sent: the task itself, and inputs that only order it. It runs on workers."""

from __future__ import annotations

from typing import Any


def step(node: Any, inputs: tuple[Any, ...], *values: Any) -> Any:
    """Compute a node of a graph; values beyond its inputs are only waited for."""
    return node(dict(zip(inputs, values, strict=False)))


async def step_awaited(node: Any, inputs: tuple[Any, ...], *values: Any) -> Any:
    """Compute a node whose function is a coroutine."""
    return await node(dict(zip(inputs, values, strict=False)))
