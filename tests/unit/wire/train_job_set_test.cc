#include "wire/train_job_set.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/objects.h"

namespace synergy::wire {
namespace {

using ::testing::IsEmpty;

TrainJobSet ReadSet(const std::string& metadata, const std::string& jobs) {
  const auto page = ObjectReader().ReadList<TrainJobSet>(
      R"({"items":[{"metadata":{"name":"train","namespace":"team","uid":"s")" + metadata +
      R"(},"spec":{"replicatedJobs":[)" + jobs + "]}}]}");
  EXPECT_TRUE(page) << page.error().message;
  EXPECT_THAT(page->problems, IsEmpty());
  return page->items.front();
}

const std::string kOwner =
    R"(,"ownerReferences":[{"apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"TrainJob",)"
    R"("name":"train","uid":"u","controller":true}])";
const std::string kInitializer =
    R"({"name":"dataset","template":{"metadata":{"labels":{)"
    R"("trainer.kubeflow.org/trainjob-ancestor-step":"dataset-initializer"}},)"
    R"("spec":{"parallelism":1}}})";
const std::string kNodes =
    R"({"name":"node","template":{"metadata":{"labels":{)"
    R"("trainer.kubeflow.org/trainjob-ancestor-step":"trainer"}},"spec":{"parallelism":3}}})";

TEST(TrainJobSets, HaveTheWorkersOfTheStepThatTrains) {
  const TrainJobSet set = ReadSet(kOwner, kInitializer + "," + kNodes);
  EXPECT_EQ(set.Key(), "team/train");
  EXPECT_EQ(set.uid, "s");
  EXPECT_EQ(set.train_job, "u");
  EXPECT_EQ(set.workers, 3);
  EXPECT_FALSE(set.deleting);
  EXPECT_FALSE(set.says_elastic);
}

TEST(TrainJobSets, MaySayThatTheyAreElastic) {
  EXPECT_TRUE(ReadSet(R"(,"annotations":{"synergy.io/max-workers":"4"})", kNodes).says_elastic);
  EXPECT_TRUE(ReadSet(R"(,"annotations":{"synergy.io/min-workers":"1"})", kNodes).says_elastic);
}

TEST(TrainJobSets, AreOfNoTrainJobWhereNoneControlsThem) {
  const TrainJobSet set = ReadSet(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")", kInitializer);
  EXPECT_THAT(set.train_job, IsEmpty());
  EXPECT_EQ(set.workers, 0);
  EXPECT_TRUE(set.deleting);
}

TEST(TrainJobSets, WithALauncherHaveNoSize) {
  const std::string launcher =
      R"({"name":"launcher","template":{"metadata":{"labels":{)"
      R"("trainer.kubeflow.org/trainjob-ancestor-step":"trainer"}},"spec":{"parallelism":1}}})";
  const std::string node = R"({"name":"node","template":{"spec":{"parallelism":3}}})";
  EXPECT_EQ(ReadSet(kOwner, launcher + "," + node).workers, 0);
}

TEST(TrainJobSets, GoWithTheirPodsWhichEndFirst) {
  EXPECT_EQ(WriteJobSetDeletion({.uid = "s"}),
            R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Foreground",)"
            R"("preconditions":{"uid":"s"}})");
}

}  // namespace
}  // namespace synergy::wire
