"""The problems that the page offers to begin with."""

from __future__ import annotations

import tomllib
from importlib.resources import files


def examples() -> list[dict[str, str]]:
    """Return each example: its name, its kind, its title and its text.

    >>> sorted({example["kind"] for example in examples()})
    ['divisible', 'independent', 'partition', 'reduction', 'taskgraph']
    """
    found = []
    room = files("makespan.studio") / "examples"
    for path in sorted(room.iterdir(), key=lambda path: path.name):
        if path.name.endswith(".toml"):
            text = path.read_text("utf-8")
            title = text.partition("\n")[0].removeprefix("#").strip()
            kind = tomllib.loads(text)["kind"]
            found.append(
                {
                    "name": path.name.removesuffix(".toml"),
                    "kind": kind,
                    "title": title,
                    "toml": text,
                }
            )
    return found
