"""A process that answers orders, one after another; see ``core.system.subprocesses``."""

import contextlib
import os
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

from makespan.core.errors import InputError, MakespanError, TooLarge
from makespan.core.inputs.documents import table_in
from makespan.core.inputs.files import close_files
from makespan.core.system import memory
from makespan.flow.files.files import as_dict
from makespan.flow.kinds import generate
from makespan.studio.answers import ANSWERS, refuse_larger
from makespan.studio.exercises import examples
from makespan.studio.orders import GONE, Answer, Left, Notice, Order, Stop, Task, Warm, refused

SPACE = 4 * 2**30  # bytes of addresses beside those of memory: libraries map much unused
PART = 0.5  # of what a process may hold, for one thing
DONE = object()
LARGE = {"size": 100, "machines": 8}
"""A task graph whose methods are compiled, which those of the examples are not."""


class Worker:
    """Answers orders within ``most`` bytes, that much ``nicer`` than the server to who else works
    here; no file is read or written.
    """

    def __init__(self, most: float, nicer: int) -> None:
        self._orders: SimpleQueue[Order | Warm] = SimpleQueue()
        self._task: Task | None = None
        self._stop: Stop | None = None
        if hasattr(os, "nice"):
            os.nice(nicer)
        close_files()
        os.environ[memory.VARIABLE] = repr(PART * most / 1e9)
        with contextlib.suppress(ImportError, ValueError, OSError):
            import resource

            space = int(most) + SPACE
            resource.setrlimit(resource.RLIMIT_AS, (space, space))

    def hear(self, message: Order | Stop | Warm) -> None:
        """Take an order, or end one."""
        if not isinstance(message, Stop):
            self._orders.put(message)
            return
        self._stop = message
        self._heed(self._task)

    def _heed(self, task: Task | None) -> None:
        """End what is to be ended, whichever was heard first, its order or its end."""
        stop = self._stop
        if task is not None and stop is not None and task.order.number == stop.number:
            task.stop(left=stop.left)

    def run(self, tell: Callable[[Any], None]) -> None:
        """Answer what comes; while nothing does, get warm where that is asked for."""
        tell(Notice("ready", None))
        cold: Iterator[None] | None = None
        while True:
            try:
                order = self._orders.get(block=cold is None)
            except Empty:
                if cold is not None and next(cold, DONE) is DONE:
                    cold = None
                    tell(Notice("warm", None))
                continue
            if isinstance(order, Warm):
                cold = warming()
                continue
            task = self._task = Task(order, tell)
            self._heed(task)
            tell(answered(task))
            self._task = None


def answered(task: Task) -> Answer:
    """Return the answer to an order, whatever comes of it."""
    try:
        with task.watching():
            text = task.order.body.decode("utf-8-sig")
            request = table_in(text, "the request", ".json") if text else {}
            answer = ANSWERS[task.order.what](request, task)
        refuse_larger(len(answer.content))
        return answer
    except Left:
        return GONE
    except MemoryError:
        return refused(413, "there is not enough memory for this request")
    except UnicodeDecodeError as error:
        return refused(400, f"the request: byte {error.start} is not UTF-8 text")
    except TooLarge as error:
        return refused(413, str(error))
    except InputError as error:
        found = [{"place": place, "message": text} for place, text in error.mistakes]
        return refused(422, str(error), mistakes=found)
    except MakespanError as error:
        return refused(422, str(error))
    except RecursionError:
        return refused(422, "the request: is nested too deeply")
    except Exception as error:  # makespan's own mistake; what was asked is no part of the message
        return refused(500, f"internal error: {type(error).__name__}")


def warming() -> Iterator[None]:
    """Ask for what a page asks for with each example, and with what is large, one at a time."""
    for example in examples():
        stated = {"problem": example["toml"]}
        yield from _asked("problem", stated)
        yield from _asked("solve", {**stated, "view": True, "time_limit": 0.05})
        yield from _asked("methods", stated)
    large = as_dict(generate("taskgraph", options=LARGE))
    yield from _asked("solve", {"problem": large, "time_limit": 0.2})


def _asked(what: str, request: dict[str, Any]) -> Iterator[None]:
    with contextlib.suppress(Exception):  # who asks for it will be told
        ANSWERS[what](request, Task(Order(0, what, b""), lambda _: None))
    yield
