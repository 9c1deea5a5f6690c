"""The chart charts/synergy, as Helm renders it with combinations of values, and values that its
schema refuses."""

import base64
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import yaml

import helm
import lookups

CERT_MANAGER = {"webhook": {"certificate": {"mode": "certManager"}}}
PROVIDED = {"webhook": {"certificate": {"mode": "provided", "secretName": "mine", "caBundle": "PEM"}}}
PLUGIN = {"devicePlugin": {"enabled": True}}
PAGE = {"ui": {"enabled": True, "ingress": {"enabled": True, "host": "synergy.example.com"}}}
EVERYTHING = {
    **PLUGIN,
    **PAGE,
    "kueue": {"enabled": True},
    "metrics": {"podMonitor": {"enabled": True}, "serviceMonitor": {"enabled": True},
                "prometheusRule": {"enabled": True}, "dashboards": {"enabled": True}},
    "tests": {"gpuPod": {"enabled": True}},
}
LEAST = {
    "nodeAgent": {"enabled": False}, "networkPolicy": {"enabled": False},
    "priorityClass": {"create": False}, "scheduler": {"replicaCount": 1}, "controller": {"replicaCount": 1},
}
COMBINATIONS = {
    "defaults": {}, "cert-manager": CERT_MANAGER, "given certificate": PROVIDED, "everything": EVERYTHING,
    "least": LEAST, "device plugin": PLUGIN,
    "inventory file": {
        "devicePlugin": {"enabled": True, "inventory": "gpus:\n- {uuid: GPU-0, product: A, memory: 1Gi}\n"}},
    "CDI": {"devicePlugin": {"enabled": True, "config": {"deviceListStrategy": "cdi"}}},
    "given accounts": {name: {"serviceAccount": {"create": False, "name": f"given-{name.lower()}"}}
                       for name in ("scheduler", "controller", "devicePlugin", "nodeAgent", "ui")},
    "placed": {name: {"nodeSelector": {"a": "b"}, "tolerations": [{"operator": "Exists"}],
                      "podLabels": {"tier": "gold"}, "podAnnotations": {"p": "q"},
                      "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                          "nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "Exists"}]}]}}}}
               for name in ("scheduler", "controller", "devicePlugin", "nodeAgent", "ui")},
    "labels and secrets": {"commonLabels": {"team": "ml"}, "commonAnnotations": {"cost-center": "7"},
                           "imagePullSecrets": [{"name": "pull"}]},
    "own registry": {**PLUGIN, "image": {"registry": "registry.example.com/ml", "tag": "2", "pullPolicy": "Always"}},
}
COMBINATIONS["without kinds"] = {"crds": {"enabled": False}}
COMBINATIONS["shadow"] = {**EVERYTHING, "extender": {"shadow": True}}
COMPONENTS = ("scheduler", "extender", "controller", "devicePlugin", "nodeAgent", "ui")
COMBINATIONS["added to"] = {name: {
    "extraArgs": ["--added"], "extraEnv": [{"name": "ADDED", "value": name}],
    "extraVolumeMounts": [{"name": "added", "mountPath": "/added"}],
    **({} if name == "extender" else {"extraVolumes": [{"name": "added", "emptyDir": {}}]})} for name in COMPONENTS}
for combination in ("given accounts", "placed", "added to"):
    for component in ("devicePlugin", "ui"):
        COMBINATIONS[combination][component]["enabled"] = True
COMBINATIONS["host network"] = {"controller": {"hostNetwork": True, "ports": {"webhook": 19443, "http": 18889}}}
COMBINATIONS["progress"] = {
    "progress": {"readers": [{"kind": "User", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}]}}
COMBINATIONS["metrics for accounts"] = {**PLUGIN, "metrics": {"authorization": True, "podMonitor": {"enabled": True}}}
COMBINATIONS |= {f"example {file.stem}": yaml.safe_load(file.read_text(encoding="utf-8"))
                 for file in (helm.ROOT / "examples/values").glob("*.yaml")}
# Values that the schema refuses, and a word of the reason.
REFUSED = [
    ({"scheduler": {"replicas": 3}}, "/scheduler", "replicas"),
    ({"schedulr": {}}, "", "schedulr"),
    ({"controller": {"replicaCount": 0}}, "/controller/replicaCount", "minimum"),
    ({"controller": {"config": {"enforcement": "loose"}}}, "/controller/config/enforcement", "'shared', 'strict'"),
    ({"controller": {"config": {"tolerance": 1}}}, "/controller/config/tolerance", "exclusiveMaximum"),
    ({"controller": {"config": {"tuner": {"round": 300}}}}, "/controller/config/tuner/round", "want string"),
    ({"controller": {"config": {"tuner": {"rounds": "5m"}}}}, "/controller/config/tuner", "rounds"),
    ({"extender": {"config": {"listen": ":1"}}}, "/extender/config", "listen"),
    ({"extender": {"config": {"reservePerGpu": "some"}}}, "/extender/config/reservePerGpu", "auto"),
    ({"crds": {"keep": "yes"}}, "/crds/keep", "want boolean"),
    ({"gpuResource": "gpu"}, "/gpuResource", "pattern"),
    ({"image": {"pullPolicy": "Sometimes"}}, "/image/pullPolicy", "IfNotPresent"),
    ({"controller": {"image": {"digest": "latest"}}}, "/controller/image/digest", "pattern"),
    ({"global": {"imageRegistry": 1}}, "/global/imageRegistry", "want string"),
    ({"commonAnnotations": {"a": 1}}, "/commonAnnotations/a", "want string"),
    ({"extraObjects": {}}, "/extraObjects", "want array"),
    ({"log": {"level": "loud"}}, "/log/level", "'debug'"),
    ({"webhook": {"timeoutSeconds": 31}}, "/webhook/timeoutSeconds", "maximum"),
    ({"webhook": {"failurePolicy": "Fail"}}, "/webhook", "failurePolicy"),
    ({"webhook": {"certificate": {"mode": "selfsigned"}}}, "/webhook/certificate/mode", "'own'"),
    ({"devicePlugin": {"config": {"source": "magic"}}}, "/devicePlugin/config/source", "'nvml'"),
    ({"devicePlugin": {"kubeletRootDir": "kubelet"}}, "/devicePlugin/kubeletRootDir", "pattern"),
    ({"nodeAgent": {"config": {"margin": {"percent": 300}}}}, "/nodeAgent/config/margin/percent", "maximum"),
    ({"networkPolicy": {"apiServerPorts": []}}, "/networkPolicy/apiServerPorts", "minItems"),
    ({"priorityClass": {"value": 2000000000}}, "/priorityClass/value", "maximum"),
    ({"metrics": {"prometheusRule": {"runbookUrl": "docs/runbooks"}}}, "/metrics/prometheusRule/runbookUrl", "pattern"),
    ({"metrics": {"prometheusRule": {"alerts": {"SynergyExtenderSlow": {"threshold": "2"}}}}},
     "/metrics/prometheusRule/alerts/SynergyExtenderSlow/threshold", "want number"),
    ({"controller": {"ports": {"webhook": 0}}}, "/controller/ports/webhook", "minimum"),
    ({"progress": {"readers": [{"name": "x"}]}}, "/progress/readers/0", "kind"),
    ({"extender": {"extraEnv": [{"value": "x"}]}}, "/extender/extraEnv/0", "name"),
    ({"ui": {"ingress": {"hosts": ["x"]}}}, "/ui/ingress", "hosts"),
]


def workloads(objects):
    return [item for item in objects if item["kind"] in ("Deployment", "DaemonSet")]


def find(objects, kind, name):
    return next(item for item in objects if item["kind"] == kind and item["metadata"]["name"] == name)


def containers(spec):
    return [*spec.get("initContainers", []), *spec["containers"]]


