"""The service, as programs call it."""

from __future__ import annotations

import json
import socket
import threading
import time
from typing import Any

import httpx
import pytest

from makespan import check, read_problem, read_result
from makespan.core.errors import FileError
from makespan.core.inputs import files
from makespan.studio.exercises import examples

EXAMPLES = {example["name"]: example["toml"] for example in examples()}
HARD = {
    "kind": "taskgraph",
    "tasks": [{"name": f"t{i}", "work": 3 + i * 7 % 11} for i in range(60)],
    "edges": [
        {"from": f"t{i}", "to": f"t{j}", "size": 1 + (i * j) % 9}
        for i in range(60)
        for j in {i + 5 + i % 3, i + 9}
        if j < 60
    ],
    "network": {"machines": [{"name": f"M{i}"} for i in range(4)]},
}
"""What exact search does not end with."""


def error(answer: httpx.Response, status: int) -> str:
    assert answer.status_code == status, answer.text[:1000]
    text: str = answer.json()["error"]
    return text


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_example_is_solved(name: str, client: httpx.Client, tmp_path: Any) -> None:
    """The answer is a result's file, which the referee accepts; and the same for its JSON form."""
    stated = client.post("/api/problem", json={"problem": EXAMPLES[name]}).json()
    (tmp_path / "again.toml").write_text(stated["toml"])
    (tmp_path / "first.toml").write_text(EXAMPLES[name])
    assert read_problem(tmp_path / "again.toml") == read_problem(tmp_path / "first.toml")
    for problem in (EXAMPLES[name], stated["problem"]):
        answer = client.post("/api/solve", json={"problem": problem, "time_limit": 1})
        (tmp_path / "result.json").write_bytes(answer.content)
        result = read_result(tmp_path / "result.json")
        assert result.status in ("optimal", "feasible")
        assert check(result)


def test_methods_are_compared(client: httpx.Client) -> None:
    """A row each, and a chart each where that is asked for."""
    asked = {"problem": EXAMPLES["graph"], "methods": ["heft", "cpop"], "time_limit": 1}
    found = client.post("/api/compare", json={**asked, "view": True}).json()
    assert {row["method"] for row in found["rows"]} == {"heft", "cpop"}
    assert len(found["view"]["data"]["charts"]) == 2
    charts = found["view"]["data"]["charts"]
    assert all(chart["diagrams"] for chart in charts)
    asked = {"problem": EXAMPLES["graph"], "view": True, "diagrams": False}
    alone = client.post("/api/solve", json=asked).json()["view"]["data"]["charts"][0]
    assert not alone["diagrams"]
    assert alone["bars"]
    assert alone["tables"]
    verdicts = client.post("/api/methods", json={"problem": EXAMPLES["graph"]}).json()
    assert next(v for v in verdicts if v["name"] == "heft")["applies"]
    assert set(client.post("/api/methods", json={}).json()) >= {"divisible", "taskgraph"}


def test_what_other_costs_would_change(client: httpx.Client) -> None:
    """Rates and one machine more, of the plan that is sent; a sentence of kinds without."""
    asked = {"problem": EXAMPLES["star"], "time_limit": 1}
    result = client.post("/api/solve", json=asked).json()
    found = client.post("/api/sensitivity", json={"result": result, "time_limit": 1}).json()
    assert found["value"] == result["makespan"]
    assert {rate["cost"] for rate in found["rates"]} >= {"load", "send.per_unit"}
    assert found["additions"]
    result = client.post("/api/solve", json={"problem": EXAMPLES["graph"]}).json()
    words = error(client.post("/api/sensitivity", json={"result": result}), 422)
    assert "have no answer to what if" in words


def test_a_wrong_plan_is_explained(client: httpx.Client) -> None:
    """By the referee's sentences; the plan can be drawn as it is."""
    plan = {
        "machines": ["M1", "M2"],
        "activities": [
            {"kind": "compute", "machine": "M1", "item": item, "amount": work, "start": 0, "end": 1}
            for item, work in enumerate([1, 1, 2, 1, 2, 1])
        ],
    }
    asked = {"problem": EXAMPLES["graph"], "schedule": plan, "view": True}
    found = client.post("/api/check", json=asked).json()
    assert not found["ok"]
    assert any("3 takes 2 s, not 1 s" in each["message"] for each in found["violations"])
    assert found["view"]["data"]["charts"]
    plan["activities"][0]["item"] = 99
    found = client.post("/api/check", json=asked).json()
    assert not found["ok"]


