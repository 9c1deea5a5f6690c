#include "queues/planner/judged_policies.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class JudgedPoliciesTest : public ::testing::Test {
 protected:
  JudgedPoliciesTest() {
    objects.flavors.Upsert({.name = "gpus"});
    objects.cluster_queues.Upsert(Queue("a"));
    objects.policies.Upsert(Policy("las", {"a"}));
  }

  static ClusterQueue Queue(const std::string& name) {
    ClusterQueue queue;
    queue.name = name;
    queue.quota = Gpus(8);
    queue.flavors = {"gpus"};
    queue.preemption = "LowerPriority";
    return queue;
  }
  static RoundPolicy Policy(const std::string& name, std::vector<std::string> queues) {
    RoundPolicy policy;
    policy.uid = policy.name = name;
    policy.cluster_queues = std::move(queues);
    return policy;
  }
  JudgedQueue Judged(const ClusterQueue& queue) {
    objects.cluster_queues.Upsert(queue);
    return JudgePolicies(objects).front().queues.at(queue.name);
  }

  QueueObjects objects;
};

TEST_F(JudgedPoliciesTest, AQueueIsOrdered) {
  const JudgedQueue judged = Judged(Queue("a"));
  EXPECT_THAT(judged.problem, IsEmpty());
  EXPECT_THAT(judged.hint, IsEmpty());
  EXPECT_TRUE(JudgePolicies(objects).front().rounds);
}

TEST_F(JudgedPoliciesTest, RefusesQueuesThatPriorityCannotOrder) {
  ClusterQueue queue = Queue("a");
  queue.flavors = {};
  EXPECT_EQ(Judged(queue).problem, "it has no quota of GPUs");
  queue.flavors = {"gpus", "others"};
  EXPECT_THAT(Judged(queue).problem, HasSubstr("of several flavors"));

  queue = Queue("a");
  queue.by_usage = true;
  EXPECT_THAT(Judged(queue).problem, HasSubstr("admissionScope"));

  queue = Queue("a");
  queue.preemption = "LowerOrNewerEqualPriority";
  EXPECT_THAT(Judged(queue).problem, HasSubstr("set LowerPriority"));

  queue = Queue("a");
  queue.checks = {"other", "far"};
  objects.checks.Upsert({.name = "other", .controller = "kueue.x-k8s.io/provisioning-request"});
  EXPECT_THAT(Judged(queue).problem, IsEmpty());
  objects.checks.Upsert({.name = "far", .controller = "kueue.x-k8s.io/multikueue"});
  EXPECT_THAT(Judged(queue).problem, HasSubstr("admission check far is MultiKueue's"));

  objects.flavors.Upsert({.name = "gpus", .topology = "racks"});
  EXPECT_THAT(Judged(Queue("a")).problem, HasSubstr("flavor gpus has a topology"));
}

TEST_F(JudgedPoliciesTest, ACohortIsOrderedAsAWholeOrNotAtAll) {
  ClusterQueue shared = Queue("a");
  shared.cohort = "co";
  EXPECT_THAT(Judged(shared).problem, IsEmpty());
  ClusterQueue other = Queue("b");
  other.cohort = "co";
  objects.cluster_queues.Upsert(other);
  EXPECT_THAT(Judged(shared).problem,
              HasSubstr("cohort co also has cluster queue b, which is not in this policy"));
  objects.policies.Upsert(Policy("las", {"a", "b"}));
  EXPECT_THAT(Judged(shared).problem, IsEmpty());
  // A refused policy leaves no object behind.
  other.by_usage = true;
  objects.cluster_queues.Upsert(other);
  EXPECT_EQ(Judged(shared).problem, "cluster queue b of its cohort is refused");
  objects.cluster_queues.Remove(other);
  objects.cohorts.Upsert({.name = "co", .parent = "root"});
  EXPECT_THAT(Judged(shared).problem, HasSubstr("cohort co is part of root"));
  objects.cohorts.Upsert({.name = "co", .parent = ""});
  EXPECT_THAT(Judged(shared).problem, IsEmpty());
  objects.cohorts.Upsert({.name = "kid", .parent = "co"});
  EXPECT_THAT(Judged(shared).problem, HasSubstr("cohort co has the child kid"));
}

TEST_F(JudgedPoliciesTest, HintsThatNoJobWillLoseATurn) {
  ClusterQueue queue = Queue("a");
  queue.preemption = "";
  const JudgedQueue judged = Judged(queue);
  EXPECT_THAT(judged.problem, IsEmpty());
  EXPECT_THAT(judged.hint, HasSubstr("running jobs are not preempted"));
}

TEST_F(JudgedPoliciesTest, AQueueIsOfTheOlderPolicy) {
  RoundPolicy later = Policy("earlier-by-name", {"a", "gone"});
  later.created += std::chrono::seconds(1);
  objects.policies.Upsert(later);
  const std::vector<JudgedPolicy> judged = JudgePolicies(objects);
  EXPECT_THAT(judged[0].queues.at("a").problem, IsEmpty());
  EXPECT_EQ(judged[1].queues.at("a").problem, "RoundPolicy las has it");
  EXPECT_EQ(judged[1].queues.at("gone").problem, "there is no such ClusterQueue");
}

TEST_F(JudgedPoliciesTest, APolicyThatMakesNoSenseOrdersNothing) {
  RoundPolicy policy = Policy("las", {"a"});
  policy.settings.queues.limits = {2, 1};
  objects.policies.Upsert(policy);
  const JudgedPolicy judged = JudgePolicies(objects).front();
  EXPECT_FALSE(judged.rounds);
  EXPECT_EQ(judged.problem, "spec.queueLimits: must be above zero and ascending");
}

TEST_F(JudgedPoliciesTest, OptimusNeedsTheRightToChangeJobs) {
  RoundPolicy policy = Policy("las", {"a"});
  policy.settings.policy = "fifo";
  policy.settings.elastic = true;
  objects.policies.Upsert(policy);
  const JudgedPolicy judged = JudgePolicies(objects).front();
  EXPECT_THAT(judged.problem, HasSubstr("install the chart with kueue.elastic=true"));
  EXPECT_FALSE(judged.rounds);
  objects.elastic = true;
  EXPECT_THAT(JudgePolicies(objects).front().problem, IsEmpty());
  EXPECT_TRUE(JudgePolicies(objects).front().rounds);
}

}  // namespace
}  // namespace synergy
