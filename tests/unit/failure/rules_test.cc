// The tables of categories and rules, and the text in docs/failures.md that is made of them.
// With SYNERGY_UPDATE=1 this writes it.

#include "failure/rules.h"

#include <deque>
#include <set>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "failure/rule_matcher.h"
#include "support/generated_text.h"
#include "unit/failure/failure_cases.h"

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
  EXPECT_EQ(CauseNamed("synergy"), Cause::kSynergy);
  EXPECT_EQ(CauseNamed("unknown"), Cause::kUnknown);
  EXPECT_FALSE(CauseNamed("luck"));
  EXPECT_EQ(BehaviourNamed("deterministic"), Behaviour::kDeterministic);
  EXPECT_FALSE(BehaviourNamed(""));
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

// Tries every expression on the line.
const LogRule* FirstRuleOneByOne(std::string_view line, bool exception) {
  static const auto* const expressions = [] {
    auto* compiled = new std::deque<re2::RE2>;
    re2::RE2::Options options(re2::RE2::Latin1);
    options.set_log_errors(false);
    for (const LogRule& rule : LogRules()) {
      compiled->emplace_back(rule.expression[0] == '\0'
                                 ? re2::RE2::QuoteMeta(std::string(rule.word))
                                 : rule.expression,
                             options);
    }
    return compiled;
  }();
  for (size_t i = 0; i < LogRules().size(); ++i) {
    const LogRule& rule = LogRules()[i];
    if (rule.where != Where::kLine && !exception) continue;
    if (line.find(rule.word) == std::string_view::npos) continue;
    const re2::StringPiece piece(line.data(), line.size());
    re2::StringPiece found;
    if ((*expressions)[i].Match(piece, 0, piece.size(), re2::RE2::UNANCHORED, &found, 1) &&
        CountsAfter(rule, line.substr(0, static_cast<size_t>(found.data() - piece.data())))) {
      return &rule;
    }
  }
  return nullptr;
}

TEST(Rules, TheMatcherDropsNoMatch) {
  std::set<std::string_view> matched;
  for (const testing::FailureCase& one : testing::ReadFailureCases()) {
    for (const std::string& log : one.logs) {
      std::istringstream lines(log);
      for (std::string line; std::getline(lines, line);) {
        for (const bool exception : {false, true}) {
          const LogRule* const expected = FirstRuleOneByOne(line, exception);
          const RuleMatch found = MatchRule(line, exception);
          ASSERT_EQ(found.rule, expected) << line;
          if (found.rule == nullptr) continue;
          matched.insert(found.rule->name);
          EXPECT_LE(found.place, line.size());
        }
      }
    }
  }
  // Otherwise the cases would prove little.
  EXPECT_GT(matched.size(), LogRules().size() / 2);
}

TEST(Rules, ShortAndOrdinaryLinesMatchNothing) {
  EXPECT_EQ(MatchRule("", true).rule, nullptr);
  EXPECT_EQ(MatchRule("ab", true).rule, nullptr);
  EXPECT_EQ(MatchRule("step 10/100 loss 0.3", true).rule, nullptr);
}

}  // namespace
}  // namespace synergy
