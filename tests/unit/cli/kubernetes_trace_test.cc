#include "cli/simulate/history/kubernetes_trace.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/traces/time_text.h"

namespace synergy::cli {
namespace {

using ::testing::HasSubstr;

// An object in a list. Times are minutes after ten o'clock.
struct ListItem {
  std::string kind;
  std::string uid;
  std::string owner_kind = {};
  std::string owner = {};
  int created = 0;
  std::string spec = "{}";
  std::string status = "{}";
  std::string labels = "{}";
};

std::string MinutesAfterTen(int after) {
  return fmt::format("2026-05-01T{:02}:{:02}:00Z", 10 + after / 60, after % 60);
}

std::string ItemJson(const ListItem& object) {
  const std::string owners =
      object.owner.empty()
          ? "[]"
          : fmt::format(R"([{{"kind":"{}","name":"o","uid":"{}","controller":true}}])",
                        object.owner_kind, object.owner);
  return fmt::format(
      R"({{"kind":"{}","metadata":{{"namespace":"team","name":"{}","uid":"{}","labels":{},
      "creationTimestamp":"{}","ownerReferences":{}}},"spec":{},"status":{}}})",
      object.kind, object.uid, object.uid, object.labels, MinutesAfterTen(object.created), owners,
      object.spec, object.status);
}

std::string PodSpec(int gpus) {
  return fmt::format(
      R"({{"nodeName":"n","containers":[{{"resources":{{"limits":{{"nvidia.com/gpu":"{}"}}}}}},
      {{"resources":{{}}}}]}})",
      gpus);
}

ListItem JobItem(const std::string& uid, int pods, int gpus, int start, int end) {
  return {.kind = "Job",
          .uid = uid,
          .spec = fmt::format(R"({{"parallelism":{},"completions":{},"template":{{"spec":{}}}}})",
                              pods, pods, PodSpec(gpus)),
          .status = fmt::format(R"({{"startTime":"{}","completionTime":"{}"}})",
                                MinutesAfterTen(start), MinutesAfterTen(end))};
}

ListItem WorkloadItem(const std::string& uid, int pods, int gpus, int start, int end) {
  return {.kind = "Workload",
          .uid = uid,
          .spec = fmt::format(R"({{"podSets":[{{"count":{},"template":{{"spec":{}}}}}]}})", pods,
                              PodSpec(gpus)),
          .status = fmt::format(
              R"({{"conditions":[
              {{"type":"Admitted","status":"True","lastTransitionTime":"{}"}},
              {{"type":"Finished","status":"True","lastTransitionTime":"{}"}}]}})",
              MinutesAfterTen(start), MinutesAfterTen(end))};
}

ListItem PodItem(const std::string& uid, int gpus, int start, int end) {
  return {.kind = "Pod",
          .uid = uid,
          .spec = PodSpec(gpus),
          .status = fmt::format(
              R"({{"phase":"Failed","startTime":"{}","containerStatuses":[
              {{"state":{{"terminated":{{"finishedAt":"{}"}}}}}}]}})",
              MinutesAfterTen(start), MinutesAfterTen(end))};
}

ListItem PartOf(const std::string& kind, const std::string& owner, ListItem object) {
  object.owner_kind = kind;
  object.owner = owner;
  return object;
}

std::string ListOf(const std::vector<ListItem>& objects) {
  std::vector<std::string> items;
  items.reserve(objects.size());
  for (const ListItem& object : objects) items.push_back(ItemJson(object));
  return fmt::format(R"({{"kind":"List","items":[{}]}})", fmt::join(items, ","));
}

// Returns "submitted+duration x GPUs" of each job, in minutes.
std::vector<std::string> ReadTrace(const std::vector<ListItem>& objects,
                                   std::optional<KubernetesTrace::Period> period = {}) {
  KubernetesTrace trace("nvidia.com/gpu");
  const auto added = trace.Add(ListOf(objects));
  if (!added) return {added.error().message};
  const auto read = trace.Finish("file", period);
  if (!read) return {read.error().message};
  std::vector<std::string> jobs;
  for (const RecordedJob& job : read->jobs) {
    jobs.push_back(fmt::format("{}+{} x {}{}", job.submitted.count() / 60,
                               job.duration.count() / 60, job.gpus.count(),
                               job.model.empty() ? "" : " " + job.model));
  }
  return jobs;
}

