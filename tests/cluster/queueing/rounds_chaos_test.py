"""Tests rounds while the controller is killed. This is the short form of scripts/bench.sh
rounds-chaos."""

import json

import failures
import queues
import rounds_chaos

GPUS = 4


class RoundsChaosTest(queues.QueueTest):
    objects = (queues.FLAVOR, *queues.of_turns("chaos", GPUS))

    def test_all_finish_within_the_quota_and_what_they_had_is_not_forgotten(self):
        options = rounds_chaos.options_of(
            f"--jobs 10 --gpus {GPUS} --work 5 14 --seconds 34 --kill-every 16 --round 4 --least 3".split())
        self.made = [("RoundPolicy", "chaos"), *(("Job", f"job-{number:03}") for number in range(options.jobs))]
        result = rounds_chaos.run(self.cluster, options)
        print(json.dumps(result), flush=True)
        self.assertEqual(result["violations"], [])
        self.assertEqual((result["finished"], result["kills"]), (options.jobs, 2))


if __name__ == "__main__":
    failures.main()
