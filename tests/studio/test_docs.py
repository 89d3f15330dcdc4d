"""The page of the docs does what it says."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import httpx
import pytest

from makespan.studio.requests import REFUSALS, REQUESTS, SaveRequest

PAGE = (Path(__file__).parents[2] / "docs" / "studio.md").read_text()
CALLS = re.findall(r"^curl .*?(?=^curl |^```)", PAGE, re.S | re.M)


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_the_calls_on_the_page_work(number: int, client: httpx.Client) -> None:
    """Each as curl would send it."""
    words = shlex.split(CALLS[number])
    url = next(word for word in words if word.startswith("http://127.0.0.1:8321/"))
    path = url.removeprefix("http://127.0.0.1:8321")
    if "-d" not in words:
        assert client.get(path).json()
        return
    header = words[words.index("-H") + 1].split(": ")
    body = words[words.index("-d") + 1]
    answer = client.post(path, content=body, headers=dict([header]))
    assert answer.status_code == 200, answer.text
    assert answer.text.startswith("<svg") if "svg" in body else json.loads(answer.text)


def test_the_page_names_every_request_and_refusal() -> None:
    """None is missing, and none is there that does not exist."""
    assert len(CALLS) >= len(REQUESTS)
    rows = re.findall(r"^\| `POST /api/(\w+)`", PAGE, re.M)
    assert set(rows) == {*REQUESTS, "stop"}
    table = PAGE.split("## Refusals")[1].split("##")[0]
    assert {int(status) for status in re.findall(r"\b[45]\d\d\b", table)} == set(REFUSALS)
    formats = SaveRequest.model_json_schema()["properties"]["format"]["enum"]
    assert all(f"`{name}`" in PAGE for name in formats)
