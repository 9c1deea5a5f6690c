#include "wire/agents/failures.h"

#include <limits>
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
    "annotations": {"synergy.io/container": "train", "synergy.io/workload": "w-1"},
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
      {"name": "train", "restartCount": 2, "imageID": "reg.test:5000/bert@sha256:12", "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled",
        "startedAt": "2026-11-27T07:00:00Z", "finishedAt": "2026-11-27T08:00:00Z"}}}]}})";

// A pod with members of its metadata and its status.
std::string Managed(const std::string& metadata, const std::string& status) {
  return fmt::format(
      R"({{"metadata": {{"name": "a", "uid": "u", "namespace": "team"{}}}, "spec": {{"schedulerName": "synergy-scheduler",
      "containers": [{{"name": "train", "resources": {{"requests": {{"nvidia.com/gpu": "2"}}}}}}]}}, "status": {{{}}}}})",
      metadata, status);
}

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
  EXPECT_EQ(pod.workload, "w-1");
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
  EXPECT_EQ(pod.ends[0].image_id, "sha256:12");
  EXPECT_EQ(pod.ends[0].exit_code, 137);
  EXPECT_EQ(pod.ends[0].finished - pod.ends[0].started, std::chrono::hours(1));
}

TEST(EndedPods, AContainerThatCouldNotStartStartedWhenItEnded) {
  const auto started = [](const std::string& reason) {
    const EndedPod pod = ReadPod(Managed(
        "",
        fmt::format(
            R"("phase": "Failed", "containerStatuses": [{{"name": "train", "state": {{"terminated": {{"exitCode": 128,
        "reason": "{}", "startedAt": "1970-01-01T00:00:00Z", "finishedAt": "2026-11-27T08:00:00Z"}}}}}}])",
            reason)));
    return pod.ends.at(0).started;
  };
  EXPECT_EQ(started("StartError"), ParseTime("2026-11-27T08:00:00Z"));
  EXPECT_EQ(started("Error"), WallTime{});
}

TEST(EndedPods, ContainersThatHaveNeverRunAreReadWithTheirReason) {
  const EndedPod pod = ReadPod(Managed("", R"("phase": "Pending",
    "initContainerStatuses": [{"name": "copy", "state": {"waiting": {"reason": "ErrImagePull", "message": "not found"}}}],
    "containerStatuses": [
      {"name": "train", "state": {"waiting": {"reason": "PodInitializing"}}},
      {"name": "side", "state": {"waiting": {}}},
      {"name": "again", "restartCount": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
       "lastState": {"terminated": {"exitCode": 1}}}])"));
  ASSERT_THAT(pod.waits, SizeIs(1));
  EXPECT_EQ(pod.waits[0].container, "copy");
  EXPECT_EQ(pod.waits[0].reason, "ErrImagePull");
  EXPECT_EQ(pod.waits[0].message, "not found");
}

TEST(EndedPods, AMemoryLimitIsSynergysIfItsAuthorWroteNone) {
  const auto is_chosen = [](const std::string& original, const std::string& enforcement) {
    std::string text = Managed(fmt::format(R"(, "annotations": {{"synergy.io/container": "train", {}
            "synergy.io/floor": "{{\"cpu\":\"2\",\"memory\":\"8Gi\"}}", "synergy.io/demand": "{{\"cpu\":\"2\",\"memory\":\"8Gi\"}}",
            "synergy.io/fair-share": "{{\"cpu\":\"2\",\"memory\":\"8Gi\"}}", "synergy.io/enforcement": "{}"}})",
                                           original, enforcement),
                               R"("phase": "Failed")");
    const std::string requests = R"("requests": {"nvidia.com/gpu": "2"})";
    text.replace(text.find(requests), requests.size(),
                 requests + R"(, "limits": {"nvidia.com/gpu": "2", "memory": "8Gi"})");
    return ReadPod(text);
  };
  const EndedPod chosen = is_chosen(R"("synergy.io/original": "{}",)", "strict");
  EXPECT_TRUE(chosen.limit_chosen);
  EXPECT_EQ(chosen.chosen_memory, GiB(8));
  EXPECT_EQ(chosen.fair_memory, Bytes(0));
  EXPECT_EQ(chosen.profile, "");
  for (const EndedPod& other :
       {is_chosen(R"("synergy.io/original": "{\"limits\":{\"memory\":\"8Gi\"}}",)", "strict"),
        is_chosen(R"("synergy.io/original": "{}",)", "shared"),
        is_chosen("", "strict")}) {  // the webhook has not seen it
    EXPECT_FALSE(other.limit_chosen);
    EXPECT_EQ(other.chosen_memory, std::nullopt);
  }
}

