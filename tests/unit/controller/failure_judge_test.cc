#include "controller/progress/failures/failure_judge.h"

#include <chrono>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"

namespace synergy::controller {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

const WallTime kJudgedAt = WallTime(hours(500000));

EndedPod EndedWith(int32_t exit_code, const std::string& reason = "Error") {
  EndedPod pod;
  pod.uid = "u1";
  pod.pod_namespace = "team";
  pod.name = "a";
  pod.container = "train";
  pod.gpus = Gpus(4);
  pod.managed = pod.failed = true;
  pod.ends.push_back(
      {"train", 0, exit_code, reason, "", kJudgedAt - hours(1), kJudgedAt - seconds(5)});
  return pod;
}
std::string CategoryJudged(const EndedPod& pod, const LogEvidence* log = nullptr) {
  const auto record = JudgeFailure(pod, EndOf(pod), log, kJudgedAt);
  return record ? record->category : "none";
}

TEST(FailureJudge, JoinsTheStatusWithTheLog) {
  const LogEvidence oom{.rule = "cuda-out-of-memory", .evidence = "CUDA out of memory"};
  const auto record = JudgeFailure(EndedWith(1), EndOf(EndedWith(1)), &oom, kJudgedAt);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->category, "gpu-oom");
  EXPECT_EQ(record->cause, "user");
  EXPECT_EQ(record->advice, "fix");
  EXPECT_EQ(record->evidence, "CUDA out of memory");
  EXPECT_EQ(record->exit_code, 1);
  EXPECT_EQ(record->user, "team");
  EXPECT_NEAR(record->gpu_seconds, 4 * (3600 - 5), 1e-3);
  EXPECT_THAT(DescribeFailure(*record), HasSubstr("GPU memory is exhausted"));
  // The platform's reason says more.
  EXPECT_EQ(CategoryJudged(EndedWith(137, "OOMKilled"), &oom), "host-oom");
  EndedPod evicted = EndedWith(137);
  evicted.reason = "Evicted";
  evicted.message = "The node was low on resource: memory.";
  EXPECT_EQ(CategoryJudged(evicted, &oom), "evicted");
}

TEST(FailureJudge, TheCostOfAnEndFollowsFromTheLog) {
  const EndedPod pod = EndedWith(1);
  const WallTime begin = pod.ends.front().started;
  LogEvidence log{.checkpoint = begin + minutes(50), .first_iteration = begin + minutes(4)};
  auto record = JudgeFailure(pod, EndOf(pod), &log, kJudgedAt);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->unsaved, pod.ends.front().finished - begin - minutes(50));
  EXPECT_EQ(record->startup, minutes(4));
  // A silent rank may have been first to fail.
  FailureRecord silent = *record;
  silent.uid = "u2";
  silent.at -= seconds(1);
  silent.unsaved.reset();
  silent.startup.reset();
  std::vector<FailureRecord> attempt = {silent, *record};
  JoinAttempt(attempt);
  ASSERT_TRUE(attempt[0].leads);
  EXPECT_EQ(attempt[0].unsaved, record->unsaved);
  EXPECT_EQ(attempt[0].startup, record->startup);
  // Times of another run do not count, nor those of a wrong clock.
  log = {.checkpoint = begin - seconds(1), .first_iteration = kJudgedAt + minutes(1)};
  record = JudgeFailure(pod, EndOf(pod), &log, kJudgedAt);
  EXPECT_EQ(record->unsaved, std::nullopt);
  EXPECT_EQ(record->startup, std::nullopt);
}

