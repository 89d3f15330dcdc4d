"""Who may ask: this machine's own pages, or who has the token."""

import hmac
from collections.abc import Callable
from typing import Any

from makespan.studio.orders import Answer, refused

LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
"""Of every answer: a page may load and call nothing but this server."""


class Guard:
    """Says which requests are refused by the server that listens at ``host`` and ``port``.

    Requests to ``/api/`` must bring ``token``; None where everybody on this machine may ask.
    """

    def __init__(self, host: str, port: int, token: str | None) -> None:
        self.token = token
        self.hosts = {f"[{name}]" if ":" in name else name for name in {host, *LOOPBACK}}
        self.hosts |= {f"{name}:{port}" for name in self.hosts}

    def refusal(
        self, method: str, path: str, headers: Callable[[str], str | None]
    ) -> Answer | None:
        """Return the answer to a request that is refused; None to one that is not.

        Where there is a token, nobody gets anything without it, whatever name the server is called
        by. Where there is none, the names are those of this machine: a page elsewhere whose name
        was made to lead here is refused.
        """
        host = (headers("host") or "").lower()
        if self.token is None and host not in self.hosts:
            return refused(421, "this server answers to the names of this machine alone")
        origin = headers("origin")
        if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
            return refused(403, "a page of another origin can't call this server")
        if not path.startswith("/api/"):
            return None
        if headers("sec-fetch-site") not in (None, "same-origin", "none"):
            return refused(403, "a page of another origin can't call this server")
        if self.token is not None and not self._has_token(headers("authorization") or ""):
            return refused(401, "a token is needed: 'Authorization: Bearer TOKEN'")
        media = (headers("content-type") or "").partition(";")[0].strip().lower()
        if method == "POST" and media != "application/json":
            return refused(415, "a request is application/json")
        return None

    def _has_token(self, given: str) -> bool:
        scheme, _, token = given.partition(" ")
        wanted = (self.token or "").encode()
        return scheme.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), wanted)


def headers_of(found: list[tuple[bytes, bytes]]) -> Callable[[str], Any]:
    """Return what looks a header up; of one that stands there twice, all."""
    table: dict[str, str] = {}
    for name, value in found:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        table[key] = f"{table[key]}, {text}" if key in table else text
    return table.get
