#include "admission/sizing.h"

#include <memory>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Returns a profile that is fastest with 9 cores and 80 GB, and half as fast with 5 cores.
JobProfile Profile(std::optional<Bytes> process_memory = std::nullopt) {
  const auto profile =
      JobProfile::Create(Gpus(1), {{Cores(5), GB(40), 1}, {MilliCpu(8500), GB(80), 2}});
  return process_memory ? profile->WithProcessMemory(*process_memory) : *profile;
}

class SizingTest : public testing::Test {
 protected:
  Sizes Sized(const std::optional<JobProfile>& profile = std::nullopt) {
    return Size(sizing, share, profile ? &*profile : nullptr, {});
  }

  Sizes Unplaced(const JobProfile* profile = nullptr, bool least = false) {
    return SizeUnplaced(sizing, {Gpus(1), Cores(3), GiB(10)}, profile, {}, least);
  }

  SizingCase sizing{.gpus = Gpus(1)};
  ResourceVector share{Gpus(1), Cores(3), GB(60)};
};

ResourceVector Amounts(MilliCpu cpu, Bytes memory) { return {Gpus(1), cpu, memory}; }

TEST_F(SizingTest, MissingAmountsAreTheFairShare) {
  EXPECT_EQ(Sized().floor, share);
  EXPECT_EQ(Sized().demand, share);
  EXPECT_EQ(Sized().memory_limit, std::nullopt);
  EXPECT_FALSE(Sized().placeholder);
}

TEST_F(SizingTest, WithoutAProfileWhatIsWrittenStays) {
  sizing.written.cpu_request = Cores(4);
  EXPECT_EQ(Sized().floor, Amounts(Cores(4), GB(60)));
  sizing.written = {.memory_request = GiB(200), .memory_limit = GiB(200)};
  EXPECT_EQ(Sized().floor, Amounts(Cores(3), GiB(200)));
  EXPECT_EQ(Sized().demand, Sized().floor);
  EXPECT_EQ(Sized().fair_share, share);
}

TEST_F(SizingTest, RequestsOfSidecarsArePartOfTheShare) {
  sizing.beside = {Gpus(0), MilliCpu(100), GB(1)};
  EXPECT_EQ(Sized().floor, Amounts(MilliCpu(2900), GB(59)));
  sizing.beside = {Gpus(0), Cores(9), GB(100)};
  EXPECT_GT(Sized().floor.cpu, MilliCpu(0));
  EXPECT_GT(Sized().floor.memory, Bytes(0));
}

TEST_F(SizingTest, AProfileMayUndercutTheWrittenCpu) {
  sizing.written.cpu_request = Cores(20);
  EXPECT_EQ(Sized(Profile()).floor.cpu, Cores(3));
  EXPECT_EQ(Sized(Profile()).demand.cpu, MilliCpu(8500));
}

TEST_F(SizingTest, WithoutProcessMemoryAProfileChangesNoMemory) {
  EXPECT_EQ(Sized(Profile()).floor.memory, GB(60));
  EXPECT_EQ(Sized(Profile()).demand.memory, GB(60));
  sizing.written.memory_request = GB(7);
  EXPECT_EQ(Sized(Profile()).floor.memory, GB(7));
  EXPECT_EQ(Sized(Profile()).demand.memory, GB(7));
}

