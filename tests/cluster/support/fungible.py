"""Pods whose CPU and memory Synergy changes, on one simulated node, for tests with the
controller."""

from cluster import GPU, ClusterTest, wait_for

NODE = "v100-1"  # 8 GPUs, 24 cores: the fair share is 3 cores for each GPU
ALLOCATABLE = 24


def profile(name, *points):
    return {
        "apiVersion": "synergy.io/v1alpha1",
        "kind": "TrainingProfile",
        "metadata": {"name": name},
        # Processes use hardly any of the pod's memory.
        "spec": {"processMemory": "1Mi",
                 "points": [{"cpu": cpu, "memory": "4Gi", "throughput": speed} for cpu, speed in points]},
    }


SENSITIVE = profile("sensitive", (1, 1), (3, 3), (9, 9))
INSENSITIVE = profile("insensitive", (1, 5), (9, 5))


def pod(name, profile_name, annotations=None, **spec):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"synergy.io/profile": profile_name}, "annotations": annotations or {}},
        "spec": {
            "nodeSelector": {"kubernetes.io/hostname": NODE},
            "tolerations": [{"operator": "Exists"}],
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "train", "image": "synergy.test/busybox:1",
                            "resources": {"limits": {GPU: "1"}}}],
            **spec,
        },
    }


class FungibleTest(ClusterTest):
    """A test with the shared cluster, an extender, the controller, and the two profiles."""

    controller = {}  # sections of the controller's configuration

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.enterClassContext(cls.cluster.controller(**cls.controller))
        cls.cluster.create(SENSITIVE, INSENSITIVE)
        cls.addClassCleanup(cls.cluster.delete, "trainingprofiles")
        for name in ("sensitive", "insensitive"):
            wait_for(f"profile {name} to be judged",
                     lambda name=name: cls.cluster.get("trainingprofile", name).get("status", {}).get("demand"))