TEST(FailureJudge, AContainerThatCannotBeCreatedIsJudgedByItsReasonAndMessage) {
  struct Case {
    const char* reason;
    const char* message;
    const char* judged;  // category, cause and behaviour; empty: nothing is known
  };
  // Messages of kubelets and containerd.
  for (const Case& each : {
           Case{"ErrImagePull",
                "failed to pull and unpack image \"reg.test/bert:2\": failed to resolve reference "
                "\"reg.test/bert:2\": reg.test/bert:2: not found",
                "image user deterministic"},
           Case{"ErrImagePull",
                "failed to resolve reference \"reg.test/bert:2\": unexpected status from HEAD "
                "request to https://reg.test/v2/bert/manifests/2: 503 Service Unavailable",
                "image infrastructure transient"},
           Case{"ImagePullBackOff",
                "Back-off pulling image \"reg.test/bert:2\": ErrImagePull: reg.test/bert:2: not "
                "found",
                "image user deterministic"},
           Case{"ImagePullBackOff", "Back-off pulling image \"reg.test/bert:2\"", ""},
           Case{"ImagePullBackOff", "", ""},
           Case{"InvalidImageName",
                "Failed to apply default image tag \"Bert:2\": couldn't parse image name",
                "image user deterministic"},
           Case{"ErrImageNeverPull",
                "Container image \"bert:2\" is not present with pull policy of Never",
                "image user deterministic"},
           Case{"CreateContainerConfigError", "configmap \"settings\" not found",
                "configuration user deterministic"},
           Case{"CreateContainerError", "context deadline exceeded", ""},
           Case{"ContainerCreating", "", ""},
           Case{"PodInitializing", "", ""},
           Case{"CrashLoopBackOff",
                "back-off 10s restarting failed container=train: ModuleNotFoundError: No module "
                "named 'a'",
                ""},
       }) {
    EndedPod pod = EndedWith(0);
    pod.failed = false;
    pod.ends.clear();
    pod.last_condition = kJudgedAt - minutes(2);
    pod.waits = {{"side", "ContainerCreating", ""}, {"copy", each.reason, each.message}};
    const ContainerWait* const wait = NoStartOf(pod);
    ASSERT_EQ(wait == nullptr, std::string(each.judged).empty()) << each.reason;
    if (wait == nullptr) continue;
    const FailureRecord record = JudgeNoStart(pod, *wait, kJudgedAt);
    EXPECT_EQ(fmt::format("{} {} {}", record.category, record.cause, record.behaviour),
              each.judged);
    EXPECT_EQ(record.container, "copy");
    EXPECT_EQ(record.reason, each.reason);
    EXPECT_THAT(record.evidence, HasSubstr(std::string(each.message).substr(0, 20)));
    EXPECT_FALSE(record.HasRun());
    EXPECT_EQ(record.at, pod.last_condition);
    EXPECT_EQ(record.image_id + std::to_string(record.gpu_seconds), std::to_string(0.0));
  }
}

TEST(FailureJudge, TheStatusAloneSuffices) {
  EXPECT_EQ(CategoryJudged(EndedWith(137, "OOMKilled")), "host-oom");
  EXPECT_EQ(CategoryJudged(EndedWith(139)), "segfault");
  EXPECT_EQ(CategoryJudged(EndedWith(127)), "command");
  EXPECT_EQ(CategoryJudged(EndedWith(1)), "unknown");
  EndedPod preempted = EndedWith(143);
  preempted.conditions = {"DisruptionTarget/PreemptionByScheduler"};
  EXPECT_EQ(CategoryJudged(preempted), "preempted");
}

TEST(FailureJudge, AnXidOfTheRunsGpusGoesBeforeTheLog) {
  const EndedPod pod = EndedWith(1);
  const WallTime end = pod.ends.front().finished;
  const LogEvidence timeout{.rule = "collective-timeout", .evidence = "Watchdog caught timeout"};
  const auto category = [&](int32_t xid, WallTime at) {
    return JudgeFailure(pod, EndOf(pod), &timeout, kJudgedAt, {.xids = {{"u1", "train", xid, at}}})
        ->category;
  };
  EXPECT_EQ(category(79, end - seconds(20)), "gpu-lost");
  EXPECT_EQ(category(79, end), "gpu-lost");
  EXPECT_EQ(category(79, end + minutes(1)), "collective-timeout") << "after its end";
  EXPECT_EQ(category(79, pod.ends.front().started - minutes(1)), "collective-timeout")
      << "of an earlier run";
  EXPECT_EQ(category(45, end), "collective-timeout") << "no rule has it";
  const auto record =
      JudgeFailure(pod, EndOf(pod), &timeout, kJudgedAt, {.xids = {{"u1", "train", 79, end}}});
  EXPECT_EQ(record->cause, "infrastructure");
  EXPECT_EQ(record->advice, "retry-elsewhere");
  EXPECT_EQ(record->evidence, "Xid 79");
}

