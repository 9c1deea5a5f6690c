#include "core/version.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

TEST(VersionTest, IsThreeNumbers) {
  EXPECT_THAT(std::string(Version()), ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(VersionTest, CommitIsAHashOrUnknown) {
  EXPECT_THAT(std::string(Commit()), ::testing::MatchesRegex("unknown|[0-9a-f]{12}"));
}

}  // namespace
}  // namespace synergy::testing
