"""Documents in XML: the root of a text, or what is wrong with it."""

from __future__ import annotations

from xml.etree import ElementTree

from makespan.core.errors import FileError
from makespan.core.inputs.mistakes import quoted


def root_of(text: str, tag: str, name: str, *, typed: bool = False) -> ElementTree.Element:
    """Return the root of a document of the format called ``name``, whose root is a ``tag``.

    Parameters
    ----------
    typed
        Whether it may name a document type, which is not looked up.

    Raises
    ------
    FileError
        If it is not one, or declares entities or a document type.
    """
    if "<!ENTITY" in text or (not typed and "<!DOCTYPE" in text):
        raise FileError(f"declares entities or a document type, which {name} has no use for")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:  # an encoding that is not known
        raise FileError(f"is not {name}: {error}") from None
    if local(root) != tag:
        raise FileError(f"is XML ({quoted(local(root))}), but not {name}")
    return root


def local(element: ElementTree.Element) -> str:
    """Return the tag of an element without its namespace."""
    return element.tag.rpartition("}")[2]
