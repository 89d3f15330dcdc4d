"""Notebooks of the site: cells in Python files, run where the site is built, with what they show.

A file in ``docs/notebooks`` is a script with cells (``# %%``, ``# %% [markdown]``), for Jupyter by
Jupytext. Its cells run one after another in a folder of their own, which has the repository's
``examples``; the page shows what each returns and prints, and the pictures that it writes there.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jupytext
from markdown.extensions.toc import slugify
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "docs" / "notebooks"
PICTURES = (".svg", ".png")
SHOWN = (*PICTURES, ".html")
GALLERY = "gallery"
"""The notebook whose pictures stand together at its head, too."""
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
IMAGE = re.compile(r'<img [^>]*src="([^"]+)"')
TERMINAL = re.compile(r"\x1b\[[0-9;]*m")
LONGEST = 60  # seconds of a cell
shown: dict[str, str] = {}
"""What stands for outputs while Markdown is read, and the outputs."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Run the notebooks and add their pages, pictures and files for Jupyter."""
    for path in sorted(NOTEBOOKS.glob("*.py")):
        for name, content in told(path, path.read_text("utf-8")).items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put outputs where they belong."""
    return re.sub(r"<p>(OUTPUT-\d+-OF-[\w-]+)</p>", lambda found: shown[found[1]], html)


@functools.cache  # a site that is served is built again at every change of a page
def told(path: Path, source: str) -> dict[str, str | bytes]:
    """Run a notebook; return its page and the files beside that, by name."""
    notebook = jupytext.reads(source, fmt="py:percent")
    name = path.stem
    files: dict[str, str | bytes] = {f"{name}.ipynb": jupytext.writes(notebook, fmt="ipynb")}
    parts = []
    pictures: dict[str, str] = {}
    heading: list[str] = []
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "examples").symlink_to(ROOT / "examples")
        for cell in run(notebook, folder):
            if cell.cell_type == "markdown":
                parts.append(cell.source)
                heading = HEADING.findall(cell.source)[-1:] or heading
                continue
            parts.append(f"```python\n{cell.source}\n```")
            for output in [*outputs(cell.outputs), *written(folder, name, files)]:
                key = f"OUTPUT-{len(shown)}-OF-{name}"
                shown[key] = f'<div class="output">{output}</div>'
                parts.append(key)
                if heading and (found := IMAGE.search(output)):
                    pictures.setdefault(heading[0], found[1])
    title, _, rest = "\n\n".join(parts).partition("\n")
    note = f"Run when this page was made; [{name}.ipynb]({name}.ipynb) is the same for Jupyter."
    if name == GALLERY:
        shown[f"OUTPUT-0-OF-{name}-cards"] = "".join(cards(pictures))
        rest = f"\n\nOUTPUT-0-OF-{name}-cards\n\n{rest}"
    files[f"{name}.md"] = f"{title}\n\n{note}\n{{ .notebook }}\n{rest}\n"
    return files


def cards(pictures: dict[str, str]) -> Iterator[str]:
    """Yield pictures that lead to the sections of their names, side by side."""
    yield '<div class="cards">'
    for title, source in pictures.items():
        yield f'<a href="#{slugify(title, "-")}"><img alt="" src="{source}">{escape(title)}</a>'
    yield "</div>"


def run(notebook: Any, folder: Path) -> Iterator[Any]:
    """Yield the cells, each after it was run."""
    os.environ |= {"COLUMNS": "120", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    client = NotebookClient(notebook, timeout=LONGEST, resources={"metadata": {"path": folder}})
    kernel = client.create_kernel_manager()
    if os.name == "posix":  # sockets in the folder, not open to other users of the machine
        kernel.transport, kernel.ip = "ipc", str(folder / "kernel")
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type == "code":
                client.execute_cell(cell, index)
            yield cell


def outputs(found: Any) -> Iterator[str]:
    """Yield what a cell printed and returned, as HTML."""
    for stream, together in itertools.groupby(found, lambda output: output.output_type == "stream"):
        if stream:
            yield _text("".join(output.text for output in together))
        else:
            yield from (_data(output.data) for output in together)


def _data(data: Any) -> str:
    for form in ("text/html", "image/svg+xml"):
        if form in data:
            return str(data[form])
    if "image/png" in data:
        return f'<img alt="" src="data:image/png;base64,{data["image/png"].strip()}">'
    return _text(data["text/plain"])


def _text(text: str) -> str:
    return f"<pre><code>{escape(TERMINAL.sub('', text).rstrip())}</code></pre>"


def written(folder: Path, name: str, files: dict[str, str | bytes]) -> Iterator[str]:
    """Yield the pictures and pages that came into the folder, and keep them beside the page."""
    for path in sorted(folder.iterdir(), key=os.path.getmtime):
        if path.suffix not in SHOWN or f"{name}-{path.name}" in files:
            continue
        own = f"{name}-{path.name}"
        files[own] = path.read_bytes()
        if path.suffix in PICTURES:
            yield f'<img alt="{path.stem}" src="{own}">'
        else:
            yield f'<iframe title="{path.stem}" src="{own}" loading="lazy"></iframe>'
