"""Who may write what Synergy's programs act on: admission policies, claims of pods, profiles and rights, on a real API server."""

import json
import os
import subprocess
import unittest

from cluster import ROOT, ClusterTest, pod, wait_for

HOLD = "synergy.io/hold"
CHANGE = "synergy.io/change"
CONTROLLER = "synergy-controller"
FOR_EVER = {"until": "2100-01-01T00:00:00Z"}
ALL = ["container", "demand", "fair-share", "floor", "original", "profile", "profile-generation", "enforcement", "gpu-product",
       "change", "hold", "room-seen", "unshrinkable-until", "warnings", "workload", "probe"]


def annotating(annotations):
    return {"metadata": {"annotations": annotations}}


class TrustTest(ClusterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.script("start", "synergy-controller")
        cls.addClassCleanup(cls.cluster.script, "stop", "synergy-controller")

    def ask(self, *arguments, stdin=None):
        """Standard output of a kubectl, and what it complained of; the latter is empty where it succeeded."""
        done = subprocess.run([self.cluster.environment["SYNERGY_CLUSTER_KUBECTL"], *arguments], input=stdin,
                              env=self.cluster.environment, text=True, capture_output=True, check=False)
        return done.stdout, done.stderr if done.returncode else ""

    def patch(self, name, change, *options):
        return self.ask("patch", "pod", name, "--type", "merge", "--patch", json.dumps(change), *options)[1]

    def as_synergy(self, name, annotations):
        return self.patch(name, annotating(annotations), "--as", CONTROLLER, "--field-manager", "synergy")

    def create(self, item, *options):
        return self.ask("create", "-f", "-", *options, stdin=json.dumps(item))[1]

    def never_scheduled(self, name, **more):
        """A pod that waits for a scheduler that there is none of."""
        return pod(name, scheduler="nobody", **more)

    def requested(self, node):
        state = json.loads(self.extender.get("/debug/state"))
        return next(found for found in state["nodes"] if found["name"] == node)

    # What others may not.

    def test_others_change_none_of_the_annotations(self):
        self.assertEqual(self.create(self.never_scheduled("p")), "")
        self.assertEqual(self.as_synergy("p", {f"synergy.io/{name}": "written" for name in ALL}), "")
        for value in ("changed", None):
            change = annotating({f"synergy.io/{name}": value for name in ALL})
            for subresource in ((), ("--subresource", "status")):
                complaint = self.patch("p", change, *subresource)
                self.assertIn("only Synergy may change synergy.io/container, ", complaint)
                for name in ALL:
                    self.assertRegex(complaint, rf"synergy.io/{name}\b")
            self.patch("p", change, "--subresource", "resize")
        found = self.cluster.get("pod", "p")["metadata"]["annotations"]
        self.assertEqual({found[f"synergy.io/{name}"] for name in ALL}, {"written"})

    def test_the_controller_makes_and_deletes_profiles_of_what_it_measures_alone(self):
        self.addCleanup(self.cluster.kubectl, "delete", "trainingprofiles", "--all")
        as_controller = ("--as", CONTROLLER)

        def profile(name, spec, manager=CONTROLLER):
            return {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "spec": spec,
                    "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": manager}}}
        points = {"points": [{"cpu": "1", "memory": "1Gi", "throughput": 1}]}
        for item in (profile("forged", points), profile("forged", {"workload": "w", **points}), profile("forged", {"workload": "w"}, "me")):
            self.assertIn("of what it measures, and no others", self.create(item, *as_controller))
        self.assertEqual(self.create(profile("own", {"workload": "w"}), *as_controller), "")
        for item in (profile("given", points), profile("given-by-hand", {"workload": "w"}, "me")):
            self.assertEqual(self.create(item), "")
            self.assertIn("of what it measures, and no others",
                          self.ask("delete", "trainingprofile", item["metadata"]["name"], "--wait=false", *as_controller)[1])

        def status(name, written):
            return self.ask("patch", "trainingprofile", name, "--subresource", "status", "--type", "merge", "--patch",
                            json.dumps({"status": written}), *as_controller)[1]
        measured = {"measured": {"revision": 1, "at": "2026-11-21T07:05:03Z", "points": [{"cpu": "1", "throughput": 1, "certainty": "exact"}]}}
        self.let_the_controller_read_profiles()
        self.assertEqual(status("own", measured), "")
        self.assertIn("no TrainingProfile that has points", status("given", measured))
        self.assertEqual(status("given", {"speedUp": 1}), "")
        self.assertEqual(self.ask("delete", "trainingprofile", "own", "--wait=false", *as_controller)[1], "")

    def let_the_controller_read_profiles(self):
        """kubectl reads before it patches. And write them, so that it is the policy which refuses."""
        self.cluster.create(
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "writes-profiles"},
             "rules": [{"apiGroups": ["synergy.io"], "resources": ["trainingprofiles", "trainingprofiles/status"],
                        "verbs": ["get", "patch"]}]},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "writes-profiles"},
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "writes-profiles"},
             "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": CONTROLLER}]})
        self.addCleanup(self.cluster.kubectl, "delete", "clusterrole,clusterrolebinding", "writes-profiles")
        for patch in ({"spec": {"gpus": 2}}, {"metadata": {"labels": {"a": "b"}}}):
            wait_for("the patch to be refused by the policy", lambda patch=patch: "changes the status of TrainingProfiles, and nothing else" in
                     self.ask("patch", "trainingprofile", "given", "--type", "merge", "--patch", json.dumps(patch), "--as", CONTROLLER)[1], 20)

    def test_nobody_passes_for_synergy_by_the_field_managers_name(self):
        forged = self.never_scheduled("a")
        forged["metadata"]["annotations"] = {HOLD: "{}"}
        self.assertIn("the field manager 'synergy'", self.create(forged, "--field-manager", "synergy"))
        self.assertEqual(self.create(self.never_scheduled("b")), "")
        entry = {"manager": "synergy", "operation": "Update", "apiVersion": "v1", "time": "2100-01-01T00:00:00Z",
                 "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:annotations": {f"f:{HOLD}": {}}}}}
        self.assertIn("the field manager 'synergy'", self.patch("b", {"metadata": {"managedFields": [entry]}}))
        # By a subresource they cannot be written: the API server passes over them.
        self.patch("b", {"metadata": {"managedFields": [entry]}}, "--subresource", "status")
        found = json.loads(self.ask("get", "pod", "b", "-o", "json", "--show-managed-fields")[0])["metadata"]["managedFields"]
        self.assertNotIn("synergy", [entry["manager"] for entry in found])
        # Nor by what Synergy has written in truth, at another time.
        self.assertEqual(self.as_synergy("b", {HOLD: "{}"}), "")
        self.assertIn("the field manager 'synergy'", self.patch("b", {"metadata": {"managedFields": [entry]}}))
        self.assertEqual(self.patch("b", {"metadata": {"managedFields": [{}]}}), "")

    def test_a_binding_carries_no_word_in_our_name(self):
        self.assertEqual(self.create(self.never_scheduled("p")), "")
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p", "annotations": {CHANGE: "{}"}},
                   "target": {"kind": "Node", "name": next(iter(self.nodes()))}}
        path = "/api/v1/namespaces/default/pods/p/binding"
        self.assertIn(CHANGE, self.ask("create", "--raw", path, "-f", "-", stdin=json.dumps(binding))[1])
        binding["metadata"]["annotations"] = {"of-somebody-else": "x"}
        self.assertEqual(self.ask("create", "--raw", path, "-f", "-", stdin=json.dumps(binding))[1], "")

    def nodes(self):
        return [node["metadata"]["name"] for node in self.cluster.get("nodes")["items"] if node["metadata"]["name"] != "node-1"]

    # What must go on.

    def test_ordinary_changes_are_nobodys_business(self):
        self.assertEqual(self.create(self.never_scheduled("p")), "")
        self.assertEqual(self.as_synergy("p", {HOLD: "{}", CHANGE: "{}"}), "")
        ordinary = [{"metadata": {"labels": {"a": "b"}}}, annotating({"a": "b"}), annotating({"synergy.io/mine": "x"}),
                    {"metadata": {"finalizers": ["example.com/f"]}}, {"metadata": {"finalizers": None}},
                    {"spec": {"containers": [{"name": "train", "image": "synergy.test/busybox:2"}]}}]
        for change in ordinary:
            self.assertEqual(self.ask("patch", "pod", "p", "--patch", json.dumps(change))[1], "")
        condition = {"status": {"conditions": [{"type": "example.com/ready", "status": "True"}]}}
        self.assertEqual(self.patch("p", condition, "--subresource", "status"), "")
        item = self.ask("get", "pod", "p", "-o", "json", "--show-managed-fields")[0]
        self.assertEqual(self.ask("replace", "-f", "-", stdin=item)[1], "")

    def test_the_controller_changes_our_annotations_and_nothing_else(self):
        self.assertEqual(self.create(self.never_scheduled("p")), "")
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "trust-test"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "synergy-controller"},
            "subjects": [{"kind": "User", "name": CONTROLLER, "apiGroup": "rbac.authorization.k8s.io"}]}))
        self.addCleanup(self.cluster.kubectl, "delete", "clusterrolebinding", "trust-test")
        self.assertEqual(self.as_synergy("p", {HOLD: "{}"}), "")
        for change in ({"metadata": {"labels": {"a": "b"}}}, annotating({"a": "b"}), {"metadata": {"finalizers": ["example.com/f"]}},
                       {"spec": {"containers": [{"name": "train", "image": "evil"}]}}):
            complaint = self.ask("patch", "pod", "p", "--patch", json.dumps(change), "--as", CONTROLLER)[1]
            self.assertIn("synergy-controller changes annotations synergy.io/* of pods, and nothing else", complaint)

    def test_the_device_plugin_tells_of_its_own_node_only(self):
        own, other = self.nodes()[:2]
        self.cluster.kubectl("apply", "-f", str(ROOT / "manifests/device-plugin-rbac.yaml"))
        account = ("synergy-device-plugin", "--namespace", "synergy-system")
        token = self.cluster.kubectl("create", "token", *account, "--bound-object-kind", "Node", "--bound-object-name", own).strip()

        def tell(node, change):
            return self.ask("patch", "node", node, "--type", "merge", "--patch", json.dumps(change), "--token", token,
                            "--kubeconfig", str(self.anonymous()))[1]
        gpus = {"metadata": {"labels": {"nvidia.com/gpu.count": "8"}, "annotations": {"synergy.io/gpu-inventory": "{}"}}}
        nothing = {"metadata": {"labels": {"nvidia.com/gpu.count": None}, "annotations": {"synergy.io/gpu-inventory": None}}}
        self.assertEqual(tell(own, gpus), "")
        self.assertEqual(tell(own, nothing), "")
        self.assertIn("its own Node only", tell(other, gpus))
        for change in ({"metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}}}, annotating({"a": "b"}),
                       {"spec": {"unschedulable": True}}):
            self.assertIn("and nothing else", tell(own, change))
        unbound = self.cluster.kubectl("create", "token", *account).strip()
        token = unbound
        self.assertIn("its own Node only", tell(own, gpus))

    def anonymous(self):
        """A kubeconfig without an account."""
        config = json.loads(self.cluster.kubectl("config", "view", "--raw", "--minify", "--output", "json"))
        config["users"][0]["user"] = {}
        file = self.cluster.folder / "anonymous.kubeconfig"
        file.write_text(json.dumps(config), encoding="utf-8")
        return file

    # What counts.

    def test_a_hold_in_a_users_hand_keeps_no_gpu_pod_from_its_node(self):
        node = self.nodes()[0]
        greedy = pod("greedy", gpus=0, cpu="10000", memory="1Gi", scheduler="nobody")
        greedy["metadata"].update(labels={"synergy.io/fungible": "false"}, annotations={HOLD: json.dumps({"node": node, **FOR_EVER})})
        self.assertEqual(self.create(greedy), "")
        self.assertIn("only Synergy may change", self.patch("greedy", annotating({HOLD: json.dumps({"node": node})})))
        # Nor where Synergy itself had written it: the pod is none of those that it manages.
        self.assertEqual(self.as_synergy("greedy", {HOLD: json.dumps({"node": node, **FOR_EVER})}), "")
        trains = pod("trains", nodeSelector={"kubernetes.io/hostname": node})
        self.assertEqual(self.create(trains), "")
        wait_for("the pod to be bound", lambda: self.cluster.bound().get("trains") == node)
        # The webhook has found the node's fair share, and said nothing of a node without GPUs.
        fair = json.loads(self.cluster.get("pod", "trains")["metadata"]["annotations"]["synergy.io/fair-share"])
        self.assertEqual(fair["cpu"], "3")
        told = subprocess.run([os.path.join(os.environ["SYNERGY_BIN"], "synergy"), "explain", "pod/greedy", "--kubeconfig", self.cluster.environment["KUBECONFIG"]],
                              capture_output=True, text=True, check=False).stdout
        self.assertNotIn("kept", told)

    def test_a_hold_counts_on_a_managed_pod_by_synergys_hand_and_for_a_while(self):
        node = self.nodes()[0]
        waits = pod("waits", cpu="1", nodeSelector={"no": "where"})
        self.assertEqual(self.create(waits), "")
        before = self.requested(node)
        hold = {HOLD: json.dumps({"node": node, **FOR_EVER})}
        self.assertIn("only Synergy may change", self.patch("waits", annotating(hold)))
        self.assertEqual(self.as_synergy("waits", hold), "")
        wait_for("the place to be kept", lambda: self.requested(node) != before)
        # A resize of somebody else's that mentions the annotation takes its authorship away, and so ends the hold.
        self.patch("waits", annotating({HOLD: "x"}), "--subresource", "resize", "--field-manager", "other")
        wait_for("the place to be kept no more", lambda: self.requested(node) == before)

    # Profiles.

    def test_edit_makes_profiles_and_view_reads_them(self):
        profile = {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "metadata": {"name": "p"},
                   "spec": {"points": [{"cpu": 1, "memory": "1G", "throughput": 1}]}}
        for role in ("edit", "view"):
            self.cluster.kubectl("create", "rolebinding", f"trust-{role}", "--clusterrole", role, "--user", f"a-{role}")
            self.addCleanup(self.cluster.kubectl, "delete", "rolebinding", f"trust-{role}")
        wait_for("the roles to be aggregated", lambda: self.ask("auth", "can-i", "create", "tp", "--as", "a-edit")[0].strip() == "yes")
        self.assertIn("cannot create resource \"trainingprofiles\"", self.create(profile, "--as", "a-view"))
        self.assertEqual(self.create(profile, "--as", "a-edit"), "")
        self.assertEqual(self.ask("get", "tp", "p", "--as", "a-view")[1], "")
        self.assertIn("cannot delete", self.ask("delete", "tp", "p", "--as", "a-view")[1])
        self.assertEqual(self.ask("delete", "tp", "p", "--as", "a-edit")[1], "")

    def test_a_profile_that_claims_more_than_can_be_is_bounded_and_says_so(self):
        profile = {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "metadata": {"name": "boast"},
                   "spec": {"points": [{"cpu": 3, "memory": "60G", "throughput": 1}, {"cpu": 6, "memory": "60G", "throughput": 8},
                                       {"cpu": 20, "memory": "60G", "throughput": 100}]}}
        self.assertEqual(self.create(profile), "")
        self.addCleanup(self.cluster.kubectl, "delete", "tp", "boast")
        status = wait_for("a status", lambda: self.cluster.get("tp", "boast").get("status"))
        condition = status["conditions"][0]
        self.assertEqual((condition["status"], condition["reason"]), ("True", "Bounded"))
        self.assertIn("claims 100 times the speed", condition["message"])
        self.assertEqual((status["demand"]["cpu"], status["speedUp"]), ("6", 4))


if __name__ == "__main__":
    unittest.main(verbosity=2)
