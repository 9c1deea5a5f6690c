#include "cluster/disruption_budget.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The only budget of a list, and the problem with it.
struct BudgetRead {
  DisruptionBudget budget;
  std::vector<std::string> problems;
};

BudgetRead ReadBudget(const std::string& spec, const std::string& status = "{}") {
  const std::string text =
      R"({"items":[{"metadata":{"name":"b","namespace":"n","uid":"u"},"spec":)" + spec +
      R"(,"status":)" + status + "}]}";
  Result<ListPage<DisruptionBudget>> page =
      ObjectReader("nvidia.com/gpu").ReadList<DisruptionBudget>(text);
  EXPECT_TRUE(page) << text << ": " << page.error().message;
  EXPECT_EQ(page->items.size(), 1U);
  return {page->items.front(), page->problems};
}

const Labels kTrain = {{"app", "train"}, {"tier", "gold"}};
const Labels kServe = {{"app", "serve"}};

TEST(DisruptionBudgets, HaveTheirSelectorAndAllowance) {
  const BudgetRead read = ReadBudget(
      R"({"selector":{"matchLabels":{"app":"train"}}})",
      R"({"disruptionsAllowed":3,"disruptedPods":{"a":"2026-01-01T00:00:00Z","b":null}})");
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.budget.name, "b");
  EXPECT_EQ(read.budget.pod_namespace, "n");
  EXPECT_EQ(read.budget.uid, "u");
  EXPECT_EQ(read.budget.disruptions_allowed, 3);
  EXPECT_THAT(read.budget.disrupted_pods, ElementsAre("a", "b"));
  EXPECT_TRUE(read.budget.selector.Matches(kTrain));
  EXPECT_FALSE(read.budget.selector.Matches(kServe));
}

TEST(DisruptionBudgets, SelectByLabelsAndExpressionsTogether) {
  const auto matches = [](const std::string& selector, const Labels& labels) {
    const BudgetRead read = ReadBudget(R"({"selector":)" + selector + "}");
    EXPECT_THAT(read.problems, IsEmpty()) << selector;
    return read.budget.selector.Matches(labels);
  };
  const std::string in =
      R"({"matchExpressions":[{"key":"app","operator":"In","values":["x","train"]}]})";
  EXPECT_TRUE(matches(in, kTrain));
  EXPECT_FALSE(matches(in, kServe));
  const std::string not_in =
      R"({"matchExpressions":[{"key":"app","operator":"NotIn","values":["train"]}]})";
  EXPECT_FALSE(matches(not_in, kTrain));
  EXPECT_TRUE(matches(not_in, kServe));
  EXPECT_TRUE(matches(not_in, {}));
  const std::string exists = R"({"matchExpressions":[{"key":"tier","operator":"Exists"}]})";
  EXPECT_TRUE(matches(exists, kTrain));
  EXPECT_FALSE(matches(exists, kServe));
  const std::string absent =
      R"({"matchLabels":{"app":"serve"},"matchExpressions":[{"key":"tier","operator":"DoesNotExist"}]})";
  EXPECT_FALSE(matches(absent, kTrain));
  EXPECT_TRUE(matches(absent, kServe));
}

TEST(DisruptionBudgets, SelectEverythingWithAnEmptySelectorAndNothingWithoutOne) {
  EXPECT_TRUE(ReadBudget(R"({"selector":{}})").budget.selector.Matches(kServe));
  EXPECT_TRUE(ReadBudget(R"({"selector":{}})").budget.selector.requirements.empty());
  EXPECT_FALSE(ReadBudget(R"({"selector":null})").budget.selector.Matches(kServe));
  EXPECT_FALSE(ReadBudget("{}").budget.selector.Matches({}));
}

TEST(DisruptionBudgets, SelectNothingWhenTheSelectorCannotBeRead) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"matchLabels":{"app":"train"},"matchExpressions":[{"key":"a","operator":"Like"}]})",
       R"(spec.selector.matchExpressions[0].operator: "Like" is not an operator of label selectors)"},
      {R"({"matchExpressions":[{"key":"a"}]})",
       "spec.selector.matchExpressions[0].operator: is missing"},
      {R"({"matchExpressions":[{"key":"a","operator":"In"}]})",
       "spec.selector.matchExpressions[0]: must list values"},
      {R"({"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]})",
       "spec.selector.matchExpressions[0]: must not list values"},
      {R"({"matchLabels":{"app":5}})",
       "spec.selector.matchLabels.app: must be a string, not a number"},
      {R"([])", "spec.selector: must be an object, not an array"},
  };
  for (const auto& [selector, problem] : cases) {
    const BudgetRead read = ReadBudget(R"({"selector":)" + selector + "}");
    EXPECT_THAT(read.problems, ElementsAre("disruption budget n/b: " + problem)) << selector;
    EXPECT_FALSE(read.budget.selector.Matches(kTrain)) << selector;
    EXPECT_FALSE(read.budget.selector.Matches({})) << selector;
  }
}

TEST(DisruptionBudgets, AllowNothingWhenTheNumberCannotBeRead) {
  const BudgetRead read = ReadBudget(R"({"selector":{}})", R"({"disruptionsAllowed":"many"})");
  EXPECT_EQ(read.budget.disruptions_allowed, 0);
  EXPECT_THAT(read.problems,
              ElementsAre(HasSubstr("status.disruptionsAllowed: must be a whole number")));
}

}  // namespace
}  // namespace synergy::wire
