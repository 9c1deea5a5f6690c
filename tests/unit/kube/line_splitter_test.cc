#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api_client.h"

namespace synergy::kube {
namespace {

using ::testing::ElementsAre;

class LineSplitterTest : public ::testing::Test {
 protected:
  bool Add(std::string_view piece) {
    return splitter_.Add(piece, [this](std::string_view line) {
      lines_.emplace_back(line);
      return line != "stop";
    });
  }

  LineSplitter splitter_{10};
  std::vector<std::string> lines_;
};

TEST_F(LineSplitterTest, LinesMayComeInAnyPieces) {
  for (const char c : std::string_view("one\ntwo\n\nthree\n")) EXPECT_TRUE(Add({&c, 1}));
  EXPECT_TRUE(Add("four\nfi"));
  EXPECT_TRUE(Add("ve\nsix\nhalf of"));
  EXPECT_THAT(lines_, ElementsAre("one", "two", "three", "four", "five", "six"));
}

TEST_F(LineSplitterTest, TheReaderCanEndIt) {
  EXPECT_FALSE(Add("one\nstop\ntwo\n"));
  EXPECT_THAT(lines_, ElementsAre("one", "stop"));
  EXPECT_FALSE(splitter_.too_long());
}

TEST_F(LineSplitterTest, ALineMayBeAsLongAsTheLimitAndNoLonger) {
  EXPECT_TRUE(Add("01234"));
  EXPECT_TRUE(Add("56789\n"));
  EXPECT_TRUE(Add("0123456789\n"));
  EXPECT_THAT(lines_, ElementsAre("0123456789", "0123456789"));
  EXPECT_TRUE(Add("01234"));
  EXPECT_FALSE(Add("56789A"));
  EXPECT_TRUE(splitter_.too_long());
}

}  // namespace
}  // namespace synergy::kube
