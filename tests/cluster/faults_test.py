"""What happens to pods when parts go away, on a real control plane."""

import signal
import unittest

from cluster import ClusterTest, pod, wait_for
from invariants import Invariants


class FaultsTest(ClusterTest):
    def setUp(self):
        super().setUp()
        self.invariants = Invariants()

    def submit(self, count):
        self.names = [f"job-{number:03}" for number in range(count)]
        self.cluster.create(*[pod(name, 1, "1", "20G") for name in self.names])

    def check(self):
        items = self.cluster.get("nodes,pods")["items"]
        pods = [i for i in items if i["kind"] == "Pod"]
        self.assertEqual([], self.invariants.check([i for i in items if i["kind"] == "Node"], pods))
        self.assertEqual(sorted(p["metadata"]["name"] for p in pods), self.names, "no pod may be lost")
        return sum(bool(p["spec"].get("nodeName")) for p in pods)

    def all_bound(self):
        return self.check() == len(self.names)

    def test_placements_go_on_after_the_api_server_was_away_for_ten_seconds(self):
        self.submit(200)
        wait_for("some pods to be bound", lambda: self.check() >= 20)
        self.cluster.script("stop", "kube-apiserver", "KILL")
        # Ten seconds of absence are what is tested here, not a wait for something.
        signal.sigtimedwait([], 10)
        self.cluster.script("start", "kube-apiserver")
        wait_for("all pods to be bound", self.all_bound, 120)
        wait_for("nothing to be in doubt", lambda: self.extender.metric("synergy_extender_assumed_pods") == 0)

    def test_the_watches_survive_a_restart_of_etcd(self):
        self.submit(50)
        wait_for("some pods to be bound", lambda: self.check() >= 5)
        self.cluster.script("restart", "etcd", "KILL")
        wait_for("all pods to be bound", self.all_bound, 120)

    def test_a_kill_between_assume_and_bind_loses_nothing(self):
        # The API server is frozen, so the extender's POST hangs between assume and the answer: then the extender dies.
        # The extender is frozen too while the pods arrive, or a fast machine would have bound them all before the freeze.
        api_server = self.process_of("kube-apiserver")
        self.addCleanup(api_server.send, signal.SIGCONT)
        self.names = []
        for part in range(3):
            self.extender.process.send_signal(signal.SIGSTOP)
            names = [f"job-{part}-{number:02}" for number in range(10)]
            self.cluster.create(*[pod(name, 1, "1", "20G") for name in names])
            self.names += names
            # The pods' watch events reach kube-scheduler and the extender's socket.
            signal.sigtimedwait([], 1)
            api_server.send(signal.SIGSTOP)
            self.extender.process.send_signal(signal.SIGCONT)
            wait_for("a bind under way", lambda: self.extender.metric("synergy_extender_assumed_pods") >= 1)
            self.extender.end(signal.SIGKILL)
            api_server.send(signal.SIGCONT)
            self.extender.start()
            self.check()
        wait_for("all pods to be bound", self.all_bound, 120)

    def test_kills_at_random_moments_lose_nothing(self):
        self.submit(120)
        for bound in range(0, 100, 20):
            wait_for(f"{bound} pods to be bound", lambda bound=bound: self.check() > bound)
            self.extender.end(signal.SIGKILL)
            self.check()
            self.extender.start()
        wait_for("all pods to be bound", self.all_bound, 120)

    def test_pods_of_the_default_scheduler_are_placed_without_the_extender(self):
        self.extender.end()
        self.names = ["mine", "theirs"]
        self.cluster.create(pod("theirs", scheduler="default-scheduler"), pod("mine"))
        wait_for("the other scheduler's pod to be bound", lambda: self.cluster.bound().get("theirs"))
        self.assertNotIn("mine", self.cluster.bound())
        self.extender.start()
        wait_for("our pod to be bound", self.all_bound)

    def process_of(self, component):
        pid = int((self.cluster.state / "pids" / component).read_text(encoding="utf-8").split()[0])
        return Process(pid)


class Process:
    def __init__(self, pid):
        self.pid = pid

    def send(self, what):
        import os
        os.kill(self.pid, what)


if __name__ == "__main__":
    unittest.main(verbosity=2)
