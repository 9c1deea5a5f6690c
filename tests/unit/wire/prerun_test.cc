#include "wire/kueue/prerun.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/document.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;
using ::testing::SizeIs;

constexpr char kGpu[] = "nvidia.com/gpu";

template <class T>
T ReadOnly(const std::string& item) {
  const auto list = ObjectReader(kGpu).ReadList<T>(R"({"metadata":{},"items":[)" + item + "]}");
  EXPECT_TRUE(list) << item;
  EXPECT_THAT(list->items, SizeIs(1));
  return list->items[0];
}

std::string JobWith(const std::string& template_spec, const std::string& spec = "") {
  return R"({"metadata": {"name": "bert", "namespace": "team", "uid": "u-1",
      "annotations": {"synergy.io/prerun": "5m"}}, "spec": {"parallelism": 4, "completions": 4,
      "completionMode": "Indexed", "backoffLimit": 6, "selector": {"matchLabels": {"x": "y"}}, )" +
         spec + R"("template": {"metadata": {"labels": {"controller-uid": "u-1", "job-name": "bert",
      "batch.kubernetes.io/controller-uid": "u-1", "kueue.x-k8s.io/podset": "main",
      "synergy.io/gang": "g", "synergy.io/profile": "large", "team": "a"},
      "annotations": {"note": "\"quoted\""}}, "spec": {)" +
         template_spec + R"(}}}, "status": {"active": 0}})";
}

constexpr char kContainer[] =
    R"({"name": "train", "image": "i", "args": ["--lr", "1e-3"], "env": [{"name": "A", "value": "b"},
      {"name": "SYNERGY_PRERUN", "value": "0"}], "resources": {
      "limits": {"nvidia.com/gpu": "8", "memory": "64Gi"},
      "requests": {"nvidia.com/gpu": 8, "cpu": "16", "memory": "64Gi"}}})";

std::string Template(const std::string& more = "") {
  return std::string(R"("restartPolicy": "OnFailure", "priorityClassName": "high", "priority": 7,
      "nodeSelector": {"nvidia.com/gpu.product": "H100", "zone": "b"},
      "initContainers": [{"name": "init", "image": "j"}], "containers": [)") +
         kContainer + "]" + more;
}

TEST(PrerunJobs, AreReadWithWhatPreventsATrial) {
  const auto job = ReadPrerunJob(JobWith(Template()), kGpu);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->uid, "u-1");
  EXPECT_THAT(job->prerun, Optional(Eq("5m")));
  EXPECT_FALSE(job->independent_completions);
  EXPECT_EQ(job->problem, "");
  const auto problem = [](const std::string& text, const char* resource = kGpu) {
    const auto read = ReadPrerunJob(text, resource);
    return read ? read->problem : read.error().message;
  };
  EXPECT_THAT(problem(JobWith(Template(R"(, "resourceClaims": [{"name": "g"}])"))),
              HasSubstr("spec.template.spec.resourceClaims"));
  EXPECT_THAT(problem(JobWith(Template(), R"("managedBy": "kueue.x-k8s.io/multikueue", )")),
              HasSubstr("spec.managedBy"));
  EXPECT_EQ(problem(JobWith(Template()), "amd.com/gpu"), "its containers request no amd.com/gpu");
  EXPECT_FALSE(ReadPrerunJob("[]", kGpu));
  EXPECT_FALSE(ReadPrerunJob("{", kGpu));
}

TEST(PrerunJobs, ATrialHasNoTrial) {
  const auto trial = WriteTrial(JobWith(Template()), {"trials", kGpu, 5min, "modest"}, kGpu);
  ASSERT_TRUE(trial);
  const auto job = ReadPrerunJob(*trial, kGpu);
  ASSERT_TRUE(job);
  EXPECT_THAT(job->prerun, Optional(Eq("off")));
}

TEST(PrerunJobs, ATrialIsACopyWithOnePodAndOneGpu) {
  const auto trial = WriteTrial(JobWith(Template()), {"trials", kGpu, 5min, "modest"}, kGpu);
  ASSERT_TRUE(trial) << trial.error().message;
  const auto document = json::Document::Parse(*trial);
  ASSERT_TRUE(document) << *trial;
  EXPECT_EQ(
      *trial,
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"prerun-u-1","namespace":"team",)"
      R"("labels":{"kueue.x-k8s.io/queue-name":"trials","kueue.x-k8s.io/max-exec-time-seconds":"300",)"
      R"("synergy.io/prerun-of":"u-1"},"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job",)"
      R"("name":"bert","uid":"u-1"}]},"spec":{"suspend":true,"parallelism":1,"completions":1,)"
      R"("backoffLimit":0,"completionMode":"Indexed","template":{"metadata":{"labels":)"
      R"({"synergy.io/profile":"large","team":"a"},"annotations":{"note":"\"quoted\""}},"spec":)"
      R"({"nodeSelector":{"zone":"b"},"initContainers":[{"name":"init","image":"j","env":)"
      R"([{"name":"SYNERGY_PRERUN","value":"1"}]}],"containers":[{"name":"train","image":"i",)"
      R"("args":["--lr","1e-3"],"resources":{"limits":{"nvidia.com/gpu":"1","memory":"64Gi"},)"
      R"("requests":{"nvidia.com/gpu":"1","cpu":"16","memory":"64Gi"}},"env":[{"name":"A",)"
      R"("value":"b"},{"name":"SYNERGY_PRERUN","value":"1"}]}],"priorityClassName":"modest",)"
      R"("restartPolicy":"Never"}}}})");
}

