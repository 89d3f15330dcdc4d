"""Pages of the site that are made: the API, the methods, the forms of files, the figures."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import makespan
from makespan._public import PUBLIC, names_of
from makespan.core.inputs.rules import GREATEST, LEAST
from makespan.flow.kinds import KINDS, kind_named

ROOT = Path(__file__).parents[2]
SOURCE = "https://github.com/makespan/makespan/blob/main/"
DOWNLOADS = {"src/makespan/balance.py": "balance.py"}
"""Files that are copied from the site, and where they are on it."""
UPWARDS = re.compile(r"\]\(((?:\.\./)+)([\w./-]+)\)")
"""Links of a page to what is above it."""
FIGURE = re.compile(r"\]\(benchmarks/(\w+)\.md\)")
"""Links to a table of measurements."""
DOI = re.compile(r"\bdoi:(10\.\d+/[^\s<]+)")
UNITS = re.compile(
    r"(?<=\d) (?=(?:[mµ]?s|[kMG]B|%)[ ,)]|of \d)|(?<=\d of) (?=\d)|"
    r"(?<=[\d%×s]) (?=to \d)|(?<=[\d%×s] to) (?=\d)"
)
"""Spaces of figures in a table, where no line is to break."""
NAMES = re.compile(r"(?<=^\| )[^|`[]{15,}(?= \|)", re.MULTILINE)
"""Long names of rows, which break into lines of some words, not of one."""
TYPED = re.compile(r"<p>((?:[A-Z_]+=\S+ )?makespan [^<]*|[^<]*\S {2,}\S[^<]*)</p>")
"""Examples and columns of a command's help, which are lines of their own."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    pages = {
        "reference/python.md": api(),
        "reference/commands.md": COMMANDS,
        "reference/methods.md": "".join(methods()),
        "reference/forms.md": "".join(forms()),
        "figures.md": "".join(figures()),
        "changelog.md": _of_the_root("CHANGELOG.md"),
        "contributing.md": _of_the_root("CONTRIBUTING.md"),
    }
    for path, text in {**pages, **downloads()}.items():
        files.append(File.generated(config, path, content=text))
    return files


def downloads() -> dict[str, bytes]:
    """Return the files that pages offer as they are, by their place on the site."""
    return {place: (ROOT / source).read_bytes() for source, place in DOWNLOADS.items()}


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links that leave the folder of pages to the source, those to tables to their page."""
    depth = page.file.src_uri.count("/")

    def pointed(link: re.Match[str]) -> str:
        outside = link[1].count("../") > depth
        if outside and link[2] in DOWNLOADS:
            return f"]({link[1][3:]}{DOWNLOADS[link[2]]})"
        return f"]({SOURCE}{link[2]})" if outside else link[0]

    return FIGURE.sub(r"](figures.md#\1)", UPWARDS.sub(pointed, markdown))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Show examples of commands as they are typed; let identifiers of works lead to them."""
    if page.file.src_uri == "reference/commands.md":
        return TYPED.sub(r"<pre><code>\1</code></pre>", html)
    if page.file.src_uri == "references.md":
        return DOI.sub(r'<a href="https://doi.org/\1">doi:\1</a>', html)
    return html


def _of_the_root(name: str) -> str:
    """Return a page that stands in the root of the repository."""
    return (ROOT / name).read_text("utf-8").replace("](docs/", "](")


COMMANDS = """# Command line

What `makespan help` and `makespan help COMMAND` print. [Files and exit codes](../files.md) says
what files hold, and what is the same in all commands.

::: mkdocs-click
    :module: makespan.cli.main
    :command: cli
    :prog_name: makespan
    :style: plain
    :depth: 1
"""

TITLES = {
    "divisible": ("Divisible loads", "divisible.md", "divisible-loads"),
    "independent": ("Independent tasks", "independent.md", "independent-tasks"),
    "partition": ("Partition", "partition.md", "partition"),
    "reduction": ("Collectives", "reduction.md", "collectives"),
    "taskgraph": ("Task graphs", "taskgraph.md", "task-graphs"),
}
"""Of each kind the title, the page, and the section on its files."""

API = {
    "Problems": "DivisibleLoad Partition TaskGraph Reduction IndependentTasks",
    "What problems are made of": (
        "Star Worker Master Affine Convex Price Tree TreeNode Source Sources Dag Network "
        "Interconnect"
    ),
    "From a problem to a plan": (
        "solve methods lower_bound check compare simulate sensitivity Noise plot"
    ),
    "Files": "read_problem read_result save",
    "What comes back": (
        "Result Schedule Bound Report Violation Comparison Comparisons Simulation Sensitivity"
    ),
    "Experiments": (
        "Experiment Grid read_experiment experiment records Record Results report Overview"
    ),
    "Errors": (
        "MakespanError InputError ProblemError MethodError FileError InvalidSchedule "
        "ExecutionError MissingExtra"
    ),
}
OTHERS = {
    "The file to copy": "makespan.balance",
    "On Dask": "makespan.execute.dask",
    "On MPI": "makespan.execute.mpi",
}


