"""Pages of the site that are made: the API, the methods, the forms of files, the figures."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import makespan
from makespan.cli.main import COMMANDS, cli
from makespan.core.inputs.rules import GREATEST, LEAST
from makespan.flow.kinds import KINDS, kind_named

os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # of the theme: thirty lines about the future
sys.path.insert(0, str(Path(__file__).parent))  # where mkdocs finds no modules of hooks
import reference

ROOT = Path(__file__).parents[2]
TOGETHER = ROOT / "build" / "modules"  # where mkdocs.yml says that they are
SOURCE = "https://github.com/makespan/makespan/blob/main/"
TABLES = sorted((ROOT / "docs" / "benchmarks").glob("*.md"))
AREAS = {
    "Divisible loads": "affine|closed|divisible|dlt|multi_round|prices|trees",
    "Partition": "partition",
    "Task graphs": "auckland|heft|saga|stg|taskgraph",
    "Collectives": "allreduce|collective|mpi|reduction",
    "Independent tasks": "balance|board|experts|fanjul|frangioni",
    "Pipelines": "pipelines",
    "Dask, other pools, pytest, Snakemake, Flower": "dask|flower|pools|pytest|snakemake",
}
AREAS["Scale, start-up, studio"] = f"(?!{'|'.join(AREAS.values())})"
"""Of each area the beginnings of its tables' names."""
FOUND = (("figures.md", 0.5), ("reference/", 0.5), ("changelog", 0.2), ("notebooks/", 1))
"""How much search prefers pages to others, by their place; the guide is found first."""
DOWNLOADS = {"src/makespan/balance.py": "balance.py"}
"""Files that are copied from the site, and where they are on it."""
UPWARDS = re.compile(r"\]\(((?:\.\./)+)([\w./-]+)\)")
"""Links of a page to what is above it."""
FIGURE = re.compile(r"\]\(((?:\.\./)*)benchmarks/(\w+)\.md\)")
"""Links to a table of measurements."""
EMPTY = re.compile(r"<th[^>]*></th>")
"""Heads of columns that have no name, which screen readers would read."""
ALONE = re.compile(r'(?<!>)(<img [^>]*src="([^":]+)"[^>]*>)(?!</a>)')
"""Pictures that lead nowhere."""
DOI = re.compile(r"\bdoi:(10\.\d+/[^\s<]+)")
UNITS = re.compile(
    r"(?<=\d) (?=(?:[mµ]?s|[kMG]B|%)[ ,)]|of \d)|(?<=\d of) (?=\d)|"
    r"(?<=[\d%×s]) (?=to \d)|(?<=[\d%×s] to) (?=\d)"
)
"""Spaces of figures in a table, where no line is to break."""
NAMES = re.compile(r"(?<=^\| )[^|`[]{15,}(?= \|)", re.MULTILINE)
"""Long names of rows, which break into lines of some words, not of one."""
LABELLED = re.compile(r'aria-labelledby="__nav((?:_\d+)+)_label"')
"""What names a list of pages of the navigation."""
TYPED = re.compile(r"<p>((?:[A-Z_]+=\S+ )?makespan [^<]*|[^<]*\S {2,}\S[^<]*)</p>")
"""Examples and columns of a command's help, which are lines of their own."""


