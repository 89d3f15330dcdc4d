"""A server for people on this machine, or for those who have its token."""

import errno
import os
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable
from typing import Any

from makespan.core.errors import InputError
from makespan.core.system.startup import optional
from makespan.studio.guard import LOOPBACK, Guard

MOST_CONNECTIONS = 256
ENDING = 2  # seconds for answers that are on their way at the end
MOST_PROCESSES = 8


def serve(
    host: str, port: int, token: str | None, *, browser: bool, say: Callable[[str], None]
) -> None:
    """Serve until Ctrl-C.

    Raises InputError if the address can't be listened at, or lets others in without a token;
    MissingExtra if the libraries that serve are not installed.
    """
    uvicorn = optional("uvicorn")
    optional("starlette")
    if host not in LOOPBACK and not token:
        raise InputError(
            f"--host {host}: lets other machines in, which must bring a token: give --token TEXT"
        )
    from makespan.studio.app import application
    from makespan.studio.pool import Pool

    pool = Pool(min(MOST_PROCESSES, max(2, os.cpu_count() or 1)))
    listening = _listening(host, port)
    with listening:
        port = listening.getsockname()[1]
        server = uvicorn.Server(
            uvicorn.Config(
                application(pool, Guard(host, port, token or None)),
                log_level="error",
                access_log=False,
                server_header=False,
                ws="none",
                lifespan="on",
                limit_concurrency=MOST_CONNECTIONS,
                timeout_graceful_shutdown=ENDING,
            )
        )
        shown = f"[{host}]" if ":" in host else {"0.0.0.0": socket.gethostname()}.get(host, host)
        address = f"http://{shown}:{port}/{f'#token={token}' if token else ''}"
        say(f"makespan is at {address} (Ctrl-C ends it)")
        if browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        usual = server.handle_exit
        ignored = [
            number
            for number in (signal.SIGINT, signal.SIGTERM)
            if signal.getsignal(number) is signal.SIG_IGN
        ]

        def handle_exit(number: int, frame: Any) -> None:
            if number not in ignored:  # which the server would not respect
                pool.end()  # answers that are on their way would delay the end
                usual(number, frame)

        server.handle_exit = handle_exit
        server.run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; that nobody else does there is found out at once."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        found = socket.socket(family, kind)
        if os.name == "posix":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind(address)
            found.listen()  # the browser may be here before the server takes connections
        except BaseException:
            found.close()
            raise
    except OSError as error:
        raise InputError(_fault(host, port, error)) from error
    return found


def _fault(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"--port {port}: is in use by another program; --port 0 takes one that is free"
    if error.errno == errno.EACCES:
        return f"--port {port}: only the administrator may use it; those from 1024 on are free"
    return f"--host {host}: can't be listened at: {error.strerror}"
