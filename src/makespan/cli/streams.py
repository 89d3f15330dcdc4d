"""The standard streams: closed ones lead nowhere, and what can't be written is said."""

from __future__ import annotations

import os
import sys

STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def open_closed_streams() -> None:
    """Let closed standard streams read and write nothing.

    Otherwise the next file that is opened would get the number of a closed stream, and what is
    meant for the stream would end in the file.
    """
    for number, (name, mode) in enumerate(STREAMS):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
            stream = os.fdopen(number, mode, closefd=False)
            setattr(sys, name, stream)


def forget_stdout() -> None:
    """Let the interpreter's last flush of a stream that can't be written go nowhere."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
    except (OSError, ValueError):
        return
