"""The code on the page and in the README runs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from fakes import FakeClient, FakeGrid
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict

FOLDER = Path(__file__).parents[1]
PAGES = (FOLDER / "README.md", FOLDER.parents[1] / "docs" / "flower.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_on_a_page_runs(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two clients, one of them twice as fast."""
    names = {
        "grid": FakeGrid([FakeClient(0.01), FakeClient(0.02)], monkeypatch),
        "arrays": ArrayRecord({"w": Array(np.zeros(2))}),
        "message": Message(RecordDict({"config": ConfigRecord({"num-samples": 32})}), 1, "train"),
        "MetricRecord": MetricRecord,
    }
    blocks = re.findall(r"^```py(?:thon)?\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
    assert blocks
    exec("\n".join(blocks), names)
    shares = names["strategy"].history[-1].shares  # type: ignore[attr-defined]
    assert shares == pytest.approx({1: 1067, 2: 533}, abs=32)
