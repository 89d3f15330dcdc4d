"""The application: requests → pages, and orders to the pool."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from makespan.flow.serialize import as_json
from makespan.studio.exercises import examples
from makespan.studio.guard import HEADERS, Guard, headers_of
from makespan.studio.orders import GONE, Answer, refused
from makespan.studio.page import assets
from makespan.studio.pool import Pool

LARGEST = 8 * 2**20  # bytes of a request
ARRIVING = 30.0  # seconds for a request to arrive
LOOKED_AT = 2**18  # bytes up to which a request is looked into before a process reads it
SLOW = ("solve", "compare", "sensitivity")  # which of them have a limit
QUICK = 1.0  # seconds that a limit may be for a request to be quick
EVENTS = "text/event-stream"
POSTED = ("problem", "solve", "compare", "check", "sensitivity", "methods", "save", "exercise")
"""Which answers are asked for by a document."""
CLIENT = "x-client"
LONGEST_NAME = 100  # characters of a client's name


def application(pool: Pool, guard: Guard) -> ASGIApp:
    """Return the application, for any server that speaks ASGI."""
    paths = {path: Answer(200, text, media) for path, (media, text) in assets().items()}
    paths["/api/examples"] = Answer(200, json.dumps(examples()).encode())

    @asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        async with pool:
            yield

    async def stop(request: Request) -> Response:
        client = _client(request)
        return _response(Answer(200, as_json({"stopped": pool.stop(client or "")}).encode()))

    routes = [Route(path, _giving(answer)) for path, answer in paths.items()]
    routes += [Route(f"/api/{what}", _asking(pool, what), methods=["POST"]) for what in POSTED]
    routes.append(Route("/openapi.json", _looking(pool, "openapi")))
    routes.append(Route("/api/schema/{kind}", _looking(pool, "schema")))
    routes.append(Route("/api/stop", stop, methods=["POST"]))
    inner = Starlette(
        routes=routes,
        lifespan=living,
        exception_handlers={HTTPException: _no_page, Exception: _own_mistake},
    )
    return _guarded(inner, guard)


def _guarded(inner: ASGIApp, guard: Guard) -> ASGIApp:
    """Return an application that only those reach whom the guard lets in."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refusal = guard.refusal(scope["method"], scope["path"], headers_of(scope["headers"]))
            if refusal is not None:
                await _response(refusal)(scope, receive, send)
                return
        await inner(scope, receive, send)

    return application


Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]


def _giving(answer: Answer) -> Endpoint:
    async def give(_: Request) -> Response:
        return _response(answer)

    return give


def _looking(pool: Pool, what: str) -> Endpoint:
    async def look(request: Request) -> Response:
        body = as_json(dict(request.path_params)).encode()
        return _response(await _unless_gone(request, pool.answer(what, body)))

    return look


def _asking(pool: Pool, what: str) -> Endpoint:
    async def ask(request: Request) -> Response:
        try:
            async with asyncio.timeout(ARRIVING):
                body = await _body(request)
        except TimeoutError:
            return _response(refused(408, f"the request did not arrive in {ARRIVING:g} s"))
        except ClientDisconnect:
            return _response(GONE)
        if body is None:
            most = f"{LARGEST // 2**20} MiB"
            return _response(refused(413, f"the request is larger than {most}, the most"))
        client = _client(request)
        if EVENTS in request.headers.get("accept", ""):
            lines = _lines(pool, what, body, client, request)
            return StreamingResponse(lines, media_type=EVENTS, headers=HEADERS)
        waiting = pool.answer(what, body, client=client, slow=_is_slow(what, body))
        return _response(await _unless_gone(request, waiting))

    return ask


def _is_slow(what: str, body: bytes) -> bool:
    """Whether a request may take long, by the limit in it."""
    if what not in SLOW or len(body) > LOOKED_AT:
        return len(body) > LOOKED_AT
    try:
        return not json.loads(body)["time_limit"] <= QUICK
    except (ValueError, LookupError, TypeError, RecursionError):  # the answer will say so
        return True


async def _body(request: Request) -> bytes | None:
    """Return the body of a request; None where it is too large."""
    parts, size = [], 0
    async for part in request.stream():
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            return None
    return b"".join(parts)


def _client(request: Request) -> str | None:
    found = request.headers.get(CLIENT)
    return None if found is None else found[:LONGEST_NAME]


async def _unless_gone(request: Request, waiting: Awaitable[Answer]) -> Answer:
    """Return what is waited for; nothing once the client has left."""
    answer = asyncio.ensure_future(waiting)
    gone = asyncio.ensure_future(_wait_until_left(request))
    try:
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else GONE
    finally:
        gone.cancel()
        answer.cancel()


async def _wait_until_left(request: Request) -> None:
    message: Message = {}
    while message.get("type") != "http.disconnect":
        message = await request.receive()


async def _lines(
    pool: Pool, what: str, body: bytes, client: str | None, request: Request
) -> AsyncIterator[bytes]:
    """Yield server-sent events: what is told of progress, and the answer."""
    events: asyncio.Queue[bytes | None] = asyncio.Queue()

    def told(word: Any) -> None:
        events.put_nowait(_event(word.what, as_json({"value": word.value}).encode()))

    async def work() -> None:
        waiting = pool.answer(what, body, client=client, told=told, slow=_is_slow(what, body))
        answer = await _unless_gone(request, waiting)
        name = "answer" if answer.status == 200 else "error"
        events.put_nowait(_event(name, answer.content))
        events.put_nowait(None)

    task = asyncio.create_task(work())
    try:
        while (event := await events.get()) is not None:
            yield event
    finally:
        task.cancel()


def _event(name: str, data: bytes) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


def _response(answer: Answer) -> Response:
    headers = dict(HEADERS)
    if answer.name is not None:
        headers["content-disposition"] = f'attachment; filename="{answer.name}"'
    if answer.status == 503:
        headers["retry-after"] = "1"
    if answer.status == 401:
        headers["www-authenticate"] = "Bearer"
    return Response(answer.content, answer.status, headers, answer.media)


async def _no_page(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "there is no such page", 405: "this is not done by that method of HTTP"}
    response = _response(refused(error.status_code, words.get(error.status_code, error.detail)))
    response.headers.update(error.headers or {})
    return response


async def _own_mistake(_: Request, error: Exception) -> Response:
    return _response(refused(500, f"internal error: {type(error).__name__}"))
