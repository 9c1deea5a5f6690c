"""Dashboards, alerts and runbooks: the names in them exist, and the alerts fire when they
should."""

import pathlib
import re
import subprocess
import tempfile
import unittest

import yaml

import dashboards
import helm

METRICS = helm.ROOT / "src/metrics"
RUNBOOKS = helm.ROOT / "docs/runbooks"
EVERY_ALERT = {"devicePlugin": {"enabled": True}}
CASES = pathlib.Path(__file__).parent / "alerts_test.yaml"


def existing_metrics():
    """Returns all metrics' names. Each is spelled out in src/metrics and nowhere else; the series
    of a histogram have suffixes."""
    names, histograms = set(), set()
    for file in METRICS.glob("*.cc"):
        text = file.read_text(encoding="utf-8")
        names |= set(re.findall(r'"(synergy_[a-z0-9_]+)"', text))
        for found in re.finditer(r'MakeHistograms\(\s*registry,\s*"(synergy_[a-z0-9_]+)"', text):
            histograms.add(found[1])
    return names, names | {name + suffix for name in histograms for suffix in ("_bucket", "_count", "_sum")}


class DashboardTest(unittest.TestCase):
    def test_queries_name_metrics_that_exist(self):
        _, known = existing_metrics()
        self.assertIn("synergy_extender_request_duration_seconds_bucket", known)
        self.assertNotIn("synergy_extender_requests_total", known)
        for dashboard, panel, expression, _ in dashboards.queries():
            with self.subTest(dashboard, panel=panel):
                self.assertTrue(dashboards.metric_names(expression))
                self.assertEqual(dashboards.metric_names(expression) - known, set())
        for alert in dashboards.alerts():
            with self.subTest(alert["alert"]):
                self.assertEqual(dashboards.metric_names(alert["expr"]) - known, set())

    def test_the_table_of_metrics_has_every_name(self):
        """A row may leave out the beginning that its first name has: `synergy_node_allocatable`,
        `_requested`."""
        text = (helm.ROOT / "docs/metrics.md").read_text(encoding="utf-8")
        for page in ("node-agent", "device-plugin"):
            text += (helm.ROOT / f"docs/internals/{page}.md").read_text(encoding="utf-8")
        words = set(re.findall(r"`(_?[a-z0-9_]+)`", text))
        names, _ = existing_metrics()
        for name in sorted(names):
            with self.subTest(name):
                self.assertTrue(name in words or any(name.endswith(word) for word in words if word.startswith("_")))

    def test_queries_are_well_formed(self):
        rules = [{"record": f"query:{number}", "expr": expression}
                 for number, (_, _, expression, _) in enumerate(dashboards.queries())]
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}, file)
            file.flush()
            done = subprocess.run(["promtool", "check", "rules", file.name], capture_output=True, text=True,
                                  check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_dashboards_can_be_imported_anywhere(self):
        for file in dashboards.DASHBOARDS:
            with self.subTest(file.name):
                dashboard = dashboards.load(file)
                self.assertEqual(dashboard["uid"], f"synergy-{file.stem}")
                self.assertEqual(dashboard["templating"]["list"][0]["type"], "datasource")
                ids = [panel["id"] for panel in dashboard["panels"]]
                self.assertEqual(len(ids), len(set(ids)))
                for panel in dashboards.panels(dashboard):
                    self.assertEqual(panel["datasource"]["uid"], "${datasource}")

    def targets(self):
        for file in dashboards.DASHBOARDS:
            for panel in dashboards.panels(dashboards.load(file)):
                for target in panel["targets"]:
                    with self.subTest(file.name, panel=panel["title"]):
                        yield panel, target["expr"]

    def test_queries_are_of_the_chosen_clusters(self):
        for file in dashboards.DASHBOARDS:
            variable = dashboards.load(file)["templating"]["list"][1]
            self.assertEqual((variable["name"], variable["includeAll"], variable["allValue"]), ("cluster", True, ".*"))
        for _, expression in self.targets():
            self.assertEqual(re.findall(r"\bsynergy_[a-z0-9_]+(?!\{cluster=~\"\$cluster\"|[a-z0-9_])", expression), [])

    def test_equal_names_in_several_clusters_stay_apart(self):
        for _, expression in self.targets():
            for labels in re.findall(r"by \(([^)]*)\)", expression):
                if "node" in labels.split(", ") and "uuid" not in labels or "pod" in labels.split(", "):
                    self.assertIn("cluster", labels.split(", "))

    def test_rates_are_over_grafanas_interval_or_one_that_is_named(self):
        for panel, expression in self.targets():
            for interval in re.findall(r"\brate\([^\[]*\[([^\]]*)\]", expression):
                if interval != "$__rate_interval":
                    self.assertRegex(panel["description"], "minutes|an hour")

    def test_every_panel_has_a_unit(self):
        for panel, _ in self.targets():
            self.assertNotIn(panel["fieldConfig"]["defaults"].get("unit", "none"), ("none", "short"))

    def test_numbers_with_thresholds_come_first(self):
        for file in dashboards.DASHBOARDS:
            head = dashboards.load(file)["panels"]
            headline = [panel for panel in head if panel["gridPos"]["y"] == 0]
            with self.subTest(file.name):
                self.assertEqual(sum(panel["gridPos"]["w"] for panel in headline), 24)
                self.assertEqual(headline, head[:len(headline)])
                for panel in headline:
                    self.assertEqual(panel["type"], "stat")
                    self.assertGreater(len(panel["fieldConfig"]["defaults"]["thresholds"]["steps"]), 1, panel["title"])

    def test_every_panel_has_a_description(self):
        for file in dashboards.DASHBOARDS:
            for panel in dashboards.panels(dashboards.load(file)):
                with self.subTest(file.name, panel=panel["title"]):
                    self.assertGreater(len(panel.get("description", "").split()), 3)

    def test_a_panel_of_pods_or_nodes_shows_the_most_of_them_only(self):
        for dashboard, panel, expression, legend in dashboards.queries():
            if "{{pod}}" in legend or "{{node}}" in legend:
                with self.subTest(dashboard, panel=panel):
                    self.assertRegex(expression, r"^(topk|bottomk)\(")

    def test_legends_are_words_and_labels(self):
        """Legends have the labels that distinguish several series, and nothing of PromQL."""
        for dashboard, panel, expression, legend in dashboards.queries():
            with self.subTest(dashboard, panel=panel, legend=legend):
                # The labels of a constant could not name a series.
                self.assertFalse("{{" in legend and "or vector" in expression)
                self.assertRegex(legend, r"^([A-Z0-9][A-Za-z0-9 ,-]*|"
                                 r"\{\{(verb|reason|outcome|state|kind|resource|node|namespace|pod|container|uuid|xid|"
                                 r"category|cluster_queue|band|delay|what)\}\}[a-z :/,]*)+$")


class AlertTest(unittest.TestCase):
    def rendered(self, values):
        rule = next(item for item in helm.template(values) if item["kind"] == "PrometheusRule")
        return rule["spec"]["groups"][0]["rules"]

    def test_promtool_takes_the_rules(self):
        done = subprocess.run(["promtool", "check", "rules", str(dashboards.ALERTS)], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_alerts_fire_when_they_should_and_only_then(self):
        done = subprocess.run(["promtool", "test", "rules", str(CASES)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_alert_is_tested_both_ways(self):
        cases = yaml.safe_load(CASES.read_text(encoding="utf-8"))["tests"]
        checks = [check for case in cases for check in case["alert_rule_test"]]
        fires = {check["alertname"] for check in checks if check["exp_alerts"]}
        silent = {check["alertname"] for check in checks if not check["exp_alerts"]}
        names = {alert["alert"] for alert in dashboards.alerts()}
        self.assertEqual(fires, names)
        self.assertEqual(silent, names)

    def test_every_alert_has_its_runbook_and_is_linked(self):
        names = {alert["alert"] for alert in dashboards.alerts()}
        self.assertEqual({file.stem for file in RUNBOOKS.glob("*.md")}, names)
        rules = self.rendered(
            {"metrics": {"prometheusRule": {"enabled": True, "runbookUrl": "https://example.com/r/"}},
             "devicePlugin": {"enabled": True}})
        self.assertEqual({rule["alert"] for rule in rules}, names)
        for rule in rules:
            self.assertEqual(rule["annotations"]["runbook_url"], f"https://example.com/r/{rule['alert']}.md")
            self.assertIn(rule["labels"]["severity"], ("info", "warning", "critical"))
        # A link without a target is not a link.
        for rule in self.rendered({"metrics": {"prometheusRule": {"enabled": True}}}):
            self.assertNotIn("runbook_url", rule["annotations"])

    def test_alerts_have_the_thresholds_times_and_severities_that_are_set(self):
        def rules(changes):
            return {rule["alert"]: rule for rule in self.rendered(
                {**EVERY_ALERT, "metrics": {"prometheusRule": {"enabled": True, "alerts": changes}}})}

        plain = rules({})
        number = re.compile(r"([<>]=? )[0-9.* ]+$")
        with_number = [name for name, rule in plain.items() if number.search(rule["expr"])]
        self.assertIn("SynergyExtenderSlow", with_number)
        changed = rules({name: {"threshold": 123.5, "for": "77m", "severity": "page"} for name in with_number})
        for name, rule in plain.items():
            with self.subTest(name):
                expected = {**rule, "expr": number.sub(r"\g<1>123.5", rule["expr"]), "for": "77m",
                            "labels": {**rule["labels"], "severity": "page"}} if name in with_number else rule
                self.assertEqual(changed[name], expected)
        self.well_formed(changed)
        self.assertEqual(set(plain) - set(rules({name: {"enabled": False} for name in with_number})), set(with_number))
        for changes, words in (({"SynergyNoSuch": {"for": "1m"}}, "no alert is called SynergyNoSuch"),
                               ({"SynergyExtenderDown": {"threshold": 1}}, "alerts.SynergyExtenderDown.threshold: ")):
            self.assertIn(words, helm.refusal({"metrics": {"prometheusRule": {"enabled": True, "alerts": changes}}}))

    def well_formed(self, rules):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            yaml.safe_dump({"groups": [{"name": "changed", "rules": list(rules.values())}]}, file)
            file.flush()
            done = subprocess.run(["promtool", "check", "rules", file.name], capture_output=True, text=True,
                                  check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_disabled_parts_have_no_alerts(self):
        on = {rule["alert"] for rule in self.rendered({
            "metrics": {"prometheusRule": {"enabled": True}}, "devicePlugin": {"enabled": True}})}
        off = {rule["alert"] for rule in self.rendered({
            "metrics": {"prometheusRule": {"enabled": True}}, "devicePlugin": {"enabled": False},
            "nodeAgent": {"enabled": False}, "controller": {"config": {"tuner": {"enabled": False}}}})}
        self.assertEqual(on - off, {"SynergyTunerWithoutLeader", "SynergyDevicePluginAbsent", "SynergyNodeAgentAbsent"})


if __name__ == "__main__":
    unittest.main()
