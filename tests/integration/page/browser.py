"""Drives a browser without a window (Debian's Chromium) by WebDriver over HTTP."""

import base64
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request

DRIVER = shutil.which("chromedriver")
# The browser shows only the page: it sends nothing to its vendor, asks no questions, and has no
# state from earlier runs.
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1500,1000",
         "--proxy-server=127.0.0.1:9", "--proxy-bypass-list=127.0.0.1")
# WebDriver's codes for keys that have no letter.
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Home": "\ue011", "End": "\ue010",
        "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Shift": "\ue008"}


class Browser:
    """`dark`: the user prefers dark colours."""

    def __init__(self, dark=False):
        self.folder = tempfile.TemporaryDirectory()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen([DRIVER, f"--port={port}"], stdout=subprocess.PIPE, text=True,
                                       cwd=self.folder.name)
        while "was started successfully" not in self.driver.stdout.readline():
            if self.driver.poll() is not None:
                raise RuntimeError("chromedriver does not start")
        flags = [*FLAGS, f"--user-data-dir={self.folder.name}",
                 *(["--blink-settings=preferredColorScheme=0"] if dark else [])]
        self.session = ""
        self.session = "/session/" + self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "acceptInsecureCerts": True, "goog:chromeOptions": {"args": flags},
            "goog:loggingPrefs": {"browser": "ALL"}}}})["sessionId"]

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.url + self.session + path, method=method,
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """Runs a function with this body in the page; returns its result."""
        return self.call("POST", "/execute/sync", {"script": script, "args": arguments})

    def settle(self):
        """Waits until the page is drawn."""
        self.call("POST", "/execute/async", {"script": "const done = arguments[0];"
                                             "requestAnimationFrame(() => requestAnimationFrame(() => "
                                             "setTimeout(done)))", "args": []})

    def press(self, *keys):
        """Presses one key after the other at the current focus. Shift+KEY presses KEY while Shift
        is held."""
        actions = []
        for key in keys:
            chord = [KEYS.get(part, part) for part in key.split("+")]
            actions += [{"type": "keyDown", "value": part} for part in chord]
            actions += [{"type": "keyUp", "value": part} for part in reversed(chord)]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})
        self.settle()

    def log(self):
        """Returns the browser's messages since the last call, such as errors of scripts and
        violations of policies."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def picture(self, file):
        pathlib.Path(file).write_bytes(base64.b64decode(self.call("GET", "/screenshot")))

    def close(self):
        self.call("DELETE", "")
        self.driver.terminate()
        self.driver.wait()
        self.driver.stdout.close()
        self.folder.cleanup()
