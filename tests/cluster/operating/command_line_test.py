"""kubectl synergy against a real API server: the view of an administrator, and that of a user with
few rights."""

import contextlib
import json
import os
import pathlib
import subprocess
import unittest
import urllib.request

import failures
from cluster import GPU, wait_for
from fungible import NODE, FungibleTest, pod


SYNERGY = pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"


def merged(target, patch):
    """Returns the JSON Merge Patch (RFC 7386) of an object, applied."""
    result = dict(target or {})
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value) if isinstance(value, dict) else value
    return result


class Page:
    """`synergy ui`, asked as its page asks: for the state, and then for its changes."""

    def __init__(self, environment):
        self.process = subprocess.Popen([SYNERGY, "ui"], env=environment, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip() + "state"
        self.state = self.ask()["state"]
        self.patches = 0

    def ask(self, query=""):
        with urllib.request.urlopen(self.url + query, timeout=60) as answer:
            news = json.load(answer)
        self.version = news["version"]
        return news

    def follow(self):
        for patch in self.ask(f"?since={self.version}")["patches"]:
            self.state = merged(self.state, patch)
            self.patches += 1
        return self.state

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


class CommandLineTest(FungibleTest):
    def synergy(self, *arguments, kubeconfig=None):
        environment = dict(self.cluster.environment)
        if kubeconfig:
            environment["KUBECONFIG"] = str(kubeconfig)
        return subprocess.run([SYNERGY, *arguments], env=environment, text=True, capture_output=True, check=False)

    def read(self, *arguments):
        done = self.synergy(*arguments, "--output", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def run_two(self):
        for name, profile in (("fast", "sensitive"), ("slow", "insensitive")):
            self.cluster.create(pod(name, profile))
            wait_for(f"{name} to run", lambda name=name: self.cluster.pods()[name]["status"].get("phase") == "Running")

    def test_a_running_pod_is_explained(self):
        self.run_two()
        wait_for("an event of its allocation",
                 lambda: any("demand, on node" in text for text in self.cluster.events("fast")))
        found = self.read("explain", "pod", "fast")
        self.assertEqual(found["pod"]["node"], NODE)
        self.assertEqual(found["pod"]["allocated"]["cpu"], "9")
        self.assertEqual(found["pod"]["fairShare"]["cpu"], "3")
        self.assertEqual(found["pod"]["throughput"], {"now": 9, "fairShare": 3, "best": 9, "partOfBest": 1})
        self.assertEqual(found["lastChange"]["kind"], "Allocated")
        self.assertIn("SynergyAllocated", [event["reason"] for event in found["events"]])
        self.assertEqual(found["node"]["name"], NODE)
        text = self.synergy("explain", "pod/fast").stdout
        self.assertIn("Throughput 9 of at best 9 (100 %), 3.00 times that of the fair share", text)

    def test_explain_shows_the_cause_of_waiting(self):
        self.cluster.create(pod("huge", "sensitive", nodeSelector={"kubernetes.io/hostname": NODE, "no": "such-node"}))
        wait_for("it to be looked at",
                 lambda: "0/" in json.dumps(self.read("explain", "pod", "huge")["waitsFor"]["message"]))
        found = self.read("explain", "pod", "huge")
        self.assertEqual(found["pod"]["state"], "unschedulable")
        self.assertIn("exclude the node", found["waitsFor"]["obstacles"][0]["reason"])
        self.assertIsNone(found["waitsFor"]["nodes"])
        each = {node["node"]: node for node in self.read("explain", "pod", "huge", "--nodes")["waitsFor"]["nodes"]}
        self.assertIn("exclude the node", each[NODE]["reason"])

    def test_top_shows_the_amounts_of_nodes_and_pods(self):
        self.run_two()
        nodes = {node["name"]: node for node in self.read("top", "nodes")}
        self.assertEqual(nodes[NODE]["allocated"]["gpus"], 2)
        self.assertEqual(nodes[NODE]["surplus"]["cpu"], "6")
        pods = {item["name"]: item for item in self.read("top", "pods")}
        self.assertEqual(pods["slow"]["profile"], "insensitive")
        self.assertIn("THROUGHPUT", self.synergy("top", "pods", "--all-namespaces").stdout)

    def test_profiles_and_their_curves(self):
        self.assertEqual({item["name"] for item in self.read("profiles")}, {"sensitive", "insensitive"})
        self.assertIn("  9  9  " + "#" * 50, self.synergy("profiles", "sensitive").stdout)
        self.assertEqual(self.synergy("profile", "sensitive").stdout, self.synergy("profiles", "sensitive").stdout)
        missing = self.synergy("profiles", "nobody")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("there is no profile nobody in namespace default", missing.stderr)

    def test_a_simulation_of_what_the_cluster_has_run(self):
        self.run_two()
        done = self.synergy("simulate", "--from-cluster", "--since", "1h", "--output", "json", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the cluster: read as Kubernetes' Jobs, Workloads and pods: 2 jobs", done.stderr)
        self.assertIn("2 still running, counted with the time so far", done.stderr)
        # In a file nothing says how long they have run until now, perhaps less than a second.
        file = self.cluster.folder / "history.json"
        file.write_text(self.cluster.kubectl("get", "jobs,pods", "-A", "-o", "json"), encoding="utf-8")
        self.addCleanup(file.unlink)
        done = self.synergy("simulate", "--plan", "--trace", str(file), "--servers", "2", "--output", "json")
        self.assertIn("Kubernetes' Jobs, Workloads and pods", done.stderr)

    def test_the_page_follows_the_cluster(self):
        page = self.enterContext(contextlib.closing(Page(self.cluster.environment)))
        nodes = {item["metadata"]["name"]
                 for item in self.cluster.get("nodes")["items"] if int(item["status"]["allocatable"].get(GPU, 0)) > 0}
        self.assertEqual(page.state["nodes"].keys(), nodes)

        def in_the_api():
            """Returns node and CPU of each pod that has a node; None for a pod that waits."""
            return {item["metadata"]["uid"]: [item["spec"]["nodeName"],
                                              item["spec"]["containers"][0]["resources"]["requests"]["cpu"]]
                    if "nodeName" in item["spec"] else None for item in self.cluster.pods().values()}

        def on_the_page():
            return {uid: [item["node"], f"{item['allocation']['cpu']:g}"] if "node" in item else None
                    for uid, item in page.follow()["pods"].items()}

        def wait_until_it_shows(what):
            wait_for(f"the page to show {what}", lambda: (there := on_the_page()) == in_the_api() and there)

        self.run_two()
        wait_until_it_shows("two that run")
        nowhere = {"nodeSelector": {"no": "such-node"}}
        gang = {"synergy.io/gang": "bert", "synergy.io/gang-size": "3"}
        for name in ("bert-0", "bert-1"):
            member = pod(name, "sensitive", **nowhere)
            member["metadata"]["labels"] |= gang
            self.cluster.create(member)
        wait_until_it_shows("a gang that waits")
        self.assertEqual(page.state["gangs"]["default/bert"], {
            "size": 3, "there": 2, "running": 0, "waits": "it waits for 1 more pods to be created"})
        self.assertEqual({item.get("gang") for item in page.state["pods"].values() if "node" not in item},
                         {"default/bert"})
        self.cluster.delete("pods", "fast", "bert-0")
        self.cluster.create(pod("fast", "insensitive"))
        wait_until_it_shows("what came and went")
        self.cluster.delete("pod", "bert-1")
        wait_for("the gang to be gone", lambda: "default/bert" not in page.follow().get("gangs", {}))
        wait_until_it_shows("two again")
        # All of that came as differences, and nothing was invented about Kueue, which is absent.
        self.assertGreater(page.patches, 3)
        self.assertNotIn("queues", page.state)
        self.assertEqual(page.follow()["pods"], page.ask()["state"]["pods"])

    def test_explain_works_with_rights_for_one_namespace(self):
        self.run_two()
        rights, trainer = "rbac.authorization.k8s.io", {"name": "trainer"}
        self.cluster.create(
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": trainer},
            {"apiVersion": f"{rights}/v1", "kind": "Role", "metadata": trainer, "rules": [
                {"apiGroups": ["", "synergy.io"], "resources": ["pods", "events", "trainingprofiles"],
                 "verbs": ["get", "list"]}]},
            {"apiVersion": f"{rights}/v1", "kind": "RoleBinding", "metadata": trainer,
             "roleRef": {"apiGroup": rights, "kind": "Role", "name": "trainer"},
             "subjects": [{"kind": "ServiceAccount", "name": "trainer", "namespace": "default"}]})
        for kind in ("serviceaccount", "role", "rolebinding"):
            self.addCleanup(self.cluster.delete, kind, "trainer")
        view = json.loads(self.cluster.kubectl("config", "view", "--raw", "--flatten", "--minify", "-o", "json"))
        view["users"][0]["user"] = {"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "interactiveMode": "Never",
            "args": ["-c", 'echo "{\\"status\\":{\\"token\\":\\"$TOKEN\\"}}"'],
            "env": [{"name": "TOKEN", "value": self.cluster.kubectl("create", "token", "trainer").strip()}]}}
        kubeconfig = self.cluster.folder / "trainer.kubeconfig"
        kubeconfig.write_text(json.dumps(view), encoding="utf-8")
        self.addCleanup(kubeconfig.unlink)
        done = self.synergy("explain", "pod", "fast", kubeconfig=kubeconfig)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("(100 %)", done.stdout)
        self.assertIn("Note: no data on nodes: ", done.stdout)
        refused = self.synergy("top", "nodes", kubeconfig=kubeconfig)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("cannot list resource", refused.stderr)


if __name__ == "__main__":
    failures.main()
