#include "controller/queues/prerun_keeper.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/wall_time.h"
#include "json/document.h"
#include "support/fake_clock.h"
#include "support/recorded_events.h"
#include "support/recorded_log.h"
#include "wire/kueue/prerun.h"

namespace synergy::controller {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kGpu[] = "nvidia.com/gpu";

std::string JobText(const std::string& name, const std::string& prerun,
                    const std::string& spec = R"("parallelism": 1)") {
  const std::string annotations =
      prerun.empty() ? "{}" : fmt::format(R"({{"synergy.io/prerun": "{}"}})", prerun);
  return fmt::format(R"({{"metadata": {{"name": "{0}", "namespace": "team", "uid": "uid-{0}",
      "annotations": {1}}}, "spec": {{{2}, "template": {{"spec": {{"containers": [{{"name": "c",
      "resources": {{"limits": {{"nvidia.com/gpu": "1"}}}}}}]}}}}}}}})",
                     name, annotations, spec);
}

// An API server of Jobs and Workloads, whose watches are those of the keeper.
class FakeCluster final : public kube::PrerunApi {
 public:
  Result<bool> HasPriorityClass(const std::string& name, std::stop_token) override {
    if (class_error) return Fail(*class_error);
    return name == priority_class;
  }
  Result<std::string> ReadJob(const std::string&, const std::string& name,
                              std::stop_token) override {
    ++reads;
    if (error) return Fail(*error);
    const auto found = jobs.find(name);
    if (found == jobs.end()) return Fail(ErrorCode::kNotFound, "none");
    return found->second;
  }
  Result<> Begin(const std::string& its_namespace, const std::string& trial,
                 std::stop_token) override {
    if (begin_error) return Fail(*begin_error);
    const auto document = json::Document::Parse(trial);
    const json::Value metadata = document->root()["metadata"];
    PrerunTrial made{.its_namespace = its_namespace,
                     .name = std::string(metadata["name"].text()),
                     .job_uid = std::string(metadata["labels"]["synergy.io/prerun-of"].text())};
    made.uid = "trial-of-" + made.job_uid;
    const json::Value pod = document->root()["spec"]["template"]["spec"];
    classes.insert(std::string(pod["priorityClassName"].text()));
    if (trials.contains(made.name)) return Fail(ErrorCode::kConflict, "it exists");
    trials[made.name] = made;
    ++begun;
    if (answers_are_lost) return Fail(ErrorCode::kTimeout, "no answer");
    return {};
  }
  Result<> End(const PrerunTrial& trial, std::stop_token) override {
    if (trials.erase(trial.name) == 0) return Fail(ErrorCode::kNotFound, "none");
    return {};
  }
  Result<> Note(const PrerunWorkload& workload, const std::string& trial,
                std::stop_token) override {
    if (error) return Fail(*error);
    workloads[workload.name].trial = trial;
    return {};
  }
  Result<> Stop(const PrerunWorkload& workload, const std::string& trial,
                std::stop_token) override {
    if (stop_error) return Fail(*stop_error);
    workloads[workload.name].active = false;
    workloads[workload.name].stopped = trial;
    if (answers_are_lost) return Fail(ErrorCode::kTimeout, "no answer");
    return {};
  }

  std::map<std::string, std::string> jobs;          // texts by name
  std::map<std::string, PrerunWorkload> workloads;  // by name
  std::map<std::string, PrerunTrial> trials;        // by name
  std::optional<Error> error;                       // of reads and notes
  std::optional<Error> begin_error;
  std::string priority_class = "modest";  // the only one
  std::optional<Error> class_error;       // of looking it up
  std::set<std::string> classes;          // of trials
  std::optional<Error> stop_error;
  bool answers_are_lost = false;
  int reads = 0;
  int begun = 0;
};

