"""The page to try makespan on: one file, whose script computes by itself, without a server.

The scripts of the studio and of plans' pages are modules. A page that is opened as a file may load
none, so that it holds them, in an import map.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from makespan.drawing.colours import FILL
from makespan.drawing.page.html import embedded
from makespan.studio.exercises import exercises
from makespan.studio.page import assets

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

HERE = Path(__file__).parent / "play"
STYLES = ("/drawing/colours.css", "/drawing/page.css", "/studio/studio.css")
IMPORT = re.compile(r'(?<=from ")\.\.?/(?:(\w+)/)?(?=\w+\.js")')
"""The folder of a module that another one imports."""
PICTURE = re.compile(r"!\[[^]]*\]\(images/try\.png[^\n]*")
FRAME = """<iframe class="try" src="play.html" title="A page to plan with"></iframe>

[The page alone](play.html)."""


def examples() -> list[dict[str, object]]:
    """Return the exercises that the page can plan: small graphs and stars without latencies."""
    return [
        {key: exercise[key] for key in ("title", "question", "best", "problem")}
        for kind in ("taskgraph", "divisible")
        for exercise in exercises()[::-1]
        if exercise["problem"]["kind"] == kind and "communication" not in exercise["problem"]
    ]


def html() -> str:
    """Return the page."""
    texts = {path: content.decode() for path, (_, content) in assets().items()}
    scripts = {path[1:]: text for path, text in texts.items() if path.endswith(".js")}
    scripts |= {f"site/{path.name}": path.read_text("utf-8") for path in HERE.glob("*.js")}
    needed, modules = ["site/play.js"], {}
    for name in needed:
        folder = name.partition("/")[0]
        text = IMPORT.sub(lambda found, own=folder: f"{found[1] or own}/", scripts[name])
        modules[name] = f"data:text/javascript;base64,{base64.b64encode(text.encode()).decode()}"
        needed += [each for each in re.findall(r'from "(.+?)"', text) if each not in needed]
    return Template((HERE / "play.html").read_text("utf-8")).substitute(
        {role.name.lower(): fill for role, fill in FILL.items()},
        style="".join(texts[path] for path in STYLES),
        exercises=embedded(examples()),
        modules=json.dumps({"imports": modules}),
    )


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "play.html", content=html()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the page itself in the place of its picture."""
    return PICTURE.sub(FRAME, markdown)
