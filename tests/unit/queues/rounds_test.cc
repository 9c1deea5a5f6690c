#include "queues/rounds.h"

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace synergy {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// The moment at which a round of five minutes begins.
constexpr WallTime kRoundBegins{Duration(std::chrono::hours(500'000))};

Rounds Made(const std::string& policy, RoundSettings settings = RoundSettings()) {
  settings.policy = policy;
  return *Rounds::Make(std::move(settings));
}

RoundWorkload Pending(const std::string& name, int64_t gpus = 1, double served = 0) {
  RoundWorkload workload;
  workload.name = name;
  workload.may_lose_turn = true;
  workload.gpus = Gpus(gpus);
  workload.created = kRoundBegins - minutes(60);
  workload.service.served = served;
  return workload;
}

// Returns a job that has run for an hour.
RoundWorkload Admitted(const std::string& name, int64_t gpus = 1, double served = 0) {
  RoundWorkload workload = Pending(name, gpus, served);
  workload.state = RoundState::kRuns;
  workload.band = Band::kRuns;
  workload.started = kRoundBegins - minutes(60);
  return workload;
}

RoundWorkload Needs(RoundWorkload workload, double remaining) {
  workload.service.remaining = Seconds(remaining);
  return workload;
}

// Returns "name: band": first running jobs, then the next ones, each in the order of the policy.
std::vector<std::string> Bands(const Rounds& rounds, int64_t quota,
                               const std::vector<RoundWorkload>& workloads, bool begins = true,
                               WallTime now = kRoundBegins) {
  const RoundDecision decision = rounds.Decide(Gpus(quota), workloads, begins, now);
  std::vector<std::string> bands;
  for (const size_t index : decision.order) {
    bands.push_back(workloads[index].name + ": " +
                    std::string(ToString(decision.verdicts[index].band)));
  }
  return bands;
}

using Strings = std::vector<std::string>;

TEST(Rounds, TheLeastServedTakeTurns) {
  const Rounds rounds = Made("las");
  EXPECT_EQ(Bands(rounds, 1, {Admitted("a", 1, 300), Pending("b"), Pending("c", 1, 200)}),
            (Strings{"b: runs", "c: next", "a: next"}));
}

TEST(Rounds, AnOrderThatIsGivenGoesBeforeWhatTheyHaveHad) {
  const Rounds rounds = Made("las", {.gpu_types = GpuTypes::kAware});
  const auto at = [](RoundWorkload workload, double place) {
    workload.place = place;
    return workload;
  };
  EXPECT_EQ(Bands(rounds, 1, {at(Admitted("a"), 2), at(Pending("b", 1, 900), 1), Pending("c")}),
            (Strings{"b: runs", "a: next", "c: next"}));
}

TEST(Rounds, JobWithoutATurnIsNextAndYieldsOnlyToTurns) {
  const RoundDecision decision = Made("las").Decide(
      Gpus(1), std::vector{Admitted("a", 1, 300), Pending("b")}, true, kRoundBegins);
  EXPECT_EQ(decision.verdicts[0].band, Band::kNext);
  EXPECT_EQ(decision.verdicts[0].why, "other jobs come first");
  EXPECT_EQ(decision.verdicts[1].why, "it has its turn");
}

TEST(Rounds, NoJobMovesForLessThanARestartCosts) {
  const Rounds rounds = Made("las");
  EXPECT_EQ(Bands(rounds, 1, {Admitted("a", 1, 59), Pending("b")}),
            (Strings{"a: runs", "b: next"}));
  EXPECT_EQ(Bands(rounds, 1, {Admitted("a", 1, 61), Pending("b")}),
            (Strings{"b: runs", "a: next"}));
  // The limits are GPU-seconds: with eight GPUs, eight times as many.
  EXPECT_EQ(Bands(rounds, 8, {Admitted("a", 8, 8 * 59), Pending("b", 8)}),
            (Strings{"a: runs", "b: next"}));
}

TEST(Rounds, TurnsChangeWhereARoundBeginsAndNotWithinIt) {
  const Rounds rounds = Made("las");
  const std::vector<RoundWorkload> two = {Admitted("a", 1, 300), Pending("b")};
  EXPECT_EQ(Bands(rounds, 1, two, false), (Strings{"a: runs", "b: next"}));
  // A job does not lose the turn that it was given before it runs.
  std::vector<RoundWorkload> given = two;
  given[0].band = Band::kNext;
  given[1].band = Band::kRuns;
  EXPECT_EQ(Bands(rounds, 1, given, false), (Strings{"b: runs", "a: next"}));
}

TEST(Rounds, RunningJobsKeepTheirTurnBeforeWaitingOnes) {
  // Both had a turn in this round. Meanwhile a job that is never suspended got a GPU.
  RoundWorkload never = Admitted("never");
  never.may_lose_turn = false;
  RoundWorkload waits = Pending("waits");
  waits.band = Band::kRuns;
  EXPECT_EQ(Bands(Made("las"), 2, {never, Admitted("runs", 1, 300), waits}, false),
            (Strings{"never: runs", "runs: runs", "waits: next"}));
  EXPECT_EQ(Bands(Made("las"), 3, {never, Admitted("runs", 1, 300), waits}, false),
            (Strings{"never: runs", "runs: runs", "waits: runs"}));
}

TEST(Rounds, JobWithoutCheckpointsRunsToItsEnd) {
  std::vector<RoundWorkload> two = {Admitted("a", 1, 9000), Pending("b")};
  two[0].may_lose_turn = false;
  const RoundDecision decision = Made("las").Decide(Gpus(1), two, true, kRoundBegins);
  EXPECT_EQ(decision.verdicts[0].band, Band::kRuns);
  EXPECT_EQ(decision.verdicts[0].why, "it is never suspended");
  EXPECT_EQ(decision.verdicts[1].band, Band::kNext);
  // It also keeps its turn beyond the quota; then no other job has a turn.
  EXPECT_EQ(Bands(Made("las"), 0, two), (Strings{"a: runs", "b: waits"}));
}

TEST(Rounds, NoJobLosesItsTurnBeforeTheLeastRun) {
  std::vector<RoundWorkload> two = {Admitted("a", 1, 9000), Pending("b")};
  two[0].started = kRoundBegins - minutes(5) + seconds(1);
  EXPECT_EQ(Bands(Made("las"), 1, two), (Strings{"a: runs", "b: next"}));
  two[0].started = kRoundBegins - minutes(5);
  EXPECT_EQ(Bands(Made("las"), 1, two), (Strings{"b: runs", "a: next"}));
}

TEST(Rounds, TheShortestGoesFirstAndTheUnknownLast) {
  const std::vector<RoundWorkload> workloads = {Pending("unknown"), Needs(Pending("long"), 5000),
                                                Needs(Pending("short"), 500)};
  EXPECT_EQ(Bands(Made("srtf"), 2, workloads),
            (Strings{"short: runs", "long: runs", "unknown: next"}));
}

TEST(Rounds, UnknownRemainingTimeSuspendsNoJob) {
  for (const char* policy : {"srtf", "ftf"}) {
    const RoundDecision decision = Made(policy).Decide(
        Gpus(1), std::vector{Admitted("a"), Needs(Pending("b"), 500)}, true, kRoundBegins);
    EXPECT_EQ(decision.verdicts[0].band, Band::kRuns) << policy;
    EXPECT_EQ(decision.verdicts[0].why, "its remaining time is unknown");
  }
}

TEST(Rounds, JobWithARefutedRemainingTimeYields) {
  for (const char* policy : {"srtf", "ftf"}) {
    RoundWorkload refuted = Admitted("a");
    refuted.service.refuted = true;
    EXPECT_EQ(Bands(Made(policy), 1, {refuted, Needs(Pending("b"), 5000)}),
              (Strings{"b: runs", "a: next"}))
        << policy;
  }
}

TEST(Rounds, NearlyDoneJobKeepsItsTurn) {
  EXPECT_EQ(Bands(Made("srtf"), 1, {Needs(Admitted("a"), 60), Needs(Pending("b"), 1)}),
            (Strings{"a: runs", "b: next"}));
  EXPECT_EQ(Bands(Made("srtf"), 1, {Needs(Admitted("a"), 61), Needs(Pending("b"), 1)}),
            (Strings{"b: runs", "a: next"}));
}

TEST(Rounds, ASecondStartCostsWhatARestartDoes) {
  // The running job's 500 s are less than the other's 450 s, which count as 510 s if that job has
  // run before and would have to restart.
  EXPECT_EQ(Bands(Made("srtf"), 1, {Needs(Admitted("a"), 500), Needs(Pending("b", 1, 10), 450)}),
            (Strings{"a: runs", "b: next"}));
  EXPECT_EQ(Bands(Made("srtf"), 1, {Needs(Admitted("a"), 500), Needs(Pending("b"), 450)}),
            (Strings{"b: runs", "a: next"}));
}

TEST(Rounds, FinishTimeFairnessPrefersShortJobsWithLongWaits) {
  std::vector<RoundWorkload> two = {Needs(Pending("new"), 100), Needs(Pending("old"), 100)};
  two[0].created = kRoundBegins - seconds(1);
  EXPECT_EQ(Bands(Made("ftf"), 1, two), (Strings{"old: runs", "new: next"}));
}

TEST(Rounds, SkipsJobsThatDoNotFit) {
  EXPECT_EQ(
      Bands(Made("las"), 4, {Pending("first", 3), Pending("large", 2, 1), Pending("small", 1, 2)}),
      (Strings{"first: runs", "small: runs", "large: next"}));
}

TEST(Rounds, FirstComeFirstServedIsStrict) {
  std::vector<RoundWorkload> three = {Pending("first", 3), Pending("large", 2),
                                      Pending("small", 1)};
  for (size_t index = 0; index < three.size(); ++index)
    three[index].created += seconds(static_cast<int64_t>(index));
  EXPECT_EQ(Bands(Made("fifo"), 4, three), (Strings{"first: runs", "large: next", "small: next"}));
  // No running job loses its turn to a job that arrived earlier.
  three[2] = Admitted("small", 1);
  three[2].created += seconds(5);
  three[2].band = Band::kNext;
  EXPECT_EQ(Bands(Made("fifo"), 4, three), (Strings{"small: runs", "first: runs", "large: next"}));
}

TEST(Rounds, ClassesOfPriorityGoBeforeThePolicy) {
  std::vector<RoundWorkload> two = {Pending("dear", 1, 9000), Pending("cheap")};
  two[0].own_priority = 1000;
  EXPECT_EQ(Bands(Made("las"), 1, two), (Strings{"dear: runs", "cheap: next"}));
}

TEST(Rounds, AsMuchAsTheQuotaIsNextAndTheRestWaits) {
  std::vector<RoundWorkload> workloads;
  for (int index = 0; index < 6; ++index)
    workloads.push_back(Pending("w" + std::to_string(index), 1));
  EXPECT_EQ(Bands(Made("las"), 2, workloads),
            (Strings{"w0: runs", "w1: runs", "w2: next", "w3: next", "w4: waits", "w5: waits"}));
}

TEST(Rounds, JobLargerThanTheQuotaDelaysNoOther) {
  for (const char* policy : {"las", "fifo"}) {
    EXPECT_EQ(Bands(Made(policy), 2, {Pending("a", 3), Pending("b", 2)}),
              (Strings{"b: runs", "a: waits"}))
        << policy;
  }
}

TEST(Rounds, IgnoredJobKeepsItsGpusAndBand) {
  std::vector<RoundWorkload> two = {Admitted("a", 2), Pending("b", 1)};
  two[0].left_alone = true;
  two[0].band = Band::kWaits;
  const RoundDecision decision = Made("las").Decide(Gpus(2), two, true, kRoundBegins);
  EXPECT_EQ(decision.verdicts[0].band, Band::kWaits);
  EXPECT_EQ(decision.verdicts[1].band, Band::kNext);
  EXPECT_EQ(decision.order, std::vector<size_t>{1});
}

TEST(Rounds, LeavingJobCountsAsWaiting) {
  std::vector<RoundWorkload> two = {Admitted("a", 1, 300), Pending("b")};
  two[0].state = RoundState::kLeaves;
  two[0].may_lose_turn = false;
  EXPECT_EQ(Bands(Made("las"), 1, two), (Strings{"b: runs", "a: next"}));
}

TEST(Rounds, QueuesGoByTheTimeThatAllGpusHad) {
  const Rounds rounds = Made("2d-las", {.queues = {.limits = {1000}}});
  RoundService wide;
  rounds.Charge(wide, Gpus(4), kRoundBegins, Rounds::Doing::kRan, seconds(251),
                kRoundBegins + seconds(251));
  EXPECT_EQ(wide.served, 4 * 251);
  EXPECT_EQ(wide.place.queue, 1U);
  RoundWorkload a = Pending("a", 4);
  a.service = wide;
  EXPECT_EQ(Bands(rounds, 4, {a, Pending("b", 4)}), (Strings{"b: runs", "a: next"}));
}

TEST(Rounds, WaitingLongBringsAJobBackToTheFirstQueueWhereThatIsAskedFor) {
  const Rounds rounds = Made("2d-las", {.queues = {.limits = {10}, .promote = 8}});
  RoundService service;
  rounds.Charge(service, Gpus(1), kRoundBegins, Rounds::Doing::kRan, seconds(20), kRoundBegins);
  EXPECT_EQ(service.place.queue, 1U);
  rounds.Charge(service, Gpus(1), kRoundBegins, Rounds::Doing::kWaited, seconds(159), kRoundBegins);
  EXPECT_EQ(service.place.queue, 1U);
  rounds.Charge(service, Gpus(1), kRoundBegins, Rounds::Doing::kWaited, seconds(1), kRoundBegins);
  EXPECT_EQ(service.place.queue, 0U);
  EXPECT_EQ(service.served, 20);  // earlier service stays
}

TEST(Rounds, TimeInWhichSomePodsRunIsNeither) {
  const Rounds rounds = Made("2d-las");
  RoundService service;
  rounds.Charge(service, Gpus(1), kRoundBegins, Rounds::Doing::kNeither, seconds(20), kRoundBegins);
  EXPECT_EQ(service, RoundService());
}

TEST(Rounds, AWaitIsSplitByWhatKeptIt) {
  const Rounds rounds = Made("las");
  RoundService service;
  const auto charge = [&](Rounds::Doing doing, int64_t length) {
    rounds.Charge(service, Gpus(2), kRoundBegins, doing, seconds(length), kRoundBegins);
  };
  charge(Rounds::Doing::kWaited, 300);
  charge(Rounds::Doing::kUnplaced, 40);
  charge(Rounds::Doing::kNeither, 7);
  charge(Rounds::Doing::kRan, 100);
  charge(Rounds::Doing::kWaited, 5);
  EXPECT_EQ(service.delays.fair_share, Seconds(305));
  EXPECT_EQ(service.delays.fragmentation, Seconds(40));
  EXPECT_EQ(service.served, 200);
}

TEST(Rounds, WaitingForANodeIsNoWaitThatPromotes) {
  const Rounds rounds = Made("2d-las", {.queues = {.limits = {10}, .promote = 8}});
  RoundService service;
  rounds.Charge(service, Gpus(1), kRoundBegins, Rounds::Doing::kRan, seconds(20), kRoundBegins);
  rounds.Charge(service, Gpus(1), kRoundBegins, Rounds::Doing::kUnplaced, seconds(999),
                kRoundBegins);
  EXPECT_EQ(service.place.queue, 1U);
}

TEST(Rounds, GittinsGoesByTheSizesOfThePast) {
  // Most jobs end soon; a job that has lasted longer than they do continues for long.
  const Rounds rounds = Made("2d-gittins", {.queues = {.limits = {}}, .sizes = {10, 10, 10, 1000}});
  const auto served = [](RoundWorkload workload, double had) {
    workload.service.served = had;
    workload.service.place.served = Seconds(had);
    return workload;
  };
  EXPECT_EQ(Bands(rounds, 1, {served(Pending("old"), 20), served(Pending("young"), 1)}),
            (Strings{"young: runs", "old: next"}));
}

TEST(Rounds, BeginAtMultiplesOfTheirLength) {
  const Rounds rounds = Made("las");
  EXPECT_EQ(rounds.RoundAt(kRoundBegins + seconds(299)), kRoundBegins);
  EXPECT_EQ(rounds.RoundAt(kRoundBegins), kRoundBegins);
}

TEST(Rounds, ErrorsNameTheInvalidSetting) {
  const auto error = [](RoundSettings settings) {
    const Result<Rounds> made = Rounds::Make(std::move(settings));
    return made ? std::string() : made.error().message;
  };
  EXPECT_NE(error({.policy = "best"}).find("unknown policy 'best': use one of fifo, srtf"),
            std::string::npos);
  EXPECT_EQ(error({.queues = {.limits = {2, 1}}}), "queueLimits: must be above zero and ascending");
  EXPECT_EQ(error({.queues = {.promote = -1}}), "promote: must not be negative");
  EXPECT_EQ(error({.round = Duration(0)}), "round: must be at least one second");
  EXPECT_EQ(error({.least_run = seconds(-1)}), "leastRun, restartCost: must not be negative");
  EXPECT_EQ(error({}), "");
}

TEST(Rounds, ElasticPolicyReportsBandsAsTheyAre) {
  RoundWorkload waits = Pending("b");
  waits.band = Band::kWaits;
  EXPECT_EQ(Bands(Made("fifo", {.elastic = true}), 1, {waits, Pending("c"), Admitted("a", 2)}),
            (std::vector<std::string>{"a: runs", "c: next", "b: waits"}));
}

// "large" waits for eight of eight GPUs, of which running jobs have six.
class BackfillTest : public ::testing::Test {
 protected:
  BackfillTest() {
    for (RoundWorkload* workload : {&soon, &late}) workload->may_lose_turn = false;
    large.created -= minutes(10);
  }

  static RoundWorkload EndsWithin(RoundWorkload workload, Duration longest) {
    workload.longest = longest;
    return workload;
  }
  Strings With(RoundWorkload other) { return Bands(rounds, 8, {soon, late, large, other}); }
  Strings IfItRuns() const { return {"late: runs", "soon: runs", "small: runs", "large: next"}; }
  Strings IfItWaits() const { return {"late: runs", "soon: runs", "large: next", "small: waits"}; }

  const Rounds rounds = Made("fifo", {.backfill = true});
  RoundWorkload soon = Needs(Admitted("soon", 3), 3600);
  RoundWorkload late = Needs(Admitted("late", 3), 4 * 3600);
  RoundWorkload large = Pending("large", 8);
};

TEST_F(BackfillTest, JobsThatSurelyEndInTimeRunBefore) {
  // The later job may end in two hours at the earliest.
  EXPECT_EQ(With(EndsWithin(Pending("small", 2), minutes(120))), IfItRuns());
  EXPECT_EQ(With(EndsWithin(Pending("small", 2), minutes(121))), IfItWaits());
  EXPECT_EQ(With(Pending("small", 2)), IfItWaits()) << "it has no known end";
  EXPECT_EQ(With(EndsWithin(Pending("small", 3), minutes(1))), IfItWaits()) << "no room";
  EXPECT_EQ(
      Bands(Made("fifo"), 8, {soon, late, large, EndsWithin(Pending("small", 2), minutes(1))}),
      IfItWaits());
  // Its own progress counts, too: it may take twice as long, and a minute to restart.
  EXPECT_EQ(With(Needs(Pending("small", 2), 59 * 60)), IfItRuns());
  EXPECT_EQ(With(Needs(Pending("small", 2), 60 * 60)), IfItWaits());
}

TEST_F(BackfillTest, JobsRunOnGpusThatAreNotNeeded) {
  large.gpus = Gpus(4);  // it waits for "soon", and then one of five GPUs is left
  EXPECT_EQ(With(Pending("small", 1)), IfItRuns());
  EXPECT_EQ(With(Pending("small", 2)).back(), "small: next");
  const RoundDecision decision =
      rounds.Decide(Gpus(8), std::vector{soon, late, large, Pending("one", 1), Pending("other", 1)},
                    true, kRoundBegins);
  EXPECT_EQ(decision.verdicts[3].band, Band::kRuns);
  EXPECT_EQ(decision.verdicts[3].why, "it uses GPUs that the job ahead of it does not need");
  EXPECT_NE(decision.verdicts[4].band, Band::kRuns) << "it is given once";
}

TEST_F(BackfillTest, NoJobPassesOneWithoutADate) {
  late.service.remaining.reset();
  EXPECT_EQ(With(EndsWithin(Pending("small", 1), minutes(1))), IfItWaits());
  late.service.remaining = Seconds(4 * 3600);
  late.service.refuted = true;
  EXPECT_EQ(With(EndsWithin(Pending("small", 1), minutes(1))), IfItWaits());
  // A limit is a date, but the job may end at any time before.
  late.longest = minutes(300);
  EXPECT_EQ(With(EndsWithin(Pending("small", 1), minutes(31))), IfItWaits());
  EXPECT_EQ(With(EndsWithin(Pending("small", 1), minutes(30))), IfItRuns()) << "before soon ends";
}

TEST_F(BackfillTest, AJobThatWaitsLosesTheTurnThatIsNoLongerInTime) {
  RoundWorkload small = EndsWithin(Pending("small", 2), minutes(120));
  small.band = Band::kRuns;
  EXPECT_EQ(Bands(rounds, 8, {soon, late, large, small}, false), IfItRuns());
  late.service.remaining = Seconds(3 * 3600);
  EXPECT_EQ(Bands(rounds, 8, {soon, late, large, small}, false), IfItWaits());
}

}  // namespace
}  // namespace synergy