class PrerunKeeperTest : public ::testing::Test {
 protected:
  PrerunKeeperTest() {
    queues = {{.its_namespace = "team", .name = "research", .cluster_queue = "research"},
              {.its_namespace = "team", .name = "trials", .cluster_queue = "trials"}};
    queues[0].trial_queue = "trials";
    Create("bert", "5m");
  }
  PrerunWorkload& Create(const std::string& name, const std::string& prerun) {
    api.jobs[name] = JobText(name, prerun);
    PrerunWorkload& workload = api.workloads["job-" + name];
    workload = {.uid = "w-" + name, .its_namespace = "team", .name = "job-" + name};
    workload.job = {"batch/v1", "Job", name, "uid-" + name};
    workload.queue = "research";
    return workload;
  }
  std::unique_ptr<PrerunKeeper> Begin() {
    return std::make_unique<PrerunKeeper>(
        api, PrerunKeeper::Settings{kGpu, "modest"}, events, [this] { return leads; }, clock, log,
        metrics);
  }
  // The watches see all that there is; then the keeper acts.
  void Step(int times = 1) {
    for (int i = 0; i < times; ++i) {
      clock.Advance(1s);
      const auto all = [](const auto& map) {
        std::vector<std::decay_t<decltype(map.begin()->second)>> values;
        for (const auto& [name, value] : map) values.push_back(value);
        return values;
      };
      keeper->workloads().Replace(all(api.workloads));
      keeper->trials().Replace(all(api.trials));
      keeper->queues().Replace(queues);
      keeper->Step(histories, {});
    }
  }
  void FailTrial(Category category, const std::string& of = "bert") {
    const Outcome& outcome = EntryOf(category).outcome;
    FailureRecord record;
    record.at = record.attempt = clock.WallNow();
    record.owner = {"batch/v1", "Job", "prerun-uid-" + of, "trial-of-uid-" + of};
    record.category = ToString(category);
    record.cause = ToString(outcome.cause);
    record.behaviour = ToString(outcome.behaviour);
    record.evidence = "No module named 'apex'";
    record.leads = true;
    histories["team"].records.push_back(record);
    api.trials["prerun-uid-" + of].finished = true;
  }
  void ExpectOutcome(const std::string& outcome, int count) {
    EXPECT_THAT(metrics.Render(),
                HasSubstr(fmt::format("synergy_controller_preruns_total{{outcome=\"{}\"}} {}\n",
                                      outcome, count)));
  }
  // Looks at the job again after the pause, and returns the last event.
  std::string NextRefusal() {
    events.all.clear();
    clock.Advance(PrerunKeeper::kAgain);
    Step();
    EXPECT_EQ(api.begun, 0);
    return events.all.empty() ? "" : events.all.back().message;
  }

