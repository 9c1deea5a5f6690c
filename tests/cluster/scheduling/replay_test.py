"""Compares the simulator with a real control plane. This is the short form of scripts/bench.sh
replay."""

import pathlib
import tempfile
import unittest

import failures
import replay
import tiers
from cluster import ClusterTest


class ReplayTest(ClusterTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def prepare(self, nodes):
        self.enterContext(replay.prepared(self.cluster, nodes))

    def test_pods_one_by_one_are_placed_as_simulated(self):
        self.prepare(2)
        count = 20 if tiers.IS_LONG else 8
        compared = replay.OneByOne(self.cluster, self.folder, count, seed=5).run()
        differences = [replay.difference_text(*each) for each in compared if each[2] != each[3]]
        print(f"{len(compared) - len(differences)} of {len(compared)} are the same")
        self.assertGreaterEqual(len(compared), count)
        self.assertEqual([], differences)

    def test_all_jobs_of_a_free_run_finish_in_both(self):
        self.prepare(1)
        jobs = replay.recorded_jobs(20, compression=2400)
        replay.save_cluster(self.cluster, self.folder / "cluster.json")
        run = replay.FreeRun(self.cluster, jobs, replay.fair_share(self.cluster))
        run.run()
        real = run.completion_times()
        latencies = replay.measured_latencies([run])
        simulated = replay.simulated_completion_times(self.cluster, self.folder, jobs, latencies)
        self.assertEqual((len(real), len(simulated)), (20, 20))
        print(f"mean completion time: {sum(real) / 20:.2f} s, by the simulator {sum(simulated) / 20:.2f} s "
              f"({sum(simulated) / sum(real):.3f} of it), {replay.latency_text(latencies)}")


if __name__ == "__main__":
    failures.main()