SAVED = {
    "toml": b'format = "makespan.problem/1"',
    "json": b'{"format": "makespan.result/1"',
    "csv": b"kind,machine",
    "svg": b"<svg",
    "png": b"\x89PNG",
    "pdf": b"%PDF",
    "html": b"<!DOCTYPE html>",
    "trace": b'{"traceEvents"',
    "python": b"from pathlib",
}


def test_results_are_saved_in_each_format(client: httpx.Client) -> None:
    """As files to keep, with their names and media types."""
    asked = {"problem": EXAMPLES["star"], "view": True, "time_limit": 1}
    result = client.post("/api/solve", json=asked).json()
    for form, start in SAVED.items():
        answer = client.post("/api/save", json={"result": result, "format": form})
        assert answer.content.startswith(start), form
        assert answer.headers["content-disposition"].startswith("attachment; filename=")
    asked = {"problem": EXAMPLES["graph"], "format": "svg", "picture": "graph"}
    assert b"task graph" in client.post("/api/save", json=asked).content


@pytest.mark.parametrize(
    ("what", "request_", "words"),
    [
        ("solve", {"problem": {"kind": "divisible", "load": -1}}, "-1 is negative; a load is"),
        ("solve", {"problem": "kind = 'divisible"}, "not valid TOML"),
        ("solve", {"problem": 7}, "7 is neither a problem nor the text of one"),
        ("solve", {}, "problem: is missing"),
        ("solve", {"problem": EXAMPLES["star"], "time_limit": 1e9}, "time_limit: 1000000000.0 is"),
        ("solve", {"problem": EXAMPLES["star"], "method": "hft"}, "there is no method 'hft'"),
        ("solve", {"problem": EXAMPLES["star"], "options": {"control": 1}}, "no method has"),
        ("solve", {"problem": EXAMPLES["star"], "mehtod": "heft"}, "did you mean 'method'"),
        ("check", {"problem": EXAMPLES["star"]}, "a request has one of result, schedule"),
        ("check", {"result": {}}, "problem: is missing"),
        ("save", {"problem": EXAMPLES["star"], "format": "exe"}, "'exe' is not allowed"),
        ("compare", {"problem": EXAMPLES["star"], "methods": ["hft"]}, "there is no method"),
    ],
)
def test_mistakes_are_named(
    what: str, request_: dict[str, Any], words: str, client: httpx.Client
) -> None:
    """With the library's own sentences, and their places."""
    assert words in error(client.post(f"/api/{what}", json=request_), 422)


def test_mistakes_have_places(client: httpx.Client) -> None:
    """Those of the problem's own form."""
    text = 'kind = "divisible"\nload = 1\n[platform]\ntopology = "star"\nworkers = [{ send = -2 }]'
    found = client.post("/api/solve", json={"problem": text}).json()["mistakes"]
    assert [each["place"] for each in found] == ["platform.workers[0].send.per_unit"]


def test_broken_requests_are_refused(client: httpx.Client) -> None:
    """What is no JSON, no UTF-8, nested without end, or too large."""
    form = {"content-type": "application/json"}
    post = lambda body: client.post("/api/solve", content=body, headers=form)  # noqa: E731
    assert "not valid JSON" in error(post(b"{"), 422)
    assert "not UTF-8" in error(post(b"\xff"), 400)
    assert "nested too deeply" in error(post(b'{"a":' + b"[" * 100_000), 422)
    assert "larger than 8 MiB" in error(post(b" " * (8 * 2**20 + 1)), 413)
    assert error(client.get("/api/solve"), 405)
    assert error(client.get("/no/such/page"), 404)
    assert error(client.get("/../../etc/passwd"), 404)


