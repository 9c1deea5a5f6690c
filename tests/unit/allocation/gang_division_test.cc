#include "allocation/gangs/gang_division.h"

#include <vector>

#include <gtest/gtest.h>

#include "allocation/surplus.h"

namespace synergy {
namespace {

// Returns a profile that is twice as fast with twice the cores, up to 12.
const JobProfile& Linear() {
  static const JobProfile profile =
      *JobProfile::Create(Gpus(1), {{Cores(1), GiB(1), 1}, {Cores(12), GiB(1), 12}});
  return profile;
}

PodShare ShareWith(int64_t cores) {
  PodShare share;
  share.profile = &Linear();
  share.current = {Gpus(1), Cores(cores), GiB(1)};
  share.least = {Gpus(1), Cores(1), GiB(1)};
  share.most = {Gpus(1), Cores(12), GiB(1)};
  share.fair = {Gpus(1), Cores(3), GiB(1)};
  return share;
}

PodShare MemberWith(int64_t cores, double gpus = 2, size_t gang = 1) {
  PodShare share = ShareWith(cores);
  share.gang = InGang{.number = gang, .gpus = gpus, .needs = share.current};
  return share;
}

ResourceVector Spare(int64_t cores) { return {Gpus(0), Cores(cores), GiB(0)}; }

TEST(Throughputs, GangRunsAtTheSpeedOfItsSlowestMember) {
  const std::vector<PodShare> shares = {MemberWith(3), ShareWith(6), MemberWith(6)};
  const std::vector<ResourceVector> amounts = {shares[0].current, shares[1].current,
                                               shares[2].current};
  EXPECT_EQ(ThroughputsOf(shares, amounts), (std::vector<double>{1, 2, 1}));
}

TEST(Throughputs, GangCountsMembersOnOtherNodes) {
  PodShare member = MemberWith(6, 4);
  EXPECT_EQ(ThroughputsOf(std::vector{member}, std::vector{member.current}).front(), 8);
  member.gang->elsewhere = 1.5;
  EXPECT_EQ(ThroughputsOf(std::vector{member}, std::vector{member.current}).front(), 6);
}

TEST(RegrowTogether, TheTightestNodeDecidesAndTheRestGoesToTheOthers) {
  const std::vector<PodShare> tight = {MemberWith(3)};
  const std::vector<PodShare> wide = {MemberWith(3), ShareWith(3)};
  const NodeAmounts amounts =
      RegrowTogether(std::vector<DividedNode>{{tight, Spare(2)}, {wide, Spare(9)}});
  EXPECT_EQ(amounts[0][0].cpu, Cores(5));
  EXPECT_EQ(amounts[1][0].cpu, Cores(5));
  EXPECT_EQ(amounts[1][1].cpu, Cores(10));
}

TEST(RegrowTogether, GivesTheExcessOfAMemberToPodsThatGainFromIt) {
  const std::vector<PodShare> tight = {MemberWith(3)};
  const std::vector<PodShare> wide = {MemberWith(7), ShareWith(3)};
  const NodeAmounts amounts =
      RegrowTogether(std::vector<DividedNode>{{tight, Spare(0)}, {wide, Spare(0)}});
  EXPECT_EQ(amounts[0][0].cpu, Cores(3));
  EXPECT_EQ(amounts[1][0].cpu, Cores(3));
  EXPECT_EQ(amounts[1][1].cpu, Cores(7));
}

// If each node were divided alone, it would give its spare cores to its first share. Together these
// cores help twice as much.
TEST(RegrowTogether, AGangOfTwoGoesBeforeAPodThatWouldGainAsMuchAsOneMember) {
  const std::vector<PodShare> full = {ShareWith(3), MemberWith(3)};
  const std::vector<PodShare> empty = {MemberWith(3)};
  const NodeAmounts amounts =
      RegrowTogether(std::vector<DividedNode>{{full, Spare(4)}, {empty, Spare(9)}});
  EXPECT_GE(amounts[0][1].cpu, Cores(7));
  EXPECT_EQ(amounts[0][1], amounts[1][0]);
}

TEST(RegrowTogether, MembersWithMoreGpusAreGivenMoreInProportion) {
  const JobProfile two = *Scaled(Linear(), Gpus(2));
  PodShare larger = MemberWith(3, 3);
  larger.profile = &two;
  larger.current = {Gpus(2), Cores(6), GiB(2)};
  larger.least = {Gpus(2), Cores(2), GiB(2)};
  larger.most = {Gpus(2), Cores(24), GiB(2)};
  larger.fair = {Gpus(2), Cores(6), GiB(2)};
  const std::vector<PodShare> one = {MemberWith(3, 3)};
  const std::vector<PodShare> other = {larger};
  const NodeAmounts amounts =
      RegrowTogether(std::vector<DividedNode>{{one, Spare(9)}, {other, Spare(4)}});
  EXPECT_EQ(amounts[0][0].cpu, Cores(5));
  EXPECT_EQ(amounts[1][0].cpu, Cores(10));
}

TEST(RegrowTogether, WholeCpusStayWhole) {
  std::vector<PodShare> a = {MemberWith(3)};
  std::vector<PodShare> b = {MemberWith(3)};
  a[0].whole_cpus = b[0].whole_cpus = true;
  const NodeAmounts amounts = RegrowTogether(
      std::vector<DividedNode>{{a, {Gpus(0), MilliCpu(2700), GiB(0)}}, {b, Spare(9)}});
  EXPECT_EQ(amounts[0][0].cpu, Cores(5));
  EXPECT_EQ(amounts[1][0].cpu, Cores(5));
}

TEST(RegrowTogether, ChangesNothingWhereNothingIsGained) {
  const std::vector<PodShare> a = {MemberWith(12), ShareWith(12)};
  const std::vector<PodShare> b = {MemberWith(12)};
  const NodeAmounts amounts =
      RegrowTogether(std::vector<DividedNode>{{a, Spare(5)}, {b, Spare(5)}});
  EXPECT_EQ(amounts, (NodeAmounts{{a[0].current, a[1].current}, {b[0].current}}));
}

TEST(Levelled, GivesTheMembersWhatTheLeastHasAndLeavesOthersAlone) {
  const std::vector<PodShare> a = {MemberWith(3)};
  const std::vector<PodShare> b = {MemberWith(7), ShareWith(9)};
  const NodeAmounts amounts = Levelled(std::vector<DividedNode>{{a, Spare(5)}, {b, Spare(0)}});
  EXPECT_EQ(amounts, (NodeAmounts{{a[0].current}, {a[0].current, b[1].current}}));
}

TEST(Reclaim, TakesFromAPodRatherThanFromTheMemberOfAGang) {
  const std::vector<PodShare> shares = {MemberWith(6, 4), ShareWith(6)};
  const auto amounts = Reclaim(shares, Spare(3));
  ASSERT_TRUE(amounts);
  EXPECT_EQ((*amounts)[0], shares[0].current);
  EXPECT_EQ((*amounts)[1].cpu, Cores(3));
}

TEST(Reclaim, TakesFirstWhatAMemberHasBeyondTheSlowest) {
  std::vector<PodShare> shares = {MemberWith(6, 4), ShareWith(6)};
  shares[0].gang->elsewhere = 1;
  shares[0].gang->needs.cpu = Cores(3);
  const auto amounts = Reclaim(shares, Spare(3));
  ASSERT_TRUE(amounts);
  EXPECT_EQ((*amounts)[0].cpu, Cores(3));
  EXPECT_EQ((*amounts)[1], shares[1].current);
}

TEST(Reclaim, CutsTheMembersOnANodeAlike) {
  const std::vector<PodShare> shares = {MemberWith(6), MemberWith(6)};
  const auto amounts = Reclaim(shares, Spare(3));
  ASSERT_TRUE(amounts);
  EXPECT_EQ((*amounts)[0].cpu, MilliCpu(4500));
  EXPECT_EQ((*amounts)[1].cpu, MilliCpu(4500));
}

TEST(Reclaim, WithoutAProfileWhatTheSlowestDoesNotUseCostsNothing) {
  std::vector<PodShare> shares = {MemberWith(6, 4), ShareWith(6)};
  for (PodShare& share : shares) share.profile = nullptr;
  shares[0].gang->needs.cpu = Cores(3);
  const auto amounts = Reclaim(shares, Spare(3));
  ASSERT_TRUE(amounts);
  EXPECT_EQ((*amounts)[0].cpu, Cores(3));
}

}  // namespace
}  // namespace synergy
