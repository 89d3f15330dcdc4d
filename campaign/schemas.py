"""JSON Schemas → random documents: what our own schema says may stand in a file."""

from __future__ import annotations

import random
from typing import Any

from campaign import odd

DEEP = 12


def document(schema: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Return a document that the schema describes; the problem in it need make no sense."""
    made: dict[str, Any] = _made(schema, schema.get("$defs", {}), rng, 0)
    return made


def _made(part: dict[str, Any], known: dict[str, Any], rng: random.Random, depth: int) -> Any:
    if "$ref" in part:
        return _made(known[part["$ref"].rpartition("/")[2]], known, rng, depth)
    for choice in ("anyOf", "oneOf"):
        if choice in part:
            return _made(rng.choice(part[choice]), known, rng, depth)
    if "const" in part:
        return part["const"]
    if "enum" in part:
        return rng.choice(part["enum"])
    kind = part.get("type")
    if kind == "object":
        return _table(part, known, rng, depth)
    if "prefixItems" in part:
        return [_made(each, known, rng, depth + 1) for each in part["prefixItems"]]
    if kind == "array":
        count = 0 if depth > DEEP else rng.choice((0, 1, 2, 2, 3, 3, 4))
        return [_made(part["items"], known, rng, depth + 1) for _ in range(count)]
    if kind == "string":
        return (
            rng.choice(("A", "B", "C", "P0", "P1", "P2")) if rng.random() < 0.9 else odd.name(rng)
        )
    if kind == "integer":
        low = int(part.get("minimum", part.get("exclusiveMinimum", 0)))
        return low + rng.choice((0, 0, 1, 1, 2, 3, 5))
    if kind == "number":
        return rng.choice(odd.GENTLE) if rng.random() < 0.9 else odd.number(rng)
    if kind == "boolean":
        return rng.random() < 0.5
    if kind == "null":
        return None
    return rng.choice((1.0, 2.0, [1.0, 2.0], [[0.0, 1.0], [1.0, 0.0]], odd.number(rng)))


def _table(part: dict[str, Any], known: dict[str, Any], rng: random.Random, depth: int) -> Any:
    properties, needed = part.get("properties", {}), part.get("required", ())
    chance = rng.choice((0.1, 0.3, 0.6))
    table = {
        key: _made(inner, known, rng, depth + 1)
        for key, inner in properties.items()
        if key in needed or (depth <= DEEP and rng.random() < chance)
    }
    more = part.get("additionalProperties")
    if isinstance(more, dict):
        for name in rng.sample(("A", "B", "P1", "P2"), rng.randint(0, 3)):
            table[name] = _made(more, known, rng, depth + 1)
    return table
