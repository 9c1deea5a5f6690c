"""GPUs by Dynamic Resource Allocation on a real control plane: Kubernetes' own scheduler allocates
the devices of a driver that exists only as ResourceSlices, and the extender counts them."""

import collections
import contextlib
import copy
import json
import os
import pathlib
import random
import signal
import subprocess

import failures
import helm
from cluster import GPU, Cluster, ClusterTest, pod, wait_for
from fungible import FungibleTest
from invariants import Invariants

SYNERGY = pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"
DRIVER = "gpu.nvidia.com"
NODES = ("dra-1", "dra-2")
DEVICES = 4  # on each node
DEVICE_CLASS = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": DRIVER},
                "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}],
                         "extendedResourceName": GPU}}


def requests_of(count):
    return {"devices": {"requests": [{"name": "gpus", "exactly": {"deviceClassName": DRIVER, "count": count}}]}}


def template(count):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": f"gpus-{count}"},
            "spec": {"spec": requests_of(count)}}


def resource_slice(node):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": f"{node}-gpus"},
            "spec": {"driver": DRIVER, "nodeName": node,
                     "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                     "devices": [{"name": f"gpu-{number}", "attributes": {"type": {"string": "gpu"}}}
                                 for number in range(DEVICES)]}}


def claiming(name, claim, cpu="2"):
    """Returns a pod with the GPUs of `claim`, an entry of its resourceClaims without the name."""
    made = pod(name, gpus=0, cpu=cpu, memory="1G", resourceClaims=[{"name": "gpus", **claim}])
    made["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpus"}]
    return made


def by_template(name, count, cpu="2"):
    return claiming(name, {"resourceClaimTemplateName": f"gpus-{count}"}, cpu)


def by_request(name, count, cpu="2"):
    return pod(name, count, cpu, "1G", nodeSelector={"synergy.test/devices": "slices"})


