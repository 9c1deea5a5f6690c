#include "nodeagent/memory_use.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::nodeagent {
namespace {

using ::testing::HasSubstr;

// As Linux 6.18 wrote them for a pod that had read 160 MiB, shortened.
constexpr const char* kStatV1 =
    "cache 0\nrss 0\nhierarchical_memory_limit 209715200\ntotal_cache 167833600\n"
    "total_rss 10952704\ntotal_rss_huge 0\ntotal_shmem 4096\ntotal_mapped_file 0\n";
constexpr const char* kStatV2 =
    "anon 10952704\nfile 167833600\nkernel 892928\nkernel_stack 65536\nshmem 4096\n"
    "anon_thp 1\nslab_reclaimable 92928\nslab_unreclaimable 300000\nslab 392928\n";

TEST(MemoryUseTest, WhatIsNotPageCacheIsHeld) {
  const auto v1 = ParseMemoryUseV1("180633600\n", kStatV1, "892928\n");
  ASSERT_TRUE(v1) << v1.error().message;
  EXPECT_EQ(v1->usage, Bytes(180633600));
  EXPECT_EQ(v1->held, Bytes(10952704 + 4096 + 892928));

  const auto v2 = ParseMemoryUseV2("180633600\n", kStatV2);
  ASSERT_TRUE(v2) << v2.error().message;
  EXPECT_EQ(v2->usage, Bytes(180633600));
  EXPECT_EQ(v2->held, Bytes(10952704 + 4096 + 800000));
}

TEST(MemoryUseTest, OlderKernelsSayLess) {
  EXPECT_EQ(ParseMemoryUseV1("1\n", kStatV1, "")->held, Bytes(10952704 + 4096));
  EXPECT_EQ(ParseMemoryUseV2("1\n", "anon 5\nshmem 6\n")->held, Bytes(11));
}

TEST(MemoryUseTest, TextThatIsOddIsAnErrorAndNeverZero) {
  EXPECT_FALSE(ParseMemoryUseV1("", kStatV1, "1\n"));
  EXPECT_FALSE(ParseMemoryUseV1("-1\n", kStatV1, "1\n"));
  EXPECT_FALSE(ParseMemoryUseV1("1\n", "", "1\n"));
  EXPECT_FALSE(ParseMemoryUseV1("1\n", kStatV1, "many\n"));
  EXPECT_FALSE(ParseMemoryUseV2("99999999999999999999\n", kStatV2));
  const auto use = ParseMemoryUseV2("1\n", "anon x\nshmem 6\n");
  ASSERT_FALSE(use);
  EXPECT_THAT(use.error().message, HasSubstr("anon"));
}

TEST(MemoryLimitTest, NoLimitIsSpelledInTwoWays) {
  EXPECT_EQ(*ParseMemoryLimit("209715200\n"), MiB(200));
  EXPECT_EQ(*ParseMemoryLimit("max\n"), kNoMemoryLimit);
  EXPECT_EQ(*ParseMemoryLimit("9223372036854771712\n"), kNoMemoryLimit);
  EXPECT_FALSE(ParseMemoryLimit("most"));
}

}  // namespace
}  // namespace synergy::nodeagent
