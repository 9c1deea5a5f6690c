"""`kubectl synergy ui` in a real browser, with an API server of our own: the page follows the cluster, and runs nothing."""

import contextlib
import http.server
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from browser import DRIVER, Browser

HOSTILE = "<img src=x onerror=window.hurt=1>"


def node(name, zone="a"):
    amounts = {"cpu": "8", "memory": "32Gi", "pods": "110", "nvidia.com/gpu": "4"}
    return {"metadata": {"name": name, "uid": name, "labels": {"topology.kubernetes.io/zone": zone}},
            "status": {"allocatable": amounts, "capacity": amounts}}


def pod(name, on=None, message=None, gpus="1"):
    conditions = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
                   "lastTransitionTime": "2026-01-01T00:00:00Z"}] if message else []
    return {"metadata": {"name": name, "namespace": "research", "uid": f"uid-{name}", "resourceVersion": "1",
                         "annotations": {"note": HOSTILE}, "labels": {}},
            "spec": {**({"nodeName": on} if on else {}), "schedulerName": "synergy-scheduler",
                     "containers": [{"name": "c", "resources": {"requests": {"cpu": "2", "memory": "1Gi", "nvidia.com/gpu": gpus},
                                                                "limits": {"nvidia.com/gpu": gpus}}}]},
            "status": {"phase": "Running" if on else "Pending", "conditions": conditions}}


class Api:
    """Lists what is in it, and nothing else."""

    def __init__(self):
        self.nodes, self.pods, self.asked = [], [], []
        self.down = False
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                status, answer = outer.answer(urllib.parse.urlsplit(self.path).path)
                text = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def answer(self, path):
        self.asked.append(path)
        if self.down:
            return 503, {"kind": "Status", "code": 503, "message": f"away {HOSTILE}"}
        for one in self.pods:
            if path == f"/api/v1/namespaces/research/pods/{one['metadata']['name']}":
                return 200, {"kind": "Pod", "apiVersion": "v1", **one}
        lists = {"/api/v1/nodes": self.nodes, "/api/v1/pods": self.pods}
        if path.endswith(("/trainingprofiles", "/events")):
            lists[path] = []
        if path not in lists:
            return 404, {"kind": "Status", "code": 404, "message": "there is none"}
        return 200, {"kind": "List", "metadata": {"resourceVersion": "1"}, "items": lists[path]}

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Ui:
    def __init__(self, api, folder):
        config = pathlib.Path(folder) / "kubeconfig"
        config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": api.url}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "users": [{"name": "u", "user": {}}]}), encoding="utf-8")
        self.process = subprocess.Popen([pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy", "ui", "--kubeconfig", config],
                                        stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


@unittest.skipUnless(DRIVER, "no chromedriver: scripts/setup.sh installs it")
class UiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(contextlib.closing(Browser()))

    def setUp(self):
        self.api = self.enterContext(contextlib.closing(Api()))
        self.api.nodes = [node("n1"), node("n2", zone="b")]
        self.api.pods = [pod("train-0", on="n1"), pod("waits", message=f"0/2 nodes: {HOSTILE}")]
        self.ui = self.enterContext(contextlib.closing(Ui(self.api, self.enterContext(tempfile.TemporaryDirectory()))))
        self.browser.open(self.ui.url)
        # Before its server goes.
        self.addCleanup(self.browser.open, "about:blank")

    def tearDown(self):
        self.assertEqual(self.browser.log(), [])

    def wait_for(self, script, wanted):
        """Until the page says so; its next refresh is at most three seconds away."""
        deadline = time.monotonic() + 30
        while (there := self.browser.run(script)) != wanted:
            self.assertLess(time.monotonic(), deadline, f"{there} is not {wanted}")
            time.sleep(0.1)

    def wait_for_pods(self, wanted):
        self.wait_for("""return Object.fromEntries([...document.querySelectorAll("button[data-pod]")].map((pod) =>
            [pod.querySelector(".name")?.textContent ?? pod.textContent, pod.closest(".node")?.querySelector("h4").textContent ?? null]))""", wanted)

    def unfold(self):
        self.wait_for("return document.querySelectorAll('.map > details').length", 2)
        self.browser.run("for (const group of document.querySelectorAll('.map > details')) group.open = true")

    def test_pods_are_shown_as_they_come_and_go(self):
        self.unfold()
        self.wait_for_pods({"train-0": "n1", "waits": None})
        self.api.pods = [pod("train-0", on="n1"), pod("waits", on="n2"), pod("new", on="n2")]
        self.wait_for_pods({"train-0": "n1", "waits": "n2", "new": "n2"})
        self.api.pods = self.api.pods[1:]
        self.wait_for_pods({"waits": "n2", "new": "n2"})
        self.api.nodes.append(node("n3"))
        self.wait_for("return [...document.querySelectorAll('.node h4')].map((node) => node.textContent)", ["n1", "n3", "n2"])

    def test_the_groups_are_zones(self):
        self.unfold()
        self.wait_for("return [...document.querySelectorAll('.group-name')].map((name) => name.textContent)", ["a", "b"])

    def test_enter_on_a_pod_tells_what_explain_says(self):
        self.unfold()
        self.wait_for_pods({"train-0": "n1", "waits": None})
        self.browser.run("document.querySelector('button.pod').focus()")
        self.browser.press("Enter")
        self.wait_for("return document.getElementById('details-text').textContent.includes('research/train-0')", True)

    def test_nothing_that_a_pod_or_the_api_server_says_is_run(self):
        self.unfold()
        self.wait_for_pods({"train-0": "n1", "waits": None})
        self.assertIn(HOSTILE, self.browser.run("return document.querySelector('tbody').textContent"))
        self.browser.run("document.querySelector('tbody button').click()")
        self.wait_for("return document.getElementById('details-text').hidden", False)
        self.assertIn(HOSTILE, self.browser.run("return document.getElementById('details').textContent"))
        self.browser.run("document.getElementById('details').close()")
        self.assertIsNone(self.browser.run("return window.hurt"))
        self.assertEqual(self.browser.run("return document.querySelectorAll('img').length"), 0)

    def test_a_cluster_that_does_not_answer_is_told_and_asked_again(self):
        self.unfold()
        self.api.down = True
        self.wait_for("return document.querySelector('.figures').textContent.startsWith('What is shown is old: ')", True)
        self.assertEqual(self.browser.run("return document.querySelectorAll('img').length"), 0)
        self.api.down = False
        self.wait_for("return document.querySelector('.figures').textContent.startsWith('As of ')", True)
        # The browser itself logs an answer with an error status.
        self.assertTrue(all("status of 502" in line for line in self.browser.log()))

    def test_only_who_was_told_the_path_gets_in(self):
        address = urllib.parse.urlsplit(self.ui.url)
        for path in ("/", "/state", "/x/state"):
            with self.assertRaisesRegex(urllib.error.HTTPError, "404"):
                urllib.request.urlopen(f"http://{address.netloc}{path}", timeout=10)
        self.assertEqual(address.hostname, "127.0.0.1")

    def test_only_the_first_answer_is_the_whole_state(self):
        self.unfold()
        answers = "return performance.getEntriesByType('resource').map((entry) => entry.name.split('/').pop())"
        self.wait_for(f"{answers}.length > 1".replace("return ", "return (", 1).replace(".length", ").length", 1), True)
        names = self.browser.run(answers)
        self.assertEqual(names[0], "state")
        self.assertEqual(set(names[1:]), {"state?since=1"})


if __name__ == "__main__":
    unittest.main()
