"""Parts of a problem that are given beside its file, and take the place of its own."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from makespan.core.errors import FileError, Mistake, ProblemError
from makespan.flow.files.documents import parsed


def with_parts(data: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents of a file with parts in the place of its own.

    A name with dots reaches into tables: ``network.rate``. Of a task graph ``machines`` (how many)
    and ``speeds`` stand for machines that are linked each to each, at the rate of the file. A
    ``network`` may be the path of a file that holds one.

    >>> with_parts({"kind": "divisible", "load": 1}, {"load": 2, "platform.send": 3})
    {'kind': 'divisible', 'load': 2, 'platform': {'send': 3}}
    """
    found = dict(data)
    for name, value in resolved(parts).items():
        *tables, last = name.split(".")
        inside = found
        for table in tables:
            inner = inside.get(table, {})
            if not isinstance(inner, Mapping):
                raise ProblemError([Mistake(name, f"{table} is not a table of keys and values")])
            inside[table] = inside = dict(inner)
        inside[last] = value
    if found.get("kind") == "taskgraph" and ("machines" in found or "speeds" in found):
        machines, speeds = found.pop("machines", None), found.pop("speeds", None)
        before = found.get("network")
        rate = before.get("rate", 1.0) if isinstance(before, Mapping) else 1.0
        entries = [{"speed": speed} for speed in _speeds(machines, speeds)]
        found["network"] = {"machines": entries, "rate": 1.0 if isinstance(rate, list) else rate}
    elif found.get("kind") == "independent" and "speeds" in parts and "machines" not in parts:
        found["machines"] = len(parts["speeds"])
    return found


def _speeds(machines: Any, speeds: Any) -> list[Any]:
    if speeds is None:
        return [1.0] * machines
    if machines not in (None, len(speeds)):
        text = f"holds {len(speeds)} for {machines} machines; one of the two is enough"
        raise ProblemError([Mistake("speeds", text)])
    return list(speeds)


def resolved(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return parts with the network that a file holds in the place of its path.

    Raises FileError if the file holds no network.
    """
    found = dict(parts)
    network = found.get("network")
    if isinstance(network, (str, PathLike)):
        data = parsed(network)
        table = data.get("network", data)
        if not isinstance(table, dict) or "machines" not in table:
            raise FileError(f"{fspath(network)}: holds no network; it is a table with machines")
        found["network"] = table
    return found


def named_with(name: str, parts: Mapping[str, Any]) -> str:
    """Return the name of an instance that is read with parts: another name for another problem.

    >>> named_with("a/b.dot", {"machines": 8, "network": "nets/slow.toml"})
    'a/b.dot machines=8 network=slow.toml'
    """
    words = [f"{key}={str(value).rpartition('/')[2]}" for key, value in sorted(parts.items())]
    return " ".join([name, *words])