TEST(FailureJudge, ADeletedPodDidNotFailByThat) {
  EndedPod pod = EndedWith(137);
  pod.deleting = true;
  EXPECT_EQ(CategoryJudged(pod), "none");
  const LogEvidence missing{.rule = "module-not-found", .evidence = "No module named 'x'"};
  EXPECT_EQ(CategoryJudged(pod, &missing), "import");
  pod.conditions = {"DisruptionTarget/EvictionByEvictionAPI"};
  EXPECT_EQ(CategoryJudged(pod), "evicted");
}

TEST(FailureJudge, UnknownRulesAndSecretsOfAgentsDoNotCount) {
  const LogEvidence unknown{.rule = "of-another-version", .evidence = "x"};
  EXPECT_EQ(CategoryJudged(EndedWith(139), &unknown), "segfault");
  const LogEvidence long_one{.rule = "cuda-out-of-memory",
                             .evidence = "api_key=abcdef0123456789 " + std::string(5000, 'x')};
  const auto record = JudgeFailure(EndedWith(1), EndOf(EndedWith(1)), &long_one, kJudgedAt);
  ASSERT_TRUE(record);
  EXPECT_LE(record->evidence.size(), 240);
  EXPECT_THAT(record->evidence, ::testing::Not(HasSubstr("abcdef0123456789")));
}

TEST(FailureJudge, SynergysChangesCountWithinTheirTime) {
  EndedPod pod = EndedWith(137, "OOMKilled");
  pod.memory_changed = kJudgedAt - minutes(5);
  EXPECT_EQ(JudgeFailure(pod, EndOf(pod), nullptr, kJudgedAt)->cause, "synergy");
  pod.memory_changed = kJudgedAt - minutes(30);
  EXPECT_EQ(JudgeFailure(pod, EndOf(pod), nullptr, kJudgedAt)->cause, "user");
  pod.memory_changed = kJudgedAt;  // after the end
  EXPECT_EQ(JudgeFailure(pod, EndOf(pod), nullptr, kJudgedAt)->cause, "user");
}

TEST(FailureJudge, ActsOnTheNodeCountForWhatTheyCanCause) {
  const LogEvidence peer{.rule = "peer-lost", .evidence = "Connection closed by peer"};
  const LogEvidence oom{.rule = "cuda-out-of-memory", .evidence = "CUDA out of memory"};
  const EndedPod pod = EndedWith(1);
  const WallTime end = pod.ends.front().finished;
  const auto judge = [&](const LogEvidence& log, const std::string& act, WallTime at) {
    return *JudgeFailure(pod, EndOf(pod), &log, kJudgedAt, {.acts = {{act, at}}});
  };
  const FailureRecord frozen = judge(peer, "freeze", end - seconds(40));
  EXPECT_EQ(frozen.cause, "synergy");
  EXPECT_THAT(DescribeFailure(frozen), HasSubstr("cause synergy, which suspended it for turns"));
  EXPECT_EQ(judge(peer, "freeze", end - minutes(3)).cause, "infrastructure");
  EXPECT_EQ(judge(peer, "freeze", end + seconds(1)).cause, "synergy") << "ends are whole seconds";
  EXPECT_EQ(judge(peer, "freeze", end + seconds(2)).cause, "infrastructure") << "after the end";
  EXPECT_EQ(judge(peer, "cache", end - seconds(40)).act, "") << "cannot be the cause";
  EXPECT_EQ(judge(peer, "of-another-version", end).act, "");
  EXPECT_EQ(judge(oom, "share", end - seconds(5)).cause, "synergy");
  EXPECT_EQ(judge(oom, "share", end - seconds(31)).cause, "user") << "it was alone again";
  EXPECT_EQ(judge(oom, "freeze", end - seconds(5)).cause, "user");
  // An act on an earlier run of the container.
  const LogEvidence timeout{.rule = "collective-timeout", .evidence = "timeout"};
  EXPECT_EQ(judge(timeout, "probe", pod.ends.front().started - seconds(1)).act, "");
  EndedPod soon = pod;
  soon.ends[0].started = end - minutes(1);
  EXPECT_EQ(
      JudgeFailure(soon, EndOf(soon), &timeout, kJudgedAt, {.acts = {{"probe", end - minutes(2)}}})
          ->act,
      "");
  EXPECT_EQ(
      JudgeFailure(soon, EndOf(soon), &timeout, kJudgedAt, {.acts = {{"probe", end - seconds(50)}}})
          ->act,
      "changed its CPU");
}