TEST(PrerunJobs, ATrialMayRequestASliceForAGpu) {
  const auto trial =
      WriteTrial(JobWith(Template()), {"trials", "nvidia.com/gpu.shared", 90s, "modest"}, kGpu);
  ASSERT_TRUE(trial);
  EXPECT_THAT(*trial, AllOf(HasSubstr(R"("limits":{"nvidia.com/gpu.shared":"1",)"),
                            HasSubstr(R"("requests":{"nvidia.com/gpu.shared":"1",)"),
                            Not(HasSubstr(R"("nvidia.com/gpu":)")), HasSubstr(R"("90")")));
  EXPECT_FALSE(WriteTrial("{}", {"trials", kGpu, 5min, "modest"}, kGpu));
  EXPECT_FALSE(WriteTrial("[]", {"trials", kGpu, 5min, "modest"}, kGpu));
}

TEST(PrerunObjects, WorkloadsAreRead) {
  const auto workload = ReadOnly<PrerunWorkload>(R"({"metadata": {"name": "job-bert", "uid": "w-1",
      "namespace": "team", "resourceVersion": "7", "creationTimestamp": "2026-11-29T10:00:00Z",
      "annotations": {"synergy.io/prerun-trial": "t-1", "synergy.io/prerun-stopped": "t-0"},
      "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "bert", "uid": "u-1",
      "controller": true}]}, "spec": {"queueName": "research"}, "status": {"conditions": [
      {"type": "QuotaReserved", "status": "False"}]}})");
  EXPECT_EQ(workload.Key(), "team/job-bert");
  EXPECT_EQ(workload.job, (ObjectOwner{"batch/v1", "Job", "bert", "u-1"}));
  EXPECT_EQ(workload.queue, "research");
  EXPECT_EQ(workload.trial, "t-1");
  EXPECT_EQ(workload.stopped, "t-0");
  EXPECT_EQ(workload.resource_version, "7");
  EXPECT_NE(workload.created, WallTime{});
  EXPECT_TRUE(workload.Waits());
  EXPECT_FALSE(workload.had_quota);
  const auto with = [](const std::string& type, const std::string& status) {
    return ReadOnly<PrerunWorkload>(R"({"metadata": {"name": "a", "uid": "b"}, "status":
        {"conditions": [{"type": ")" +
                                    type + R"(", "status": ")" + status + R"("}]}})");
  };
  EXPECT_TRUE(with("QuotaReserved", "True").has_quota);
  EXPECT_TRUE(with("Evicted", "False").had_quota);
  EXPECT_TRUE(with("Finished", "True").finished);
  EXPECT_FALSE(ReadOnly<PrerunWorkload>(
                   R"({"metadata": {"name": "a", "uid": "b"}, "spec": {"active": false}})")
                   .Waits());
}

TEST(PrerunObjects, QueuesAndTrialsAreRead) {
  const auto queue = ReadOnly<PrerunQueue>(R"({"metadata": {"name": "research", "namespace": "team",
      "uid": "q", "annotations": {"synergy.io/prerun": "5m", "synergy.io/prerun-queue": "trials",
      "synergy.io/prerun-resource": "nvidia.com/gpu.shared"}}, "spec": {"clusterQueue": "all"}})");
  EXPECT_EQ(queue.Key(), "team/research");
  EXPECT_THAT(queue.prerun, Optional(Eq("5m")));
  EXPECT_EQ(queue.trial_queue, "trials");
  EXPECT_EQ(queue.trial_resource, "nvidia.com/gpu.shared");
  EXPECT_EQ(queue.cluster_queue, "all");
  const auto trial = ReadOnly<PrerunTrial>(R"({"metadata": {"name": "prerun-u-1", "uid": "t-1",
      "namespace": "team", "labels": {"synergy.io/prerun-of": "u-1"},
      "deletionTimestamp": "2026-11-29T10:00:00Z"},
      "status": {"conditions": [{"type": "Failed", "status": "True"}]}})");
  EXPECT_EQ(trial.Key(), "team/prerun-u-1");
  EXPECT_EQ(trial.job_uid, "u-1");
  EXPECT_TRUE(trial.finished);
  EXPECT_TRUE(trial.deleting);
}

TEST(PrerunObjects, WritesOnlyItsNotesAndWhetherTheWorkloadIsActive) {
  const PrerunWorkload workload{.uid = "w-1", .resource_version = "7"};
  EXPECT_EQ(WriteTrialNote(workload, "t-1"),
            R"({"metadata":{"uid":"w-1","resourceVersion":"7",)"
            R"("annotations":{"synergy.io/prerun-trial":"t-1"}}})");
  EXPECT_EQ(WritePrerunStop(workload, "t-1"),
            R"({"metadata":{"uid":"w-1","resourceVersion":"7",)"
            R"("annotations":{"synergy.io/prerun-stopped":"t-1"}},"spec":{"active":false}})");
  EXPECT_THAT(WriteTrialDeletion({.uid = "t-1"}), HasSubstr(R"("preconditions":{"uid":"t-1"})"));
}

}  // namespace
}  // namespace synergy::wire