TEST(EndedPods, WithoutALimitTheRequestIsSynergysIfItsAuthorWroteLess) {
  const auto pod_with = [](const std::string& written) {
    std::string text = Managed(fmt::format(R"(, "annotations": {{"synergy.io/container": "train",
            "synergy.io/original": "{{{}}}", "synergy.io/profile": "bert",
            "synergy.io/floor": "{{\"cpu\":\"2\",\"memory\":\"8Gi\"}}", "synergy.io/demand": "{{\"cpu\":\"2\",\"memory\":\"8Gi\"}}",
            "synergy.io/fair-share": "{{\"cpu\":\"2\",\"memory\":\"24Gi\"}}", "synergy.io/enforcement": "shared"}})",
                                           written),
                               R"("phase": "Failed")");
    const std::string requests = R"("requests": {"nvidia.com/gpu": "2")";
    text.replace(text.find(requests), requests.size(), requests + R"(, "memory": "8Gi")");
    return ReadPod(text);
  };
  const EndedPod chosen = pod_with("");
  EXPECT_FALSE(chosen.limit_chosen);
  EXPECT_EQ(chosen.chosen_memory, GiB(8));
  EXPECT_EQ(chosen.fair_memory, GiB(24));
  EXPECT_EQ(chosen.profile, "bert");
  EXPECT_EQ(pod_with(R"(\"requests\":{\"memory\":\"6Gi\"})").chosen_memory, GiB(8));
  EXPECT_EQ(pod_with(R"(\"requests\":{\"memory\":\"8Gi\"})").chosen_memory, std::nullopt);
}

TEST(EndedPods, APodWithSlicesOrTurnsIsManaged) {
  for (const char* const resource : {"nvidia.com/gpu.shared", "nvidia.com/gpu.turns"}) {
    std::string text = Managed("", R"("phase": "Failed")");
    text.replace(text.find("nvidia.com/gpu"), 14, resource);
    const EndedPod pod = ReadPod(text);
    EXPECT_TRUE(pod.managed) << resource;
    EXPECT_EQ(pod.gpus, Gpus(0));
    EXPECT_EQ(pod.slices, Slices(2));
  }
}

// containerd on a busy machine: the container ended before the call that started it was over.
TEST(EndedPods, ARunStartsNoLaterThanItEnds) {
  const EndedPod pod = ReadPod(Managed("", R"("phase": "Failed", "containerStatuses": [
      {"name": "train", "state": {"terminated": {"exitCode": 1,
        "startedAt": "2026-11-27T08:00:01Z", "finishedAt": "2026-11-27T08:00:00Z"}}}])"));
  ASSERT_EQ(pod.ends.size(), 1U);
  EXPECT_EQ(pod.ends[0].started, pod.ends[0].finished);
  EXPECT_NE(pod.ends[0].finished, WallTime{});
}

TEST(EndedPods, ARunningContainersLastEndIsOfTheRunBefore) {
  const EndedPod pod = ReadPod(Managed("", R"("phase": "Running",
      "containerStatuses": [{"name": "train", "restartCount": 3, "state": {"running": {}},
        "lastState": {"terminated": {"exitCode": 1}}}])"));
  EXPECT_FALSE(pod.failed);
  EXPECT_TRUE(pod.managed);
  ASSERT_THAT(pod.ends, SizeIs(1));
  EXPECT_EQ(pod.ends[0].run, 2);
}

// As kubelets report a container that fails again and again: the restart is counted when the next
// run begins.
TEST(EndedPods, AContainerThatWaitsForItsNextRunHasEndedThePresentOne) {
  const auto run_of = [](const std::string& id, int restarts, const std::string& ended_id) {
    const EndedPod pod = ReadPod(
        Managed("", fmt::format(R"("phase": "Running", "containerStatuses": [{{"name": "train",
            "containerID": "{}", "restartCount": {}, "state": {{"waiting": {{"reason": "CrashLoopBackOff"}}}},
            "lastState": {{"terminated": {{"exitCode": 1, "containerID": "{}"}}}}}}])",
                                id, restarts, ended_id)));
    return pod.ends.empty() ? -1 : pod.ends[0].run;
  };
  EXPECT_EQ(run_of("containerd://3", 3, "containerd://3"), 3);
  EXPECT_EQ(run_of("containerd://0", 0, "containerd://0"), 0);
  EXPECT_EQ(run_of("containerd://3", 3, "containerd://2"), 2);
  EXPECT_EQ(run_of("", 3, ""), 2) << "a run of which the kubelet has lost track";
  EXPECT_EQ(run_of("containerd://0", 0, "containerd://1"), -1) << "no run was before the first";
}

