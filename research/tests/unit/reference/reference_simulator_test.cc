#include "research/reference/reference_simulator.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "research/tests/unit/reference/reference_vocabulary.h"

namespace synergy::reference {
namespace {

ReferenceOptions OneServer() {
  ReferenceOptions options;
  options.servers = 1;
  return options;
}

ReferenceRun Simulated(const std::vector<TraceJob>& trace, const ReferenceOptions& options) {
  auto run = SimulateReference(trace, Facts(), options);
  EXPECT_TRUE(run) << run.error().message;
  return run.value_or(ReferenceRun{});
}

std::string ErrorOf(const std::vector<TraceJob>& trace, const ReferenceOptions& options) {
  const auto run = SimulateReference(trace, Facts(), options);
  return run ? "no error" : run.error().message;
}

TEST(ReferenceSimulatorTest, AReplayBeginsAtTheRoundAfterItsFirstLine) {
  const ReferenceRun run = Simulated({OneOf("gnmt", 0, 1, 301)}, OneServer());
  EXPECT_EQ(run.jobs[0].started, Seconds(600));
  EXPECT_EQ(run.jobs[0].finished, Seconds(900));
  EXPECT_EQ(run.rounds, 1);
}

TEST(ReferenceSimulatorTest, AStaticTraceBeginsAtOneSecond) {
  const ReferenceRun run =
      Simulated({OneOf("gnmt", 0, 1, 0), OneOf("gnmt", 1, 1, 0.001)}, OneServer());
  EXPECT_EQ(run.jobs[1].started, Seconds(1));
  EXPECT_EQ(run.jobs[1].finished, Seconds(301));
}

TEST(ReferenceSimulatorTest, AGeneratedTraceBeginsAtZeroAndOutlastsIdleRounds) {
  ReferenceOptions options = OneServer();
  options.arrivals = ReferenceArrivals::kGenerated;
  const ReferenceRun run =
      Simulated({OneOf("gnmt", 0, 1, 301), OneOf("gnmt", 1, 1, 2000)}, options);
  EXPECT_EQ(run.jobs[0].finished, Seconds(900));
  EXPECT_EQ(run.jobs[1].finished, Seconds(2400));
  EXPECT_EQ(run.rounds, 8);
}

TEST(ReferenceSimulatorTest, AReplayEndsWithARoundThatHasNoJob) {
  const ReferenceRun run =
      Simulated({OneOf("gnmt", 0, 1, 301), OneOf("gnmt", 1, 1, 2000)}, OneServer());
  EXPECT_EQ(run.jobs[0].finished, Seconds(900));
  EXPECT_FALSE(run.jobs[1].started);
  EXPECT_FALSE(run.jobs[1].finished);
  EXPECT_EQ(run.rounds, 2);
}

TEST(ReferenceSimulatorTest, TheKindOfArrivalsDecidesWhetherARunOutlastsAMomentWithoutAJob) {
  const std::vector<TraceJob> trace = {OneOf("gnmt", 0, 1, 301), OneOf("gnmt", 1, 1, 2000)};
  const auto unfinished = [&](const char* arrivals) {
    ReferenceOptions options = OneServer();
    options.arrivals = *ParseReferenceArrivals(arrivals);
    return Summarize(Simulated(trace, options).jobs, {}).unfinished;
  };
  EXPECT_EQ(unfinished("generated"), 0U);
  EXPECT_EQ(unfinished("replay"), 1U);
  EXPECT_EQ(unfinished("static"), 2U);  // because its first round, at 1 s, has no job
  EXPECT_EQ(unfinished("auto"), 1U);
}

TEST(ReferenceSimulatorTest, AWindowInsideATraceMakesItAGeneratedOneAndEndsTheRun) {
  ReferenceOptions options = OneServer();
  options.window = JobWindow{0, 1};
  const ReferenceRun run =
      Simulated({OneOf("gnmt", 0, 1, 301), OneOf("gnmt", 1, 1, 302, 3000)}, options);
  EXPECT_EQ(run.jobs[0].finished, Seconds(900));
  EXPECT_FALSE(run.jobs[1].finished);
  EXPECT_EQ(run.rounds, 3);
}

TEST(ReferenceSimulatorTest, LaterJobsTakeTheGpusThatAnEarlierOneHasNoUseFor) {
  const std::vector<TraceJob> trace = {OneOf("gnmt", 0, 4), OneOf("gnmt", 1, 8),
                                       OneOf("gnmt", 2, 4)};
  const ReferenceRun run = Simulated(trace, OneServer());
  EXPECT_EQ(run.jobs[0].started, Seconds(1));
  EXPECT_EQ(run.jobs[1].started, Seconds(301));
  EXPECT_EQ(run.jobs[2].started, Seconds(1));
}

TEST(ReferenceSimulatorTest, OnlyLasKeepsTheGpusOfAJobThatDoesNotFit) {
  // The first leaves 6 GPUs and 6 CPUs; the second would need 24.
  const std::vector<TraceJob> trace = {OneOf("res18", 0, 2), OneOf("alexnet", 1, 4, 0.001),
                                       OneOf("gnmt", 2, 4, 0.002)};
  ReferenceOptions options = OneServer();
  options.mechanism = ReferenceMechanism::kGreedy;
  EXPECT_EQ(Simulated(trace, options).jobs[2].started, Seconds(1));
  options.policy = ReferencePolicy::kLas;
  const ReferenceRun las = Simulated(trace, options);
  EXPECT_EQ(las.jobs[1].started, Seconds(301));
  EXPECT_EQ(las.jobs[2].started, Seconds(601));
}

TEST(ReferenceSimulatorTest, UtilisationIsTheMeanOverTheRounds) {
  ReferenceOptions options = OneServer();
  options.mechanism = ReferenceMechanism::kFair;
  const ReferenceRun run =
      Simulated({OneOf("gnmt", 0, 4, 0, 600), OneOf("gnmt", 1, 4, 0, 300)}, options);
  EXPECT_EQ(run.rounds, 2);
  EXPECT_DOUBLE_EQ(run.mean_gpus, 0.75);
  EXPECT_DOUBLE_EQ(run.mean_cpu, 0.75);
  EXPECT_DOUBLE_EQ(run.mean_memory, 0.75);
  EXPECT_EQ(run.attained[0], Seconds(600));
  EXPECT_EQ(run.attained[1], Seconds(300));
}

TEST(ReferenceSimulatorTest, RoundedServersGiveTheSameResults) {
  std::vector<TraceJob> trace;
  for (int i = 0; i < 30; ++i)
    trace.push_back(
        OneOf(i % 3 == 0 ? "res18" : "gnmt", i, 1 + i % 2, 0.001 * i, 200 * (i % 7 + 1)));
  ReferenceOptions options;
  options.servers = 3;
  options.server = {Gpus(8), Cores(24), GB(500)};
  const ReferenceRun exact = Simulated(trace, options);
  // This is not a multiple of 1/1024 GB, so no round reuses the one before.
  options.server.memory = Bytes(500'100'000'000);
  const ReferenceRun rounded = Simulated(trace, options);
  for (size_t i = 0; i < trace.size(); ++i)
    EXPECT_EQ(exact.jobs[i].finished, rounded.jobs[i].finished) << i;
}

TEST(ReferenceSimulatorTest, ErrorsNameTheReason) {
  const std::vector<TraceJob> trace = {OneOf("gnmt", 0)};
  EXPECT_EQ(ErrorOf({}, OneServer()), "the trace has no jobs: there is nothing to simulate");
  EXPECT_EQ(ErrorOf({OneOf("gnmt", 7, 16)}, OneServer()),
            "job 7: 16 GPUs, but the cluster has 8: the job would wait for ever; remove it, or use "
            "a larger cluster");
  ReferenceOptions options = OneServer();
  options.servers = 0;
  EXPECT_EQ(ErrorOf(trace, options), "0 servers: use 1 to 100000");
  options = OneServer();
  options.server.gpus = Gpus(0);
  EXPECT_EQ(ErrorOf(trace, options), "0 GPUs per server: use 1 to 1024");
  options = OneServer();
  options.round = Seconds(0);
  EXPECT_EQ(ErrorOf(trace, options), "rounds of 0 s: use more than 0");
  options = OneServer();
  options.window = JobWindow{3, 3};
  EXPECT_EQ(ErrorOf(trace, options),
            "the window of job ids is empty: its end must be above its beginning");
  options = OneServer();
  options.arrivals = ReferenceArrivals::kGenerated;
  EXPECT_EQ(ErrorOf({OneOf("gnmt", 0, 1, 9), OneOf("gnmt", 1, 1, 8)}, options),
            "a generated trace has its jobs in the order of arrival: sort it, or replay it");
}

TEST(ReferenceNamesTest, IgnoreCaseAndListTheKnownOnes) {
  EXPECT_EQ(*ParseReferencePolicy("tetris"), ReferencePolicy::kTetris);
  EXPECT_EQ(*ParseReferencePolicy("DRF"), ReferencePolicy::kDrf);
  EXPECT_EQ(*ParseReferenceMechanism("Tune"), ReferenceMechanism::kTune);
  EXPECT_EQ(
      ParseReferencePolicy("lottery").error().message,
      "\"lottery\" is not a policy of the reference simulator: use one of FIFO, SRTF, LAS, FTF, "
      "DRF, TETRIS");
  EXPECT_EQ(
      ParseReferenceMechanism("").error().message,
      "\"\" is not a mechanism of the reference simulator: use one of fair, greedy, tune, opt");
  EXPECT_EQ(*ParseReferenceArrivals("Static"), ReferenceArrivals::kStatic);
  EXPECT_EQ(
      ParseReferenceArrivals("live").error().message,
      "\"live\" is not a kind of arrivals of the reference simulator: use one of auto, static, "
      "replay, generated");
}

}  // namespace
}  // namespace synergy::reference