using TraceLines = std::vector<std::string>;

TEST(KubernetesTraceTest, InitContainersCountAsForKubeScheduler) {
  const auto pod_with = [](const std::string& init) {
    ListItem pod = PodItem("p", 3, 0, 60);
    pod.spec.pop_back();
    pod.spec += R"(,"initContainers":[)" + init + "]}";
    return ReadTrace({pod});
  };
  const std::string four = R"({"resources":{"limits":{"nvidia.com/gpu":4}}})";
  const std::string sidecar =
      R"({"restartPolicy":"Always","resources":{"limits":{"nvidia.com/gpu":1}}})";
  EXPECT_EQ(pod_with(four), TraceLines{"0+60 x 4"});
  EXPECT_EQ(pod_with(sidecar), TraceLines{"0+60 x 4"});
  EXPECT_EQ(pod_with(sidecar + "," + four), TraceLines{"0+60 x 5"});
  EXPECT_EQ(pod_with(four + "," + sidecar), TraceLines{"0+60 x 4"});
}

TEST(KubernetesTraceTest, AnArrayAndASingleObjectAreRead) {
  const std::string job = ItemJson(JobItem("a", 4, 2, 5, 65));
  for (const std::string& text : {job, "[" + job + "]"}) {
    KubernetesTrace trace("nvidia.com/gpu");
    const auto added = trace.Add(text);
    ASSERT_TRUE(added) << added.error().message;
    EXPECT_EQ(trace.Finish("file", {})->jobs.front().gpus, Gpus(8));
  }
}

TEST(KubernetesTraceTest, ValuesThatCannotBeReadAreNamed) {
  std::string text = ListOf({PodItem("p", 2, 0, 60)});
  text.replace(text.find(R"("nvidia.com/gpu":"2")"), 20, R"("nvidia.com/gpu":"two")");
  EXPECT_EQ(KubernetesTrace("nvidia.com/gpu").Add(text).error().message,
            "items[0].spec.containers[0].resources.limits[\"nvidia.com/gpu\"] is \"two\": write a "
            "number");
  text = ListOf({PodItem("p", 2, 0, 60)});
  const std::string time = MinutesAfterTen(0);
  text.replace(text.find(time), time.size(), "yesterday");
  EXPECT_THAT(KubernetesTrace("nvidia.com/gpu").Add(text).error().message,
              HasSubstr("is \"yesterday\": write a time as 2024-05-01T10:00:00Z"));
}

TEST(KubernetesTraceTest, AJobHasTheGpusOfThePodsThatRunAtOnce) {
  EXPECT_EQ(ReadTrace({JobItem("a", 4, 2, 5, 65)}), TraceLines{"0+60 x 8"});
  ListItem sweep = JobItem("sweep", 2, 1, 0, 30);
  sweep.spec =
      fmt::format(R"({{"parallelism":2,"completions":10,"template":{{"spec":{}}}}})", PodSpec(1));
  EXPECT_EQ(ReadTrace({sweep}), TraceLines{"0+30 x 2"});
}

TEST(KubernetesTraceTest, AWorkloadAJobAndPodsAreOneJob) {
  EXPECT_EQ(ReadTrace({PartOf("Job", "a", WorkloadItem("w", 2, 4, 10, 70)),
                       JobItem("a", 2, 4, 11, 69), PartOf("Job", "a", PodItem("p", 4, 12, 60))}),
            TraceLines{"0+58 x 8"});
  // Kueue's Workload belongs to the TrainJob, and the TrainJob's JobSet created the Jobs.
  EXPECT_EQ(ReadTrace({PartOf("TrainJob", "t", WorkloadItem("w", 2, 4, 10, 70)),
                       PartOf("TrainJob", "t", {.kind = "JobSet", .uid = "s"}),
                       PartOf("JobSet", "s", JobItem("j1", 1, 4, 12, 60)),
                       PartOf("JobSet", "s", JobItem("j2", 1, 4, 12, 60))}),
            TraceLines{"0+60 x 8"});
}

