"""The form of divisible load problems in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from makespan.core.errors import Mistake, ProblemError
from makespan.core.inputs.forms import Form, ProblemForm, Value, mistake, schema_of, validated
from makespan.core.inputs.rules import DEADLINE
from makespan.divisible.model.forms import PlatformForm, place_in_file, platform_entry
from makespan.divisible.model.statement import BUDGET, LOAD, ROUNDS
from makespan.divisible.problem import DivisibleLoad

Amount = Annotated[float, Value(LOAD)]


class TransferForm(Form):
    """One transfer on the port: a send to a worker, or the return of its results."""

    send: str | None = None
    return_: str | None = Field(None, alias="return")

    @model_validator(mode="after")
    def _either(self) -> TransferForm:
        if (self.send is None) == (self.return_ is None):
            raise mistake("a transfer is either { send = NAME } or { return = NAME }")
        return self

    def transfer(self) -> tuple[Literal["send", "return"], str]:
        return ("send", self.send) if self.send is not None else ("return", str(self.return_))


def _no_boolean(value: Any) -> Any:
    if isinstance(value, bool):  # true equals 1
        raise mistake(f"{value} is not allowed; it is 1, 2 or 'many'")
    return value


class DivisibleForm(ProblemForm):
    """A divisible load problem."""

    kind: Literal["divisible"]
    platform: PlatformForm
    load: Amount | None = None
    rounds: Annotated[int | str, Value(ROUNDS)] = 1
    ports: Annotated[Literal[1, 2, "many"], BeforeValidator(_no_boolean)] = 1
    order: list[str] | None = None
    activation: list[str] | None = None
    return_order: list[str] | None = None
    discipline: Literal["fifo", "lifo"] | None = None
    transfers: list[TransferForm] | None = None
    loads: dict[str, Amount] | None = None
    use: Literal["any", "all"] = "any"
    front_end: bool = True
    integral: bool = False
    deadline: Annotated[float, Value(DEADLINE)] | None = None
    budget: Annotated[float, Value(BUDGET)] | None = None
    objective: Literal["makespan", "price", "pareto"] = "makespan"


PLAIN = tuple(
    name
    for name in DivisibleForm.model_fields
    if name not in ("format", "kind", "options", "platform", "transfers")
)
"""The fields of a problem that stand in files as they are."""


def read(data: Mapping[str, Any]) -> DivisibleLoad:
    """Build the problem from the contents of a file.

    Raises ProblemError with every mistake found, each with its place in the file.

    >>> read({"kind": "divisible", "load": 1.0, "platform": {"topology": "star", "workers": [
    ...     {"send": 1.0, "compute": 3.0}]}}).machines
    ('P0', 'P1')
    """
    form = validated(DivisibleForm, data)
    transfers = form.transfers
    try:
        return DivisibleLoad(
            platform=form.platform.platform(),
            transfers=None if transfers is None else tuple(t.transfer() for t in transfers),
            options=form.options,
            **{name: getattr(form, name) for name in PLAIN},
        )
    except ProblemError as error:
        raise ProblemError(
            [Mistake(place_in_file(form.platform, place), text) for place, text in error.mistakes]
        ) from None


def write(problem: DivisibleLoad) -> dict[str, Any]:
    """Return the problem as the contents of a file; ``read`` gives an equal problem back.

    What has its default is left out. More than 1000 workers are written as columns.

    >>> from makespan import DivisibleLoad, Star, Worker
    >>> star = Star([Worker(send=1.0, compute=3.0)])
    >>> write(DivisibleLoad(load=1.0, platform=star))["platform"]["workers"]
    [{'name': 'P1', 'send': 1.0, 'compute': 3.0}]
    """
    data = {name: _plain(value) for name, value in DivisibleForm.entries(problem, *PLAIN).items()}
    if problem.transfers is not None:
        data["transfers"] = [{what: name} for what, name in problem.transfers]
    data["platform"] = platform_entry(problem.platform)
    if problem.options:
        data["options"] = dict(problem.options)
    return data


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return {name: float(amount) for name, amount in value.items()}
    return value if isinstance(value, (bool, int, str)) else float(value)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the kind's files."""
    return schema_of(DivisibleForm, "A divisible load problem for makespan")