TEST(FailureJudge, AnEvictionForAGangIsSynergysOwnThoughThePodIsDeleted) {
  EndedPod pod = EndedWith(143);
  pod.deleting = true;
  pod.conditions = {"DisruptionTarget/EvictionByEvictionAPI"};
  const WallTime end = pod.ends.front().finished;
  pod.asked_to_end = end - seconds(10);
  const auto judge = [&](const SeenOfRun& seen, const LogEvidence* log = nullptr) {
    return *JudgeFailure(pod, EndOf(pod), log, kJudgedAt, seen);
  };
  EXPECT_EQ(judge({}).cause, "unknown");
  const SeenOfRun evicted{.acts = {{"preemption", end - seconds(11)}}};
  EXPECT_EQ(judge(evicted).category, "evicted");
  EXPECT_EQ(judge(evicted).cause, "synergy");
  EXPECT_EQ(judge(evicted).behaviour, "transient");
  EXPECT_EQ(judge(evicted).act, "evicted it");
  // Errors of its processes meanwhile are neither the user's nor Synergy's mistake.
  pod.conditions.clear();
  const LogEvidence missing{.rule = "module-not-found", .evidence = "ModuleNotFoundError"};
  EXPECT_EQ(judge(evicted, &missing).cause, "unknown");
  EXPECT_EQ(judge({.acts = {{"freeze", end - seconds(11)}}}, &missing).act, "");
}

TEST(FailureJudge, AMemoryLimitThatSynergyChoseIsItsOwnDoing) {
  EndedPod pod = EndedWith(137, "OOMKilled");
  EXPECT_EQ(JudgeFailure(pod, EndOf(pod), nullptr, kJudgedAt)->cause, "user");
  pod.limit_chosen = true;
  EXPECT_EQ(JudgeFailure(pod, EndOf(pod), nullptr, kJudgedAt)->cause, "synergy");
  EXPECT_EQ(JudgeFailure(pod, EndOf(pod), nullptr, kJudgedAt)->advice, "retry-larger");
}

TEST(FailureJudge, TheMemoryThatSynergyChoseIsThatInForceWhenTheContainerWasKilled) {
  EndedPod pod = EndedWith(137, "OOMKilled");
  pod.chosen_memory = GiB(12);
  pod.profile = "bert";
  const auto judge = [&] { return *JudgeFailure(pod, EndOf(pod), nullptr, kJudgedAt); };
  EXPECT_EQ(judge().chosen_memory, GiB(12));
  EXPECT_EQ(judge().profile, "bert");
  EXPECT_EQ(judge().rule, "oom-killed");
  // It was raised meanwhile, as for a container that is restarted in place.
  pod.memory_before = GiB(8);
  pod.memory_changed = kJudgedAt - seconds(2);
  EXPECT_EQ(judge().chosen_memory, GiB(8));
  pod.memory_changed = kJudgedAt - hours(1);
  EXPECT_EQ(judge().chosen_memory, GiB(12));
  // A sidecar has no memory of Synergy's choice.
  pod.container = "another";
  EXPECT_EQ(judge().chosen_memory, std::nullopt);
  EndedPod other = EndedWith(1);
  other.chosen_memory = GiB(12);
  EXPECT_EQ(JudgeFailure(other, EndOf(other), nullptr, kJudgedAt)->chosen_memory, std::nullopt);
}

TEST(FailureJudge, SlicesCountAsPartsOfAGpuThatOthersMayHaveHad) {
  EndedPod pod = EndedWith(1);
  pod.gpus = Gpus(0);
  pod.slices = Slices(2);
  pod.shared_gpu = false;
  EXPECT_EQ(JudgeFailure(pod, EndOf(pod), nullptr, kJudgedAt)->gpu_seconds, 0) << "unknown";
  pod.slices_per_gpu = 8;
  const auto record = JudgeFailure(pod, EndOf(pod), nullptr, kJudgedAt);
  EXPECT_NEAR(record->gpu_seconds, (3600 - 5) / 4.0, 1e-3);
  EXPECT_TRUE(record->shared_gpu);
}

