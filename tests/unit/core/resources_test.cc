#include "core/resources.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr int64_t kLargestInteger = std::numeric_limits<int64_t>::max();

ScalarResources Scalars(std::initializer_list<ScalarResources::Entry> entries) {
  ScalarResources scalars;
  for (const auto& [name, amount] : entries) scalars.Set(name, amount);
  return scalars;
}

TEST(ResourceVectorTest, AddsAndSubtractsPerDimension) {
  const ResourceVector sum =
      ResourceVector{Gpus(1), Cores(3), GiB(10)} + ResourceVector{Gpus(2), Cores(4), GiB(5)};
  EXPECT_EQ(sum, (ResourceVector{Gpus(3), Cores(7), GiB(15)}));
  EXPECT_EQ(sum - sum, ResourceVector{});
}

TEST(ResourceVectorTest, EveryMemberIsVisitedOnceInOrder) {
  const ResourceVector amount{Gpus(1), MilliCpu(2), Bytes(3)};
  std::vector<int64_t> all;
  ResourceVector::ForEach([&](auto member) { all.push_back((amount.*member).count()); });
  EXPECT_THAT(all, ElementsAre(1, 2, 3));
  size_t divided = 0;
  ResourceVector::ForEachDivided([&](auto) { ++divided; });
  EXPECT_EQ(divided, ResourceVector::kDivided);
}

TEST(ResourceVectorTest, MakeFillsEachDimensionButGpus) {
  const ResourceVector amount{Gpus(8), Cores(24), GiB(500)};
  EXPECT_EQ(
      ResourceVector::Make(Gpus(2), [&](auto member) { return (amount.*member).count() / 4; }),
      (ResourceVector{Gpus(2), Cores(6), GiB(125)}));
}

TEST(ResourceVectorTest, LesserAndLargerAreTakenPerDimensionWithTheGpusOfTheFirst) {
  const ResourceVector a{Gpus(1), Cores(3), GiB(10)};
  const ResourceVector b{Gpus(2), Cores(4), GiB(5)};
  EXPECT_EQ(LesserOf(a, b), (ResourceVector{Gpus(1), Cores(3), GiB(5)}));
  EXPECT_EQ(LargerOf(a, b), (ResourceVector{Gpus(1), Cores(4), GiB(10)}));
}

TEST(PartOfTest, GivesEachGpuItsPart) {
  const ResourceVector server{Gpus(8), Cores(24), GiB(500)};
  EXPECT_EQ(PartOf(server, Gpus(2), Gpus(8)), (ResourceVector{Gpus(2), Cores(6), GiB(125)}));
  EXPECT_EQ(PartOf(server, Gpus(0), Gpus(8)), ResourceVector{});
}

TEST(PartOfTest, IsRoundedDownAlsoBelowZero) {
  EXPECT_EQ(PartOf({Gpus(3), MilliCpu(1000), Bytes(-100)}, Gpus(2), Gpus(3)),
            (ResourceVector{Gpus(2), MilliCpu(666), Bytes(-67)}));
}

TEST(PartOfTest, MayBeMoreThanTheAmount) {
  EXPECT_EQ(PartOf({Gpus(2), MilliCpu(5), Bytes(7)}, Gpus(3), Gpus(2)),
            (ResourceVector{Gpus(3), MilliCpu(7), Bytes(10)}));
}

TEST(PartOfTest, IsTheWholeAmountForAllGpus) {
  const ResourceVector odd{Gpus(8), MilliCpu(kLargestInteger), Bytes(-kLargestInteger)};
  EXPECT_EQ(PartOf(odd, Gpus(3), Gpus(3)),
            (ResourceVector{Gpus(3), MilliCpu(kLargestInteger), Bytes(-kLargestInteger)}));
}

TEST(PartOfTest, IsExactWhereTheProductExceedsAnInteger) {
  EXPECT_EQ(
      PartOf({Gpus(1000), MilliCpu(kLargestInteger), Bytes(-kLargestInteger)}, Gpus(500),
             Gpus(1000)),
      (ResourceVector{Gpus(500), MilliCpu(kLargestInteger / 2), Bytes(-kLargestInteger / 2 - 1)}));
}

