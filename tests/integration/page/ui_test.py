"""Tests `kubectl synergy ui` in a real browser, with an API server of our own: the page follows the
cluster, and changes nothing."""

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
from page_test import CONTRAST

HOSTILE = "<img src=x onerror=window.hurt=1>"
KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
POLICIES = "/apis/synergy.io/v1alpha1/roundpolicies"
PROGRESS = "/api/v1/namespaces/synergy-system/services/https:synergy-controller:progress/proxy/progress"
TOKEN = "/api/v1/namespaces/synergy-system/serviceaccounts/synergy-controller-progress/token"
LARGE = 5000  # nodes


def node(name, zone="a"):
    amounts = {"cpu": "8", "memory": "32Gi", "pods": "110", "nvidia.com/gpu": "4"}
    return {"metadata": {"name": name, "uid": name, "labels": {"topology.kubernetes.io/zone": zone}},
            "status": {"allocatable": amounts, "capacity": amounts}}


def pod(name, on=None, message=None, gpus="1", labels=None, resource="nvidia.com/gpu"):
    conditions = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
                   "lastTransitionTime": "2026-01-01T00:00:00Z"}] if message else []
    return {"metadata": {"name": name, "namespace": "research", "uid": f"uid-{name}", "resourceVersion": "1",
                         "annotations": {"note": HOSTILE}, "labels": labels or {}},
            "spec": {**({"nodeName": on} if on else {}), "schedulerName": "synergy-scheduler",
                     "containers": [{"name": "c",
                                     "resources": {"requests": {"cpu": "2", "memory": "1Gi", resource: gpus},
                                                   "limits": {resource: gpus}}}]},
            "status": {"phase": "Running" if on else "Pending", "conditions": conditions}}


def member(name, gang, size, **more):
    return pod(name, labels={"synergy.io/gang": gang, "synergy.io/gang-size": str(size)}, **more)


def reserved(one):
    """Returns the pod with a reservation of GPUs, as the controller writes it."""
    key = "synergy.io/gpu-reservation"
    now = int(time.time())

    def at(minutes):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now + 60 * minutes))
    one["metadata"]["annotations"][key] = json.dumps({
        "job": f"research/{one['metadata']['name']}", "priority": 0, "places": [{"node": "n1", "gpus": 4}],
        "earliest": at(30), "likely": at(60), "latest": at(90), "waitsFor": ["research/train-0"], "until": at(10)})
    one["metadata"]["managedFields"] = [{
        "manager": "synergy", "operation": "Update", "apiVersion": "v1", "time": at(0), "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:annotations": {f"f:{key}": {}}}}}]
    return one


def progress(name, done, silent=0, **more):
    """Returns the controller's answer about a training of a thousand iterations, on which an agent
    has just reported."""
    now = time.time_ns()
    second = 10**9
    return {"uid": f"uid-{name}", "namespace": "research", "name": name, "format": "tqdm", "iteration": done,
            "total": 1000, "rate": 12.34,
            "remaining": 3051 * second, "last": now - silent * second, "at": now, "age": second, **more}


def queues(problem=None):
    """Returns two jobs in a queue of one GPU: one has its turn, and one waits."""
    def workload(job, **status):
        template = {"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": job, "controller": True}
        return {"metadata": {"name": f"job-{job}"[:20], "namespace": "research", "uid": f"w-{job}",
                             "ownerReferences": [owner], "creationTimestamp": "2026-01-01T00:00:00Z"},
                "spec": {"queueName": "q", "podSets": [{"name": "main", "count": 1, "template": template}]},
                "status": status}

    reserved = {"type": "QuotaReserved", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    quota = {"name": "any", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "1"}]}
    status = {"name": "train", "ready": problem is None, "message": problem or ""}
    return {POLICIES: [{"metadata": {"name": "turns", "uid": "turns"},
                        "spec": {"clusterQueues": ["train"], "policy": "las"}, "status": {"queues": [status]}}],
            f"{KUEUE}/workloads": [workload("first", conditions=[reserved]), workload(f"second{HOSTILE}")],
            f"{KUEUE}/localqueues": [{"metadata": {"name": "q", "namespace": "research"},
                                      "spec": {"clusterQueue": "train"}}],
            f"{KUEUE}/clusterqueues": [{"metadata": {"name": "train"},
                                        "spec": {"resourceGroups": [{"flavors": [quota]}]}}]}


