"""Races two gangs of eight for the eight GPUs of one node. Their pods are created interleaved, with
single pods between them, and members are lost.

Exactly one gang runs whole, pods of both are never bound at the same time, no pod waits for ever,
and no place stays reserved.
"""

import random
import time

from cluster import pod, wait_for

SIZE = 8  # members, one for each GPU of a node


def on(node):
    return {"nodeSelector": {"kubernetes.io/hostname": node}}


def gang(name, size=SIZE, gpus=1, members=None, **spec):
    """Returns the pods of a gang, or its first `members`."""
    pods = []
    for number in range(size if members is None else members):
        member = pod(f"{name}-{number}", gpus, "1", "10G", **spec)
        member["metadata"]["labels"] = {"synergy.io/gang": name, "synergy.io/gang-size": str(size)}
        pods.append(member)
    return pods


class GangRace:
    """`node`: the node that the gangs compete for; `other`: a node on which single pods run."""

    def __init__(self, cluster, extender, node, other, seed):
        self.cluster, self.extender, self.node, self.other = cluster, extender, node, other
        self.chance = random.Random(seed)
        self.looks = self.lost = 0
        self.seconds = []  # for each round, the seconds until both gangs had run

    def held(self):
        return self.extender.metric("synergy_extender_held_gangs") + self.extender.metric(
            "synergy_extender_vacant_places")

    def runs(self, *names):
        """Returns how many members of each gang are bound."""
        bound = self.cluster.bound()
        return [sum(pod_name.startswith(name + "-") for pod_name in bound) for name in names]

    def delete(self, *pods):
        self.cluster.delete("pod", *pods)

    def delete_gang(self, name):
        self.delete(*[pod_name for pod_name in self.cluster.pods() if pod_name.startswith(name + "-")])

    def one_alone(self, names):
        """Waits until one of the gangs runs whole. At no moment may parts of both run."""
        def whole():
            counts = self.runs(*names)
            self.looks += 1
            if sum(count > 0 for count in counts) > 1:
                raise AssertionError(f"{names}: {counts} are bound")
            return next((name for name, count in zip(names, counts) if count == SIZE), None)
        return wait_for(f"one of {names} to run whole", whole)

    def lose_one(self, gangs):
        """Deletes a member of one of the gangs, in whatever state it is, and creates another."""
        time.sleep(self.chance.uniform(0, 1))
        member = self.chance.choice(self.chance.choice(gangs))
        name = member["metadata"]["name"]
        self.delete(name)
        time.sleep(self.chance.uniform(0, 0.5))
        # kwok deletes a pod again after it is gone, without a UID, and could so delete a new pod of
        # the same name.
        self.cluster.create({**member, "metadata": {**member["metadata"], "name": f"{name}-again"}})
        self.lost += 1

    def run(self, number, loses):
        names = [f"a{number}", f"b{number}"]
        gangs = [gang(name, **on(self.node)) for name in names]
        # Some single pods also want the node; pods of another node are not affected.
        greedy = sorted(self.chance.sample(range(SIZE), self.chance.randrange(3)))
        between = [pod(f"single{number}-{i}", 1, "1", "10G", **on(self.node if i in greedy else self.other))
                   for i in range(SIZE)]
        pods = [each for three in zip(gangs[0], between, gangs[1]) for each in three]
        since = time.monotonic()
        self.cluster.create(*pods)
        if loses:
            self.lose_one(gangs)
        apart = [f"single{number}-{i}" for i in range(SIZE) if i not in greedy]
        wait_for("singles to run beside them", lambda: set(apart) <= set(self.cluster.bound()))
        if greedy:
            self.delete(*[f"single{number}-{i}" for i in greedy])
        first = self.one_alone(names)
        second = names[names[0] == first]
        if self.runs(second) != [0]:
            raise AssertionError(f"pods of {second} are bound beside {first}")
        self.delete_gang(first)
        self.one_alone([second])
        self.seconds.append(time.monotonic() - since)
        wait_for("nothing to be held", lambda: self.held() == 0)
        self.cluster.clear()
