"""The forms that files are held against: strict about types, with mistakes that name their place.

Only the ``file.py`` of a kind imports this module: it loads pydantic.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.functional_validators import ModelWrapValidatorHandler
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

from makespan.core.costs import Affine, Convex, Price
from makespan.core.errors import Mistake, ProblemError
from makespan.core.inputs.rules import (
    FIXED_COST,
    SECONDS,
    UNIT_COST,
    Mistakes,
    Rule,
    quoted,
    refusal,
)
from makespan.core.inputs.suggest import did_you_mean

SHOWN = 50
PROBLEM_FORMAT = "makespan.problem/1"
HIDDEN = "\0"  # starts the tags of unions, which are no part of a place

Model = TypeVar("Model", bound="Form")


class Form(BaseModel):
    """The base of all forms: unknown keys are refused, nothing is converted, NaN is not a number.

    Every mistake is worded here, next to the form that it was found in; :func:`validated`
    collects them.
    """

    model_config = ConfigDict(
        extra="forbid", allow_inf_nan=False, strict=True, arbitrary_types_allowed=True
    )

    @model_validator(mode="wrap")
    @classmethod
    def _worded(cls, data: Any, handler: ModelWrapValidatorHandler[Any]) -> Any:
        try:
            return handler(data)
        except ValidationError as error:
            lines = [cls._line(detail) for detail in error.errors(include_url=False)]
        raise ValidationError.from_exception_data(cls.__name__, lines)

    @classmethod
    def _line(cls, detail: Any) -> InitErrorDetails:
        text, place = detail["msg"], detail["loc"]
        if detail["type"] == "extra_forbidden" and len(place) == 1:
            text = f"unknown key {quoted(place[0])}{did_you_mean(place[0], cls.file_keys())}"
            place = ()
        elif detail["type"] != "mistake":
            text = _message(detail)
        return InitErrorDetails(type=mistake(text), loc=place, input=None)

    @classmethod
    def file_keys(cls) -> list[str]:
        """Return the keys that the form has in files."""
        return [field.alias or name for name, field in cls.model_fields.items()]


class ProblemForm(Form):
    """What the files of all kinds have in common; a kind adds ``kind`` and its own keys."""

    format: Literal["makespan.problem/1"] | None = None
    options: dict[str, Any] = {}

    @field_validator("options")
    @classmethod
    def _named_method(cls, options: dict[str, Any]) -> dict[str, Any]:
        method = options.get("method", "auto")
        if not isinstance(method, str):
            raise mistake_at(("method",), f"{_found(method)} is not a method's name")
        return options

    @classmethod
    def entries(cls, problem: Any, *names: str) -> dict[str, Any]:
        """Return the head of a problem's file, and of these fields what is not their default."""
        found = {name: getattr(problem, name) for name in names}
        changed = {n: value for n, value in found.items() if value != cls.model_fields[n].default}
        return {"format": PROBLEM_FORMAT, "kind": problem.kind, **changed}


@dataclass(frozen=True, slots=True)
class Value:
    """An annotation: a number, or a word, that follows a rule of the model.

    >>> Load = Annotated[float, Value(Rule("a load is 0 or more units"))]
    """

    rule: Rule

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.checked)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return self.rule.keywords()

    def checked(self, value: Any) -> Any:
        """Return what was read, null as infinity; or raise the mistake."""
        if value is None and self.rule.infinite:
            return math.inf
        text = refusal(value, self.rule)
        if text is not None:
            raise mistake(_null(text))
        return value if self.rule.whole else float(value)


@dataclass(frozen=True, slots=True)
class Column(Value):
    """An annotation: a list of numbers, or one number for all, read into a float array.

    Checked as a whole, so that a million entries take no object each.

    >>> Costs = Annotated[Any, Column(Rule("a cost per unit is 0 or more seconds"))]
    """

    one_for_all: bool = True

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        entry = self.rule.keywords()
        listed = {"type": "array", "items": entry}
        return {"anyOf": [entry, listed]} if self.one_for_all else listed

    def checked(self, values: Any) -> Any:
        """Return a list as an array, a number as it is; or raise the first few mistakes."""
        if not isinstance(values, list) and np.ndim(values) != 1:
            if not self.one_for_all:
                text = f"{_found(values)} is not a list of numbers; {self.rule.allowed}"
                raise mistake(text)
            return Value.checked(self, values)
        if self.rule.infinite and isinstance(values, list):
            values = [math.inf if value is None else value for value in values]
        mistakes = Mistakes()
        array = mistakes.column(str, values, self.rule)
        if mistakes:
            raise mistakes_at(((int(at),), _null(text)) for at, text in mistakes.found)
        return array


@dataclass(frozen=True, slots=True)
class Table(Value):
    """An annotation: a number, or rows of numbers that follow the rule of ``entries``.

    >>> Times = Annotated[Any, Table(SECONDS, SECONDS)]
    """

    entries: Rule

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        row = {"type": "array", "items": self.entries.keywords()}
        return {"anyOf": [self.rule.keywords(), {"type": "array", "items": row}]}

    def checked(self, value: Any) -> Any:
        """Return a number, or an array a row; or raise the first few mistakes."""
        if not isinstance(value, list):
            return Value.checked(self, value)
        row = Column(self.entries, one_for_all=False)
        rows: list[np.ndarray] = []
        found: list[tuple[tuple[str | int, ...], str]] = []
        for index, entries in enumerate(value):
            try:
                rows.append(row.checked(entries))
            except PydanticCustomError as error:
                found.append(((index,), error.message()))
            except ValidationError as error:
                found += [((index, *line["loc"]), line["msg"]) for line in error.errors()]
        if found:
            raise mistakes_at(found)
        return rows


