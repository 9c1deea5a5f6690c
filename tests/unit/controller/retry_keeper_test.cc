#include "controller/progress/failures/retry_keeper.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "core/wall_time.h"
#include "failure/category.h"
#include "support/fake_clock.h"
#include "support/recorded_events.h"
#include "support/recorded_log.h"
#include "unit/controller/fake_profile_api.h"
#include "unit/controller/fake_retry_api.h"

namespace synergy::controller {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const ObjectOwner kBert{"batch/v1", "Job", "bert", "uid-bert"};
const ObjectOwner kTrain{"trainer.kubeflow.org/v1alpha1", "TrainJob", "train", "uid-train"};

class RetryKeeperTest : public ::testing::Test {
 protected:
  RetryKeeperTest() { Create(kBert); }

  wire::StoppableJob& Create(const ObjectOwner& job) {
    wire::StoppableJob& made = api.jobs[job.name];
    made = {.kind = job.kind, .job_namespace = "team", .name = job.name, .uid = job.uid};
    made.retries = "stop-futile";
    return made;
  }
  wire::StoppableJob& Queue(const ObjectOwner& job) {
    wire::StoppableJob& made = api.jobs["workload-" + job.name];
    made = {.kind = "Workload", .job_namespace = "team", .name = "workload-" + job.name};
    made.owner = job;
    return made;
  }
  std::unique_ptr<RetryKeeper> Begin(bool kueue = true) {
    return std::make_unique<RetryKeeper>(
        api, MemoryRaiser(profiles, profile_api, state), kueue, events, [this] { return leads; },
        clock, log, metrics);
  }
  // The job's next attempt begins after a pause, and fails now.
  FailureRecord& Fail(Category category, const ObjectOwner& job = kBert, Duration ran = 30s) {
    const Outcome& outcome = EntryOf(category).outcome;
    clock.Advance(1s + ran);
    FailureRecord record;
    record.at = record.attempt = clock.WallNow();
    record.started = record.created = record.at - ran;
    record.uid = fmt::format("uid-{}", ++pods);
    record.owner = job;
    record.category = ToString(category);
    record.cause = ToString(outcome.cause);
    record.behaviour = ToString(outcome.behaviour);
    record.workload = "w-1";
    record.image_id = "sha256:1";
    record.iterations = 0;
    record.leads = true;
    history.records.push_back(record);
    keeper->Look(history.of_namespace);
    return history.records.back();
  }
  void FailTwice(const ObjectOwner& job = kBert) {
    for (int i = 0; i < 2; ++i) Fail(Category::kImport, job);
  }
  void ResumeAndFail() {
    api.jobs["bert"].stopped = false;
    Fail(Category::kImport);
    Act();
  }
  // Steps as long as something changes, and stores the history each time.
  void Act() {
    for (int i = 0; i < 10; ++i) {
      if (keeper->Due().empty()) return;
      keeper->Step(history, true, {});
    }
    ADD_FAILURE() << "there is always something to do";
  }
  void Lead() {
    keeper = Begin();
    keeper->StartOver({{history.of_namespace, history}});
  }
  // A measured profile of the failed pods' workload.
  std::string HaveMeasured(Bytes process, const std::string& workload = "w-1") {
    MeasuredProfile measured;
    measured.workload = workload;
    measured.revision = 1;
    measured.points = {{Cores(1), 2}};
    measured.memory = MeasuredMemory{.process = process, .confirmed = true};
    const auto made = profile_api.Create("team", measured, {});
    EXPECT_TRUE(profile_api.WriteMeasured(*made, measured, {}));
    profile_api.calls.clear();
    return MeasuredName(measured);
  }
  // The job's next attempt is killed at this amount, which Synergy chose.
  FailureRecord& Kill(Bytes at, const std::string& profile, const ObjectOwner& job = kBert) {
    FailureRecord& record = Fail(Category::kHostOom, job);
    record.rule = "oom-killed";
    record.cause = "synergy";
    record.chosen_memory = at;
    record.profile = profile;
    return record;
  }
  const MeasuredProfile& Measured(const std::string& profile) {
    return *profiles.Find("team", profile)->object.measured;
  }
  void ExpectRaises(const std::string& outcome, int count) {
    EXPECT_THAT(
        metrics.Render(),
        HasSubstr(fmt::format("synergy_controller_memory_raises_total{{outcome=\"{}\"}} {}\n",
                              outcome, count)));
  }
  void ExpectOutcome(const std::string& outcome, int count) {
    EXPECT_THAT(metrics.Render(),
                HasSubstr(fmt::format("synergy_controller_suspensions_total{{outcome=\"{}\"}} {}\n",
                                      outcome, count)));
  }

