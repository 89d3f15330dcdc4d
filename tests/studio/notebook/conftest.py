"""A notebook with boards, in JupyterLab and in marimo, where they are installed."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tests.notebooks import in_lab, in_marimo


@pytest.fixture(scope="module", params=["jupyterlab", "marimo"])
def notebook(request, tmp_path_factory):
    """A notebook with an empty board, a cell that reads it, and a board with a plan."""
    if find_spec(request.param) is None or find_spec("anywidget") is None:
        pytest.skip(f"{request.param} or anywidget is not installed")
    opened = in_lab if request.param == "jupyterlab" else in_marimo
    with opened(tmp_path_factory.mktemp(request.param)) as found:
        yield found
