"""The page of the studio: files, and what it shares with the page of a plan."""

import json
from functools import cache
from importlib.resources import files
from string import Template

from makespan.drawing.page.html import SCRIPTS, colours, shared
from makespan.studio.exercises import exercises

TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".json": "application/json",
}
OWN_START = "page.js"  # the script that starts a plan's page; the studio has a start of its own


@cache
def assets() -> dict[str, tuple[str, bytes]]:
    """Return what a server hands out: by the path of its address, the media type and the content.

    >>> assets()["/drawing/draw.js"][0]
    'text/javascript; charset=utf-8'
    """
    room = files("makespan.studio.page")
    found = {
        f"/studio/{entry.name}": entry.read_text("utf-8")
        for entry in room.iterdir()
        if entry.name.endswith((".js", ".css"))
    }
    found |= {f"/drawing/{name}": shared(name) for name in SCRIPTS if name != OWN_START}
    found["/drawing/page.css"] = shared("page.css")
    found["/drawing/colours.css"] = colours()
    index = Template((room / "index.html").read_text("utf-8"))
    found["/exercises.json"] = json.dumps(exercises())
    texts = {"/": index.substitute(tools=shared("tools.html")), **found}
    return {path: (_type(path), text.encode()) for path, text in texts.items()}


def _type(path: str) -> str:
    suffix = path[path.rfind(".") :] if "." in path else ".html"
    return f"{TYPES[suffix]}; charset=utf-8"