TEST(PartOfTest, IsCutToWhatAnIntegerHolds) {
  EXPECT_EQ(PartOf({Gpus(1), MilliCpu(kLargestInteger), Bytes(-kLargestInteger)}, Gpus(8), Gpus(1)),
            (ResourceVector{Gpus(8), MilliCpu(kLargestInteger),
                            Bytes(std::numeric_limits<int64_t>::min())}));
}

TEST(PartOfTest, IsNothingForNoGpu) {
  for (const Gpus none : {Gpus(0), Gpus(-1)}) {
    EXPECT_EQ(PartOf({Gpus(8), Cores(24), GiB(500)}, Gpus(2), none), (ResourceVector{Gpus(2)}));
  }
}

TEST(ResourceVectorTest, FitsWhereEveryDimensionIsFree) {
  const ResourceVector need{Gpus(1), Cores(3), GiB(10)};
  EXPECT_TRUE(need.FitsWithin(need));
  EXPECT_FALSE(need.FitsWithin({Gpus(0), Cores(3), GiB(10)}));
  EXPECT_FALSE(need.FitsWithin({Gpus(1), MilliCpu(2999), GiB(10)}));
  EXPECT_FALSE(need.FitsWithin({Gpus(1), Cores(3), GiB(10) - Bytes(1)}));
}

TEST(ResourceVectorTest, ADimensionThatAsksForNothingFitsEvenAnOvercommittedNode) {
  const ResourceVector overcommitted{Gpus(-1), Cores(-3), GiB(-1)};
  EXPECT_TRUE(ResourceVector{}.FitsWithin(overcommitted));
  EXPECT_FALSE((ResourceVector{.cpu = MilliCpu(1)}.FitsWithin(overcommitted)));
}

TEST(ScalarResourcesTest, AnUnknownNameCountsAsZero) {
  EXPECT_EQ(ScalarResources().Get("example.com/nic"), 0);
  EXPECT_TRUE(ScalarResources().empty());
}

TEST(ScalarResourcesTest, EntriesAreKeptInOrderOfTheirNames) {
  const ScalarResources scalars =
      Scalars({{"hugepages-2Mi", 5}, {"ephemeral-storage", 7}, {"example.com/nic", 1}});
  EXPECT_THAT(scalars.entries(), ElementsAre(Pair("ephemeral-storage", 7),
                                             Pair("example.com/nic", 1), Pair("hugepages-2Mi", 5)));
}

TEST(ScalarResourcesTest, SettingTwiceKeepsTheLatter) {
  ScalarResources scalars = Scalars({{"example.com/nic", 1}});
  scalars.Set("example.com/nic", 4);
  EXPECT_THAT(scalars.entries(), ElementsAre(Pair("example.com/nic", 4)));
}

TEST(ScalarResourcesTest, AddTakesTheUnionOfNames) {
  ScalarResources scalars = Scalars({{"a/x", 1}, {"c/x", 3}});
  scalars.Add(Scalars({{"b/x", 2}, {"c/x", 30}}));
  EXPECT_EQ(scalars, Scalars({{"a/x", 1}, {"b/x", 2}, {"c/x", 33}}));
}

TEST(ScalarResourcesTest, SubtractingWhatWasAddedLeavesNoTrace) {
  const ScalarResources before = Scalars({{"a/x", 1}});
  ScalarResources scalars = before;
  const ScalarResources more =
      Scalars({{"a/x", std::numeric_limits<int64_t>::max()}, {"b/x", 2}, {"c/x", 0}});
  scalars.Add(more);
  scalars.Subtract(more);
  EXPECT_EQ(scalars, before);
}

TEST(ScalarResourcesTest, MaxTakesTheLargerPerName) {
  ScalarResources scalars = Scalars({{"a/x", 1}, {"b/x", 20}});
  scalars.Max(Scalars({{"a/x", 10}, {"b/x", 2}, {"c/x", 3}}));
  EXPECT_EQ(scalars, Scalars({{"a/x", 10}, {"b/x", 20}, {"c/x", 3}}));
}

}  // namespace
}  // namespace synergy::testing