  testing::FakeClock clock;
  testing::RecordedLog lines;
  Logger log{lines, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::ControllerMetrics metrics;
  testing::RecordedEvents events;
  FakeCluster api;
  std::vector<PrerunQueue> queues;
  std::map<std::string, FailureHistory> histories{{"team", {"team", "1", {}}}};
  bool leads = true;
  std::unique_ptr<PrerunKeeper> keeper = Begin();
};

TEST_F(PrerunKeeperTest, ATrialRunsWhileTheJobWaitsAndEndsWithItsStart) {
  Step(3);
  EXPECT_EQ(api.begun, 1);
  EXPECT_EQ(api.reads, 1);
  EXPECT_EQ(api.workloads["job-bert"].trial, "trial-of-uid-bert");
  ASSERT_THAT(events.reasons(), ElementsAre("SynergyPrerun bert"));
  EXPECT_EQ(events.all[0].kind, "Job");
  EXPECT_THAT(events.all[0].message,
              HasSubstr("a trial of it runs for at most 5m (synergy.io/prerun of job bert): job "
                        "prerun-uid-bert in the local queue trials"));
  ExpectOutcome("begun", 1);
  api.workloads["job-bert"].has_quota = true;
  Step(2);
  EXPECT_THAT(api.trials, IsEmpty());
  ExpectOutcome("ended", 1);
  // It waits once more.
  api.workloads["job-bert"].has_quota = false;
  clock.Advance(1h);
  Step(3);
  EXPECT_EQ(api.begun, 1);
}

TEST_F(PrerunKeeperTest, AFailureOfTheTemplateStopsTheJobWithTheCommandThatStartsIt) {
  Step(2);
  FailTrial(Category::kImport);
  Step();
  EXPECT_FALSE(api.workloads["job-bert"].active);
  ASSERT_THAT(events.reasons(), ElementsAre("SynergyPrerun bert", "SynergyPrerunFailed bert"));
  EXPECT_THAT(
      events.all[1].message,
      AllOf(HasSubstr("import: a Python module or a name in it is missing"),
            HasSubstr("No module named 'apex'. To start it"), HasSubstr("job prerun-uid-bert"),
            HasSubstr("kubectl patch workloads.kueue.x-k8s.io job-bert -n team --type merge -p "
                      "'{\"spec\":{\"active\":true}}'")));
  ExpectOutcome("stopped", 1);
  // Its user starts it; neither this leader nor the next one stops it again.
  api.workloads["job-bert"].active = true;
  Step(2);
  keeper = Begin();
  Step(3);
  EXPECT_TRUE(api.workloads["job-bert"].active);
  EXPECT_THAT(events.all, SizeIs(2));
  EXPECT_EQ(api.begun, 1);
}

TEST_F(PrerunKeeperTest, AnImageThatATrialCannotPullStopsTheJob) {
  Step(2);
  FailTrial(Category::kImage);
  histories["team"].records.back().run = kNeverRan;
  api.trials["prerun-uid-bert"].finished = false;  // its pod waits
  Step();
  EXPECT_FALSE(api.workloads["job-bert"].active);
  EXPECT_THAT(events.all.back().message, HasSubstr("image: the image could not be pulled"));
}

TEST_F(PrerunKeeperTest, AStopWithoutAnAnswerIsReportedOnce) {
  Step(2);
  FailTrial(Category::kImport);
  api.answers_are_lost = true;
  Step();
  EXPECT_THAT(events.reasons(), ElementsAre("SynergyPrerun bert"));
  Step(12);
  EXPECT_THAT(events.reasons(), ElementsAre("SynergyPrerun bert", "SynergyPrerunFailed bert"));
  ExpectOutcome("stopped", 1);
}

TEST_F(PrerunKeeperTest, TrialsHaveTheClassByWhichTheyEvictNoPods) {
  Step();
  EXPECT_THAT(api.trials, SizeIs(1));
  EXPECT_THAT(api.classes, ElementsAre("modest"));
}

TEST_F(PrerunKeeperTest, WithoutTheirClassNoTrialsRunAndJobsHaveAnEvent) {
  api.priority_class = "other";
  Step(3);
  EXPECT_THAT(api.trials, IsEmpty());
  ASSERT_THAT(events.lines(), SizeIs(1));
  EXPECT_THAT(events.lines()[0], HasSubstr("there is no PriorityClass modest"));
  ExpectOutcome("refused", 1);
  api.class_error = Error{ErrorCode::kDenied, "may not get priorityclasses"};
  clock.Advance(PrerunKeeper::kAgain);
  Step(3);
  ASSERT_THAT(events.lines(), SizeIs(2));
  EXPECT_THAT(events.lines()[1], HasSubstr("may not get priorityclasses"));
  api.class_error.reset();
  api.priority_class = "modest";
  clock.Advance(PrerunKeeper::kAgain);
  Step();
  EXPECT_THAT(api.trials, SizeIs(1));
}

TEST_F(PrerunKeeperTest, OneRefusedCallDoesNotKeepOthersFromTheirTrials) {
  Step(2);
  FailTrial(Category::kImport);
  api.stop_error = Error{ErrorCode::kDenied, "a policy refuses it"};
  Create("other", "5m");
  Step(7);
  EXPECT_EQ(api.begun, 2);
  EXPECT_EQ(api.workloads["job-other"].trial, "trial-of-uid-other");
}

TEST_F(PrerunKeeperTest, OtherFailuresStopNothing) {
  Step(2);
  for (const Category category : {Category::kGpuOom, Category::kNetwork, Category::kUnknown}) {
    keeper = Begin();
    events.all.clear();
    histories["team"].records.clear();
    FailTrial(category);
    Step(3);
    EXPECT_TRUE(api.workloads["job-bert"].active) << ToString(category);
    EXPECT_THAT(events.lines(),
                ElementsAre(AllOf(HasSubstr("SynergyPrerun bert"), HasSubstr(ToString(category)),
                                  HasSubstr("it is not stopped"))));
  }
}

TEST_F(PrerunKeeperTest, AControllerThatIsKilledAtAnyMomentCausesNoSecondTrial) {
  api.answers_are_lost = true;
  Step();
  EXPECT_EQ(api.begun, 1);
  // The next leader's watch does not have it yet.
  keeper = Begin();
  keeper->workloads().Replace({api.workloads["job-bert"]});
  keeper->queues().Replace(queues);
  keeper->Step(histories, {});
  EXPECT_EQ(api.begun, 1);
  EXPECT_EQ(api.workloads["job-bert"].trial, "");
  keeper = Begin();
  Step();
  EXPECT_EQ(api.workloads["job-bert"].trial, "trial-of-uid-bert");
  // It is not repeated even if the trial is deleted.
  api.trials.clear();
  keeper = Begin();
  Step(2);
  EXPECT_EQ(api.begun, 1);
}

TEST_F(PrerunKeeperTest, NothingIsWrittenWithoutTheLeadOrAnAnswer) {
  leads = false;
  Step(2);
  EXPECT_EQ(api.reads, 0);
  leads = true;
  api.error = Error{ErrorCode::kUnavailable, "down"};
  Step(3);
  EXPECT_EQ(api.reads, 1) << "there is a pause";
  EXPECT_EQ(api.begun, 0);
  EXPECT_EQ(lines.Count("a call for a pre-run failed; it is tried again"), 1U);
  api.error.reset();
  Step(6);
  EXPECT_EQ(api.begun, 1);
}

TEST_F(PrerunKeeperTest, AnEventNamesWhatIsMissing) {
  api.jobs["bert"] = JobText("bert", "5 min");
  EXPECT_THAT(NextRefusal(), HasSubstr("synergy.io/prerun of job bert: \"5 min\": write a time"));
  api.jobs["bert"] = JobText("bert", "5m");
  queues[0].trial_queue.clear();
  EXPECT_THAT(NextRefusal(), HasSubstr("the local queue research lacks the annotation "
                                       "synergy.io/prerun-queue"));
  queues[0].trial_queue = "others";
  EXPECT_THAT(NextRefusal(), HasSubstr("there is no local queue others"));
  queues[0].trial_queue = "research";
  EXPECT_THAT(NextRefusal(), HasSubstr("belongs to the same cluster queue"));
  queues[0].trial_queue = "trials";
  queues[1].trial_resource = "cpu";
  EXPECT_THAT(NextRefusal(), HasSubstr("write nvidia.com/gpu, nvidia.com/gpu.shared or "));
  queues[1].trial_resource.clear();
  api.begin_error = Error{ErrorCode::kDenied, "exceeded quota"};
  EXPECT_THAT(NextRefusal(), HasSubstr("No trial of it runs: exceeded quota"));
  ExpectOutcome("refused", 1);
  api.begin_error.reset();
  api.jobs["bert"] = JobText("bert", "5m", R"("managedBy": "other")");
  EXPECT_THAT(NextRefusal(), HasSubstr("spec.managedBy"));
}

TEST_F(PrerunKeeperTest, TheNearestAnnotationCounts) {
  queues[0].prerun = "90s";
  api.jobs["bert"] = JobText("bert", "off");
  Create("follows", "");
  Step(2);
  EXPECT_EQ(api.begun, 1);
  EXPECT_TRUE(api.trials.contains("prerun-uid-follows"));
  EXPECT_THAT(events.all.back().message,
              HasSubstr("90s (synergy.io/prerun of local queue research)"));
}

TEST_F(PrerunKeeperTest, OtherKindsHaveNoneAndGetAnEventOnlyIfTheirQueueAsks) {
  api.workloads["job-bert"].job = {"trainer.kubeflow.org/v1alpha1", "TrainJob", "bert", "uid-bert"};
  EXPECT_EQ(NextRefusal(), "");
  queues[0].prerun = "5m";
  EXPECT_EQ(NextRefusal(), "No trial of it runs: a TrainJob has none, only a Job");
  EXPECT_EQ(events.all.back().kind, "TrainJob");
}

TEST_F(PrerunKeeperTest, AJobThatNoLongerAsksIsNotStopped) {
  Step(2);
  FailTrial(Category::kImport);
  api.jobs["bert"] = JobText("bert", "off");
  Step(3);
  EXPECT_TRUE(api.workloads["job-bert"].active);
  EXPECT_THAT(events.all.back().message, HasSubstr("synergy.io/prerun no longer asks for that"));
  EXPECT_THAT(events.all, SizeIs(2)) << "there is one event";
}

TEST_F(PrerunKeeperTest, AnArrayIsStoppedOnlyForWhatAllOfItsCompletionsShare) {
  api.jobs["bert"] = JobText("bert", "5m", R"("parallelism": 2, "completions": 8)");
  Step(2);
  FailTrial(Category::kInputMissing);
  Step(2);
  EXPECT_TRUE(api.workloads["job-bert"].active);
  EXPECT_THAT(events.all.back().message, HasSubstr("its other completions may succeed"));
  Create("other", "5m");
  api.jobs["other"] = JobText("other", "5m", R"("parallelism": 2, "completions": 8)");
  Step(2);
  FailTrial(Category::kSyntax, "other");
  Step();
  EXPECT_FALSE(api.workloads["job-other"].active);
}

TEST_F(PrerunKeeperTest, AConflictWaitsForTheWatch) {
  Step(2);
  FailTrial(Category::kImport);
  api.stop_error = Error{ErrorCode::kConflict, "it has changed"};
  Step();
  EXPECT_TRUE(api.workloads["job-bert"].active);
  api.stop_error.reset();
  Step();
  EXPECT_FALSE(api.workloads["job-bert"].active);
}

TEST_F(PrerunKeeperTest, AFewJobsOfANamespaceAreStoppedInAnHour) {
  api.workloads.clear();
  for (int i = 0; i < 12; ++i) Create(fmt::format("job-{}", i), "5m");
  for (int i = 0; i < 12; ++i) {
    Step(2);
    for (const auto& [name, trial] : std::map(api.trials)) {
      if (!trial.finished) FailTrial(Category::kImport, trial.job_uid.substr(4));
    }
  }
  Step(2);
  int stopped = 0;
  for (const auto& [name, workload] : api.workloads) stopped += workload.active ? 0 : 1;
  EXPECT_EQ(api.begun, 12);
  EXPECT_EQ(stopped, 10);
}

}  // namespace
}  // namespace synergy::controller
