#include "deviceplugin/plugin/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using deviceplugin::RunCommand;
using std::chrono::seconds;
using ::testing::HasSubstr;

TEST(CommandTest, ReturnsTheOutput) {
  EXPECT_EQ(RunCommand({"sh", "-c", "echo \"$0\"", "a b"}, seconds(20)), "a b\n");
}

TEST(CommandTest, AProgramThatIsNotThereIsNotFound) {
  const auto text = RunCommand({"no-such-program"}, seconds(20));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(text.error().message, HasSubstr("no-such-program"));
}

TEST(CommandTest, AFailureATimeoutAndTooMuchAreErrors) {
  EXPECT_THAT(RunCommand({"false"}, seconds(20)).error().message, HasSubstr("fails"));
  EXPECT_THAT(RunCommand({"sleep", "60"}, std::chrono::milliseconds(1)).error().message,
              HasSubstr("too long"));
  EXPECT_THAT(RunCommand({"head", "-c", "5000000", "/dev/zero"}, seconds(20)).error().message,
              HasSubstr("too much"));
}

}  // namespace
}  // namespace synergy::testing
