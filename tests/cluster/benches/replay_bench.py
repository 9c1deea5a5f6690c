"""Compares the simulator with a real control plane: the same jobs on simulated nodes and in
`synergy simulate`, from the same cluster. scripts/bench.sh replay builds what it needs.

  replay_bench.py [--part decisions|queues|one-by-one|free|turns|all] [--pods N] [--runs N] [--jobs N]
                  [--compression N] [--jobs-in-turns N] [--round N] [--least N]
                  [--nodes N] [--seed N] [--instance N] [--state DIR] [--json FILE]

The exit status is 1 if they differ: in a decision that is made again from the programs' recordings,
those of a queue of Kueue included; for pods one by one, in the node, the CPU or the memory of a
pod; for free runs, if the simulated mean is not within 2 % of the mean of the real runs, or outside
of their range; for turns in a queue of Kueue, if it is not within 3 %. It is also 1 if a second
without changes takes 250 bytes of the queues' recording.
"""

import argparse
import contextlib
import json
import pathlib
import statistics
import sys

import queue_run
import queues
import replay
import rounds_chaos
from cluster import Extender, own_cluster, wait_for

CLOSE = 0.02
CLOSE_IN_TURNS = 0.03
DECISIONS_COMPRESSION = 2400
QUIET_BYTES = 250  # docs/internals/replay.md
QUIET_PLANS = 30  # one a second


@contextlib.contextmanager
def running_extender(cluster, recording=None):
    extender = Extender(cluster, recording)
    extender.start()
    try:
        yield
    finally:
        extender.end()
        extender.log.close()


def decisions(cluster, folder, options):
    """Creates jobs at high compression, so that many decisions are made, while both programs
    record."""
    recordings = [folder / f"{program}.recording" for program in ("extender", "controller")]
    jobs = replay.recorded_jobs(options.jobs, DECISIONS_COMPRESSION)
    with running_extender(cluster, recordings[0]), replay.prepared(cluster, options.nodes, recordFile=recordings[1]):
        replay.FreeRun(cluster, jobs, replay.fair_share(cluster)).run()
    return {"jobs": len(jobs)} | made_again(f"decisions made again, {len(jobs)} jobs", recordings)


def made_again(what, recordings):
    reports = replay.made_again(*recordings)
    differences = [each for report in reports for each in report["differences"]]
    counts = {kind: count for report in reports for kind, count in report["counts"].items() if kind != "Change"}
    same = sum(count["same"] for count in counts.values())
    made = same + sum(count["different"] for count in counts.values())
    print(f"{what}: {same} of {made} the same ({counts})")
    return {"counts": counts, "differences": differences, "met": not differences and made > 0}


def queue_lines(recording):
    """Returns the lines of the queue planner's steps."""
    return [line for line in recording.read_text(encoding="utf-8").splitlines() if line.startswith('{"queues":')]


def is_plan(line):
    return line.startswith('{"queues":"Planned"')


def recorded_queues(cluster, folder, options):
    """Lets jobs take turns in a Kueue queue, under a policy, while the controller records and is
    killed twice. Then nothing changes for a while: first with jobs that run and wait, then with an
    empty queue."""
    recording = folder / "queues.recording"
    course = rounds_chaos.options_of((
        "--jobs 20 --gpus 4 --work 5 14 --seconds 34 --kill-every 16 --round 4 --least 3 "
        f"--seed {options.seed}").split())
    cluster.create(queues.FLAVOR, *queues.of_turns("chaos", course.gpus))
    quiet = {}

    def after_plans(count):
        """Waits until `count` more plans are recorded. Returns the lines written meanwhile."""
        before = len(queue_lines(recording))

        def lines():
            more = queue_lines(recording)[before:]
            return more if sum(map(is_plan, more)) >= count else None
        return wait_for(f"{count} plans", lines, 10 * count)

    def measure(what):
        after_plans(10)  # until Kueue has made its last writes
        lines = after_plans(QUIET_PLANS)
        plans = sum(map(is_plan, lines))
        quiet[what] = sum(len(line) + 1 for line in lines) / plans
        print(f"a second with {what}: {quiet[what]:.0f} bytes, of {plans}")

    with running_extender(cluster), cluster.controller(recordFile=recording):
        result = rounds_chaos.run(cluster, course)
        cluster.delete("jobs")
        wait_for("the queue to be empty", lambda: not cluster.get("workloads")["items"])
        measure("an empty queue")
        # No new round begins during the measurement.
        cluster.patch("roundpolicy", "chaos", {"spec": {"roundSeconds": queues.FOR_EVER}})
        cluster.create(*(rounds_chaos.job(f"quiet-{number}", 2) for number in range(4)))
        wait_for("half of the jobs to run", lambda: 2 == sum(
            pod["status"].get("phase") == "Running" for pod in cluster.pods().values()))
        measure("jobs that run and wait")
    report = made_again(f"plans made again, {result['jobs']} jobs, {result['kills']} kills", [recording])
    met = report["met"] and not result["violations"] and max(quiet.values()) < QUIET_BYTES
    return report | {"course": result, "quiet_bytes": quiet, "met": met}


def one_by_one(cluster, folder, options):
    with running_extender(cluster), replay.prepared(cluster, options.nodes):
        compared = replay.OneByOne(cluster, folder, options.pods, options.seed).run()
    differences = [replay.difference_text(*each) for each in compared if each[2] != each[3]]
    for text in differences:
        print(text)
    bound = [each for each in compared if each[0] == "at bind"]
    same = len(bound) - sum(real != simulated for _, _, real, simulated in bound)
    print(f"one by one, {options.pods} pods on {options.nodes} nodes: at bind {same} of {len(bound)} the same, "
          f"in all {len(compared) - len(differences)} of {len(compared)} looks at a pod")
    return {"pods": options.pods, "bound": len(bound), "same_at_bind": same, "compared": len(compared),
            "differences": differences, "met": not differences}