def on_startup(**_: Any) -> None:
    """Copy all modules of makespan into one folder: the reference looks for a package in one."""
    shutil.rmtree(TOGETHER, ignore_errors=True)
    for modules in (ROOT / "src" / "makespan", *ROOT.glob("packages/*/src/makespan")):
        shutil.copytree(modules, TOGETHER / "makespan", dirs_exist_ok=True)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    pages = {
        **dict(commands()),
        **dict(methods()),
        **dict(forms()),
        "figures.md": "".join(figures()),
        **dict(tables()),
        "changelog.md": _of_the_root("CHANGELOG.md"),
        "contributing.md": _of_the_root("CONTRIBUTING.md"),
    }
    for path, text in {**pages, **downloads()}.items():
        files.append(File.generated(config, path, content=text))
    for file in reference.pages(config):
        files.append(file)
    return files


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the pages of names and of tables in the navigation, below their own index."""
    listed = {
        reference.INDEX: {"Python": reference.in_nav()},
        "reference/commands.md": {"Command line": [path for path, _ in commands()]},
        "reference/methods.md": {"Methods": [path for path, _ in methods()]},
        "reference/forms.md": {"File schema": [path for path, _ in forms()]},
        "figures.md": {"Tables": by_area()},
    }

    def filled(entry: Any) -> Any:
        if isinstance(entry, dict):
            return {title: filled(found) for title, found in entry.items()}
        if isinstance(entry, list):
            return [filled(each) for each in entry]
        return listed.get(entry, entry)

    config.nav = filled(config.nav)
    return config


def downloads() -> dict[str, bytes]:
    """Return the files that pages offer as they are, by their place on the site."""
    return {place: (ROOT / source).read_bytes() for source, place in DOWNLOADS.items()}


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links that leave the folder of pages to the source, those to tables to their page."""
    place = page.file.src_uri
    depth = place.count("/")
    if "search" not in page.meta:
        page.meta["search"] = {"boost": next((at for end, at in FOUND if place.startswith(end)), 2)}
    if place.startswith("figures/"):
        page.meta["search"] = {"exclude": True}

    def pointed(link: re.Match[str]) -> str:
        outside = link[1].count("../") > depth
        if outside and link[2] in DOWNLOADS:
            return f"]({link[1][3:]}{DOWNLOADS[link[2]]})"
        return f"]({SOURCE}{link[2]})" if outside else link[0]

    return FIGURE.sub(r"](\1figures/\2.md)", UPWARDS.sub(pointed, markdown))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Show examples of commands as they are typed; let works and pictures lead to themselves."""
    html = EMPTY.sub("<td></td>", html)
    html = ALONE.sub(r'<a href="\2" title="The picture alone">\1</a>', html)
    if page.file.src_uri.startswith("reference/commands/"):
        return TYPED.sub(r"<pre><code>\1</code></pre>", html)
    if page.file.src_uri == "references.md":
        return DOI.sub(r'<a href="https://doi.org/\1">doi:\1</a>', html)
    return html


def on_post_page(html: str, page: Page, config: MkDocsConfig) -> str:
    """Name the theme's dialog, and each list of pages by all that it is in."""
    html = html.replace('role="dialog"', 'role="dialog" aria-label="Search"')
    return LABELLED.sub(lambda found: f'aria-labelledby="{_ancestry(found[1])}"', html)


def _ancestry(numbers: str) -> str:
    """Return the labels of a list of pages and of those around it, by their identifiers.

    >>> _ancestry("_5_1")
    '__nav_5_label __nav_5_1_label'
    """
    parts = numbers.split("_")[1:]
    return " ".join(f"__nav_{'_'.join(parts[:end])}_label" for end in range(1, len(parts) + 1))


def _of_the_root(name: str) -> str:
    """Return a page that stands in the root of the repository."""
    return (ROOT / name).read_text("utf-8").replace("](docs/", "](")


def commands() -> Iterator[tuple[str, str]]:
    """Yield a page for each command, after the one that lists them."""
    listed = [f"| [`{name}`](commands/{name}.md) | {said} |\n" for name, said in COMMANDS.items()]
    yield (
        "reference/commands.md",
        "# Command line\n\nWhat `makespan COMMAND --help` prints, command by command. "
        "[Files and exit codes](../command_line.md) says what is the same in all commands.\n\n"
        "| command | what it does |\n|---|---|\n" + "".join(listed),
    )
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        module = sys.modules[command.callback.__module__]
        variable = next(key for key, found in vars(module).items() if found is command)
        yield f"reference/commands/{name}.md", COMMAND.format(name, module.__name__, variable)


COMMAND = """::: mkdocs-click
    :module: {1}
    :command: {2}
    :prog_name: makespan {0}
    :style: plain
    :depth: 0
"""

