#include "research/baseline/divider.h"

#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy {
namespace {

using ::testing::ElementsAre;

using Choices = std::vector<DivisionChoice>;

JobProfile Profile(std::vector<JobProfile::Point> points) {
  return *JobProfile::Create(Gpus(1), std::move(points));
}

TEST(DivisionChoicesTest, NoneIsBelowTheFairShareOrDominated) {
  const JobProfile profile = Profile({{Cores(1), GB(50), 0.5},
                                      {Cores(3), GB(50), 1},
                                      {Cores(6), GB(50), 1},
                                      {Cores(1), GB(100), 0.5},
                                      {Cores(3), GB(100), 1},
                                      {Cores(6), GB(100), 2}});
  const Choices choices = DivisionChoices(profile, {Gpus(1), Cores(3), GB(50)},
                                          {Gpus(8), Cores(24), GB(500)}, Cores(3));
  EXPECT_THAT(choices, ElementsAre(DivisionChoice{Cores(3), GB(50), 1},
                                   DivisionChoice{Cores(6), GB(100), 2}));
}

TEST(DivisionChoicesTest, AnInsensitiveJobIsContentWithTheLeast) {
  const JobProfile profile = Profile({{Cores(1), GB(20), 1}, {Cores(24), GB(250), 1}});
  const Choices choices = DivisionChoices(profile, {Gpus(1), Cores(3), GB(60)},
                                          {Gpus(8), Cores(24), GB(500)}, Cores(1));
  EXPECT_THAT(choices, ElementsAre(DivisionChoice{Cores(1), GB(20), 1}));
}

TEST(DividerTest, AnswersInTheOrderOfItsJobs) {
  const JobProfile insensitive = Profile({{Cores(1), GB(20), 1}});
  const JobProfile sensitive = Profile({{Cores(3), GB(60), 1}, {Cores(12), GB(60), 3}});
  const Server server{{Gpus(8), Cores(24), GB(500)}};
  Divider divider;
  const std::vector<const JobProfile*> jobs = {&sensitive, &insensitive};
  const Divider::Answer& answer = divider.Divide(server, jobs, server.capacity);
  EXPECT_THAT(answer.amounts, ElementsAre(ResourceVector{Gpus(1), Cores(12), GB(60)},
                                          ResourceVector{Gpus(1), Cores(1), GB(20)}));
}

}  // namespace
}  // namespace synergy
