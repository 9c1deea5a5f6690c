// Many threads use the same ClusterState. This is most useful under the thread sanitizer.

#include <atomic>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "unit/cluster/cluster_fixture.h"

namespace synergy::testing {
namespace {

constexpr int kThreads = 8;

class RaceTest : public ClusterStateFixture {
 protected:
  // Runs `work(thread)` in all threads at the same time, and returns when all are done.
  template <class Work>
  static void AtOnce(Work work) {
    std::latch start(kThreads);
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&start, &work, thread] {
        start.arrive_and_wait();
        work(thread);
      });
    }
  }
};

TEST_F(RaceTest, ExactlyOneOfManyPodsWinsTheLastGpu) {
  for (int round = 0; round < 50; ++round) {
    const std::string node = "n" + std::to_string(round);
    HaveNode(node);
    ASSERT_TRUE(Assume(MakeGpuPod("others " + node, 7), node));
    std::atomic<int> winners = 0;
    AtOnce([&](int thread) {
      if (Assume(MakeGpuPod("pod " + std::to_string(thread) + " " + node, 1), node)) ++winners;
    });
    ASSERT_EQ(winners, 1);
    ASSERT_EQ(GpusTakenOn(node), Gpus(8));
  }
}

TEST_F(RaceTest, OneGpuPassedAroundIsNeverHeldTwice) {
  state.UpsertNode(MakeNode("n1", {Gpus(1), Cores(24), GiB(500)}));
  std::atomic<int> holders = 0;
  std::atomic<int> grants = 0;
  std::atomic<bool> held_twice = false;
  AtOnce([&](int thread) {
    const Pod pod = MakeGpuPod("pod " + std::to_string(thread), 1);
    for (int i = 0; i < 300; ++i) {
      if (!Assume(pod, "n1")) continue;
      if (++holders != 1) held_twice = true;
      ++grants;
      --holders;
      state.Forget(pod.uid);
    }
  });
  EXPECT_FALSE(held_twice);
  EXPECT_GT(grants, 0);
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(0));
  EXPECT_EQ(state.known_pods(), 0U);
}

TEST_F(RaceTest, ReadersSeeWholeStatesWhileWritersWrite) {
  // Each pod takes as many cores as GPUs, so that a torn read is noticed.
  for (int i = 0; i < 4; ++i) HaveNode("n" + std::to_string(i));
  std::atomic<bool> torn = false;
  AtOnce([&](int thread) {
    const std::string node = "n" + std::to_string(thread % 4);
    for (int i = 0; i < 200; ++i) {
      const std::string name = std::to_string(thread) + "-" + std::to_string(i % 5);
      if (thread % 2 == 0) {
        state.UpsertPod(OnNode(MakeGpuPod(name, 1), node));
        if (i % 3 == 0) state.RemovePod(name);
        if (i % 50 == 0) state.UpsertNode(MakeNode(node, kServer));
        continue;
      }
      const auto snapshot = state.Snapshot();
      for (NodeIndex place = 0; place < snapshot->size(); ++place) {
        const NodeState& seen = snapshot->node(place);
        const int64_t gpus = seen.requested.gpus.count();
        if (Cores(gpus) != seen.requested.cpu || seen.pods != gpus ||
            seen.detail->pods.size() != static_cast<size_t>(gpus)) {
          torn = true;
        }
      }
    }
  });
  EXPECT_FALSE(torn);
}

}  // namespace
}  // namespace synergy::testing