TEST(FailureJudge, ErrorsOfADeletedPodAreNoMistakeOfTheUser) {
  const LogEvidence missing{.rule = "module-not-found", .evidence = "ModuleNotFoundError"};
  EndedPod pod = EndedWith(1);
  pod.deleting = true;
  for (const int seconds_before : {0, 1, 60}) {
    pod.asked_to_end = kJudgedAt - seconds(5) - seconds(seconds_before);
    const auto record = JudgeFailure(pod, EndOf(pod), &missing, kJudgedAt);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->category, "import");
    // A JobSet deletes its pods as soon as one has failed.
    EXPECT_EQ(record->cause, seconds_before == 0 ? "user" : "unknown");
    EXPECT_EQ(record->behaviour, seconds_before == 0 ? "deterministic" : "unknown");
  }
}

// The others lose it, fail first, and it is ended with the job.
TEST(FailureJudge, TheRankWhoseErrorCameBeforeItsDeletionLeads) {
  EndedPod guilty = EndedWith(137);
  guilty.deleting = true;
  guilty.asked_to_end = kJudgedAt - seconds(10);
  LogEvidence oom{.rule = "cuda-out-of-memory", .evidence = "CUDA out of memory"};
  const auto judge = [&](Duration before_deletion) {
    oom.time = guilty.asked_to_end - before_deletion;
    return *JudgeFailure(guilty, EndOf(guilty), &oom, kJudgedAt);
  };
  EXPECT_EQ(judge(seconds(1)).cause, "unknown") << "clocks differ";
  EXPECT_EQ(judge(seconds(30)).cause, "user");
  EXPECT_EQ(judge(seconds(30)).behaviour, "deterministic");
  std::vector<FailureRecord> records;
  for (const char* const name : {"0", "1", "2"}) {
    const LogEvidence lost{.rule = "peer-lost", .evidence = "Connection closed by peer"};
    EndedPod other = EndedWith(1);
    other.uid = other.name = name;
    other.ends.front().finished = guilty.asked_to_end - seconds(1);
    records.push_back(*JudgeFailure(other, EndOf(other), &lost, kJudgedAt));
  }
  records.push_back(judge(seconds(30)));
  JoinAttempt(records);
  EXPECT_TRUE(records.back().leads);
}

TEST(FailureJudge, ASilentRankHasTheIterationsOfItsAttempt) {
  const auto iterations_of = [](std::optional<int64_t> others, const std::string& other) {
    FailureRecord leading;
    leading.pod = "leading";
    leading.category = "programming";
    leading.rank = "3";
    leading.iterations = 0;
    FailureRecord another;
    another.pod = "another";
    another.category = "peer-lost";
    another.rank = other;
    another.iterations = others;
    std::vector<FailureRecord> records = {leading, another};
    JoinAttempt(records);
    EXPECT_TRUE(records[0].leads);
    return records[0].iterations;
  };
  EXPECT_EQ(iterations_of(1000, "0"), 1000);
  EXPECT_EQ(iterations_of(0, "0"), 0);
  EXPECT_EQ(iterations_of(0, "1"), std::nullopt) << "rank 0 may have trained";
}

TEST(FailureJudge, MergedRecordsKeepWhatWasDecidedAndDone) {
  FailureRecord ours;
  ours.uid = "u";
  FailureRecord theirs = ours;
  theirs.to_suspend = kJudgedAt;
  theirs.suspended = kJudgedAt + seconds(1);
  EXPECT_EQ(MergeRecords({ours}, {theirs}), std::vector{theirs});
  EXPECT_EQ(MergeRecords({theirs}, {ours}), std::vector{theirs});
}

TEST(FailureJudge, AMemberWithACauseOfItsOwnLeadsTheAttempt) {
  const auto record = [](const std::string& pod, const std::string& category, Duration before) {
    FailureRecord made;
    made.pod = pod;
    made.category = category;
    made.at = kJudgedAt - before;
    return made;
  };
  std::vector<FailureRecord> records = {record("a", "peer-lost", seconds(60)),
                                        record("b", "import", seconds(10)),
                                        record("c", "gpu-oom", seconds(5))};
  JoinAttempt(records);
  EXPECT_FALSE(records[0].leads);
  EXPECT_TRUE(records[1].leads);
  EXPECT_FALSE(records[2].leads);
  for (const FailureRecord& one : records) EXPECT_EQ(one.attempt, kJudgedAt - seconds(60));
}

