#include "allocation/sharing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy {
namespace {

using ::testing::ElementsAre;

TEST(ShareCpuTest, DividesByWeightWhereAllWantMore) {
  const std::vector<CpuUser> users = {{3, Cores(24)}, {1, Cores(24)}};
  EXPECT_THAT(ShareCpu(users, Cores(24)), ElementsAre(Cores(18), Cores(6)));
}

TEST(ShareCpuTest, GivesUnusedSharesToTheOthers) {
  const std::vector<CpuUser> users = {{3, Cores(24)}, {3, Cores(1)}, {3, Cores(24)}};
  EXPECT_THAT(ShareCpu(users, Cores(9)), ElementsAre(Cores(4), Cores(1), Cores(4)));
}

TEST(ShareCpuTest, GivesNoPodMoreThanItCanUse) {
  const std::vector<CpuUser> users = {{1, Cores(2)}, {1, Cores(3)}};
  EXPECT_THAT(ShareCpu(users, Cores(24)), ElementsAre(Cores(2), Cores(3)));
}

TEST(UsefulCpuTest, IsWhereMoreCpuStopsHelpingWithThatMemory) {
  const auto profile = JobProfile::Create(Gpus(1), {{Cores(3), GB(50), 1},
                                                    {Cores(6), GB(50), 1.2},
                                                    {Cores(12), GB(50), 1.2},
                                                    {Cores(3), GB(100), 1},
                                                    {Cores(6), GB(100), 2},
                                                    {Cores(12), GB(100), 3}});
  EXPECT_EQ(UsefulCpu(*profile, GB(50)), Cores(6));
  EXPECT_EQ(UsefulCpu(*profile, GB(100)), Cores(12));
}

}  // namespace
}  // namespace synergy
