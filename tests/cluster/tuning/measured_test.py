"""Measured profiles of workloads: the objects on a real API server, and the pods that use them."""

import json
import unittest

import failures
from cluster import GPU, ClusterTest, wait_for

NODE, PRODUCT = "v100-1", "Tesla-V100-SXM2-32GB"  # the fair share of a GPU is 3 cores
CONTROLLER = "synergy-controller"


def stable_hash(text, value=0xcbf29ce484222325):
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value


def name_of(workload, gpus=1):
    """Returns the name that src/profile/measured/measured_profile.cc derives for a product with
    capital letters."""
    value = stable_hash(PRODUCT, stable_hash("\n", stable_hash(workload)))
    return f"measured-{workload}-{gpus}gpu-{PRODUCT.lower()}-{(value ^ value >> 32) % 2**32:08x}"


def to_be_measured(workload, name=None, **spec):
    """Returns a profile of a workload that has yet to be measured, as the controller creates it."""
    return {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile",
            "metadata": {"name": name or name_of(workload), "labels": {"app.kubernetes.io/managed-by": CONTROLLER}},
            "spec": {"workload": workload, "gpus": 1, "gpuProduct": PRODUCT, **spec}}


def measured(revision, *points, **more):
    return {"node": NODE, "revision": revision, "at": "2026-11-21T07:05:03.250000Z", "confirmed": True,
            "points": [{"cpu": cpu, "throughput": rate, "certainty": "exact", "windows": 1, "spread": 0.01}
                       for cpu, rate in points], **more}


def trainer(name, workload):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"synergy.io/workload": workload}},
            "spec": {"nodeSelector": {"kubernetes.io/hostname": NODE}, "tolerations": [{"operator": "Exists"}],
                     "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
                     "containers": [{"name": "train", "image": "synergy.test/busybox:1",
                                     "resources": {"limits": {GPU: "1"}}}]}}


