#include "allocation/re_division.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Choices = std::vector<DivisionChoice>;

Division DivideAmong(const std::vector<Choices>& jobs, MilliCpu cpu, Bytes memory,
                     size_t max_partial = 20'000) {
  const std::vector<std::span<const DivisionChoice>> spans(jobs.begin(), jobs.end());
  return Divide(spans, cpu, memory, max_partial);
}

TEST(DivideTest, GivesTheSurplusToTheJobsThatGainMost) {
  const Choices insensitive = {{Cores(1), GB(20), 1}};
  const Choices sensitive = {{Cores(3), GB(20), 1}, {Cores(5), GB(20), 1.5}};
  const Choices very_sensitive = {{Cores(3), GB(20), 1}, {Cores(5), GB(20), 2}};
  const Division division =
      DivideAmong({sensitive, insensitive, very_sensitive}, Cores(9), GB(100));
  EXPECT_THAT(division.chosen, ElementsAre(0, 0, 1));
  EXPECT_THAT(division.value, DoubleEq(4));
  EXPECT_THAT(division.bound, DoubleEq(4));
}

TEST(DivideTest, MemoryBindsAsCpuDoes) {
  const Choices hungry = {{Cores(1), GB(60), 1}, {Cores(1), GB(120), 2}};
  const Division division = DivideAmong({hungry, hungry}, Cores(24), GB(180));
  EXPECT_THAT(division.value, DoubleEq(3));
}

TEST(DivideTest, TheBestIsFoundWhereTakingTheSteepestStepFirstMissesIt) {
  // One core is lacking for both steep steps of the first; the other two together gain more.
  const Choices steep = {{Cores(1), GB(1), 1}, {Cores(6), GB(1), 2.6}};
  const Choices shallow = {{Cores(1), GB(1), 1}, {Cores(4), GB(1), 1.9}};
  const Division division = DivideAmong({steep, shallow, shallow}, Cores(9), GB(10));
  EXPECT_THAT(division.chosen, ElementsAre(0, 1, 1));
}

TEST(DivideTest, NothingIsChosenWhereNotEvenTheModestFit) {
  const Choices job = {{Cores(3), GB(1), 1}};
  EXPECT_THAT(DivideAmong({job, job}, Cores(5), GB(10)).chosen, IsEmpty());
}

TEST(DivideTest, BoundsTheShortfallOfASearchCutShort) {
  std::vector<Choices> jobs;
  for (int job = 0; job < 6; ++job) {
    Choices choices;
    for (int cores = 1; cores <= 12; ++cores) {
      choices.push_back({Cores(cores), GB(2 * cores), 1 + 0.11 * cores * (1 + 0.1 * job)});
      choices.push_back({Cores(cores), GB(3 * cores), 1 + 0.12 * cores * (1 + 0.09 * job)});
    }
    jobs.push_back(choices);
  }
  const Division best = DivideAmong(jobs, MilliCpu(24'500), GB(61));
  const Division short_cut = DivideAmong(jobs, MilliCpu(24'500), GB(61), 2);
  EXPECT_THAT(best.bound, DoubleEq(best.value));
  EXPECT_LE(short_cut.value, best.value + 1e-9);
  EXPECT_GE(short_cut.bound, best.value - 1e-9);
}

}  // namespace
}  // namespace synergy
