#include "wire/kueue/round_policy.h"

#include <chrono>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ListPage<RoundPolicy> ReadPolicies(const std::string& rest) {
  const Result<ListPage<RoundPolicy>> page = ObjectReader().ReadList<RoundPolicy>(
      R"({"items":[{"metadata":{"name":"las","uid":"u","generation":3},)" + rest + "}]}");
  EXPECT_TRUE(page) << page.error().message;
  return *page;
}

TEST(RoundPolicies, HaveSettings) {
  const auto page =
      ReadPolicies(R"("spec":{"clusterQueues":["a","b"],"policy":"2d-las","roundSeconds":60,
    "leastRunSeconds":0,"restartCostSeconds":7,"queueLimits":[10,20.5],"promote":8,
    "sizeHistory":[1,2],"priorities":{"least":-5,"most":100}})");
  EXPECT_THAT(page.problems, IsEmpty());
  const RoundPolicy& policy = page.items.front();
  EXPECT_THAT(policy.cluster_queues, ElementsAre("a", "b"));
  const RoundSettings expected{.policy = "2d-las",
                               .queues = {.limits = {10, 20.5}, .promote = 8},
                               .sizes = {1, 2},
                               .round = std::chrono::seconds(60),
                               .least_run = Duration(0),
                               .restart_cost = std::chrono::seconds(7)};
  EXPECT_EQ(policy.settings.policy, expected.policy);
  EXPECT_EQ(policy.settings.queues.limits, expected.queues.limits);
  EXPECT_EQ(policy.settings.queues.promote, expected.queues.promote);
  EXPECT_EQ(policy.settings.sizes, expected.sizes);
  EXPECT_EQ(policy.settings.round, expected.round);
  EXPECT_EQ(policy.settings.least_run, expected.least_run);
  EXPECT_EQ(policy.settings.restart_cost, expected.restart_cost);
  EXPECT_EQ(policy.least_priority, -5);
  EXPECT_EQ(policy.most_priority, 100);
  EXPECT_EQ(policy.generation, 3);
}

TEST(RoundPolicies, HaveDefaults) {
  const auto page = ReadPolicies(R"("spec":{"clusterQueues":["a"]})");
  const RoundSettings& settings = page.items.front().settings;
  EXPECT_EQ(settings.policy, "las");
  EXPECT_EQ(settings.round, std::chrono::minutes(5));
  EXPECT_THAT(settings.queues.limits, ElementsAre(3250, 7200));
}

TEST(RoundPolicies, MayChooseTypesOrWorkers) {
  const auto read = [](const std::string& spec) {
    return ReadPolicies("\"spec\":{" + spec + "}").items.front().settings;
  };
  EXPECT_EQ(DescribePolicy(read(R"("policy":"las","gpuTypes":"Aware")")), "las, gpuTypes: Aware");
  EXPECT_EQ(DescribePolicy(read(R"("policy":"las","gpuTypes":"Ignore","workers":"Fixed")")),
            "las, gpuTypes: Ignore");
  EXPECT_EQ(DescribePolicy(read(R"("policy":"fifo","workers":"Elastic")")),
            "fifo, workers: Elastic");
  EXPECT_EQ(DescribePolicy(read(R"("policy":"fifo","backfill":"InTime")")),
            "fifo, backfill: InTime");
  EXPECT_FALSE(read(R"("policy":"fifo","backfill":"None")").backfill);
  EXPECT_THAT(ReadPolicies(R"("spec":{"backfill":"Sometimes"})").problems,
              ElementsAre("round policy las: spec.backfill: must be None or InTime"));
  EXPECT_THAT(ReadPolicies(R"("spec":{"gpuTypes":"Some","workers":"Many"})").problems,
              ElementsAre("round policy las: spec.gpuTypes: must be Ignore or Aware",
                          "round policy las: spec.workers: must be Fixed or Elastic"));
}

TEST(RoundPolicies, FormerNamesMeanTheSame) {
  for (const auto& [former, present] : std::map<std::string, std::string>{
           {"gavel-las", "las, gpuTypes: Aware"},
           {"gavel-water-filling-agnostic", "water-filling, gpuTypes: Ignore"},
           {"optimus", "fifo, workers: Elastic"}}) {
    const RoundPolicy policy =
        ReadPolicies(R"("spec":{"policy":")" + former + R"("})").items.front();
    EXPECT_EQ(DescribePolicy(policy.settings), present);
    EXPECT_EQ(policy.former_name, former);
  }
  EXPECT_EQ(ReadPolicies(R"("spec":{"policy":"srtf"})").items.front().former_name, "");
}

TEST(RoundPolicies, TypedPoliciesMayHavePrices) {
  const RoundPolicy typed =
      ReadPolicies(
          R"("spec":{"policy":"cost","gpuTypes":"Aware","prices":{"V100":2.5,"K80":0.45}})")
          .items.front();
  EXPECT_TRUE(typed.ChoosesTypes());
  EXPECT_THAT(typed.prices, ElementsAre(std::pair<const std::string, double>("K80", 0.45),
                                        std::pair<const std::string, double>("V100", 2.5)));
  EXPECT_FALSE(ReadPolicies(R"("spec":{"policy":"las"})").items.front().ChoosesTypes());
  EXPECT_THAT(ReadPolicies(R"("spec":{"prices":{"K80":-1}})").problems,
              ElementsAre(HasSubstr("spec.prices.K80: must be a number that is not negative")));
}

TEST(RoundPolicies, ProblemsNameTheField) {
  EXPECT_THAT(
      ReadPolicies(R"("spec":{"promote":-1,"roundSeconds":"x"})").problems,
      ElementsAre("round policy las: spec.roundSeconds: must be a whole number, not a string",
                  "round policy las: spec.promote: must be a number that is not negative"));
}

TEST(RoundPolicies, TakeAStatusAndGiveItBack) {
  RoundPolicy policy;
  policy.uid = "u";
  RoundPolicyStatus status;
  status.observed_generation = 3;
  status.ready = true;
  status.reason = "Ordered";
  status.since = "2026-11-21T07:00:00Z";
  status.warning = "policy gavel-las has a new name: set policy: las, gpuTypes: Aware";
  status.queues.push_back({.name = "a", .ready = true, .gpus = 8, .runs = 2, .up_next = {"t/x"}});
  status.queues.push_back({.name = "b", .message = "there is no such ClusterQueue"});
  const std::string body = WriteRoundPolicyStatus(policy, status);
  EXPECT_THAT(body, HasSubstr(R"("metadata":{"uid":"u"})"));
  const size_t from = body.find(R"("status":{)");
  EXPECT_EQ(ReadPolicies(body.substr(from, body.size() - from - 1)).items.front().status, status);
}

}  // namespace
}  // namespace synergy::wire
