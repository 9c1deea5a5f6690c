// Each of the recorded failures gets its category.

#include "unit/failure/failure_cases.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace synergy {
namespace {

TEST(FailureCases, EachHasItsCategory) {
  for (const testing::FailureCase& one : testing::ReadFailureCases()) {
    SCOPED_TRACE(one.file + ": " + one.category + " | " + one.name);
    const std::optional<JobFailure> failure = testing::ClassifyWith(one, one.logs);
    const std::string rule = failure ? failure->rule + ": " + failure->evidence : "";
    EXPECT_EQ(failure ? std::string(ToString(failure->category)) : "none", one.category) << rule;
    for (const auto& [key, value] : one.expected) {
      if (!failure) continue;
      if (key == "contains") {
        EXPECT_NE(failure->evidence.find(value), std::string::npos) << rule;
        continue;
      }
      EXPECT_EQ(key == "cause"       ? ToString(failure->outcome.cause)
                : key == "behaviour" ? ToString(failure->outcome.behaviour)
                : key == "advice"    ? ToString(failure->outcome.advice)
                                     : "no such key: " + key,
                value);
    }
  }
}

TEST(FailureCases, EachCategoryHasSeveral) {
  std::map<std::string, int> counts;
  for (const testing::FailureCase& one : testing::ReadFailureCases()) ++counts[one.category];
  for (const CategoryEntry& entry : CategoryEntries()) {
    EXPECT_GE(counts[std::string(entry.name)], 2) << entry.name;
  }
}

}  // namespace
}  // namespace synergy