class DevicesTest(ClusterTest):
    """A test with two nodes of four devices each, and with programs that count the devices."""

    settings = "dra: {enabled: true}\n"

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        for item in helm.template({"dra": {"enabled": True}}):
            if item["kind"] == "ClusterRole" and item["metadata"]["name"] in ("synergy-extender", "synergy-controller"):
                cls.change(item, {"rules": item["rules"]})
            if item["kind"] == "MutatingWebhookConfiguration":
                cls.change(item, {"webhooks": cls.reviewing(item)})
        super().setUpClass()
        cls.enterClassContext(cls.scheduler_that_sends_all_pods())
        cls.addClassCleanup(cls.remove)
        cls.cluster.create(DEVICE_CLASS, *[template(count) for count in (1, 2, 4)], *[cls.node(name) for name in NODES],
                           *[resource_slice(name) for name in NODES])

    @classmethod
    def remove(cls):
        cls.cluster.clear()
        cls.cluster.delete("resourceclaimtemplates,resourceclaims", wait=True)
        cls.cluster.delete("resourceslices", *[f"{name}-gpus" for name in NODES], wait=True)
        cls.cluster.delete("nodes", *NODES, wait=True)
        cls.cluster.delete("deviceclasses", DRIVER)

    @classmethod
    def change(cls, item, change):
        """Changes an object of the chart until the class ends."""
        kind, name = item["kind"], item["metadata"]["name"]
        usual = cls.cluster.get(kind, name)
        cls.addClassCleanup(cls.cluster.patch, kind, name, {key: usual[key] for key in change})
        cls.cluster.patch(kind, name, change)

    @classmethod
    def reviewing(cls, shipped):
        """Returns the cluster's webhooks with the condition for pods with GPUs from the shipped
        ones."""
        has_gpus = shipped["webhooks"][0]["matchConditions"][0]
        webhooks = cls.cluster.get(shipped["kind"], shipped["metadata"]["name"])["webhooks"]
        hook = next(hook for hook in webhooks if hook["name"] == "pods.synergy.io")
        hook["matchConditions"] = [has_gpus if condition["name"] == has_gpus["name"] else condition
                                   for condition in hook["matchConditions"]]
        return webhooks

    @classmethod
    @contextlib.contextmanager
    def scheduler_that_sends_all_pods(cls):
        """Runs synergy-scheduler, within the `with` block, with the chart's configuration for
        dra.enabled."""
        file = cls.cluster.state / "synergy-scheduler.config"
        usual = file.read_text(encoding="utf-8")
        config = json.loads(usual)
        del config["extenders"][0]["managedResources"]
        file.write_text(json.dumps(config), encoding="utf-8")
        try:
            cls.cluster.script("restart", "synergy-scheduler")
            yield
        finally:
            file.write_text(usual, encoding="utf-8")
            cls.cluster.script("restart", "synergy-scheduler")

    @classmethod
    def node(cls, name):
        """Returns a simulated node without a device plugin."""
        model = next(node for node in cls.cluster.get("nodes")["items"] if GPU in node["status"]["allocatable"])
        made = copy.deepcopy({"apiVersion": "v1", "kind": "Node", "status": model["status"], "metadata": {
            "name": name, "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {**model["metadata"]["labels"], "kubernetes.io/hostname": name,
                       "synergy.test/devices": "slices"}}})
        for amounts in ("capacity", "allocatable"):
            made["status"][amounts].pop(GPU)
        return made

    def setUp(self):
        self.addCleanup(self.cluster.clear)
        super().setUp()
        # Claims of templates are deleted after their pods.
        wait_for("no claims to be left", lambda: not self.cluster.get("resourceclaims")["items"])
        wait_for("the ledger to have the nodes", lambda: self.ledger() == {name: (0, DEVICES) for name in NODES})

    def ledger(self):
        """Returns node -> (GPUs of its pods, its GPUs), as the extender counts them."""
        text = self.extender.get("/metrics")

        def amount(family, node):
            return next((int(float(line.rsplit(" ", 1)[1])) for line in text.splitlines()
                         if line.startswith(family + "{") and f'"{node}"' in line and f'"{GPU}"' in line), 0)

        return {node: (amount("synergy_node_requested", node), amount("synergy_node_allocatable", node))
                for node in NODES}

    def allocated(self):
        """Returns node -> devices of all claims there, as Kubernetes allocated them."""
        devices = collections.Counter()
        for claim in self.cluster.get("resourceclaims")["items"]:
            for result in claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", []):
                devices[result["pool"], result["device"]] += 1
        self.assertFalse([device for device, users in devices.items() if users > 1], "allocated twice")
        return {node: sum(pool == node for pool, _ in devices) for node in NODES}

    def explain(self, name):
        done = subprocess.run([SYNERGY, "explain", "pod", name, "--output", "json"], env=self.cluster.environment,
                              text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def await_refusal(self, name):
        wait_for(f"{name} to be unschedulable", lambda: any(
            condition["type"] == "PodScheduled" and condition["status"] == "False"
            for condition in self.cluster.pods()[name].get("status", {}).get("conditions", [])))

    def await_bound(self, *names):
        bound = wait_for(f"{names} to be bound",
                         lambda: set(names) <= set(found := self.cluster.bound()) and found)
        return [bound[name] for name in names]


class DeviceClaimsTest(DevicesTest):
    def test_pods_by_template_get_all_devices_and_no_more(self):
        names = [f"train-{number}" for number in range(4)]
        self.cluster.create(*[by_template(name, 2) for name in names])
        nodes = self.await_bound(*names)
        self.assertEqual(collections.Counter(nodes), {name: 2 for name in NODES})
        full = {name: (DEVICES, DEVICES) for name in NODES}
        wait_for("the ledger to have all of them", lambda: self.ledger() == full)
        self.assertEqual(self.allocated(), {name: DEVICES for name in NODES})
        found = self.explain(names[0])
        self.assertEqual((found["pod"]["gpus"], found["gpusByClaims"], len(found["resourceClaims"])), (2, 2, 1))
        self.assertIn("created as written", " ".join(found["remarks"]))
        self.assertEqual(found["node"]["allocated"]["gpus"], DEVICES)

        self.cluster.create(by_template("late", 2))
        self.await_refusal("late")
        self.assertEqual(self.explain("late")["pod"]["gpus"], 2)
        self.assertEqual(self.ledger(), full)
        self.cluster.delete("pod", names[0])
        self.assertEqual(self.await_bound("late"), nodes[:1], "where devices became free")
        wait_for("the ledger to have the late pod instead", lambda: self.ledger() == full)

    def test_requests_get_devices_where_no_plugin_offers_gpus(self):
        self.cluster.create(by_request("three", 3), by_request("other", 3))
        self.assertEqual(set(self.await_bound("three", "other")), set(NODES))
        wait_for("the ledger to have both", lambda: self.ledger() == {name: (3, DEVICES) for name in NODES})
        wait_for("Kubernetes' claims for them", lambda: self.allocated() == {name: 3 for name in NODES})
        self.cluster.create(by_request("two", 2))
        self.await_refusal("two")
        self.cluster.create(by_template("one", 1))
        self.await_bound("one")
        wait_for("the ledger to have it, too", lambda: sum(used for used, _ in self.ledger().values()) == 7)
        self.assertNotIn("two", self.cluster.bound())

    def test_a_shared_claim_counts_once_and_its_pods_are_left_alone(self):
        self.cluster.create({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                             "metadata": {"name": "shared"}, "spec": requests_of(2)})
        self.addCleanup(self.cluster.delete, "resourceclaims", "shared")
        self.cluster.create(*[claiming(name, {"resourceClaimName": "shared"}) for name in ("first", "second")])
        node, other = self.await_bound("first", "second")
        self.assertEqual(node, other)
        wait_for("the ledger to have them", lambda: self.ledger()[node] == (2, DEVICES))
        self.assertIn("it shares a ResourceClaim with other pods", " ".join(self.explain("second")["remarks"]))
        self.cluster.delete("pod", "first")
        wait_for("the ledger to know that one is left", lambda: "first" not in self.cluster.pods() and
                 self.explain("second")["pod"]["gpus"] == 2)
        self.assertEqual(self.ledger()[node], (2, DEVICES))

    def test_a_tainted_device_is_no_longer_offered(self):
        self.addCleanup(self.cluster.patch, "resourceslice", "dra-1-gpus", {"spec": resource_slice("dra-1")["spec"]})
        changed = resource_slice("dra-1")["spec"]
        changed["devices"][0]["taints"] = [{"key": "broken", "effect": "NoSchedule"}]
        self.cluster.patch("resourceslice", "dra-1-gpus", {"spec": changed})
        wait_for("the ledger to have one less", lambda: self.ledger()["dra-1"] == (0, DEVICES - 1))
        self.cluster.create(by_template("four", 4))
        self.assertEqual(self.await_bound("four"), ["dra-2"])

    def test_pods_without_gpus_are_bound_too(self):
        self.cluster.create(pod("plain", gpus=0))
        self.await_bound("plain")

    def test_after_random_changes_and_kills_the_ledger_equals_the_claims(self):
        # kube-scheduler keeps the devices of a pod that is deleted while it is being bound, for two
        # minutes.
        self.addCleanup(self.end_bindings)
        seed = int(os.environ.get("SYNERGY_SEED", "5"))
        print("seed", seed)
        chance = random.Random(seed)
        invariants = Invariants()
        for step in range(4):
            for number in range(5):
                make = chance.choice([by_template, by_template, by_request])
                self.cluster.create(make(f"job-{step}-{number}", chance.choice([1, 1, 2, 4]),
                                         cpu=chance.choice(["2", "8"])))
            if step == 2:
                self.extender.end(signal.SIGKILL)
                self.extender.start()
            for name in chance.sample(sorted(self.cluster.pods()), 3):
                self.cluster.delete("pod", name)

            def at_rest():
                # Claims of deleted pods are deallocated a little later.
                used = {node: used for node, (used, _) in self.ledger().items()}
                return used == self.allocated() == self.of_pods() and used

            wait_for("the ledger, the claims and the pods to be equal", at_rest)
            items = self.cluster.get("nodes,pods")["items"]
            nodes = [item for item in items if item["kind"] == "Node" and item["metadata"]["name"] in NODES]
            for node in nodes:
                node["status"]["allocatable"][GPU] = str(DEVICES)
            self.assertEqual([], invariants.check(nodes, [item for item in items if item["kind"] == "Pod"]))

    def end_bindings(self):
        self.cluster.clear()
        self.cluster.script("restart", "synergy-scheduler")

    def of_pods(self):
        """Returns node -> GPUs that its pods request."""
        gpus = dict.fromkeys(NODES, 0)
        for made in self.cluster.pods().values():
            if node := made["spec"].get("nodeName"):
                asked = made["spec"]["containers"][0]["resources"].get("limits", {}).get(GPU)
                claims = made["spec"].get("resourceClaims")
                gpus[node] += int(asked or claims[0]["resourceClaimTemplateName"].rsplit("-", 1)[1])
        return gpus


class SizedByClaimsTest(DevicesTest, FungibleTest):
    """Pods whose GPUs come from claims of templates, with the controller."""

    controller = {"dra": "{enabled: true}"}

    def cores(self):
        """Returns what the pods request, sorted."""
        return sorted(made["spec"]["containers"][0]["resources"]["requests"]["cpu"]
                      for made in self.cluster.pods().values())

    def test_a_pod_gets_its_demand_and_gives_it_back(self):
        def train(name):
            made = by_template(name, 1)
            made["metadata"]["labels"] = {"synergy.io/profile": "sensitive"}
            # The pod's fair share is that of all nodes that it selects.
            made["spec"]["nodeSelector"] = {"synergy.test/devices": "slices"}
            made["spec"]["containers"][0]["resources"].pop("requests")
            return made

        # 24 cores for 4 GPUs make a fair share of 6.
        self.cluster.create(train("first"))
        node = self.await_bound("first")[0]
        self.assertEqual(self.cores(), ["9"], "its demand")
        wait_for("the ledger to have it", lambda: self.ledger()[node] == (1, DEVICES))
        found = self.explain("first")
        self.assertEqual((found["pod"]["fairShare"]["cpu"], found["gpusByClaims"]), ("6", 1))
        self.assertEqual(found["lastChange"]["kind"], "Allocated")

        self.cluster.create(*[train(f"peer-{number}") for number in range(7)])
        self.await_bound(*[f"peer-{number}" for number in range(7)])
        wait_for("the tuner to have made room for all", lambda: self.cores() == ["6"] * 8)
        wait_for("the ledger to have all", lambda: self.ledger() == {name: (DEVICES, DEVICES) for name in NODES})
        self.assertEqual(self.explain("first")["lastChange"]["kind"], "Reclaimed")

        self.cluster.delete("pod", *[f"peer-{number}" for number in range(7)], wait=True)
        wait_for("the tuner to have given it back", lambda: self.cores() == ["9"])

    def test_a_pod_that_names_its_claim_stays_as_written(self):
        self.cluster.create({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                             "metadata": {"name": "own"}, "spec": requests_of(1)},
                            claiming("named", {"resourceClaimName": "own"}))
        self.await_bound("named")
        self.assertEqual(self.cores(), ["2"])
        remarks = " ".join(self.explain("named")["remarks"])
        self.assertIn("names a ResourceClaim itself", remarks)
        self.cluster.clear()
        self.cluster.delete("resourceclaims", "own", wait=True)


if __name__ == "__main__":
    failures.main()
