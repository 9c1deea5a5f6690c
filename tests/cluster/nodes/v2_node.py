"""A v2 node of the test cluster: its control groups under systemd's names, and the shipped
DaemonSets on it."""

import base64
import contextlib
import json
import math
import os
import pathlib
import re
import subprocess
import tempfile

import helm
import tiers
import trainers
from cluster import GPU, ROOT, Cluster, own_cluster, wait_for

INSTANCE = int(os.environ.get("SYNERGY_TEST_INSTANCE", "2"))
NODE = "v2-1"
LABEL = {"synergy.test/node": "v2"}
GPUS = 2
# The resource that the agent counts as GPUs; more pods have it than there are GPUs.
AGENTS_GPU = "nvidia.com/agents-gpu"
PATIENCE = 480  # in seconds, on a slow machine
# The DaemonSets' components -> programs. The tests of the gate need no GPUs.
DAEMONS = {"node-agent": "synergy-node-agent"} | ({"device-plugin": "synergy-device-plugin"} if tiers.IS_LONG else {})
INVENTORY = "driverVersion: '550.54'\nsharedDeviceNodes: [/dev/nvidiactl]\ngpus:\n" + "".join(
    f"- {{uuid: GPU-{number}, product: NVIDIA A100-SXM4-80GB, memory: 80Gi, deviceNodes: [/dev/nvidia{number}]}}\n"
    for number in range(GPUS))
# The device files of NVIDIA's driver, without the driver: opening one fails with ENXIO if access is
# allowed, and with EPERM otherwise. Each boot creates them again.
DEVICE_FILES = "".join(f"c /dev/nvidia{name} 0666 root root - 195:{minor}\n"
                       for name, minor in [*((n, n) for n in range(GPUS)), ("ctl", 255)])


@contextlib.contextmanager
def v2_cluster():
    """Yields a cluster with one v2 node, those DaemonSets and a stopped synergy-controller, for all
    tests of v2 nodes."""
    folder = pathlib.Path(os.environ["SYNERGY_TEST_STATE"]) / "v2-node"
    with own_cluster(folder, INSTANCE, "--real-nodes", "0", "--v2-nodes", "1",
                     "--controller", os.environ["SYNERGY_BIN"]) as cluster:
        # Tests that need the controller start it.
        cluster.script("stop", "synergy-controller")
        if tiers.IS_LONG:
            trainers.load_image(cluster)
        install_daemons(cluster)
        os.environ["SYNERGY_TEST_STATE"] = str(folder)
        yield


def on_node(cluster: Cluster, command):
    """Returns the output of a shell command on the node, as root."""
    return cluster.script("exec", NODE, command)


