#include "wire/agents/failures.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/wall_time.h"

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kPod[] = R"({
  "metadata": {"uid": "u1", "namespace": "team", "name": "bert-0-x", "creationTimestamp": "2026-11-27T07:00:00Z",
    "labels": {"synergy.io/user": "ann", "batch.kubernetes.io/job-completion-index": "3",
               "kueue.x-k8s.io/queue-name": "research"},
    "annotations": {"synergy.io/container": "train"},
    "ownerReferences": [{"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "u0"},
                        {"apiVersion": "batch/v1", "kind": "Job", "name": "bert", "uid": "u2", "controller": true}]},
  "spec": {"schedulerName": "synergy-scheduler", "nodeName": "n1",
    "containers": [{"name": "train", "resources": {"limits": {"nvidia.com/gpu": "2"}, "requests": {"nvidia.com/gpu": "2"}}},
                   {"name": "side"}]},
  "status": {"phase": "Failed", "reason": "Evicted", "message": "low on memory",
    "conditions": [{"type": "Ready", "status": "False", "reason": "PodFailed", "lastTransitionTime": "2026-11-27T08:00:05Z"},
                   {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet", "message": "shut down"}],
    "containerStatuses": [
      {"name": "side", "restartCount": 0, "state": {"terminated": {"exitCode": 0}}},
      {"name": "train", "restartCount": 2, "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled",
        "startedAt": "2026-11-27T07:00:00Z", "finishedAt": "2026-11-27T08:00:00Z"}}}]}})";

EndedPod ReadPod(const std::string& text) {
  const Result<EndedPod> pod = ReadEndedPod(text, {.gpu_resource = "nvidia.com/gpu"});
  EXPECT_TRUE(pod);
  return pod ? *pod : EndedPod{};
}

TEST(EndedPods, AreRead) {
  const EndedPod pod = ReadPod(kPod);
  EXPECT_EQ(pod.uid, "u1");
  EXPECT_EQ(pod.node, "n1");
  EXPECT_EQ(pod.owner, (ObjectOwner{"batch/v1", "Job", "bert", "u2"}));
  EXPECT_EQ(pod.queue, "research");
  EXPECT_EQ(pod.user, "ann");
  EXPECT_EQ(pod.rank, "3");
  EXPECT_EQ(pod.container, "train");
  EXPECT_EQ(pod.gpus, Gpus(2));
  EXPECT_TRUE(pod.managed);
  EXPECT_TRUE(pod.failed);
  EXPECT_FALSE(pod.deleting);
  EXPECT_EQ(pod.reason, "Evicted");
  EXPECT_THAT(pod.conditions, ElementsAre("DisruptionTarget/TerminationByKubelet"));
  EXPECT_EQ(pod.condition_message, "shut down");
  ASSERT_THAT(pod.ends, SizeIs(1));
  EXPECT_EQ(pod.ends[0].container, "train");
  EXPECT_EQ(pod.ends[0].run, 2);
  EXPECT_EQ(pod.ends[0].exit_code, 137);
  EXPECT_EQ(pod.ends[0].finished - pod.ends[0].started, std::chrono::hours(1));
}

TEST(EndedPods, ARunningContainersLastEndIsOfTheRunBefore) {
  const EndedPod pod =
      ReadPod(R"({"metadata": {"name": "a", "uid": "u"}, "spec": {}, "status": {"phase": "Running",
      "containerStatuses": [{"name": "train", "restartCount": 3, "state": {"running": {}},
        "lastState": {"terminated": {"exitCode": 1}}}]}})");
  EXPECT_FALSE(pod.failed);
  EXPECT_FALSE(pod.managed);
  ASSERT_THAT(pod.ends, SizeIs(1));
  EXPECT_EQ(pod.ends[0].run, 2);
}

TEST(EndedPods, TextsOfTenantsAreBounded) {
  const EndedPod pod = ReadPod(fmt::format(
      R"({{"metadata": {{"name": "a", "uid": "u"}}, "spec": {{}}, "status": {{"phase": "Failed", "message": "{}"}}}})",
      std::string(100000, 'x')));
  EXPECT_LE(pod.message.size(), 4096);
}

FailureRecord Record() {
  FailureRecord record;
  record.at = *ParseTime("2026-11-27T08:00:00.000000001Z");
  record.pod = "bert-0-x";
  record.uid = "u1";
  record.container = "train";
  record.run = 2;
  record.owner = {"batch/v1", "Job", "bert", "u2"};
  record.category = "gpu-oom";
  record.evidence = "quoted \" \\ and \xc3\xa4";
  record.exit_code = 1;
  record.gpu_seconds = 7200.5;
  record.attempt = record.at;
  record.leads = true;
  return record;
}

TEST(FailureHistories, AreReadAsTheyAreWritten) {
  const FailureHistory history{"team", "7", {Record(), Record()}};
  const std::string text = WriteNewFailureHistory(history);
  EXPECT_THAT(text, HasSubstr("\"synergy-failures-team\""));
  const Result<FailureHistory> read = ReadFailureHistory(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->of_namespace, "team");
  EXPECT_EQ(read->records, history.records);
  EXPECT_THAT(WriteFailureHistoryPatch(history), HasSubstr(R"("resourceVersion":"7")"));
}

TEST(FailureHistories, ForeignContentCountsAsNone) {
  for (const char* const data :
       {R"({})", R"({"namespace": "team", "failures.json": "no JSON"})",
        R"({"namespace": "team", "failures.json": "{\"failures\":[{\"at\":\"soon\"}]}"})"}) {
    const Result<FailureHistory> read =
        ReadFailureHistory(fmt::format(R"({{"metadata": {{"name": "x"}}, "data": {}}})", data));
    ASSERT_TRUE(read) << data;
    EXPECT_THAT(read->records, IsEmpty()) << data;
  }
  FailureHistory full{"team", "7", std::vector<FailureRecord>(500, Record())};
  full.records.back().pod = "last";
  const Result<FailureHistory> read = ReadFailureHistory(WriteNewFailureHistory(full));
  ASSERT_TRUE(read);
  ASSERT_THAT(read->records, SizeIs(kMostFailureRecords));
  EXPECT_EQ(read->records.back().pod, "last");
}

TEST(FailureHistories, TheLongestFitsIntoAConfigMap) {
  FailureRecord record = Record();
  const std::string name(253, 'n');
  record.pod = record.owner.name = record.node = name;
  record.container = record.queue = record.user = std::string(63, 'q');
  record.evidence = record.reason = std::string(240, '"');
  const FailureHistory history{"team", "7",
                               std::vector<FailureRecord>(kMostFailureRecords, record)};
  EXPECT_LT(WriteNewFailureHistory(history).size(), size_t{1} << 20);
}

TEST(Owners, AreReadWithTheirOwn) {
  const Result<OwnerFacts> facts = ReadOwnerFacts(
      R"({"metadata": {"uid": "u2", "labels": {"kueue.x-k8s.io/queue-name": "research"}, "ownerReferences":
         [{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "bert", "uid": "u3", "controller": true}]}})");
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->uid, "u2");
  EXPECT_EQ(facts->queue, "research");
  EXPECT_EQ(facts->owner.kind, "JobSet");
  EXPECT_FALSE(ReadOwnerFacts("[]"));
}

}  // namespace
}  // namespace synergy::wire
