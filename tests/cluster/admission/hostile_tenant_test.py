"""A hostile tenant, with the right to edit one namespace, writes everything there that could harm
others. Meanwhile the pods and gangs of another namespace run and are managed, no program ends or
grows large, and a restarted program comes up in spite of all that was written."""

import json
import pathlib

import failures
import tiers
from api import ApiError
from cluster import GPU, ClusterTest, pod, wait_for
from gang_race import gang

TENANT = "tenant"  # the name of both the namespace and its user
COUNT = 10 if tiers.IS_LONG else 1
MIB = 1 << 20
# Half of the chart's memory limits.
MOST_MEMORY = {"synergy-extender": 512 * MIB, "synergy-controller": 256 * MIB}
NOBODYS = {"name": "c", "image": "synergy.test/busybox:1"}


ENDLESS = {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile",
           "metadata": {"name": "endless", "namespace": TENANT},
           "spec": {"datasetSize": "8Ei", "storageBandwidth": 1, "bytesPerSample": 1,
                    "points": [{"cpu": 1, "throughput": 1e17}]}}


def theirs(name, containers=(NOBODYS,), scheduler="nobody", annotations=None, **spec):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": TENANT, "annotations": annotations or {}},
            "spec": {"schedulerName": scheduler, "containers": list(containers), **spec}}


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"f:x": value}
    return value


def asking_for_gpus(**container):
    return {**NOBODYS, "resources": {"limits": {GPU: "1", "cpu": "1", "memory": "1Gi"}}, **container}


def picky(name, values):
    """Returns a pod that waits for a node whose name is one of very many."""
    names = [f"n{number:05}" for number in range(values)]
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": names}]}
    return theirs(name, [asking_for_gpus()], "synergy-scheduler", affinity={"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}})


class HostileTenantTest(ClusterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.enterClassContext(cls.cluster.controller())
        cls.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TENANT}})
        cls.addClassCleanup(cls.cluster.delete, "namespace", TENANT, wait=True)
        cls.addClassCleanup(cls.cluster.delete, "pods,trainingprofiles", namespace=TENANT)
        cls.cluster.create({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "edits", "namespace": TENANT},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": TENANT}]})
        wait_for("the tenant's rights", lambda: cls.write(theirs("first")))

    @classmethod
    def write(cls, item, method="POST", name=""):
        """Writes the object, and returns it as the API server has it, or None if the tenant may not
        write it."""
        content_type = "application/merge-patch+json" if method == "PATCH" else "application/json"
        path = cls.cluster.api.kind(item.get("kind", "Pod")).path(TENANT) + (name and f"/{name}")
        try:
            return cls.cluster.api.call(method, path, item, content_type, user=TENANT)
        except ApiError as error:
            if error.status != 403:
                raise
            return None

    def attack(self):
        with self.assertRaisesRegex(ApiError, "the data set is more than 1Pi"):
            self.write(ENDLESS)
        self.write({"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile",
                    "metadata": {"name": "dear", "namespace": TENANT},
                    "spec": {"points": [{"cpu": f"{1000 + number}m", "memory": f"{1 + number % 7}Gi",
                                         "throughput": 1 + number % 31}
                                        for number in range(512)]}})
        self.write(theirs("deep"))
        self.write({"metadata": {"managedFields": [{
            "manager": "x", "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": nested(70)}}]}}, "PATCH", "deep")
        for number in range(20 * COUNT):
            self.write(theirs(f"lines-{number}", annotations={"synergy.io/warnings": "\n" * 250_000}))
        # The pods fill more than one page of a list: `<` takes six bytes in JSON.
        for number in range(60 * COUNT):
            self.write(theirs(f"page-{number}", annotations={"a": "<" * 100_000}))
        self.write(picky("picky", 100_000))

    def served(self, number):
        """Runs pods and a gang in the other namespace, checks that they are managed, and deletes
        them."""
        singles = [pod(f"single-{number}-{index}", 1, "1", "10G") for index in range(3)]
        members = gang(f"gang-{number}", 4)
        for item in (*singles, *members):
            item["metadata"].setdefault("labels", {})["synergy.io/profile"] = ""
        self.cluster.create(*singles, *members)
        names = {item["metadata"]["name"] for item in (*singles, *members)}
        wait_for(f"{len(names)} pods to run", lambda: {
            name for name, item in self.cluster.pods().items() if item["status"].get("phase") == "Running"} >= names,
                 120)
        for name, item in self.cluster.pods().items():
            self.assertIn("synergy.io/floor", item["metadata"]["annotations"], name)
        self.cluster.clear()

    def processes(self):
        controller = (self.cluster.state / "pids/synergy-controller").read_text(encoding="utf-8").split()[0]
        return {"synergy-extender": str(self.extender.process.pid), "synergy-controller": controller}

    def check_memory(self):
        for name, process in self.processes().items():
            status = pathlib.Path(f"/proc/{process}/status").read_text(encoding="utf-8")
            held = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))) << 10
            print(f"{name} has held {held / MIB:.0f} MiB")
            self.assertLess(held, MOST_MEMORY[name], name)

    def test_objects_of_one_tenant_harm_no_other(self):
        before = self.processes()
        self.served(0)
        self.attack()
        for number in range(1, 3 * COUNT):
            self.served(number)
        self.assertEqual(self.processes(), before, "no program may have ended")
        self.check_memory()
        # A restarted program reads everything.
        self.extender.end(9)
        self.extender.start()
        self.cluster.script("stop", "synergy-controller", "KILL")
        self.write(ENDLESS)  # the webhook is not running, so nothing refuses the object
        self.cluster.script("start", "synergy-controller")
        self.served(100)
        self.check_memory()
        # The pod's node names cannot be read, so the pod counts as unreadable.
        self.assertEqual(self.extender.metric('synergy_unreadable_objects{kind="pods"}'), 1)
        self.assertEqual(self.cluster.controller_metric('synergy_unreadable_objects{kind="pods"}'), 1)

    def test_a_pod_that_is_long_in_json_does_not_pass_the_webhook_by(self):
        whole_node = json.dumps({"cpu": "64", "memory": "400Gi"})
        created = self.write(theirs("long", [asking_for_gpus(name="train", args=["<" * 660_000])], "synergy-scheduler",
                                    {
                                        f"synergy.io/{name}": value for name, value in (
                                            ("container", "train"), ("floor", whole_node), ("demand", whole_node))}))
        self.assertNotEqual(created["metadata"]["annotations"].get("synergy.io/floor"), whole_node)


if __name__ == "__main__":
    failures.main()
