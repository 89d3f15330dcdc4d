"""A grid of Flower that times each reply, may stop waiting, and hands late replies over later."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from flwr.app import Message, MessageType

SHORTEST, LONGEST = 0.02, 3.0  # seconds between two looks for replies
PART = 0.02  # of the time that has passed: how precisely replies are timed
SILENT = 5  # times the limit after which a client that has not replied is asked again


class Reception:
    """What a strategy asks of a grid, with times; all else is the grid's own.

    ``limit``: seconds that training messages are waited for. ``seconds``: of the nodes that
    replied in this round. ``late``: node, reply and seconds of training messages of earlier rounds.
    """

    def __init__(self, grid: Any) -> None:
        self._grid = grid
        self._waiting: dict[str, tuple[int, float, bool]] = {}  # node, since when, for training
        self.limit: float | None = None
        self.seconds: dict[int, float] = {}
        self.late: list[tuple[int, Message, float]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._grid, name)

    def busy(self) -> set[int]:
        """Return the nodes whose training messages wait, but for those that are taken for lost."""
        since = time.monotonic() - SILENT * (self.limit or float("inf"))
        return {node for node, at, training in self._waiting.values() if training and at > since}

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> list[Message]:
        """Send messages and return the replies to them that come in time."""
        messages = list(messages)
        accepted = set(self._grid.push_messages(messages)) if messages else set()
        began = time.monotonic()
        ours = set()
        for meta in (each.metadata for each in messages):
            training = meta.message_type == MessageType.TRAIN
            if meta.message_id in accepted:
                ours.add(meta.message_id)
                self._waiting[meta.message_id] = meta.dst_node_id, began, training
            if training and self.limit is not None:
                timeout = self.limit if timeout is None else min(timeout, self.limit)
        self.seconds = {}
        replies: list[Message] = []
        while ours:
            replies += self._pull(ours)
            passed = time.monotonic() - began
            if timeout is not None and passed >= timeout:
                break
            if ours:
                time.sleep(min(max(SHORTEST, PART * passed), LONGEST))
        return replies

    def _pull(self, ours: set[str]) -> list[Message]:
        """Return new replies to ``ours``, and keep those that are late."""
        replies = []
        for reply in self._grid.pull_messages(list(self._waiting)):
            key = reply.metadata.reply_to_message_id
            node, at, training = self._waiting.pop(key)
            took = time.monotonic() - at
            if key in ours:
                ours.discard(key)
                replies.append(reply)
                self.seconds[node] = took
            elif training and reply.has_content():
                self.late.append((node, reply, took))
        return replies
