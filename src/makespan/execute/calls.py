"""Calls that are handed in one by one, as one job whose items they are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from itertools import count
from queue import SimpleQueue
from threading import Lock, Thread, current_thread
from typing import Any

from makespan.execute.carry_out import Background, Raised
from makespan.execute.dealing.items import Inbox


class Calls:
    """One job whose items are calls, as they are submitted; it begins with the first.

    ``begun`` gives the place and the job of a function :func:`makespan.execute.remote.called` over
    the calls: once there is one, as that shows what they are like.
    """

    def __init__(self, begun: Callable[[Inbox], AbstractContextManager[tuple[Any, Any]]]) -> None:
        self._begun = begun
        self._futures: dict[int, Future[Any]] = {}
        self._inbox = Inbox()
        self._came: SimpleQueue[tuple[int, Any] | None] = SimpleQueue()
        self._numbers = count()
        self._held = ExitStack()
        self._submitting = Lock()
        self._running: Background | None = None
        self._ended: BaseException | None = None

    def submit(
        self, call: tuple[Callable[..., Any], tuple[Any, ...]], callback: Any = None
    ) -> Future[Any]:
        """Hand in what makes a call; the callback is called with its future when it is done."""
        future: Future[Any] = Future()
        if callback is not None:
            future.add_done_callback(callback)
        with self._submitting:
            if self._ended is not None:
                raise RuntimeError(f"nothing can be submitted any more: {self._ended}")
            self._futures[next(self._numbers)] = future
            self._inbox.put(call)
            if self._running is None:
                place, job = self._held.enter_context(self._begun(self._inbox))
                job = replace(job, keep=lambda low, values: self._came.put((low, values)))
                self._running = Background(place, job, lambda: self._came.put(None))
                arguments = self._running, Raised(job.failures)
                self._handing = Thread(target=self._hand_out, args=arguments, daemon=True)
                self._handing.start()
        return future

    def _hand_out(self, running: Background, raised: Raised) -> None:
        while (found := self._came.get()) is not None:
            for number, value in enumerate(found[1], start=found[0]):
                error, future = raised.by(number), self._futures.pop(number)
                if not future.set_running_or_notify_cancel():
                    continue
                if error is None:
                    future.set_result(value)
                else:
                    future.set_exception(error)
        try:
            running.execution()
            ended: BaseException = RuntimeError("it was shut down")
        except BaseException as error:
            ended = error
        with self._submitting:
            self._ended = ended
        for future in self._futures.values():
            if isinstance(ended, asyncio.CancelledError):
                future.cancel()
            if future.set_running_or_notify_cancel():
                future.set_exception(ended)

    def wait(self) -> None:
        """Take no more, and wait until all are done."""
        self._end(lambda running: running.wait())

    def stop(self) -> None:
        """Withdraw what is not done."""
        self._end(lambda running: running.stop())

    def _end(self, end: Callable[[Background], object]) -> None:
        self._inbox.close()
        if self._running is not None:
            end(self._running)
            if current_thread() is not self._handing:  # where a callback does not call this
                self._handing.join()
        self._held.close()
