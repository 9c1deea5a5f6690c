"""Two ranks of one synchronous training on two real nodes, without a profile. They wait for each
other in every iteration, so one measurement holds for both."""

import pathlib
import time

import blind
import odd_trainers
import trainers
from cluster import wait_for
from real_nodes import log

NODES = ("node-1", "node-2")
PODS = [f"ranks-{rank}" for rank in range(len(NODES))]
ODD = odd_trainers.Odd("ranks of one training", "--cpu-per-iteration 10 --gpu-step 33 --lines 10", 30.3,
                       odd_trainers.preparing(0.01, 30.3), 0.01)


def pod(rank, node, folder):
    arguments = ["--workers", "1", *ODD.flags.split(), "--meet", "/meeting/ranks", "--rank", str(rank),
                 "--ranks", str(len(NODES))]
    labels = {"synergy.io/enforcement": "strict", "synergy.io/workload": "ranks", "synergy.io/gang": "ranks",
              "synergy.io/gang-size": str(len(NODES))}
    item = trainers.pod_with(PODS[rank], "ranks", arguments, labels, {})
    # The nodes are control groups of this machine, so both ranks can map the same file.
    item["spec"] |= {"nodeSelector": {"kubernetes.io/hostname": node},
                     "volumes": [{"name": "meeting", "hostPath": {"path": str(folder)}}]}
    item["spec"]["containers"][0]["volumeMounts"] = [{"name": "meeting", "mountPath": "/meeting"}]
    return item


def is_known(status):
    """Returns whether the training was also measured with the most CPU that both ranks can use."""
    return odd_trainers.is_concluded(ODD, status) and all(point["certainty"] != "guess" for point in status["points"])


def train(cluster, seconds, reference):
    """Watches the ranks until everything that they can get has been measured. Returns ({pod: its
    facts}, seconds below a floor)."""
    folder = pathlib.Path(cluster.folder) / "meeting"
    folder.mkdir(exist_ok=True)
    (folder / "ranks").unlink(missing_ok=True)
    cluster.create(*(pod(rank, node, folder) for rank, node in enumerate(NODES)))
    wait_for("both ranks to run",
             lambda: len(cluster.pods()) == len(NODES) and all(map(trainers.is_running, cluster.pods().values())))
    began, floors = time.time(), blind.Floors(cluster)
    while time.time() - began < seconds:
        floors.look()
        reference.look()
        if is_known(blind.measured(cluster).get("ranks")):
            break
        time.sleep(1)
    kinds = dict.fromkeys(PODS, ODD)
    facts, status = odd_trainers.facts_of(cluster, kinds), blind.measured(cluster).get("ranks")
    for own in facts.values():
        own["measured"] = status
    log(f"  known after {time.time() - began:.0f} s")
    odd_trainers.show(kinds, facts)
    return facts, floors.longest
