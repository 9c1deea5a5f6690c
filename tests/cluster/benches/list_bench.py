"""Measures what listing all pods costs as JSON, as protobuf and compressed: bytes, and CPU time of
the API server and of the client. scripts/bench.sh lists runs it.

  list_bench.py [--pods N] [--rounds N] [--nodes N] [--instance N] [--json FILE]

The pods are bound to simulated nodes and run. The client lists them as the programs do: 500 at a
time, over one TLS connection, over the loopback device. A network adds the bytes divided by its
speed.
"""

import argparse
import concurrent.futures
import http.client
import json
import os
import pathlib
import statistics
import tempfile
import threading
import time
import urllib.parse
import zlib

from api import Api
from cluster import own_cluster, wait_for

PATH = "/api/v1/pods?limit=500&fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"
JSON, PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"
WAYS = {
    "JSON": (JSON, "identity"), "JSON, gzip": (JSON, "gzip"), "protobuf": (PROTOBUF, "identity"),
    "protobuf, gzip": (PROTOBUF, "gzip"),
}
GZIP_HEADER = 16 + zlib.MAX_WBITS


def pod(number, node):
    """Returns a pod with the fields of a training pod."""
    resources = {"cpu": "3", "memory": "60G"}
    name = f"train-{number:06}"
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {"app.kubernetes.io/name": "training", "batch.kubernetes.io/job-name": name, "job-name": name,
                       "team": f"team-{number % 20}"},
            "annotations": {"example.com/experiment": "baseline", "synergy.io/demand": '{"cpu":"9","memory":"62500M"}'},
        },
        "spec": {
            "nodeName": node, "schedulerName": "synergy-scheduler", "restartPolicy": "Never",
            "containers": [{
                "name": "trainer", "image": f"registry.example.com/team-{number % 20}/training-image:2026.01",
                "command": ["python", "-m", "train", "--epochs=90", "--data=/data/imagenet"],
                "env": [{"name": "OMP_NUM_THREADS", "value": "3"}, {"name": "NCCL_DEBUG", "value": "WARN"}],
                "resources": {"requests": resources, "limits": {"memory": "60G"}},
                "volumeMounts": [{"name": "data", "mountPath": "/data"}],
            }],
            "volumes": [{"name": "data", "emptyDir": {}}],
        },
    }


def create(cluster, options, names):
    local = threading.local()

    def create_one(number):
        if not hasattr(local, "api"):
            local.api = Api(cluster)
        local.api.create_pod(pod(number, names[number % len(names)]))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in pool.map(create_one, range(options.pods)):
            pass


def token_of(body, accept):
    """Returns the continue token for the next page. In protobuf it follows the resourceVersion in
    the list's metadata."""
    if accept == JSON:
        return json.loads(body)["metadata"].get("continue", "")
    # The body is "k8s\0" and a runtime.Unknown, whose `raw` is the list. The first field of the
    # list is its metadata.
    at = 4
    fields = dict(protobuf_fields(body[at:]))
    metadata = dict(protobuf_fields(dict(protobuf_fields(fields[2]))[1]))
    return metadata.get(3, b"").decode()


def protobuf_fields(data):
    """Returns, for each field number, the first field that has a length."""
    def number(at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return value, at

    at, seen = 0, set()
    while at < len(data):
        key, at = number(at)
        length, at = number(at)
        if key & 7 == 2:
            if key >> 3 not in seen:
                seen.add(key >> 3)
                yield key >> 3, data[at:at + length]
            at += length


def cpu_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def list_all(api, server, way):
    """Lists all pods once; returns the bytes received and the CPU times."""
    accept, encoding = WAYS[way]
    connection = http.client.HTTPSConnection(api.address, timeout=60, context=api.context)
    received = objects = seconds = client = inflating = 0
    token, before = "", cpu_of(server)
    while True:
        started, cpu = time.monotonic(), time.thread_time()
        connection.request("GET", PATH + "&continue=" + urllib.parse.quote(token),
                           headers={"Accept": accept, "Accept-Encoding": encoding})
        answer = connection.getresponse()
        body = answer.read()
        seconds, client = seconds + time.monotonic() - started, client + time.thread_time() - cpu
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {body[:300]}")
        received += len(body)
        if answer.getheader("Content-Encoding") == "gzip":
            cpu = time.thread_time()
            body = zlib.decompress(body, GZIP_HEADER)
            inflating += time.thread_time() - cpu
        objects += len(body)
        token = token_of(body, accept)
        if not token:
            connection.close()
            return {
                "received_mb": received / 1e6, "decoded_mb": objects / 1e6, "seconds": seconds,
                "server_cpu_s": cpu_of(server) - before, "receiving_cpu_s": client, "inflating_cpu_s": inflating,
            }


def measure(cluster, options):
    api = Api(cluster)
    names = [node["metadata"]["name"] for node in api.items("/api/v1/nodes")]
    print(f"{options.pods} pods on {len(names)} nodes are created", flush=True)
    create(cluster, options, names)
    # The server has closed the connection, which was idle for too long.
    api = Api(cluster)
    wait_for("the pods to run", lambda: api.call("GET", "/api/v1/pods?limit=1&fieldSelector=status.phase%21%3DRunning")[
        "items"] == [], 600)
    server = int((cluster.state / "pids/kube-apiserver").read_text(encoding="utf-8").split()[0])
    samples = {way: [] for way in WAYS}
    for number in range(-1, options.rounds):
        for way, list_of in samples.items():
            sample = list_all(api, server, way)
            if number >= 0:
                list_of.append(sample)
    return {way: {key: statistics.median(each[key] for each in many) for key in many[0]}
            for way, many in samples.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pods", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--instance", type=int, default=8)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="synergy-lists.") as folder:
        with own_cluster(pathlib.Path(folder), options.instance, "--real-nodes", "0",
                         "--simulated-nodes", str(options.nodes)) as cluster:
            result = measure(cluster, options)
    print(f"{'':16}" + "".join(f"{key:>18}" for key in result["JSON"]))
    for way, figures in result.items():
        print(f"{way:16}" + "".join(f"{value:18.2f}" for value in figures.values()))
    if options.json:
        options.json.write_text(json.dumps({"pods": options.pods, "ways": result}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
