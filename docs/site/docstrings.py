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
HEADING = "Examples\n--------\n"
UNDERLINED = re.compile(r"\S.*\n-{3,}(?:\n|$)")
ITEM = re.compile(r"\S.*\n[ ]+\S|[ ]")
"""A part of a section: a name with indented words, or more such words."""
DEFINED = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)\n((?:(?: .*|[ \t]*)(?:\n|$))+)", re.MULTILINE)
"""Names, and what is said of them below."""


class Docstrings(griffe.Extension):
    """Rewrite each docstring before it is parsed; show properties that are cached as such."""

    def on_function_instance(self, *, func: griffe.Function, **others: Any) -> None:
        if any(str(each.value) == "cached_property" for each in func.decorators):
            assert func.parent is not None
            shown = griffe.Attribute(
                func.name, lineno=func.lineno, endlineno=func.endlineno, annotation=func.returns
            )
            shown.docstring, shown.labels = func.docstring, {"property", "cached"}
            func.parent.set_member(func.name, shown)

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
        if block.startswith(HEADING):
            examples.append(block.removeprefix(HEADING))
        elif UNDERLINED.match(block):
            within = True
            sections.append(DEFINED.sub(_singly, block).rstrip())
        elif within and ITEM.match(block) and not block.startswith(">>> "):
            sections.append(DEFINED.sub(_singly, block).rstrip())
        elif examples or shown or block.startswith(">>> "):
            examples.append(block)
        else:
            within = False
            prose.append(DEFINED.sub(_listed, block).rstrip())
    return "\n\n".join([*prose, *sections, *_headed(examples)])


def _singly(entry: re.Match[str]) -> str:
    """Return an entry for each of several names: each has a type and a default of its own."""
    said = entry[2].rstrip("\n")
    return "".join(f"{name}\n{said}\n" for name in entry[1].split(", "))


def _listed(entry: re.Match[str]) -> str:
    """Return what is defined in prose as an entry of a list."""
    names = ", ".join(f"`{name}`" for name in entry[1].split(", "))
    return f"- {names}: {' '.join(entry[2].split())}\n"


def _headed(examples: list[str]) -> Iterator[str]:
    if examples:
        yield "\n\n".join([HEADING + examples[0], *examples[1:]])


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
