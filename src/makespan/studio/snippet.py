"""Problem or result → the lines of Python that solve it."""

from __future__ import annotations

from makespan.core.errors import FileError
from makespan.core.problem import Problem
from makespan.flow.files.files import as_text
from makespan.flow.result import Result

LINES = """\
from pathlib import Path

from makespan import read_problem, save, solve

PROBLEM = {text}
Path("problem{suffix}").write_text(PROBLEM, encoding="utf-8")
result = solve(read_problem("problem{suffix}"){asked})
print(result)
save(result, "plan.html")
"""


def snippet(thing: Problem | Result) -> str:
    r"""Return a script that solves a problem, or that makes a result once more.

    >>> from makespan import IndependentTasks, solve
    >>> lines = snippet(solve(IndependentTasks(2, [3, 2, 2]), method="lpt")).splitlines()
    >>> next(line for line in lines if "solve(" in line)
    'result = solve(read_problem("problem.toml"), method=\'lpt\')'
    """
    problem = thing.problem if isinstance(thing, Result) else thing
    asked: dict[str, object] = {}
    if isinstance(thing, Result):
        asked = {"method": thing.method, **thing.options}
        if thing.seed:
            asked["rng"] = thing.seed
    try:
        suffix, text = ".toml", as_text(problem, ".toml")
    except FileError:
        suffix, text = ".json", as_text(problem, ".json")
    given = "".join(f", {name}={value!r}" for name, value in asked.items())
    return LINES.format(text=_literal(text), suffix=suffix, asked=given)


def _literal(text: str) -> str:
    """Return a text as Python has it: as it is where nothing in it ends it or means another."""
    plain = "\\" not in text and '"""' not in text and not text.endswith('"')
    if plain and all(character.isprintable() or character == "\n" for character in text):
        return f'"""\\\n{text}"""'
    return repr(text)
