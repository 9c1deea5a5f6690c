"""Tests which accounts may write what Synergy's programs act on: admission policies, claims of pods,
profiles and rights, on a real API server."""

import base64
import itertools
import json
import os
import subprocess
import unittest

import failures
from api import STRATEGIC
from cluster import ROOT, ClusterTest, pod, wait_for

HOLD = "synergy.io/hold"
CHANGE = "synergy.io/change"
CONTROLLER = "synergy-controller"
FOR_EVER = {"until": "2100-01-01T00:00:00Z"}
ALL = ["container", "demand", "fair-share", "floor", "original", "profile", "profile-generation", "enforcement",
       "gpu-product", "change", "hold", "room-seen", "gpu-reservation", "longest-run", "unshrinkable-until", "warnings",
       "workload", "probe"]


def annotating(annotations):
    return {"metadata": {"annotations": annotations}}


class TrustTest(ClusterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.enterClassContext(cls.cluster.controller())

    def patch(self, name, change, **options):
        """Returns the message of the API server's refusal; empty if it accepts the patch."""
        return self.cluster.complaint("PATCH", "pod", name, change, **options)

    def as_synergy(self, name, annotations):
        return self.patch(name, annotating(annotations), user=CONTROLLER, manager="synergy")

    def create(self, item, **options):
        return self.cluster.complaint("POST", item["kind"], body=item, **options)

    def never_scheduled(self, name, **more):
        """Returns a pod whose scheduler does not exist."""
        return pod(name, scheduler="nobody", **more)

    def requested(self, node):
        state = json.loads(self.extender.get("/debug/state"))
        return next(found for found in state["nodes"] if found["name"] == node)

    # Writes that other accounts may not make:

    def test_others_change_none_of_the_annotations(self):
        self.assertEqual(self.create(self.never_scheduled("p")), "")
        self.assertEqual(self.as_synergy("p", {f"synergy.io/{name}": "written" for name in ALL}), "")
        for value in ("changed", None):
            change = annotating({f"synergy.io/{name}": value for name in ALL})
            for subresource in ("", "status"):
                complaint = self.patch("p", change, subresource=subresource)
                self.assertIn("only Synergy may change synergy.io/container, ", complaint)
                for name in ALL:
                    self.assertRegex(complaint, rf"synergy.io/{name}\b")
            self.patch("p", change, subresource="resize")
        found = self.cluster.get("pod", "p")["metadata"]["annotations"]
        self.assertEqual({found[f"synergy.io/{name}"] for name in ALL}, {"written"})

    def test_the_controller_changes_only_which_authority_its_webhooks_trust(self):
        def complaint(kind, *changes):
            return self.cluster.complaint("PATCH", kind, "synergy",
                                          [{"op": "add", "path": path, "value": value} for path, value in changes],
                                          content_type="application/json-patch+json", user=CONTROLLER)

        bundle = "/webhooks/0/clientConfig/caBundle"
        for kind in ("mutatingwebhookconfiguration", "validatingwebhookconfiguration"):
            trusted = base64.b64decode(self.cluster.get(kind, "synergy")["webhooks"][0]["clientConfig"]["caBundle"])
            twice = base64.b64encode(trusted + trusted).decode()
            for path, value in (("/webhooks/0/clientConfig/url", "https://192.0.2.1/"),
                                ("/webhooks/0/failurePolicy", "Fail"), ("/webhooks/0/timeoutSeconds", 1),
                                ("/webhooks/0/rules/0/operations", ["*"]), ("/webhooks/0/matchPolicy", "Exact"),
                                ("/webhooks/0/namespaceSelector", {"matchLabels": {"a": "b"}}),
                                ("/webhooks/0/objectSelector", {"matchLabels": {"a": "b"}}),
                                ("/webhooks/0/matchConditions", [{"name": "never", "expression": "false"}]),
                                ("/webhooks", []), ("/metadata/labels", {}), ("/metadata/annotations", {"a": "b"}),
                                ("/metadata/finalizers", ["a.example/b"])):
                with self.subTest(kind, path=path):
                    change = [(bundle, twice), (path, value)] if path != "/webhooks" else [(path, value)]
                    self.assertIn("may only change caBundle", complaint(kind, *change))
            before = self.cluster.get(kind, "synergy")
            self.assertEqual(complaint(kind, (bundle, twice)), "")
            self.assertEqual(complaint(kind, (bundle, base64.b64encode(trusted).decode())), "")
            self.assertEqual(self.cluster.get(kind, "synergy")["webhooks"], before["webhooks"])

    def test_the_controller_makes_and_deletes_profiles_of_what_it_measures_alone(self):
        self.addCleanup(self.cluster.delete, "trainingprofiles")
        as_controller = {"user": CONTROLLER}

        def profile(name, spec, manager=CONTROLLER):
            return {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "spec": spec,
                    "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": manager}}}
        points = {"points": [{"cpu": "1", "memory": "1Gi", "throughput": 1}]}
        for item in (profile("forged", points), profile("forged", {"workload": "w", **points}),
                     profile("forged", {"workload": "w"}, "me")):
            self.assertIn("of its own measurements", self.create(item, **as_controller))
        self.assertEqual(self.create(profile("own", {"workload": "w"}), **as_controller), "")
        for item in (profile("given", points), profile("given-by-hand", {"workload": "w"}, "me")):
            self.assertEqual(self.create(item), "")
            self.assertIn("of its own measurements",
                          self.cluster.complaint("DELETE", "trainingprofile", item["metadata"]["name"],
                                                 **as_controller))

        def status(name, written):
            return self.cluster.complaint("PATCH", "trainingprofile", name, {"status": written}, subresource="status",
                                          **as_controller)
        measured = {"measured": {"revision": 1, "at": "2026-11-21T07:05:03Z",
                                 "points": [{"cpu": "1", "throughput": 1, "certainty": "exact"}]}}
        self.let_the_controller_write_profiles()
        self.assertEqual(status("own", measured), "")
        raised = {"memoryRaise": {"process": "2Gi", "tooSmall": "1Gi", "times": 1, "at": "2026-11-21T07:05:03Z"}}
        self.assertEqual(status("own", raised), "")
        packed = {"packing": [{"with": "v", "verdict": "Good", "speed": 0.8, "otherSpeed": 0.7,
                               "at": "2026-11-21T07:05:03Z"}]}
        self.assertEqual(status("own", packed), "")
        for written in (measured, raised, packed):
            self.assertIn("a TrainingProfile that has points", status("given", written))
        self.assertEqual(status("given", {"speedUp": 1}), "")
        self.assertEqual(self.cluster.complaint("DELETE", "trainingprofile", "own", **as_controller), "")

    def let_the_controller_write_profiles(self):
        """Grants the right to write profiles, so that only the policy can refuse the write."""
        self.cluster.create(
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
             "metadata": {"name": "writes-profiles"},
             "rules": [{"apiGroups": ["synergy.io"], "resources": ["trainingprofiles", "trainingprofiles/status"],
                        "verbs": ["patch"]}]},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
             "metadata": {"name": "writes-profiles"},
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "writes-profiles"},
             "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": CONTROLLER}]})
        self.addCleanup(self.cluster.delete, "clusterroles,clusterrolebindings", "writes-profiles")
        for patch in ({"spec": {"gpus": 2}}, {"metadata": {"labels": {"a": "b"}}}):
            wait_for("the patch to be refused by the policy",
                     lambda patch=patch: "may only change the status of TrainingProfiles" in
                     self.cluster.complaint("PATCH", "trainingprofile", "given", patch, user=CONTROLLER))

    def test_field_manager_name_cannot_be_forged(self):
        forged = self.never_scheduled("a")
        forged["metadata"]["annotations"] = {HOLD: "{}"}
        self.assertIn("the field manager 'synergy'", self.create(forged, manager="synergy"))
        self.assertEqual(self.create(self.never_scheduled("b")), "")
        entry = {"manager": "synergy", "operation": "Update", "apiVersion": "v1", "time": "2100-01-01T00:00:00Z",
                 "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:annotations": {f"f:{HOLD}": {}}}}}
        self.assertIn("the field manager 'synergy'", self.patch("b", {"metadata": {"managedFields": [entry]}}))
        agents = {**entry, "manager": "synergy-node-agent", "subresource": "status",
                  "fieldsV1": {"f:metadata": {"f:annotations": {"f:synergy.io/devices": {}}}}}
        self.assertIn("the field manager 'synergy'", self.patch("b", {"metadata": {"managedFields": [agents]}}))
        # A write through a subresource cannot change them: the API server ignores them.
        self.patch("b", {"metadata": {"managedFields": [entry]}}, subresource="status")
        found = self.cluster.get("pod", "b")["metadata"]["managedFields"]
        self.assertNotIn("synergy", [entry["manager"] for entry in found])
        # Even a value that Synergy itself wrote at another time is refused.
        self.assertEqual(self.as_synergy("b", {HOLD: "{}"}), "")
        self.assertIn("the field manager 'synergy'", self.patch("b", {"metadata": {"managedFields": [entry]}}))
        self.assertEqual(self.patch("b", {"metadata": {"managedFields": [{}]}}), "")

    def test_a_binding_carries_no_word_in_our_name(self):
        self.assertEqual(self.create(self.never_scheduled("p")), "")
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p", "annotations": {CHANGE: "{}"}},
                   "target": {"kind": "Node", "name": next(iter(self.nodes()))}}
        self.assertIn(CHANGE, self.cluster.complaint("POST", "pod", "p", binding, subresource="binding"))
        self.assertIn(CHANGE, self.cluster.complaint("POST", "binding", body=binding), "the older way")
        binding["metadata"]["annotations"] = {"of-somebody-else": "x"}
        self.assertEqual(self.cluster.complaint("POST", "pod", "p", binding, subresource="binding"), "")

    def nodes(self):
        return [node["metadata"]["name"]
                for node in self.cluster.get("nodes")["items"] if node["metadata"]["name"] != "node-1"]

    # Writes that must still be possible:

    def test_ordinary_changes_are_nobodys_business(self):
        self.assertEqual(self.create(self.never_scheduled("p")), "")
        self.assertEqual(self.as_synergy("p", {HOLD: "{}", CHANGE: "{}"}), "")
        ordinary = [{"metadata": {"labels": {"a": "b"}}}, annotating({"a": "b"}), annotating({"synergy.io/mine": "x"}),
                    {"metadata": {"finalizers": ["example.com/f"]}}, {"metadata": {"finalizers": None}},
                    {"spec": {"containers": [{"name": "train", "image": "synergy.test/busybox:2"}]}}]
        for change in ordinary:
            self.assertEqual(self.patch("p", change, content_type=STRATEGIC), "")
        condition = {"status": {"conditions": [{"type": "example.com/ready", "status": "True"}]}}
        self.assertEqual(self.patch("p", condition, subresource="status"), "")
        self.assertEqual(self.cluster.complaint("PUT", "pod", "p", self.cluster.get("pod", "p")), "")

    def test_the_controller_changes_our_annotations_and_nothing_else(self):
        made = self.never_scheduled("p")
        made["metadata"].update(labels={"team": "a"}, annotations={"note": "a"})
        self.assertEqual(self.create(made), "")
        self.assertEqual(self.as_synergy("p", {HOLD: "{}"}), "")
        for change in ({"metadata": {"labels": {"team": "b"}}}, {"metadata": {"labels": {"team": None}}},
                       annotating({"note": "b"}),
                       annotating({"note": None}), {"metadata": {"finalizers": ["example.com/f"]}},
                       {"spec": {"containers": [{"name": "train", "image": "evil"}]}}):
            complaint = self.patch("p", change, user=CONTROLLER, content_type=STRATEGIC)
            self.assertIn("synergy-controller may only change annotations synergy.io/* of pods", complaint)
        for change in ({"metadata": {"labels": {"synergy.io/fungible": "false"}}},
                       {"metadata": {"labels": {"kueue.x-k8s.io/podset": "p"}}},
                       annotating({"example.kubernetes.io/profile": "unconfined"})):
            self.assertIn("in the domains of Kubernetes or Synergy",
                          self.patch("p", change, user=CONTROLLER, content_type=STRATEGIC))
        # This patch stands for a webhook's change to an update: the API server reports the update's
        # author, not the webhook.
        more = {"metadata": {"labels": {"cost-center": "research"},
                             "annotations": {"policies.kyverno.io/applied": "x", HOLD: "{}"}}}
        self.assertEqual(self.patch("p", more, user=CONTROLLER, manager="synergy"), "")

    def test_the_device_plugin_may_change_its_own_node_only(self):
        own, other = self.nodes()[:2]
        self.cluster.kubectl("apply", "--validate=ignore", *(
            f"--filename={ROOT}/manifests/device-plugin/device-plugin-{name}.yaml" for name in ("rbac", "policy")))
        account = ("synergy-device-plugin", "--namespace", "synergy-system")
        token = self.cluster.kubectl("create", "token", *account, "--bound-object-kind", "Node",
                                     "--bound-object-name", own).strip()

        def patch_node(node, change):
            return self.cluster.complaint("PATCH", "node", node, change, token=token)
        gpus = {"metadata": {"labels": {"nvidia.com/gpu.count": "8"},
                             "annotations": {"synergy.io/gpu-inventory": "{}"}}}
        nothing = {"metadata": {"labels": {"nvidia.com/gpu.count": None},
                                "annotations": {"synergy.io/gpu-inventory": None}}}
        # A policy takes effect a moment after it is applied. A write that succeeds before that
        # would not be a change later, so each try writes another value.
        tries = itertools.count()
        wait_for("the policy to be in force",
                 lambda: "may only change" in patch_node(own, annotating({"try": str(next(tries))})))
        self.assertEqual(patch_node(own, gpus), "")
        self.assertEqual(patch_node(own, nothing), "")
        self.assertIn("may only change its own Node", patch_node(other, gpus))
        for change in ({"metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}}}, annotating({"a": "b"}),
                       {"spec": {"unschedulable": True}}):
            self.assertIn("may only change", patch_node(own, change))
        # a token that is bound to no node
        token = self.cluster.kubectl("create", "token", *account).strip()
        self.assertIn("may only change its own Node", patch_node(own, gpus))

    # Annotations that have an effect:

    def test_a_hold_in_a_users_hand_keeps_no_gpu_pod_from_its_node(self):
        node = self.nodes()[0]
        greedy = pod("greedy", gpus=0, cpu="10000", memory="1Gi", scheduler="nobody")
        greedy["metadata"].update(labels={"synergy.io/fungible": "false"},
                                  annotations={HOLD: json.dumps({"node": node, **FOR_EVER})})
        self.assertEqual(self.create(greedy), "")
        self.assertIn("only Synergy may change", self.patch("greedy", annotating({HOLD: json.dumps({"node": node})})))
        # The annotation has no effect even if Synergy wrote it: the pod is not managed.
        self.assertEqual(self.as_synergy("greedy", {HOLD: json.dumps({"node": node, **FOR_EVER})}), "")
        trains = pod("trains", nodeSelector={"kubernetes.io/hostname": node})
        self.assertEqual(self.create(trains), "")
        wait_for("the pod to be bound", lambda: self.cluster.bound().get("trains") == node)
        # The webhook has found the node's fair share; it does not report a node without GPUs.
        fair = json.loads(self.cluster.get("pod", "trains")["metadata"]["annotations"]["synergy.io/fair-share"])
        self.assertEqual(fair["cpu"], "3")
        explained = subprocess.run([os.path.join(os.environ["SYNERGY_BIN"], "synergy"), "explain", "pod/greedy",
                               "--kubeconfig", self.cluster.environment["KUBECONFIG"]],
                              capture_output=True, text=True, check=False).stdout
        self.assertNotIn("kept", explained)

    def test_a_hold_counts_on_a_managed_pod_by_synergys_hand_and_for_a_while(self):
        node = self.nodes()[0]
        waits = pod("waits", cpu="1", nodeSelector={"no": "where"})
        self.assertEqual(self.create(waits), "")
        before = self.requested(node)
        hold = {HOLD: json.dumps({"node": node, **FOR_EVER})}
        self.assertIn("only Synergy may change", self.patch("waits", annotating(hold)))
        self.assertEqual(self.as_synergy("waits", hold), "")
        wait_for("the place to be kept", lambda: self.requested(node) != before)
        # If another account's resize contains the annotation, Synergy is no longer its only author,
        # and the hold ends.
        self.patch("waits", annotating({HOLD: "x"}), subresource="resize", manager="other")
        wait_for("the place to be kept no more", lambda: self.requested(node) == before)

    # Profiles.

    def test_edit_makes_profiles_and_view_reads_them(self):
        profile = {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "metadata": {"name": "p"},
                   "spec": {"points": [{"cpu": 1, "memory": "1G", "throughput": 1}]}}
        for role in ("edit", "view"):
            self.cluster.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                                 "metadata": {"name": f"trust-{role}"},
                                 "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                                             "name": role},
                                 "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User",
                                               "name": f"a-{role}"}]})
            self.addCleanup(self.cluster.delete, "rolebinding", f"trust-{role}")
        wait_for("the roles to be aggregated", lambda: self.create(profile, user="a-edit") == "")
        wait_for("those of view, too", lambda: self.cluster.complaint("GET", "tp", "p", user="a-view") == "")
        self.assertIn("cannot create resource \"trainingprofiles\"",
                      self.create({**profile, "metadata": {"name": "q"}}, user="a-view"))
        self.assertIn("cannot delete", self.cluster.complaint("DELETE", "tp", "p", user="a-view"))
        self.assertEqual(self.cluster.complaint("DELETE", "tp", "p", user="a-edit"), "")

    def test_an_implausible_profile_is_bounded_with_a_condition(self):
        profile = {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "metadata": {"name": "boast"},
                   "spec": {"points": [{"cpu": 3, "memory": "60G", "throughput": 1},
                                       {"cpu": 6, "memory": "60G", "throughput": 8},
                                       {"cpu": 20, "memory": "60G", "throughput": 100}]}}
        self.assertEqual(self.create(profile), "")
        self.addCleanup(self.cluster.delete, "tp", "boast")
        status = wait_for("a status", lambda: self.cluster.get("tp", "boast").get("status"))
        condition = status["conditions"][0]
        self.assertEqual((condition["status"], condition["reason"]), ("True", "Bounded"))
        self.assertIn("claims 100 times the speed", condition["message"])
        self.assertEqual((status["demand"]["cpu"], status["speedUp"]), ("6", 4))


if __name__ == "__main__":
    failures.main()
