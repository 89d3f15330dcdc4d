"""What the mutations start from: problems, plans and files of each format, all small."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from campaign.version import ROOT
from makespan import InputError, MethodError, solve
from makespan.flow.files.documents import parsed
from makespan.flow.files.files import as_text, problem_of
from makespan.flow.kinds import KINDS, generate, schema
from makespan.flow.serialize import result_as_dict, schedule_as_dict

FOLDER = Path(__file__).parent / "corpus"
EXAMPLES = ROOT / "examples"
FOUND = ROOT / "tests" / "cases" / "found"
SAMPLES = "samples.csv"  # named by a problem of the corpus; a trial's folder gets it
LARGEST = 4000
TEXTS = (".stg", ".dot", ".graphml", ".csv", ".toml", ".json", ".gv")

SMALL: dict[str, list[dict[str, Any]]] = {
    "divisible": [
        {"workers": 3},
        {"workers": 3, "latency": 1.0, "returns": 0.5, "master_computes": True},
        {"workers": 4, "topology": "tree"},
        {"workers": 3, "slowdown": 3.0},
    ],
    "independent": [
        {"tasks": 6, "machines": 2},
        {"tasks": 5, "machines": 3, "environment": "uniform"},
        {"tasks": 5, "machines": 3, "environment": "unrelated"},
        {"tasks": 6, "machines": 2, "equal_counts": True},
    ],
    "partition": [{"resources": 3, "tasks": 10}, {"resources": 2, "tasks": 8, "energy": True}],
    "pipeline": [
        {"stages": 4, "machines": 3},
        {"stages": 4, "machines": 3, "objective": "makespan", "overlap": False},
        {"stages": 5, "machines": 3, "objective": "latency", "order": "given"},
    ],
    "reduction": [{"machines": 4, "segments": 2, "spread": 0.5}],
    "taskgraph": [
        {"size": 2, "machines": 2},
        {"graph": "fork-join", "size": 3, "machines": 3},
        {"size": 4, "machines": 2, "cores": 4, "rigid": 0.7},
    ],
}


@cache
def problems() -> list[dict[str, Any]]:
    """Return the documents of problems: sound ones, and those that went wrong once."""
    return [*sound(), *_documents(FOUND)]


@cache
def sound() -> list[dict[str, Any]]:
    """Return the documents of valid problems, those of our tests and examples among them."""
    documents: list[dict[str, Any]] = json.loads((FOLDER / "documents.json").read_text())
    for case in json.loads((ROOT / "tests" / "cases" / "referee.json").read_text()):
        documents.append(case["problem"])
    for kind, choices in SMALL.items():
        for options in choices:
            try:
                documents.append(KINDS[kind].file.write(generate(kind, options=options)))
            except InputError:
                continue  # the generator's options are its own
    return [*documents, *_documents(EXAMPLES)]


def _documents(folder: Path) -> list[dict[str, Any]]:
    """Return the problems in a folder, without those that name other files."""
    documents = []
    for path in _files(folder, ".toml", ".json"):
        try:
            data = parsed(path)
        except InputError:
            continue
        if ("kind" in data or "workflow" in data) and not names_a_file(data):
            documents.append(data)
    return documents


def names_a_file(document: dict[str, Any]) -> bool:
    """Whether a problem is in several files: costs of a partition, stages of a pipeline."""
    return "samples" in str(document) or isinstance(document.get("stages"), str)


@cache
def plans() -> list[dict[str, Any]]:
    """Return the documents of results and schedules: small problems of the corpus, solved."""
    documents = []
    for document in sound():
        try:
            result = solve(problem_of(document, FOLDER), time_limit=0.05)
        except MethodError:  # some have none
            continue
        documents.append(result_as_dict(result))
        if result.schedule is not None:
            documents.append(schedule_as_dict(result.schedule))
    return [document for document in documents if len(json.dumps(document, default=str)) < LARGEST]


@cache
def schemas() -> list[dict[str, Any]]:
    """Return the JSON Schema of each kind."""
    return [schema(kind) for kind in KINDS]


@cache
def texts() -> list[tuple[str, bytes]]:
    """Return the contents of small files of every format, each with its suffix."""
    folders = (FOLDER, EXAMPLES, FOUND)
    paths = [path for folder in folders for path in _files(folder, *TEXTS)]
    found = [(path.suffix, path.read_bytes()) for path in paths]
    for document in sound():
        problem = problem_of(document, FOLDER)
        found.append((".json", as_text(problem, ".json").encode()))
        with suppress(InputError):  # TOML has no null
            found.append((".toml", as_text(problem, ".toml").encode()))
    found += [(".json", json.dumps(document).encode()) for document in plans()]
    return [(suffix, content) for suffix, content in found if len(content) < LARGEST]


def _files(folder: Path, *suffixes: str) -> list[Path]:
    """Return the small files of a folder."""
    paths = sorted(folder.rglob("*"))
    return [path for path in paths if path.suffix in suffixes and path.stat().st_size < LARGEST]