def api() -> str:
    """Return the page of all public names; it knows if one is missing."""
    listed = {name for names in API.values() for name in names.split()}
    missing = set(makespan.__all__) - listed - {"__version__"}
    if missing:
        raise ValueError(f"the page of the API names no group for {sorted(missing)}")
    parts = ["# Python\n\nWhat `import makespan` offers. Times are in seconds everywhere.\n"]
    for title, names in API.items():
        parts.append(f"\n## {title}\n\n")
        parts += [_entry(getattr(makespan, name), name) for name in names.split()]
    for place in PUBLIC:
        if place != "makespan":
            parts += _place(f"In `{place}`", place, names_of(place))
    for title, place in OTHERS.items():
        parts += _place(title, place, import_module(place).__all__)
    return "".join(parts)


def _place(title: str, place: str, names: Sequence[str]) -> Iterator[str]:
    """Yield what is imported from a place beside ``makespan`` itself."""
    home = import_module(place)
    above, _, own = place.rpartition(".")
    yield f"\n## {title}\n\n`from {above} import {own}`\n\n::: {place}\n    options:\n"
    for option in ("members", "show_root_heading", "show_root_toc_entry"):
        yield f"      {option}: false\n"
    yield "\n"
    for name in names:
        yield _entry(getattr(home, name), name)


def _entry(thing: Any, name: str) -> str:
    if isinstance(thing, ModuleType):
        return f"::: {thing.__name__}\n\n"
    return f"::: {thing.__module__}.{getattr(thing, '__qualname__', name)}\n\n"


def methods() -> Iterator[str]:
    """Yield the page of all methods, a table a kind, from the register."""
    yield "# Methods\n\nWhat `makespan methods KIND` lists. A method in **bold** proves its plans "
    yield "optimal; one in *italics* is kept for comparison, `auto` never picks it. Works are "
    yield "cited by their short form among the [references](../references.md).\n"
    for kind in KINDS:
        found = makespan.methods(kind)
        title, page, _ = TITLES[kind]
        yield f'\n## {title}\n\n{len(found)} methods, `kind = "{kind}"`; '
        yield f'[which when](../{page}).\n\n<div class="methods" markdown>\n\n'
        yield _row("method", "does", "complexity", "source") + "|---|---|---|---|\n"
        for verdict in found:
            method = verdict.method
            name = f"`{method.name}`"
            name = f"**{name}**" if method.proves else name
            name = f"*{name}*" if method.published else name
            yield _row(name, method.summary, method.complexity, method.source)
        yield "\n</div>\n"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def forms() -> Iterator[str]:
    """Yield the page of what files may hold, from the JSON Schemas."""
    yield "# What files may hold\n\nMade from the JSON Schemas that `makespan schema KIND` prints; "
    yield "[Files and exit codes](../files.md) says how files are read. A key in **bold** must be "
    yield "there.\n"
    for kind in KINDS:
        schema = kind_named(kind).file.schema()
        title, _, section = TITLES[kind]
        yield f'\n## {title}\n\n`kind = "{kind}"`; [in words and by example]'
        yield f"(../files.md#{section}).\n\n" + _table(schema, kind)
        for name, form in sorted(schema.get("$defs", {}).items()):
            if "properties" in form:
                yield f"\n### {_title(name)} {{#{kind}-{name.lower()}}}\n\n"
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
    """Yield the page of all measurements, each as its benchmark printed it."""
    yield "# Figures\n\nEach table is what its script in `benchmarks/` printed on a quiet machine "
    yield "with two cores; peers and limits are measured in the same run. The first ones to look "
    yield "at, reckoned from the tables:\n\n| what | found |\n|---|---|\n"
    sys.path.append(str(ROOT))
    for one in import_module("benchmarks.headlines").headlines():
        yield UNITS.sub("\N{NO-BREAK SPACE}", f"| [{one.what}](#{one.page}) | {one.found} |\n")
    yield '\n<div class="figures" markdown>\n\n'
    for path in sorted((ROOT / "docs" / "benchmarks").glob("*.md")):
        text = path.read_text("utf-8")
        title, _, rest = text.partition("\n")
        rest = UNITS.sub("\N{NO-BREAK SPACE}", re.sub("^#", "##", rest, flags=re.MULTILINE))
        rest = NAMES.sub(lambda name: " ".join(_lines(name[0])), rest)
        yield f"#{title} {{#{path.stem}}}\n" + rest + "\n"
    yield "</div>\n"


def _lines(name: str) -> list[str]:
    r"""Return the lines of a name, in none of which it breaks.

    >>> _lines("first call, 8 workers")
    ['first\xa0call,\xa08', 'workers']
    """
    lines = textwrap.wrap(name, 18, break_long_words=False, break_on_hyphens=False)
    return [line.replace(" ", "\N{NO-BREAK SPACE}") for line in lines]
