#include "wire/kueue/kueue.h"

#include <map>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/wall_time.h"
#include "json/document.h"
#include "json/text.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <class T>
T Only(const std::string& metadata, const std::string& rest) {
  const Result<ListPage<T>> page =
      ObjectReader("nvidia.com/gpu")
          .ReadList<T>(fmt::format(R"({{"items":[{{"metadata":{{"name":"a","uid":"u"{}}},{}}}]}})",
                                   metadata, rest));
  EXPECT_TRUE(page) << page.error().message;
  EXPECT_THAT(page->problems, IsEmpty());
  return page->items.front();
}

constexpr char kJob[] =
    R"(,"namespace":"team","resourceVersion":"7","creationTimestamp":"2026-11-21T07:00:00Z",
       "ownerReferences":[{"kind":"Job","name":"train","uid":"j","controller":true}])";

std::string PodSet(const std::string& name, int count, int gpus, bool checkpoints = true) {
  return fmt::format(
      R"({{"name":"{}","count":{},"template":{{"metadata":{{"annotations":{{"synergy.io/checkpoint":"{}"}}}},
          "spec":{{"containers":[{{"name":"c","resources":{{"limits":{{"nvidia.com/gpu":"{}"}}}}}}]}}}}}})",
      name, count, checkpoints, gpus);
}

std::string Spec(const std::string& sets, const std::string& rest = "") {
  return fmt::format(R"("spec":{{"queueName":"q","priority":5,"podSets":[{}]{}}})", sets, rest);
}

TEST(Workloads, HaveTheGpusOfAllTheirPods) {
  const auto workload = Only<Workload>(kJob, Spec(PodSet("a", 2, 4) + "," + PodSet("b", 1, 1)));
  EXPECT_EQ(workload.gpus, Gpus(9));
  EXPECT_EQ(workload.pods, 3);
  EXPECT_EQ(workload.Key(), "team/a");
  EXPECT_EQ(workload.local_queue, "q");
  EXPECT_EQ(workload.priority, 5);
  EXPECT_EQ(workload.resource_version, "7");
  EXPECT_EQ(workload.created, *ParseTime("2026-11-21T07:00:00Z"));
  EXPECT_TRUE(workload.active);
  EXPECT_FALSE(workload.has_quota);
}

TEST(Workloads, OwnerIsTheControllingOne) {
  const auto workload = Only<Workload>(
      R"(,"ownerReferences":[{"apiVersion":"v1","kind":"Team","name":"t","uid":"t"},
         {"apiVersion":"batch/v1","kind":"Job","name":"train","uid":"j","controller":true}])",
      Spec(PodSet("a", 1, 1)));
  EXPECT_EQ(workload.owner.api_version, "batch/v1");
  EXPECT_EQ(workload.owner.kind, "Job");
  EXPECT_EQ(workload.owner.name, "train");
  EXPECT_EQ(workload.owner.uid, "j");
}

TEST(Workloads, HaveAsManyPodsAsWereAdmittedAndAreNotDone) {
  const auto workload = Only<Workload>(
      kJob,
      Spec(PodSet("a", 8, 1)) +
          R"(,"status":{"admission":{"clusterQueue":"c","podSetAssignments":[{"name":"a","count":6}]},
                    "reclaimablePods":[{"name":"a","count":2}]})");
  EXPECT_EQ(workload.gpus, Gpus(4));
  EXPECT_EQ(workload.pods, 4);
}

TEST(Workloads, ConditionsShowWhetherTheyHaveQuota) {
  const auto workload = Only<Workload>(kJob, Spec(PodSet("a", 1, 1)) +
                                                 R"(,"status":{"conditions":[
                  {"type":"QuotaReserved","status":"True","lastTransitionTime":"2026-11-21T08:00:00Z"},
                  {"type":"Evicted","status":"True","lastTransitionTime":"2026-11-21T09:00:00Z"},
                  {"type":"Finished","status":"False"}],
                  "requeueState":{"count":2,"requeueAt":"2026-11-21T10:00:00Z"}})");
  EXPECT_TRUE(workload.has_quota);
  EXPECT_EQ(workload.quota_since, *ParseTime("2026-11-21T08:00:00Z"));
  EXPECT_TRUE(workload.evicted);
  EXPECT_FALSE(workload.finished);
  EXPECT_EQ(workload.requeue_at, *ParseTime("2026-11-21T10:00:00Z"));
}

