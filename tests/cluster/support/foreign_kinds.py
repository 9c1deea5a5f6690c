"""Returns definitions of kinds of operators that the gate's tests do not run: kinds that the chart
uses (of cert-manager and the Prometheus operator), and kinds whose pods are gangs (PyTorchJob,
MPIJob).

The definitions come from the operators' Go modules, so that they are fetched, checked and cached as
other modules are.
"""

import json
import pathlib
import subprocess

import yaml

# Module -> (version, its checksum, files with definitions).
OF_THE_CHART = {
    "github.com/cert-manager/cert-manager": (
        "v1.18.2", "h1:H2P75ycGcTMauV3gvpkDqLdS3RSXonWF2S49QGA1PZE=",
        ("deploy/crds/crd-certificates.yaml", "deploy/crds/crd-issuers.yaml")),
    "github.com/prometheus-operator/prometheus-operator": (
        "v0.85.0", "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
        tuple(f"example/prometheus-operator-crd/monitoring.coreos.com_{kind}.yaml"
              for kind in ("podmonitors", "servicemonitors", "prometheusrules"))),
}
OF_GANGS = {
    "github.com/kubeflow/training-operator": (
        "v1.9.3", "h1:aaSHqskOtCY8Dn8sVd+l9p5XAczW6O0nYMPjVLAw/lc=",
        ("manifests/base/crds/kubeflow.org_pytorchjobs.yaml",)),
    "github.com/kubeflow/mpi-operator": (
        "v0.8.2", "h1:7PVtV31iX3LSVW0BqRQ64w/NYNfAgP86Bmua2OEi5lg=", ("manifests/base/kubeflow.org_mpijobs.yaml",)),
}


def definitions(modules):
    """Returns CustomResourceDefinitions that kubectl can apply."""
    found = []
    for module, (version, checksum, files) in modules.items():
        done = subprocess.run(["go", "mod", "download", "-json", f"{module}@{version}"], cwd="/", check=True,
                              stdout=subprocess.PIPE)
        answer = json.loads(done.stdout)
        assert answer["Sum"] == checksum, f"{module} is not what it was: {answer['Sum']}"
        for file in files:
            definition = yaml.load((pathlib.Path(answer["Dir"]) / file).read_text(encoding="utf-8"),
                                   Loader=yaml.CSafeLoader)
            # Removes the labels and annotations that only the operator's own chart fills in.
            definition["metadata"] = {"name": definition["metadata"]["name"]}
            found.append(definition)
    return found
