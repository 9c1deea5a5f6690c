#include "cluster/disruption_budget.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using Operator = LabelSelector::Operator;
using Requirement = LabelSelector::Requirement;

const Labels kTraining = {{"app", "train"}, {"tier", "gold"}};

struct SelectorCase {
  std::string what;
  std::vector<Requirement> requirements;
  bool matches;
};

TEST(LabelSelectorTest, EveryOperatorReadsLabelsAsKubernetesDoes) {
  const SelectorCase cases[] = {
      {"nothing required", {}, true},
      {"a value that is listed", {{"app", Operator::kIn, {"web", "train"}}}, true},
      {"a value that is not listed", {{"app", Operator::kIn, {"web"}}}, false},
      {"a list without values", {{"app", Operator::kIn, {}}}, false},
      {"a value of a missing label", {{"zone", Operator::kIn, {"a"}}}, false},
      {"not a value that is listed", {{"app", Operator::kNotIn, {"train"}}}, false},
      {"not a value that is not listed", {{"app", Operator::kNotIn, {"web"}}}, true},
      {"not a value of a missing label", {{"zone", Operator::kNotIn, {"a"}}}, true},
      {"a label that is there", {{"tier", Operator::kExists, {}}}, true},
      {"a label that is missing", {{"zone", Operator::kExists, {}}}, false},
      {"no label, but it is there", {{"tier", Operator::kDoesNotExist, {}}}, false},
      {"no label, and it is missing", {{"zone", Operator::kDoesNotExist, {}}}, true},
      {"all of several",
       {{"app", Operator::kIn, {"train"}}, {"tier", Operator::kExists, {}}},
       true},
      {"all but one of several",
       {{"app", Operator::kIn, {"train"}}, {"zone", Operator::kExists, {}}},
       false},
  };
  for (const SelectorCase& selector : cases) {
    EXPECT_EQ(LabelSelector{selector.requirements}.Matches(kTraining), selector.matches)
        << selector.what;
  }
}

TEST(LabelSelectorTest, WithoutLabelsOnlyAbsenceMatches) {
  const LabelSelector in{{Requirement{"app", Operator::kIn, {"train"}}}};
  const LabelSelector not_in{{Requirement{"app", Operator::kNotIn, {"train"}}}};
  EXPECT_FALSE(in.Matches({}));
  EXPECT_TRUE(not_in.Matches({}));
}

}  // namespace
}  // namespace synergy::testing