TEST(Workloads, AreInadmissibleOnceKueueHasTriedTheirPresentSpec) {
  const auto is_inadmissible = [](int generation, const std::string& condition) {
    return Only<Workload>(fmt::format(R"({},"generation":{})", kJob, generation),
                          Spec(PodSet("a", 1, 1)) + R"(,"status":{"conditions":[
                  {"type":"QuotaReserved","reason":"Pending",)" +
                              condition + "}]}")
        .inadmissible;
  };
  EXPECT_TRUE(is_inadmissible(3, R"("status":"False","observedGeneration":3)"));
  EXPECT_FALSE(is_inadmissible(4, R"("status":"False","observedGeneration":3)"));
  EXPECT_FALSE(is_inadmissible(3, R"("status":"True","observedGeneration":3)"));
  EXPECT_FALSE(is_inadmissible(3, R"("status":"False")"));
  EXPECT_FALSE(is_inadmissible(3, R"("status":"False","observedGeneration":3,
            "message":"waiting for all admitted workloads to be in PodsReady condition")"));
}

TEST(Workloads, NameTheSliceThatTheyReplaceAndPodsTheFirstOne) {
  const auto workload = Only<Workload>(
      std::string(kJob) +
          R"(,"annotations":{"kueue.x-k8s.io/workload-slice-replacement-for":"team/b",
             "kueue.x-k8s.io/workload-slice-name":"first"})",
      Spec(PodSet("a", 1, 1)));
  EXPECT_EQ(workload.replaces, "team/b");
  EXPECT_EQ(workload.PodsKey(), "team/first");
  EXPECT_EQ(Only<Workload>(kJob, Spec(PodSet("a", 1, 1))).PodsKey(), "team/a");
  const auto pod = Only<QueuedPod>(R"(,"namespace":"team",
      "annotations":{"kueue.x-k8s.io/workload":"b","kueue.x-k8s.io/workload-slice-name":"first"})",
                                   R"("spec":{})");
  EXPECT_EQ(pod.WorkloadKey(), "team/first");
}

TEST(Cohorts, HaveQuotasAndTheirQueuesLimits) {
  const std::string quota = R"("resourceGroups":[{"flavors":[{"name":"a100","resources":[
      {"name":"cpu","nominalQuota":100},
      {"name":"nvidia.com/gpu","nominalQuota":8,"borrowingLimit":4,"lendingLimit":"0"}]}]}])";
  const auto queue = Only<ClusterQueue>("", R"("spec":{)" + quota + "}");
  EXPECT_EQ(queue.quota, Gpus(8));
  EXPECT_EQ(queue.borrowing, Gpus(4));
  EXPECT_EQ(queue.lending, Gpus(0));
  const auto cohort = Only<Cohort>("", R"("spec":{"parentName":"root",)" + quota + "}");
  EXPECT_EQ(cohort.parent, "root");
  EXPECT_EQ(cohort.quotas, (std::map<std::string, Gpus>{{"a100", Gpus(8)}}));
}

TEST(Workloads, RunNoLongerThanWhatIsLeftOfTheirMaximumExecutionTime) {
  const auto longest = [](const std::string& spec, const std::string& status) {
    return Only<Workload>(kJob, Spec(PodSet("a", 1, 1), spec) + ",\"status\":" + status).longest;
  };
  EXPECT_FALSE(longest("", "{}"));
  const std::string limit = R"(,"maximumExecutionTimeSeconds":3600)";
  EXPECT_EQ(longest(limit, "{}"), std::chrono::minutes(61)) << "and a minute to end";
  EXPECT_EQ(longest(limit, R"({"accumulatedPastExecutionTimeSeconds":3000})"),
            std::chrono::minutes(11));
  EXPECT_EQ(longest(limit, R"({"accumulatedPastExecutionTimeSeconds":4000})"),
            std::chrono::minutes(1));
}