Seconds = Annotated[float, Value(SECONDS)]
FixedCost = Annotated[float, Value(FIXED_COST)]
UnitCost = Annotated[float, Value(UNIT_COST)]


class CostForm(Form):
    """An affine cost in full: ``fixed + per_unit * x`` for ``x > 0`` units."""

    fixed: FixedCost = 0.0
    per_unit: UnitCost = 0.0

    def affine(self) -> Affine:
        return Affine(self.fixed, self.per_unit)


@dataclass(frozen=True, slots=True)
class NumberOrTable:
    """Lets a number stand for ``{ per_unit = number }`` in the JSON Schema, too."""

    per_unit: Rule

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [self.per_unit.keywords(), handler(schema)]}


def _as_cost_table(value: Any) -> Any:
    if isinstance(value, Mapping):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return {"per_unit": value}
    raise mistake(
        f"{_found(value)} is not a cost; a cost is a number (per unit) or {{fixed, per_unit}}"
    )


AS_COST, NUMBER_OR_TABLE = BeforeValidator(_as_cost_table), NumberOrTable(UNIT_COST)
Cost = Annotated[CostForm, AS_COST, NUMBER_OR_TABLE]


def cost_entry(cost: Affine) -> float | dict[str, Any]:
    """Return a cost as it stands in files: a number where nothing is fixed, nor beyond anything.

    >>> cost_entry(Affine(0.0, 2.0)), cost_entry(Affine(0.5, 2.0))
    (2.0, {'fixed': 0.5, 'per_unit': 2.0})
    """
    fixed, per_unit = float(cost.fixed), float(cost.per_unit)
    if isinstance(cost, Price):
        return {"fixed": fixed, "per_unit": per_unit, "per_second": float(cost.per_second)}
    if isinstance(cost, Convex):
        beyond = [[float(units), float(slower)] for units, slower in cost.beyond]
        return {"fixed": fixed, "per_unit": per_unit, "beyond": beyond}
    return {"fixed": fixed, "per_unit": per_unit} if fixed else per_unit


def mistake(text: str) -> PydanticCustomError:
    """Return the error for a validator of a form to raise; ``text`` is shown as it is."""
    return PydanticCustomError("mistake", "{text}", {"text": text})


def mistake_at(place: tuple[str | int, ...], text: str) -> ValidationError:
    """Return the error for a validator of a form to raise about one of its keys."""
    return mistakes_at([(place, text)])


def mistakes_at(found: Iterable[tuple[tuple[str | int, ...], str]]) -> ValidationError:
    """Return the error for a validator to raise about several places."""
    lines = [InitErrorDetails(type=mistake(text), loc=at, input=None) for at, text in found]
    return ValidationError.from_exception_data("form", lines)


def validated(form: type[Model], data: Any, *, place: str = "") -> Model:
    """Return what was read from a file as a ``form``; ``place`` is where it stands, for messages.

    Raises ProblemError with every mistake, such as ``platform.workers[2].send.per_unit: -1.0 is
    negative; a cost per unit is 0 or more seconds``.
    """
    try:
        return form.model_validate(data)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
    found = [Mistake(place_of(detail["loc"], place), detail["msg"]) for detail in details[:SHOWN]]
    if len(details) > SHOWN:
        found.append(Mistake("", f"and {len(details) - SHOWN} more mistakes"))
    raise ProblemError(found)


def schema_of(form: type[Form], title: str) -> dict[str, Any]:
    """Return the JSON Schema of a form, without what JSON can't hold."""
    described = _tidied(form.model_json_schema())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **described, "title": title}


def _tidied(entry: Any) -> Any:
    """Return a schema without generated titles, and defaults that are infinite or nothing."""
    if isinstance(entry, list):
        return [_tidied(part) for part in entry]
    if not isinstance(entry, dict):
        return entry
    return {
        key: _tidied(part)
        for key, part in entry.items()
        if not (key == "title" and isinstance(part, str))
        and part != math.inf
        and not (key == "default" and part is None)
    }


def place_of(steps: Sequence[str | int], start: str = "") -> str:
    """Return a path of keys and indices as it is written in messages.

    >>> place_of(("platform", "workers", 2, "send"))
    'platform.workers[2].send'
    """
    text = start
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif not step.startswith(HIDDEN):
            text += f".{step}" if text else step
    return text


def _found(value: Any) -> str:
    return "null" if value is None else quoted(value)


def _null(text: str) -> str:
    return text.replace("None", "null", 1) if text.startswith("None ") else text


def _message(detail: Any) -> str:
    """Say what was found and what is allowed, for the errors that pydantic finds itself."""
    kind, value, more = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "literal_error":
        return f"{_found(value)} is not allowed; it is {more['expected']}"
    expected = _EXPECTED.get(kind)
    if expected is not None:
        return f"{_found(value)} is not {expected}"
    return f"{_found(value)} is not allowed: {detail['msg']}"


_EXPECTED = {
    "model_type": "a table of keys and values",
    "model_attributes_type": "a table of keys and values",
    "dict_type": "a table of keys and values",
    "list_type": "a list",
    "string_type": "a text",
    "string_too_short": "allowed; a text here is not empty",
    "bool_type": "true or false",
    "float_type": "a number",
    "int_type": "a whole number",
    "invalid_key": "a text, as keys are",
}