TITLES = {
    "divisible": ("Divisible loads", "divisible.md", "divisible-loads"),
    "independent": ("Independent tasks", "independent.md", "independent-tasks"),
    "partition": ("Partition", "partition.md", "partition"),
    "pipeline": ("Pipelines", "pipeline.md", "pipeline.md#in-files"),
    "reduction": ("Collectives", "reduction.md", "collectives"),
    "taskgraph": ("Task graphs", "taskgraph.md", "task-graphs"),
}
"""Of each kind the title, the page, and the section on its files, of `files.md` or another page."""


def methods() -> Iterator[tuple[str, str]]:
    """Yield a page of methods for each kind, from the register, after the one that lists them."""
    found = {kind: makespan.methods(kind) for kind in KINDS}
    yield (
        "reference/methods.md",
        f"# Methods\n\nWhat `makespan methods KIND` lists. {MARKED} Works are cited by their short "
        "form among the [references](../references.md).\n\n"
        "| problem | methods | which when |\n|---|--:|---|\n"
        + "".join(
            _row(f"[{title}](methods/{kind}.md)", str(len(found[kind])), f"[guide](../{page})")
            for kind, (title, page, _) in TITLES.items()
        ),
    )
    for kind, (title, page, _) in TITLES.items():
        yield (
            f"reference/methods/{kind}.md",
            f'# Methods for {title.lower()}\n\n{len(found[kind])} methods, `kind = "{kind}"`; '
            f'[which when](../../{page}). {MARKED}\n\n<div class="methods" markdown>\n\n'
            + _row("method", "does", "complexity", "source")
            + "|---|---|---|---|\n"
            + "".join(_row(*_described(verdict.method)) for verdict in found[kind])
            + "\n</div>\n",
        )


MARKED = (
    "A method in **bold** proves its plans optimal; one in *italics* is kept for comparison, "
    "`auto` never picks it."
)


def _described(method: Any) -> tuple[str, str, str, str]:
    """Return the row of a method: its name as ``MARKED`` says, and what is known of it."""
    name = f"`{method.name}`"
    name = f"**{name}**" if method.proves else name
    name = f"*{name}*" if method.published else name
    return name, method.summary, method.complexity, method.source


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def forms() -> Iterator[tuple[str, str]]:
    """Yield a page of what files of a kind may hold, by their JSON Schemas, after the index."""
    listed = [f"- [{title}](forms/{kind}.md)\n" for kind, (title, _, _) in TITLES.items()]
    yield (
        "reference/forms.md",
        "# File schema\n\nMade from the JSON Schemas that `makespan schema KIND` prints. "
        "[Files](../files.md) says how files are read.\n\n" + "".join(listed),
    )
    for kind, (title, _, section) in TITLES.items():
        yield f"reference/forms/{kind}.md", "".join(_forms_of(kind, title, section))


def _forms_of(kind: str, title: str, section: str) -> Iterator[str]:
    schema = kind_named(kind).file.schema()
    place = section if "#" in section else f"files.md#{section}"
    yield f'# File schema: {title.lower()}\n\n`kind = "{kind}"`; [in words and by example]'
    yield f"(../../{place}). A key in **bold** must be there.\n\n" + _table(schema, kind)
    for name, form in sorted(schema.get("$defs", {}).items()):
        if "properties" in form:
            yield f"\n## {_title(name)} {{#{kind}-{name.lower()}}}\n\n"
            yield form.get("description", "") + "\n\n" + _table(form, kind)


def _table(form: dict[str, Any], kind: str) -> str:
    rows = ["| key | value | if left out |\n", "|---|---|---|\n"]
    for key, field in form.get("properties", {}).items():
        must = key in form.get("required", ())
        said = _type(field, kind)
        if "description" in field:
            said += f": {field['description']}"
        left_out = None if must else field.get("default")
        default = "" if left_out in (None, "") else f"`{_told(left_out)}`"
        rows.append(_row(f"**`{key}`**" if must else f"`{key}`", said, default))
    return "".join(rows)