def free(cluster, folder, options):
    jobs = replay.recorded_jobs(options.jobs, options.compression)
    runs = []
    with running_extender(cluster), replay.prepared(cluster, options.nodes):
        replay.save_cluster(cluster, folder / "cluster.json")
        share = replay.fair_share(cluster)
        for number in range(options.runs):
            run = replay.FreeRun(cluster, jobs, share)
            run.run()
            runs.append(run)
            print(f"run {number + 1}: mean completion time {statistics.mean(run.completion_times()):.3f} s; "
                  "a deletion took "
                  f"{statistics.mean(run.deletions):.3f} s", flush=True)
    means = [statistics.mean(run.completion_times()) for run in runs]
    latencies = replay.measured_latencies(runs)
    simulated = statistics.mean(replay.simulated_completion_times(cluster, folder, jobs, latencies))
    mean = statistics.mean(means)
    ratio = simulated / mean
    met = abs(ratio - 1) <= CLOSE and min(means) <= simulated <= max(means)
    print(f"free, {len(jobs)} jobs, 1 h = {3600 / options.compression:g} s, {replay.latency_text(latencies)}: "
          f"{mean:.3f} s in "
          f"{len(means)} runs ({min(means):.3f} to {max(means):.3f}), {simulated:.3f} s by the simulator: "
          f"{ratio:.4f} times, "
          f"{'met' if met else 'MISSED'}")
    return {"jobs": len(jobs), "compression": options.compression, "latencies": latencies, "runs": means, "mean": mean,
            "range": [min(means), max(means)], "simulated": simulated, "ratio": ratio, "met": met,
            "courses": [run.course() for run in runs]}


def turns(cluster, folder, options):
    """Lets jobs take turns, under each of these policies, in a Kueue queue whose quota is all
    GPUs."""
    jobs = replay.recorded_jobs(options.jobs_in_turns, options.compression)
    nodes = replay.simulated_nodes(cluster)[:options.nodes]
    gpus = sum(int(node["status"]["allocatable"][queues.GPU]) for node in nodes)
    cluster.create(queues.FLAVOR, *queues.of_turns("turns", gpus))
    results = {}
    with running_extender(cluster), queue_run.agents_of(
            cluster, [node["metadata"]["name"] for node in nodes]) as agents, replay.prepared(
                cluster, options.nodes, progress=next(iter(agents.values())).settings(),
                profiling="{enabled: false}"):
        replay.save_cluster(cluster, folder / "cluster.json")
        share = replay.fair_share(cluster)
        for policy in ("las", "srtf"):
            rules = (policy, options.round, options.least, jobs)
            runs = []
            for number in range(options.runs):
                runs.append(queue_run.run(cluster, "turns", *rules, share, agents))
                print(f"{policy}, run {number + 1}: mean completion time {runs[-1].mean():.3f} s, "
                      f"{runs[-1].starts} starts", flush=True)
            means = [run.mean() for run in runs]
            simulated = queue_run.simulated_mean(cluster, folder, *rules, runs)
            ratio = simulated / statistics.mean(means)
            met = abs(ratio - 1) <= CLOSE_IN_TURNS
            print(f"turns under {policy}, {len(jobs)} jobs on {gpus} GPUs: {statistics.mean(means):.3f} s in "
                  f"{len(means)} runs ({min(means):.3f} to {max(means):.3f}), {simulated:.3f} s by the simulator: "
                  f"{ratio:.4f} times, "
                  f"{'met' if met else 'MISSED'}")
            results[policy] = {"runs": means, "simulated": simulated, "ratio": ratio, "met": met}
    return {"jobs": len(jobs), "gpus": gpus, "policies": results, "met": all(each["met"] for each in results.values())}


PARTS = {"decisions": decisions, "one-by-one": one_by_one, "free": free}
WITH_KUEUE = {"queues": recorded_queues, "turns": turns}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=(*PARTS, *WITH_KUEUE, "all"), default="all")
    parser.add_argument("--pods", type=int, default=30, help="pods that are created one by one")
    parser.add_argument("--runs", type=int, default=5, help="free runs")
    parser.add_argument("--jobs", type=int, default=100, help="jobs of a free run")
    parser.add_argument("--compression", type=float, default=240,
                        help="how many times faster than the trace a free run is")
    parser.add_argument("--jobs-in-turns", type=int, default=60)
    parser.add_argument("--round", type=int, default=10, help="length of a round in seconds, for turns")
    parser.add_argument("--least", type=int, default=5, help="shortest turn in seconds")
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--instance", type=int, default=4,
                        help="number from which the cluster's ports and addresses follow")
    parser.add_argument("--state", type=pathlib.Path, required=True, help="folder of the test cluster")
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    results = {}
    for folder, parts, more in ((options.state, PARTS, ()), (options.state / "queues", WITH_KUEUE, ("--kueue",))):
        asked = {name: part for name, part in parts.items() if options.part in (name, "all")}
        if not asked:
            continue
        with own_cluster(folder, options.instance, "--real-nodes", "0", "--simulated-nodes", str(options.nodes),
                         "--controller", str(options.programs), *more) as cluster:
            for name, part in asked.items():
                results[name] = part(cluster, folder, options)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    return 0 if all(result["met"] for result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
