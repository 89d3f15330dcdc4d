"""Runs of pytest within tests, without other plugins than those that are asked for."""

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