  testing::FakeClock clock;
  testing::RecordedLog lines;
  Logger log{lines, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::ControllerMetrics metrics;
  testing::RecordedEvents events;
  FakeRetryApi api;
  ClusterState state;
  ProfileStore profiles{0};
  FakeProfileApi profile_api{profiles};
  bool leads = true;
  int pods = 0;
  FailureHistory history{"team", "1", {}};
  std::unique_ptr<RetryKeeper> keeper = Begin();
};

TEST_F(RetryKeeperTest, TheSecondLikeFailureSuspendsTheJobWithTheCommandThatResumesIt) {
  Fail(Category::kImport);
  Act();
  EXPECT_EQ(api.reads, 0) << "one failure decides nothing";
  Fail(Category::kImport);
  Act();
  EXPECT_THAT(api.stopped, ElementsAre("Job bert"));
  ASSERT_THAT(events.reasons(), ElementsAre("SynergySuspended bert"));
  EXPECT_EQ(events.all[0].kind, "Job");
  EXPECT_EQ(events.all[0].object_uid, "uid-bert");
  EXPECT_THAT(
      events.all[0].message,
      AllOf(HasSubstr("import: a Python module or a name in it is missing"),
            HasSubstr("kubectl patch job bert -n team --type merge -p '{\"spec\":{\"suspend\":"
                      "false}}'")));
  ExpectOutcome("suspended", 1);
  // It is done.
  Act();
  Lead();
  Act();
  EXPECT_THAT(api.stopped, SizeIs(1));
  EXPECT_THAT(events.all, SizeIs(1));
}

TEST_F(RetryKeeperTest, TheDecisionIsStoredBeforeTheJobIsSuspended) {
  FailTwice();
  EXPECT_TRUE(keeper->Step(history, false, {}));
  EXPECT_FALSE(keeper->Step(history, false, {}));
  EXPECT_THAT(api.stopped, IsEmpty());
  EXPECT_NE(history.records.back().to_suspend, WallTime{});
  EXPECT_EQ(history.records.back().suspended, WallTime{});
  EXPECT_TRUE(keeper->Step(history, true, {}));
  EXPECT_THAT(api.stopped, SizeIs(1));
  EXPECT_NE(history.records.back().suspended, WallTime{});
}

TEST_F(RetryKeeperTest, TheNearestAnnotationCounts) {
  const auto is_suspended = [&](const char* job, const char* queue, const char* of_namespace) {
    api.annotations.clear();
    wire::StoppableJob& bert = Create(kBert);
    bert.retries = job == nullptr ? std::nullopt : std::optional<std::string>(job);
    const wire::StoppableJob& workload = Queue(kBert);
    if (queue != nullptr) api.annotations["queue research"] = queue;
    if (of_namespace != nullptr) api.annotations["team"] = of_namespace;
    history.records.clear();
    clock.Advance(2h);
    for (int i = 0; i < 2; ++i) Fail(Category::kImport).queue = "research";
    Act();
    return workload.stopped;
  };
  EXPECT_FALSE(is_suspended(nullptr, nullptr, nullptr));
  EXPECT_TRUE(is_suspended("stop-futile", nullptr, nullptr));
  EXPECT_TRUE(is_suspended(nullptr, "stop-futile", nullptr));
  EXPECT_TRUE(is_suspended(nullptr, nullptr, "stop-futile"));
  EXPECT_FALSE(is_suspended("", "stop-futile", "stop-futile"));
  EXPECT_FALSE(is_suspended(nullptr, "", "stop-futile"));
  EXPECT_TRUE(is_suspended("stop-futile", "", ""));
}

TEST_F(RetryKeeperTest, WordsThatMeanNothingAreNamed) {
  api.jobs["bert"].retries = "stop-futil";
  FailTwice();
  Act();
  EXPECT_THAT(api.stopped, IsEmpty());
  ASSERT_THAT(events.reasons(), ElementsAre("SynergyRetries bert"));
  EXPECT_THAT(events.all[0].message,
              AllOf(HasSubstr("synergy.io/retries of job bert"), HasSubstr("\"stop-futil\"")));
  api.jobs["bert"].retries = "larger,stop-futile";
  Fail(Category::kImport);
  Act();
  EXPECT_THAT(api.stopped, ElementsAre("Job bert"));
}

TEST_F(RetryKeeperTest, AKillAtAnAmountOfSynergysRaisesTheNextAttemptsMemory) {
  api.jobs["bert"].retries = "larger";
  const std::string profile = HaveMeasured(GiB(10));
  Kill(GiB(11), profile);
  Act();
  EXPECT_THAT(profile_api.calls, ElementsAre("raise team/" + profile));
  EXPECT_EQ(Measured(profile).raise->times, 1);
  const Bytes next = WithMargin(*profiles.Find("team", profile)->object.profile->process_memory());
  EXPECT_NEAR(static_cast<double>(next.count()), 16.5 * (1 << 30), 2);
  ASSERT_THAT(events.lines(), SizeIs(1));
  EXPECT_EQ(events.all[0].type, "Normal");
  EXPECT_THAT(events.all[0].message,
              AllOf(HasSubstr("the limit that Synergy chose is too small: 11Gi"),
                    HasSubstr("(synergy.io/retries: larger)")));
  EXPECT_EQ(history.records.back().larger, next);
  EXPECT_NE(history.records.back().enlarged, WallTime{});
  ExpectRaises("raised", 1);
  // The next leader finds that in the record.
  Lead();
  Act();
  EXPECT_THAT(profile_api.calls, SizeIs(1));
  EXPECT_THAT(events.all, SizeIs(1));
  // Once more, and never again.
  Kill(next, profile);
  Act();
  EXPECT_EQ(Measured(profile).raise->times, 2);
  Kill(next + next, profile);
  Act();
  EXPECT_THAT(profile_api.calls, SizeIs(2));
  ExpectRaises("spent", 1);
  EXPECT_EQ(events.all.back().type, "Warning");
  EXPECT_THAT(api.stopped, IsEmpty());
}

TEST_F(RetryKeeperTest, WithoutTheWordNoMemoryIsRaised) {
  const std::string profile = HaveMeasured(GiB(10));
  for (const char* words : {"", "stop-futile,elsewhere", "largest"}) {
    api.jobs["bert"].retries = words;
    Kill(GiB(11), profile);
    Act();
  }
  EXPECT_THAT(profile_api.calls, IsEmpty());
  ExpectRaises("raised", 0);
}

TEST_F(RetryKeeperTest, ALeaderThatDiesAfterTheRaiseIsFollowedByOneThatRaisesNothing) {
  api.jobs["bert"].retries = "larger";
  const std::string profile = HaveMeasured(GiB(10));
  Kill(GiB(11), profile);
  EXPECT_TRUE(keeper->Step(history, true, {}));
  history.records.back().enlarged = {};  // this was not stored
  history.records.back().larger = {};
  Lead();
  Act();
  EXPECT_THAT(profile_api.calls, SizeIs(1));
  EXPECT_EQ(Measured(profile).raise->times, 1);
  ExpectRaises("larger", 1);
  EXPECT_THAT(events.all.back().message, HasSubstr("the next attempt gets"));
}

TEST_F(RetryKeeperTest, ARaiseWhoseAnswerIsLostIsMadeOnce) {
  api.jobs["bert"].retries = "larger";
  const std::string profile = HaveMeasured(GiB(10));
  profile_api.answers_are_lost = profile_api.watch_is_late = true;
  Kill(GiB(11), profile);
  Act();
  EXPECT_THAT(events.all, IsEmpty());
  clock.Advance(RetryKeeper::kPause);
  // The API server refuses what is based on the profile before the raise.
  Act();
  EXPECT_THAT(profile_api.calls, SizeIs(2));
  profile_api.Watch();
  clock.Advance(RetryKeeper::kPause);
  Act();
  EXPECT_THAT(profile_api.calls, SizeIs(2));
  EXPECT_EQ(Measured(profile).raise->times, 1);
  EXPECT_THAT(events.all, SizeIs(1));
}

TEST_F(RetryKeeperTest, ARaiseThatTheApiServerDropsIsLoggedOnceAndMadeOnceItKeepsIt) {
  api.jobs["bert"].retries = "larger";
  const std::string profile = HaveMeasured(GiB(10));
  profile_api.failure = Error{ErrorCode::kInvalid, "the API server has dropped it"};
  Kill(GiB(11), profile);
  // It is tried again after one pause, and then after two.
  for (int i = 0; i < 4; ++i) {
    Act();
    clock.Advance(RetryKeeper::kPause);
  }
  EXPECT_THAT(profile_api.calls, SizeIs(3));
  EXPECT_EQ(lines.Count("has dropped it"), 1);
  EXPECT_THAT(events.all, IsEmpty()) << "nothing is promised";
  ExpectRaises("raised", 0);
  profile_api.failure.reset();
  clock.Advance(3 * RetryKeeper::kPause);
  Act();
  EXPECT_EQ(Measured(profile).raise->times, 1);
  EXPECT_THAT(events.all, SizeIs(1));
}

TEST_F(RetryKeeperTest, APodThatWaitsForItsStartIsNoAttempt) {
  FailTwice();
  FailureRecord& waiting = Fail(Category::kImage);
  waiting.run = kNeverRan;
  Act();
  EXPECT_THAT(api.stopped, ElementsAre("Job bert")) << "it hides no failures";
  // However often it happens.
  Create({"batch/v1", "Job", "waits", "uid-waits"});
  for (int i = 0; i < 4; ++i) {
    FailureRecord& each = Fail(Category::kCommand, {"batch/v1", "Job", "waits", "uid-waits"});
    each.run = kNeverRan;
    Act();
  }
  EXPECT_THAT(api.stopped, SizeIs(1));
}

TEST_F(RetryKeeperTest, TwoJobsOfOneWorkloadRaiseItsMemoryOnce) {
  api.annotations["team"] = "larger";
  const ObjectOwner other{"batch/v1", "Job", "other", "uid-other"};
  for (const ObjectOwner* job : {&kBert, &other}) Create(*job).retries.reset();
  const std::string profile = HaveMeasured(GiB(10));
  Kill(GiB(11), profile);
  Kill(GiB(11), profile, other);
  Act();
  EXPECT_THAT(profile_api.calls, SizeIs(1));
  EXPECT_EQ(Measured(profile).raise->times, 1);
  EXPECT_THAT(events.all, SizeIs(2)) << "both get more";
  ExpectRaises("raised", 1);
  ExpectRaises("larger", 1);
}

TEST_F(RetryKeeperTest, OnlyTheFailedPodsOwnMeasuredProfileIsRaised) {
  api.jobs["bert"].retries = "larger";
  // There is none, it is another workload's, or a user wrote it.
  Kill(GiB(11), "");
  Act();
  Kill(GiB(11), "gone");
  Act();
  Kill(GiB(11), HaveMeasured(GiB(10), "w-2"));
  Act();
  ExpectRaises("unmeasured", 3);
  ProfileObject given;
  given.profile_namespace = "team";
  given.name = "given";
  given.training.process_memory = GiB(10);
  profiles.Upsert(given);
  Kill(GiB(11), "given");
  Act();
  ExpectRaises("given", 1);
  const std::string profile = HaveMeasured(GiB(10));
  Kill(GiB(11), profile).chosen_memory.reset();
  Act();
  ExpectRaises("written", 1);
  EXPECT_THAT(events.all.back().message, HasSubstr("its author wrote is too small, and stays"));
  Kill(GiB(11), profile).rule = "memory-error";
  Act();
  EXPECT_THAT(profile_api.calls, IsEmpty()) << "a log can say anything";
  history.of_namespace = "others";
  Kill(GiB(11), profile);
  Act();
  EXPECT_THAT(profile_api.calls, IsEmpty());
}

TEST_F(RetryKeeperTest, MemoryIsRaisedUpToWhatTheLargestMachineAndTheNamespaceAllow) {
  api.jobs["bert"].retries = "larger";
  const std::string profile = HaveMeasured(GiB(10));
  const auto killed = [&] {
    Kill(GiB(11), profile);
    Act();
    return history.records.back().larger;
  };
  Node node;
  node.name = "n1";
  node.allocatable.main = {Gpus(1), Cores(8), GiB(16)};
  state.UpsertNode(node);
  EXPECT_NEAR(static_cast<double>(killed().count()), 14.0 * (1 << 30), 2)
      << "an eighth of the node stays for others";
  ResourceQuota quota{.uid = "q", .pod_namespace = "team"};
  quota.requests.hard.memory = GiB(11);
  state.UpsertResourceQuota(quota);
  EXPECT_EQ(killed(), Bytes(0));
  ExpectRaises("bounded", 1);
}

TEST_F(RetryKeeperTest, AReplicaThatNoLongerLeadsRaisesNothing) {
  api.jobs["bert"].retries = "larger";
  Kill(GiB(11), HaveMeasured(GiB(10)));
  leads = false;
  keeper->Step(history, true, {});
  EXPECT_THAT(profile_api.calls, IsEmpty());
  EXPECT_THAT(events.all, IsEmpty());
}

TEST_F(RetryKeeperTest, AnArrayIsNeverSuspended) {
  api.jobs["bert"].independent_completions = true;
  FailTwice();
  Act();
  EXPECT_THAT(api.stopped, IsEmpty());
  EXPECT_THAT(events.lines(), ElementsAre(HasSubstr("its other completions may succeed")));
  EXPECT_EQ(history.records.back().to_suspend, WallTime{});
}

TEST_F(RetryKeeperTest, AFailureThatAnotherPodOnTheGpuMayHaveCausedIsNotFutile) {
  for (const bool shared : {true, false}) {
    for (int i = 0; i < 2; ++i) Fail(Category::kDeviceAssert).shared_gpu = shared;
    Act();
    EXPECT_THAT(api.stopped, SizeIs(shared ? 0 : 1));
  }
}

TEST_F(RetryKeeperTest, AJobThatIsGoneOrHasEndedNeedsNothing) {
  api.jobs["bert"].finished = true;
  FailTwice();
  Act();
  api.jobs.clear();
  Fail(Category::kImport);
  Act();
  Create(kBert).uid = "another";
  Fail(Category::kImport);
  Act();
  EXPECT_THAT(api.stopped, IsEmpty());
  EXPECT_THAT(events.all, IsEmpty());
  // After the decision.
  Create(kBert);
  Fail(Category::kImport);
  EXPECT_TRUE(keeper->Step(history, true, {}));
  api.jobs.clear();
  Act();
  EXPECT_THAT(api.stopped, IsEmpty());
  EXPECT_EQ(history.records.back().to_suspend, WallTime{});
  ExpectOutcome("gone", 1);
}

TEST_F(RetryKeeperTest, AJobThatWasSuspendedMeanwhileIsLeftAsItIs) {
  FailTwice();
  EXPECT_TRUE(keeper->Step(history, true, {}));
  api.jobs["bert"].stopped = true;
  Act();
  EXPECT_THAT(api.stopped, IsEmpty());
  EXPECT_THAT(events.all, IsEmpty());
  ExpectOutcome("by_others", 1);
}

TEST_F(RetryKeeperTest, ANewLeaderFinishesWhatTheLastOneDecided) {
  FailTwice();
  EXPECT_TRUE(keeper->Step(history, true, {}));
  Lead();
  Act();
  EXPECT_THAT(api.stopped, ElementsAre("Job bert"));
  EXPECT_THAT(events.reasons(), ElementsAre("SynergySuspended bert"));
}

TEST_F(RetryKeeperTest, ANewLeaderDecidesAboutFailuresThatTheLastOneRecorded) {
  FailTwice();
  Lead();
  Act();
  EXPECT_THAT(api.stopped, ElementsAre("Job bert"));
}

TEST_F(RetryKeeperTest, ANewLeaderDoesNotSuspendAgainWhatAUserHasResumed) {
  FailTwice();
  EXPECT_TRUE(keeper->Step(history, true, {}));
  const FailureHistory stored = history;
  Act();
  ASSERT_THAT(api.stopped, SizeIs(1));
  // The last leader died before it recorded that, and the user resumes the job.
  history = stored;
  api.jobs["bert"].stopped = false;
  Lead();
  Act();
  EXPECT_THAT(api.stopped, SizeIs(1));
  EXPECT_FALSE(api.jobs["bert"].stopped);
  EXPECT_NE(history.records.back().suspended, WallTime{});
}

TEST_F(RetryKeeperTest, AfterAUserResumesTheJobTheCountBeginsAnew) {
  FailTwice();
  Act();
  ASSERT_THAT(api.stopped, SizeIs(1));
  ResumeAndFail();
  EXPECT_THAT(api.stopped, SizeIs(1));
  Fail(Category::kImport);
  Act();
  EXPECT_THAT(api.stopped, SizeIs(2));
}

TEST_F(RetryKeeperTest, TheRetryThatBeganBeforeTheSuspensionDoesNotCountAfterIt) {
  FailTwice();
  EXPECT_TRUE(keeper->Step(history, true, {}));
  Fail(Category::kImport);
  Act();
  ASSERT_THAT(api.stopped, SizeIs(1));
  ResumeAndFail();
  EXPECT_THAT(api.stopped, SizeIs(1));
}

TEST_F(RetryKeeperTest, KueuesWorkloadIsDeactivatedWhateverTheJobIs) {
  Queue(kBert);
  FailTwice();
  Act();
  EXPECT_THAT(api.stopped, ElementsAre("Workload workload-bert"));
  EXPECT_FALSE(api.jobs["bert"].stopped);
  EXPECT_EQ(events.all[0].object_name, "bert");
  EXPECT_THAT(events.all[0].message,
              HasSubstr("kubectl patch workloads.kueue.x-k8s.io workload-bert -n team --type merge "
                        "-p '{\"spec\":{\"active\":true}}'"));
  api.annotations["team"] = "stop-futile";
  Queue(kTrain);
  FailTwice(kTrain);
  Act();
  EXPECT_THAT(api.stopped, ElementsAre("Workload workload-bert", "Workload workload-train"));
}

TEST_F(RetryKeeperTest, OtherKindsThanJobsAndJobSetsNeedAWorkload) {
  api.annotations["team"] = "stop-futile";
  FailTwice(kTrain);
  Act();
  ExpectOutcome("gone", 1);
  keeper = Begin(false);
  FailTwice(kTrain);
  Queue(kTrain);
  Act();
  for (const char* kind : {"RayCluster", "Deployment", "CronJob", "Job"}) {
    const ObjectOwner other{"example.com/v1", kind, "other", "uid-other"};
    Create(other);
    FailTwice(other);
    Act();
  }
  FailTwice({});
  Act();
  EXPECT_THAT(api.stopped, IsEmpty());
}

TEST_F(RetryKeeperTest, AJobInAQueueIsStoppedByItsWorkload) {
  const auto fail_in_queue = [this] {
    for (int i = 0; i < 2; ++i) Fail(Category::kImport).queue = "research";
    Act();
  };
  fail_in_queue();  // Kueue would start the Job again
  EXPECT_THAT(api.stopped, IsEmpty());
  Queue(kBert);
  fail_in_queue();
  EXPECT_THAT(api.stopped, ElementsAre("Workload workload-bert"));
}

TEST_F(RetryKeeperTest, AJobOfAnotherObjectIsNotSuspendedByItself) {
  api.jobs["bert"].owner = {"jobset.x-k8s.io/v1alpha2", "JobSet", "set", "uid-set"};
  FailTwice();
  Act();
  EXPECT_THAT(api.stopped, IsEmpty());
}

TEST_F(RetryKeeperTest, FailuresThatAreFarApartAreNoRow) {
  Fail(Category::kImport);
  clock.Advance(24h);
  Fail(Category::kImport);
  Act();
  EXPECT_THAT(api.stopped, IsEmpty());
  clock.Advance(2h);
  Fail(Category::kImport).created -= 24h;  // of the same attempt, and started late
  Act();
  EXPECT_THAT(api.stopped, IsEmpty());
  for (int i = 0; i < 2; ++i) Fail(Category::kImport);
  Act();
  EXPECT_THAT(api.stopped, SizeIs(1));
}

TEST_F(RetryKeeperTest, JobsThatCannotBeStoppedDoNotCountForTheLimit) {
  api.annotations["team"] = "stop-futile";
  for (int i = 0; i < 20; ++i) {
    FailTwice(kTrain);
    Act();
  }
  FailTwice();
  Act();
  EXPECT_THAT(api.stopped, ElementsAre("Job bert"));
}

TEST_F(RetryKeeperTest, AJobSetIsSuspendedByItself) {
  const ObjectOwner set{"jobset.x-k8s.io/v1alpha2", "JobSet", "set", "uid-set"};
  Create(set);
  FailTwice(set);
  Act();
  EXPECT_THAT(api.stopped, ElementsAre("JobSet set"));
  EXPECT_THAT(events.all[0].message, HasSubstr("kubectl patch jobsets.jobset.x-k8s.io set"));
}

TEST_F(RetryKeeperTest, AReplicaThatNoLongerLeadsWritesNothing) {
  FailTwice();
  leads = false;
  EXPECT_TRUE(keeper->Step(history, true, {}));
  EXPECT_FALSE(keeper->Step(history, true, {}));
  EXPECT_THAT(api.stopped, IsEmpty());
  EXPECT_THAT(events.all, IsEmpty());
}

TEST_F(RetryKeeperTest, CallsThatFailAreRepeatedAfterAPause) {
  api.error = Error{ErrorCode::kUnavailable, "down"};
  FailTwice();
  Act();
  EXPECT_EQ(api.reads, 1);
  clock.Advance(RetryKeeper::kPause);
  api.error.reset();
  api.stop_error = Error{ErrorCode::kConflict, "changed"};
  Act();
  EXPECT_THAT(api.stopped, IsEmpty());
  clock.Advance(RetryKeeper::kPause);
  api.stop_error.reset();
  Act();
  EXPECT_THAT(api.stopped, SizeIs(1));
  EXPECT_EQ(lines.Count("cannot act on the retries of a job"), 2U);
}

TEST_F(RetryKeeperTest, AJobThatCannotBeSuspendedIsGivenUp) {
  api.stop_error = Error{ErrorCode::kDenied, "no right"};
  FailTwice();
  for (Duration waited{}; waited <= 2 * RetryKeeper::kLatestToSuspend;
       waited += RetryKeeper::kPause) {
    Act();
    clock.Advance(RetryKeeper::kPause);
  }
  api.stop_error.reset();
  Act();
  EXPECT_THAT(api.stopped, IsEmpty());
  EXPECT_THAT(keeper->Due(), IsEmpty());
  EXPECT_EQ(history.records.back().to_suspend, WallTime{});
  EXPECT_EQ(lines.Count("cannot act on the retries of a job"), 1U);
  ExpectOutcome("given_up", 1);
}

// A policy of the cluster may refuse the change of one job.
TEST_F(RetryKeeperTest, AJobThatCannotBeSuspendedDelaysNoOther) {
  const ObjectOwner other{"batch/v1", "Job", "other", "uid-later"};
  Create(other);
  ASSERT_LT(kBert.uid, other.uid);
  api.stop_error = Error{ErrorCode::kDenied, "refused by a policy"};
  api.refused = kBert.name;
  FailTwice();
  FailTwice(other);
  Act();
  EXPECT_THAT(api.stopped, ElementsAre("Job other"));
}

TEST_F(RetryKeeperTest, ADecisionIsWithdrawnIfTheOwnerHasChangedTheJobMeanwhile) {
  const std::vector<std::function<void()>> changes = {
      [this] { Fail(Category::kImport).image_id = "sha256:2"; },
      [this] { Fail(Category::kImport).workload = "w-2"; },
      [this] { Fail(Category::kNetwork); },
      [this] { api.jobs["bert"].retries = ""; },
      [this] { api.jobs["bert"].retries = "stop-futil"; },
      [this] { api.jobs["bert"].retries.reset(); }};
  for (size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    clock.Advance(2h);
    Create(kBert);
    api.stop_error = Error{ErrorCode::kDenied, "no right"};
    FailTwice();
    Act();
    const size_t decided = history.records.size() - 1;
    ASSERT_NE(history.records[decided].to_suspend, WallTime{});
    api.stop_error.reset();
    changes[i]();
    clock.Advance(RetryKeeper::kPause);
    Act();
    EXPECT_THAT(api.stopped, IsEmpty());
    EXPECT_EQ(history.records[decided].to_suspend, WallTime{});
    ExpectOutcome("withdrawn", static_cast<int>(i) + 1);
  }
  // A further like failure changes nothing.
  clock.Advance(2h);
  Create(kBert);
  FailTwice();
  EXPECT_TRUE(keeper->Step(history, true, {}));
  Fail(Category::kImport);
  Act();
  EXPECT_THAT(api.stopped, ElementsAre("Job bert"));
}

TEST_F(RetryKeeperTest, SuspensionsAreLimitedByAllLeadersTogether) {
  for (int i = 0; i < 12; ++i) {
    if (i % 5 == 0) Lead();
    const ObjectOwner job{"batch/v1", "Job", fmt::format("job-{}", i), fmt::format("uid-j{}", i)};
    Create(job);
    FailTwice(job);
    Act();
  }
  EXPECT_THAT(api.stopped, SizeIs(SuspensionLimit::Rates().in_namespace));
  EXPECT_THAT(events.all.back().message, HasSubstr("as many jobs as are allowed"));
}

TEST_F(RetryKeeperTest, RanksThatFailOneAfterTheOtherAreOneAttempt) {
  Fail(Category::kImport);
  Fail(Category::kImport).started -= 2min;  // it ran before the first one failed
  Act();
  EXPECT_THAT(api.stopped, IsEmpty());
  Fail(Category::kImport).created -= 2min;  // it was created before that, and started late
  Act();
  EXPECT_THAT(api.stopped, IsEmpty());
  Fail(Category::kImport);
  Act();
  EXPECT_THAT(api.stopped, SizeIs(1));
}

TEST_F(RetryKeeperTest, RanksThatDisagreeAboutTheCauseAreNoRepetition) {
  Fail(Category::kImport);
  Fail(Category::kNetwork).started -= 2min;
  Fail(Category::kImport);
  FailureRecord& other = Fail(Category::kImport);
  other.started -= 2min;
  other.cause = "synergy";
  Fail(Category::kImport);
  Act();
  EXPECT_THAT(api.stopped, IsEmpty());
}

TEST_F(RetryKeeperTest, OldFailuresAreLeftAlone) {
  FailTwice();
  clock.Advance(RetryKeeper::kLatest + 1s);
  Lead();
  Act();
  EXPECT_THAT(api.stopped, IsEmpty());
}

// The attempt after these failures may train while no controller runs.
TEST_F(RetryKeeperTest, AJobIsSuspendedSoonAfterItsFailureOrNotAtAll) {
  FailTwice();
  clock.Advance(RetryKeeper::kLatestToSuspend + 1s);
  Lead();
  Act();
  EXPECT_THAT(api.stopped, IsEmpty());
  Fail(Category::kImport);
  Act();
  EXPECT_THAT(api.stopped, ElementsAre("Job bert"));
}

// Jobs that prefer other nodes after failures of the infrastructure.
class RetryElsewhereTest : public RetryKeeperTest {
 protected:
  RetryElsewhereTest() { api.jobs["bert"].retries = "elsewhere"; }