TEST(KubernetesTraceTest, TheJobsOfAJobSetRunAtOnceAndThoseOfACronJobAreJobsEach) {
  EXPECT_EQ(ReadTrace({PartOf("JobSet", "s", JobItem("j1", 1, 4, 0, 60)),
                       PartOf("JobSet", "s", JobItem("j2", 2, 4, 10, 50))}),
            TraceLines{"0+60 x 12"});
  EXPECT_EQ(ReadTrace({PartOf("CronJob", "c", JobItem("j1", 1, 4, 0, 60)),
                       PartOf("CronJob", "c", JobItem("j2", 1, 4, 60, 90))}),
            (TraceLines{"0+60 x 4", "0+30 x 4"}));
}

TEST(KubernetesTraceTest, PodsThatFollowEachOtherAreOneAfterTheOther) {
  EXPECT_EQ(ReadTrace({PartOf("RayCluster", "r", PodItem("p1", 4, 0, 30)),
                       PartOf("RayCluster", "r", PodItem("p2", 4, 30, 60)),
                       PartOf("RayCluster", "r", PodItem("p3", 1, 0, 60))}),
            TraceLines{"0+60 x 5"});
}

TEST(KubernetesTraceTest, AGroupOfPodsHasItsWorkload) {
  ListItem group = WorkloadItem("w", 2, 4, 10, 70);
  KubernetesTrace trace("nvidia.com/gpu");
  std::string text = ListOf({group, PodItem("p1", 4, 11, 60), PodItem("p2", 4, 11, 60)});
  const std::string none = R"("ownerReferences":[])";
  text.replace(text.find(none), none.size(),
               R"("ownerReferences":[{"kind":"Pod","uid":"p1"},{"kind":"Pod","uid":"p2"}])");
  ASSERT_TRUE(trace.Add(text));
  const auto read = trace.Finish("file", {});
  ASSERT_TRUE(read);
  ASSERT_EQ(read->jobs.size(), 1U);
  EXPECT_EQ(read->jobs.front().gpus, Gpus(8));
}

TEST(KubernetesTraceTest, ARunningJobRunsUntilTheLatestTime) {
  ListItem running = JobItem("a", 1, 1, 0, 0);
  running.status = fmt::format(R"({{"startTime":"{}"}})", MinutesAfterTen(0));
  ListItem later = JobItem("b", 1, 1, 30, 90);
  later.created = 30;
  EXPECT_EQ(ReadTrace({running, later}), (TraceLines{"0+90 x 1", "30+60 x 1"}));
}

TEST(KubernetesTraceTest, AJobStartsWithItsFirstPod) {
  EXPECT_EQ(ReadTrace({JobItem("a", 2, 1, 0, 60), PartOf("Job", "a", PodItem("p", 1, 40, 60)),
                       PartOf("Job", "a", PodItem("q", 1, 45, 60))}),
            TraceLines{"0+20 x 2"});
  ListItem waiting = PartOf("Job", "b", PodItem("w", 1, 0, 60));
  waiting.status = R"({"phase":"Pending"})";
  ListItem created = JobItem("b", 1, 1, 0, 60);
  created.status = R"({"startTime":")" + MinutesAfterTen(0) + "\"}";
  EXPECT_THAT(ReadTrace({created, waiting}).front(), HasSubstr("1 pending"));
}

// An admitted job may wait long for nodes.
TEST(KubernetesTraceTest, AWorkloadStartsWithItsFirstPodWithGpus) {
  const ListItem workload = PartOf("Job", "a", WorkloadItem("w", 2, 2, 10, 100));
  const std::vector<ListItem> pods = {PartOf("Job", "a", PodItem("p", 2, 40, 100)),
                                      PartOf("Job", "a", PodItem("q", 2, 45, 100))};
  EXPECT_EQ(ReadTrace({workload}), TraceLines{"0+90 x 4"});
  EXPECT_EQ(ReadTrace({pods[1], workload, pods[0]}), TraceLines{"0+60 x 4"});
  EXPECT_EQ(ReadTrace({JobItem("a", 2, 2, 10, 100), pods[0], pods[1], workload}),
            TraceLines{"0+60 x 4"});
  // A launcher has no GPUs; an earlier run ended before the admission.
  EXPECT_EQ(ReadTrace({workload, pods[0], PartOf("Job", "a", PodItem("launcher", 0, 11, 100)),
                       PartOf("Job", "a", PodItem("earlier", 2, 1, 9))}),
            TraceLines{"0+60 x 4"});
  ListItem waiting = PartOf("Job", "a", PodItem("w1", 2, 0, 60));
  waiting.status = R"({"phase":"Pending"})";
  ListItem admitted = workload;
  admitted.status.erase(admitted.status.rfind(",", admitted.status.find("Finished")));
  admitted.status += "]}";
  EXPECT_THAT(ReadTrace({admitted}).front(), HasSubstr("duration of 0"));  // admitted a moment ago
  EXPECT_THAT(ReadTrace({admitted, waiting}).front(), HasSubstr("1 pending"));
}