TEST_F(SizingTest, TheFloorHoldsTheProcessMemoryWithAMargin) {
  EXPECT_EQ(Sized(Profile(GB(10))).floor.memory, GB(60));
  EXPECT_EQ(Sized(Profile(GB(10))).demand.memory, GB(80));
  EXPECT_EQ(Sized(Profile(GB(60))).floor.memory, GB(66));
  EXPECT_EQ(Sized(Profile(GB(78))).demand.memory, MiB(0) + Bytes(85'800'000'000));
  EXPECT_EQ(Sized(Profile(GB(78))).floor.memory, Bytes(85'800'000'000));
}

TEST_F(SizingTest, MemoryIsTheShareAndMayGrowUntilAPeakIsCertain) {
  const auto sized = [this](Bytes process) {
    const JobProfile profile = Profile(process);
    return Size(sizing, share, &profile, {.at_least_share_of_memory = true});
  };
  share.memory = GB(100);
  EXPECT_EQ(sized(GB(10)).floor.memory, GB(100));
  EXPECT_EQ(sized(GB(10)).demand.memory, GB(100));
  share.memory = GB(60);
  EXPECT_EQ(sized(GB(10)).floor.memory, GB(60));
  EXPECT_EQ(sized(GB(10)).demand.memory, GB(80));
  sizing.enforcement = Enforcement::kStrict;
  EXPECT_EQ(sized(GB(10)).memory_limit, std::nullopt) << "nobody knows what would exceed it";
  sizing.written.memory_request = GB(50);
  EXPECT_EQ(sized(GB(10)).floor.memory, GB(60));
}

TEST_F(SizingTest, WrittenMemoryIsALowerBound) {
  sizing.written.memory_request = GB(70);
  EXPECT_EQ(Sized(Profile(GB(10))).floor.memory, GB(70));
  EXPECT_EQ(Sized(Profile(GB(10))).demand.memory, GB(80));
  sizing.written.memory_request = GB(200);
  EXPECT_EQ(Sized(Profile(GB(10))).demand.memory, GB(200));
}

TEST_F(SizingTest, AWrittenMemoryLimitStaysAndNothingExceedsIt) {
  sizing.written.memory_limit = GB(50);
  EXPECT_EQ(Sized(Profile(GB(10))).floor.memory, GB(50));
  EXPECT_EQ(Sized(Profile(GB(10))).demand.memory, GB(50));
  EXPECT_THAT(Sized(Profile(GB(10))).warnings, IsEmpty());
  EXPECT_THAT(Sized(Profile(GB(48))).warnings, ElementsAre(HasSubstr("the memory limit 50G")));
  sizing.enforcement = Enforcement::kStrict;
  EXPECT_EQ(Sized(Profile(GB(10))).memory_limit, std::nullopt);
}

TEST_F(SizingTest, MemoryStaysBelowALimitThatWouldMakeThePodGuaranteed) {
  sizing.written.memory_limit = GB(50);
  sizing.enforcement = Enforcement::kStrict;
  EXPECT_EQ(Sized(Profile(GB(10))).floor.memory, GB(50) - MiB(1));
  EXPECT_EQ(Sized(Profile(GB(10))).demand.memory, GB(50) - MiB(1));
  sizing.written.memory_request = GB(50);
  EXPECT_EQ(Sized(Profile(GB(10))).floor.memory, GB(50)) << "it is Guaranteed from the beginning";
  sizing.enforcement = Enforcement::kShared;
  sizing.written = {.cpu_request = Cores(4), .cpu_limit = Cores(4), .memory_limit = GB(50)};
  EXPECT_EQ(Sized().floor, Amounts(Cores(4), GB(50) - MiB(1)));
}

TEST_F(SizingTest, OnlyStrictAddsAMemoryLimitAndOnlyWithProcessMemory) {
  EXPECT_EQ(Sized(Profile(GB(10))).memory_limit, std::nullopt);
  sizing.enforcement = Enforcement::kStrict;
  EXPECT_EQ(Sized(Profile(GB(10))).memory_limit, GB(60));
  EXPECT_EQ(Sized(Profile()).memory_limit, std::nullopt);
  EXPECT_EQ(Sized().memory_limit, std::nullopt);
}

TEST_F(SizingTest, WrittenWholeCpusStayWhole) {
  sizing.written = {Cores(8), Cores(8), GB(60), GB(60)};
  sizing.guaranteed = true;
  sizing.enforcement = Enforcement::kStrict;
  share.cpu = MilliCpu(3400);
  EXPECT_EQ(Sized().floor.cpu, Cores(8));
  EXPECT_EQ(Sized(Profile(GB(10))).demand, Amounts(Cores(9), GB(60)));
  EXPECT_EQ(Sized(Profile(GB(10))).floor, Amounts(Cores(3), GB(60)));
  share.cpu = MilliCpu(400);
  EXPECT_EQ(Sized(Profile(GB(10))).floor.cpu, Cores(1));
  sizing.written.cpu_request = sizing.written.cpu_limit = MilliCpu(7500);
  share.cpu = MilliCpu(3400);
  EXPECT_EQ(Sized(Profile(GB(10))).floor.cpu, MilliCpu(3400));
}

TEST_F(SizingTest, ALimitKeepsTheRequestBelowItWhereItWillBeResized) {
  sizing.written = {.cpu_request = Cores(2), .cpu_limit = Cores(2)};
  EXPECT_EQ(Sized().floor.cpu, Cores(2)) << "what is written stays";
  EXPECT_EQ(Sized(Profile()).floor.cpu, MilliCpu(1999));
  sizing.written.cpu_request.reset();  // the default of a LimitRange
  EXPECT_EQ(Sized().floor.cpu, MilliCpu(1999));
}

TEST_F(SizingTest, WithoutANodeWhatIsMissingIsAPlaceholder) {
  Sizes sizes = Unplaced();
  EXPECT_TRUE(sizes.placeholder);
  EXPECT_EQ(sizes.floor, Amounts(Cores(3), GiB(10)));
  sizing.beside.cpu = Cores(1);
  EXPECT_EQ(Unplaced().floor.cpu, Cores(2)) << "the share is the whole pod's";
  sizing.written = {.cpu_request = Cores(4), .memory_request = GiB(200)};
  sizes = Unplaced();
  EXPECT_FALSE(sizes.placeholder);
  EXPECT_EQ(sizes.floor, Amounts(Cores(4), GiB(200)));
}

TEST_F(SizingTest, WithoutANodeTheDemandIsRequestedUntilItIsTooMuch) {
  const JobProfile profile = Profile(GB(10));
  const Sizes sizes = Unplaced(&profile);
  EXPECT_TRUE(sizes.placeholder);
  EXPECT_GT(sizes.demand.cpu, Cores(3));
  EXPECT_EQ(sizes.floor, sizes.demand);
  EXPECT_EQ(Unplaced(&profile, true).floor.cpu, Cores(3));
  sizing.enforcement = Enforcement::kStrict;
  EXPECT_EQ(Unplaced(&profile).memory_limit, std::nullopt) << "the request will change";
}

TEST_F(SizingTest, WarnsOfAnImplausibleProfile) {
  const auto warnings = [this](double max_speed_up) {
    const JobProfile profile = Profile();
    return Size(sizing, Amounts(Cores(5), GB(40)), &profile, {.max_speed_up = max_speed_up})
        .warnings;
  };
  EXPECT_THAT(warnings(2), IsEmpty());
  EXPECT_THAT(warnings(1.5), ElementsAre(HasSubstr("claims more than 1.5 times the speed")));
}

TEST_F(SizingTest, AmountsStayWithinTheNamespacesBounds) {
  sizing.bounds = {{Gpus(0), Cores(4), Bytes(0)}, {Gpus(kNoLimit), Cores(6), GB(50)}};
  EXPECT_EQ(Sized().floor, Amounts(Cores(4), GB(50)));
  EXPECT_EQ(Sized(Profile(GB(10))).demand, Amounts(Cores(6), GB(50)));
  sizing.enforcement = Enforcement::kStrict;
  EXPECT_EQ(Sized(Profile(GB(10))).memory_limit, std::nullopt) << "less than it needs";
  EXPECT_EQ(Unplaced().floor.cpu, Cores(4));
}

TEST_F(SizingTest, WholeCpusStayWholeWithinTheBounds) {
  sizing.written = {Cores(8), Cores(8), GiB(200), GiB(200)};
  sizing.guaranteed = true;
  sizing.enforcement = Enforcement::kStrict;
  sizing.bounds.least.cpu = MilliCpu(4500);
  EXPECT_EQ(Sized(Profile()).floor.cpu, Cores(5));
}

TEST_F(SizingTest, HeldBackAmountsStayWithinTheBounds) {
  sizing.bounds.least.cpu = Cores(2);
  Sizes sizes = Sized();
  EXPECT_FALSE(HoldBack(sizing, kUnlimited, sizes));
  EXPECT_TRUE(HoldBack(sizing, {Gpus(0), Cores(1), GB(10)}, sizes));
  EXPECT_EQ(sizes.floor, Amounts(Cores(2), GB(10)));
  EXPECT_EQ(sizes.demand, share);
}

}  // namespace
}  // namespace synergy