TEST(Workloads, LoseTheirTurnOnlyIfTheyCanBeSuspendedAndCheckpoint) {
  const auto may = [](const std::string& kind, const std::string& sets) {
    return Only<Workload>(
               fmt::format(R"(,"ownerReferences":[{{"kind":"{}","controller":true}}])", kind),
               Spec(sets))
        .may_lose_turn;
  };
  EXPECT_TRUE(may("Job", PodSet("a", 1, 1)));
  EXPECT_TRUE(may("JobSet", PodSet("a", 1, 1)));
  EXPECT_FALSE(may("Job", PodSet("a", 1, 1, false)));
  EXPECT_FALSE(may("Job", PodSet("a", 1, 1) + "," + PodSet("b", 1, 1, false)));
  // A launcher loses nothing by a suspension.
  EXPECT_TRUE(may("MPIJob", PodSet("a", 1, 1) + "," + PodSet("launcher", 1, 0, false)));
  // Kueue deletes these, whatever they say. Other kinds are unknown.
  EXPECT_FALSE(may("Pod", PodSet("a", 1, 1)));
  EXPECT_FALSE(may("LeaderWorkerSet", PodSet("a", 1, 1)));
}

TEST(Workloads, ProfileMayDeclareCheckpoints) {
  const auto set = [](const std::string& metadata) {
    return fmt::format(
        R"({{"name":"a","count":1,"template":{{"metadata":{},
            "spec":{{"containers":[{{"resources":{{"limits":{{"nvidia.com/gpu":"1"}}}}}}]}}}}}})",
        metadata);
  };
  const std::string silent = set(R"({"labels":{"synergy.io/profile":"bert"}})");
  const std::string against = set(
      R"({"labels":{"synergy.io/profile":"bert"},"annotations":{"synergy.io/checkpoint":"false"}})");
  const auto may = [](const std::string& kind, const std::string& sets) {
    const auto workload = Only<Workload>(
        fmt::format(R"(,"namespace":"team","ownerReferences":[{{"kind":"{}","controller":true}}])",
                    kind),
        Spec(sets));
    return workload.MayLoseTurn([](const std::string& profile_namespace, const std::string& name) {
      return profile_namespace == "team" && name == "bert";
    });
  };
  EXPECT_TRUE(may("Job", silent));
  EXPECT_TRUE(may("JobSet", silent + "," + PodSet("b", 1, 1)));
  EXPECT_FALSE(may("JobSet", silent + "," + PodSet("b", 1, 1, false)));
  EXPECT_FALSE(may("Job", against));
  EXPECT_FALSE(may("Job", set(R"({"labels":{"synergy.io/profile":"other"}})")));
  EXPECT_FALSE(may("Job", set("{}")));
  EXPECT_FALSE(may("Pod", silent));
}

TEST(Workloads, StoppedWorkloadIsNotActive) {
  EXPECT_FALSE(Only<Workload>(kJob, Spec(PodSet("a", 1, 1), R"(,"active":false)")).active);
}

std::string Noted(int own, int written) {
  return std::string(kJob) +
         fmt::format(
             R"(,"annotations":{{"synergy.io/rounds":"{{\"own\":{},\"written\":{},\"served\":12.5}}"}})",
             own, written);
}

