#include "engine/retries/prerun.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

PrerunFailure FailureOf(Category category) { return {category, EntryOf(category).outcome}; }

class PrerunTest : public ::testing::Test {
 protected:
  // A job that waits.
  PrerunWorkload& Job(const std::string& name, const std::string& of_namespace = "team") {
    auto workload = std::make_shared<PrerunWorkload>();
    workload->uid = "workload-" + name;
    workload->its_namespace = of_namespace;
    workload->name = name;
    workload->job = {"batch/v1", "Job", name, "uid-" + name};
    workload->created = WallTime(std::chrono::hours(1000) + (++made_) * 1s);
    state.workloads.push_back(workload);
    return *workload;
  }
  PrerunTrial& Trial(PrerunWorkload& of, bool noted = true) {
    auto trial = std::make_shared<PrerunTrial>();
    trial->uid = "trial-" + of.name;
    trial->its_namespace = of.its_namespace;
    trial->name = "prerun-" + of.job.uid;
    trial->job_uid = of.job.uid;
    if (noted) of.trial = trial->uid;
    state.trials.push_back(trial);
    return *trial;
  }
  PrerunPlan Plan() const {
    return PlanPreruns(
        state, [this](const PrerunWorkload& workload) { return workload.name != declines; }, limits,
        now);
  }
  std::vector<std::string> Begun() const {
    std::vector<std::string> names;
    for (const auto& workload : Plan().begin) names.push_back(workload->name);
    return names;
  }

  PrerunState state;
  PrerunLimits limits;
  std::string declines;
  WallTime now{std::chrono::hours(1001)};

 private:
  int made_ = 0;
};

TEST_F(PrerunTest, AJobThatWaitsGetsOneTrial) {
  PrerunWorkload& bert = Job("bert");
  EXPECT_THAT(Begun(), ElementsAre("bert"));
  Trial(bert, false);
  const PrerunPlan plan = Plan();
  EXPECT_THAT(plan.begin, IsEmpty());
  ASSERT_THAT(plan.note, SizeIs(1));
  EXPECT_EQ(plan.note[0].trial->uid, "trial-bert");
  bert.trial = "trial-bert";
  EXPECT_THAT(Plan().note, IsEmpty());
  // The note outlives it.
  state.trials.clear();
  EXPECT_THAT(Begun(), IsEmpty());
}

TEST_F(PrerunTest, AJobThatMayStartAtOnceGetsNone) {
  const PrerunWorkload& bert = Job("bert");
  now = bert.created + 9s;
  EXPECT_THAT(Begun(), IsEmpty());
  now = bert.created + 10s;
  EXPECT_THAT(Begun(), ElementsAre("bert"));
}

TEST_F(PrerunTest, AJobThatDoesNotWaitGetsNone) {
  Job("runs").has_quota = true;
  Job("ran").had_quota = true;
  Job("stopped").active = false;
  Job("done").finished = true;
  Job("declines");
  declines = "declines";
  EXPECT_THAT(Begun(), IsEmpty());
}

TEST_F(PrerunTest, TheJobsStartAndItsEndEndTheTrialOnceItIsNoted) {
  PrerunWorkload& bert = Job("bert");
  Trial(bert, false);
  bert.has_quota = true;
  EXPECT_THAT(Plan().end, IsEmpty());
  bert.trial = "trial-bert";
  EXPECT_THAT(Plan().end, SizeIs(1));
  bert.has_quota = false;
  EXPECT_THAT(Plan().end, IsEmpty());
  bert.finished = true;
  bert.trial.clear();
  EXPECT_THAT(Plan().end, SizeIs(1)) << "nothing will note it";
  state.workloads.clear();
  EXPECT_THAT(Plan().end, IsEmpty()) << "the API server deletes it with the Job";
}