class Api:
    """An API server that only lists and watches the objects in it."""

    def __init__(self):
        self.nodes, self.pods, self.asked = [], [], []
        self.lists = {}  # path -> objects of another kind
        self.progress = None
        self.down = False
        self.rights = None  # token -> the namespace that it may read; None: no token is needed
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

            def do_GET(self):
                path = urllib.parse.urlsplit(self.path).path
                status, answer = outer.refusal(path, self.headers["Authorization"]) or outer.answer(path)
                if self.path.startswith(PROGRESS) and self.headers["Synergy-Token"] != "abc":
                    status, answer = 401, {"kind": "Status", "code": 401, "message": "no token"}
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

    def refusal(self, path, authorization):
        if self.rights is None:
            return None
        namespace = self.rights.get((authorization or "").removeprefix("Bearer "))
        if namespace is None:
            return 401, {"kind": "Status", "code": 401, "message": "Unauthorized"}
        if path.endswith("/selfsubjectreviews"):
            return 201, {"kind": "SelfSubjectReview"}
        if f"/namespaces/{namespace}/" not in path:
            return 403, {"kind": "Status", "code": 403, "message": f"{HOSTILE} cannot list that"}
        return None

    def answer(self, path):
        self.asked.append(path)
        if self.down:
            return 503, {"kind": "Status", "code": 503, "message": f"away {HOSTILE}"}
        for one in self.pods:
            if path == f"/api/v1/namespaces/research/pods/{one['metadata']['name']}":
                return 200, {"kind": "Pod", "apiVersion": "v1", **one}
        if path == PROGRESS and self.progress is not None:
            return 200, {"pods": self.progress}
        if path == TOKEN and self.progress is not None:
            return 201, {"status": {"token": "abc"}}
        lists = {"/api/v1/nodes": self.nodes, "/api/v1/pods": self.pods, "/api/v1/namespaces/research/pods": self.pods,
                 **self.lists}
        if path.endswith(("/trainingprofiles", "/events")):
            lists[path] = []
        if path not in lists:
            return 404, {"kind": "Status", "code": 404, "message": "there is none"}
        return 200, {"kind": "List", "metadata": {"resourceVersion": "1"}, "items": lists[path]}

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Ui:
    def __init__(self, api, folder, *options):
        self.config = config = pathlib.Path(folder) / "kubeconfig"
        config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": api.url}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "users": [{"name": "u", "user": {}}]}), encoding="utf-8")
        self.process = subprocess.Popen([pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy", "ui",
                                         "--kubeconfig", config, *options],
                                        stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def command_output(self, *command):
        """Returns the output of another command for the same cluster."""
        return subprocess.run([pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy", *command,
                               "--kubeconfig", self.config],
                              capture_output=True, text=True, check=True).stdout

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
        # Registered so that it runs before the page's server ends.
        self.addCleanup(self.browser.open, "about:blank")

    def tearDown(self):
        self.assertEqual(self.browser.log(), [])

    def wait_for(self, script, wanted):
        """Waits until the page shows this. Its next refresh is at most three seconds away."""
        deadline = time.monotonic() + 30
        while (there := self.browser.run(script)) != wanted:
            self.assertLess(time.monotonic(), deadline, f"{there} is not {wanted}")
            time.sleep(0.1)

    def wait_for_pods(self, wanted):
        self.wait_for("""return Object.fromEntries([...document.querySelectorAll("button[data-pod]")].map((pod) =>
            [pod.querySelector(".name")?.textContent ?? pod.textContent,
             pod.closest(".node")?.querySelector("h4").textContent ?? null]))""", wanted)

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
        self.wait_for("return [...document.querySelectorAll('.node h4')].map((node) => node.textContent)",
                      ["n1", "n3", "n2"])

    def test_the_groups_are_zones(self):
        self.unfold()
        self.wait_for("return [...document.querySelectorAll('.group-name')].map((name) => name.textContent)",
                      ["a", "b"])

    def test_enter_on_a_pod_shows_its_explanation(self):
        self.unfold()
        self.wait_for_pods({"train-0": "n1", "waits": None})
        self.browser.run("document.querySelector('button.pod').focus()")
        self.browser.press("Enter")
        self.wait_for("return document.getElementById('details-text').textContent.includes('research/train-0')", True)

    def test_a_reserved_start_is_shown_as_explain_shows_it(self):
        self.api.pods = [pod("train-0", on="n1"), reserved(pod("waits", message="no room")),
                         member("bert-0", "bert", 2, message="no room"),
                         reserved(member("bert-1", "bert", 2, message="no room"))]
        self.unfold()
        self.wait_for("return document.querySelectorAll('.waiting tbody tr').length", 3)
        start = r"starts about .* UTC \(.* UTC to .* UTC\) on n1, when research/train-0 is done"
        shown = {row[0]: row[3] for row in self.rows(".waiting")}
        self.assertRegex(shown["waits"], f"^{start}; no room$")
        self.assertEqual(shown["bert-0"], "no room")
        self.assertRegex(self.rows(".gangs")[0][3], f"^{start}; ")
        explained = self.ui.command_output("explain", "pod", "waits", "--namespace", "research")
        self.assertIn(f"  {shown['waits'].removesuffix('; no room')}\n", explained)
        self.browser.run("document.querySelector(\".waiting button[data-pod='uid-waits']\").click()")
        self.assertRegex(self.browser.run("return document.getElementById('details-facts').textContent"), start)
        self.browser.press("Escape")

    def label(self, selector):
        """Returns the text that a screen reader reads."""
        element = self.browser.call("POST", "/element", {"using": "css selector", "value": selector})
        return self.browser.call("GET", f"/element/{next(iter(element.values()))}/computedlabel")

    def rows(self, table):
        return self.browser.run("""return [...document.querySelectorAll(arguments[0] + " tbody tr")].map((row) =>
            [...row.children].map((cell) => cell.textContent))""", table)

    def wait_for_rows(self, table, wanted):
        self.wait_for(f"""return [...document.querySelectorAll("{table} tbody tr")].map((row) =>
            [...row.children].map((cell) => cell.textContent))""", wanted)

    def test_progress_equals_that_of_top(self):
        self.api.progress = [progress("train-0", 370)]
        self.browser.open(self.ui.url)
        self.unfold()
        self.wait_for("return document.querySelector('.pod .progress')?.textContent", "12.3/s, 37 %, 50m left")
        self.assertRegex(self.ui.command_output("top", "pods", "--namespace", "research"), r"12\.3/s +37 % +50m ")
        self.assertRegex(self.label("button.pod"), r"^train-0 .*12\.3/s, 37 %, 50m left$")
        self.assertEqual(
            self.browser.run("return document.querySelector('.pod .done').style.getPropertyValue('--part')"), "37.00%")
        self.api.progress = [progress("train-0", 990, remaining=10**10, rate=25.0)]
        self.wait_for("return document.querySelector('.pod .progress').textContent.slice(0, 12)", "25/s, 99 %, ")
        self.api.progress = [progress("train-0", 990, silent=600)]
        self.wait_for("return document.querySelector('.pod .progress').textContent", "12.3/s, 99 %, 10m ago")
        self.browser.run("document.querySelector('button.pod').click()")
        self.assertIn("12.3/s, 99 %, 10m ago",
                      self.browser.run("return document.getElementById('details-facts').textContent"))

    def test_pods_that_share_gpus_are_shown_and_which_are_suspended(self):
        shared = node("n1")
        for amounts in shared["status"].values():
            amounts.update({"nvidia.com/gpu": "0", "nvidia.com/gpu.turns": "4"})
        self.api.nodes = [shared, node("n2", zone="b")]
        self.api.pods = [pod("first", on="n1", resource="nvidia.com/gpu.turns"),
                         pod("second", on="n1", resource="nvidia.com/gpu.turns"), pod("alone", on="n2")]
        turn = {"gpus": ["GPU-1"], "suspended": False, "timeSuspended": 0}
        self.api.progress = [progress("first", 370, turn=turn),
                             progress("second", 370, turn={**turn, "suspended": True})]
        self.browser.open(self.ui.url)
        self.unfold()
        suspended = """return [...document.querySelectorAll("button.pod.suspended .name")].map((name) =>
            name.textContent)"""
        self.wait_for(suspended, ["second"])
        self.assertRegex(self.label("button.pod[data-pod='uid-second']"), "^second 1 turn ?, no profile; suspended;")
        self.assertEqual(self.browser.run("""return [...document.querySelectorAll(".node p:not([hidden])")].map((row) =>
            row.textContent).filter((text) => /^(GPUs|slices|turns)/.test(text))"""), ["turns2 of 4", "GPUs1 of 4"])
        self.assertRegex(self.browser.run("return document.querySelector('.totals').textContent"),
                         "^1 of 4 GPUs, 2 of 4 turns, ")
        self.api.progress[1]["turn"] = turn
        self.wait_for(suspended, [])

    def test_a_gang_is_counted_and_its_members_are_marked_when_it_is_chosen(self):
        self.api.pods = [member("bert-0", "bert", 3, on="n1"), member("bert-1", "bert", 3, on="n2"),
                         member("bert-2", "bert", 3, message="no room"), member("gpt-0", "gpt", 4),
                         pod("alone", on="n1")]
        self.unfold()
        self.wait_for_rows(".gangs", [
            ["research/bert", "3 of 3 members exist, 2 run", "1 on n1, 1 on n2",
              "1 of them wait until all of these can be placed at once; no room"],
            ["research/gpt", "1 of 4 members exist, 0 run", "", "it waits for 3 more pods to be created"]])
        self.assertEqual(self.browser.run("return document.querySelector('.gangs summary').textContent"),
                         "2 gangs, 2 wait")
        self.assertIn("gang research/bert", self.label("button.pod[data-pod='uid-bert-0']"))
        self.assertNotIn("gang", self.label("button.pod[data-pod='uid-alone']"))
        marked = "return [...document.querySelectorAll('button.of-chosen')].map((pod) => pod.dataset.pod).sort()"
        pressed = "return [...document.querySelectorAll('.gangs [aria-pressed=true]')].map((gang) => gang.textContent)"
        self.assertEqual(self.browser.run(marked), [])
        self.browser.run("document.querySelector('.waiting tbody tr:last-child button').focus()")
        reached = []
        while reached[-1:] != ["research/bert"]:
            self.assertLess(len(reached), 10, reached)
            self.browser.press("Tab")
            reached.append(self.browser.run("return document.activeElement.textContent"))
        self.browser.press("Enter")
        self.wait_for(marked, ["uid-bert-0", "uid-bert-1", "uid-bert-2"])
        self.assertEqual(self.browser.run(pressed), ["research/bert"])
        self.assertEqual(self.browser.run("return document.querySelector('.group-chosen').textContent"),
                         "1 of gang research/bert")
        # The page also marks a member that comes later, and a click on a member selects its gang.
        self.api.pods.append(member("gpt-1", "gpt", 4, on="n2"))
        self.wait_for("return document.querySelectorAll('[data-pod=uid-gpt-1]').length", 1)
        self.browser.run(
            "document.querySelector('[data-pod=uid-gpt-1]').click(); document.getElementById('details').close()")
        self.wait_for(marked, ["uid-gpt-0", "uid-gpt-1"])
        self.assertIn("2 of 4 members exist, 1 run",
                      self.browser.run("return document.getElementById('details-facts').textContent"))
        self.api.pods.append(member("gpt-2", "gpt", 4, on="n1"))
        self.wait_for(marked, ["uid-gpt-0", "uid-gpt-1", "uid-gpt-2"])
        self.browser.run("document.querySelector('.gangs [aria-pressed=true]').click()")
        self.wait_for(marked, [])
        self.api.pods = [pod("alone", on="n1")]
        self.wait_for("return document.querySelectorAll('.gangs').length", 0)

    def test_queues_equal_those_of_the_command(self):
        self.api.lists = queues()
        self.browser.open(self.ui.url)
        self.wait_for("return document.querySelectorAll('.queue tbody tr').length", 2)
        queue = json.loads(self.ui.command_output("queue", "--output", "json"))[0]
        shown = self.rows(".queue")
        self.assertEqual([row[0] for row in shown], [f"{one['namespace']}/{one['job']}" for one in queue["workloads"]])
        self.assertEqual([[row[3], row[4], row[9]] for row in shown],
                         [[one["state"], one["band"], one["why"]] for one in queue["workloads"]])
        self.assertEqual([row[1] for row in shown], ["-", "1"])
        self.assertEqual(self.browser.run("return document.querySelector('.queue summary').textContent"),
                         self.ui.command_output("queue").splitlines()[0])
        self.browser.run("document.querySelector('.queue tbody button').focus()")
        self.browser.press("Enter")
        self.assertIn("Queue train: las by RoundPolicy turns, 1 GPU",
                      self.browser.run("return document.getElementById('details').innerText"))
        self.browser.press("Escape")
        self.api.lists = queues(problem="it has no quota of GPUs")
        self.wait_for("return document.querySelector('.queue p').textContent", "not ordered: it has no quota of GPUs")
        self.api.lists = {}
        self.wait_for("return document.querySelectorAll('.queue').length", 0)

    def test_without_kueue_no_queue_is_shown_and_apis_are_read_once(self):
        self.unfold()
        self.wait_for("return performance.getEntriesByType('resource').length > 3", True)
        self.assertEqual([path for path in self.api.asked if path.startswith((KUEUE, POLICIES, PROGRESS, TOKEN))],
                         [TOKEN, POLICIES])
        self.assertEqual(self.browser.run("return document.querySelectorAll('.queue, .gangs').length"), 0)
        self.assertRegex(self.browser.run("return document.querySelector('.notes').textContent"),
                         "^no progress: there is no service synergy-controller")

    def test_gangs_and_queues_can_be_read_in_light_and_dark(self):
        self.api.lists = queues()
        self.api.progress = [progress("bert-0", 500)]
        self.api.pods = [member("bert-0", "bert", 2, on="n1"), member("bert-1", "bert", 2, message="no room")]
        backgrounds = []
        with contextlib.closing(Browser(dark=True)) as dark:
            for browser in (self.browser, dark):
                browser.open(self.ui.url)
                deadline = time.monotonic() + 30
                while not browser.run(
                    "return document.querySelector('.queue') && document.querySelector('.progress:not([hidden])')"):
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.1)
                browser.run("document.querySelector('.gangs tbody button').click()")
                browser.settle()
                background, contrasts = browser.run(CONTRAST, [
                    ".pod .progress", ".gangs td", ".gangs [aria-pressed=true]", ".queue summary", ".queue td",
                    ".queue td:last-child", ".queue tbody button", ".group-chosen", "#legend .now"])
                backgrounds.append(background)
                for selector, contrast in contrasts:
                    self.assertGreater(contrast, 4.5, selector)  # required by WCAG 2.2, level AA
            dark.open("about:blank")
            self.assertEqual(dark.log(), [])
        self.assertGreater(backgrounds[0], 0.8)
        self.assertLess(backgrounds[1], 0.05)

    def test_five_thousand_nodes_are_followed(self):
        self.api.nodes = [node(f"node-{at:04}", zone=f"z{at % 20}") for at in range(LARGE)]
        names = [f"train-{at:05}" for at in range(2 * LARGE)]
        self.api.pods = [member(name, f"gang-{at // 8}", 8, on=f"node-{at // 2:04}") for at, name in enumerate(names)]
        self.api.progress = [progress(name, 370) for name in names]
        there = ("return document.querySelector('.totals').textContent.slice(0, 19) + document.querySelectorAll('.pod "
                 ".progress:not([hidden])').length")
        # A page that was opened before Synergy answered does not ask again, and the first state has
        # to be that of a large cluster.
        self.browser.open(self.ui.url)
        self.wait_for(there, "10000 of 20000 GPUs128")
        self.browser.open(self.ui.url)
        self.wait_for(there, "10000 of 20000 GPUs128")
        self.browser.run("""window.longest = 0;
            new PerformanceObserver((list) => {
                for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
            }).observe({ type: "longtask" })""")
        # Each training has done a hundredth more, and every tenth pod is replaced.
        self.api.progress = [progress(name, 380) for name in names]
        self.api.pods = [one if at % 10 else member(f"new-{at:05}", f"gang-{at // 8}", 8, on=f"node-{at // 2:04}")
                         for at, one in enumerate(self.api.pods)]
        self.wait_for("return document.querySelectorAll('.run').length && [...document.querySelectorAll('.pod "
                      ".progress')].filter((text) => text.textContent.includes('38 %')).length > 50", True)
        self.wait_for("return document.querySelectorAll('[data-pod^=uid-new]').length > 5", True)
        sizes = self.browser.run("return performance.getEntriesByType('resource').filter((entry) => "
                                 "entry.name.includes('/state')).map((entry) => entry.decodedBodySize)")
        times = self.browser.run("""const find = document.getElementById("find");
            const repaint = (text) => new Promise((done) => {
              let begin;
              requestAnimationFrame(() => { begin = performance.now(); });
              find.value = text;
              find.dispatchEvent(new Event("input"));
              requestAnimationFrame(() => { document.body.offsetHeight; done(performance.now() - begin); });
            });
            return (async () => {
              const times = [];
              for (let time = 0; time < 5; time += 1) times.push(await repaint(""));
              return times;
            })()""")
        print(f"{LARGE} nodes, {len(names)} pods: first state {sizes[0]} bytes, largest difference {max(sizes[1:])} "
              "bytes; longest task of a refresh "
              f"{self.browser.run('return window.longest'):.0f} ms; repaints, ms:", *(f"{took:.0f}" for took in times))
        self.assertLess(max(sizes[1:]), 1_000_000)

    def test_text_of_pods_and_of_the_api_server_is_never_run(self):
        self.api.lists = queues(problem=HOSTILE)
        self.api.pods.append(member("bert-0", HOSTILE, 2, on="n1"))
        self.api.pods.append(member("bert-1", "gpt", HOSTILE, on="n1"))
        self.browser.open(self.ui.url)
        self.wait_for("return document.querySelectorAll('.queue tbody tr').length", 2)
        self.wait_for("return document.querySelectorAll('.gangs tbody tr').length", 2)
        for selector in (".gangs tbody tr:nth-child(2) button", ".queue tbody tr:last-child button"):
            self.browser.run("document.querySelector(arguments[0]).click(); document.getElementById('details').close()",
                             selector)
        self.browser.settle()
        self.assertIn(HOSTILE, self.browser.run("return document.querySelector('.group-chosen').textContent"))
        self.assertEqual(self.browser.run("return document.getElementById('details-name').textContent"),
                         f"research/second{HOSTILE}")
        for table in (".gangs", ".queue", ".queue p"):
            self.assertIn(HOSTILE, self.browser.run("return document.querySelector(arguments[0]).textContent", table))
        self.api.pods = self.api.pods[:2]
        self.unfold()
        self.wait_for_pods({"train-0": "n1", "waits": None})
        self.assertIn(HOSTILE, self.browser.run("return document.querySelector('tbody').textContent"))
        self.browser.run("document.querySelector('tbody button').click()")
        self.wait_for("return document.getElementById('details-text').hidden", False)
        self.assertIn(HOSTILE, self.browser.run("return document.getElementById('details').textContent"))
        self.browser.run("document.getElementById('details').close()")
        self.assertIsNone(self.browser.run("return window.hurt"))
        self.assertEqual(self.browser.run("return document.querySelectorAll('img').length"), 0)

    def test_a_failed_read_is_shown_and_tried_again(self):
        self.unfold()
        self.api.down = True
        self.wait_for("return document.querySelector('.figures').textContent.startsWith('The data shown are old: ')",
                      True)
        self.assertEqual(self.browser.run("return document.querySelectorAll('img').length"), 0)
        self.api.down = False
        self.wait_for("return document.querySelector('.figures').textContent.startsWith('As of ')", True)
        # The browser itself logs answers with an error status.
        self.assertTrue(all("status of 502" in line for line in self.browser.log()))

    def test_only_the_secret_path_is_served(self):
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
        self.assertRegex(names[1], r"^state\?since=\d+$")
        self.assertEqual(set(names[1:]), {names[1]})

    def enter(self, token="", namespace=""):
        self.wait_for("return document.getElementById('enter').hidden", False)
        self.browser.run("""document.getElementById("token").value = arguments[0];
            document.getElementById("namespace").value = arguments[1];
            document.getElementById("enter").requestSubmit()""", token, namespace)

    def test_a_token_is_asked_for_and_only_the_page_holds_it(self):
        self.api.rights = {"viewer": "research"}
        shared = self.enterContext(contextlib.closing(
            Ui(self.api, self.enterContext(tempfile.TemporaryDirectory()), "--listen", "127.0.0.1:0")))
        self.browser.open(shared.url)
        self.enter("made-up")
        self.wait_for("return document.getElementById('enter-why').textContent.startsWith('the token is')", True)
        self.enter("viewer")
        self.wait_for("return document.getElementById('enter-token').hidden", True)
        self.assertIn(HOSTILE, self.browser.run("return document.getElementById('enter-why').textContent"))
        self.enter(namespace="research")
        self.wait_for("return Object.fromEntries([...document.querySelectorAll('button[data-pod]')].map((pod) => "
                      "[pod.textContent, pod.closest('details').className]))",
                      {"train-0": "running", "waits": "waiting"})
        self.assertEqual(self.browser.run("return document.querySelector('.run h2').textContent"),
                         "Namespace research now")
        self.assertEqual(self.browser.run("return [document.querySelectorAll('.node, img').length, document.cookie, "
                                          "localStorage.length, sessionStorage.length, "
                                          "document.getElementById('token').value]"), [0, "", 0, 0, ""])
        self.browser.run("document.querySelector('.running button').click()")
        self.wait_for("return document.getElementById('details-text').hidden", False)
        self.browser.run("document.getElementById('details').close()")
        # The page drops data that the user may no longer read.
        self.api.rights = {}
        self.wait_for("return [document.getElementById('enter').hidden, "
                      "document.querySelectorAll('button[data-pod]').length]", [False, 0])
        # The browser itself logs answers with an error status.
        self.assertTrue(all("status of 40" in line for line in self.browser.log()))


if __name__ == "__main__":
    unittest.main()
