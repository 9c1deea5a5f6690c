"""Tests the examples for Argo CD and Flux: they install this chart, and judge the health of
Synergy's kinds."""

import json
import re
import subprocess
import unittest

import yaml

import helm

EXAMPLES = helm.ROOT / "examples"
CHART = yaml.safe_load((helm.CHART / "Chart.yaml").read_text(encoding="utf-8"))


def documents(name):
    return list(yaml.safe_load_all((EXAMPLES / name).read_text(encoding="utf-8")))


def lua(value):
    """Returns a JSON value in Lua's syntax."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"[{json.dumps(key)}] = {lua(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ", ".join(map(lua, value)) + "}"
    return json.dumps(value)


def health(kind, item):
    """Returns the (status, message) of Argo CD's check for that kind. Argo CD runs Lua 5.1."""
    (patch, ) = documents("argocd/health.yaml")
    check = patch["data"][f"resource.customizations.health.synergy.io_{kind}"]
    program = f"local obj = {lua(item)}\nlocal health = (function()\n{check}end)()\n" \
              "io.write(health.status, '\\n', health.message)"
    done = subprocess.run(["lua5.1", "-"], input=program, capture_output=True, text=True, check=True)
    status, _, message = done.stdout.partition("\n")
    return status, message


def judged(*conditions):
    return {"metadata": {"generation": 2}, "status": {"conditions": [
        {"type": kind, "status": status, "message": f"{kind} {status}",
         **({"observedGeneration": seen} if seen else {})} for kind, status, seen in conditions]}}


class ExamplesTest(unittest.TestCase):
    def values(self):
        (application, ) = documents("argocd/application.yaml")
        source, release = application["spec"]["source"], documents("flux/release.yaml")
        self.assertEqual([source["targetRevision"], release[0]["spec"]["ref"]["tag"]], [CHART["version"]] * 2)
        self.assertEqual([source["chart"], source["helm"]["releaseName"], release[1]["spec"]["releaseName"]],
                         [CHART["name"]] * 3)
        return source["helm"]["valuesObject"], release[1]["spec"]["values"]

    def test_they_install_this_chart_and_render_the_same_bytes_twice(self):
        for values in self.values():
            texts = {helm.run("template", "synergy", str(helm.CHART), "--namespace", helm.NAMESPACE,
                              values=values).stdout for _ in range(2)}
            self.assertEqual(len(texts), 1)
            self.assertNotEqual(texts, {""})

    def test_the_chart_renders_nothing_that_is_random_or_of_the_present(self):
        for file in (helm.CHART / "templates").rglob("*.*"):
            text = file.read_text(encoding="utf-8")
            found = re.findall(r"\b(?:gen(?:CA|PrivateKey|S\w*Cert)\w*|rand[A-Z]\w+|uuidv4|htpasswd|bcrypt)\b", text)
            self.assertEqual(found + re.findall(r"[({|]-? *now\b", text), [], file.name)

    def test_flux_retries_profiles_soon_and_waits_long_enough_for_many_nodes(self):
        (profiles, ) = documents("flux/profiles.yaml")
        self.assertEqual(profiles["spec"]["retryInterval"], "1m")
        self.assertEqual(documents("flux/release.yaml")[1]["spec"]["timeout"], "30m")

    def test_they_let_the_node_daemons_into_the_namespace(self):
        (namespace, ) = documents("namespace.yaml")
        (application, ) = documents("argocd/application.yaml")
        self.assertEqual(namespace["metadata"]["name"], helm.NAMESPACE)
        self.assertEqual(application["spec"]["destination"]["namespace"], helm.NAMESPACE)
        for labels in (namespace["metadata"]["labels"],
                       application["spec"]["syncPolicy"]["managedNamespaceMetadata"]["labels"]):
            self.assertEqual(labels["pod-security.kubernetes.io/enforce"], "privileged")

    def test_they_name_no_registry(self):
        for file in EXAMPLES.rglob("*.yaml"):
            for address in re.findall(r"(?:repoURL: |oci://)(\S+?)/charts", file.read_text(encoding="utf-8")):
                self.assertEqual(address, "REGISTRY", file.name)


class HealthTest(unittest.TestCase):
    def test_each_kind_is_healthy_when_its_condition_is_true_of_this_generation(self):
        for kind, condition in (("TrainingProfile", "Valid"), ("RoundPolicy", "Ready")):
            for item, status in (({"metadata": {"generation": 1}}, "Progressing"),
                                 ({"metadata": {"generation": 1}, "status": {}}, "Progressing"),
                                 (judged(), "Progressing"), (judged(("Other", "True", 2)), "Progressing"),
                                 (judged((condition, "True", 2)), "Healthy"),
                                 (judged((condition, "True", None)), "Healthy"),
                                 (judged((condition, "False", 2)), "Degraded"),
                                 (judged((condition, "Unknown", 2)), "Degraded"),
                                 (judged((condition, "True", 1)), "Progressing"),
                                 (judged((condition, "False", 1)), "Progressing")):
                with self.subTest(kind, item=item):
                    found, message = health(kind, item)
                    self.assertEqual(found, status)
                    if status in ("Healthy", "Degraded"):
                        self.assertEqual(message, item["status"]["conditions"][0]["message"])
                    else:
                        self.assertIn("has not evaluated", message)

    def test_a_contradicted_profile_is_healthy_with_a_remark(self):
        profile = judged(("Contradicted", "True", 2), ("Valid", "True", 2))
        self.assertEqual(health("TrainingProfile", profile), ("Healthy", "Contradicted True"))
        profile = judged(("Contradicted", "True", 2), ("Valid", "False", 2))
        self.assertEqual(health("TrainingProfile", profile), ("Degraded", "Valid False"))

    def test_the_conditions_are_those_that_the_controller_writes(self):
        for file, names in (("src/wire/training_profile.cc", ("Valid", "Contradicted")),
                            ("src/wire/kueue/round_policy.cc", ("Ready", ))):
            text = (helm.ROOT / file).read_text(encoding="utf-8")
            for name in names:
                self.assertIn(f'"{name}"', text)


if __name__ == "__main__":
    unittest.main()