def _told(value: Any) -> str:
    """Return a value as files have it."""
    return json.dumps(value, ensure_ascii=False)


def _title(name: str) -> str:
    """Return the name of a form in words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.removesuffix("Form")).capitalize()


def _type(field: dict[str, Any], kind: str) -> str:
    """Return what a field may be, in words."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{_title(name).lower()}](#{kind}-{name.lower()})"
    for key in ("anyOf", "oneOf"):
        if key in field:
            kinds = [_type(each, kind) for each in field[key] if each.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    if "const" in field:
        return f"`{_told(field['const'])}`"
    if "enum" in field:
        return ", ".join(f"`{_told(each)}`" for each in field["enum"])
    if field.get("exclusiveMinimum", 0) > GREATEST:
        return "`inf`"
    word = field.get("type", "anything")
    if word == "array":
        if "prefixItems" in field:
            return f"[{', '.join(_type(each, kind) for each in field['prefixItems'])}]"
        return "list of " + _plural(_type(field.get("items", {}), kind))
    words = {"integer": "whole number", "boolean": "true or false", "string": "text"}
    word = words.get(word, word if word != "object" else "table")
    said = []
    if field.get("minimum") is not None:
        said.append("above 0" if field["minimum"] == LEAST else f"from {field['minimum']:g}")
    if field.get("maximum", GREATEST) < GREATEST:
        said.append(f"up to {field['maximum']:,}")
    return " ".join([word, *said])


def _plural(said: str) -> str:
    """Return what entries of a list may be.

    >>> _plural("number from 0 or text"), _plural("list of texts")
    ('numbers from 0 or texts', 'lists of texts')
    """
    return re.sub(
        r"^(list|(?:whole )?number|text|table)\b|(?<= or )(number|text)\b", r"\g<0>s", said
    )


def figures() -> Iterator[str]:
    """Yield the page of the first figures to look at, which leads to the tables."""
    yield "# Benchmarks\n\nEach table is what its script in `benchmarks/` printed on a quiet "
    yield "machine with two cores. Peers and limits are measured in the same run. The first "
    yield "figures to look at, computed from the tables:\n\n| what | found |\n|---|---|\n"
    sys.path.append(str(ROOT))
    for one in import_module("benchmarks.headlines").headlines():
        found = UNITS.sub("\N{NO-BREAK SPACE}", one.found)
        yield f"| [{one.what}](figures/{one.page}.md) | {found} |\n"
    for area, paths in _areas().items():
        yield f"\n## {area}\n\n"
        for path in paths:
            title = path.read_text("utf-8").partition("\n")[0].removeprefix("# ")
            yield f"- [{title}](figures/{path.stem}.md)\n"


def tables() -> Iterator[tuple[str, str]]:
    """Yield a page for each table of measurements, as its benchmark printed it."""
    for path in TABLES:
        title, _, rest = path.read_text("utf-8").partition("\n")
        rest = UNITS.sub("\N{NO-BREAK SPACE}", rest)
        rest = NAMES.sub(lambda name: " ".join(_lines(name[0])), rest)
        text = f'{title}\n\n<div class="figures" markdown>\n{rest}\n</div>\n'
        yield f"figures/{path.stem}.md", text


def by_area() -> list[Any]:
    """Return the tables as the navigation lists them."""
    found = {area: [f"figures/{path.stem}.md" for path in each] for area, each in _areas().items()}
    return ["figures.md", *({area: each} for area, each in found.items())]


def _areas() -> dict[str, list[Path]]:
    """Return the tables of each area, by the beginnings of their names."""
    return {
        area: [path for path in TABLES if re.match(begins, path.stem)]
        for area, begins in AREAS.items()
    }


def _lines(name: str) -> list[str]:
    r"""Return the lines of a name, in none of which it breaks.

    >>> _lines("first call, 8 workers")
    ['first\xa0call,\xa08', 'workers']
    """
    lines = textwrap.wrap(name, 18, break_long_words=False, break_on_hyphens=False)
    return [line.replace(" ", "\N{NO-BREAK SPACE}") for line in lines]
