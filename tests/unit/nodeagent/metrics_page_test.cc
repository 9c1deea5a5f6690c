#include "nodeagent/progress/metrics_page.h"

#include <string>

#include <gtest/gtest.h>

namespace synergy::nodeagent {
namespace {

constexpr const char* kPage =
    "# HELP steps_total Steps.\n"
    "# TYPE steps_total counter\n"
    "steps_total 120\n"
    "steps_total_of_others 7\n"
    "samples_total{rank=\"0\",path=\"a } b\\\" 9\"} 64 1700000000000\n"
    "samples_total{rank=\"1\"} 6.5e1\n"
    "odd_total NaN\n"
    "negative_total -1";

TEST(CounterPageTest, FindsACounter) { EXPECT_EQ(FindCounter(kPage, "steps_total"), 120); }

TEST(CounterPageTest, AddsUpItsSeries) { EXPECT_EQ(FindCounter(kPage, "samples_total"), 129); }

TEST(CounterPageTest, ErrorsDistinguishMissingFromInvalidCounters) {
  const auto code_of = [](const std::string& name) {
    return FindCounter(kPage, name).error().code;
  };
  EXPECT_EQ(code_of("steps"), ErrorCode::kNotFound);
  EXPECT_EQ(code_of("epochs_total"), ErrorCode::kNotFound);
  EXPECT_EQ(code_of("odd_total"), ErrorCode::kInvalid);
  EXPECT_EQ(code_of("negative_total"), ErrorCode::kInvalid);
  EXPECT_EQ(FindCounter("a{b=\"", "a").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(FindCounter("", "a").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace synergy::nodeagent