TEST(Workloads, KeepThePriorityThatTheyHadBefore) {
  const auto ours = Only<Workload>(Noted(4, 5), Spec(PodSet("a", 1, 1)));
  EXPECT_EQ(ours.OwnPriority(), 4);
  ASSERT_TRUE(ours.note);
  EXPECT_EQ(ServiceOf(*ours.note).served, 12.5);
  // Since then another client has written another priority.
  EXPECT_EQ(Only<Workload>(Noted(4, 3), Spec(PodSet("a", 1, 1))).OwnPriority(), 5);
  // There is no note, or an invalid one.
  EXPECT_EQ(Only<Workload>(kJob, Spec(PodSet("a", 1, 1))).OwnPriority(), 5);
  const auto odd =
      Only<Workload>(std::string(kJob) + R"(,"annotations":{"synergy.io/rounds":"{own"})",
                     Spec(PodSet("a", 1, 1)));
  EXPECT_FALSE(odd.note);
  EXPECT_EQ(odd.OwnPriority(), 5);
}

TEST(Workloads, TakeAPriorityWithItsNoteOrNeither) {
  Workload workload;
  workload.uid = "u";
  workload.resource_version = "7";
  RoundService service;
  service.served = 12.5;
  service.place = {1, Seconds(2), Seconds(3), Seconds(4)};
  service.remaining = Seconds(60);
  service.delays = {Seconds(7.5), Seconds(8)};
  service.lost_turns = 9;
  service.left_at = 370;
  RoundNote note = NoteOf(service, *ParseTime("2026-11-21T07:00:00Z"));
  note.own = 4;
  note.written = 5;
  const auto body = json::Document::Parse(WritePriority(workload, 5, note));
  ASSERT_TRUE(body);
  const json::Value metadata = body->root()["metadata"];
  EXPECT_EQ(metadata["uid"].text(), "u");
  EXPECT_EQ(metadata["resourceVersion"].text(), "7") << "nothing is written over what is newer";
  EXPECT_EQ(body->root()["spec"]["priority"].text(), "5");
  // The note that is read back is the same.
  const std::string text(metadata["annotations"]["synergy.io/rounds"].text());
  std::string escaped;
  json::AppendJsonString(escaped, text);
  const auto read =
      Only<Workload>(fmt::format(R"(,"annotations":{{"synergy.io/rounds":{}}})", escaped),
                     Spec(PodSet("a", 1, 1)));
  ASSERT_TRUE(read.note);
  EXPECT_EQ(*read.note, note);
  EXPECT_EQ(ServiceOf(*read.note), service);

  const auto restored = json::Document::Parse(WritePriority(workload, 4, std::nullopt));
  ASSERT_TRUE(restored);
  EXPECT_TRUE(restored->root()["metadata"]["annotations"]["synergy.io/rounds"].absent());
  EXPECT_EQ(restored->root()["spec"]["priority"].text(), "4");

  const auto noted = json::Document::Parse(WriteNote(workload, note));
  ASSERT_TRUE(noted);
  EXPECT_TRUE(noted->root()["spec"].missing());
  EXPECT_EQ(noted->root()["metadata"]["annotations"]["synergy.io/rounds"].text(), text);
}

TEST(ClusterQueues, HaveTheGpusOfTheirFlavorsAndWhatIsAgainstRounds) {
  const auto queue = Only<ClusterQueue>("", R"("spec":{"cohortName":"co","admissionScope":{},
    "preemption":{"withinClusterQueue":"LowerPriority"},
    "admissionChecksStrategy":{"admissionChecks":[{"name":"check"}]},
    "resourceGroups":[
      {"flavors":[{"name":"cpus","resources":[{"name":"cpu","nominalQuota":"9"}]}]},
      {"flavors":[{"name":"v100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"4"}]},
                  {"name":"a100","resources":[{"name":"nvidia.com/gpu","nominalQuota":8}]}]}]})");
  EXPECT_EQ(queue.quota, Gpus(12));
  EXPECT_THAT(queue.flavors, ElementsAre("v100", "a100"));
  EXPECT_THAT(queue.checks, ElementsAre("check"));
  EXPECT_EQ(queue.cohort, "co");
  EXPECT_EQ(queue.preemption, "LowerPriority");
  EXPECT_TRUE(queue.by_usage);
  EXPECT_FALSE(Only<ClusterQueue>("", R"("spec":{})").by_usage);
}

TEST(QueuedPods, BeganWhenTheirLastContainerDid) {
  const auto pod = Only<QueuedPod>(
      R"(,"namespace":"team","annotations":{"kueue.x-k8s.io/workload":"job-train"})",
      R"("spec":{"nodeName":"n1","containers":[{"name":"c","resources":{"requests":{"nvidia.com/gpu":"1"}}}]},
         "status":{"phase":"Running","startTime":"2026-11-21T07:00:00Z","containerStatuses":[
           {"state":{"running":{"startedAt":"2026-11-21T07:00:09Z"}}},
           {"state":{"running":{"startedAt":"2026-11-21T07:00:05Z"}}}]})");
  EXPECT_EQ(pod.workload, "job-train");
  EXPECT_EQ(pod.name, "a");
  EXPECT_TRUE(pod.has_gpus);
  EXPECT_EQ(pod.gpus, Gpus(1));
  EXPECT_TRUE(pod.has_node);
  EXPECT_TRUE(pod.running);
  EXPECT_EQ(pod.since, *ParseTime("2026-11-21T07:00:09Z"));
  EXPECT_FALSE(Only<QueuedPod>(R"(,"deletionTimestamp":"2026-11-21T07:00:00Z")",
                               R"("status":{"phase":"Running"})")
                   .running);
  EXPECT_FALSE(Only<QueuedPod>("", R"("status":{"phase":"Pending"})").has_node);
}

}  // namespace
}  // namespace synergy::wire
