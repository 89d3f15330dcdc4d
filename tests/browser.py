"""A headless Chromium, driven over a pipe by its DevTools protocol."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from select import select
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe"),
)
PATIENCE = 60.0
SHIFT = 8


def chromium() -> str | None:
    """Return the path of a Chromium, or None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page in a browser with a profile of its own; errors are kept in ``errors``."""

    def __init__(self, profile: Path, *, size: tuple[int, int] = (1280, 860), dark: bool = False):
        program = chromium()
        assert program is not None
        commands, answers = profile / "commands", profile / "answers"
        os.mkfifo(commands)
        os.mkfifo(answers)
        # The browser reads commands from its descriptor 3 and answers on 4.
        self._process = subprocess.Popen(
            [
                *("/bin/sh", "-c", f'exec "$0" "$@" 3<"{commands}" 4>"{answers}"', program),
                *(*FLAGS, f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._write = os.open(commands, os.O_WRONLY)
        self._read = os.open(answers, os.O_RDONLY)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.errors: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=size[0],
            height=size[1],
            deviceScaleFactor=1,
            mobile=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._session = None
            self.call("Browser.close")
        except (OSError, TimeoutError, EOFError):
            self._process.kill()
        finally:
            self._process.wait(PATIENCE)
            os.close(self._read)
            os.close(self._write)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self._note(answer)
        if "error" in answer:
            raise OSError(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select([self._read], [], [], PATIENCE)[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise EOFError("the browser ended")
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def _note(self, event: dict[str, Any]) -> None:
        kind, about = event.get("method"), event.get("params", {})
        if kind == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif kind == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.errors.append(about["entry"]["text"])
        elif kind == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning"):
            self.errors.append(str(about["args"]))
        elif kind == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])

    def open(self, path: Path) -> None:
        """Load a file and wait until its script has run."""
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait("document.readyState === 'complete'")
        self.settle()

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise OSError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until a JavaScript expression is true."""
        until = time.monotonic() + PATIENCE
        while not self.value(expression):
            if time.monotonic() > until:
                raise TimeoutError(expression)
            time.sleep(0.02)

    def settle(self) -> None:
        """Wait until what has changed is drawn."""
        self.value(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
        )

    def move(self, x: float, y: float) -> None:
        """Move the mouse."""
        self._mouse("mouseMoved", x, y)

    def click(self, x: float, y: float, *, times: int = 1) -> None:
        """Click at a point of the window."""
        for number in range(1, times + 1):
            self._mouse("mousePressed", x, y, button="left", buttons=1, clickCount=number)
            self._mouse("mouseReleased", x, y, button="left", clickCount=number)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag from one point to another."""
        self.move(*start)
        self._mouse("mousePressed", *start, button="left", buttons=1, clickCount=1)
        middle = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        self._mouse("mouseMoved", *middle, button="left", buttons=1)
        self._mouse("mouseMoved", *end, button="left", buttons=1)
        self._mouse("mouseReleased", *end, button="left", clickCount=1)

    def wheel(self, x: float, y: float, down: float) -> None:
        """Turn the wheel over a point; negative is up."""
        self._mouse("mouseWheel", x, y, deltaX=0, deltaY=down)

    def _mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
        self.settle()

    def key(self, key: str, *, shift: bool = False) -> None:
        """Press a key: a character, or a name such as ``ArrowLeft``."""
        text = {"text": key} if len(key) == 1 else {}
        text = {"text": "\r"} if key == "Enter" else text
        codes = {"Enter": 13, "Tab": 9, "Escape": 27}
        code = {"windowsVirtualKeyCode": codes[key]} if key in codes else {}
        held = SHIFT if shift else 0
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=held, **text, **code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=held, **code)
        self.settle()

    def type(self, text: str) -> None:
        """Type text into what has the focus."""
        self.call("Input.insertText", text=text)
        self.settle()

    def screenshot(self, path: Path) -> None:
        """Write what is seen as a PNG image."""
        image = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(image))