def slice_weight(milli_cpu):
    """Returns the cpu.weight of a pod's slice. The kubelet derives it from CPU requests: shares
    from 2 to 262144 become 1 to 10000, linearly."""
    return 1 + (milli_cpu * 1024 // 1000 - 2) * 9999 // 262142


def scope_weight(milli_cpu):
    """Returns the cpu.weight of a container's scope as runc since 1.3.2 derives it: 1024 shares
    become 100."""
    power = math.log2(milli_cpu * 1024 // 1000)
    return math.ceil(10 ** ((power * power + 125 * power) / 612 - 7 / 34))


def pod_group(found):
    """Returns the pod's control group, as a path below the root."""
    quality = found["status"]["qosClass"].lower()
    uid = found["metadata"]["uid"].replace("-", "_")
    if quality == "guaranteed":
        return f"kubepods.slice/kubepods-pod{uid}.slice"
    return f"kubepods.slice/kubepods-{quality}.slice/kubepods-{quality}-pod{uid}.slice"


def container_group(found):
    container = found["status"]["containerStatuses"][0]["containerID"].removeprefix("containerd://")
    return f"{pod_group(found)}/cri-containerd-{container}.scope"


def settings(cluster, group):
    """Returns file -> content for the settings below that group, without the kernel's counters."""
    names = "cpu.max cpu.weight memory.max memory.min memory.low memory.high pids.max"
    text = on_node(cluster, f"cd /sys/fs/cgroup/{group} && for name in {names}; do find . -name $name | sort | "
                   "xargs grep -H .; done")
    return dict(line.split(":", 1) for line in text.splitlines())


def conditions(found):
    return {c["type"]: c for c in found["status"].get("conditions", [])}


def is_ready(found):
    return conditions(found).get("Ready", {}).get("status") == "True"


def node_is_ready(cluster):
    return is_ready(cluster.get("node", NODE))


def install_daemons(cluster):
    """Creates the chart's DaemonSets with other images; returns when they are ready."""
    items = daemons()
    for program in DAEMONS.values():
        archive = cluster.folder / f"{program}.tar"
        image = next(c["image"] for item in items if item["kind"] == "DaemonSet"
                     for c in item["spec"]["template"]["spec"]["containers"]
                     if c["image"].startswith(image_of(program) + ":"))
        subprocess.run([str(ROOT / "tests/cluster/support/program_image.sh"),
                        str(pathlib.Path(os.environ["SYNERGY_BIN"]) / program), image, str(archive)], check=True)
        cluster.script("load-image", str(archive))
    cluster.kubectl("create", "namespace", helm.NAMESPACE, check=False)
    on_node(cluster, f"mkdir -p /etc/tmpfiles.d && printf '%s' '{DEVICE_FILES}' > /etc/tmpfiles.d/gpus.conf && "
            "systemd-tmpfiles --create /etc/tmpfiles.d/gpus.conf")
    cluster.kubectl("label", "node", NODE, "synergy.io/gpu-node=true", "--overwrite")
    cluster.kubectl("apply", "--validate=ignore", "-f", "-",
                    stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    wait_for("the DaemonSets' pods to be ready", lambda: daemons_are_ready(cluster), PATIENCE)


def make_certificate(secret):
    """Puts a self-signed certificate into the agent's Secret, because no controller fills it."""
    files = {"tls.crt": "-out", "tls.key": "-keyout"}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-noenc", "-days", "2", "-subj", "/CN=synergy-node-agent",
                        *(word for name, option in files.items() for word in (option, f"{folder}/{name}"))],
                       check=True, capture_output=True)
        data = {name: base64.b64encode(pathlib.Path(folder, name).read_bytes()).decode() for name in files}
    secret["data"] = {"ca.crt": data["tls.crt"], **data}


def image_of(program):
    return f"{helm.REGISTRY}/synergy/" + program.removeprefix("synergy-").replace("-", "")


def daemons(node_agent=None):
    """Returns the DaemonSets that the chart renders, with these values for the node agent; they
    need no others."""
    items = [item for item in helm.template({"devicePlugin": {"enabled": True, "inventory": INVENTORY},
                                             "nodeAgent": node_agent or {}})
             if item["metadata"].get("labels", {}).get("app.kubernetes.io/component") in DAEMONS]
    for item in items:
        if item["kind"] == "Secret":
            make_certificate(item)
        if item["kind"] == "ConfigMap" and "node-agent.yaml" in item["data"]:
            item["data"]["node-agent.yaml"] = item["data"]["node-agent.yaml"].replace(
                f"gpuResource: {GPU}", f"gpuResource: {AGENTS_GPU}")
        if item["kind"] == "DaemonSet":
            # On a busy host, an emulated machine may stand still for longer than any real one.
            item["spec"]["template"]["spec"]["containers"][0]["livenessProbe"]["failureThreshold"] = 100
    return items


def kill_agent(cluster, which):
    """Kills the "guardian" of the node agent, its "child", which does the work, or the whole "agent".
    The kubelet's probes also run the program, but not as children of the guardian."""
    name = "synergy-node-ag"  # the kernel truncates the process name to this
    guardian = f"$(pgrep --oldest {name})"
    on_node(cluster, "pkill --signal KILL " + {
        "guardian": f"--oldest {name}", "child": f"--parent {guardian} {name}", "agent": name}[which])


def daemon_pods(cluster):
    return {pod["metadata"]["labels"]["app.kubernetes.io/component"]: pod
            for pod in cluster.get("pods", namespace=helm.NAMESPACE)["items"]
            if "deletionTimestamp" not in pod["metadata"]}


def daemons_are_ready(cluster):
    pods = daemon_pods(cluster)
    return set(pods) == set(DAEMONS) and all(map(is_ready, pods.values()))


def allocatable_gpus(cluster):
    return int(cluster.get("node", NODE)["status"]["allocatable"].get(GPU, 0))


def install_agent(cluster, **values):
    """Replaces the node agent with one that has these values of the chart; returns when it is
    ready."""
    agent = [item for item in daemons(values) if item["kind"] in ("ConfigMap", "DaemonSet")
             and item["metadata"]["name"] == "synergy-node-agent"]
    cluster.kubectl("apply", "--validate=ignore", "-f", "-",
                    stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": agent}))
    cluster.kubectl("--namespace", helm.NAMESPACE, "rollout", "status", "daemonset/synergy-node-agent",
                    "--timeout=480s")


def metrics(cluster, component, port):
    return page(cluster, daemon_pods(cluster)[component], port)


def page(cluster, found, port):
    """Returns a pod's metrics. The request comes from the node, because only the node can reach
    pods' addresses."""
    address = found["status"]["podIP"]
    return on_node(cluster, f"bash -c \"exec 3<>/dev/tcp/{address}/{port} && printf 'GET /metrics "
                   "HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3\"")


def registrations(cluster):
    """Returns how often the device plugin has registered with the kubelet."""
    return sum(float(count) for count in re.findall(
        r'^synergy_device_plugin_registrations_total\{[^}]*outcome="ok"[^}]*\} (\S+)',
        metrics(cluster, "device-plugin", 9410), re.M))


def agent_metric(cluster, line):
    """Returns the value of the node agent's metric with this name and these labels."""
    return float(re.search(rf"^{re.escape(line)} (\S+)", metrics(cluster, "node-agent", 9411), re.M).group(1))


def probes(cluster, outcome):
    """Returns how many probes have ended with this outcome since the node agent started."""
    return agent_metric(cluster, f'synergy_node_agent_probes_total{{outcome="{outcome}"}}')


def agent_log(cluster, *options):
    name = daemon_pods(cluster)["node-agent"]["metadata"]["name"]
    return cluster.kubectl("--namespace", helm.NAMESPACE, "logs", name, *options)


def agent_restarts(cluster):
    return daemon_pods(cluster)["node-agent"]["status"]["containerStatuses"][0]["restartCount"]
