#include "cli/simulate/workloads.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/simulate/model_facts_file.h"
#include "support/temporary_folder.h"

namespace synergy::cli::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class WorkloadsTest : public ::testing::Test {
 protected:
  // Reads this trace of jobs with durations.
  Result<std::vector<TraceWorkload>> Read(const std::string& trace, const ModelFacts& facts) {
    arguments.traces = {folder.Write("jobs.csv", trace)};
    return LoadWorkloads(arguments, facts, Gpus(128));
  }

  static ModelFacts Flat() {
    ModelFacts facts;
    facts.Set("mine", Gpus(1), {.iteration_time = Seconds(0.5)});
    facts.Set("yours", Gpus(1), {.iteration_time = Seconds(2)});
    return facts;
  }

  const synergy::testing::TemporaryFolder folder;
  SimulateArguments arguments;
};

TEST_F(WorkloadsTest, ModelsAreDrawnFromTheProfilesIfTheseLackThoseOfTheSplit) {
  const std::string trace = "job_id,submit_time,duration_s,gpus\n1,0,60,1\n2,0,60,1\n";
  const auto read = Read(trace, Flat());
  ASSERT_TRUE(read) << read.error().message;
  for (const TraceJob& job : read->front().jobs) EXPECT_THAT(job.model, AnyOf("mine", "yours"));
  EXPECT_THAT(read->front().reading,
              HasSubstr("2 without a known model: models are drawn evenly from mine, yours with "
                        "--seed 1"));
  arguments.split = "100:0:0";
  const auto other = Read(trace, Flat());
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("--split: the profiles have only mine, yours"));
}

TEST_F(WorkloadsTest, ModelsThatNoProfileHasAreNamed) {
  const auto read = Read(
      "job_id,submit_time,duration_s,gpus,model\n1,0,60,1,mine\n"
      "2,0,60,1,vit\n3,0,60,1,moe\n4,0,60,1,\n",
      Flat());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->front().drawn_models, 3U);
  EXPECT_EQ(read->front().jobs[0].model, "mine");
  EXPECT_THAT(read->front().reading,
              HasSubstr("3 without a known model (no profile is called moe, vit): models are"));
}

TEST_F(WorkloadsTest, ATrainingProfileIsTheModelOfItsName) {
  ModelFacts facts = Flat();
  ProfileObject object;
  object.name = "steep";
  facts.SetObject(object);
  const auto read = Read("job_id,submit_time,duration_s,gpus,model\n1,0,60,1,steep\n", facts);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->front().drawn_models, 0U);
  EXPECT_EQ(read->front().jobs[0].model, "steep");
  EXPECT_EQ(read->front().jobs[0].duration, Seconds(60));
}

TEST_F(WorkloadsTest, AWindowWithoutJobsIsRejected) {
  arguments.window = "5:9";
  const auto read = Read("job_id,submit_time,duration_s,gpus\n1,0,60,1\n3,0,60,1\n", Flat());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(read.error().message, HasSubstr("has such an id: the ids are 1 to 3"));
}

TEST_F(WorkloadsTest, AnArrayOfObjectsIsNotAPhillyTrace) {
  const auto read = Read(
      R"([{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","uid":"u",
      "creationTimestamp":"2024-05-01T10:00:00Z"},"spec":{"nodeName":"n","containers":[{"resources":
      {"limits":{"nvidia.com/gpu":"4"}}}]},"status":{"phase":"Succeeded","startTime":
      "2024-05-01T10:05:00Z","containerStatuses":[{"state":{"terminated":{"finishedAt":
      "2024-05-01T10:06:40Z"}}}]}}])",
      Flat());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->front().jobs[0].gpus, Gpus(4));
}

}  // namespace
}  // namespace synergy::cli::testing
