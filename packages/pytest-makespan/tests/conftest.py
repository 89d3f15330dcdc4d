"""Runs of pytest within tests."""

pytest_plugins = ["pytester"]
