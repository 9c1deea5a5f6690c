"""Tests kubectl synergy against a real API server: what it shows to an administrator, and what to a
user with few rights."""

import contextlib
import json
import os
import pathlib
import ssl
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

import failures
from cluster import GPU, wait_for
from fungible import NODE, FungibleTest, pod
from proxy import Proxy


SYNERGY = pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"


def merged(target, patch):
    """Returns the object with the JSON Merge Patch (RFC 7386) applied."""
    result = dict(target or {})
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value) if isinstance(value, dict) else value
    return result


class Page:
    """`synergy ui`, with the requests that its page makes: for the state, and then for changes."""

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


class SharedPage:
    """`synergy ui --listen`, with requests that carry the tokens of several users."""

    def __init__(self, environment):
        self.process = subprocess.Popen([SYNERGY, "ui", "--listen", "127.0.0.1:0"], env=environment,
                                        stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        # The certificate is self-signed.
        self.context = ssl._create_unverified_context()

    def ask(self, path, token):
        """Returns the status and the text of the answer."""
        request = urllib.request.Request(self.url + path)
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=60, context=self.context) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read().decode()

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


class CommandLineTest(FungibleTest):
    def synergy(self, *arguments, kubeconfig=None, **variables):
        environment = {**self.cluster.environment, **variables}
        if kubeconfig:
            environment["KUBECONFIG"] = str(kubeconfig)
        return subprocess.run([SYNERGY, *arguments], env=environment, text=True, capture_output=True, check=False)

    def read(self, *arguments):
        done = self.synergy(*arguments, "--output", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def lines(self, *arguments, **variables):
        done = self.synergy(*arguments, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def refused(self, *arguments, code=2, **variables):
        """Runs a command that must fail; returns its error."""
        done = self.synergy(*arguments, **variables)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertTrue(done.stderr.startswith("error: "), done.stderr)
        return done.stderr

    def view(self):
        """Returns the administrator's kubeconfig with all certificates inside."""
        return json.loads(self.cluster.kubectl("config", "view", "--raw", "--flatten", "--minify", "-o", "json"))

    def write_kubeconfig(self, name, view):
        kubeconfig = self.cluster.folder / f"{name}.kubeconfig"
        kubeconfig.write_text(json.dumps(view), encoding="utf-8")
        self.addCleanup(kubeconfig.unlink)
        return kubeconfig

    def run_two(self):
        for name, profile in (("fast", "sensitive"), ("slow", "insensitive")):
            item = pod(name, profile)
            item["metadata"].setdefault("labels", {})["speed"] = name
            self.cluster.create(item)
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

    def test_lists_have_all_formats_and_singular_names(self):
        self.run_two()
        self.assertEqual(self.lines("top", "pod", "-o", "name"), ["pod/fast", "pod/slow"])
        self.assertIn(f"node/{NODE}", self.lines("top", "no", "-o", "name"))
        self.assertEqual(self.lines("profile", "-o", "name"),
                         ["trainingprofile.synergy.io/insensitive", "trainingprofile.synergy.io/sensitive"])
        self.assertEqual(self.lines("explain", "pods", "fast", "-o", "name"), ["pod/fast"])
        narrow, wide = (self.lines("top", "pods", "-o", form)[0] for form in ("table", "wide"))
        self.assertTrue(wide.startswith(narrow) and wide.endswith("SURPLUS MEMORY"), wide)
        self.assertEqual([line.split()[0] for line in self.lines("top", "pods", "--no-headers")], ["fast", "slow"])
        self.assertTrue(self.lines("explain", "pod/fast", "-o", "yaml")[0].startswith("pod:"))
        self.assertIn("wide not in {table,json,yaml,name}", self.refused("explain", "pod/fast", "-o", "wide"))
        self.assertIn("use table, json, yaml or name", self.refused("profiles", "sensitive", "-o", "wide"))
        self.assertIn("write top nodes, top pods or top idle", self.refused("top"))
        self.assertIn('unknown command "tops" for "synergy"', self.refused("tops"))
        none = self.synergy("failures", "-n", "kube-system")
        self.assertEqual((none.returncode, none.stdout), (0, ""))
        self.assertIn("no failures", none.stderr)

    def test_selectors_choose_by_labels(self):
        self.run_two()
        for selector, names in (("speed=fast", ["fast"]), ("speed!=fast,speed", ["slow"]),
                                ("speed in (fast, slow)", ["fast", "slow"]), ("other", [])):
            self.assertEqual(self.lines("top", "pods", "-o", "name", "-l", selector),
                             [f"pod/{name}" for name in names], selector)
        self.assertEqual(self.lines("top", "nodes", "-o", "name", "-l", f"kubernetes.io/hostname={NODE}"),
                         [f"node/{NODE}"])
        self.assertEqual(self.lines("top", "nodes", "-o", "name", "-l", "no=such-node"), [])
        self.assertEqual([found["pod"]["name"] for found in self.read("explain", "pods", "-l", "speed")],
                         ["fast", "slow"])
        self.assertIn("or pods --selector LABELS", self.refused("explain", "pod", "fast", "-l", "speed"))
        self.assertIn("unable to parse", self.refused("top", "pods", "-l", "a in"))

    def test_watch_prints_what_changes(self):
        self.run_two()
        with subprocess.Popen([SYNERGY, "top", "pods", "-w", "-o", "name"], env=self.cluster.environment,
                              stdout=subprocess.PIPE, text=True) as watch:
            self.assertEqual([watch.stdout.readline() for _ in range(2)], ["pod/fast\n", "pod/slow\n"])
            nowhere = {"nodeSelector": {"no": "such-node"}}
            self.cluster.create(pod("late", "sensitive", **nowhere))
            while (line := watch.stdout.readline()) != "pod/late\n":
                self.assertIn(line, ("pod/fast\n", "pod/slow\n"))
            watch.terminate()

    def test_options_choose_server_and_user(self):
        self.assertIn('User "jane" cannot list resource "', self.refused("top", "nodes", "--as", "jane", code=1))
        self.assertEqual(self.synergy("top", "nodes", "--as", "jane", "--as-group", "system:masters").returncode, 0)
        self.assertIn("--as is missing", self.refused("top", "nodes", "--as-group", "system:masters"))
        self.assertIn('users: there is no entry named "absent"', self.refused("top", "nodes", "--user", "absent"))
        server = self.view()["clusters"][0]["cluster"]["server"]
        token = self.cluster.kubectl("create", "token", "default").strip()
        nowhere = {"KUBECONFIG": "", "HOME": "/nonexistent"}
        outside = ("top", "nodes", "--server", server, "--token", token)
        self.assertIn("TLS handshake", self.refused(*outside, code=1, **nowhere))
        self.assertIn('User "system:serviceaccount:default:default" cannot list resource "',
                      self.refused(*outside, "--insecure-skip-tls-verify", code=1, **nowhere))

    def test_a_proxy_leads_to_the_api_server(self):
        proxy = self.enterContext(contextlib.closing(Proxy()))
        view = self.view()
        cluster = view["clusters"][0]["cluster"]
        cluster["proxy-url"] = proxy.url
        kubeconfig = self.write_kubeconfig("proxied", view)
        self.assertIn(f"node/{NODE}", self.lines("top", "nodes", "-o", "name", kubeconfig=kubeconfig))
        self.assertIn(["CONNECT", cluster["server"].removeprefix("https://")], proxy.asked)
        cluster["proxy-url"] = "socks5://me:pa55word@127.0.0.1:1"
        problem = self.refused("top", "nodes", kubeconfig=self.write_kubeconfig("socks", view))
        self.assertIn("SOCKS proxies are not supported", problem)
        self.assertNotIn("pa55word", problem)

    def test_shells_and_kubectl_complete_words(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("synergy", "kubectl-synergy", "kubectl_complete-synergy"):
            (folder / name).symlink_to(SYNERGY)
        environment = {**self.cluster.environment, "PATH": f"{folder}:{os.environ['PATH']}"}

        def run(*command):
            return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

        def by_bash(line):
            script = ('source <(synergy completion bash); compopt() { :; }; read -ra COMP_WORDS <<<"$1"; '
                      '[[ $1 == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); '
                      '_synergy; printf "%s\\n" "${COMPREPLY[@]}"')
            return run("bash", "-c", script, "bash", line).split()

        self.assertEqual(by_bash("synergy top "), ["nodes", "pods", "idle"])
        self.assertEqual(by_bash("synergy top pods --output j"), ["json"])
        self.assertIn("kube-system", by_bash("synergy top pods -n "))
        self.assertIn(self.view()["current-context"], by_bash("synergy top --context "))
        kubectl = environment.get("SYNERGY_KUBECTL", "kubectl")
        self.assertEqual(run(kubectl, "__complete", "synergy", "explain", "").splitlines()[:2], ["job", "pod"])
        usage = run(folder / "kubectl-synergy", "top", "--help")
        self.assertIn("Usage: kubectl synergy top", usage)
        self.assertRegex(run("synergy", "--version"), r"^synergy \d+\.\d+\.\d+ ")

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
        # A file does not say how long the jobs had run when it was written; that may be less than a
        # second.
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
        # All of these changes came as differences, and the page shows nothing of Kueue, which is
        # absent.
        self.assertGreater(page.patches, 3)
        self.assertNotIn("queues", page.state)
        self.assertEqual(page.follow()["pods"], page.ask()["state"]["pods"])

    def token_of_trainer(self):
        """Returns the token of an account that may read the pods of one namespace."""
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
        return self.cluster.kubectl("create", "token", "trainer").strip()

    def token_of_administrator(self):
        self.cluster.kubectl("create", "serviceaccount", "admin")
        self.addCleanup(self.cluster.delete, "serviceaccount", "admin")
        self.cluster.kubectl("create", "clusterrolebinding", "page-admin", "--clusterrole=cluster-admin",
                             "--serviceaccount=default:admin")
        self.addCleanup(self.cluster.delete, "clusterrolebinding", "page-admin")
        return self.cluster.kubectl("create", "token", "admin").strip()

    def test_the_page_shows_what_each_token_may_read(self):
        self.run_two()
        self.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "elsewhere"}})
        self.addCleanup(self.cluster.delete, "namespace", "elsewhere", wait=True)
        self.addCleanup(self.cluster.delete, "pods", namespace="elsewhere")
        hidden = pod("hidden", "sensitive", nodeSelector={"no": "such-node"})
        hidden["metadata"]["namespace"] = "elsewhere"
        self.cluster.create(hidden)
        trainer, admin = self.token_of_trainer(), self.token_of_administrator()
        page = self.enterContext(contextlib.closing(SharedPage(self.cluster.environment)))

        def names(answer):
            return {each["name"] for each in json.loads(answer)["state"]["pods"].values()}

        for token in (None, "made-up"):
            for path in ("state", "state?namespace=default", "explain?namespace=default&name=fast"):
                self.assertEqual(page.ask(path, token)[0], 401, path)
        everything = json.loads(page.ask("state", admin)[1])["state"]
        self.assertEqual({each["name"] for each in everything["pods"].values()}, {"fast", "slow", "hidden"})
        self.assertIn(NODE, everything["nodes"])
        self.assertEqual(page.ask("state", trainer)[0], 403)
        code, own = page.ask("state?namespace=default", trainer)
        self.assertEqual((code, names(own)), (200, {"fast", "slow"}))
        self.assertEqual(json.loads(own)["state"]["nodes"], {})
        for path in ("state?namespace=elsewhere", "explain?namespace=elsewhere&name=hidden"):
            code, refusal = page.ask(path, trainer)
            self.assertEqual(code, 403, path)
            self.assertIn("cannot", refusal)
            self.assertEqual(page.ask(path, admin)[0], 200, path)
        code, explained = page.ask("explain?namespace=default&name=fast", trainer)
        self.assertEqual(code, 200)
        self.assertIn("nodes are not shown: ", explained)
        self.cluster.delete("rolebinding", "trainer")
        wait_for("what the trainer may no longer see to be refused",
                 lambda: page.ask("state?namespace=default", trainer)[0] == 403)

    def test_explain_works_with_rights_for_one_namespace(self):
        self.run_two()
        token = self.token_of_trainer()
        view = self.view()
        view["users"][0]["user"] = {"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "interactiveMode": "Never",
            "args": ["-c", 'echo "{\\"status\\":{\\"token\\":\\"$TOKEN\\"}}"'],
            "env": [{"name": "TOKEN", "value": token}]}}
        kubeconfig = self.write_kubeconfig("trainer", view)
        done = self.synergy("explain", "pod", "fast", kubeconfig=kubeconfig)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("(100 %)", done.stdout)
        self.assertIn("Note: nodes are not shown: ", done.stdout)
        refused = self.synergy("top", "nodes", kubeconfig=kubeconfig)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("cannot list resource", refused.stderr)


if __name__ == "__main__":
    failures.main()
