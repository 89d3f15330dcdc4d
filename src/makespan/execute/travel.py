"""Our code travels to scheduler and workers, which need nothing but what Dask needs.

The functions that are called there (:class:`makespan.execute.remote.Sent`) are pickled with the
compressed text of their module, of which it is made where there is none: no process is ever without
it, whenever it joins or wakes. Its name holds a hash of the text: another version of makespan,
whether of another client or installed there, does not get in its way. Here that name is one more of
the module itself, so that all else in it is pickled by name, in a few bytes.
"""

from __future__ import annotations

import inspect
import sys
import zlib
from hashlib import sha256
from types import FunctionType, ModuleType

from makespan.execute import remote

FIND = "getattr(__import__('sys').modules.get(name) or eval(make), what)"
MAKE = """(
    file := f"<{name}>",
    code := __import__("zlib").decompress(text).decode(),
    __import__("linecache").cache.update({file: (len(code), None, code.splitlines(True), file)}),
    module := __import__("types").ModuleType(name),
    exec(compile(code, file, "exec"), vars(module)),
    vars(module).update(ORIGIN=(find, {"name": name, "text": text, "make": make, "find": find})),
    __import__("sys").modules.setdefault(name, module),
)[-1]"""
"""It is known to others when it is complete: several threads may unpickle it at a time."""


def travels(module: ModuleType) -> tuple[str, bytes]:
    """Let a module travel that imports nothing of makespan; return its name, and its text."""
    text = inspect.getsource(module)
    name = f"makespan_{sha256((text + MAKE).encode()).hexdigest()[:12]}"
    packed = zlib.compress(text.encode(), 9)
    vars(module)["ORIGIN"] = FIND, {"name": name, "text": packed, "make": MAKE, "find": FIND}
    sys.modules[name] = module
    for thing in vars(module).values():
        if isinstance(thing, (type, FunctionType)) and thing.__module__ == module.__name__:
            thing.__module__ = name
    return name, packed


NAME, COMPRESSED = travels(remote)
work = remote.work
dropped, taken_back = remote.Sent(remote.dropped), remote.Sent(remote.taken_back)
