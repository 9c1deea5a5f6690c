// The tables of categories and rules, and the text in docs/failures.md that is made of them.
// With SYNERGY_UPDATE=1 this writes it.

#include "failure/rules.h"

#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "support/generated_text.h"

namespace synergy {
namespace {

std::string_view ToString(StopsAfter stops) {
  switch (stops) {
    case StopsAfter::kTwo:
      return "2";
    case StopsAfter::kTwoUnstarted:
      return "2, without an iteration";
    case StopsAfter::kTwoUnshared:
      return "2, on GPUs of its own";
    case StopsAfter::kThreeApart:
      return "3, 5 minutes apart";
    case StopsAfter::kNever:
      break;
  }
  return "never";
}

std::string RulesOf(Category category) {
  std::string names;
  const auto add = [&](const auto& rules) {
    for (const auto& rule : rules) {
      if (rule.category != category) continue;
      names += fmt::format("{}`{}`", names.empty() ? "" : ", ", rule.name);
    }
  };
  add(LogRules());
  add(ReasonRules());
  add(ConditionRules());
  add(XidRules());
  add(ExitRules());
  return names;
}

TEST(Rules, TheDocsHaveTheirTable) {
  std::string text =
      "| category | meaning | cause | behaviour | advice | stops after | pre-run | rules |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const CategoryEntry& entry : CategoryEntries()) {
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} |\n", entry.name, entry.meaning,
                        synergy::ToString(entry.outcome.cause),
                        synergy::ToString(entry.outcome.behaviour),
                        synergy::ToString(entry.outcome.advice), ToString(entry.stops),
                        entry.prerun ? "yes" : "no", RulesOf(entry.category));
  }
  testing::ExpectGenerated("docs/failures.md", "<!-- BEGIN categories,", "<!-- END categories",
                           text);
}

TEST(Rules, CategoriesAreInOrderAndFoundByName) {
  for (size_t i = 0; i < kCategories; ++i) {
    const CategoryEntry& entry = CategoryEntries().at(i);
    EXPECT_EQ(static_cast<size_t>(entry.category), i);
    EXPECT_EQ(CategoryNamed(entry.name), entry.category);
    EXPECT_EQ(RulesOf(entry.category).empty(), entry.category == Category::kUnknown) << entry.name;
  }
  EXPECT_FALSE(CategoryNamed("luck"));
}

TEST(Rules, EachHasANameOfItsOwnAndAnExpressionThatCompiles) {
  std::set<std::string_view> names;
  for (const LogRule& rule : LogRules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_TRUE(re2::RE2(rule.expression, re2::RE2::Latin1).ok()) << rule.name;
    EXPECT_FALSE(rule.word.empty() && rule.expression[0] == '\0') << rule.name;
  }
  for (const auto& rules : {ReasonRules(), ConditionRules()}) {
    for (const PlatformRule& rule : rules) {
      EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
      EXPECT_TRUE(re2::RE2(std::string(rule.reason)).ok()) << rule.name;
      EXPECT_TRUE(re2::RE2(rule.message).ok()) << rule.name;
    }
  }
}

}  // namespace
}  // namespace synergy
