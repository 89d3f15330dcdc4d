r"""DOT: the language of Graphviz, as far as graphs of tasks need it.

Read are ``digraph``, nodes and edges with attributes, chains ``a -> b -> c``, groups
``{a b} -> c``, defaults ``node [...]`` and ``edge [...]``, subgraphs (their nodes and edges),
ports, names that are quoted, joined by ``+`` or HTML, and comments. Which attributes are works
and sizes says :mod:`makespan.taskgraph.model.attributes`. In quotes ``\"`` and ``\\`` stand for
a quote and a backslash; other backslashes stand for themselves.

A text is read once from its beginning to its end; groups make a bounded number of edges.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from makespan.core.errors import FileError
from makespan.core.inputs.rules import Mistakes, quoted
from makespan.taskgraph.model.attributes import LABEL, Column, Elements, Entry, Found
from makespan.taskgraph.model.dag import Dag

DEEPEST = 50
MAX_PRODUCTS = 1_000_000  # edges that groups (``{a b} -> {c d}``) may make in one file

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|(?<![^\s;{}\]])\#[^\n]*|/\*.*?\*/)
      |(?P<quoted>"[^"\\]*+(?>(?:\\.[^"\\]*+)*)")
      |(?P<open>/\*|")
      |(?P<html><)
      |(?P<arrow>->|--)
      |(?P<mark>[{}\[\];,=:+])
      |(?P<number>-?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?+\d++)?(?![\w.]))
      |(?P<word>(?:[^\s{}\[\];,=:+"<>/-]|/(?![/*]))+)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r'\\(["\\]|\r?\n)')


def read(text: str) -> Dag:
    """Return the graph in ``text``.

    Raises FileError if it is not a ``digraph``, or a work or size is not a number; with the line.

    >>> dag = read('digraph { a [Weight=2]; b [cost=1]; a -> b [size=4]; }')
    >>> dag.names, dag.work.tolist(), dag.size.tolist()
    (('a', 'b'), [2.0, 1.0], [4.0])
    """
    return _Parser(text).dag()


def labelled(text: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the label of each node, else its name, and the edges.

    >>> labelled('digraph { a [label="cc"]; a -> b }')
    ({'a': 'cc', 'b': 'b'}, [('a', 'b')])
    """
    nodes, edges = _Parser(text).elements()
    labels = {name: str(entry[LABEL].value if LABEL in entry else name) for name, entry in nodes}
    return labels, [(a, b) for a, b, _ in edges]


