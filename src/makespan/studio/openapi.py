"""What the service answers, in the words of OpenAPI 3.1."""

from typing import Any

from makespan._version import __version__
from makespan.core.inputs.forms import Form, schema_of
from makespan.core.solution import Status
from makespan.flow.kinds import KINDS, moved, schema
from makespan.studio.requests import (
    CheckRequest,
    CompareRequest,
    ExerciseRequest,
    MethodsRequest,
    ProblemRequest,
    SaveRequest,
    SensitivityRequest,
    SolveRequest,
)

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
    content: dict[str, Any] = {JSON: {"schema": _ref(answers.get(what, "anything"))}}
    if what == "save":
        content = {"*/*": {}}
    else:
        content["text/event-stream"] = {"schema": TEXT}
    return {
        "operationId": what,
        "summary": told,
        "parameters": [_client(required=False)],
        "requestBody": {"required": True, "content": {JSON: {"schema": _ref(f"{what}-request")}}},
        "responses": {"200": {"description": told, "content": content}, **_refused()},
    }


def _stop() -> dict[str, Any]:
    told = "Whether there was anything to stop"
    return {
        "operationId": "stop",
        "summary": "Let what a client waits for come to an end with the best so far",
        "parameters": [_client(required=True)],
        "responses": {
            "200": {"description": told, "content": {JSON: {"schema": _ref("anything")}}},
            **_refused(),
        },
    }


def _get(name: str, told: str) -> dict[str, Any]:
    content = {JSON: {"schema": _ref("anything")}}
    answers = {"200": {"description": told, "content": content}, **_refused()}
    return {"operationId": name, "summary": told, "responses": answers}


def _client(*, required: bool) -> dict[str, Any]:
    told = "Who asks: a newer request of the same client ends an older one"
    return {
        "name": "X-Client",
        "in": "header",
        "required": required,
        "description": told,
        "schema": TEXT,
    }


def _refused() -> dict[str, Any]:
    content = {JSON: {"schema": _ref("error")}}
    return {
        str(status): {"description": told, "content": content} for status, told in REFUSALS.items()
    }


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
