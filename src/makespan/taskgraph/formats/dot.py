"""DOT: the language of Graphviz, as far as graphs of tasks need it.

Read are ``digraph``, nodes and edges with attributes, chains ``a -> b -> c``, groups
``{a b} -> c``, defaults ``node [...]`` and ``edge [...]``, subgraphs (their nodes and edges),
quoted names and comments. Work is the attribute ``work``, ``weight`` or ``size`` of a node, size
is ``size``, ``weight`` or ``label`` of an edge, where these are numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from makespan.core.errors import FileError
from makespan.core.mistakes import shown
from makespan.taskgraph.dag import Dag

DEEPEST = 50
WORK_KEYS = ("work", "weight", "size")
SIZE_KEYS = ("size", "weight", "label")

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/)
      |(?P<quoted>"(?:[^"\\]|\\.)*")
      |(?P<arrow>->|--)
      |(?P<mark>[{}\[\];,=:])
      |(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
      |(?P<word>[^\s{}\[\];,=:"-]+)""",
    re.VERBOSE | re.DOTALL,
)


def read(text: str, *, default_work: float = 1.0, default_size: float = 0.0) -> Dag:
    """Return the graph in ``text``.

    Raises
    ------
    FileError
        If it is not a ``digraph``.

    >>> dag = read('digraph { a [work=2]; a -> b [size=4]; }')
    >>> dag.names, dag.work.tolist(), dag.size.tolist()
    (('a', 'b'), [2.0, 1.0], [4.0])
    """
    return _Parser(text, default_work, default_size).dag()


def write(dag: Dag) -> str:
    """Return the graph in DOT."""
    lines = ["digraph tasks {"]
    for name, work in zip(dag.names, dag.work.tolist(), strict=True):
        lines.append(f"  {_quoted(name)} [work={work!r}];")
    for a, b, size in zip(dag.source.tolist(), dag.target.tolist(), dag.size.tolist(), strict=True):
        lines.append(f"  {_quoted(dag.names[a])} -> {_quoted(dag.names[b])} [size={size!r}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _tokens(text: str) -> Iterator[str]:
    """Yield words and marks; a quoted text is a word that begins with a quote."""
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            line = text.count("\n", 0, place) + 1
            raise FileError(f"line {line}: {shown(text[place : place + 20])} is not DOT")
        place = found.end()
        if found.lastgroup != "space":
            yield found.group()
    yield ""


Attributes = dict[str, str]


class _Parser:
    """Reads statements one after another; nodes and edges keep their order."""

    def __init__(self, text: str, default_work: float, default_size: float) -> None:
        self._tokens = _tokens(text)
        self._token = next(self._tokens)
        self._nodes: dict[str, Attributes] = {}
        self._edges: list[tuple[str, str, Attributes]] = []
        self._default_work, self._default_size = default_work, default_size

    def dag(self) -> Dag:
        if self._token.lower() == "strict":
            self._next()
        if self._token.lower() != "digraph":
            raise FileError(f"begins with {shown(self._token)}; a graph of tasks is a digraph")
        self._next()
        if self._token != "{":
            self._next()
        self._expect("{")
        self._statements({}, {}, 0)
        self._expect("}")
        tasks = [
            (name, _number(attributes, WORK_KEYS, self._default_work))
            for name, attributes in self._nodes.items()
        ]
        edges = [
            (a, b, _number(attributes, SIZE_KEYS, self._default_size))
            for a, b, attributes in self._edges
        ]
        return Dag(tasks, edges)

    def _next(self) -> str:
        token = self._token
        if not token:
            raise FileError("ends too early")
        self._token = next(self._tokens)
        return token

    def _expect(self, mark: str) -> None:
        if self._token != mark:
            raise FileError(f"has {shown(self._token)} where {mark!r} should be")
        self._next()

    def _name(self) -> str:
        token = self._next()
        if token in "{}[];,=:" or token in ("->", "--"):
            raise FileError(f"has {shown(token)} where a name should be")
        name = re.sub(r"\\(.)", r"\1", token[1:-1]) if token[0] == '"' else token
        while self._token == ":":  # a port
            self._next()
            self._next()
        return name

    def _statements(self, node: Attributes, edge: Attributes, depth: int) -> list[str]:
        """Read statements up to a closing brace; return the nodes named in them."""
        if depth > DEEPEST:
            raise FileError(f"nests subgraphs deeper than {DEEPEST}")
        node, edge = dict(node), dict(edge)
        named: list[str] = []
        while self._token and self._token != "}":
            if self._token in (";", ","):
                self._next()
            elif self._token.lower() in ("node", "edge", "graph"):
                defaults = {"node": node, "edge": edge, "graph": {}}[self._next().lower()]
                defaults.update(self._attributes())
            else:
                named += self._chain(node, edge, depth)
        return named

    def _chain(self, node: Attributes, edge: Attributes, depth: int) -> list[str]:
        """Read ``a``, ``a -> b -> c`` or ``key = value``; return the nodes named."""
        groups = [self._group(node, edge, depth)]
        if self._token == "=":
            self._next()
            self._name()
            for name in groups[0]:
                if not self._nodes[name]:
                    del self._nodes[name]
            return []
        while self._token in ("->", "--"):
            if self._next() == "--":
                raise FileError("has an edge '--'; edges of a digraph are '->'")
            groups.append(self._group(node, edge, depth))
        attributes = self._attributes()
        if len(groups) == 1:
            for name in groups[0]:
                self._nodes[name].update(attributes)
        for before, after in pairwise(groups):
            self._edges += [(a, b, {**edge, **attributes}) for a in before for b in after]
        return [name for group in groups for name in group]

    def _group(self, node: Attributes, edge: Attributes, depth: int) -> list[str]:
        """Read a name or a subgraph; return its nodes."""
        if self._token.lower() == "subgraph":
            self._next()
            if self._token != "{":
                self._name()
        if self._token == "{":
            self._next()
            named = self._statements(node, edge, depth + 1)
            self._expect("}")
            return list(dict.fromkeys(named))
        name = self._name()
        self._nodes.setdefault(name, dict(node))
        return [name]

    def _attributes(self) -> Attributes:
        found: Attributes = {}
        while self._token == "[":
            self._next()
            while self._token != "]":
                if self._token in (";", ","):
                    self._next()
                    continue
                key = self._name()
                found[key] = "true"
                if self._token == "=":
                    self._next()
                    found[key] = self._name()
            self._next()
        return found


def _number(attributes: Attributes, keys: tuple[str, ...], default: float) -> float:
    for key in keys:
        if key in attributes:
            try:
                return float(attributes[key])
            except ValueError:
                continue
    return default
