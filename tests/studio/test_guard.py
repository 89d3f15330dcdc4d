"""Who may ask."""

from __future__ import annotations

import pytest

from makespan.studio.guard import Guard, headers_of

PLAIN = {"host": "127.0.0.1:8321", "content-type": "application/json"}


def status(guard: Guard, path: str = "/api/solve", method: str = "POST", **headers: str) -> int:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    found = [(name.encode(), text.encode()) for name, text in {**PLAIN, **named}.items() if text]
    refusal = guard.refusal(method, path, headers_of(found))
    return 200 if refusal is None else refusal.status


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, 200),
        ({"host": "localhost:8321"}, 200),
        ({"host": "LOCALHOST:8321"}, 200),
        ({"host": "[::1]:8321"}, 200),
        ({"host": "rebound.example:8321"}, 421),
        ({"host": "127.0.0.1:8321.rebound.example"}, 421),
        ({"host": "127.0.0.1:80"}, 421),
        ({"host": ""}, 421),
        ({"origin": "http://127.0.0.1:8321"}, 200),
        ({"origin": "http://localhost:8321"}, 403),  # another origin than that of the host
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"origin": "null"}, 403),
        ({"sec_fetch_site": "same-origin"}, 200),
        ({"sec_fetch_site": "none"}, 200),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"content_type": "application/json; charset=utf-8"}, 200),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": ""}, 415),
    ],
)
def test_only_pages_of_this_server(headers: dict[str, str], expected: int) -> None:
    """By the names of this machine, from no other origin, and with no form of another page."""
    assert status(Guard("127.0.0.1", 8321, None), **headers) == expected


def test_links_from_elsewhere_open_the_page() -> None:
    """A page may link to this one; it can't call it."""
    guard = Guard("127.0.0.1", 8321, None)
    assert status(guard, "/", "GET", sec_fetch_site="cross-site") == 200
    assert status(guard, "/", "GET", host="rebound.example") == 421


@pytest.mark.parametrize(
    ("given", "expected"),
    [("Bearer secret", 200), ("bearer secret", 200), ("Bearer wrong", 401), ("secret", 401),
     ("", 401), ("Bearer secrét", 401)],
)  # fmt: skip
def test_a_token_is_needed(given: str, expected: int) -> None:
    """By whatever name the server is called; the page itself is no secret."""
    guard = Guard("0.0.0.0", 8321, "secret")
    assert status(guard, host="machine.example:8321", authorization=given) == expected
    assert status(guard, "/", "GET", host="machine.example:8321") == 200
