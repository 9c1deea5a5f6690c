#include "allocation/surplus.h"

#include <gtest/gtest.h>

#include "cluster/fungible.h"

namespace synergy {
namespace {

// Twice as fast with twice the cores, up to 8; memory does not matter beyond 1 GiB.
const JobProfile& Sensitive() {
  static const JobProfile profile = *JobProfile::Create(
      Gpus(1), {{Cores(1), GiB(1), 1}, {Cores(4), GiB(1), 4}, {Cores(8), GiB(1), 8}});
  return profile;
}

// One core is enough.
const JobProfile& Insensitive() {
  static const JobProfile profile =
      *JobProfile::Create(Gpus(1), {{Cores(1), GiB(1), 5}, {Cores(8), GiB(1), 5.1}});
  return profile;
}

// Twice as fast with 8 GiB.
const JobProfile& MemoryHungry() {
  static const JobProfile profile = *JobProfile::Create(
      Gpus(1), {{Cores(1), GiB(2), 1}, {Cores(1), GiB(4), 1.5}, {Cores(1), GiB(8), 2}});
  return profile;
}

Tenant MakeTenant(const JobProfile& profile, int64_t cores, int64_t memory = 1) {
  Tenant tenant;
  tenant.profile = &profile;
  tenant.current = {Gpus(1), Cores(cores), GiB(memory)};
  tenant.floor = {Gpus(1), Cores(1), GiB(1)};
  tenant.fair = {Gpus(1), Cores(4), GiB(2)};
  tenant.most = {Gpus(1), Cores(8), GiB(8)};
  return tenant;
}

ResourceVector Lacking(MilliCpu cpu, Bytes memory = {}) { return {Gpus(0), cpu, memory}; }

TEST(Reclaim, TakesFromWhoLosesLeastAndNoMoreThanLacks) {
  const std::vector<Tenant> tenants = {MakeTenant(Sensitive(), 4), MakeTenant(Insensitive(), 4)};
  const auto amounts = Reclaim(tenants, Lacking(MilliCpu(2500)));
  ASSERT_TRUE(amounts);
  EXPECT_EQ((*amounts)[0], tenants[0].current);
  EXPECT_EQ((*amounts)[1].cpu, MilliCpu(1500));
  EXPECT_EQ((*amounts)[1].memory, tenants[1].current.memory);
}

TEST(Reclaim, GoesOnWithTheOthersWhenOneIsAtItsFloor) {
  const std::vector<Tenant> tenants = {MakeTenant(Sensitive(), 4), MakeTenant(Insensitive(), 2)};
  const auto amounts = Reclaim(tenants, Lacking(Cores(2)));
  ASSERT_TRUE(amounts);
  EXPECT_EQ((*amounts)[1].cpu, Cores(1));
  EXPECT_EQ((*amounts)[0].cpu, Cores(3));
}

TEST(Reclaim, NeverGoesBelowAFloor) {
  const std::vector<Tenant> tenants = {MakeTenant(Sensitive(), 4), MakeTenant(Insensitive(), 4)};
  EXPECT_TRUE(Reclaim(tenants, Lacking(Cores(6))));
  EXPECT_FALSE(Reclaim(tenants, Lacking(MilliCpu(6001))));
}

TEST(Reclaim, LeavesAloneWhoCannotShrinkOrHasNoProfile) {
  std::vector<Tenant> tenants = {MakeTenant(Insensitive(), 4), MakeTenant(Insensitive(), 4)};
  tenants[0].shrinkable = false;
  tenants[1].profile = nullptr;
  EXPECT_FALSE(Reclaim(tenants, Lacking(MilliCpu(1))));
}

TEST(Reclaim, CutsMemoryOnlyWhereMemoryLacks) {
  const std::vector<Tenant> tenants = {MakeTenant(Insensitive(), 4, 8)};
  EXPECT_EQ((*Reclaim(tenants, Lacking(Cores(1))))[0], (ResourceVector{Gpus(1), Cores(3), GiB(8)}));
  EXPECT_EQ((*Reclaim(tenants, Lacking({}, GiB(3))))[0],
            (ResourceVector{Gpus(1), Cores(4), GiB(5)}));
}

TEST(Regrow, GivesWhatIsSpareToWhomItHelps) {
  const std::vector<Tenant> tenants = {MakeTenant(Sensitive(), 4), MakeTenant(Insensitive(), 1)};
  const auto amounts = Regrow(tenants, Lacking(Cores(3)));
  EXPECT_EQ(amounts[0].cpu, Cores(7));
  EXPECT_EQ(amounts[1].cpu, Cores(1));
}

TEST(Regrow, MovesSurplusFromWhoHasNoUseForIt) {
  const std::vector<Tenant> tenants = {MakeTenant(Sensitive(), 4), MakeTenant(Insensitive(), 4)};
  const auto amounts = Regrow(tenants, {});
  EXPECT_GE(amounts[0].cpu, MilliCpu(6500));
  EXPECT_LE(amounts[0].cpu + amounts[1].cpu, Cores(8));
  EXPECT_GE(amounts[1].cpu, Cores(1));
}

TEST(Regrow, GivesMemoryToo) {
  const std::vector<Tenant> tenants = {MakeTenant(MemoryHungry(), 1, 4)};
  EXPECT_EQ(Regrow(tenants, Lacking({}, GiB(10)))[0].memory, GiB(8));
}

TEST(Regrow, ChangesNothingWhereNothingIsGained) {
  const std::vector<Tenant> tenants = {MakeTenant(Sensitive(), 8), MakeTenant(Insensitive(), 1)};
  EXPECT_EQ(Regrow(tenants, {})[0], tenants[0].current);
  EXPECT_EQ(Regrow(tenants, {})[1], tenants[1].current);
  EXPECT_TRUE(Regrow({}, {}).empty());
}

TEST(Regrow, LeavesAPodBelowItsFloorWhereItIsWhenThereIsNothingToGive) {
  std::vector<Tenant> tenants = {MakeTenant(Sensitive(), 1)};
  tenants[0].floor.cpu = Cores(2);
  EXPECT_EQ(Regrow(tenants, {})[0], tenants[0].current);
  EXPECT_EQ(Regrow(tenants, Lacking(Cores(1)))[0].cpu, Cores(2));
}

}  // namespace
}  // namespace synergy