  FailureRecord& FailOn(const std::string& node, Category category = Category::kGpuLost,
                        const ObjectOwner& job = kBert, Duration ran = 30s) {
    FailureRecord& record = Fail(category, job, ran);
    record.node = node;
    return record;
  }
  void Publish() {
    Act();
    clock.Advance(RetryKeeper::kPause);
    keeper->Publish({});
  }
  std::vector<std::string> Avoided(const std::string& workload = "w-1") const {
    if (!api.avoided) return {};
    return api.avoided->nodes.Of("team", workload, clock.WallNow());
  }
};

TEST_F(RetryElsewhereTest, ANodeOfAnInfrastructureFailureIsAvoidedForAnHourAndTheJobGetsAnEvent) {
  const WallTime at = FailOn("gpu-3").at;
  Publish();
  EXPECT_THAT(Avoided(), ElementsAre("gpu-3"));
  ASSERT_THAT(events.reasons(), ElementsAre("SynergyRetries bert"));
  EXPECT_EQ(events.all[0].type, "Normal");
  EXPECT_EQ(events.all[0].object_uid, "uid-bert");
  EXPECT_EQ(
      events.all[0].message,
      fmt::format("gpu-lost: a GPU stopped working; the next attempt prefers other nodes than "
                  "gpu-3 until {} (synergy.io/retries: elsewhere)",
                  ToTimeText(std::chrono::floor<std::chrono::seconds>(at + 1h))));
  EXPECT_THAT(api.stopped, IsEmpty());
  keeper->Publish({});
  EXPECT_THAT(metrics.Render(), HasSubstr("\nsynergy_controller_avoided_nodes 1\n"));
  clock.Advance(1h);
  EXPECT_THAT(Avoided(), IsEmpty());
  keeper->Publish({});
  EXPECT_THAT(metrics.Render(), HasSubstr("\nsynergy_controller_avoided_nodes 0\n"));
}

TEST_F(RetryElsewhereTest, NodesThatRefuseTheRetriesAreAvoidedToo) {
  for (const char* const node : {"a", "b", "c"}) {
    FailOn(node).started = {};
    Publish();
  }
  EXPECT_THAT(Avoided(), ElementsAre("a", "b", "c"));
}

TEST_F(RetryElsewhereTest, OnlyInfrastructureFailuresOfJobsThatAskForItCount) {
  FailOn("a", Category::kImport);
  Publish();
  FailOn("");
  Publish();
  FailOn("b").cause = "unknown";
  Publish();
  FailOn("c").workload.clear();
  Publish();
  api.jobs["bert"].retries = "stop-futile";
  FailOn("d");
  Publish();
  api.jobs["bert"].retries.reset();
  FailOn("e");
  Publish();
  EXPECT_FALSE(api.avoided);
  EXPECT_EQ(api.avoided_reads, 0);
  EXPECT_THAT(events.all, IsEmpty());
  api.annotations["team"] = "stop-futile,elsewhere";
  FailOn("f");
  Publish();
  EXPECT_THAT(Avoided(), ElementsAre("c", "d", "e", "f"))
      << "the job's last failures of the infrastructure";
}

TEST_F(RetryElsewhereTest, JobsThatCannotBeSuspendedAreRetriedElsewhereToo) {
  api.annotations["team"] = "stop-futile,elsewhere";
  const ObjectOwner ray{"ray.io/v1", "RayCluster", "ray", "uid-ray"};
  FailOn("a", Category::kGpuLost, ray);
  Publish();
  EXPECT_THAT(Avoided(), ElementsAre("a"));
  FailTwice(ray);
  Publish();
  EXPECT_THAT(api.stopped, IsEmpty());
  FailOn("b", Category::kGpuLost, {"v1", "Odd", "not a name", "uid-odd"});
  FailOn("c", Category::kGpuLost, {});
  Publish();
  EXPECT_THAT(Avoided(), ElementsAre("a"));
}

TEST_F(RetryElsewhereTest, JobsOfOneWorkloadAvoidTheNodesOfEachOther) {
  const ObjectOwner other{"batch/v1", "Job", "other", "uid-other"};
  Create(other).retries = "elsewhere";
  FailOn("a");
  FailOn("b", Category::kGpuLost, other);
  FailOn("c", Category::kGpuLost, other).workload = "w-2";
  Publish();
  EXPECT_THAT(Avoided(), ElementsAre("a"));
  EXPECT_THAT(Avoided("w-2"), ElementsAre("b", "c"));
  FailOn("d", Category::kGpuLost, other);
  Publish();
  EXPECT_THAT(Avoided(), ElementsAre("a", "b", "c", "d"));
}

TEST_F(RetryElsewhereTest, DecisionsThatWaitAreOneWriteAndWritesAreApart) {
  for (int i = 0; i < 5; ++i) {
    const ObjectOwner job{"batch/v1", "Job", fmt::format("job-{}", i), fmt::format("uid-j{}", i)};
    Create(job).retries = "elsewhere";
    FailOn(fmt::format("n-{}", i), Category::kGpuLost, job);
  }
  Publish();
  EXPECT_THAT(Avoided(), SizeIs(5));
  EXPECT_EQ(api.avoided_writes, 1);
  EXPECT_THAT(events.all, SizeIs(5));
  FailOn("m");
  Act();
  keeper->Publish({});
  EXPECT_EQ(api.avoided_writes, 2);
  FailOn("o", Category::kGpuLost, kBert, 0s);
  Act();
  keeper->Publish({});
  EXPECT_EQ(api.avoided_writes, 2);
  clock.Advance(1s);
  keeper->Publish({});
  EXPECT_EQ(api.avoided_writes, 3);
  Publish();
  EXPECT_EQ(api.avoided_writes, 3) << "nothing is new";
  EXPECT_EQ(api.avoided_reads, 1);
}

TEST_F(RetryElsewhereTest, ANewLeaderKeepsWhatWasPublishedAndRepeatsNoEvent) {
  FailOn("a");
  Publish();
  Lead();
  Publish();
  EXPECT_EQ(api.avoided_writes, 1);
  clock.Advance(30min);
  Lead();
  FailOn("b");
  Publish();
  EXPECT_THAT(Avoided(), ElementsAre("a", "b"));
  EXPECT_THAT(events.all, SizeIs(2));
  clock.Advance(70min);
  FailOn("c").workload = "w-2";
  Publish();
  EXPECT_THAT(api.avoided->nodes.All(), SizeIs(1)) << "what has lapsed is dropped";
}

TEST_F(RetryElsewhereTest, ANewLeaderPublishesWhatTheLastOneOnlyDecided) {
  FailOn("a");
  Act();
  Lead();
  Publish();
  EXPECT_THAT(Avoided(), ElementsAre("a"));
  EXPECT_THAT(events.all, SizeIs(1));
}

TEST_F(RetryElsewhereTest, AReplicaThatNoLongerLeadsPublishesNothing) {
  FailOn("a");
  Act();
  leads = false;
  Publish();
  EXPECT_FALSE(api.avoided);
  EXPECT_THAT(events.all, IsEmpty());
}

TEST_F(RetryElsewhereTest, ChangesOfTheConfigMapByOthersAreMerged) {
  FailOn("a");
  Publish();
  api.avoided->resource_version = "by another";
  api.avoided->nodes.Add({"team", "w-1", "z", clock.WallNow() + 1h});
  FailOn("b");
  Publish();
  EXPECT_THAT(Avoided(), ElementsAre("a", "z")) << "a conflict";
  Publish();
  EXPECT_THAT(Avoided(), ElementsAre("a", "b", "z"));
  api.avoided.reset();
  FailOn("c");
  Publish();
  Publish();
  EXPECT_THAT(Avoided(), ElementsAre("a", "b", "c")) << "made again";
  EXPECT_THAT(events.all, SizeIs(3));
}

TEST_F(RetryElsewhereTest, AfterALostAnswerTheConfigMapIsReadAgainAndTheJobGetsItsEvent) {
  api.answers_are_lost = true;
  FailOn("a");
  Publish();
  EXPECT_THAT(events.all, IsEmpty());
  Publish();
  EXPECT_EQ(api.avoided_writes, 1);
  EXPECT_THAT(events.all, SizeIs(1));
}

TEST_F(RetryElsewhereTest, WithoutRightsAnErrorIsLoggedOnceAndTheDecisionWaits) {
  api.avoided_error = Error{ErrorCode::kDenied, "no right"};
  FailOn("a");
  for (int i = 0; i < 5; ++i) Publish();
  EXPECT_EQ(lines.Count("cannot publish which nodes jobs avoid"), 1U);
  api.avoided_error.reset();
  Publish();
  EXPECT_THAT(Avoided(), ElementsAre("a"));
  api.avoided_error = Error{ErrorCode::kUnavailable, "down"};
  FailOn("b");
  Publish();
  EXPECT_EQ(lines.Count("cannot publish which nodes jobs avoid"), 2U);
  clock.Advance(1h);
  api.avoided_error.reset();
  Publish();
  EXPECT_EQ(api.avoided_writes, 1) << "it has lapsed";
}

TEST_F(RetryElsewhereTest, ANewLeaderReadsOfFewJobsAtOnce) {
  for (int i = 0; i < 40; ++i) {
    const ObjectOwner job{"batch/v1", "Job", fmt::format("job-{}", i), fmt::format("uid-j{}", i)};
    Create(job).retries = "elsewhere";
    FailOn(fmt::format("n-{:02}", i), Category::kGpuLost, job);
  }
  for (FailureRecord& record : history.records) {
    record.at = record.attempt = clock.WallNow();
    record.started = record.created = record.at - 30s;
  }
  Lead();
  keeper->Step(history, true, {});
  EXPECT_EQ(static_cast<size_t>(api.reads), RetryKeeper::kMostExamined);
  Publish();
  EXPECT_THAT(Avoided(), SizeIs(40));
}

// A job that is retried up to six times, whatever its failures are.
struct Generated {
  bool opted_in = false;
  bool is_array = false;
  std::vector<FailureRecord> failures;
  bool suspended = false;
};

// Returns whether the failure may be one of a row that stops a job, by the table alone.
bool IsFutile(const FailureRecord& record) {
  const CategoryEntry& entry = EntryOf(*CategoryNamed(record.category));
  return entry.stops != StopsAfter::kNever && record.cause == "user" &&
         record.behaviour == "deterministic" && record.at - record.started <= 10min &&
         (entry.stops != StopsAfter::kTwoUnstarted || record.iterations == 0);
}

// Returns how many like failures at the end count.
int CountLike(const std::vector<FailureRecord>& failures) {
  const FailureRecord& last = failures.back();
  const bool apart = EntryOf(*CategoryNamed(last.category)).stops == StopsAfter::kThreeApart;
  int count = 0;
  WallTime counted{};
  for (const FailureRecord& record : failures) {
    if (!IsFutile(record) || record.category != last.category || record.image_id != last.image_id) {
      count = 0;
    } else if (count == 0 || !apart || record.at - counted >= 5min) {
      ++count;
      counted = record.at;
    }
  }
  return count;
}

TEST_F(RetryKeeperTest, NoJobHasMoreFutileRetriesThanTheTableAllowsAndNoneElseIsSuspended) {
  const uint64_t seed = 39;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Random random(seed);
  int suspended = 0;
  for (int i = 0; i < 500; ++i) {
    clock.Advance(2h);
    const ObjectOwner owner{"batch/v1", "Job", fmt::format("job-{}", i), fmt::format("uid-j{}", i)};
    wire::StoppableJob& job = Create(owner);
    Generated run{.opted_in = random.Below(4) > 0, .is_array = random.Below(6) == 0};
    job.retries = run.opted_in ? "stop-futile,elsewhere" : "elsewhere";
    job.independent_completions = run.is_array;
    history.records.clear();
    const auto usual = static_cast<Category>(random.Below(kCategories));
    const bool steady = random.Below(3) > 0;
    for (int attempt = 0; attempt < 7 && !run.suspended; ++attempt) {
      clock.Advance(std::chrono::seconds(10 << attempt));
      const Category category =
          steady || random.Below(2) == 0 ? usual : static_cast<Category>(random.Below(kCategories));
      const Duration ran = random.Below(8) == 0 ? Duration(11min) : Duration(20s);
      FailureRecord& record = Fail(category, owner, ran);
      if (random.Below(10) == 0) record.image_id = "sha256:2";
      if (random.Below(8) == 0) record.iterations = 100;
      if (random.Below(12) == 0) record.cause = "synergy";
      if (random.Below(12) == 0) record.behaviour = "transient";
      if (random.Below(5) == 0) Lead();
      Act();
      run.failures = history.records;
      run.suspended = job.stopped;
      const int needed = EntryOf(category).stops == StopsAfter::kThreeApart ? 3 : 2;
      const bool is_futile = CountLike(run.failures) >= needed;
      ASSERT_EQ(run.suspended, is_futile && run.opted_in && !run.is_array)
          << "job " << i << " after attempt " << attempt << ": " << record.category;
    }
    suspended += run.suspended ? 1 : 0;
  }
  EXPECT_GT(suspended, 30);
  EXPECT_THAT(api.stopped, SizeIs(suspended));
}

}  // namespace
}  // namespace synergy::controller
