#include "cluster/state/scalar_columns.h"

#include <gtest/gtest.h>

namespace synergy {
namespace {

constexpr const char* kHca = "rdma/hca";

ScalarResources Some(int64_t amount, const char* name = kHca) {
  ScalarResources resources;
  resources.Set(name, amount);
  return resources;
}

TEST(ScalarColumnsTest, HaveWhatIsFreeOnEachNode) {
  ScalarColumns columns;
  EXPECT_EQ(columns.Share()->Find(kHca), nullptr) << "nobody has any";
  columns.Update(70, Some(8), Some(3));
  columns.Update(2, Some(4), {});
  const auto shared = columns.Share();
  ASSERT_NE(shared->Find(kHca), nullptr);
  EXPECT_EQ(shared->Find(kHca)->Free(70), 5);
  EXPECT_EQ(shared->Find(kHca)->Free(2), 4);
  EXPECT_EQ(shared->Find(kHca)->Free(0), 0);
  EXPECT_EQ(shared->Find(kHca)->Free(1000), 0);
}

TEST(ScalarColumnsTest, SharedColumnsDoNotChange) {
  ScalarColumns columns;
  columns.Update(0, Some(8), {});
  const auto before = columns.Share();
  EXPECT_EQ(columns.Share(), before);
  columns.Update(0, Some(8), {});
  EXPECT_EQ(columns.Share(), before) << "nothing has changed";
  columns.Update(0, {}, Some(2));
  columns.Update(1, Some(1, "vpc.amazonaws.com/efa"), {});
  const auto after = columns.Share();
  EXPECT_EQ(before->Find(kHca)->Free(0), 8);
  EXPECT_EQ(before->Find("vpc.amazonaws.com/efa"), nullptr);
  EXPECT_EQ(after->Find(kHca)->Free(0), -2) << "it is gone, and somebody has it";
  EXPECT_EQ(after->Find("vpc.amazonaws.com/efa")->Free(1), 1);
}

}  // namespace
}  // namespace synergy
