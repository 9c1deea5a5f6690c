"""Tests what happens to pods while parts of the cluster fail, on a real control plane."""

import contextlib
import os
import signal
import ssl
import unittest
import urllib.request

import failures
import replay
import tiers
from api import PODS, ApiError
from cluster import GPU, ClusterTest, metric, pod, wait_for
from gang_race import SIZE, gang, on
from invariants import Invariants
from proxy import Proxy


class FaultsTest(ClusterTest):
    def setUp(self):
        super().setUp()
        self.invariants = Invariants()
        self.names = []

    def submit(self, count):
        names = [f"job-{len(self.names) + number:03}" for number in range(count)]
        self.names += names
        self.cluster.create(*[pod(name, 1, "1", "20G") for name in names])

    def submit_half_bound(self, count):
        """Creates pods: some are bound, and half wait for an extender that is frozen."""
        self.submit(count // 2)
        wait_for("some pods to be bound", lambda: self.check() >= 1)
        self.extender.process.send_signal(signal.SIGSTOP)
        self.submit(count // 2)

    def look(self):
        """Returns nodes and pods; waits for an API server that has not come back yet."""
        def answer():
            try:
                return self.cluster.api.items("/api/v1/nodes"), self.cluster.api.items(PODS)
            except ApiError as error:
                if error.status not in (0, 429, 500, 503, 504):
                    raise
                return None
        return wait_for("an answer of the API server", answer)

    def check(self):
        nodes, pods = self.look()
        self.assertEqual([], self.invariants.check(nodes, pods))
        self.assertEqual(sorted(p["metadata"]["name"] for p in pods), self.names, "no pod may be lost")
        return sum(bool(p["spec"].get("nodeName")) for p in pods)

    def all_bound(self):
        return self.check() == len(self.names)

    def test_placements_go_on_after_the_api_server_was_away(self):
        self.submit_half_bound(60)
        self.cluster.script("stop", "kube-apiserver", "KILL")
        self.extender.process.send_signal(signal.SIGCONT)
        # The API server takes some seconds to come back.
        self.cluster.script("start", "kube-apiserver")
        wait_for("all pods to be bound", self.all_bound)
        wait_for("nothing to be in doubt", lambda: self.extender.metric("synergy_extender_assumed_pods") == 0)

    def test_the_watches_survive_a_restart_of_etcd(self):
        self.submit_half_bound(40)
        self.cluster.script("stop", "etcd", "KILL")
        self.extender.process.send_signal(signal.SIGCONT)
        self.cluster.script("start", "etcd")
        wait_for("all pods to be bound", self.all_bound)

    def test_a_kill_between_assume_and_bind_loses_nothing(self):
        # The API server is frozen, so the extender's POST hangs while the bind is assumed and not
        # yet answered. Then the extender dies. The extender is also frozen while the pods arrive;
        # otherwise a fast machine would bind them all before the API server is frozen.
        self.addCleanup(self.signal, "kube-apiserver", signal.SIGCONT)
        for _ in range(3 if tiers.IS_LONG else 1):
            self.extender.process.send_signal(signal.SIGSTOP)
            self.submit(10)
            # The API server sends a change to all watches before it sends the next change. So the
            # first change is already on its way to the extender.
            wait_for("kube-scheduler to know them", lambda: self.pending() >= 9)
            self.signal("kube-apiserver", signal.SIGSTOP)
            self.extender.process.send_signal(signal.SIGCONT)
            wait_for("a bind under way", lambda: self.extender.metric("synergy_extender_assumed_pods") >= 1)
            self.extender.end(signal.SIGKILL)
            self.signal("kube-apiserver", signal.SIGCONT)
            self.extender.start()
            self.check()
            wait_for("all pods to be bound", self.all_bound)

    def pending(self):
        """Returns how many pods kube-scheduler has in its queues."""
        text = self.scheduler_metrics()
        return sum(metric(text, f'scheduler_pending_pods{{queue="{queue}"}}')
                   for queue in ("active", "backoff", "unschedulable"))

    def scheduler_metrics(self):
        """Returns the metrics of synergy-scheduler, which has a self-signed certificate and accepts
        the administrator's."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        pki = self.cluster.state / "pki"
        context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        port = 16460 + 100 * int(self.cluster.instance())
        with urllib.request.urlopen(f"https://127.0.0.1:{port}/metrics", timeout=10, context=context) as answer:
            return answer.read().decode()

    def test_kills_at_random_moments_lose_nothing(self):
        count, step = (120, 20) if tiers.IS_LONG else (60, 15)
        self.submit(count)
        for bound in range(0, count - step, step):
            wait_for(f"{bound} pods to be bound", lambda bound=bound: self.check() > bound)
            self.extender.end(signal.SIGKILL)
            self.check()
            self.extender.start()
        wait_for("all pods to be bound", self.all_bound)

    def test_pods_of_the_default_scheduler_are_placed_without_the_extender(self):
        self.extender.end()
        self.names = ["mine", "theirs"]
        self.cluster.create(pod("theirs", scheduler="default-scheduler"), pod("mine"))
        wait_for("the other scheduler's pod to be bound", lambda: self.cluster.bound().get("theirs"))
        self.assertNotIn("mine", self.cluster.bound())
        self.extender.start()
        wait_for("our pod to be bound", self.all_bound)

    def test_a_late_watch_costs_waiting_pods_no_more_than_seconds(self):
        """kube-scheduler has seen a pod's end and asks; the extender has not seen it yet. Nothing
        else happens in the cluster, so kube-scheduler would ask again after five minutes."""
        self.extender.end()
        # Later than the extender's second look, and soon enough for its calls.
        proxy = self.enterContext(contextlib.closing(Proxy(late=0.4)))
        text = self.extender.kubeconfig.read_text(encoding="utf-8")
        self.extender.kubeconfig = self.cluster.folder / "late.kubeconfig"
        self.extender.kubeconfig.write_text(text.replace("    server:", f"    proxy-url: {proxy.url}\n    server:"),
                                            encoding="utf-8")
        self.extender.start()
        node = on(next(item["metadata"]["name"] for item in self.cluster.get("nodes")["items"]
                       if item["status"]["allocatable"].get(GPU) == str(SIZE)))
        first, second, third = ([pod("first", SIZE, "1", "10G", **node)], [pod("second", SIZE, "1", "10G", **node)],
                                gang("third", **node))
        self.cluster.create(*first)
        wait_for("the first pod to be bound", lambda: "first" in self.cluster.bound())
        for leaves, waits in ((first, second), (second, third)):
            self.cluster.create(*waits)
            names = {item["metadata"]["name"] for item in waits}
            wait_for(f"{names} to be refused",
                     lambda: all(replay.unschedulable(self.cluster.pods()[name]) for name in names))
            self.cluster.delete("pod", leaves[0]["metadata"]["name"])
            wait_for(f"{names} to be bound", lambda: names <= set(self.cluster.bound()), 200)
        again = self.extender.metric('synergy_extender_second_looks_total{outcome="asked_again"}')
        print(f"kube-scheduler had to ask again {again:.0f} times")

    def signal(self, component, what):
        os.kill(int((self.cluster.state / "pids" / component).read_text(encoding="utf-8").split()[0]), what)


if __name__ == "__main__":
    failures.main()