def write(dag: Dag) -> str:
    """Return the graph in DOT."""
    lines = ["digraph tasks {"]
    for name, work, cores in zip(dag.names, dag.work.tolist(), dag.cores.tolist(), strict=True):
        several = f", cores={cores}" if cores > 1 else ""
        lines.append(f"  {_quoted(name)} [work={work!r}{several}];")
    for a, b, size in zip(dag.source.tolist(), dag.target.tolist(), dag.size.tolist(), strict=True):
        lines.append(f"  {_quoted(dag.names[a])} -> {_quoted(dag.names[b])} [size={size!r}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class _Token(NamedTuple):
    """A word or a mark, its kind, and where it stands."""

    text: str
    kind: str
    place: int

    def __str__(self) -> str:
        return self.text

    @property
    def keyword(self) -> str:
        return self.text.lower() if self.kind == "word" else ""


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        kind = found.lastgroup if found is not None else None
        if found is None or kind is None or kind == "open":
            fault = "is opened and never closed" if kind == "open" else "is not DOT"
            raise _fault(text, place, f"{quoted(text[place : place + 20])} {fault}")
        end = _html_end(text, place) if kind == "html" else found.end()
        if kind != "space":
            yield _Token(text[place:end], kind, place)
        place = end
    yield _Token("", "end", len(text))


def _html_end(text: str, start: int) -> int:
    """Return the place behind an HTML text, whose angle brackets are balanced."""
    depth = 0
    for bracket in re.compile("[<>]").finditer(text, start):
        depth += 1 if bracket[0] == "<" else -1
        if not depth:
            return bracket.end()
    raise _fault(text, start, f"{quoted(text[start : start + 20])} is opened and never closed")


def _line(text: str, place: int) -> str:
    return f"line {text.count(chr(10), 0, place) + 1}"


def _fault(text: str, place: int, message: str) -> FileError:
    return FileError(f"{_line(text, place)}: {message}")


class _Parser:
    """Reads statements one after another; nodes and edges keep their order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._token = next(self._tokens)
        self._elements = Elements(self._place, self._place)
        self._works, self._sizes = self._elements.works, self._elements.sizes
        self._nodes: dict[str, dict[str, Found]] = {}
        self._edges: list[tuple[str, str, Entry]] = []
        self._products = 0

    def _place(self, place: int, _: str) -> str:
        return _line(self._text, place)

    def dag(self) -> Dag:
        return Dag(**self._elements.arguments(*self.elements(), Mistakes()))

    def elements(self) -> tuple[list[tuple[str, Entry]], list[tuple[str, str, Entry]]]:
        strict = self._token.keyword == "strict"
        if strict:
            self._next()
        if self._token.keyword != "digraph":
            raise FileError(
                f"begins with {quoted(self._token.text)}; a graph of tasks is a digraph"
            )
        self._next()
        if self._token.text != "{":
            self._name()
        self._expect("{")
        self._statements({}, {}, 0)
        self._expect("}")
        if self._token.kind != "end":
            raise self._wrong("where the graph has ended; one graph is read")
        if strict:  # an edge that is repeated adds to its attributes
            merged: dict[tuple[str, str], Entry] = {}
            for a, b, entry in self._edges:
                merged[a, b] = {**merged.get((a, b), {}), **entry}
            self._edges = [(a, b, entry) for (a, b), entry in merged.items()]
        return [*self._nodes.items()], self._edges

    def _wrong(self, rest: str) -> FileError:
        return _fault(self._text, self._token.place, f"has {quoted(self._token.text)} {rest}")

    def _next(self) -> _Token:
        token = self._token
        if token.kind == "end":
            raise FileError("ends too early")
        self._token = next(self._tokens)
        return token

    def _expect(self, mark: str) -> None:
        if self._token.text != mark:
            raise self._wrong(f"where {mark!r} should be")
        self._next()

    def _name(self) -> str:
        if self._token.kind in ("mark", "arrow"):
            raise self._wrong("where a name should be")
        token = self._next()
        name = token.text
        if token.kind == "quoted":
            name = _unquoted(name)
            while self._token.text == "+":
                self._next()
                if self._token.kind != "quoted":
                    raise self._wrong("where a text in quotes should be")
                name += _unquoted(self._next().text)
        return name

    def _node(self) -> str:
        name = self._name()
        while self._token.text == ":":  # a port
            self._next()
            self._name()
        return name

    def _statements(self, node: Entry, edge: Entry, depth: int) -> dict[str, None]:
        """Read statements up to a closing brace; return the nodes named in them."""
        if depth > DEEPEST:
            raise _fault(self._text, self._token.place, f"nests subgraphs deeper than {DEEPEST}")
        named: dict[str, None] = {}
        while self._token.kind != "end" and self._token.text != "}":
            if self._token.text in (";", ","):
                self._next()
            elif self._token.keyword in ("node", "edge", "graph"):
                about = self._next().keyword
                if about == "node":
                    node = {**node, **self._attributes(self._works)}
                elif about == "edge":
                    edge = {**edge, **self._attributes(self._sizes)}
                else:
                    self._attributes(None)
            else:
                named.update(self._chain(node, edge, depth))
        return named

    def _chain(self, node: Entry, edge: Entry, depth: int) -> dict[str, None]:
        """Read ``a``, ``a -> b -> c`` or ``key = value``; return the nodes named."""
        first = self._group(node, edge, depth)
        if isinstance(first, str) and self._token.text == "=":
            self._next()
            self._name()
            return {}
        groups = [self._noted(first, node)]
        while self._token.kind == "arrow":
            if self._token.text == "--":
                raise self._wrong("where '->' should be: an edge of a digraph")
            self._next()
            groups.append(self._noted(self._group(node, edge, depth), node))
        if len(groups) == 1:
            if isinstance(first, str):
                self._nodes[first].update(self._attributes(self._works))
            return groups[0]
        attributes = {**edge, **self._attributes(self._sizes)}
        for before, after in pairwise(groups):
            self._count_product(len(before) * len(after))
            self._edges += [(a, b, attributes) for a in before for b in after]
        return {name: None for group in groups for name in group}

    def _count_product(self, edges: int) -> None:
        self._products += edges if edges > 1 else 0
        if self._products > MAX_PRODUCTS:
            raise _fault(
                self._text,
                self._token.place,
                f"groups make more than {MAX_PRODUCTS} edges, the most that are read",
            )

    def _group(self, node: Entry, edge: Entry, depth: int) -> str | dict[str, None]:
        """Read a name, or a subgraph; of that return its nodes."""
        if self._token.keyword == "subgraph":
            self._next()
            if self._token.text != "{":
                self._name()
            if self._token.text != "{":
                raise self._wrong("where '{' should be")
        if self._token.text == "{":
            self._next()
            named = self._statements(node, edge, depth + 1)
            self._expect("}")
            return named
        return self._node()

    def _noted(self, group: str | dict[str, None], node: Entry) -> dict[str, None]:
        """Note a node with its defaults when it is named first; return the nodes of a group."""
        if not isinstance(group, str):
            return group
        if group not in self._nodes:
            self._nodes[group] = dict(node)
        return {group: None}

    def _attributes(self, column: Column | None) -> dict[str, Found]:
        """Read ``[key=value, ...]``; return what matters for the column."""
        found: dict[str, Found] = {}
        while self._token.text == "[":
            self._next()
            while self._token.text != "]":
                if self._token.text in (";", ","):
                    self._next()
                    continue
                key, place = self._name(), self._token.place
                value = "true"
                if self._token.text == "=":
                    self._next()
                    place = self._token.place
                    value = self._name()
                if column is not None:
                    found |= column.entry([(key, value)], place)
            self._next()
        return found


def _unquoted(text: str) -> str:
    if "\\" not in text:
        return text[1:-1]
    return _ESCAPED.sub(lambda found: found[1] if found[1] in '"\\' else "", text[1:-1])
