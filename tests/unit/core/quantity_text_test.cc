#include "core/text/quantity_text.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

TEST(QuantityTextTest, CpuIsInCoresOrThousandths) {
  EXPECT_EQ(ToQuantityText(Cores(3)), "3");
  EXPECT_EQ(ToQuantityText(MilliCpu(1500)), "1500m");
  EXPECT_EQ(ToQuantityText(MilliCpu(0)), "0");
  EXPECT_EQ(ToQuantityText(MilliCpu(-500)), "-500m");
}

TEST(QuantityTextTest, BytesHaveTheLargestSuffixThatLosesNothing) {
  EXPECT_EQ(ToQuantityText(GiB(4)), "4Gi");
  EXPECT_EQ(ToQuantityText(GiB(1) + MiB(512)), "1536Mi");
  EXPECT_EQ(ToQuantityText(GB(250)), "250G");
  EXPECT_EQ(ToQuantityText(Bytes(62'500'000'000)), "62500M");
  EXPECT_EQ(ToQuantityText(Bytes(1024)), "1Ki");
  EXPECT_EQ(ToQuantityText(Bytes(1023)), "1023");
  EXPECT_EQ(ToQuantityText(Bytes(0)), "0");
  EXPECT_EQ(ToQuantityText(Bytes(-2048)), "-2Ki");
  EXPECT_EQ(ToQuantityText(Bytes(std::numeric_limits<int64_t>::max())), "9223372036854775807");
  EXPECT_EQ(ToQuantityText(Bytes(std::numeric_limits<int64_t>::min())), "-8Ei");
}

}  // namespace
}  // namespace synergy::testing
