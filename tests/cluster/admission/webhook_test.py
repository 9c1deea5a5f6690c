"""Tests the admission of pods and TrainingProfiles on a real API server that calls
synergy-controller."""

import csv
import json
import ssl
import subprocess
import unittest
import urllib.request

import failures
from api import PODS, STRATEGIC
from cluster import GPU, ROOT, Cluster, wait_for

PROFILE = {
    "apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "metadata": {"name": "image"},
    "spec": {"processMemory": "1G", "points": [{"cpu": 3, "memory": "60G", "throughput": 1},
                                               {"cpu": "9", "memory": "60G", "throughput": 2.4}]},
}


def pod(name, resources=None, labels=None, containers=(), annotations=None, **spec):
    train = {"name": "train", "image": "synergy.test/busybox:1", "imagePullPolicy": "IfNotPresent",
             "resources": resources or {"limits": {GPU: "1"}}}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [train, *containers],
                     **spec}}


def annotation(item, name):
    return item["metadata"].get("annotations", {}).get("synergy.io/" + name)


def resources(item, container=0):
    return item["spec"]["containers"][container]["resources"]


def kind_of_owner(group, version, kind):
    """Defines a kind whose operator creates pods. Admission of these pods does not need the
    operator itself."""
    plural = kind.lower() + "s"
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced",
                     "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
                     "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                         "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


class WebhookTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.enterClassContext(cls.cluster.controller())
        cls.addClassCleanup(cls.cluster.delete, "trainingprofiles,limitranges,resourcequotas")

    def setUp(self):
        self.cluster.delete("jobs", wait=True)
        self.cluster.clear()
        self.cluster.delete("trainingprofiles,limitranges,resourcequotas")
        for resource in ("trainingprofiles", "limitranges", "resourcequotas"):
            self.known_to_controller(resource, 0)

    def kubectl(self, *arguments, stdin=None):
        """Runs kubectl; returns its output, its errors, and whether it succeeded."""
        done = subprocess.run([self.cluster.environment["SYNERGY_CLUSTER_KUBECTL"], *arguments], input=stdin,
                              env=self.cluster.environment, text=True, capture_output=True, check=False)
        return done.stdout, done.stderr, done.returncode == 0

    def refused(self, item):
        """Returns the API server's message about an object that it refuses."""
        complaint = self.cluster.complaint("POST", item["kind"], body=item)
        self.assertNotEqual(complaint, "")
        return complaint

    def created(self, item):
        """Creates the pod, and returns it as the API server answered: a moment later the controller
        may have sized it."""
        return self.cluster.create(item)[0]

    def known_to_controller(self, resource, count):
        line = f'synergy_cache_objects{{resource="{resource}"}}'
        wait_for(f"the controller to know {count} {resource}", lambda: self.cluster.controller_metric(line) == count)

    def add_profile(self, **spec):
        item = {**PROFILE, "spec": {**PROFILE["spec"], **spec}}
        self.cluster.create(item)
        self.known_to_controller("trainingprofiles", 1)

    def profile_status(self, name="image"):
        return wait_for("a status", lambda: self.cluster.get("trainingprofile", name).get("status"))

    # Pods.

    def test_a_pod_of_a_job_gets_its_floor_and_the_figures(self):
        self.add_profile()
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"},
               "spec": {"template": {"metadata": {"labels": {"synergy.io/profile": "image"}},
                                     "spec": pod("x")["spec"]}}}
        self.cluster.create(job)
        item = wait_for("the job's pod", lambda: list(self.cluster.pods().values()))[0]
        self.assertEqual(resources(item), {"requests": {"cpu": "3", "memory": "60G", GPU: "1"},
                                           "limits": {GPU: "1"}})
        self.assertEqual(item["spec"]["schedulerName"], "synergy-scheduler")
        self.assertEqual(item["status"]["qosClass"], "Burstable")
        self.assertEqual(json.loads(annotation(item, "demand")), {"cpu": "9", "memory": "60G"})
        self.assertEqual(json.loads(annotation(item, "fair-share")), {"cpu": "3", "memory": "62500M"})
        self.assertEqual((annotation(item, "profile"), annotation(item, "profile-generation")), ("image", "1"))
        self.assertEqual([e["name"] for e in item["spec"]["containers"][0]["env"]], ["SYNERGY_CPUS", "SYNERGY_MEMORY"])

    def resize(self, name, requests, limits):
        patch = {"spec": {"containers": [{"name": "train", "resources": {"requests": requests, "limits": limits}}]}}
        self.assertEqual("", self.cluster.complaint("PATCH", "pod", name, patch, subresource="resize",
                                                    content_type=STRATEGIC))

    def test_pods_of_other_owners_are_admitted_as_any(self):
        # The pod is as training-operator and JobSet create it: by a controller's account, with an
        # owner, and with their labels and environment.
        self.add_profile()
        for group, version, kind in (("kubeflow.org", "v1", "PyTorchJob"), ("jobset.x-k8s.io", "v1alpha2", "JobSet")):
            definition = kind_of_owner(group, version, kind)
            name = definition["metadata"]["name"]
            self.cluster.create(definition)
            self.addCleanup(self.cluster.delete, "crd", name)
            owner = wait_for(f"{kind} to be served", lambda: self.made(
                f"/apis/{group}/{version}/namespaces/default/{name.split('.')[0]}",
                {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": {"name": "train"}}))["metadata"]
            worker = pod(f"train-{kind.lower()}-worker-0",
                         labels={"synergy.io/profile": "image", f"{group}/job-name": "train"})
            worker["metadata"]["ownerReferences"] = [{"apiVersion": f"{group}/{version}", "kind": kind, "name": "train",
                                                      "uid": owner["uid"], "controller": True,
                                                      "blockOwnerDeletion": True}]
            worker["spec"]["containers"][0]["env"] = [{"name": "MASTER_ADDR", "value": "train-master-0"}]
            found = self.created(worker)
            self.assertEqual(annotation(found, "profile"), "image")
            self.assertEqual(resources(found)["requests"]["cpu"], "3")
            self.assertEqual(found["metadata"]["ownerReferences"], worker["metadata"]["ownerReferences"])
            self.assertIn({"name": "MASTER_ADDR", "value": "train-master-0"}, found["spec"]["containers"][0]["env"])

    def made(self, path, item):
        """Creates the object; returns None while the API server does not serve its kind."""
        return self.cluster.called("POST", path, item, absent=True)

    def test_every_enforcement_can_be_resized_later_on(self):
        self.add_profile()
        more = {"cpu": "9", "memory": "61G"}
        for name, enforcement, limit in (("shared", "shared", None), ("limited", "shared", "8"),
                                         ("strict", "strict", None)):
            wanted = {GPU: "1", **({"cpu": limit} if limit else {})}
            item = self.created(pod(name, {"limits": wanted},
                                    labels={"synergy.io/profile": "image", "synergy.io/enforcement": enforcement}))
            self.assertEqual(item["status"]["qosClass"], "Guaranteed" if enforcement == "strict" else "Burstable")
            if limit:
                self.assertEqual(json.loads(annotation(item, "demand"))["cpu"], "7999m")
                self.resize(name, json.loads(annotation(item, "demand")), {})
            elif enforcement == "strict":
                self.resize(name, more, more)
            else:
                self.resize(name, more, {})

    def test_kubectl_shows_why_a_pod_gets_its_fair_share(self):
        self.add_profile(gpuProduct="H100")
        items = [pod("none"), pod("missing", labels={"synergy.io/profile": "nowhere"}),
                 pod("other", labels={"synergy.io/profile": "image"})]
        _, warnings, created = self.kubectl("create", "--validate=ignore", "-f", "-",
                                            stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        self.assertTrue(created, warnings)
        self.assertIn("Warning: synergy: the label synergy.io/profile names no TrainingProfile", warnings)
        self.assertIn('there is no TrainingProfile "nowhere" in the namespace', warnings)
        self.assertIn('"image" is for H100, which no node has', warnings)

    def test_a_dry_run_shows_the_pod_and_makes_none(self):
        item = self.cluster.called("POST", PODS + "?dryRun=All", pod("dry"))
        self.assertEqual(resources(item)["requests"]["cpu"], "3")
        self.assertEqual(self.cluster.pods(), {})

    def limit(self, kind, name, spec):
        """Creates a LimitRange or a ResourceQuota, and waits until the controller has seen it."""
        self.cluster.create({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "spec": spec})
        self.known_to_controller(kind.lower() + "s", 1)
        if kind == "ResourceQuota":
            # Nothing is in use once the previous test's pods are gone, too.
            wait_for("the quota to be known, and nothing to be used", lambda: set(
                self.cluster.get("resourcequota", name).get("status", {}).get("used", {}).values()) == {"0"})

    def sized(self, name):
        """Returns the pod once it is no longer a placeholder."""
        wait_for(f"{name} to be sized", lambda: annotation(self.cluster.get("pod", name), "placeholder") is None)
        return self.cluster.get("pod", name)

    def test_a_quota_refuses_no_pod_that_it_takes_as_written(self):
        # A LimitRange with only defaults limits nothing; the API server applies the defaults.
        self.cluster.create({
            "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "defaults"},
            "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "50m", "memory": "64Mi"}}]}})
        sidecar = {"name": "log", "image": "synergy.test/busybox:1"}
        wait_for("the API server to know it", lambda: resources(self.cluster.called(
            "POST", PODS + "?dryRun=All", pod("dry", containers=[sidecar])), 1).get("requests"))
        # The quota has room for twice the growth of the first pod: if another client writes the pod
        # meanwhile, the API server counts the growth twice until it recounts the quota.
        self.limit("ResourceQuota", "quota", {"hard": {"requests.cpu": "5900m"}})
        item = self.created(pod("first", containers=[sidecar]))
        self.assertEqual(resources(item, 1), {"requests": {"cpu": "50m", "memory": "64Mi"}})
        self.assertEqual(resources(item)["requests"]["cpu"], "50m", "as it is written, until it is there")
        self.assertEqual(resources(self.sized("first"))["requests"]["cpu"], "2950m")
        wait_for("the quota to be counted",
                 lambda: self.cluster.get("resourcequota", "quota")["status"]["used"]["requests.cpu"] == "3")
        item = self.created(pod("second", {"requests": {"cpu": "1m"}, "limits": {GPU: "1"}}))
        self.assertEqual(resources(item)["requests"], {"cpu": "1m", "memory": "62500M", GPU: "1"})
        self.created(pod("third"))
        item = self.sized("third")
        self.assertEqual(resources(item)["requests"], {"cpu": "50m", "memory": "62500M", GPU: "1"},
                         "there is less than its share")
        self.assertEqual(json.loads(annotation(item, "floor"))["cpu"], "50m")
        wait_for("its event", lambda: any("exceeded quota" in text for text in self.cluster.events("third")))

    def test_a_quota_of_other_pods_than_best_effort_refuses_none_of_them(self):
        self.limit("ResourceQuota", "quota", {"hard": {"pods": "0"}, "scopes": ["NotBestEffort"]})
        item = self.created(pod("first"))
        self.assertEqual(item["status"]["qosClass"], "BestEffort")
        self.assertIsNone(annotation(item, "floor"))
        wait_for("its event", lambda: any("NotBestEffort" in text for text in self.cluster.events("first")))
        self.assertIn("exceeded quota", self.refused(pod("second", {"requests": {"cpu": "1"}, "limits": {GPU: "1"}})))

    def test_amounts_stay_within_limit_ranges(self):
        self.add_profile()
        for spec, enforcement, limits, expected in (
                ({"type": "Container", "min": {"cpu": "4"}, "max": {"cpu": "10", "memory": "50G"}}, "shared", {},
                 ("4", "50G")),
                ({"type": "Container", "default": {"cpu": "12"}, "defaultRequest": {"cpu": "6"},
                  "maxLimitRequestRatio": {"cpu": "2"}},
                 "shared", {}, ("6", "60G")),
                ({"type": "Pod", "max": {"cpu": "2"}}, "strict", {"cpu": "2"}, ("2", "60G")),
        ):
            with self.subTest(spec):
                self.limit("LimitRange", "range", {"limits": [spec]})
                item = self.created(pod("train", {"limits": {GPU: "1", **limits}},
                                        labels={"synergy.io/profile": "image", "synergy.io/enforcement": enforcement}))
                self.assertEqual((resources(item)["requests"]["cpu"], resources(item)["requests"]["memory"]), expected)
                self.cluster.clear()
                self.cluster.delete("limitrange", "range")
                self.known_to_controller("limitranges", 0)

    def test_opted_out_pods_and_those_of_other_schedulers_stay_as_written(self):
        item = self.created(pod("out", labels={"synergy.io/fungible": "false"}))
        self.assertNotIn("cpu", resources(item)["requests"])
        self.assertEqual(item["spec"]["schedulerName"], "default-scheduler")
        item = self.created(pod("other", schedulerName="volcano", annotations={"synergy.io/container": "train"}))
        self.assertNotIn("cpu", resources(item)["requests"])
        self.assertIsNone(annotation(item, "container"))

    def test_forged_annotations_are_ignored(self):
        forged = {"synergy.io/floor": '{"cpu":"99","memory":"9Ti"}', "synergy.io/hold": "{}"}
        item = self.created(pod("forged", annotations={**forged, "note": "\u00fc \U0001f600 \""}))
        self.assertEqual(json.loads(annotation(item, "floor")), {"cpu": "3", "memory": "62500M"})
        self.assertIsNone(annotation(item, "hold"))
        self.assertEqual(item["metadata"]["annotations"]["note"], "\u00fc \U0001f600 \"")

    def test_an_exported_pod_created_again_keeps_its_originals(self):
        item = self.created(pod("first", {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {GPU: "1"}}))
        item["metadata"] = {"name": "again", "annotations": item["metadata"]["annotations"]}
        again = self.created({**item, "status": {}})
        self.assertEqual(json.loads(annotation(again, "original"))["requests"]["cpu"], "1")
        self.assertEqual(annotation(again, "original"), annotation(item, "original"))

    def test_bad_pods_get_the_api_servers_own_answer(self):
        failed = 'apiserver_admission_webhook_fail_open_count{name="pods.synergy.io",type="admit"}'
        before = self.api_metric(failed)
        bad = {
            "limits below requests": pod("a", {"requests": {"ephemeral-storage": "2Gi"},
                                               "limits": {"ephemeral-storage": "1Gi", GPU: "1"}}),
            "negative": pod("b", {"requests": {"ephemeral-storage": "-1"}, "limits": {GPU: "1"}}),
            "no containers": {**pod("c"), "spec": {"containers": []}},
        }
        for what, item in bad.items():
            self.assertNotIn("webhook", self.refused(item), what)
        many = [{"name": f"c{i}", "image": "x"} for i in range(49)]
        self.assertEqual(len(self.created(pod("many", containers=many))["spec"]["containers"]), 50)
        self.created(pod("huge", {"requests": {"cpu": "9E", "memory": "9E"}, "limits": {GPU: "1"}}))
        self.assertEqual(self.api_metric(failed), before)

    def api_metric(self, line):
        text = self.kubectl("get", "--raw", "/metrics")[0]
        return sum(float(found.rsplit(" ", 1)[1]) for found in text.splitlines() if found.startswith(line))

    def test_with_the_controller_stopped_pods_are_created_as_written(self):
        self.cluster.script("stop", "synergy-controller")
        self.addCleanup(self.cluster.script, "start", "synergy-controller")
        item = self.created(pod("as-written", {"requests": {"cpu": "10m"}, "limits": {GPU: "1"}}))
        self.assertEqual(resources(item)["requests"]["cpu"], "10m")
        self.assertEqual(item["spec"]["schedulerName"], "default-scheduler")
        wait_for("the pod to be bound", lambda: self.cluster.bound().get("as-written"))

    def test_a_profile_deleted_while_in_use_harms_no_pod(self):
        self.add_profile()
        labels = {"synergy.io/profile": "image"}
        self.created(pod("before", labels=labels))
        self.cluster.delete("trainingprofile", "image")
        self.known_to_controller("trainingprofiles", 0)
        self.assertEqual(annotation(self.cluster.get("pod", "before"), "profile"), "image")
        self.assertIsNone(annotation(self.created(pod("after", labels=labels)), "profile"))

    # TrainingProfiles.

    def test_kubectl_explains_and_lists_profiles(self):
        self.assertIn("Measured throughput", self.kubectl("explain", "tp.spec.points")[0])
        self.assertIn("Fraction of the best throughput", self.kubectl("explain", "trainingprofile.spec.tolerance")[0])
        self.add_profile()
        self.profile_status()
        heading, line = self.kubectl("get", "tp")[0].splitlines()
        self.assertEqual([word for word in heading.split("  ") if word.strip()][1].strip(), "GPUS")
        self.assertEqual(line.split()[:6], ["image", "1", "9", "60G", "2.4", "True"])

    def test_invalid_profiles_are_refused_with_the_fields_that_are_wrong(self):
        for spec, path in (
                ({"points": []}, "spec.points"),
                ({"points": [{"cpu": 0, "memory": "1G", "throughput": 1}]},
                 "spec.points[0].cpu: must be more than zero"),
                ({"points": [{"cpu": "x", "memory": "1G", "throughput": 1}]}, "spec.points[0].cpu"),
                ({"points": [{"cpu": 1, "memory": "1G", "throughput": 1}] * 2},
                 "spec.points[1]: the same amounts as points[0]"),
                ({"points": [{"cpu": 1, "throughput": 1}]}, "every point needs memory"),
                ({"points": [{"cpu": 1, "throughput": 1}], "datasetSize": "1G"}, "together"),
                ({"points": [{"cpu": 1, "memory": "1G", "throughput": -1}]}, "spec.points[0].throughput"),
                ({"gpus": 0, "points": [{"cpu": 1, "memory": "1G", "throughput": 1}]}, "spec.gpus"),
        ):
            self.assertIn(path, self.refused({**PROFILE, "spec": spec}))

    def test_the_status_follows_the_profile(self):
        self.add_profile()
        status = self.profile_status()
        self.assertEqual(status["demand"], {"cpu": "9", "memory": "60G"})
        self.assertEqual(status["speedUp"], 2.4)
        self.assertEqual([(c["type"], c["status"]) for c in status["conditions"]], [("Valid", "True")])
        self.cluster.patch("tp", "image", {"spec": {"tolerance": 0.9}})
        wait_for("the new demand", lambda: self.profile_status()["demand"]["cpu"] == "3")
        self.assertEqual(self.profile_status()["observedGeneration"], 2)

    def test_a_profile_that_slipped_in_while_the_controller_was_away_is_called_invalid(self):
        self.cluster.script("stop", "synergy-controller")
        try:
            self.cluster.create({**PROFILE, "spec": {"points": PROFILE["spec"]["points"] * 2}})
        finally:
            self.cluster.script("start", "synergy-controller")
        condition = self.profile_status()["conditions"][0]
        self.assertEqual((condition["status"], condition["reason"]), ("False", "Unusable"))
        self.assertIn("spec.points[2]: the same amounts as points[0]", condition["message"])

    def test_the_papers_ten_models_are_usable_profiles(self):
        folder = ROOT / "examples/profiles"
        _, complaint, done = self.kubectl("apply", "-f", str(folder))
        self.assertTrue(done, complaint)
        with open(ROOT / "tests/data/synergy/demands.csv", encoding="utf-8") as file:
            demands = {line["model"].replace("res", "resnet"): line for line in csv.DictReader(file)}
        items = wait_for("every status", lambda: all("status" in i for i in self.cluster.get("tp")["items"]) and
                         self.cluster.get("tp")["items"])
        self.assertEqual(len(items), 10)
        for item in items:
            name, status = item["metadata"]["name"], item["status"]
            self.assertEqual(status["conditions"][0]["status"], "True", name)
            self.assertEqual(status["demand"]["cpu"], demands[name]["cpu_per_gpu"], name)
            self.assertAlmostEqual(status["speedUp"], float(demands[name]["speedup_at_demand"]), 1, name)


class ClientsTest(unittest.TestCase):
    """The webhook answers only clients with the API server's certificate."""

    def setUp(self):
        self.cluster = Cluster()
        authority = self.cluster.state / "pki/ca.crt"
        self.enterContext(self.cluster.controller(webhookClients=f"{{caFile: {authority}, name: kube-apiserver}}"))
        self.cluster.clear()
        self.addCleanup(self.cluster.clear)

    def test_a_stranger_gets_no_answer_and_the_api_server_does(self):
        reviewed = self.cluster.create(pod("reviewed"))[0]
        self.assertEqual(reviewed["spec"]["schedulerName"], "synergy-scheduler")
        hook = self.cluster.get("mutatingwebhookconfigurations")["items"][0]["webhooks"][0]["clientConfig"]["url"]
        context = ssl.create_default_context(cafile=self.cluster.state / "pki/ca.crt")
        with self.assertRaises(OSError), urllib.request.urlopen(hook, data=b"{}", timeout=10, context=context):
            pass
        self.assertGreaterEqual(self.cluster.controller_metric('synergy_controller_bad_input_total{kind="tls"}'), 1)


if __name__ == "__main__":
    failures.main()
