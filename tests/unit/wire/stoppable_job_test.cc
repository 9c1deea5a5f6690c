#include "wire/kueue/stoppable_job.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::wire {
namespace {

using ::testing::Eq;
using ::testing::Optional;
using ::testing::SizeIs;

StoppableJob ReadAs(std::string_view kind, const std::string& text) {
  const Result<StoppableJob> job = ReadStoppableJob(text, kind);
  EXPECT_TRUE(job) << text;
  return job ? *job : StoppableJob{};
}

bool IsArray(const std::string& spec) {
  return ReadAs("Job", fmt::format(R"({{"spec":{}}})", spec)).independent_completions;
}

TEST(StoppableJobs, AreRead) {
  const StoppableJob job = ReadAs("Job", R"({"metadata": {"namespace": "team", "name": "bert",
      "uid": "u1", "resourceVersion": "7", "annotations": {"synergy.io/retries": "stop-futile",
      "synergy.io/retries-stopped": "then"}, "ownerReferences": [{"apiVersion": "x/v1", "kind": "X",
      "name": "x", "uid": "u0", "controller": true}]}, "spec": {"suspend": true},
      "status": {"conditions": [{"type": "Failed", "status": "False"}]}})");
  EXPECT_EQ(job.job_namespace, "team");
  EXPECT_EQ(job.name, "bert");
  EXPECT_EQ(job.uid, "u1");
  EXPECT_EQ(job.owner.uid, "u0");
  EXPECT_THAT(job.retries, Optional(Eq("stop-futile")));
  EXPECT_EQ(job.stopped_for, "then");
  EXPECT_TRUE(job.stopped);
  EXPECT_FALSE(job.finished);
  EXPECT_FALSE(ReadAs("Job", R"({"spec": {}})").stopped);
  EXPECT_FALSE(ReadAs("Job", "{}").retries);
  EXPECT_FALSE(ReadStoppableJob("[]", "Job"));
}

TEST(StoppableJobs, EndByConditionsOfTheirKind) {
  const auto ended = [](std::string_view kind, std::string_view type) {
    return ReadAs(kind,
                  fmt::format(R"({{"status":{{"conditions":[{{"type":"{}","status":"True"}}]}}}})",
                              type))
        .finished;
  };
  for (const auto& [kind, type] :
       {std::pair("Job", "Complete"), std::pair("Job", "Failed"), std::pair("Job", "FailureTarget"),
        std::pair("JobSet", "Completed"), std::pair("JobSet", "Failed"),
        std::pair("Workload", "Finished")}) {
    EXPECT_TRUE(ended(kind, type)) << kind << " " << type;
  }
  EXPECT_FALSE(ended("Job", "Suspended"));
  EXPECT_FALSE(ended("JobSet", "StartupPolicyCompleted"));
  EXPECT_FALSE(ended("Workload", "Evicted"));
}

TEST(StoppableJobs, AWorkloadWithoutTheFieldIsActive) {
  const auto list = ReadStoppableWorkloads(R"({"items": [{"metadata": {"name": "a"}},
      {"metadata": {"name": "b"}, "spec": {"active": true}},
      {"metadata": {"name": "c"}, "spec": {"active": false}}]})");
  ASSERT_TRUE(list);
  ASSERT_THAT(*list, SizeIs(3));
  EXPECT_FALSE((*list)[0].stopped);
  EXPECT_FALSE((*list)[1].stopped);
  EXPECT_TRUE((*list)[2].stopped);
  EXPECT_EQ((*list)[2].kind, "Workload");
}

TEST(StoppableJobs, AnArrayHasSeveralPodsThatAreNoGang) {
  EXPECT_FALSE(IsArray("{}"));
  EXPECT_FALSE(IsArray(R"({"completions": 1, "parallelism": 1})"));
  EXPECT_TRUE(IsArray(R"({"parallelism": 2})"));
  EXPECT_TRUE(IsArray(R"({"completions": 5})"));
  EXPECT_TRUE(IsArray(R"({"completions": 5, "parallelism": 5, "completionMode": "Indexed"})"));
  const std::string gang =
      R"("completionMode": "Indexed", "template": {"spec": {"subdomain": "train"}})";
  EXPECT_FALSE(IsArray("{\"completions\": 5, \"parallelism\": 5," + gang + "}"));
  EXPECT_TRUE(IsArray("{\"completions\": 5, \"parallelism\": 2," + gang + "}"));
  EXPECT_TRUE(IsArray("{\"completions\": 5, \"parallelism\": 5, \"backoffLimitPerIndex\": 1," +
                      gang + "}"));
  const std::string named = R"("template": {"metadata": {"labels": {"synergy.io/gang": "g"}}})";
  EXPECT_FALSE(IsArray("{\"completions\": 2, \"parallelism\": 2," + named + "}"));
  EXPECT_TRUE(IsArray("{\"completions\": 3, \"parallelism\": 2," + named + "}"));
  const auto is_set_of = [](const std::string& job) {
    return ReadAs("JobSet", R"({"spec": {"replicatedJobs": [{"template": {"spec": {}}},)"
                            R"({"template": {"spec": )" +
                                job + "}}]}}")
        .independent_completions;
  };
  EXPECT_FALSE(is_set_of("{}"));
  EXPECT_FALSE(is_set_of(R"({"completions": 4, "parallelism": 4})"));
  EXPECT_TRUE(is_set_of(R"({"completions": 4, "parallelism": 2})"));
  EXPECT_TRUE(is_set_of(R"({"completions": 4})"));
  EXPECT_TRUE(is_set_of(R"({"completions": 4, "parallelism": 4, "backoffLimitPerIndex": 1})"));
}

TEST(StoppableJobs, AreStoppedAndResumedByOneField) {
  StoppableJob job{.kind = "JobSet", .uid = "u", .resource_version = "7"};
  EXPECT_EQ(
      WriteStop(job, "then"),
      R"({"metadata":{"uid":"u","resourceVersion":"7","annotations":{"synergy.io/retries-stopped":"then"}},)"
      R"("spec":{"suspend":true}})");
  EXPECT_EQ(WriteResume("JobSet"), R"({"spec":{"suspend":false}})");
  job.kind = kWorkloadKind;
  EXPECT_THAT(WriteStop(job, "then"), ::testing::HasSubstr(R"("spec":{"active":false})"));
  EXPECT_EQ(WriteResume(kWorkloadKind), R"({"spec":{"active":true}})");
}

TEST(RetriesAnnotations, AreReadOfAnyObjectAndBounded) {
  const auto read = [](const std::string& text) { return *ReadRetriesAnnotation(text); };
  EXPECT_FALSE(read(R"({"metadata": {}})"));
  EXPECT_THAT(read(R"({"metadata": {"annotations": {"synergy.io/retries": ""}}})"),
              Optional(Eq("")));
  EXPECT_THAT(
      read(fmt::format(R"({{"metadata": {{"annotations": {{"synergy.io/retries": "{}"}}}}}})",
                       std::string(10'000, 'x'))),
      Optional(SizeIs(kLongestRetries)));
}

}  // namespace
}  // namespace synergy::wire