TEST(EndedPods, OthersAreReadByTheirIdentityAlone) {
  std::string text = kPod;
  text.replace(text.find("synergy-scheduler"), 17, "default-scheduler");
  const EndedPod pod = ReadPod(text);
  EXPECT_EQ(pod.uid, "u1");
  EXPECT_EQ(pod.name, "bert-0-x");
  EXPECT_FALSE(pod.managed);
  EXPECT_EQ(pod.owner, ObjectOwner{});
  EXPECT_THAT(pod.ends, IsEmpty());
}

TEST(EndedPods, ALauncherWithoutGpusIsManagedByItsScheduler) {
  std::string text = Managed("", R"("phase": "Failed", "containerStatuses": [{"name": "train",
      "state": {"terminated": {"exitCode": 1}}}])");
  text.replace(text.find("nvidia.com/gpu"), 14, "cpu");
  const EndedPod pod = ReadPod(text);
  EXPECT_TRUE(pod.managed);
  EXPECT_EQ(pod.gpus, Gpus(0));
  EXPECT_THAT(pod.ends, SizeIs(1));
}

TEST(EndedPods, TextsOfTenantsAreBounded) {
  const std::string x(100000, 'x');
  const EndedPod pod = ReadPod(
      Managed(fmt::format(
                  R"(, "labels": {{"synergy.io/user": "{0}", "kueue.x-k8s.io/queue-name": "{0}",
          "kueue.x-k8s.io/local-queue-name": "team-queue", "jobset.sigs.k8s.io/jobset-name": "{0}"}},
          "annotations": {{"synergy.io/container": "{0}", "synergy.io/workload": "{0}"}})",
                  x),
              fmt::format(R"("phase": "Failed", "message": "{0}", "reason": "{0}",
          "conditions": [{{"type": "{0}", "status": "True", "reason": "{0}", "message": "{0}"}},
                         {{"type": "DisruptionTarget", "status": "True", "message": "{0}"}}],
          "containerStatuses": [{{"name": "{0}", "restartCount": 0, "imageID": "{0}", "state": {{"terminated":
            {{"exitCode": 1, "reason": "{0}", "message": "{0}"}}}}}}])",
                          x)));
  EXPECT_TRUE(pod.managed);
  EXPECT_EQ(pod.user, "");
  EXPECT_EQ(pod.queue, "team-queue");
  EXPECT_EQ(pod.job_set, "");
  EXPECT_EQ(pod.container, "");
  EXPECT_EQ(pod.workload, "");
  EXPECT_EQ(pod.message.size(), kLongestFailureMessage);
  EXPECT_EQ(pod.reason.size(), kLongestFailureReason);
  EXPECT_EQ(pod.condition_message.size(), kLongestFailureMessage);
  ASSERT_THAT(pod.conditions, SizeIs(2));
  EXPECT_LE(pod.conditions[0].size(), 2 * kLongestFailureReason + 1);
  ASSERT_THAT(pod.ends, SizeIs(1));
  EXPECT_EQ(pod.ends[0].container, "");
  EXPECT_EQ(pod.ends[0].image_id, "");
  EXPECT_EQ(pod.ends[0].reason.size(), kLongestFailureReason);
  EXPECT_EQ(pod.ends[0].message.size(), kLongestFailureMessage);
}

