"""Reads the queries of the dashboards and alerts of charts/synergy."""

import json
import re

import yaml

import helm

DASHBOARDS = sorted((helm.CHART / "dashboards").glob("*.json"))
ALERTS = helm.CHART / "rules/alerts.yaml"
# Grafana's variables and their values here: "All", and an interval of several scrapes.
VARIABLES = {"$cluster": ".*", "$node": ".*", "$namespace": ".*", "$__rate_interval": "5m"}


def load(file):
    return json.loads(file.read_text(encoding="utf-8"))


def panels(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def plain(expression):
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    return expression


def queries():
    """Yields (dashboard, panel, expression, legend) for every query."""
    for file in DASHBOARDS:
        for panel in panels(load(file)):
            for target in panel["targets"]:
                yield file.stem, panel["title"], plain(target["expr"]), target["legendFormat"]


def alerts():
    return [rule for group in yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"] for rule in group["rules"]]


def metric_names(expression):
    return set(re.findall(r"\bsynergy_[a-z0-9_]+", expression))
