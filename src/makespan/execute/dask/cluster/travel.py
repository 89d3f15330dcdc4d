"""Our code travels to scheduler and workers, which need nothing but what Dask needs.

Sent with every chunk it would cost more than small chunks do; so its text goes to each process
once, to be a module there whose name holds a hash of the text: another version of makespan, whether
of another client or installed there, does not get in its way. Here that name is one more of the
module itself, so that functions and classes are pickled by it, in a few bytes.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import sys
from collections.abc import Callable
from hashlib import sha256
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from makespan.execute import remote

LONGEST = 3.0  # seconds that a worker is waited for which does not answer

_SENT: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""By client, the connection to the scheduler that was told."""
log = logging.getLogger("makespan")

TEXT = inspect.getsource(remote)
NAME = f"makespan_{sha256(TEXT.encode()).hexdigest()[:12]}"
sys.modules[NAME] = remote
for _thing in vars(remote).values():
    if isinstance(_thing, (type, FunctionType)) and _thing.__module__ == remote.__name__:
        _thing.__module__ = NAME


async def send_code(client: Any) -> None:
    """See to it that scheduler and workers, also those to come, know what is called there."""
    line = client.scheduler_comm
    if _SENT.get(client) is line:
        return
    install, plugin = _by_value()

    async def to_workers() -> None:
        try:
            async with asyncio.timeout(LONGEST):
                await client.register_plugin(plugin, name=f"code-of-{NAME}")
        except (OSError, TimeoutError) as error:  # the others have it, and those that come will
            log.info("a worker did not answer: %s", error)

    await asyncio.gather(to_workers(), client.run_on_scheduler(install, NAME, TEXT))
    _SENT[client] = line


def _by_value() -> tuple[Callable[..., Any], Any]:
    """Return what installs a module; local, so that cloudpickle sends all of it."""
    from distributed import WorkerPlugin

    def install(name: str, text: str) -> None:
        import linecache
        import sys
        from types import ModuleType

        if name not in sys.modules:
            file = f"<{name}>"
            linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
            sys.modules[name] = ModuleType(name)
            exec(compile(text, file, "exec"), sys.modules[name].__dict__)

    class Code(WorkerPlugin):  # type: ignore[misc]
        def __init__(self, name: str, text: str) -> None:
            self.module, self.text = name, text

        def setup(self, worker: Any) -> None:
            install(self.module, self.text)

    return install, Code(NAME, TEXT)
