"""What requests look like, and the lines of Python that ask the same; what the service answers.

Both are described in the words of OpenAPI 3.1.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import core_schema

from makespan._version import __version__
from makespan.core.errors import FileError, ProblemError, TooLarge
from makespan.core.inputs.forms import Form, Value, mistake, schema_of
from makespan.core.inputs.rules import Rule, quoted
from makespan.core.problem import Pictured, Problem
from makespan.core.solution import Status
from makespan.flow.files.files import as_text, problem_in, problem_of
from makespan.flow.kinds import KINDS, moved, schema
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


SCHEMAS = "#/components/schemas/"
JSON = "application/json"
NUMBER = {"type": ["number", "null"]}
TEXT = {"type": "string"}
STATED = {
    "anyOf": [
        {"$ref": f"{SCHEMAS}problem"},
        {
            **TEXT,
            "description": "The text of a file: TOML, JSON, or a task graph in another format",
        },
    ]
}
REQUESTS: dict[str, tuple[type[Form], str]] = {
    "problem": (ProblemRequest, "The problem as JSON files have it, and as TOML"),
    "solve": (SolveRequest, "The result, as files have it"),
    "compare": (CompareRequest, "A row for each method, the best first"),
    "check": (CheckRequest, "What the referee says"),
    "sensitivity": (SensitivityRequest, "Rates of costs, and what one machine more brings"),
    "methods": (MethodsRequest, "The methods, and why each applies or not"),
    "save": (SaveRequest, "The file"),
    "exercise": (ExerciseRequest, "The exercise, with its problem as files have it"),
}
REFUSALS = {
    400: "The request is not UTF-8 text",
    401: "A token is needed",
    403: "The page of another origin asked",
    408: "The request did not arrive in time",
    409: "A newer request of the same client took its place",
    413: "The request, or what it needs, is too large",
    415: "The request is not application/json",
    421: "The server was called by a name that is not this machine's",
    422: "The request, or the problem in it, has mistakes; or the method does not apply",
    503: "Too many requests wait already",
    504: "It did not end within its limit, and was ended",
}


def document() -> dict[str, Any]:
    """Return the document."""
    paths: dict[str, Any] = {
        f"/api/{what}": {"post": _posted(what, told)} for what, (_, told) in REQUESTS.items()
    }
    paths["/api/stop"] = {"post": _stop()}
    paths["/api/examples"] = {"get": _get("examples", "Problems to begin with")}
    paths["/api/schema/{kind}"] = {"get": _get("schema", "The JSON Schema of a kind's files")}
    paths["/api/schema/{kind}"]["get"]["parameters"] = [
        {"name": "kind", "in": "path", "required": True, "schema": {"enum": list(KINDS)}}
    ]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "makespan",
            "version": __version__,
            "description": "Plans parallel work when moving data costs time.",
        },
        "paths": paths,
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _posted(what: str, told: str) -> dict[str, Any]:
    answers = {"solve": "result", "check": "report", "compare": "comparison"}
    content = _holding(answers.get(what, "anything"))
    if what == "save":
        content = {"*/*": {}}
    else:
        content["text/event-stream"] = {"schema": TEXT}
    return {
        "operationId": what,
        "summary": told,
        "parameters": [_client(required=False)],
        "requestBody": {"required": True, "content": _holding(f"{what}-request")},
        "responses": _responses(told, content),
    }


def _stop() -> dict[str, Any]:
    return {
        "operationId": "stop",
        "summary": "Let what a client waits for come to an end with the best so far",
        "parameters": [_client(required=True)],
        "responses": _responses("Whether there was anything to stop"),
    }


def _get(name: str, told: str) -> dict[str, Any]:
    return {"operationId": name, "summary": told, "responses": _responses(told)}


def _client(*, required: bool) -> dict[str, Any]:
    return {
        "name": "X-Client",
        "in": "header",
        "required": required,
        "description": "Who asks: a newer request of the same client ends an older one",
        "schema": TEXT,
    }


def _responses(told: str, content: Any = None) -> dict[str, Any]:
    """Return what an answer holds, a document of any form unless it is said, and the refusals."""
    found = {"200": {"description": told, "content": content or _holding("anything")}}
    for status, why in REFUSALS.items():
        found[str(status)] = {"description": why, "content": _holding("error")}
    return found


def _holding(name: str) -> dict[str, Any]:
    return {JSON: {"schema": _ref(name)}}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": SCHEMAS + name}


def _schemas() -> dict[str, Any]:
    """Return the schemas: those of problems, whose parts stand beside them, and of the rest."""
    found: dict[str, Any] = {}
    _place(found, "problem", schema())
    for what, (form, _) in REQUESTS.items():
        own = schema_of(form, f"A request to {what}")
        if "problem" in own["properties"]:
            own["properties"]["problem"] = STATED
        _place(found, f"{what}-request", own)
    mistake = {"type": "object", "properties": {"place": TEXT, "message": TEXT}}
    report = ("rule", "message", "activities", "times", "excess")
    return found | {
        "anything": {},
        "error": {
            "type": "object",
            "required": ["error"],
            "properties": {"error": TEXT, "mistakes": {"type": "array", "items": mistake}},
        },
        "result": {
            "type": "object",
            "required": ["format", "kind", "method", "status", "schedule", "problem"],
            "properties": {
                "format": {"const": "makespan.result/1"},
                "kind": {"enum": list(KINDS)},
                "method": TEXT,
                "status": {"enum": [str(status) for status in Status]},
                "makespan": NUMBER,
                "lower_bound": NUMBER,
                "gap": NUMBER,
                "schedule": {"type": ["object", "null"]},
                "problem": _ref("problem"),
            },
        },
        "report": {
            "type": "object",
            "required": ["format", "ok", "violations"],
            "properties": {
                "format": {"const": "makespan.report/1"},
                "ok": {"type": "boolean"},
                "makespan": NUMBER,
                "violations": {
                    "type": "array",
                    "items": {"type": "object", "required": list(report)},
                },
            },
        },
        "comparison": {
            "type": "object",
            "required": ["kind", "rows"],
            "properties": {
                "kind": {"enum": list(KINDS)},
                "lower_bound": NUMBER,
                "rows": {"type": "array", "items": {"type": "object"}},
            },
        },
    }


def _place(found: dict[str, Any], name: str, own: dict[str, Any]) -> None:
    """Put a schema among the others, its definitions beside it."""
    own = {key: part for key, part in own.items() if key != "$schema"}
    for inner, part in own.pop("$defs", {}).items():
        found[f"{name}.{inner}"] = moved(part, f"{SCHEMAS}{name}.")
    found[name] = moved(own, f"{SCHEMAS}{name}.")
