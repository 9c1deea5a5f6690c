#include "cluster/labels.h"

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

TEST(LabelsTest, AreFoundByTheirWholeKey) {
  const Labels labels = {{"app", "train"}, {"apps", ""}, {"zone", "a"}};
  EXPECT_EQ(FindLabel(labels, "app"), "train");
  EXPECT_EQ(FindLabel(labels, "apps"), "");
  EXPECT_EQ(FindLabel(labels, "zone"), "a");
  for (const char* absent : {"", "ap", "appz", "zoo"})
    EXPECT_EQ(FindLabel(labels, absent), std::nullopt) << absent;
  EXPECT_EQ(FindLabel({}, "app"), std::nullopt);
}

}  // namespace
}  // namespace synergy::testing
