#include "metrics/exposition.h"

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::metrics {
namespace {

using ::testing::ElementsAre;

TEST(ExpositionTest, ReadsASampleWithItsLabels) {
  const auto sample = ParseSample(
      R"(DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1", modelName="a } \"b\" \\ \n" } 6.5e1 1700000000000)");
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->name, "DCGM_FI_DEV_GPU_UTIL");
  EXPECT_EQ(sample->value, 65);
  EXPECT_EQ(sample->Label("UUID"), "GPU-1");
  EXPECT_EQ(sample->Label("modelName"), "a } \"b\" \\ \n");
  EXPECT_EQ(sample->Label("none"), "");
}

TEST(ExpositionTest, ReadsWhatTheFormatAllows) {
  for (const char* line :
       {"a 1", "a{} 1", "\ta\t{ } +1 ", "a{b=\"\",} 1", "a:b_9 1 -5", "a 1 1.5", "a 1\r"}) {
    const auto sample = ParseSample(line);
    ASSERT_TRUE(sample) << line;
    EXPECT_EQ(sample->value, 1) << line;
  }
  EXPECT_TRUE(std::isinf(ParseSample("a +Inf")->value));
  EXPECT_TRUE(std::isnan(ParseSample("a NaN")->value));
}

TEST(ExpositionTest, RejectsLinesThatAreNoSample) {
  for (const char* line : {"",
                           " ",
                           "# HELP a text",
                           "#",
                           "9a 1",
                           "a",
                           "a ",
                           "a x",
                           "a 1 x",
                           "a 1 2 3",
                           "a{b} 1",
                           "a{b=} 1",
                           "a{b=\"x} 1",
                           "a{b=\"x\" c=\"y\"} 1",
                           "a{b=\"\\x\"} 1",
                           "a{b=\"\\",
                           "a{",
                           "a{b=\"",
                           "a{9=\"x\"} 1",
                           "a{,} 1",
                           "a{b=\"x\"}",
                           "a 0x1",
                           "a 1e999"})
    EXPECT_FALSE(ParseSample(line)) << line;
}

TEST(ExpositionTest, BoundsTheSizeOfALine) {
  std::string labels;
  for (size_t label = 0; label < kMostLabels; ++label)
    labels += "l" + std::to_string(label) + "=\"\",";
  EXPECT_TRUE(ParseSample("a{" + labels + "} 1"));
  EXPECT_FALSE(ParseSample("a{" + labels + "more=\"\"} 1"));
  EXPECT_FALSE(ParseSample("a{b=\"" + std::string(kLongestSample, 'x') + "\"} 1"));
}

TEST(ExpositionTest, APageIsReadByLines) {
  std::vector<std::string> lines;
  const auto read = [&](std::string_view page) {
    lines.clear();
    ForEachLine(page, [&](std::string_view line) { lines.emplace_back(line); });
    return lines;
  };
  EXPECT_THAT(read(""), ElementsAre());
  EXPECT_THAT(read("a\n\nb"), ElementsAre("a", "", "b"));
  EXPECT_THAT(read("a\n"), ElementsAre("a"));
}

}  // namespace
}  // namespace synergy::metrics
