#include "sim/cluster/job_pods.h"

#include <chrono>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "support/managed_pods.h"

namespace synergy::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr WallTime kAt{hours(1000)};

// Returns the reading of the pod's memory from kAt on.
std::optional<MemoryReading> ReadingOf(const std::string& node,
                                       std::optional<MemoryReading> reading) {
  Pod pod = ManagedPod("p", node, 3);
  ManagedContainer fungible = *pod.fungible;
  fungible.memory_reading = reading;
  pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
  return GoingOn(std::move(pod), kAt).fungible->memory_reading;
}

TEST(GoingOnTest, MemoryReadingOfAPlacedPodStaysFresh) {
  const auto memory = ReadingOf("n1", MemoryReading{GiB(3), true, kAt - minutes(9)});
  EXPECT_EQ(memory, (MemoryReading{GiB(3), true, WallTime::max()}));
}

TEST(GoingOnTest, AnAgentThatWasSilentStaysSo) {
  const MemoryReading stale{GiB(3), false, kAt - minutes(11)};
  EXPECT_EQ(ReadingOf("n1", stale), stale);
  EXPECT_EQ(ReadingOf("n1", std::nullopt), std::nullopt);
}

TEST(GoingOnTest, WaitingPodHasAnEmptyMemoryReading) {
  EXPECT_EQ(ReadingOf("", std::nullopt), (MemoryReading{Bytes(0), false, WallTime::max()}));
}

TEST(GoingOnTest, UnmanagedPodsHaveNoReading) {
  EXPECT_FALSE(GoingOn(MakePod("p", OneGpu(3)), kAt).fungible);
}

}  // namespace
}  // namespace synergy::testing
