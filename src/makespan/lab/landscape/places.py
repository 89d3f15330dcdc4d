"""The name of an instance → its problem; what a search for adversaries found → problems."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from makespan.core.errors import InputError
from makespan.core.inputs.files import PathLike, read_text
from makespan.core.problem import Problem, is_problem
from makespan.flow.files.files import problem_of, read_problem
from makespan.flow.kinds import KINDS, generate
from makespan.lab.adversary.search import FORMAT

OPTION = re.compile(r" (?=[A-Za-z_]\w*=)")


def problem_named(name: str, given: Mapping[str, Any], folder: Path) -> Problem:
    """Return the problem that a table calls by a name: given, generated, or a file.

    Files are looked for from here, then from the ``folder`` of the table. Raises InputError where
    there is none.

    >>> problem_named("independent machines=3 tasks=4 seed=1", {}, Path()).machines[2]
    'M3'
    """
    if name in given:
        found = given[name]
        return found if is_problem(found) else read_problem(found)
    kind, *options = OPTION.split(name)
    if kind in KINDS and options and options[-1].startswith("seed="):
        pairs = (option.partition("=")[::2] for option in options)
        *asked, (_, seed) = ((key, _value(text)) for key, text in pairs)
        return generate(kind, seed=seed, options=dict(asked))
    parts = {key: _value(text) for key, _, text in (each.partition("=") for each in options)}
    path = next((each for each in (Path(kind), folder / kind) if each.is_file()), None)
    if path is None:
        raise InputError(
            f"{name}: there is no such file, and it is not the name of a generated one"
        )
    return read_problem(path, **parts)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def corners_of(given: PathLike | Problem) -> Iterator[tuple[str, Problem]]:
    """Yield what stands out, with a label: a problem, that in a file, or the worst of each chain
    where the file is the state of a search. Raises InputError where a file is neither.
    """
    if not isinstance(given, (str, Path)):
        yield "given", cast("Problem", given)
        return
    data = None
    if Path(given).suffix.lower() == ".json":
        with suppress(ValueError):  # which the reader of problems tells
            data = json.loads(read_text(given))
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        yield Path(given).stem, read_problem(given)
        return
    for chain in data["chains"]:
        if chain["best"] is not None:
            yield (
                f"{data['search']['method'][0]} {chain['best_ratio']:.3g}",
                problem_of(chain["best"]),
            )