TEST(KubernetesTraceTest, JobsThatEndedBeforeAPeriodAreLeftOut) {
  const auto ten = ReadTimeText(MinutesAfterTen(0));
  ASSERT_TRUE(ten);
  const KubernetesTrace::Period hour{*ten + std::chrono::minutes(120), std::chrono::minutes(60)};
  EXPECT_EQ(ReadTrace({JobItem("a", 1, 1, 0, 59), JobItem("b", 1, 2, 0, 61)}, hour),
            TraceLines{"0+61 x 2"});
}

TEST(KubernetesTraceTest, ServicesAndWhatNeverRanAreLeftOutAndCounted) {
  ListItem waiting = JobItem("waits", 1, 1, 0, 0);
  waiting.status = "{}";
  KubernetesTrace trace("nvidia.com/gpu");
  ASSERT_TRUE(trace.Add(ListOf({PartOf("ReplicaSet", "d", PodItem("p", 1, 0, 60)), waiting,
                                JobItem("cpu", 1, 0, 0, 60), JobItem("a", 1, 1, 0, 60)})));
  const auto read = trace.Finish("file", {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->jobs.size(), 1U);
  EXPECT_THAT(read->Describe(), HasSubstr("1 pods of services"));
  EXPECT_THAT(read->Describe(), HasSubstr("1 pending"));
  EXPECT_THAT(read->Describe(), HasSubstr("1 without GPUs"));
}

TEST(KubernetesTraceTest, TheModelIsTheLabelsOfTheProfile) {
  ListItem job = JobItem("a", 1, 1, 0, 60);
  job.labels = R"({"synergy.io/profile":"resnet18"})";
  EXPECT_EQ(ReadTrace({job}), TraceLines{"0+60 x 1 resnet18"});
}

TEST(KubernetesTraceTest, PagesOfOneKindHaveNoKindsOfTheirOwn) {
  std::string text = ListOf({JobItem("a", 1, 1, 0, 60)});
  text.replace(text.find("\"List\""), 6, "\"JobList\"");
  const std::string own = R"("kind":"Job",)";
  text.erase(text.find(own), own.size());
  text.insert(1, R"("metadata":{"continue":"more"},)");
  KubernetesTrace trace("nvidia.com/gpu");
  EXPECT_EQ(trace.Add(text).value_or("error"), "more");
  const auto read = trace.Finish("file", {});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->jobs.size(), 1U);
}

TEST(KubernetesTraceTest, OddInputIsAnErrorOrLeftOut) {
  KubernetesTrace trace("nvidia.com/gpu");
  EXPECT_THAT(trace.Add("{}").error().message, HasSubstr("kubectl get jobs,workloads,pods"));
  EXPECT_THAT(trace.Add(R"({"jobs":[]})").error().message, HasSubstr("save sacct -P"));
  EXPECT_FALSE(trace.Add("{"));
  EXPECT_EQ(trace.Finish("file", {}).error().code, ErrorCode::kNotFound);
  // The objects own each other in a cycle.
  EXPECT_EQ(ReadTrace({PartOf("Job", "b", JobItem("a", 1, 1, 0, 60)),
                       PartOf("Job", "a", JobItem("b", 1, 1, 0, 60))}),
            (TraceLines{"0+60 x 1", "0+60 x 1"}));
  ListItem backwards = JobItem("c", 1, 1, 60, 0);
  EXPECT_THAT(ReadTrace({backwards}).front(), HasSubstr("1 with a duration of 0 or less"));
}

}  // namespace
}  // namespace synergy::cli