def test_no_file_is_read(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a problem names: the processes neither read nor write any."""
    resources = [{"samples": "/etc/passwd"}]
    asked = {"problem": {"kind": "partition", "tasks": 4, "resources": resources}}
    assert "files are neither read nor written here" in error(
        client.post("/api/solve", json=asked), 422
    )
    monkeypatch.setattr(files, "_closed", True)
    for use in (lambda: files.read_text("x"), lambda: files.write_whole("x", "")):
        with pytest.raises(FileError, match="x: files are neither read nor written here"):
            use()


def test_what_takes_too_much_is_refused(client: httpx.Client) -> None:
    """Before it is begun."""
    resources = [{"cost": 1.0}]
    huge = {"kind": "partition", "tasks": 10**9, "resources": resources}
    found = error(client.post("/api/solve", json={"problem": huge}), 413)
    assert "1,000,000 in all are the most" in found


def test_hostile_names_stay_text(client: httpx.Client) -> None:
    """In JSON, in pictures, and under a policy that would run nothing."""
    name = "<script>alert(1)</script>\u2028"
    workers = [{"name": name, "compute": 1.0}]
    platform = {"topology": "star", "workers": workers}
    asked = {"problem": {"kind": "divisible", "load": 1, "platform": platform}}
    answer = client.post("/api/solve", json=asked)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'; script-src 'self';" in answer.headers["content-security-policy"]
    for form in ("svg", "html"):
        saved = client.post("/api/save", json={"result": answer.json(), "format": form})
        assert "<script>alert" not in saved.text


def test_progress_is_told(client: httpx.Client) -> None:
    """As server-sent events, and the answer as the last of them."""
    asked = {"problem": HARD, "time_limit": 0.5}
    with client.stream(
        "POST", "/api/solve", json=asked, headers={"accept": "text/event-stream"}
    ) as answer:
        lines = [line for line in answer.iter_lines() if line]
    names = [line for line in lines if line.startswith("event: ")]
    assert "event: progress" in names
    assert names[-1] == "event: answer"
    assert json.loads(lines[-1].removeprefix("data: "))["format"] == "makespan.result/1"


def test_a_newer_request_ends_the_older(address: str, client: httpx.Client) -> None:
    """Of the same client; the older one is told so, and its process is free soon."""
    older: list[httpx.Response] = []
    own = {"x-client": "page/solve"}

    def ask() -> None:
        asked = {"problem": HARD, "time_limit": 30}
        older.append(httpx.post(f"{address}/api/solve", json=asked, headers=own, timeout=60))

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.5)
    newer = client.post("/api/solve", json={"problem": EXAMPLES["star"]}, headers=own)
    thread.join(10)
    assert newer.status_code == 200
    assert error(older[0], 409)


def test_a_solve_is_stopped_with_its_best(address: str, client: httpx.Client) -> None:
    """The plan that is known by then, of a search that would go on."""
    own = {"x-client": "page/solve"}
    answers: list[httpx.Response] = []

    def ask() -> None:
        asked = {"problem": HARD, "time_limit": 60}
        answers.append(httpx.post(f"{address}/api/solve", json=asked, headers=own, timeout=60))

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(1.0)
    assert client.post("/api/stop", json={}, headers=own).json() == {"stopped": True}
    thread.join(10)
    result = answers[0].json()
    assert result["status"] == "feasible"
    assert "interrupted: this is the best plan found so far" in result["notes"]


def test_who_leaves_frees_its_process(address: str, client: httpx.Client) -> None:
    """Long solves of clients that hang up hold nobody up."""
    host, port = address.removeprefix("http://").split(":")
    body = json.dumps({"problem": HARD, "time_limit": 60}).encode()
    head = f"POST /api/solve HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
    for _ in range(12):
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            time.sleep(0.1)
    start = time.monotonic()
    assert client.post("/api/solve", json={"problem": EXAMPLES["jobs"]}).status_code == 200
    assert time.monotonic() - start < 30


def test_openapi_is_valid(client: httpx.Client) -> None:
    """By a validator of others; its schemas hold what is sent."""
    jsonschema = pytest.importorskip("jsonschema")
    validate = pytest.importorskip("openapi_spec_validator").validate
    document = client.get("/openapi.json").json()
    validate(document)
    schemas = document["components"]["schemas"]
    for name, text in EXAMPLES.items():
        result = client.post("/api/solve", json={"problem": text, "time_limit": 1}).json()
        for schema, data in (
            ("solve-request", {"problem": result["problem"]}), ("result", result),
        ):  # fmt: skip
            whole = {"$ref": f"#/components/schemas/{schema}", "components": {"schemas": schemas}}
            jsonschema.validate(data, whole, jsonschema.Draft202012Validator)
        assert name
    assert client.get("/api/schema/divisible").json()["title"]
    assert error(client.get("/api/schema/nothing"), 422)
