"""What stands in for the worker of a pool, in its processes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from makespan.studio.orders import Answer, Notice, Order, Stop, Warm


class StandIn:
    """Does what the body of an order says."""

    def __init__(self, most: float, nicer: int) -> None:
        self.nicer = nicer
        self._orders: SimpleQueue[Order | Warm] = SimpleQueue()
        self._stopped = threading.Event()
        self._stops = -1

    def hear(self, message: Order | Stop | Warm) -> None:
        if isinstance(message, Stop):
            self._stops = message.number
            self._stopped.set()
        else:
            self._orders.put(message)

    def run(self, tell: Callable[[Any], None]) -> None:
        tell(Notice("ready", None))
        while True:
            order = self._orders.get()
            if isinstance(order, Warm):
                time.sleep(0.1)
                tell(Notice("warm", None))
                continue
            if self._stops != order.number:
                self._stopped.clear()
            word, _, number = order.body.decode().partition(" ")
            if word == "hangs":
                tell(Notice("limit", float(number)))
                time.sleep(60)
            elif word == "compiles":
                tell(Notice("limit", 0.1))
                tell(Notice("startup", "compiling"))
                time.sleep(float(number))
                tell(Notice("startup", None))
            elif word == "waits":
                tell(Notice("limit", 60.0))
                self._stopped.wait(float(number))
            elif word == "grows":
                tell(Notice("limit", 60.0))
                kept = bytearray(int(float(number)))
                kept[::4096] = b"x" * len(kept[::4096])
                time.sleep(60)
            elif word == "exits":
                os._exit(3)
            words = (os.getpid(), self._stopped.is_set(), self.nicer)
            tell(Answer(200, " ".join(map(str, words)).encode()))


class Failing:
    """Does not even begin."""

    def __init__(self, most: float, nicer: int) -> None:
        raise SystemExit("not today")
