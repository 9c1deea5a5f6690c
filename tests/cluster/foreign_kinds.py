"""The kinds of others' operators (cert-manager, the Prometheus operator) that the chart writes objects of.

Their definitions come out of the operators' Go modules, so that they are fetched, checked and kept as other modules are.
"""

import json
import pathlib
import subprocess

import yaml

# Module -> (version, its sum, files with definitions).
MODULES = {
    "github.com/cert-manager/cert-manager": (
        "v1.18.2", "h1:H2P75ycGcTMauV3gvpkDqLdS3RSXonWF2S49QGA1PZE=",
        ("deploy/crds/crd-certificates.yaml", "deploy/crds/crd-issuers.yaml")),
    "github.com/prometheus-operator/prometheus-operator": (
        "v0.85.0", "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
        tuple(f"example/prometheus-operator-crd/monitoring.coreos.com_{kind}.yaml"
              for kind in ("podmonitors", "servicemonitors", "prometheusrules"))),
}


def definitions():
    """CustomResourceDefinitions, as kubectl takes them."""
    found = []
    for module, (version, checksum, files) in MODULES.items():
        done = subprocess.run(["go", "mod", "download", "-json", f"{module}@{version}"], cwd="/", check=True, stdout=subprocess.PIPE)
        answer = json.loads(done.stdout)
        assert answer["Sum"] == checksum, f"{module} is not what it was: {answer['Sum']}"
        for file in files:
            definition = yaml.safe_load((pathlib.Path(answer["Dir"]) / file).read_text(encoding="utf-8"))
            # Labels and annotations are for the operator's own chart to fill in.
            definition["metadata"] = {"name": definition["metadata"]["name"]}
            found.append(definition)
    return found