class LintTest(unittest.TestCase):
    def test_helm_finds_nothing(self):
        for name, values in COMBINATIONS.items():
            with self.subTest(name):
                done = helm.run("lint", "--strict", str(helm.CHART), values=values)
                self.assertEqual(done.returncode, 0, done.stdout)

    def test_generated_files_are_current(self):
        done = subprocess.run([str(helm.ROOT / "scripts/chart.sh"), "--check"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_version_is_the_projects(self):
        chart = yaml.safe_load((helm.CHART / "Chart.yaml").read_text(encoding="utf-8"))
        project = re.search(r"project\(synergy VERSION (\S+)",
                            (helm.ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
        self.assertEqual(chart["appVersion"], project)


class SchemaTest(unittest.TestCase):
    def test_wrong_values_are_refused_with_their_place_and_a_reason(self):
        for values, place, reason in REFUSED:
            with self.subTest(values=values):
                message = helm.refusal(values)
                self.assertIn(f"at '{place}", message)
                self.assertIn(reason, message)

    def test_a_missing_registry_is_refused_with_a_remedy(self):
        message = helm.refusal({"image": {"registry": ""}})
        for words in ("image.registry", "the chart of a release", "scripts/images.sh --push",
                      "--set image.registry=REGISTRY"):
            self.assertIn(words, message)

    def test_missing_or_taken_values_are_refused_with_a_remedy(self):
        for values, words in (
                ({"webhook": {"certificate": {"mode": "provided"}}},
                 ("webhook.certificate.secretName: ", "a Secret of type kubernetes.io/tls in the release's namespace",
                  "mode=own")),
                ({"webhook": {"certificate": {"mode": "provided", "secretName": "mine"}}},
                 ("webhook.certificate.caBundle: is empty", "--set-file webhook.certificate.caBundle=", "mode=own")),
                ({"schedulerName": "default-scheduler"}, ("schedulerName: ", "the cluster's own", "set another name"))):
            message = helm.refusal(values)
            for word in words:
                self.assertIn(word, message)
        # Without the webhook no certificate is needed.
        self.assertEqual(helm.refusal({"extender": {"shadow": True}, "webhook": {"certificate": {"mode": "provided"}}}),
                         "")

    def test_settings_that_need_turns_or_do_not_suit_them_are_refused_with_a_remedy(self):
        turns = {"nodeAgent": {"turns": {"enabled": True}}}

        def asks_every(interval):
            return {"controller": {"config": {"progress": {"interval": interval}}}}

        for interval in ("500ms", "20000ms", "020s", "20s"):
            self.assertEqual(helm.refusal(turns | asks_every(interval)), "", interval)
        for interval in ("20001ms", "100000ms", "21s", "200s", "1m", "1h"):
            self.assertIn(f"controller.config.progress.interval: is {interval}, but must be at most 20s with "
                          "nodeAgent.turns.enabled", helm.refusal(turns | asks_every(interval)))
        self.assertEqual(helm.refusal(asks_every("1m")), "", "no turns")
        packing = {"controller": {"config": {"turns": {"packing": True}}}}
        self.assertEqual(helm.refusal(turns | packing), "")
        without_agents = {"nodeAgent": {"enabled": False, "turns": {"enabled": True}}}
        for values in packing, without_agents | packing:
            message = helm.refusal(values)
            self.assertIn("controller.config.turns.packing: needs turns", message)
            self.assertIn("set nodeAgent.turns.enabled=true", message)
        self.assertEqual(helm.refusal(turns | packing | {"extender": {"shadow": True}}), "", "no controller runs")

    def test_settings_that_need_others_are_refused_with_a_remedy(self):
        def config(**values):
            return {"controller": {"config": values}}

        without_agents = {"nodeAgent": {"enabled": False}}
        for values, message in (
                (config(progress={"enabled": False}) | {"nodeAgent": {"turns": {"enabled": True}}},
                 "nodeAgent.turns.enabled: needs controller.config.progress.enabled"),
                (config(tuner={"storage": True}) | without_agents, "config.tuner: storage and idleAfter need"),
                (config(tuner={"idleAfter": "30m"}) | without_agents, "set nodeAgent.enabled=true"),
                (config(failures={"enabled": False, "retries": True}), "config.failures: retries and prerun"),
                (config(reservations={"autoscaler": True}), "set reservations.enabled=true")):
            with self.subTest(values):
                self.assertIn(message, helm.refusal(values))
                self.assertEqual(helm.refusal(values | {"extender": {"shadow": True}}), "", "no controller runs")
        for values in (config(tuner={"idleAfter": "0s"}) | without_agents,
                       config(failures={"retries": True}), config(tuner={"storage": True, "idleAfter": "30m"}),
                       config(reservations={"enabled": True, "autoscaler": True})):
            self.assertEqual(helm.refusal(values), "", values)

    def test_an_older_kubernetes_is_refused_with_what_it_takes(self):
        done = helm.run("template", "synergy", str(helm.CHART), "--kube-version", "1.34.9", values={})
        self.assertEqual(done.returncode, 1)
        self.assertIn("requires kubeVersion: >=1.35.0-0 which is incompatible with Kubernetes v1.34.9", done.stderr)

    def test_a_second_release_for_the_same_gpus_is_refused_with_the_first_ones_name(self):
        def refusal(release, namespace, values, *there):
            with lookups.Lookups(there) as server:
                return helm.run("template", release, str(helm.CHART), "--namespace", namespace, *server,
                                values=values).stderr

        first = find(helm.template(release="first", namespace="one"), "MutatingWebhookConfiguration", "first-synergy")
        amd = {"gpuResource": "amd.com/gpu"}
        message = refusal("second", "two", {}, first)
        for words in ("already installed in this cluster for nvidia.com/gpu: release first in the namespace one",
                      "helm upgrade first CHART --namespace one",
                      "helm uninstall first --namespace one", "extender.shadow=true"):
            self.assertIn(words, message)
        self.assertIn("release first", refusal("first", "two", {}, first))
        self.assertEqual(refusal("first", "one", {}, first), "", "an upgrade")
        self.assertEqual(refusal("second", "two", amd, first), "", "other GPUs")
        self.assertEqual(refusal("second", "two", {"extender": {"shadow": True}}, first), "", "it only looks on")
        stranger = {**first, "metadata": {"name": "stranger"}}
        self.assertEqual(refusal("second", "two", {}, stranger), "", "of somebody else")

    def test_leases_stay_in_a_release_that_had_them(self):
        def leases(owner):
            there = [{"metadata": {"name": f"synergy-{name}", "namespace": helm.NAMESPACE,
                                   "annotations": {"meta.helm.sh/release-name": owner} if owner else {}}}
                     for name in ("scheduler", "controller")]
            with lookups.Lookups(leases=there) as server:
                objects = helm.template(more=(*server, "--is-upgrade"))
            return [item["metadata"] for item in objects if item["kind"] == "Lease"]

        kept = leases("synergy")
        self.assertEqual([item["name"] for item in kept], ["synergy-scheduler", "synergy-controller"])
        self.assertEqual({item["annotations"]["helm.sh/resource-policy"] for item in kept}, {"keep"})
        for owner in ("", "another"):
            self.assertEqual(leases(owner), [])
        for more in (), ("--is-upgrade",):
            self.assertNotIn("Lease", {item["kind"] for item in helm.template(more=more)})

    def test_notes_beside_nvidias_device_plugin_have_a_remedy(self):
        def notes(image, values):
            plugin = {"metadata": {"name": "gpus", "namespace": "kube-system"},
                      "spec": {"template": {"spec": {"containers": [{"image": image}]}}}}
            with tempfile.TemporaryDirectory() as folder, lookups.Lookups(daemons=[plugin]) as server:
                # `helm template` does not show notes, so the test turns them into a ConfigMap.
                chart = shutil.copytree(helm.CHART, pathlib.Path(folder) / "synergy")
                text = (chart / "templates/NOTES.txt").read_text(encoding="utf-8")
                (chart / "templates/shown.yaml").write_text('{{ define "shown" }}' + text + '{{ end }}{apiVersion: v1, '
                                                            'kind: ConfigMap, metadata: {name: shown}, '
                                                            'data: {notes: {{ include "shown" . | toJson }}}}',
                                                            encoding="utf-8")
                done = helm.run("template", "synergy", str(chart), "--namespace", helm.NAMESPACE,
                                "--show-only", "templates/shown.yaml", *server, values=values)
            self.assertEqual(done.returncode, 0, done.stderr)
            return yaml.safe_load(done.stdout)["data"]["notes"]

        theirs = "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"
        self.assertIn("kube-system/gpus looks like NVIDIA's device plugin", notes(theirs, PLUGIN))
        self.assertIn("set devicePlugin.enabled=false", notes(theirs, PLUGIN))
        self.assertNotIn("NVIDIA's device plugin", notes("example.com/other:1", PLUGIN))
        self.assertNotIn("WARNING", notes(theirs, {}))
        self.assertIn("PASS_DEVICE_SPECS=true", notes(theirs, {}))

    def test_every_value_is_in_the_schema(self):
        schema = json.loads((helm.CHART / "values.schema.json").read_text(encoding="utf-8"))

        def compare(values, part, path):
            part = schema["$defs"][part["$ref"].rsplit("/", 1)[1]] if "$ref" in part else part
            if part.get("type") != "object" or "properties" not in part:
                return
            if path != ".global":  # charts share this value with others
                self.assertIs(part.get("additionalProperties"), False, path)
            for key, value in values.items():
                self.assertIn(key, part["properties"], path)
                if isinstance(value, dict):
                    compare(value, part["properties"][key], f"{path}.{key}")

        compare(yaml.safe_load((helm.CHART / "values.yaml").read_text(encoding="utf-8")), schema, "")


class RenderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rendered = {name: helm.template(values) for name, values in COMBINATIONS.items()}

    def each_workload(self):
        for name, objects in self.rendered.items():
            for item in workloads(objects):
                with self.subTest(name, workload=item["metadata"]["name"]):
                    yield item

    def test_containers_have_the_least_rights(self):
        for item in self.each_workload():
            spec = item["spec"]["template"]["spec"]
            for container in containers(spec):
                security = {**spec.get("securityContext", {}), **container["securityContext"]}
                self.assertIs(security["allowPrivilegeEscalation"], False)
                self.assertIs(security["readOnlyRootFilesystem"], True)
                self.assertEqual(security["capabilities"], {"drop": ["ALL"]})
                self.assertEqual(security["seccompProfile"], {"type": "RuntimeDefault"})
                self.assertNotIn("privileged", security)
                if item["kind"] == "Deployment":
                    self.assertIs(security["runAsNonRoot"], True)
            for shared in ("hostPID", "hostIPC"):
                self.assertNotIn(shared, spec)
            if item is not find(self.rendered["host network"], "Deployment", "synergy-controller"):
                self.assertNotIn("hostNetwork", spec)

    def test_the_device_plugin_sees_all_mig_devices_where_it_advertises_them(self):
        for strategy, sees in (("none", False), ("single", True), ("mixed", True)):
            plugin = find(helm.template({"devicePlugin": {"enabled": True, "config": {"migStrategy": strategy}}}),
                          "DaemonSet", "synergy-device-plugin")
            container = plugin["spec"]["template"]["spec"]["containers"][0]
            environment = {entry["name"]: entry.get("value") for entry in container["env"]}
            self.assertEqual(environment["NVIDIA_DRIVER_CAPABILITIES"], "compute,utility")
            self.assertEqual(environment.get("NVIDIA_MIG_MONITOR_DEVICES"), "all" if sees else None)
            self.assertEqual(container["securityContext"]["capabilities"],
                             {"drop": ["ALL"]} | ({"add": ["SYS_ADMIN"]} if sees else {}))

    def test_containers_have_probes_and_resources(self):
        for item in self.each_workload():
            for container in containers(item["spec"]["template"]["spec"]):
                self.assertIn("livenessProbe", container)
                self.assertIn("readinessProbe", container)
                # A pod that restarts on a full node must not need room there.
                self.assertEqual(bool(container["resources"]), item["kind"] == "Deployment")

    def test_pods_are_found_by_their_selectors_and_by_no_others(self):
        for name, objects in self.rendered.items():
            with self.subTest(name):
                pods = {item["metadata"]["name"]: item["spec"]["template"]["metadata"]["labels"]
                        for item in workloads(objects)}
                pods["synergy-test"] = find(objects, "Pod", "synergy-test")["metadata"]["labels"]
                for item in objects:
                    spec = item.get("spec", {})
                    selector = spec.get("podSelector", spec.get("selector"))
                    if item["kind"] in ("Service", "NetworkPolicy", "PodDisruptionBudget", "PodMonitor", "Deployment",
                                        "DaemonSet"):
                        wanted = selector.get("matchLabels", selector)
                        found = [pod for pod, labels in pods.items() if wanted.items() <= labels.items()]
                        self.assertEqual(found, [item["metadata"]["name"]], item["kind"])

    def test_accounts_and_configmaps_that_are_named_are_there(self):
        for name, objects in self.rendered.items():
            there = {(item["kind"], item["metadata"]["name"]) for item in objects}
            for item in workloads(objects):
                spec = item["spec"]["template"]["spec"]
                with self.subTest(name, workload=item["metadata"]["name"]):
                    if name == "given accounts":
                        self.assertTrue(spec["serviceAccountName"].startswith("given-"))
                    else:
                        self.assertIn(("ServiceAccount", spec["serviceAccountName"]), there)
                    for volume in spec["volumes"]:
                        if "configMap" in volume:
                            self.assertIn(("ConfigMap", volume["configMap"]["name"]), there)

    def test_every_object_bears_the_labels(self):
        for name, objects in self.rendered.items():
            for item in objects:
                with self.subTest(name, kind=item["kind"], name=item["metadata"]["name"]):
                    labels = item["metadata"]["labels"]
                    self.assertEqual(labels["app.kubernetes.io/part-of"], "synergy")
                    self.assertEqual(labels["app.kubernetes.io/managed-by"], "Helm")
                    if name == "labels and secrets":
                        self.assertEqual(labels["team"], "ml")

    def test_kinds_come_with_the_release_and_stay_after_it(self):
        def kinds(values):
            return {item["metadata"]["name"]: item["metadata"].get("annotations", {})
                    for item in helm.template(values) if item["kind"] == "CustomResourceDefinition"}

        names = "trainingprofiles.synergy.io", "roundpolicies.synergy.io"
        self.assertEqual(kinds({}), dict.fromkeys(names, {"helm.sh/resource-policy": "keep"}))
        self.assertEqual(kinds({"crds": {"keep": False}}), dict.fromkeys(names, {}))
        self.assertEqual(kinds({"crds": {"enabled": False}}), {})
        self.assertEqual(kinds({"extender": {"shadow": True}}), {}, "a second release, which reads neither")
        self.assertEqual(list(helm.CHART.glob("crds/*")), [], "Helm never upgrades objects in crds/")

    def test_no_object_is_of_a_kind_that_the_release_installs(self):
        """Helm looks up the kinds of all objects before it creates the first object."""
        for name, objects in self.rendered.items():
            with self.subTest(name):
                self.assertEqual([item for item in objects if item["apiVersion"].startswith("synergy.io/")], [])

    def test_another_release_in_another_namespace_collides_with_nothing(self):
        first = [item for item in self.rendered["everything"] if item["kind"] != "CustomResourceDefinition"]
        second = helm.template({**EVERYTHING, "crds": {"enabled": False}}, release="other", namespace="elsewhere")

        def keys(objects):
            return {(item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]) for item in objects}

        self.assertEqual(len(first), len(second))
        self.assertEqual(keys(first) & keys(second), set())

    def test_the_extender_is_reached_by_its_scheduler_alone(self):
        data = find(self.rendered["defaults"], "ConfigMap", "synergy-scheduler")["data"]
        extender = yaml.safe_load(data["extender.yaml"])
        scheduler = yaml.safe_load(data["scheduler.yaml"])["extenders"][0]
        self.assertEqual(extender["listen"], "127.0.0.1:8888")
        self.assertEqual(scheduler["urlPrefix"], "http://127.0.0.1:8888")
        self.assertIs(scheduler["ignorable"], False)
        self.assertIs(scheduler["nodeCacheCapable"], True)

    def test_rounds_have_their_rights_if_kueue_is_enabled(self):
        def names(values):
            return {item["metadata"]["name"] for item in helm.template(values) if item["kind"] == "ClusterRole"}

        self.assertIn("synergy-rounds", names({"kueue": {"enabled": True}}))
        self.assertNotIn("synergy-rounds", names({}))
        self.assertNotIn("synergy-rounds", names({"kueue": {"enabled": True}, "extender": {"shadow": True}}))
        for enabled in (True, False):
            objects = helm.template({"kueue": {"enabled": enabled}})
            checks = [(item["metadata"]["name"], item["spec"]["controllerName"])
                      for item in objects if item["kind"] == "AdmissionCheck"]
            self.assertEqual(checks, [("synergy-rounds", "synergy.io/rounds")] * enabled)
            data = find(objects, "ConfigMap", "synergy-controller")["data"]
            self.assertEqual(yaml.safe_load(data["controller.yaml"])["kueue"],
                             {"enabled": enabled, "elastic": False, "trainJobProgress": False,
                              "growthBeyondQuota": "allow"})

    def test_templates_of_jobs_in_queues_are_sized_where_that_is_asked_for(self):
        def hooks(values):
            return {hook["name"]: hook for hook in
                    find(helm.template(values), "MutatingWebhookConfiguration", "synergy")["webhooks"]}

        self.assertNotIn("jobs.synergy.io", hooks({"kueue": {"enabled": True}}))
        hook = hooks({"kueue": {"sizeTemplates": True}})["jobs.synergy.io"]
        self.assertEqual(hook["failurePolicy"], "Ignore")
        self.assertEqual(hook["clientConfig"]["service"]["path"], "/mutate-job")
        data = find(helm.template({"kueue": {"growthBeyondQuota": "never"}}), "ConfigMap", "synergy-controller")["data"]
        self.assertEqual(yaml.safe_load(data["controller.yaml"])["kueue"]["growthBeyondQuota"], "never")

    def test_workers_of_jobs_are_changed_where_that_is_asked_for_and_nothing_else_of_them(self):
        def rules(objects):
            return [rule for rule in find(objects, "ClusterRole", "synergy-rounds")["rules"]
                    if not {"synergy.io", "kueue.x-k8s.io"} & set(rule["apiGroups"])]

        def guards(objects):
            return [item for item in objects if item["kind"].startswith("ValidatingAdmissionPolicy")
                    and item["metadata"]["name"].startswith("synergy-elastic")]

        without = helm.template({"kueue": {"enabled": True}})
        self.assertEqual((rules(without), guards(without)), ([], []))
        self.assertEqual(guards(helm.template({"kueue": {"elastic": True}})), [], "Kueue is not there")
        elastic = helm.template({"kueue": {"enabled": True, "elastic": True}})
        self.assertEqual(rules(elastic),
                         [{"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["list", "watch", "patch"]}])
        self.assertEqual([item["kind"] for item in guards(elastic)],
                         ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"])
        self.assertIn("synergy-controller", guards(elastic)[0]["spec"]["matchConditions"][0]["expression"])
        data = find(elastic, "ConfigMap", "synergy-controller")["data"]
        self.assertEqual(yaml.safe_load(data["controller.yaml"])["kueue"],
                         {"enabled": True, "elastic": True, "trainJobProgress": False, "growthBeyondQuota": "allow"})

    def test_jobs_are_suspended_where_that_is_asked_for_and_nothing_else_of_them_is_changed(self):
        def of_retries(objects):
            return [item for item in objects if item["metadata"]["name"] == "synergy-retries"]

        def conditions(objects, name):
            policy = find(objects, "ValidatingAdmissionPolicy", name)["spec"]
            return [condition["name"] for condition in policy["matchConditions"]]

        asked = {"controller": {"config": {"failures": {"retries": True}}}}
        self.assertEqual(of_retries(helm.template()), [])
        alone = helm.template(asked)
        self.assertEqual([item["kind"] for item in of_retries(alone)],
                         ["ClusterRole", "ClusterRoleBinding", "ValidatingAdmissionPolicy",
                          "ValidatingAdmissionPolicyBinding"])
        rules = {resource: rule["verbs"] for rule in find(alone, "ClusterRole", "synergy-retries")["rules"]
                 for resource in rule["resources"]}
        self.assertEqual(rules, {"namespaces": ["get"], "jobs": ["patch"], "jobsets": ["patch"]})
        data = find(alone, "ConfigMap", "synergy-controller")["data"]
        self.assertEqual(yaml.safe_load(data["controller.yaml"])["failures"],
                         {"enabled": True, "retries": True, "prerun": False})
        self.assertEqual(conditions(alone, "synergy-retries"), ["by-the-controller"])

        queued = helm.template(asked | {"kueue": {"enabled": True}})
        rules = {resource: rule["verbs"] for rule in find(queued, "ClusterRole", "synergy-retries")["rules"]
                 for resource in rule["resources"]}
        self.assertEqual((rules["localqueues"], rules["workloads"]), (["get"], ["list", "patch"]))

        # One of the two policies covers each change of a Job.
        both = helm.template(asked | {"kueue": {"enabled": True, "elastic": True}})
        self.assertEqual(conditions(both, "synergy-retries"), ["by-the-controller", "sets-no-workers"])
        self.assertEqual(conditions(both, "synergy-elastic"), ["by-the-controller", "sets-workers"])
        elastic = helm.template({"kueue": {"enabled": True, "elastic": True}})
        self.assertEqual(conditions(elastic, "synergy-elastic"), ["by-the-controller"])

    def test_trials_are_the_only_jobs_that_the_controller_creates_where_pre_runs_are_switched_on(self):
        asked = {"controller": {"config": {"failures": {"prerun": True}}}, "kueue": {"enabled": True}}
        names = "synergy-prerun", "synergy-prerun-label", "synergy-retries"

        def of_preruns(values):
            return [(item["kind"], item["metadata"]["name"]) for item in helm.template(values)
                    if item["metadata"]["name"] in names]

        self.assertEqual(of_preruns({"kueue": {"enabled": True}}), [])
        self.assertEqual(of_preruns(asked | {"extender": {"shadow": True}}), [])
        on = helm.template(asked)
        policies = [("ValidatingAdmissionPolicy", name) for name in names]
        bindings = [("ValidatingAdmissionPolicyBinding", name) for name in names]
        self.assertCountEqual(of_preruns(asked), [
            ("ClusterRole", "synergy-prerun"), ("ClusterRoleBinding", "synergy-prerun"),
            ("PriorityClass", "synergy-prerun"), *policies, *bindings])
        rules = find(on, "ClusterRole", "synergy-prerun")["rules"]
        self.assertEqual(rules, [{"apiGroups": ["batch"], "resources": ["jobs"],
                                  "verbs": ["list", "watch", "create", "delete"]},
                                 {"apiGroups": ["scheduling.k8s.io"], "resources": ["priorityclasses"],
                                  "resourceNames": ["synergy-prerun"], "verbs": ["get"]}])
        # Without retries it changes Workloads, and no job.
        spec = find(on, "ValidatingAdmissionPolicy", "synergy-retries")["spec"]
        self.assertEqual([rule["resources"] for rule in spec["matchConstraints"]["resourceRules"]], [["workloads"]])
        keys, = (each["expression"] for each in spec["variables"] if each["name"] == "keys")
        self.assertIn("['synergy.io/rounds', 'synergy.io/prerun-trial', 'synergy.io/prerun-stopped']", keys)
        with self.assertRaisesRegex(AssertionError, "failures.prerun: needs Kueue"):
            helm.template({"controller": asked["controller"]})

    def test_trials_have_a_class_by_which_they_evict_no_pods(self):
        asked = {"controller": {"config": {"failures": {"prerun": True}}}, "kueue": {"enabled": True}}

        def configured(objects, release):
            data = find(objects, "ConfigMap", f"{release}-controller")["data"]
            return yaml.safe_load(data["controller.yaml"])["failures"].get("prerunPriorityClass")

        for release in ("synergy", "first-synergy"):
            on = helm.template(asked, release=release.removesuffix("-synergy"))
            name = configured(on, release)
            priority = find(on, "PriorityClass", name)
            self.assertEqual(priority["preemptionPolicy"], "Never")
            self.assertLess(priority["value"], 0)
            self.assertFalse(priority.get("globalDefault"))
        off = helm.template({"kueue": {"enabled": True}})
        names = [(item["kind"], item["metadata"]["name"]) for item in off]
        self.assertNotIn(("PriorityClass", "synergy-prerun"), names)
        self.assertIsNone(configured(off, "synergy"))

    def test_trainjobs_are_read_where_their_progress_is_asked_for(self):
        objects = helm.template({"kueue": {"enabled": True, "trainJobProgress": True}})
        rules = [rule for rule in find(objects, "ClusterRole", "synergy-rounds")["rules"]
                 if rule["apiGroups"] == ["trainer.kubeflow.org"]]
        self.assertEqual(rules, [{"apiGroups": ["trainer.kubeflow.org"], "resources": ["trainjobs"],
                                  "verbs": ["list", "watch"]}])
        data = find(objects, "ConfigMap", "synergy-controller")["data"]
        self.assertTrue(yaml.safe_load(data["controller.yaml"])["kueue"]["trainJobProgress"])

    def test_the_controller_may_evict_where_that_is_switched_on(self):
        def may_evict(values):
            role = find(helm.template(values), "ClusterRole", "synergy-controller")
            return any("pods/eviction" in rule["resources"] for rule in role["rules"])

        self.assertFalse(may_evict({}))
        self.assertFalse(may_evict({"controller": {"config": {"gangPreemption": {"patience": "1m"}}}}))
        self.assertTrue(may_evict({"controller": {"config": {"gangPreemption": {"enabled": True}}}}))
        self.assertTrue(may_evict({"controller": {"config": {"moves": {"enabled": True}}}}))

    def test_the_record_of_moves_is_written_where_moves_are_switched_on(self):
        def rights(config):
            objects = helm.template({"controller": {"config": config}})
            rules = [rule for rule in find(objects, "Role", "synergy-controller")["rules"]
                     if "configmaps" in rule["resources"]]
            policy = find(objects, "ValidatingAdmissionPolicy", "synergy-controller-failures")
            return rules, policy["spec"]["validations"][0]["expression"]

        rules, policy = rights({})
        self.assertFalse([rule for rule in rules if "resourceNames" in rule])
        self.assertNotIn("synergy-moves", policy)
        rules, policy = rights({"moves": {"enabled": True}, "failures": {"enabled": False}})
        self.assertEqual(rules, [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]},
                                 {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["synergy-moves"],
                                  "verbs": ["get", "patch"]}])
        self.assertTrue(policy.endswith("object.metadata.name in ['synergy-moves']"), policy)
        _, policy = rights({"moves": {"enabled": True}})
        self.assertIn("object.metadata.name.startsWith('synergy-failures-') || object.metadata.name in "
                      "['synergy-elsewhere', 'synergy-moves']", policy)

    def test_the_extender_watches_which_nodes_jobs_avoid_and_no_other_config_map(self):
        def of_extender(values):
            objects = helm.template(values)
            config = yaml.safe_load(find(objects, "ConfigMap", "synergy-scheduler")["data"]["extender.yaml"])
            return config["elsewhereNamespace"], [
                item for item in objects
                if item["kind"] in ("Role", "RoleBinding") and item["metadata"]["name"] == "synergy-extender"]

        self.assertEqual(of_extender({}), ("", []))
        asked = {"controller": {"config": {"failures": {"retries": True}}}}
        self.assertEqual(of_extender(asked | {"extender": {"shadow": True}}), ("", []))
        namespace, (role, binding) = of_extender(asked)
        self.assertEqual(role["rules"], [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"],
                                          "resourceNames": ["synergy-elsewhere"]}])
        self.assertEqual((role["metadata"]["namespace"], binding["metadata"]["namespace"]), (namespace, namespace))
        self.assertEqual([subject["name"] for subject in binding["subjects"]], ["synergy-scheduler"])

    def test_both_programs_have_the_config_map_about_storage_where_it_counts(self):
        def of_both(values):
            objects = helm.template(values)
            config = yaml.safe_load(find(objects, "ConfigMap", "synergy-scheduler")["data"]["extender.yaml"])
            policy = find(objects, "ValidatingAdmissionPolicy", "synergy-controller-failures")
            rights = {item["metadata"]["name"]: rule["verbs"] for item in objects if item["kind"] == "Role"
                      for rule in item["rules"] if "synergy-storage" in rule.get("resourceNames", ())}
            return config["storageNamespace"], rights, "synergy-storage" in str(policy["spec"])

        self.assertEqual(of_both({}), ("", {}, False))
        off = {"controller": {"config": {"tuner": {"enabled": False, "storage": True}}}}
        self.assertEqual(of_both(off), ("", {}, False))
        on = {"controller": {"config": {"tuner": {"enabled": True, "storage": True}}}}
        namespace, rights, allowed = of_both(on)
        self.assertTrue(namespace)
        self.assertEqual(rights, {"synergy-controller": ["get", "patch"], "synergy-extender": ["list", "watch"]})
        self.assertTrue(allowed)

    def test_both_programs_have_gpu_reservations_where_they_are_switched_on(self):
        def enabled(values):
            objects = helm.template(values)
            configs = [yaml.safe_load(find(objects, "ConfigMap", f"synergy-{name}")["data"][file])
                       for name, file in (("scheduler", "extender.yaml"), ("controller", "controller.yaml"))]
            return [config["reservations"]["enabled"] for config in configs]

        self.assertEqual(enabled({}), [False, False])
        on = {"controller": {"config": {"reservations": {"enabled": True, "after": "1h", "max": 2, "leastGpus": 8}}}}
        self.assertEqual(enabled(on), [True, True])

    def test_nodes_are_kept_from_an_autoscaler_where_there_is_one(self):
        def added(values):
            return {item["kind"]: item for item in helm.template(values)
                    if item["metadata"]["name"] == "synergy-reservations"}

        enabled = {"controller": {"config": {"reservations": {"enabled": True}}}}
        self.assertEqual(added({}), {})
        self.assertEqual(added(enabled), {})
        enabled["controller"]["config"]["reservations"]["autoscaler"] = True
        objects = added(enabled)
        self.assertEqual(objects["ClusterRole"]["rules"],
                         [{"apiGroups": [""], "resources": ["events"], "verbs": ["list", "watch"]},
                          {"apiGroups": [""], "resources": ["nodes"], "verbs": ["patch"]}])
        self.assertEqual([subject["name"] for subject in objects["ClusterRoleBinding"]["subjects"]],
                         ["synergy-controller"])
        policy = objects["ValidatingAdmissionPolicy"]["spec"]
        self.assertIn("synergy-controller", policy["matchConditions"][0]["expression"])
        self.assertEqual(objects["ValidatingAdmissionPolicyBinding"]["spec"]["validationActions"], ["Deny"])
        config = find(helm.template(enabled), "ConfigMap", "synergy-controller")["data"]["controller.yaml"]
        self.assertEqual(yaml.safe_load(config)["reservations"], {"enabled": True, "autoscaler": True})

    def test_turns_are_off_until_the_node_agents_value_switches_them_on(self):
        def turns(values):
            config = find(helm.template(values), "ConfigMap", "synergy-controller")["data"]["controller.yaml"]
            return yaml.safe_load(config)["turns"]

        self.assertEqual(turns({}), {"enabled": False, "quantum": "60s"})
        on = {"nodeAgent": {"turns": {"enabled": True}},
              "controller": {"config": {"turns": {"quantum": "30s", "packing": True}}}}
        self.assertEqual(turns(on), {"enabled": True, "quantum": "30s", "packing": True})
        self.assertIs(turns({"nodeAgent": {"enabled": False, "turns": {"enabled": True}}})["enabled"], False)

    def test_shadow_mode_reads_alone(self):
        objects = self.rendered["shadow"]
        self.assertEqual([item["metadata"]["name"] for item in workloads(objects)], ["synergy-scheduler"])
        deployment = workloads(objects)[0]["spec"]
        self.assertEqual(deployment["replicas"], 1, "each would judge every pod")
        self.assertEqual([container["name"] for container in containers(deployment["template"]["spec"])], ["extender"])
        data = find(objects, "ConfigMap", "synergy-scheduler")["data"]
        self.assertIs(yaml.safe_load(data["extender.yaml"])["shadow"], True)
        roles = [item for item in objects if item["kind"] in ("Role", "ClusterRole")]
        self.assertEqual({verb for role in roles for rule in role["rules"] for verb in rule["verbs"]},
                         {"list", "watch"})
        bound = {item["roleRef"]["name"] for item in objects if item["kind"].endswith("RoleBinding")}
        self.assertEqual(bound, {role["metadata"]["name"] for role in roles})
        kinds = {item["kind"] for item in objects}
        self.assertEqual({kind for kind in kinds if "Webhook" in kind or "Policy" in kind
                          or kind in ("PriorityClass", "ResourceQuota", "Lease")},
                         {"NetworkPolicy"})
        alerts = {rule["alert"] for item in objects if item["kind"] == "PrometheusRule"
                  for group in item["spec"]["groups"] for rule in group["rules"]}
        self.assertIn("SynergyExtenderDown", alerts)
        for missing in ("SynergyControllerDown", "SynergyDevicePluginAbsent", "SynergyNodeAgentAbsent"):
            self.assertNotIn(missing, alerts)
        self.assertEqual([item["metadata"]["name"] for item in objects if item["kind"] == "Pod"], ["synergy-test"])

    def test_the_page_has_no_rights_of_its_own(self):
        objects = self.rendered["everything"]
        account = find(objects, "Deployment", "synergy-ui")["spec"]["template"]["spec"]["serviceAccountName"]
        self.assertEqual(account, "synergy-ui")
        bound = {subject["name"] for item in objects if item["kind"].endswith("RoleBinding")
                 for subject in item["subjects"]}
        self.assertIn("synergy-controller", bound)
        self.assertNotIn(account, bound)
        for values in (PAGE, {"ui": {"enabled": True, "certificate": {"secretName": "mine"}}}):
            spec = find(helm.template(values), "Deployment", "synergy-ui")["spec"]["template"]["spec"]
            self.assertIs(spec["automountServiceAccountToken"], False)
            volumes = {volume["name"]: volume for volume in spec["volumes"]}
            self.assertEqual(volumes.pop("authority")["projected"]["sources"],
                             [{"configMap": {"name": "kube-root-ca.crt"}}])
            (container,) = spec["containers"]
            given = values["ui"].get("certificate")
            self.assertEqual(volumes, {"certificate": {"name": "certificate", "secret": given}} if given else {})
            self.assertEqual("--certificate=/etc/synergy/tls/tls.crt" in container["args"], bool(given))

    def test_the_page_is_off_unless_it_is_asked_for(self):
        def of_the_page(values):
            return [item["kind"] for item in helm.template(values) if item["metadata"]["name"] == "synergy-ui"]

        self.assertEqual(of_the_page({}), [])
        kinds = ["NetworkPolicy", "ServiceAccount", "Service", "Deployment"]
        self.assertEqual(of_the_page({"ui": {"enabled": True}}), kinds)
        self.assertEqual(of_the_page(PAGE), [*kinds, "Ingress"])
        self.assertIn("ui.ingress.host: ", helm.refusal({"ui": {"enabled": True, "ingress": {"enabled": True}}}))

    def test_the_page_is_reached_by_https_and_reaches_the_api_server_alone(self):
        objects = self.rendered["everything"]
        policy = find(objects, "NetworkPolicy", "synergy-ui")["spec"]
        self.assertEqual(policy["ingress"], [{"ports": [{"protocol": "TCP", "port": "https"}]}])
        self.assertEqual(policy["egress"], find(objects, "NetworkPolicy", "synergy-scheduler")["spec"]["egress"])
        ingress = find(objects, "Ingress", "synergy-ui")
        self.assertEqual(ingress["metadata"]["annotations"],
                         {"nginx.ingress.kubernetes.io/backend-protocol": "HTTPS"})
        self.assertEqual(ingress["spec"]["tls"], [{"hosts": ["synergy.example.com"]}])
        (path,) = ingress["spec"]["rules"][0]["http"]["paths"]
        self.assertEqual(path["backend"], {"service": {"name": "synergy-ui", "port": {"name": "https"}}})
        service = find(objects, "Service", "synergy-ui")["spec"]
        self.assertEqual([port["name"] for port in service["ports"]], ["https"])

    def test_commands_in_the_images_are_programs(self):
        # The images have no shell (docs/internals/images.md).
        for name, values in COMBINATIONS.items():
            specs = [item["spec"].get("template", item)["spec"] for item in helm.template(values)
                     if item["kind"] in ("Deployment", "DaemonSet", "Pod")]
            own = [each for spec in specs for each in containers(spec) if "/synergy/" in each["image"]]
            self.assertTrue(own, name)
            for container in own:
                with self.subTest(name, container=container["name"]):
                    probes = [container.get(probe, {}).get("exec", {}).get("command", [])
                              for probe in ("livenessProbe", "readinessProbe", "startupProbe")]
                    for command in filter(None, [container.get("command"), *probes]):
                        self.assertRegex(command[0], "^synergy-")

    def test_scheduler_name_and_gpu_resource_reach_every_program(self):
        objects = helm.template({**PLUGIN, **PAGE, "schedulerName": "mine", "gpuResource": "amd.com/gpu"})
        data = find(objects, "ConfigMap", "synergy-scheduler")["data"]
        scheduler = yaml.safe_load(data["scheduler.yaml"])
        controller = yaml.safe_load(find(objects, "ConfigMap", "synergy-controller")["data"]["controller.yaml"])
        plugin = yaml.safe_load(find(objects, "ConfigMap", "synergy-device-plugin")["data"]["config.yaml"])
        self.assertEqual(scheduler["profiles"][0]["schedulerName"], "mine")
        agent = yaml.safe_load(find(objects, "ConfigMap", "synergy-node-agent")["data"]["node-agent.yaml"])
        self.assertEqual([controller["schedulerName"], agent["schedulerName"]], ["mine"] * 2)
        managed = [each["name"] for each in scheduler["extenders"][0]["managedResources"]]
        self.assertEqual(managed, ["amd.com/gpu", "amd.com/gpu.shared", "amd.com/gpu.turns"])
        resources = [managed[0], controller["gpuResource"],
                     plugin["resource"], agent["gpuResource"], yaml.safe_load(data["extender.yaml"])["gpuResource"]]
        self.assertEqual(resources, ["amd.com/gpu"] * 5)
        page = find(objects, "Deployment", "synergy-ui")["spec"]["template"]["spec"]["containers"][0]["args"]
        self.assertLessEqual({"--gpu-resource=amd.com/gpu", "--scheduler-name=mine"}, set(page))

    def test_claims_count_only_where_dra_is_enabled(self):
        def of(values):
            objects = helm.template(values)
            data = find(objects, "ConfigMap", "synergy-scheduler")["data"]
            controller = find(objects, "ConfigMap", "synergy-controller")["data"]["controller.yaml"]
            roles = [find(objects, "ClusterRole", f"synergy-{name}") for name in ("extender", "controller")]
            rights = [rule for role in roles for rule in role["rules"] if "resource.k8s.io" in rule["apiGroups"]]
            reviewed = ["resourceClaims" in condition["expression"]
                        for hook in find(objects, "MutatingWebhookConfiguration", "synergy")["webhooks"]
                        for condition in hook["matchConditions"] if condition["name"] == "has-gpus"]
            return (yaml.safe_load(data["scheduler.yaml"])["extenders"][0].get("managedResources"),
                    [yaml.safe_load(text)["dra"] for text in (data["extender.yaml"], controller)], rights, reviewed)

        managed, dra, rights, reviewed = of({})
        self.assertEqual((managed[0]["name"], rights, reviewed), ("nvidia.com/gpu", [], [False] * 2))
        self.assertEqual([each["enabled"] for each in dra], [False] * 2)
        managed, dra, rights, reviewed = of({"dra": {"enabled": True, "deviceClasses": ["gpu.example.com"]}})
        self.assertIsNone(managed)
        self.assertEqual(reviewed, [True] * 2)
        self.assertEqual(dra, [{"enabled": True, "deviceClasses": ["gpu.example.com"]}] * 2)
        self.assertEqual(len(rights), 2)
        for rule in rights:
            self.assertEqual(set(rule["verbs"]), {"list", "watch"})

    def test_pods_are_spread_that_ask_for_it_and_no_others(self):
        config = find(helm.template(), "ConfigMap", "synergy-scheduler")["data"]["scheduler.yaml"]
        profile = yaml.safe_load(config)["profiles"][0]
        disabled = [plugin["name"] for plugin in profile["plugins"]["score"]["disabled"]]
        self.assertNotIn("PodTopologySpread", disabled)
        arguments = {plugin["name"]: plugin["args"] for plugin in profile["pluginConfig"]}
        self.assertEqual(arguments["PodTopologySpread"], {"defaultingType": "List", "defaultConstraints": []})

    def test_a_changed_configuration_replaces_the_pods_that_read_it_and_no_others(self):
        def checksums(values):
            return {item["metadata"]["name"]: item["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
                    for item in workloads(helm.template({**PLUGIN, **values}))}

        before = checksums({})
        for part, workload in (("extender", "synergy-scheduler"), ("controller", "synergy-controller"),
                               ("nodeAgent", "synergy-node-agent")):
            after = checksums({part: {"config": {"stalenessLimit": "77s"}}})
            self.assertEqual([name for name in before if before[name] != after[name]], [workload])
        after = checksums({"devicePlugin": {"enabled": True, "inventory": "gpus: []"}})
        self.assertEqual([name for name in before if before[name] != after[name]], ["synergy-device-plugin"])

    def test_an_upgrade_of_the_chart_alone_replaces_no_pod(self):
        for item in workloads(self.rendered["defaults"]):
            self.assertNotIn("helm.sh/chart", item["spec"]["template"]["metadata"]["labels"])

    def test_own_images_come_from_the_given_registry(self):
        images = {container["image"] for item in workloads(self.rendered["own registry"])
                  for container in containers(item["spec"]["template"]["spec"])
                  if container["name"] != "kube-scheduler"}
        self.assertEqual(images, {
            f"registry.example.com/ml/synergy/{name}:2"
            for name in ("extender", "controller", "deviceplugin", "nodeagent")})

    def test_a_mirror_replaces_every_registry(self):
        objects = helm.template({**EVERYTHING, "global": {"imageRegistry": "mirror.example.com/all"}})
        images = [container["image"] for item in objects if item["kind"] in ("Pod", "Deployment", "DaemonSet")
                  for container in containers(item["spec"].get("template", item)["spec"])]
        self.assertGreater(len(images), 5)
        for image in images:
            self.assertTrue(image.startswith("mirror.example.com/all/"), image)

    def test_a_digest_pins_the_image_of_the_charts_own_version_alone(self):
        def image(tag):
            objects = helm.template({"image": {"tag": tag}, "controller": {"image": {"digest": digest}}})
            pod = find(objects, "Deployment", "synergy-controller")["spec"]["template"]["spec"]
            return containers(pod)[0]["image"]

        digest = "sha256:" + 64 * "a"
        version = yaml.safe_load((helm.CHART / "Chart.yaml").read_text(encoding="utf-8"))["appVersion"]
        name = f"{helm.REGISTRY}/synergy/controller"
        self.assertEqual(image(""), f"{name}:{version}@{digest}")
        self.assertEqual(image(version), f"{name}:{version}@{digest}")
        self.assertEqual(image("other"), f"{name}:other")

    def test_common_labels_and_annotations_reach_every_object_beside_its_own(self):
        plain = self.rendered["everything"]
        marked = helm.template({**EVERYTHING, "commonLabels": {"team": "ml"},
                                "commonAnnotations": {"cost-center": "7"}})
        self.assertEqual(len(marked), len(plain))
        for before, after in zip(plain, marked):
            with self.subTest(kind=before["kind"], name=before["metadata"]["name"]):
                for what, common in (("labels", {"team": "ml"}), ("annotations", {"cost-center": "7"})):
                    own = before["metadata"].get(what, {})
                    self.assertEqual(after["metadata"][what], {**own, **common})

    def test_extra_objects_are_templates(self):
        plain = helm.template({})
        added = helm.template({"extraObjects": [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "{{ .Release.Name }}-map"}},
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}-text'}\n"]})
        names = {item["metadata"]["name"] for item in added} - {item["metadata"]["name"] for item in plain}
        self.assertEqual(names, {"synergy-map", "synergy-text"})

    def test_extra_objects_of_a_kind_that_comes_with_the_release_are_refused_with_a_remedy(self):
        profile = {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "metadata": {"name": "a"}}
        for item in (profile, yaml.safe_dump(profile)):
            message = helm.refusal({"extraObjects": [item]})
            self.assertIn("extraObjects: ", message)
            self.assertIn("a release of its own", message)
            self.assertEqual(helm.refusal({"extraObjects": [item], "crds": {"enabled": False}}), "")

    def test_it_renders_the_same_bytes_twice(self):
        for name, values in COMBINATIONS.items():
            with self.subTest(name):
                texts = {helm.run("template", "synergy", str(helm.CHART), "--namespace", helm.NAMESPACE,
                                  values=values).stdout for _ in range(2)}
                self.assertEqual(len(texts), 1)
                self.assertNotEqual(texts, {""})

    def test_lookups_only_refuse_or_warn(self):
        """GitOps tools render the chart without a cluster, so that lookups find nothing. The Leases are
        those of a release that had them."""
        looking = {str(file.relative_to(helm.CHART)) for file in helm.CHART.rglob("templates/**/*")
                   if file.is_file() and re.search(r"\blookup\b", file.read_text(encoding="utf-8"))}
        self.assertEqual(looking, {"templates/checks.yaml", "templates/leases.yaml", "templates/NOTES.txt"})
        for objects in self.rendered.values():
            self.assertTrue(objects)

    def test_kube_scheduler_is_of_the_clusters_version(self):
        def image(cluster, **values):
            objects = helm.template({"scheduler": {"image": values}}, more=("--kube-version", cluster))
            return containers(find(objects, "Deployment", "synergy-scheduler")["spec"]["template"]["spec"])[1]["image"]

        for cluster, tag in (("v1.36.5", "v1.36.5"), ("v1.36.5-gke.1080000", "v1.36.5"), ("v1.35.1+k3s1", "v1.35.1")):
            self.assertEqual(image(cluster), f"registry.k8s.io/kube-scheduler:{tag}")
        self.assertEqual(image("v1.37.2", tag="v1.36.9", registry="mine.example"),
                         "mine.example/kube-scheduler:v1.36.9")

    def test_the_node_agents_records_outlive_its_container(self):
        objects = self.rendered["defaults"]
        folder = yaml.safe_load(find(objects, "ConfigMap", "synergy-node-agent")["data"]["node-agent.yaml"])[
            "stateFolder"]
        spec = find(objects, "DaemonSet", "synergy-node-agent")["spec"]["template"]["spec"]
        mount = next(item for item in spec["containers"][0]["volumeMounts"] if item["mountPath"] == folder)
        self.assertNotIn("readOnly", mount)
        volume = next(item for item in spec["volumes"] if item["name"] == mount["name"])
        self.assertEqual(volume["hostPath"], {"path": folder, "type": "DirectoryOrCreate"})

    def test_device_plugin_and_node_agent_share_the_busy_file(self):
        def busy(objects, name, file):
            config = yaml.safe_load(find(objects, "ConfigMap", f"synergy-{name}")["data"][file])["gpuBusyFile"]
            spec = find(objects, "DaemonSet", f"synergy-{name}")["spec"]["template"]["spec"]
            mounts = {mount["mountPath"]: mount for mount in spec["containers"][0]["volumeMounts"]}
            volumes = {volume["name"]: volume for volume in spec["volumes"]}
            mount = mounts.get(config.rpartition("/")[0])
            return config, mount, mount and volumes[mount["name"]]["hostPath"]
        objects = self.rendered["device plugin"]
        writer, reader = busy(objects, "device-plugin", "config.yaml"), busy(objects, "node-agent", "node-agent.yaml")
        self.assertEqual(writer[0], reader[0])
        self.assertEqual(writer[2], {"path": writer[0].rpartition("/")[0], "type": "DirectoryOrCreate"})
        self.assertEqual(writer[2], reader[2])
        self.assertEqual((writer[1].get("readOnly", False), reader[1].get("readOnly", False)), (False, True))
        alone = self.rendered["defaults"]
        self.assertEqual(busy(alone, "node-agent", "node-agent.yaml"), ("", None, None))
        alone = helm.template({**PLUGIN, "nodeAgent": {"enabled": False}})
        self.assertEqual(busy(alone, "device-plugin", "config.yaml"), ("", None, None))

    def test_nothing_advertises_gpus_by_default(self):
        def of_the_plugin(objects):
            return [f"{item['kind']} {item['metadata']['name']}"
                    for item in objects if "device-plugin" in item["metadata"]["name"]]

        self.assertEqual(of_the_plugin(self.rendered["defaults"]), [])
        mounted = [mount["mountPath"] for item in workloads(self.rendered["defaults"])
                   for container in containers(item["spec"]["template"]["spec"])
                   for mount in container["volumeMounts"]]
        self.assertFalse([path for path in mounted if "device-plugins" in path])
        self.assertEqual(of_the_plugin(self.rendered["device plugin"]), [
            f"{kind} synergy-device-plugin" for kind in (
                "NetworkPolicy", "ServiceAccount", "ConfigMap", "ClusterRole", "ClusterRoleBinding", "DaemonSet",
                "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")])

    def test_registrations_of_the_device_plugin_outlive_its_pod(self):
        objects = self.rendered["device plugin"]
        config = find(objects, "ConfigMap", "synergy-device-plugin")["data"]["config.yaml"]
        folder = yaml.safe_load(config)["stateFolder"]
        spec = find(objects, "DaemonSet", "synergy-device-plugin")["spec"]["template"]["spec"]
        mount = next(item for item in spec["containers"][0]["volumeMounts"] if item["mountPath"] == folder)
        volume = next(item for item in spec["volumes"] if item["name"] == mount["name"])
        self.assertEqual(volume["hostPath"], {"path": folder, "type": "DirectoryOrCreate"})
        uid = next(entry for entry in spec["containers"][0]["env"] if entry["name"] == "POD_UID")
        self.assertEqual(uid["valueFrom"], {"fieldRef": {"fieldPath": "metadata.uid"}})

    def test_the_node_agent_asks_the_kubelet_and_an_exporter_about_gpus_unless_that_is_switched_off(self):
        def asked(values):
            objects = helm.template(values)
            config = yaml.safe_load(find(objects, "ConfigMap", "synergy-node-agent")["data"]["node-agent.yaml"])
            spec = find(objects, "DaemonSet", "synergy-node-agent")["spec"]["template"]["spec"]
            mounts = [mount for mount in spec["containers"][0]["volumeMounts"] if "pod-resources" in mount["mountPath"]]
            out = find(objects, "NetworkPolicy", "synergy-node-agent")["spec"]["egress"]
            ports = {port["port"] for rule in out for port in rule.get("ports", [])}
            volumes = [volume["hostPath"] for volume in spec["volumes"] if volume["name"] == "pod-resources"]
            return config, mounts, volumes, ports

        config, mounts, volumes, ports = asked(
            {"nodeAgent": {"kubeletRootDir": "/k", "dcgm": {"namespaces": ["mine"], "port": 9500}}})
        self.assertEqual(config["podResourcesSocket"], "/var/lib/kubelet/pod-resources/kubelet.sock")
        self.assertEqual(config["dcgm"], {"namespaces": ["mine"], "daemonSet": "*dcgm-exporter*", "port": 9500,
                                          "path": "/metrics"})
        self.assertEqual([mount.get("readOnly") for mount in mounts], [True])
        self.assertEqual(volumes, [{"path": "/k/pod-resources", "type": "Directory"}])
        self.assertIn(9500, ports)
        config, mounts, volumes, ports = asked({"nodeAgent": {"podResources": False}})
        self.assertEqual((config["podResourcesSocket"], mounts, volumes), ("", [], []))
        self.assertNotIn(9400, ports)
        self.assertNotIn(9400, asked({"nodeAgent": {"dcgm": {"namespaces": []}}})[3])

    def test_node_agents_are_replaced_ten_percent_at_once_and_keep_off_virtual_nodes(self):
        def agent(values):
            return find(helm.template(values), "DaemonSet", "synergy-node-agent")["spec"]

        def terms(values):
            affinity = agent(values)["template"]["spec"]["affinity"]["nodeAffinity"]
            return affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]

        self.assertEqual(agent({})["updateStrategy"]["rollingUpdate"], {"maxUnavailable": "10%"})
        plugin = find(helm.template(PLUGIN), "DaemonSet", "synergy-device-plugin")["spec"]
        self.assertEqual(plugin["updateStrategy"]["rollingUpdate"], {"maxUnavailable": 1})
        self.assertEqual(terms({}), [{"matchExpressions": [
            {"key": "eks.amazonaws.com/compute-type", "operator": "NotIn", "values": ["fargate"]},
            {"key": "type", "operator": "NotIn", "values": ["virtual-kubelet"]}]}])
        self.assertEqual(terms({"nodeAgent": {"affinity": {"podAntiAffinity": {}}}}), terms({}))
        self.assertEqual([term["matchExpressions"][0]["key"] for term in terms(COMBINATIONS["placed"])], ["k"])

    def test_every_peer_admitted_inwards_has_a_policy_outwards(self):
        for values in (EVERYTHING, {"controller": {"ports": {"http": 18889}}}):
            policies = [item["spec"] for item in helm.template(values) if item["kind"] == "NetworkPolicy"]
            out = {json.dumps(policy["podSelector"]["matchLabels"], sort_keys=True): policy["egress"]
                   for policy in policies if policy["egress"]}
            for policy in policies:
                for peer in [peer for rule in policy.get("ingress", []) for peer in rule.get("from", [])]:
                    labels = peer.get("podSelector", {}).get("matchLabels")
                    self.assertTrue(not labels or json.dumps(labels, sort_keys=True) in out, labels)
        test = next(egress for labels, egress in out.items() if '"test"' in labels)
        self.assertEqual([port["port"] for port in test[0]["ports"]], [8889, 18889])

    def test_aks_leaves_the_webhooks_as_they_are(self):
        for values in {}, CERT_MANAGER, PROVIDED:
            hooks = [item for item in helm.template(values) if item["kind"].endswith("WebhookConfiguration")]
            self.assertEqual([item["metadata"]["annotations"]["admissions.enforcer/disabled"] for item in hooks],
                             ["true", "true"])

    def test_the_node_agent_sees_volumes_only_where_files_of_progress_are_read(self):
        def seen(values):
            objects = helm.template(values)
            config = yaml.safe_load(find(objects, "ConfigMap", "synergy-node-agent")["data"]["node-agent.yaml"])
            spec = find(objects, "DaemonSet", "synergy-node-agent")["spec"]["template"]["spec"]
            mounts = [mount for mount in spec["containers"][0]["volumeMounts"] if mount["name"] == "pods"]
            return config.get("podsFolder"), mounts, [item for item in spec["volumes"] if item["name"] == "pods"]

        self.assertEqual(seen({}), (None, [], []))
        self.assertEqual(seen({"nodeAgent": {"progressFiles": True, "kubeletRootDir": "/k"}}), (
            "/host/pods",
            [{"name": "pods", "mountPath": "/host/pods", "readOnly": True, "mountPropagation": "HostToContainer"}],
            [{"name": "pods", "hostPath": {"path": "/k/pods", "type": "Directory"}}]))

    def test_the_node_agent_divides_storage_where_that_is_asked_for(self):
        def divides(values):
            config = find(helm.template(values), "ConfigMap", "synergy-node-agent")["data"]["node-agent.yaml"]
            return yaml.safe_load(config)["divideStorage"]
        self.assertEqual([divides({}), divides({"nodeAgent": {"divideStorage": True}})], [False, True])

    def test_the_node_agent_sees_the_nodes_processes_where_that_is_asked_for(self):
        objects = helm.template({"nodeAgent": {"hostPID": True}})
        seeing = {item["metadata"]["name"]
                  for item in workloads(objects) if item["spec"]["template"]["spec"].get("hostPID")}
        self.assertEqual(seeing, {"synergy-node-agent"})

    def test_the_node_agent_may_see_reads_where_that_is_asked_for(self):
        objects = helm.template({"nodeAgent": {"seeReads": True}})
        for item in workloads(objects):
            spec = item["spec"]["template"]["spec"]
            agents = item["metadata"]["name"] == "synergy-node-agent"
            self.assertEqual(spec.get("hostPID", False), agents)
            capabilities = {"drop": ["ALL"]} | ({"add": ["SYS_PTRACE", "DAC_READ_SEARCH"]} if agents else {})
            self.assertEqual(spec["containers"][0]["securityContext"]["capabilities"], capabilities)

    def test_a_second_container_resumes_suspended_pods_where_turns_are_switched_on(self):
        def containers(values):
            spec = find(helm.template(values), "DaemonSet", "synergy-node-agent")["spec"]["template"]["spec"]
            return {container["name"]: container for container in spec["containers"]}
        self.assertEqual(set(containers({})), {"agent"})
        both = containers({"nodeAgent": {"turns": {"enabled": True}}})
        self.assertEqual(set(both), {"agent", "thaw"})
        thaw, agent = both["thaw"], both["agent"]
        self.assertIn("--thaw", thaw["args"])
        self.assertEqual(thaw["securityContext"], agent["securityContext"])
        self.assertEqual({mount["name"] for mount in thaw["volumeMounts"]}, {"cgroup", "state", "config"})
        for mount in thaw["volumeMounts"]:
            self.assertIn(mount, agent["volumeMounts"])

    def test_pods_go_to_linux_nodes(self):
        for item in self.each_workload():
            self.assertEqual(item["spec"]["template"]["spec"]["nodeSelector"]["kubernetes.io/os"], "linux")
        for item in self.rendered["everything"]:
            if item["kind"] == "Pod":
                self.assertEqual(item["spec"]["nodeSelector"], {"kubernetes.io/os": "linux"})

    def test_the_device_plugin_finds_gpu_nodes_by_any_label(self):
        def takes(labels, values):
            objects = helm.template({**PLUGIN, **values})
            spec = find(objects, "DaemonSet", "synergy-device-plugin")["spec"]["template"]["spec"]
            terms = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
                "nodeSelectorTerms"]
            return any(all(e["key"] in labels and (e["operator"] == "Exists" or labels[e["key"]] in e["values"])
                           for e in term["matchExpressions"]) for term in terms)

        for labels in ({"synergy.io/gpu-node": "true"}, {"nvidia.com/gpu.present": "true"},
                       {"feature.node.kubernetes.io/pci-0302_10de.present": "true"},
                       {"cloud.google.com/gke-accelerator": "nvidia-l4"},
                       {"k8s.amazonaws.com/accelerator": "nvidia-tesla-t4"},
                       {"kubernetes.azure.com/accelerator": "nvidia"}):
            self.assertTrue(takes(labels, {}), labels)
        self.assertFalse(takes({"kubernetes.io/os": "linux", "nvidia.com/gpu.present": "false"}, {}))
        self.assertFalse(takes({"nvidia.com/gpu.present": "true"}, COMBINATIONS["placed"]))

    def test_scheduler_and_controller_have_a_flow_schema(self):
        subjects = find(helm.template({}), "FlowSchema", "synergy")["spec"]["rules"][0]["subjects"]
        accounts = {item["metadata"]["name"] for item in helm.template({}) if item["kind"] == "ServiceAccount"}
        self.assertEqual({subject["serviceAccount"]["name"] for subject in subjects},
                         {"synergy-controller", "synergy-scheduler"})
        self.assertLessEqual({subject["serviceAccount"]["name"] for subject in subjects}, accounts)
        self.assertNotIn("FlowSchema", {item["kind"] for item in helm.template({"flowSchema": {"create": False}})})

    def test_another_priority_is_another_class(self):
        """Kubernetes allows no change of a class's value or policy, so an upgrade would fail."""
        def classes(values):
            objects = helm.template({"priorityClass": values})
            made = [item for item in objects if item["kind"] == "PriorityClass"]
            used = {item["spec"]["template"]["spec"]["priorityClassName"]
                    for item in workloads(objects) if item["kind"] == "Deployment"}
            self.assertEqual(used, {item["metadata"]["name"] for item in made})
            return used

        self.assertEqual(classes({"name": "mine"}), {"mine-1000000000-never"})
        different = [classes(values).pop()
                     for values in ({}, {"value": -5}, {"preemptionPolicy": "PreemptLowerPriority"})]
        self.assertEqual(len(set(different)), 3)

    def test_gke_admits_the_critical_daemons(self):
        """Outside kube-system, GKE admits these pods only if a quota has their classes in its
        scope."""
        quota = find(self.rendered["defaults"], "ResourceQuota", "synergy-critical")["spec"]
        self.assertIn("system-node-critical", quota["scopeSelector"]["matchExpressions"][0]["values"])
        own = helm.template({name: {"enabled": True, "priorityClassName": "mine"}
                             for name in ("devicePlugin", "nodeAgent")})
        for objects in (own, self.rendered["least"]):
            self.assertNotIn("ResourceQuota", {item["kind"] for item in objects})

    def test_selinux_lets_the_daemons_have_the_nodes_folders(self):
        for item in workloads(self.rendered["device plugin"]):
            security = item["spec"]["template"]["spec"]["containers"][0]["securityContext"]
            self.assertEqual(security.get("seLinuxOptions"), {"type": "spc_t"} if item["kind"] == "DaemonSet" else None)

    def test_openshift_gets_the_constraints_of_each_account(self):
        bound = {item["subjects"][0]["name"]: item["roleRef"]["name"].rsplit(":", 1)[1]
                 for item in helm.template(PLUGIN, more=("--api-versions", "security.openshift.io/v1"))
                 if item["metadata"]["name"].endswith("-scc")}
        self.assertEqual(bound, {"synergy-scheduler": "nonroot-v2", "synergy-controller": "nonroot-v2",
                                 "synergy-device-plugin": "privileged", "synergy-node-agent": "privileged"})
        self.assertFalse([item for item in self.rendered["defaults"] if item["metadata"]["name"].endswith("-scc")])

    def test_security_contexts_can_be_others(self):
        """A null removes a field."""
        values = {"podSecurityContext": {"runAsUser": 7, "fsGroup": None},
                  "securityContext": {"readOnlyRootFilesystem": False, "capabilities": None}}
        objects = helm.template({name: {"securityContext": values["securityContext"]} if name == "extender" else values
                                 for name in COMPONENTS} | {"devicePlugin": {"enabled": True, **values}})
        for item in workloads(objects):
            spec = item["spec"]["template"]["spec"]
            self.assertEqual(spec["securityContext"]["runAsUser"], 7)
            self.assertIsNone(spec["securityContext"].get("fsGroup"))
            for container in containers(spec):
                self.assertIs(container["securityContext"]["readOnlyRootFilesystem"], False)
                self.assertNotIn("capabilities", container["securityContext"])
                self.assertIs(container["securityContext"]["allowPrivilegeEscalation"], False)

    def test_arguments_environment_and_volumes_can_be_added(self):
        before = {item["metadata"]["name"]: item for item in workloads(helm.template({**PLUGIN, **PAGE}))}
        for item in workloads(self.rendered["added to"]):
            spec = item["spec"]["template"]["spec"]
            old = before[item["metadata"]["name"]]["spec"]["template"]["spec"]
            self.assertEqual(spec["volumes"], [*old["volumes"], {"name": "added", "emptyDir": {}}])
            for container, was in zip(containers(spec), containers(old), strict=True):
                given = "command" if container["name"] == "kube-scheduler" else "args"
                self.assertEqual(container[given], [*was[given], "--added"])
                self.assertEqual([e["name"] for e in container["env"]],
                                 [*(e["name"] for e in was.get("env", [])), "ADDED"])
                self.assertEqual(container["volumeMounts"],
                                 [*was["volumeMounts"], {"name": "added", "mountPath": "/added"}])

    def test_the_webhook_can_be_on_the_nodes_network(self):
        objects = self.rendered["host network"]
        controller = find(objects, "Deployment", "synergy-controller")["spec"]
        self.assertIs(controller["template"]["spec"]["hostNetwork"], True)
        self.assertEqual(controller["template"]["spec"]["dnsPolicy"], "ClusterFirstWithHostNet")
        # Two pods with the same ports cannot be on one node, so an upgrade has to end one first.
        self.assertEqual(controller["strategy"]["rollingUpdate"], {"maxUnavailable": 1, "maxSurge": 0})
        config = yaml.safe_load(find(objects, "ConfigMap", "synergy-controller")["data"]["controller.yaml"])
        ports = {port["name"]: port["containerPort"]
                 for port in controller["template"]["spec"]["containers"][0]["ports"]}
        self.assertEqual({"webhook": config["listen"], "http": config["httpListen"],
                          "progress": config["progress"]["listen"]},
                         {name: f":{port}" for name, port in ports.items()})
        self.assertEqual(ports, {"webhook": 19443, "http": 18889, "progress": 8890})

    def test_the_usual_ports_of_api_servers_are_let_out(self):
        for item in self.rendered["defaults"]:
            if item["kind"] == "NetworkPolicy" and item["metadata"]["name"] != "synergy-test":
                self.assertEqual([port["port"] for port in item["spec"]["egress"][0]["ports"]],
                                 [443, 6443, 8443, 16443])

    def test_each_kind_of_monitor_has_its_switch(self):
        def kinds(**values):
            return {item["kind"] for item in helm.template({"metrics": values})} & {"PodMonitor", "ServiceMonitor"}

        self.assertEqual(kinds(podMonitor={"enabled": True}), {"PodMonitor"})
        self.assertEqual(kinds(serviceMonitor={"enabled": True}), {"ServiceMonitor"})

    def test_monitors_have_the_relabelings_that_are_set_beside_their_own(self):
        added = {"targetLabel": "cluster", "replacement": "a"}
        dropped = {"action": "labeldrop", "regex": "x"}
        monitor = {"enabled": True, "relabelings": [added], "metricRelabelings": [dropped]}
        for item in helm.template({**PLUGIN, "metrics": {"podMonitor": monitor, "serviceMonitor": monitor}}):
            if not item["kind"].endswith("Monitor"):
                continue
            with self.subTest(item["kind"], name=item["metadata"]["name"]):
                endpoint = item["spec"].get("podMetricsEndpoints", item["spec"].get("endpoints"))[0]
                own = [one["targetLabel"] for one in endpoint["relabelings"][:-1]]
                self.assertEqual(own, ["node"] if item["kind"] == "PodMonitor" else [])
                self.assertEqual(endpoint["relabelings"][-1], added)
                self.assertEqual(endpoint["metricRelabelings"], [dropped])

    def test_the_least_has_no_daemons_and_no_budgets(self):
        kinds = {item["kind"] for item in self.rendered["least"]}
        self.assertEqual(kinds & {"DaemonSet", "PodDisruptionBudget", "NetworkPolicy", "PriorityClass", "PodMonitor"},
                         set())
        self.assertNotIn("priorityClassName",
                         find(self.rendered["least"], "Deployment", "synergy-scheduler")["spec"]["template"]["spec"])

    def test_the_annotations_that_programs_act_on_are_guarded(self):
        source = (helm.ROOT / "src/cluster/annotations.h").read_text(encoding="utf-8")
        texts = dict(re.findall(r'(k\w+) = "(synergy[.]io/[^"]+)"', source))
        constants = re.search(r"kWrittenByPrograms = {(.*?)}", source, re.DOTALL).group(1)
        policy = next(item for item in helm.template({}) if item["kind"] == "ValidatingAdmissionPolicy"
                      and any(variable["name"] == "names" for variable in item["spec"]["variables"]))
        names = next(variable["expression"] for variable in policy["spec"]["variables"] if variable["name"] == "names")
        self.assertEqual(sorted(re.findall(r"'([^']+)'", names)),
                         sorted(texts[name] for name in re.findall(r"k\w+", constants)))

    def test_profiles_of_the_controller_are_recognized_by_their_label(self):
        source = (helm.ROOT / "src/wire/training_profile.cc").read_text(encoding="utf-8")
        key, value = (re.search(rf'{name} = "([^"]+)"', source).group(1) for name in ("kManagedBy", "kUs"))
        for values in ({}, {"controller": {"serviceAccount": {"create": False, "name": "theirs"}}}):
            policy = find(helm.template(values), "ValidatingAdmissionPolicy", "synergy-trainingprofiles")["spec"]
            own = next(variable["expression"] for variable in policy["variables"] if variable["name"] == "own")
            self.assertIn(f"[?'{key}'].orValue('') == '{value}'", own)
            account = values.get("controller", {}).get("serviceAccount", {}).get("name", "synergy-controller")
            self.assertIn(f":{account}'", policy["matchConditions"][0]["expression"])
            self.assertEqual(policy["matchConstraints"]["resourceRules"][0]["operations"],
                             ["CREATE", "UPDATE", "DELETE"])

    def test_webhook_conditions_select_managed_pods(self):
        def hooks(values):
            return {hook["name"]: hook
                    for hook in find(helm.template(values), "MutatingWebhookConfiguration", "synergy")["webhooks"]}

        def conditions(hook):
            return [condition["name"] for condition in hook["matchConditions"]]

        asking = hooks({})
        self.assertEqual(conditions(asking["pods.synergy.io"]), ["has-gpus", "asks-for-it"])
        self.assertEqual(conditions(asking["namespaces.pods.synergy.io"]), ["has-gpus"])
        managed = [[e["operator"]
                    for e in hook["namespaceSelector"]["matchExpressions"] if e["key"] == "synergy.io/managed"]
                   for hook in asking.values()]
        self.assertEqual(managed, [["NotIn"], ["In"]])
        all_pods = hooks({"controller": {"config": {"scope": "all"}}, "gpuResource": "amd.com/gpu"})
        self.assertEqual(list(all_pods), ["pods.synergy.io"])
        self.assertEqual(conditions(all_pods["pods.synergy.io"]), ["has-gpus"])
        self.assertIn("['amd.com/gpu', 'amd.com/gpu.shared', 'amd.com/gpu.turns']",
                      all_pods["pods.synergy.io"]["matchConditions"][0]["expression"])

    def test_scheduler_and_controller_keep_the_same_headroom(self):
        objects = helm.template({"nodeHeadroom": {"cpu": "1"}})
        extender = yaml.safe_load(find(objects, "ConfigMap", "synergy-scheduler")["data"]["extender.yaml"])
        controller = yaml.safe_load(find(objects, "ConfigMap", "synergy-controller")["data"]["controller.yaml"])
        self.assertEqual(extender["nodeHeadroom"], {"cpu": "1", "memory": "1Gi"})
        self.assertEqual(controller["nodeHeadroom"], extender["nodeHeadroom"])

    def test_the_gpu_test_pod_is_not_where_nothing_is_managed(self):
        self.assertIn("own namespace",
                      helm.refusal({"tests": {"gpuPod": {"enabled": True, "namespace": helm.NAMESPACE}}}))

    def test_programs_accept_their_configurations(self):
        values = {
            "extender": {"config": {"reservePerGpu": {"cpu": 2, "memory": "10G"}, "assumeTimeout": "31s",
                                    "expectTimeout": "500ms",
                                    "stalenessLimit": "2m", "shutdownGrace": "1s", "maxBodySize": "8Mi"}},
            "controller": {"config": {"tolerance": 0.05,
                                      "tuner": {"enabled": False, "round": "1m", "leastGainPercent": 7, "hold": "1m",
                                                "settle": "2s", "patience": "9s", "unshrinkable": "1h",
                                                "patchesPerSecond": 5, "patchesAtOnce": 2}}},
            "devicePlugin": {"enabled": True, "inventory": "gpus: []", "config": {
                "migStrategy": "single", "deviceListStrategy": "envvar", "deviceListVariable": "X",
                "cdi": {"kind": "a.b/c", "command": ["nvidia-ctk"]},
                "nvml": {"library": "x.so", "whenMissing": "exit"},
                "resources": [{"product": "*A*", "resource": "x/y"}],
                "health": {"probeInterval": "9s", "recoverAfter": "2m", "ignoredXids": [13]},
                "node": {"labels": False, "verifyInterval": "1h"}}},
            "nodeAgent": {"config": {"kubeletCgroupRoot": "/k", "margin": {"percent": 5, "most": "1Mi"},
                                     "checkInterval": "1s",
                                     "giveUpAfter": "2m", "stalenessLimit": "2m", "shutdownGrace": "1s"}},
        }
        programs = [("extender", "synergy-scheduler", "extender.yaml"),
                    ("controller", "synergy-controller", "controller.yaml"),
                    ("device-plugin", "synergy-device-plugin", "config.yaml"),
                    ("node-agent", "synergy-node-agent", "node-agent.yaml")]
        for more in (PLUGIN, values):
            objects = helm.template(more)
            for program, name, key in programs:
                with self.subTest(program, values=bool(more)), tempfile.TemporaryDirectory() as folder:
                    file = pathlib.Path(folder) / key
                    file.write_text(find(objects, "ConfigMap", name)["data"][key], encoding="utf-8")
                    # The program reads its configuration before the kubeconfig, which does not
                    # exist.
                    done = subprocess.run(
                        [f"{os.environ['SYNERGY_BIN']}/synergy-{program}", "--config", str(file),
                         "--kubeconfig", f"{folder}/none",
                         "--node-name" if "n" == program[0] or program[0] == "d" else "--gpu-resource",
                         "n" if program[0] in "nd" else "nvidia.com/gpu"],
                        capture_output=True, text=True, check=False, timeout=30)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn(f"{folder}/none", done.stderr)
                    self.assertNotIn(f"{key}:", done.stderr)


class CertificateTest(unittest.TestCase):
    def webhooks(self, objects):
        return [hook for item in objects if item["kind"].endswith("WebhookConfiguration") for hook in item["webhooks"]]

    def test_the_controllers_own_is_left_to_the_controller(self):
        """The controller owns the fields that the chart leaves out; no tool resets them."""
        for values, agents in (({}, ["synergy-node-agent-certificate"]), ({"nodeAgent": {"enabled": False}}, [])):
            with self.subTest(values):
                objects = helm.template(values)
                secrets = [item for item in objects if item["kind"] == "Secret"]
                names = ["synergy-controller-certificate", *agents]
                self.assertEqual([item["metadata"]["name"] for item in secrets], names)
                for item in secrets:
                    self.assertEqual(set(item) & {"data", "stringData"}, set())
                for hook in self.webhooks(objects):
                    self.assertNotIn("caBundle", hook["clientConfig"])
                    self.assertEqual(hook["failurePolicy"], "Ignore")
                config = yaml.safe_load(find(objects, "ConfigMap", "synergy-controller")["data"]["controller.yaml"])
                own = config["ownCertificate"]
                self.assertEqual((own["secret"], own["agentSecret"], own["webhooks"]),
                                 (names[0], "".join(agents), "synergy"))
                service = find(objects, "Service", "synergy-controller")["metadata"]
                self.assertIn(f"{service['name']}.{service['namespace']}.svc", own["names"])
                pod = find(objects, "Deployment", "synergy-controller")["spec"]["template"]["spec"]
                mount = next(item for item in pod["containers"][0]["volumeMounts"] if item["name"] == "tls")
                self.assertNotIn("readOnly", mount)
                for file in (config["tls"]["certificateFile"], config["tls"]["keyFile"], own["authorityFile"]):
                    self.assertEqual(file.rpartition("/")[0], mount["mountPath"])
                self.assertEqual(next(item for item in pod["volumes"] if item["name"] == "tls")["emptyDir"]["medium"],
                                 "Memory")

    def test_only_its_own_certificate_and_webhooks_are_the_controllers(self):
        def rights(values, group, kind):
            return [rule for item in helm.template(values) if item["kind"] == kind
                    and item["metadata"]["name"] == "synergy-controller"
                    for rule in item["rules"] if group in rule["apiGroups"]
                    and {"secrets", "mutatingwebhookconfigurations"} & set(rule["resources"])]

        for values in (CERT_MANAGER, PROVIDED):
            self.assertEqual(rights(values, "", "Role") + rights(values, "", "ClusterRole"), [])
            self.assertEqual(rights(values, "admissionregistration.k8s.io", "ClusterRole"), [])
            config = find(helm.template(values), "ConfigMap", "synergy-controller")["data"]["controller.yaml"]
            self.assertEqual(yaml.safe_load(config)["ownCertificate"], {})
        self.assertEqual(rights({}, "", "ClusterRole"), [])
        self.assertEqual(rights({}, "", "Role"), [
            {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "patch"],
             "resourceNames": ["synergy-controller-certificate", "synergy-node-agent-certificate"]}])
        self.assertEqual(rights({}, "admissionregistration.k8s.io", "ClusterRole"), [
            {"apiGroups": ["admissionregistration.k8s.io"], "verbs": ["get", "patch"], "resourceNames": ["synergy"],
             "resources": ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]}])

    def test_progress_is_asked_for_where_agents_have_a_certificate(self):
        given = {**PROVIDED, "nodeAgent": {"certificate": {"secretName": "agents"}}}
        for name, values, secret, authority in (
                ("own", {}, "synergy-node-agent-certificate", "synergy-node-agent-certificate"),
                ("cert-manager", CERT_MANAGER, "synergy-node-agent-tls", "synergy-controller-tls"),
                ("given", given, "agents", "agents"), ("given without", PROVIDED, None, None),
                ("no agents", {"nodeAgent": {"enabled": False}}, None, None)):
            with self.subTest(name):
                objects = helm.template({**values, "progress": {"readers": [{"kind": "User", "name": "reader"}]}})
                config = yaml.safe_load(find(objects, "ConfigMap", "synergy-controller")["data"]["controller.yaml"])[
                    "progress"]
                self.assertEqual(config["enabled"], secret is not None)
                policies = [item for item in objects if item["kind"] == "NetworkPolicy"
                            and "9412" in json.dumps(item["spec"]["egress"])]
                self.assertEqual([item["metadata"]["name"] for item in policies],
                                 ["synergy-controller"] if secret else [])
                self.assertEqual("Role synergy-progress-reader" in {
                    f"{item['kind']} {item['metadata']['name']}" for item in objects}, bool(secret))
                controller = find(objects, "Deployment", "synergy-controller")["spec"]["template"]["spec"]["volumes"]
                self.assertEqual([volume["secret"] for volume in controller if volume["name"] == "agents"],
                                 [{"secretName": secret, "defaultMode": 0o440,
                                   "items": [{"key": "ca.crt", "path": "ca.crt"}]}]
                                 if secret and name != "own" else [])
                if name == "no agents":
                    continue
                agent = yaml.safe_load(find(objects, "ConfigMap", "synergy-node-agent")["data"]["node-agent.yaml"])
                self.assertEqual(agent.get("clientName"), "synergy-controller.synergy-system.svc" if secret else None)
                pod = find(objects, "DaemonSet", "synergy-node-agent")["spec"]["template"]["spec"]
                volumes = {volume["name"]: volume.get("secret", {}) for volume in pod["volumes"]}
                # The controller's key is never included.
                self.assertEqual(volumes.get("clients", {}).get("items"),
                                 [{"key": "ca.crt", "path": "ca.crt"}] if secret else None)
                self.assertEqual([volumes.get(key, {}).get("secretName") for key in ("tls", "clients")],
                                 [secret, authority])
                self.assertEqual("progress" in [port["name"] for port in pod["containers"][0]["ports"]], bool(secret))
                if secret:
                    # The controller calls these pods, and checks the name in their certificate.
                    labels = find(objects, "DaemonSet", "synergy-node-agent")["spec"]["selector"]["matchLabels"]
                    self.assertEqual(dict(label.split("=") for label in config["agents"].split(",")), labels)
                    self.assertEqual(config["serverName"], "synergy-node-agent.synergy-system.svc")

    def test_progress_has_the_readers_that_are_named_and_no_others(self):
        self.assertNotIn("synergy-progress-reader",
                         [item["metadata"]["name"] for item in helm.template({}) if item["kind"] == "RoleBinding"])
        reader = {"kind": "Group", "name": "research", "apiGroup": "rbac.authorization.k8s.io"}
        objects = helm.template({"progress": {"readers": [reader]}}, release="ours")
        self.assertEqual(find(objects, "RoleBinding", "ours-synergy-progress-reader")["subjects"], [reader])
        self.assertEqual(find(objects, "Role", "ours-synergy-progress-reader")["rules"], [
            {"apiGroups": [""], "resources": ["services/proxy"],
             "resourceNames": ["https:ours-synergy-controller:progress"], "verbs": ["get"]},
            {"apiGroups": [""], "resources": ["serviceaccounts/token"],
             "resourceNames": ["ours-synergy-controller-progress"], "verbs": ["create"]}])
        self.assertFalse(find(objects, "ServiceAccount",
                              "ours-synergy-controller-progress")["automountServiceAccountToken"])
        bound = [subject["name"] for item in objects if item["kind"].endswith("RoleBinding")
                 for subject in item["subjects"]]
        self.assertNotIn("ours-synergy-controller-progress", bound, "an account whose tokens are given out")
        config = yaml.safe_load(find(objects, "ConfigMap", "ours-synergy-controller")["data"]["controller.yaml"])[
            "progress"]
        self.assertEqual(config["reader"], "ours-synergy-controller-progress")
        ports = {port["name"]: port for port in find(objects, "Service", "ours-synergy-controller")["spec"]["ports"]}
        self.assertEqual(ports["progress"]["targetPort"], "progress")

    def test_progress_is_served_where_it_is_known(self):
        for values, served in (({}, True), ({"controller": {"ports": {"progress": 7777}}}, True),
                               ({"nodeAgent": {"enabled": False}}, False)):
            with self.subTest(values):
                objects = helm.template(values)
                container = find(objects, "Deployment",
                                 "synergy-controller")["spec"]["template"]["spec"]["containers"][0]
                ports = {port["name"]: port["containerPort"] for port in container["ports"]}
                config = yaml.safe_load(find(objects, "ConfigMap", "synergy-controller")["data"]["controller.yaml"])[
                    "progress"]
                self.assertEqual("progress" in ports, served)
                self.assertEqual(config.get("listen"), f":{ports['progress']}" if served else None)
                rules = find(objects, "NetworkPolicy", "synergy-controller")["spec"]["ingress"]
                open_to_all = [port["port"] for rule in rules if "from" not in rule for port in rule["ports"]]
                self.assertEqual(open_to_all, ["webhook", "progress"] if served else ["webhook"])
                reviews = [rule["resources"] for rule in find(objects, "ClusterRole", "synergy-controller")["rules"]
                           if "k8s.io" in rule["apiGroups"][0]
                           and rule["verbs"] == ["create"] and "review" in rule["resources"][0]]
                self.assertEqual(reviews, [["tokenreviews"]] if served else [])

    def test_metrics_are_open_to_the_own_and_labelled_namespaces(self):
        def sources(values):
            objects = helm.template({**PLUGIN, **values})
            return [rule.get("from") for item in objects if item["kind"] == "NetworkPolicy"
                    for rule in item["spec"].get("ingress", [])
                    if rule["ports"][0]["port"] == "http"]

        for peers in sources({}):
            self.assertEqual(peers[:2], [{"podSelector": {}},
                                         {"namespaceSelector": {"matchLabels": {"synergy.io/metrics": "true"}}}])
        self.assertEqual(len(sources({})), 4)
        self.assertEqual(sources({"networkPolicy": {"metricsFrom": []}}), [None] * 4)

    def test_probes_ask_each_program_on_a_socket_that_no_flood_reaches(self):
        probed = 0
        for pod in [item["spec"]["template"]["spec"] for item in helm.template(PLUGIN)
                    if item["kind"] in ("Deployment", "DaemonSet")]:
            for container in [*pod.get("initContainers", []), *pod["containers"]]:
                socket = next((text for flag, text in itertools.pairwise(container.get("args", []))
                               if flag == "--probe-socket"), None)
                for kind, probe in container.items():
                    if socket and kind.endswith("Probe"):
                        what = "health" if kind == "livenessProbe" else "ready"
                        self.assertEqual(probe["exec"]["command"],
                                         [socket, "--probe-socket", socket, f"--check-{what}"])
                        probed += 1
        # The extender and the controller also have a startup probe.
        self.assertEqual(probed, 10)

    def test_metrics_are_for_accounts_that_may_get_them_where_that_is_wanted(self):
        programs = {"controller": "controller.yaml", "scheduler": "extender.yaml", "node-agent": "node-agent.yaml",
                    "device-plugin": "config.yaml"}
        for wanted in (False, True):
            objects = helm.template({**PLUGIN, "metrics": {"authorization": wanted, "podMonitor": {"enabled": True}}})
            for program, file in programs.items():
                with self.subTest(program, wanted=wanted):
                    config = next(item["data"][file]
                                  for item in objects if item["kind"] == "ConfigMap" and file in item["data"])
                    self.assertEqual(yaml.safe_load(config)["metricsAuthorization"], wanted)
                    workload = next(item for item in objects if item["kind"] in ("Deployment", "DaemonSet")
                                    and item["metadata"]["name"] == f"synergy-{program}")
                    pod = workload["spec"]["template"]["spec"]
                    role = find(objects, "ClusterRole", f"synergy-{program.replace('scheduler', 'extender')}")
                    granted = {resource for rule in role["rules"] for resource in rule["resources"]}
                    self.assertEqual("subjectaccessreviews" in granted, wanted)
                    monitor = find(objects, "PodMonitor", f"synergy-{program}")["spec"]["podMetricsEndpoints"][0]
                    self.assertEqual(monitor.get("scheme"), "https" if wanted else None)
                    if wanted:
                        secret = find(objects, "Secret", monitor["authorization"]["credentials"]["name"])
                        self.assertEqual(secret["metadata"]["annotations"]["kubernetes.io/service-account.name"],
                                         "synergy-metrics-reader")
            readers = [item for item in objects if item["metadata"]["name"] == "synergy-metrics-reader"]
            self.assertEqual({item["kind"] for item in readers},
                             {"ClusterRole", "ClusterRoleBinding", "ServiceAccount", "Secret"} if wanted else set())

    def test_agents_let_a_controller_on_the_nodes_network_in(self):
        def sources(values):
            rules = find(helm.template(values), "NetworkPolicy", "synergy-node-agent")["spec"]["ingress"]
            return [rule.get("from") for rule in rules if rule["ports"][0]["port"] == "progress"]

        self.assertEqual(sources({})[0][0]["podSelector"]["matchLabels"]["app.kubernetes.io/component"], "controller")
        self.assertEqual(sources({"controller": {"hostNetwork": True}}), [None])

    def test_cert_manager_makes_and_injects_it(self):
        objects = helm.template(CERT_MANAGER)
        certificate = find(objects, "Certificate", "synergy-controller-tls")
        self.assertIn("synergy-controller.synergy-system.svc", certificate["spec"]["dnsNames"])
        self.assertIn("client auth", certificate["spec"]["usages"])
        agents = find(objects, "Certificate", "synergy-node-agent-tls")["spec"]
        self.assertEqual(agents["dnsNames"], ["synergy-node-agent.synergy-system.svc"])
        self.assertEqual(agents["issuerRef"], certificate["spec"]["issuerRef"])
        self.assertEqual(find(objects, "Issuer", "synergy-controller-tls")["spec"], {"selfSigned": {}})
        for item in objects:
            if item["kind"].endswith("WebhookConfiguration"):
                self.assertEqual(item["metadata"]["annotations"]["cert-manager.io/inject-ca-from"],
                                 "synergy-system/synergy-controller-tls")
        self.assertFalse([item for item in objects if item["kind"] == "Secret"])
        given = helm.template(
            {"webhook": {"certificate": {"mode": "certManager", "issuerRef": {"name": "ca", "kind": "ClusterIssuer"}}}})
        self.assertFalse([item for item in given if item["kind"] == "Issuer"])

    def test_a_given_one_is_used_as_it_is(self):
        objects = helm.template(PROVIDED)
        self.assertFalse([item for item in objects if item["kind"] == "Secret"])
        volumes = find(objects, "Deployment", "synergy-controller")["spec"]["template"]["spec"]["volumes"]
        self.assertIn("mine", [volume.get("secret", {}).get("secretName") for volume in volumes])
        for hook in self.webhooks(objects):
            self.assertEqual(base64.b64decode(hook["clientConfig"]["caBundle"]), b"PEM")


if __name__ == "__main__":
    unittest.main()
