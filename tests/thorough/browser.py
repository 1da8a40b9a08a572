"""A headless browser for tests: Chromium, driven through chromedriver by the WebDriver protocol. Needs no package."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
]
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's key for an element's number
KEYS = {"Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015", "Tab": "\ue004", "Enter": "\ue007"}


class Browser:
    """A browser with an empty profile and no network; `with Browser() as browser:` ends it."""

    def __enter__(self) -> Browser:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.folder = tempfile.mkdtemp()
        self.driver = subprocess.Popen([DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{port}"
        options = {
            "binary": CHROMIUM,
            "args": [*ARGUMENTS, "--proxy-server=127.0.0.1:9", f"--user-data-dir={self.folder}"],
        }
        wanted = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
        try:
            self._wait()
            self.url += "/session/" + self._post("/session", {"capabilities": wanted})["sessionId"]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        if "/session/" in self.url:
            self._call("DELETE", "")
        self.driver.terminate()
        self.driver.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait(self) -> None:
        for _ in range(200):
            try:
                return self._call("GET", "/status")
            except urllib.error.URLError:
                time.sleep(0.05)
        raise RuntimeError("chromedriver did not start")

    def _call(self, method: str, path: str, body: dict | None = None) -> object:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"].splitlines()[0]) from None

    def _post(self, path: str, body: dict) -> object:
        return self._call("POST", path, body)

    # ---- What tests do ----------------------------------------------------------------------------------------------

    def open(self, path: Path, width: int = 1200, dark: bool = False, reduced: bool = False) -> None:
        """Open a file in a window of a width, as a reader with these preferences sees it."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", metrics)
        self.command("Emulation.setScrollbarsHidden", {"hidden": True})
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if reduced else "no-preference"},
        ]
        self.command("Emulation.setEmulatedMedia", {"features": features})
        self.command("Emulation.setFocusEmulationEnabled", {"enabled": True})  # focus() of an inactive window is silent
        self._post("/url", {"url": path.resolve().as_uri()})

    def command(self, name: str, parameters: dict) -> object:
        """A command of the DevTools protocol."""
        return self._post("/goog/cdp/execute", {"cmd": name, "params": parameters})

    def run(self, script: str, *arguments: object) -> object:
        """What a script returns in the page; a script's exception is a RuntimeError."""
        return self._post("/execute/sync", {"script": script, "args": list(arguments)})

    def click(self, selector: str) -> None:
        self._post(f"/element/{self._element(selector)}/click", {})

    def press(self, key: str) -> None:
        """Press and release a key in what has the focus."""
        keys = [{"type": kind, "value": KEYS.get(key, key)} for kind in ("keyDown", "keyUp")]
        self._post("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": keys}]})

    def _element(self, selector: str) -> str:
        return self._post("/element", {"using": "css selector", "value": selector})[ELEMENT]

    def text(self, selector: str) -> str:
        return self._call("GET", f"/element/{self._element(selector)}/text")

    def messages(self) -> list[str]:
        """What the page wrote to its console since it was last asked, errors included."""
        return [entry["message"] for entry in self._post("/se/log", {"type": "browser"})]

    def picture(self, path: Path) -> None:
        """The whole page as a PNG."""
        size = self.command("Page.getLayoutMetrics", {})["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        wanted = {"format": "png", "captureBeyondViewport": True, "clip": clip}
        answer = self.command("Page.captureScreenshot", wanted)
        path.write_bytes(base64.b64decode(answer["data"]))