class MeasuredTest(ClusterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Without node agents, nothing measures pods here; everything else works.
        authority = cls.cluster.state / "pki/ca.crt"
        cls.enterClassContext(cls.cluster.controller(
            progress=f"{{enabled: true, agents: none=such, serverName: localhost, caFile: {authority}}}"))
        cls.addClassCleanup(cls.cluster.delete, "trainingprofiles")

    def setUp(self):
        super().setUp()
        self.cluster.delete("trainingprofiles")

    def create(self, item, **options):
        """Returns the message of the API server's refusal; empty if it accepts the object."""
        return self.cluster.complaint("POST", item["kind"], body=item, **options)

    def change(self, name, change, **options):
        return self.cluster.complaint("PATCH", "trainingprofile", name, change, **options)

    def publish(self, workload, status, **options):
        self.assertEqual(
            self.change(name_of(workload), {"status": {"measured": status}}, subresource="status", **options), "")

    def profile(self, workload):
        return self.cluster.get("trainingprofile", name_of(workload))

    def valid(self, workload):
        return [(c["status"], c["reason"]) for c in self.profile(workload).get("status", {}).get("conditions", [])]

    def annotations(self, name):
        return {key.removeprefix("synergy.io/"): value
                for key, value in self.cluster.get("pod", name)["metadata"]["annotations"].items()}

    def test_points_are_left_out_for_a_workload_alone(self):
        nothing = to_be_measured("bert", "nothing")
        del nothing["spec"]["workload"]
        self.assertIn("points is missing; only a profile with workload, which Synergy measures, may leave it out",
                      self.create(nothing))
        self.assertIn("need points", self.create(to_be_measured("bert", processMemory="1G")))
        self.assertEqual(self.create(to_be_measured("bert")), "")
        wait_for("the profile to be judged", lambda: self.valid("bert") == [("Unknown", "Measuring")])

    def test_the_controller_may_make_write_and_delete_what_it_measures(self):
        self.assertEqual(self.create(to_be_measured("bert"), user=CONTROLLER), "")
        self.publish("bert", measured(1, ("1", 10), ("3", 10)), user=CONTROLLER)
        wait_for("the profile to be judged", lambda: self.valid("bert") == [("True", "Measured")])
        status = self.profile("bert")["status"]
        self.assertEqual(status["demand"], {"cpu": "1"})
        self.assertEqual(status["measured"]["points"][0]["throughput"], 10,
                         "who writes conditions leaves measurements alone")
        self.publish("bert", measured(2, ("2", 10), ("3", 10), cpuSeconds=0.2))
        wait_for("the profile to be judged again", lambda: self.profile("bert")["status"]["demand"] == {"cpu": "2"})
        self.assertEqual(self.valid("bert"), [("True", "Measured")])
        self.assertIn("of another workload", self.change(name_of("bert"), {"spec": {"gpus": 2}}))
        self.assertEqual(self.cluster.complaint("DELETE", "trainingprofile", name_of("bert"), user=CONTROLLER), "")

    def test_running_pods_get_what_was_measured_and_new_ones_begin_with_it(self):
        self.cluster.create(trainer("first", "bert"), trainer("other", "gpt"))
        for name in ("first", "other"):
            wait_for(f"{name} to run", lambda name=name: self.cluster.pods()[name]["status"].get("phase") == "Running")
        before = self.annotations("first")
        self.assertEqual((before["workload"], json.loads(before["floor"])["cpu"], before.get("profile")),
                         ("bert", "3", None))
        self.assertNotIn("warnings", before)
        self.assertEqual(self.create(to_be_measured("bert")), "")
        self.publish("bert", measured(1, ("1", 10), ("3", 10)))
        wait_for("the running pod to get it", lambda: self.annotations("first").get("profile") == name_of("bert"))
        after = self.annotations("first")
        self.assertEqual([json.loads(after[name])["cpu"] for name in ("floor", "demand")], ["1", "1"])
        self.assertEqual(after["profile-generation"], "1")
        self.cluster.create(trainer("second", "bert"))
        second = self.annotations("second")
        self.assertEqual((second["profile"], json.loads(second["floor"])["cpu"], second.get("warnings")),
                         (name_of("bert"), "1", None))
        self.assertNotIn("gpu-product", second)
        self.publish("bert", measured(2, ("2", 10), ("3", 10)))
        for name in ("first", "second"):
            wait_for(f"{name} to get the new revision",
                     lambda name=name: self.annotations(name).get("profile-generation") == "2")
        self.assertNotIn("profile", self.annotations("other"))
        wait_for("the event",
                 lambda: any("measured while the pod trained" in event for event in self.cluster.events("first")))

    def test_a_contradiction_is_bound_to_the_generation_of_the_profile(self):
        point = {"cpu": "1", "memory": "1Gi", "throughput": 1}
        self.assertEqual(self.create({"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile",
                                      "metadata": {"name": "given"}, "spec": {"points": [point]}}), "")

        def conditions():
            return {c["type"]: c
                    for c in self.cluster.get("trainingprofile", "given").get("status", {}).get("conditions", [])}
        valid = wait_for("the profile to be judged", lambda: conditions().get("Valid"))
        seen = {**valid, "type": "Contradicted", "status": "True", "reason": "MeasuredOtherwise", "message": "seen"}
        self.assertEqual(
            self.change("given", {"status": {"speedUp": 7, "conditions": [valid, seen]}}, subresource="status"), "")
        wait_for("the status to be written again",
                 lambda: self.cluster.get("trainingprofile", "given")["status"].get("speedUp") != 7)
        self.assertEqual(conditions()["Contradicted"], seen, "who has seen nothing leaves what another one saw")
        self.assertEqual(self.change("given", {"spec": {"points": [{**point, "throughput": 2}]}}), "")
        wait_for("the new spec to be judged", lambda: conditions()["Valid"]["observedGeneration"] == 2)
        self.assertNotIn("Contradicted", conditions())


if __name__ == "__main__":
    failures.main()
