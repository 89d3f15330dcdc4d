"""How something goes (docs/stability.md), on examples of its own: nothing is deprecated yet."""

from __future__ import annotations

import warnings

import click
import pytest
from pydantic import Field

from makespan.cli.commands import about
from makespan.cli.main import run
from makespan.cli.process import DONE
from makespan.core.inputs.forms import Form, schema_of, validated

TEXT = "'rate' is gone from makespan 2.0 on: 'speed' takes its place"


class Machine(Form):
    """A form with a key that goes: read where it is given, and only there."""

    speed: float | None = None
    rate: float | None = Field(None, deprecated=TEXT)

    def value(self) -> float | None:
        return self.rate if "rate" in self.model_fields_set else self.speed


def test_a_key_that_goes_works_on_and_says_so() -> None:
    """It warns where it is given, not where its successor is; the JSON Schema marks it."""
    with pytest.warns(DeprecationWarning, match=TEXT):
        assert validated(Machine, {"rate": 2.0}).value() == 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert validated(Machine, {"speed": 3.0}).value() == 3.0
    keys = schema_of(Machine, "machine")["properties"]
    assert keys["rate"]["deprecated"] is True
    assert "deprecated" not in keys["speed"]


def test_the_command_line_says_it_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What libraries warn of among themselves stays with them, and the usual filters come back."""

    @click.command()
    def command() -> None:
        validated(Machine, {"rate": 2.0}).value()
        warnings.warn("another library's own", DeprecationWarning, stacklevel=1)

    monkeypatch.setattr(about, "methods_command", command)
    filters, shows = warnings.filters[:], warnings.showwarning
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as Python does by itself
        assert run(["methods"]) == DONE
    assert capsys.readouterr() == ("", f"deprecated: {TEXT}\n")
    assert (warnings.filters, warnings.showwarning) == (filters, shows)
