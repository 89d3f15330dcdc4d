"""What requests look like, what stands in them, and the lines of Python that ask the same."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import core_schema

from makespan.core.errors import FileError, ProblemError, TooLarge
from makespan.core.inputs.forms import Form, Value, mistake
from makespan.core.inputs.rules import Rule, quoted
from makespan.core.problem import Pictured, Problem
from makespan.flow.files.files import as_text, problem_in, problem_of
from makespan.flow.result import Result

LONGEST = 300.0
USUAL = 10.0  # seconds that a solve may take at most, and where the request names no limit
MOST = 1_000_000  # machines, tasks and edges in all of a problem
LIMIT = Rule(f"a limit is 0 to {LONGEST:g} seconds", high=LONGEST)
SEED = Rule("a seed is a whole number, 0 or more", whole=True, high=2**63)


class _Stated:
    """An annotation: a problem as JSON files have it, or the text of a file."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(_stated)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": ["object", "string"]}


def _stated(value: Any) -> Any:
    if isinstance(value, (dict, str)):
        return value
    raise mistake(f"{quoted(value)} is neither a problem nor the text of one")


Stated = Annotated[Any, _Stated()]
Limit = Annotated[float, Value(LIMIT)]


class ProblemRequest(Form):
    """A problem."""

    problem: Stated

    def stated(self) -> Problem:
        """Return the problem; see :func:`problem_from`."""
        return problem_from(self.problem)


class SolveRequest(ProblemRequest):
    """A problem, how it is to be solved, and what the answer is to hold beside the result."""

    method: str = "auto"
    options: dict[str, Any] = Field(default_factory=dict)
    time_limit: Limit = USUAL
    seed: Annotated[int, Value(SEED)] = 0
    steps: bool = Field(False, description="Whether the result holds the steps of the method.")
    view: bool = Field(False, description="Whether the answer holds what a page draws it from.")
    diagrams: bool = Field(True, description="Whether that has the pictures beside the chart.")


class CompareRequest(ProblemRequest):
    """A problem, and the methods that are to solve it; all that apply where none are named."""

    methods: list[str] | None = None
    time_limit: Limit = USUAL
    seed: Annotated[int, Value(SEED)] = 0
    view: bool = False


class CheckRequest(Form):
    """A result; or a problem, and a schedule of it."""

    result: dict[str, Any] | None = None
    problem: Stated | None = None
    schedule: dict[str, Any] | None = None
    view: bool = False


class SensitivityRequest(Form):
    """A result, and the machines that are asked about; all where none are named."""

    result: dict[str, Any]
    machines: list[str] | None = None
    time_limit: Limit = USUAL


class ExerciseRequest(Form):
    """The text of an exercise."""

    toml: str


class MethodsRequest(Form):
    """A problem, or a kind of problems."""

    problem: Stated | None = None
    kind: str | None = None


class SaveRequest(Form):
    """A result, or a problem, and the format that it is to be written in."""

    result: dict[str, Any] | None = None
    problem: Stated | None = None
    format: Literal["toml", "json", "csv", "svg", "png", "pdf", "html", "trace", "python"]
    picture: str | None = Field(None, description="Which picture of it: gantt, graph, platform, …")
    by: str | None = Field(None, description="What its colours tell apart.")
    fold: bool = Field(False, description="Whether a Gantt chart leaves transfers out.")


def problem_from(given: Mapping[str, Any] | str) -> Problem:
    """Return the problem that a request states.

    Raises InputError with every mistake found, each with its place in the problem; TooLarge if it
    consists of too much.
    """
    problem = problem_of(given) if isinstance(given, Mapping) else problem_in(given, "problem", {})
    return bounded(problem)


def bounded(problem: Problem) -> Problem:
    """Return a problem that a server has room for. Raises TooLarge where it has none."""
    counts = problem._counts() if isinstance(problem, Pictured) else {}
    if sum(counts.values()) > MOST:
        found = ", ".join(f"{number:,} {word}s" for word, number in counts.items())
        raise TooLarge(f"problem: has {found}; {MOST:,} in all are the most that is solved here")
    return problem


def one_of(**given: Any) -> None:
    """Refuse a request that has not one of these. Raises ProblemError naming them."""
    found = [name for name, value in given.items() if value is not None]
    if len(found) != 1:
        raise ProblemError(
            f"has {' and '.join(found) or 'nothing'}; a request has one of {', '.join(given)}"
        )


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
