"""kinds → the JSON Schema of their files."""

from __future__ import annotations

from typing import Any

from makespan.flow.kinds import KINDS, kind_named

DRAFT = "https://json-schema.org/draft/2020-12/schema"
HERE = "#/$defs/"


def schema(kind: str | None = None) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a kind's files, or of all kinds' in one.

    In the latter, ``kind`` says which part applies, so that an editor names the mistakes of that
    kind alone.

    Raises
    ------
    ProblemError
        If there is no such kind.
    """
    if kind is not None:
        return kind_named(kind).file.schema()
    definitions: dict[str, Any] = {}
    for name, entry in KINDS.items():
        own = entry.file.schema()
        own.pop("$schema", None)
        for inner, part in own.pop("$defs", {}).items():
            definitions[f"{name}.{inner}"] = moved(part, f"{HERE}{name}.")
        definitions[name] = moved(own, f"{HERE}{name}.")
    return {
        "$schema": DRAFT,
        "title": "A problem for makespan",
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"enum": list(KINDS), "description": "What kind of problem it is"}},
        "discriminator": {
            "propertyName": "kind",
            "mapping": {name: f"#/$defs/{name}" for name in KINDS},
        },
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": name}}, "required": ["kind"]},
                "then": {"$ref": f"#/$defs/{name}"},
            }
            for name in KINDS
        ],
        "$defs": definitions,
    }


def moved(part: Any, start: str) -> Any:
    """Return a part of a schema with its references led to where its definitions went."""
    if isinstance(part, list):
        return [moved(each, start) for each in part]
    if isinstance(part, dict):
        return {key: moved(each, start) for key, each in part.items()}
    if isinstance(part, str) and part.startswith(HERE):
        return part.replace(HERE, start, 1)
    return part
