#include "research/baseline/arrangement.h"

#include "research/tests/unit/baseline/baseline_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;

class ArrangementTest : public BaselineFixture {
 protected:
  Plan Run(const std::vector<ResourceVector>& wanted) {
    Divider divider;
    return Arrange(servers, jobs, Turns(), wanted, divider);
  }
  // Arranges jobs that all want their demand.
  Plan Run() {
    std::vector<ResourceVector> wanted;
    for (const Job& job : jobs) wanted.push_back(job.demand);
    return Run(wanted);
  }
};

TEST_F(ArrangementTest, DemandDeterminesTheServerAndTheDivisionTheAmount) {
  servers = {Server{{Gpus(8), Cores(12), GB(480)}}, kRoundServer};
  Have(Gpus(1), {{Cores(1), GB(20), 1}});
  EXPECT_THAT(Run({{Gpus(1), Cores(1), GB(20)}}).shares[0],
              ElementsAre(Share{0, {Gpus(1), Cores(1), GB(20)}}));
  EXPECT_THAT(Run({{Gpus(1), Cores(20), GB(20)}}).shares[0],
              ElementsAre(Share{1, {Gpus(1), Cores(1), GB(20)}}));
}

TEST_F(ArrangementTest, RunningJobKeepsItsServerAndIsDividedAgain) {
  servers = {kRoundServer, kRoundServer};
  HaveRunning(1, {Gpus(1), Cores(3), GB(60)}, {{Cores(3), GB(60), 1}, {Cores(9), GB(60), 2}});
  EXPECT_THAT(Run().shares[0], ElementsAre(Share{1, {Gpus(1), Cores(9), GB(60)}}));
}

TEST_F(ArrangementTest, JobWhoseServerIsGoneIsPlacedAgain) {
  HaveRunning(1, {Gpus(1), Cores(3), GB(60)}, {{Cores(3), GB(60), 1}});
  EXPECT_THAT(Run().shares[0], ElementsAre(Share{0, {Gpus(1), Cores(3), GB(60)}}));
}

TEST_F(ArrangementTest, GivesFairSharesIfTheyTakeEverything) {
  for (int i = 0; i < 2; ++i) Have(Gpus(4), {{Cores(12), GB(240), 1}, {Cores(24), GB(240), 2}});
  EXPECT_THAT(Run().shares, ElementsAre(ElementsAre(Share{0, {Gpus(4), Cores(12), GB(240)}}),
                                        ElementsAre(Share{0, {Gpus(4), Cores(12), GB(240)}})));
}

TEST_F(ArrangementTest, AJobOnSeveralServersHasAsMuchOfEachAsAllCanGive) {
  // The first neighbour leaves 20 cores, the second 12.
  servers = {kRoundServer, kRoundServer};
  HaveRunning(0, {Gpus(4), Cores(12), GB(240)}, {{Cores(4), GB(80), 1}});
  const JobIndex second = HaveRunning(1, {Gpus(4), Cores(12), GB(240)}, {{Cores(12), GB(80), 1}});
  const JobIndex spread = Have(Gpus(8), {{Cores(32), GB(480), 1}});
  EXPECT_THAT(Run().shares[spread], ElementsAre(Share{0, {Gpus(4), Cores(12), GB(240)}},
                                                Share{1, {Gpus(4), Cores(12), GB(240)}}));
  jobs[second] = jobs.front();
  jobs[second].id = 1;
  jobs[second].holds.front().server = 1;
  EXPECT_THAT(Run().shares[spread], ElementsAre(Share{0, {Gpus(4), Cores(16), GB(240)}},
                                                Share{1, {Gpus(4), Cores(16), GB(240)}}));
}

TEST(LargestOfTest, IsTakenPerDimensionAndIsNeverNothing) {
  EXPECT_EQ(LargestOf(std::vector{Server{{Gpus(8), Cores(2), GB(1)}},
                                  Server{{Gpus(2), Cores(24), GB(500)}}}),
            (ResourceVector{Gpus(8), Cores(24), GB(500)}));
  EXPECT_EQ(LargestOf({}), (ResourceVector{Gpus(1), MilliCpu(1), Bytes(1)}));
}

}  // namespace
}  // namespace synergy::testing
