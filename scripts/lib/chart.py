#!/usr/bin/env python3
"""Generates files from charts/synergy: manifests/ (the rendered chart), and the table of values in
its README.

usage: chart.py HELM KUBERNETES [--check]

KUBERNETES is the version of the cluster for which manifests/ are rendered.

Without --check it writes the files. With --check it writes nothing and names the files that differ.
"""

import json
import pathlib
import re
import subprocess
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "charts/synergy"
NAMESPACE = "synergy-system"
# Hooks need Helm, so these are left out. No registry can have a name in .invalid.
SETTINGS = ["image.registry=registry.invalid", "crds.keep=false"]
# The default installation does not include the device plugin, which has a folder of its own.
PLUGIN = "device-plugin"
HEADER = "# Made from charts/synergy by scripts/chart.sh; change it there.\n"
NOT_HELMS = re.compile(r"^ *(helm\.sh/chart|app\.kubernetes\.io/managed-by): .*\n", re.MULTILINE)
TABLE = re.compile(r"(<!-- values -->\n).*(<!-- end of values -->\n)", re.DOTALL)


def render_templates(helm, kubernetes, settings):
    """Returns file name of a template -> its rendered text."""
    command = [helm, "template", "synergy", str(CHART), "--namespace", NAMESPACE, "--skip-tests",
               "--kube-version", kubernetes]
    for setting in settings:
        command += ["--set", setting]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    files = {}
    for document in re.split(r"^---\n", text, flags=re.MULTILINE):
        source = re.match(r"# Source: synergy/templates/(\S+)\n", document)
        if not source:
            continue
        body = NOT_HELMS.sub("", document[source.end():])
        # A file's leading comment is before its first object, and Helm may sort that object behind
        # others.
        files.setdefault(source[1], []).append(body.strip() + "\n")
    return {name: HEADER + "---\n".join(bodies) for name, bodies in sorted(files.items())}


def only_component(component, files):
    """Returns the files with only the objects of one component; leaves out files without any."""
    label = re.compile(rf"^ +app\.kubernetes\.io/component: {component}\n", re.MULTILINE)
    kept = {}
    for name, text in files.items():
        objects = [body for body in text.removeprefix(HEADER).split("---\n") if label.search(body)]
        if objects:
            kept[name] = HEADER + "---\n".join(objects)
    return kept


def kustomization(folder, resources):
    """Returns the text of a folder's kustomization.yaml."""
    objects = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources}
    return HEADER + f"# kubectl apply -k {folder}\n" + yaml.safe_dump(objects, sort_keys=False)


def render(helm, kubernetes):
    """Returns file name in manifests/ -> its text."""
    files = render_templates(helm, kubernetes, SETTINGS)
    namespace = yaml.safe_load((ROOT / "examples/namespace.yaml").read_text(encoding="utf-8"))
    files["namespace.yaml"] = HEADER + yaml.safe_dump(namespace, sort_keys=False)
    # Kinds come before objects of these kinds.
    resources = sorted(files, key=lambda name: (not name.startswith("crds/"), name))
    files["kustomization.yaml"] = kustomization("manifests", resources)
    configs = next(document
                   for document in yaml.safe_load_all(files["scheduler.yaml"]) if document["kind"] == "ConfigMap")
    files["scheduler-config.yaml"] = HEADER + configs["data"]["scheduler.yaml"]
    plugin = only_component(PLUGIN, render_templates(helm, kubernetes, [*SETTINGS, "devicePlugin.enabled=true"]))
    plugin["kustomization.yaml"] = kustomization(f"manifests/{PLUGIN}", sorted(plugin))
    files |= {f"{PLUGIN}/{name}": text for name, text in plugin.items()}
    return {f"manifests/{name}": text for name, text in files.items()}


def rows(lines, tree, path=()):
    """Returns the described values: (path, default, description). A description belongs to the
    value itself or to a map that contains it."""
    for key, value in tree.items():
        here = (*path, key)
        description = describe(lines, here)
        if description:
            yield ".".join(here), json.dumps(value), description
        elif isinstance(value, dict) and value:
            yield from rows(lines, value, here)
        else:
            raise SystemExit(f"values.yaml: no comment describes {'.'.join(here)}")


def describe(lines, path):
    """Returns the comment right above a key."""
    at = 0
    for depth, key in enumerate(path):
        while not lines[at].startswith(f"{'  ' * depth}{key}:"):
            at += 1
        at += 1
    words = []
    for line in reversed(lines[:at - 1]):
        if not line.strip().startswith("# "):
            break
        words.insert(0, line.strip().removeprefix("# "))
    return " ".join(words)


def readme():
    text = (CHART / "values.yaml").read_text(encoding="utf-8")
    table = ["| value | default | |\n", "| --- | --- | --- |\n"]
    for path, default, description in rows(text.splitlines(), yaml.safe_load(text)):
        table.append(f"| `{path}` | `{default}` | {description.replace('|', chr(92) + '|')} |\n")
    old = (CHART / "README.md").read_text(encoding="utf-8")
    return {"charts/synergy/README.md": TABLE.sub(lambda found: found[1] + "".join(table) + found[2], old)}


def main():
    files = {**render(*sys.argv[1:3]), **readme()}
    stale = [name for name, text in files.items()
             if not (ROOT / name).exists() or (ROOT / name).read_text(encoding="utf-8") != text]
    # If a template is deleted, its manifest must be deleted, too.
    extra = [file for folder in ("manifests", "manifests/crds", f"manifests/{PLUGIN}")
             for file in (ROOT / folder).glob("*.yaml")
             if str(file.relative_to(ROOT)) not in files]
    if sys.argv[3:] == ["--check"]:
        for name in [*stale, *(str(file.relative_to(ROOT)) for file in extra)]:
            print(f"{name}: differs from what scripts/chart.sh would write", file=sys.stderr)
        sys.exit(1 if stale or extra else 0)
    for file in extra:
        file.unlink()
    for name in stale:
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(files[name], encoding="utf-8")
        print(f"wrote {name}", file=sys.stderr)


if __name__ == "__main__":
    main()
