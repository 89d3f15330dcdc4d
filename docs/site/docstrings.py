"""Docstrings of the reference: what stands behind their sections, and names that lead somewhere.

In the source a docstring ends with its complexity, its source and an example, without headings; the
parser of numpydoc would take them for parameters or errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import griffe

from makespan._public import PUBLIC

ROLE = re.compile(r":\w+:`~?([\w.]+)`")
UNDERLINED = re.compile(r"\S.*\n-{3,}(?:\n|$)")
ITEM = re.compile(r"\S.*\n[ ]+\S|[ ]")
"""A part of a section: a name with indented words, or more such words."""


class Docstrings(griffe.Extension):
    """Rewrite each docstring before it is parsed."""

    def on_object(self, *, obj: griffe.Object, **others: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = ROLE.sub(_linked, arranged(obj.docstring.value))


def arranged(text: str) -> str:
    """Return a docstring with its prose first, then its sections, then its examples."""
    prose, sections, examples = [], [], []
    within = False
    blocks = re.split(r"\n[ \t]*\n", text.strip("\n"))
    for block, behind in zip(blocks, [*blocks[1:], ""], strict=True):
        shown = behind.startswith(">>> ") and block.endswith(":")
        if UNDERLINED.match(block):
            within = True
            sections.append(block)
        elif within and ITEM.match(block) and not block.startswith(">>> "):
            sections.append(block)
        elif examples or shown or block.startswith(">>> "):
            examples.append(block)
        else:
            within = False
            prose.append(block)
    return "\n\n".join([*prose, *sections, *_headed(examples)])


def _headed(examples: list[str]) -> Iterator[str]:
    if examples:
        yield "\n\n".join(["Examples\n--------\n" + examples[0], *examples[1:]])


def _linked(role: re.Match[str]) -> str:
    """Return a name of a role as a link, where the reference has an entry for it."""
    name = role[1].removeprefix("makespan.")
    entry = _entries().get(name)
    return f"[`{name}`][{entry}]" if entry else f"`{name}`"


@cache
def _entries() -> dict[str, str]:
    """Return where each public name of ``makespan`` is described."""
    found = {}
    for name in (name for names in PUBLIC["makespan"].values() for name in names):
        thing = getattr(import_module("makespan"), name)
        found[name] = f"{thing.__module__}.{getattr(thing, '__qualname__', name)}"
    return found