TEST_F(PrerunTest, OnlyAFailureOfTheTemplateStopsTheJob) {
  Trial(Job("bert"));
  for (const CategoryEntry& entry : CategoryEntries()) {
    state.failures["trial-bert"] = FailureOf(entry.category);
    EXPECT_THAT(Plan().stop, SizeIs(entry.prerun ? 1 : 0)) << entry.name;
    EXPECT_THAT(Plan().report, SizeIs(entry.prerun ? 0 : 1)) << entry.name;
    // Another cause, such as a registry that fails, stops nothing.
    for (const Outcome& outcome :
         {Outcome{Cause::kSynergy, Behaviour::kTransient, Advice::kRetry},
          Outcome{Cause::kInfrastructure, Behaviour::kTransient, Advice::kRetry},
          Outcome{Cause::kUser, Behaviour::kUnknown, Advice::kRetry}}) {
      state.failures["trial-bert"].outcome = outcome;
      EXPECT_THAT(Plan().stop, IsEmpty()) << entry.name;
    }
  }
}

TEST_F(PrerunTest, AJobIsStoppedOnceForATrialAndOnlyWhileItWaits) {
  PrerunWorkload& bert = Job("bert");
  Trial(bert);
  state.failures["trial-bert"] = FailureOf(Category::kImport);
  EXPECT_THAT(Plan().stop, SizeIs(1));
  bert.has_quota = true;
  EXPECT_THAT(Plan().stop, IsEmpty());
  bert.has_quota = false;
  bert.active = false;
  EXPECT_THAT(Plan().stop, IsEmpty());
  // Its user starts it nevertheless.
  bert.active = true;
  bert.stopped = "trial-bert";
  EXPECT_THAT(Plan().stop, IsEmpty());
}

TEST_F(PrerunTest, TheOtherCompletionsOfAnArrayMayDifferInArgumentsFilesAndRights) {
  for (const CategoryEntry& entry : CategoryEntries()) {
    const bool differs = entry.category == Category::kArguments ||
                         entry.category == Category::kInputMissing ||
                         entry.category == Category::kPermission;
    EXPECT_EQ(PreventsStart(FailureOf(entry.category), true), entry.prerun && !differs)
        << entry.name;
  }
}

TEST_F(PrerunTest, TrialsAreBoundedByNamespaceAndInAll) {
  limits = {.in_namespace = 2, .in_all = 3};
  for (const char* const name : {"a", "b", "c"}) Job(name);
  for (const char* const name : {"d", "e"}) Job(name, "other");
  EXPECT_THAT(Begun(), ElementsAre("a", "b", "d"));
  PrerunTrial& first = Trial(*std::const_pointer_cast<PrerunWorkload>(state.workloads[0]));
  EXPECT_THAT(Begun(), ElementsAre("b", "d"));
  first.finished = true;
  EXPECT_THAT(Begun(), ElementsAre("b", "c", "d"));
  // Kueue has stopped the trial's own Workload: its time is over.
  first.finished = false;
  PrerunWorkload& of_trial = Job("prerun-uid-a");
  of_trial.job.uid = first.uid;
  of_trial.active = false;
  EXPECT_THAT(Begun(), ElementsAre("b", "c", "d"));
}

TEST_F(PrerunTest, ATrialOfAnotherNamespacesJobDoesNothing) {
  PrerunWorkload& bert = Job("bert");
  PrerunTrial& trial = Trial(bert, false);
  trial.its_namespace = "other";
  state.failures[trial.uid] = FailureOf(Category::kImport);
  EXPECT_THAT(Plan().note, IsEmpty());
  EXPECT_THAT(Plan().stop, IsEmpty());
}

TEST(ParsePrerunTest, TakesATimeOrOff) {
  EXPECT_EQ(*ParsePrerun("5m"), Duration(5min));
  EXPECT_EQ(*ParsePrerun("90s"), Duration(90s));
  EXPECT_EQ(*ParsePrerun("off"), Duration::zero());
  for (const char* const wrong : {"", "5", "1s", "2h", "-5m", "on", "5m "}) {
    const auto parsed = ParsePrerun(wrong);
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_THAT(parsed.error().message,
                HasSubstr(fmt::format("\"{}\": write a time from 10s to 1h", wrong)));
  }
}

}  // namespace
}  // namespace synergy