TEST(FailureJudge, NumbersAndTextsOfOthersAreBounded) {
  const LogEvidence odd{.rule = "misuse",
                        .iterations = std::numeric_limits<int64_t>::min(),
                        .since_iteration = Duration::max(),
                        .checkpoint = WallTime::max(),
                        .first_iteration = WallTime::min()};
  const LogEvidence none{.rule = "misuse"};
  const EndedPod pod = EndedWith(1, std::string(1000, '\1'));
  const auto record = JudgeFailure(pod, EndOf(pod), &odd, kJudgedAt);
  ASSERT_TRUE(record);
  EXPECT_EQ(record, JudgeFailure(pod, EndOf(pod), &none, kJudgedAt));
  EXPECT_LE(record->reason.size(), 240);
  EXPECT_EQ(record->reason.find('\1'), std::string::npos);
}

std::vector<std::string> UidsOf(const std::vector<FailureRecord>& records) {
  std::vector<std::string> uids;
  for (const FailureRecord& record : records) uids.push_back(record.uid);
  return uids;
}

TEST(FailureJudge, MergedRecordsAreTheNewestOfBothWhateverTheOrder) {
  Random random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<FailureRecord> some;
    std::vector<FailureRecord> others;
    std::map<Duration, std::string> all;  // by age
    for (int i = 0; i < 400; ++i) {
      const uint64_t number = random.Below(250);
      FailureRecord record;
      record.uid = fmt::format("u{}", number);
      const Duration age = seconds(number * 7919 % 1000);  // one run has one end
      record.at = kJudgedAt - age;
      all[age] = record.uid;
      (random.Below(2) == 0 ? some : others).push_back(record);
    }
    std::vector<std::string> newest;
    for (const auto& [age, uid] : all) {
      if (newest.size() < kMostFailureRecords) newest.insert(newest.begin(), uid);
    }
    const auto merged = MergeRecords(some, others);
    EXPECT_EQ(UidsOf(merged), newest);
    EXPECT_EQ(UidsOf(MergeRecords(others, some)), newest);
    EXPECT_EQ(UidsOf(MergeRecords(merged, merged)), newest);
  }
}

TEST(FailureJudge, ARetryIsANewerRunOrAPodThatWasMadeAfterTheFailure) {
  const PodRun first{.uid = "a",
                     .created = kJudgedAt,
                     .started = kJudgedAt + seconds(20),
                     .failed = kJudgedAt + seconds(50)};
  const auto is_retry = [&first](std::string_view uid, Duration created, Duration started) {
    return IsRetry({.uid = uid,
                    .created = kJudgedAt + created,
                    .started = kJudgedAt + started,
                    .failed = kJudgedAt + started + seconds(10)},
                   first);
  };
  EXPECT_TRUE(is_retry("b", seconds(51), seconds(60)));
  EXPECT_FALSE(is_retry("b", seconds(5), seconds(60))) << "a member that waited for its image";
  EXPECT_FALSE(is_retry("b", seconds(51), seconds(40))) << "it began before the failure";
  // The same pod, whatever the times.
  EXPECT_TRUE(IsRetry({.uid = "a", .run = 1}, first));
  EXPECT_FALSE(IsRetry(first, {.uid = "a", .run = 1}));
  EXPECT_FALSE(IsRetry(first, first));
  // Pods whose containers never started.
  PodRun refused{.uid = "b", .created = kJudgedAt + hours(1), .failed = kJudgedAt + hours(1)};
  EXPECT_TRUE(IsRetry(refused, first));
  PodRun later = first;
  later.uid = "c";
  later.created += hours(2);
  later.started += hours(2);
  EXPECT_TRUE(IsRetry(later, refused));
  EXPECT_TRUE(IsRetry(later, first));
  refused.created = first.failed + seconds(1);
  EXPECT_FALSE(IsRetry(refused, first)) << "clocks differ";
  refused.run = kNeverRan;
  refused.created += hours(1);
  EXPECT_FALSE(IsRetry(refused, first)) << "it waits for its image";
}

}  // namespace
}  // namespace synergy::controller
