#include "research/reference/job.h"

#include <gtest/gtest.h>

#include "research/tests/unit/reference/reference_vocabulary.h"

namespace synergy::reference {
namespace {

TEST(ReferenceJobTest, DemandIsTheModelsTimesTheGpus) {
  const Job job = Made(OneOf("res18", 0, 2));
  EXPECT_EQ(job.demand, (Amounts{2, 18, 120, 125, 0}));
  EXPECT_EQ(job.speedup, 2);
  EXPECT_EQ(job.iterations_at_fair, 300);
  EXPECT_EQ(job.iterations_at_demand, 600);
}

TEST(ReferenceJobTest, DemandIsCutToAServerAndTheSpeedupAlongTheCpu) {
  const Job four = Made(OneOf("alexnet", 0, 4));
  EXPECT_EQ(four.demand, (Amounts{4, 24, 500, 250, 0}));
  EXPECT_DOUBLE_EQ(four.speedup, 1 + (3.0 - 1) / (48 - 12) * (24 - 12));
  const Job eight = Made(OneOf("alexnet", 0, 8));
  EXPECT_EQ(eight.demand, (Amounts{8, 24, 500, 500, 0}));
  EXPECT_EQ(eight.speedup, 1);
}

TEST(ReferenceJobTest, MoreGpusThanAServerHasGetTheFairShareOfWhatIsTooMuch) {
  const Job alexnet = Made(OneOf("alexnet", 0, 16));
  EXPECT_EQ(alexnet.demand, (Amounts{16, 48, 1000, 1000, 0}));
  EXPECT_EQ(alexnet.speedup, 1);
  const Job gnmt = Made(OneOf("gnmt", 0, 16));
  EXPECT_EQ(gnmt.demand, (Amounts{16, 16, 320, 1000, 0}));
}

TEST(ReferenceJobTest, AnUnknownModelRunsAsAlexnet) {
  EXPECT_EQ(Made(OneOf("bert", 0)).demand, Made(OneOf("alexnet", 0)).demand);
}

TEST(ReferenceJobTest, RoundIsChargedAsAWholeAndCanBeRefunded) {
  Job job = Made(OneOf("res18", 0, 1, 0, 700));
  job.ChargeRound(kRound, /*at_demand=*/true);
  EXPECT_EQ(job.done, 600);
  EXPECT_EQ(job.attained, 300);
  job.RefundRound(kRound);
  EXPECT_EQ(job.done, 0);
  EXPECT_EQ(job.attained, 0);
  job.ChargeRound(kRound, /*at_demand=*/false);
  EXPECT_EQ(job.done, 300);
  job.ChargeRoundAgain(kRound);
  job.ChargeRoundAgain(kRound);
  EXPECT_EQ(job.done, 700);
  EXPECT_TRUE(job.Finished());
}

TEST(ReferenceJobTest, ACutJobGoesAtTheSpeedOfTheFairShare) {
  Job job = Made(OneOf("res18", 0, 1, 0, 700));
  job.cut = true;
  job.ChargeRound(kRound, /*at_demand=*/true);
  EXPECT_EQ(job.done, 300);
  EXPECT_EQ(job.Speed(), 1);
}

TEST(ReferenceJobTest, RefusesJobsThatTheAuthorsProgramCannotRun) {
  const auto error = [](const TraceJob& job, const ModelFacts& facts) {
    const auto made = MakeJob(job, 0, facts, kServer, kRound);
    return made ? std::string("no error") : made.error().message;
  };
  EXPECT_EQ(error(OneOf("gnmt", 5, 3), Facts()),
            "job 5: 3 GPUs; the authors' program only supports jobs with 1, 2, 4, 8 and 16: use "
            "one of these");
  EXPECT_EQ(error(OneOf("m5", 5), Facts()),
            "job 5: the profiles have no model \"m5\" with one GPU: add it");
  ModelFacts facts;
  facts.Set("m5", Gpus(1), Fact(3, 200, 1, 2));
  EXPECT_EQ(error(OneOf("m5", 5, 4), facts),
            "job 5: its demand is more than a server has, but its CPU demand is the fair share; "
            "the authors' program ends here: remove the job, or use another server");
  facts.Set("m5", Gpus(1), Fact(3, 20, 301, 1));
  EXPECT_EQ(error(OneOf("m5", 5), facts),
            "job 5: an iteration of 301 s is longer than a round of 300 s, and the job would never "
            "end: use longer rounds");
}

}  // namespace
}  // namespace synergy::reference
