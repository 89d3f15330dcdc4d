"""What makespan says to people: every note and message in one list, to be read side by side.

``python -m tests.test_messages`` writes ``tests/messages.txt`` anew.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.sources import PLACES

ROOT = Path(__file__).parents[1]
LIST = ROOT / "tests" / "messages.txt"
HEAD = "Every note and message of makespan, by file; python -m tests.test_messages writes it.\n"
SAYS = re.compile(
    r"(add|append|insert|mistake|Mistake|note|say|print_error|print_text|Violation|.*Error|Unreached"
    r"|TooLarge|MissingExtra|InvalidSchedule|UsageError|BadParameter|fail|Need|condition|at_most|Rule"
    r"|whole|echo)$"
)
"""The calls whose texts people read."""
NAMED = re.compile(r"(.*_?(notes?|message|text|said|says|reason|fault|hint)s?|help|[A-Z_]+)$")
"""The names that texts have which people read."""
LONGEST = 30
WORDY = re.compile(
    r"\b((?<![Tt]here )is no [a-z]+(?<!longer)\b(?! more)|that of those|what is missing is"
    r"|tell no|an? one|the one that)\b"
)
"""What a native engineer does not write."""


def template(node: ast.AST) -> str | None:
    """Return the text of a string, or of one with values in it, each as ``{…}``."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"  # type: ignore[attr-defined]
            for part in node.values
        )
    return None


def texts_in(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of a module that people read: those with a space, not docstrings."""
    for node in ast.walk(tree):
        found: list[ast.AST] = []
        if isinstance(node, ast.Call):
            name = (
                node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
            )
            given = [key.value for key in node.keywords if NAMED.match(key.arg or "")]
            found = [*(node.args if SAYS.match(name) else ()), *given]
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            named = [
                part for each in targets for part in ast.walk(each) if isinstance(part, ast.Name)
            ]
            found = [node.value] if any(NAMED.match(each.id) for each in named) else []
        elif isinstance(node, (ast.Return, ast.Yield)) and node.value is not None:
            found = [node.value]
        for each in found:
            for part in _parts(each):
                text = template(part)
                if text and " " in text.strip() and not text.lstrip().startswith(("<", "\\")):
                    yield " ".join(text.split())


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the strings inside, but none inside the values of another string or in a call."""
    if isinstance(node, (ast.Constant, ast.JoinedStr)):
        yield node
    elif isinstance(node, (ast.Tuple, ast.List, ast.IfExp, ast.BoolOp, ast.BinOp, ast.Starred)):
        for child in ast.iter_child_nodes(node):
            yield from _parts(child)


@cache
def messages() -> dict[str, list[str]]:
    """Return the texts of each file that has some."""
    found = {}
    paths = {
        path.relative_to(place / "makespan").as_posix(): path
        for place in PLACES
        for path in (place / "makespan").rglob("*.py")
    }
    for name in sorted(paths):
        texts = sorted(set(texts_in(ast.parse(paths[name].read_text("utf-8")))))
        if texts:
            found[name] = texts
    return found


def listed() -> str:
    """Return the list as it stands in the file."""
    parts = [
        f"{file}\n" + "".join(f"  {text}\n" for text in texts) for file, texts in messages().items()
    ]
    return HEAD + "\n" + "\n".join(parts)


def test_the_list_is_what_the_code_says() -> None:
    """A message that is new or reworded is read beside all others before it is merged."""
    assert LIST.read_text("utf-8") == listed(), "python -m tests.test_messages writes the list"


@pytest.mark.parametrize("file", messages())
def test_messages_are_short_and_plain(file: str) -> None:
    """No sentence above 30 words, and none of the turns that a native engineer avoids."""
    for text in messages()[file]:
        for sentence in re.split(r"(?<=[.;:!?])\s", re.sub(r"\{[^}]*\}", "x", text)):
            assert len(sentence.split()) <= LONGEST, sentence
        assert not WORDY.search(text), text


if __name__ == "__main__":
    LIST.write_text(listed(), "utf-8")