// The API server takes any text for the members of an owner reference.
TEST(EndedPods, AnOwnerThatCannotExistIsNone) {
  const auto owner_of = [](const ObjectOwner& owner) {
    return ReadPod(
               Managed(
                   fmt::format(
                       R"(, "ownerReferences": [{{"apiVersion": "{}", "kind": "{}", "name": "{}", "uid": "{}", "controller": true}}])",
                       owner.api_version, owner.kind, owner.name, owner.uid),
                   R"("phase": "Failed")"))
        .owner;
  };
  const ObjectOwner longest{std::string(kLongestApiVersion, 'v'), std::string(kLongestLabel, 'k'),
                            std::string(kLongestObjectName, 'n'), std::string(kLongestUid, 'u')};
  EXPECT_EQ(owner_of(longest), longest);
  for (std::string ObjectOwner::* const member :
       {&ObjectOwner::api_version, &ObjectOwner::kind, &ObjectOwner::name, &ObjectOwner::uid}) {
    ObjectOwner owner = longest;
    owner.*member += 'x';
    EXPECT_EQ(owner_of(owner), ObjectOwner{});
    for (const char* const odd : {"", "a b", "a\\u0001", "a\\\"", "a\\\\", "\xc3\xa4"}) {
      owner.*member = odd;
      EXPECT_EQ(owner_of(owner), ObjectOwner{}) << odd;
    }
  }
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
  record.started = record.at - std::chrono::hours(1);
  record.workload = "w-1";
  record.image_id = "sha256:12";
  record.iterations = 0;
  record.shared_gpu = true;
  record.to_suspend = record.at + std::chrono::seconds(5);
  record.suspended = record.at + std::chrono::seconds(6);
  record.chosen_memory = GiB(8);
  record.fair_memory = GiB(24);
  record.profile = "measured-w-1-1gpu";
  record.enlarged = record.at + std::chrono::seconds(7);
  record.larger = GiB(12);
  record.unsaved = std::chrono::minutes(20);
  record.startup = std::chrono::seconds(90);
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
  record.pod = record.node = record.owner.name = std::string(kLongestObjectName, 'n');
  record.uid = record.owner.uid = std::string(kLongestUid, 'u');
  record.owner.api_version = std::string(kLongestApiVersion, 'v');
  record.owner.kind = record.container = record.queue = record.user = record.rank =
      std::string(kLongestLabel, 'q');
  // The words of this program are shorter.
  record.category = record.cause = record.behaviour = record.advice = record.rule =
      std::string(24, 'w');
  record.evidence = record.reason = std::string(240, '"');
  record.workload = std::string(kLongestLabel, '"');
  record.image_id = std::string(kLongestImageId, 'i');
  record.iterations = std::numeric_limits<int64_t>::min();
  record.run = std::numeric_limits<int32_t>::max();
  record.exit_code = std::numeric_limits<int32_t>::min();
  record.gpu_seconds = -1.2345678901234567e-300;
  record.profile = std::string(kLongestObjectName, 'p');
  record.chosen_memory = record.fair_memory = record.larger =
      Bytes(std::numeric_limits<int64_t>::min());
  record.unsaved = record.startup = Duration::min();
  const FailureHistory history{std::string(kLongestLabel, 't'), "7",
                               std::vector<FailureRecord>(kMostFailureRecords, record)};
  EXPECT_LT(WriteNewFailureHistory(history).size(), size_t{1} << 20);
}

TEST(AvoidedNodes, AreReadAsTheyWereWritten) {
  const WallTime until = *ParseTime("2026-11-27T08:00:00Z");
  PublishedAvoidedNodes avoided;
  avoided.nodes.Add({"team", "w-1", "gpu-3", until});
  avoided.nodes.Add({"team", "w \"\\1\"", "gpu-4", until});
  for (const std::string& text : {WriteNewAvoidedNodes(avoided), WriteAvoidedNodesPatch(avoided)}) {
    const Result<PublishedAvoidedNodes> read = ReadAvoidedNodes(text);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->nodes.All(), avoided.nodes.All());
  }
  avoided.resource_version = "12";
  EXPECT_EQ(ReadAvoidedNodes(WriteAvoidedNodesPatch(avoided))->resource_version, "12");
}

// Returns what is read of a ConfigMap with this text.
std::vector<AvoidedNode> ReadAvoidedText(const std::string& text) {
  const std::string map = fmt::format(
      R"({{"metadata":{{"name":"synergy-elsewhere","namespace":"ours","uid":"u","resourceVersion":"5"}},"data":{{"nodes.json":{}}}}})",
      text);
  const Result<PublishedAvoidedNodes> read = ReadAvoidedNodes(map);
  EXPECT_TRUE(read);
  const auto event = ObjectReader().ReadWatchEvent<PublishedAvoidedNodes>(
      R"({"type":"MODIFIED","object":)" + map + "}");
  EXPECT_TRUE(event);
  if (!read || !event) return {};
  EXPECT_EQ(event->object.nodes.All(), read->nodes.All());
  EXPECT_EQ(read->resource_version, "5");
  return read->nodes.All();
}

TEST(AvoidedNodes, TextsThatCannotBeReadAreNone) {
  EXPECT_THAT(ReadAvoidedText(R"("{\"avoided\":[{\"node\":\"a\",\"until\":1}]}")"), SizeIs(1));
  for (const char* text : {"null", "7", "[]", R"("")", R"("{")", R"("[]")", R"("{\"avoided\":7}")",
                           R"("{\"avoided\":[7]}")", R"("{\"avoided\":[{\"node\":7}]}")",
                           R"("{\"avoided\":[{\"node\":\"a\",\"until\":\"soon\"}]}")",
                           R"("{\"avoided\":[{\"until\":99999999999999999999}]}")"}) {
    EXPECT_THAT(ReadAvoidedText(text), IsEmpty()) << text;
  }
  EXPECT_FALSE(ReadAvoidedNodes("[1"));
  std::string many = R"("{\"avoided\":[)";
  for (int i = 0; i < 5000; ++i) many += fmt::format(R"({{\"node\":\"{}\",\"until\":1}},)", i);
  many.back() = ']';
  EXPECT_THAT(ReadAvoidedText(many + R"(}")"), SizeIs(AvoidedNodes::kMost));
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
