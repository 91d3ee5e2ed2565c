"""A headless Chromium that stays open and is asked by its DevTools protocol, through two pipes."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_OPTIONS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--remote-debugging-pipe",
]  # fmt: skip


class Chromium:
    """One page of a browser.

    Attributes:
      errors: what the console and the loader complained about, since they were last taken.
    """

    def __init__(self, receive: int, send: int) -> None:
        self._receive, self._send = receive, send
        self._rest = b""
        self._count = 0
        self._session: str | None = None
        self._loaded = False
        self.errors: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Calls a method of the protocol, and returns its result."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        number = self._count
        answer = self._wait(lambda message: message.get("id") == number)
        assert "error" not in answer, (method, answer)
        result: dict[str, Any] = answer["result"]
        return result

    def open(self, address: str) -> None:
        """Opens an address, and waits until everything on the page has been loaded."""
        self.errors.clear()
        self._loaded = False
        self.call("Page.navigate", url=address)
        if not self._loaded:
            self._wait(lambda message: message.get("method") == "Page.loadEventFired")

    def look(self, width: int, scheme: str) -> None:
        """Makes the page as wide as this, and the user one who wants ``light`` or ``dark``."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def run(self, script: str) -> Any:
        """Returns the value of an expression of JavaScript, or of its promise."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def _wait(self, is_wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            message = self._read()
            self._note(message)
            if is_wanted(message):
                return message

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            received = os.read(self._receive, 1 << 20)
            assert received, "Chromium has ended"
            self._rest += received
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        method, params = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.errors.append(str(params["exceptionDetails"].get("exception", params)))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(str(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent" and params["request"]["url"].startswith("http"):
            self.errors.append(f"loads {params['request']['url']}")


@contextmanager
def chromium(profile: Path) -> Iterator[Chromium]:
    """Starts Chromium with a folder for its settings; the test is skipped where it is not installed."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    from_here, to_here = os.pipe(), os.pipe()
    command = f'exec "$@" 3<&{from_here[0]} 4>&{to_here[1]}'
    arguments = [found, *_OPTIONS, f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(
        ["bash", "-c", command, "bash", *arguments], pass_fds=(from_here[0], to_here[1]),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(from_here[0])
    os.close(to_here[1])
    try:
        yield Chromium(to_here[0], from_here[1])
    finally:
        os.close(from_here[1])  # it ends when nobody can ask it any more
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(to_here[0])
