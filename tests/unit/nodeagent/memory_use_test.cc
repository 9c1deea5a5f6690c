#include "nodeagent/memory/memory_use.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::nodeagent {
namespace {

using ::testing::HasSubstr;

// The text is from Linux 6.18, for a pod that had read 160 MiB; shortened.
constexpr const char* kStatV1 =
    "cache 0\nrss 0\nhierarchical_memory_limit 209715200\ntotal_cache 167833600\n"
    "total_rss 10952704\ntotal_rss_huge 0\ntotal_shmem 4096\ntotal_mapped_file 0\n";
constexpr const char* kStatV2 =
    "anon 10952704\nfile 167833600\nkernel 892928\nkernel_stack 65536\nshmem 4096\n"
    "anon_thp 1\nslab_reclaimable 92928\nslab_unreclaimable 300000\nslab 392928\n";

TEST(MemoryUseTest, MemoryBeyondPageCacheIsHeld) {
  const auto v1 = ParseMemoryUseV1("180633600\n", kStatV1, "892928\n");
  ASSERT_TRUE(v1) << v1.error().message;
  EXPECT_EQ(v1->usage, Bytes(180633600));
  EXPECT_EQ(v1->held, Bytes(10952704 + 4096 + 892928));

  const auto v2 = ParseMemoryUseV2("180633600\n", kStatV2);
  ASSERT_TRUE(v2) << v2.error().message;
  EXPECT_EQ(v2->usage, Bytes(180633600));
  EXPECT_EQ(v2->held, Bytes(10952704 + 4096 + 800000));
}

TEST(MemoryUseTest, OlderKernelsReportLess) {
  EXPECT_EQ(ParseMemoryUseV1("1\n", kStatV1, "")->held, Bytes(10952704 + 4096));
  EXPECT_EQ(ParseMemoryUseV2("1\n", "anon 5\nshmem 6\n")->held, Bytes(11));
}

TEST(MemorySampleTest, V1HasMappedMemoryAndCacheToo) {
  const auto sample =
      ParseMemorySampleV1("9000\n",
                          "total_rss 1000\ntotal_shmem 200\ntotal_mapped_file 50\ntotal_dirty 30\n"
                          "total_writeback 20\ntotal_inactive_file 4000\ntotal_active_file 3000\n",
                          "");
  ASSERT_TRUE(sample) << sample.error().message;
  EXPECT_EQ(sample->mapped, Bytes(50));
  EXPECT_EQ(sample->cache, Bytes(6900));
  EXPECT_EQ(sample->InUse(), Bytes(5000)) << "where nobody can drop it, all of the working set";
}

// The text is from Linux 6.1, for a container that had mapped 20 MiB of 160 and not yet written 4
// MiB.
constexpr const char* kSampleV2 =
    "anon 10485760\nfile 172032000\nkernel 0\nshmem 4194304\nfile_mapped 20971520\n"
    "file_dirty 3145728\nfile_writeback 1048576\ninactive_anon 0\nactive_anon 14680064\n"
    "inactive_file 125829120\nactive_file 41943040\nworkingset_refault_anon 7\n"
    "workingset_refault_file 100\n";

TEST(MemorySampleTest, MemoryInUseExcludesCacheThatCanBeDropped) {
  auto sample = ParseMemorySampleV2("188743680\n", kSampleV2,
                                    "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500\n"
                                    "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
  ASSERT_TRUE(sample) << sample.error().message;
  EXPECT_EQ(sample->use.held, MiB(14));
  EXPECT_EQ(sample->mapped, MiB(20));
  EXPECT_EQ(sample->cache, MiB(160 - 20 - 4));
  EXPECT_EQ(sample->working_set, MiB(180 - 120));
  EXPECT_EQ(sample->refaulted, Bytes(409600));
  EXPECT_EQ(sample->stalled, std::chrono::microseconds(1500));
  sample->cache_can_be_released = true;
  EXPECT_EQ(sample->InUse(), MiB(34));
  sample->cache_can_be_released = false;
  EXPECT_EQ(sample->InUse(), MiB(60));
}

TEST(MemorySampleTest, LockedFilesAreInUse) {
  const auto sample = ParseMemorySampleV2(
      "42949672960\n",
      "anon 0\nfile 42949672960\nshmem 0\nfile_mapped 41875931136\nfile_dirty 0\nfile_writeback 0\n"
      "inactive_file 1073741824\nactive_file 0\nunevictable 41875931136\n",
      "");
  ASSERT_TRUE(sample) << sample.error().message;
  EXPECT_EQ(sample->mapped, GiB(39));
}

TEST(MemorySampleTest, KernelsMayHaveNoPressureAndOneCountOfRefaults) {
  std::string stat = kSampleV2;
  stat.replace(stat.find("workingset_refault_anon"), std::string::npos, "workingset_refault 9\n");
  const auto sample = ParseMemorySampleV2("188743680\n", stat, "");
  ASSERT_TRUE(sample);
  EXPECT_FALSE(sample->stalled);
  EXPECT_EQ(sample->refaulted, Bytes(9 * 4096));
}

TEST(MemorySampleTest, V1HasTheWorkingSetOfTheKubelet) {
  const auto sample =
      ParseMemorySampleV1("180633600\n", std::string(kStatV1) + "total_inactive_file 633600\n", "");
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->InUse(), Bytes(180000000));
}

TEST(MemorySampleTest, OddTextIsAnError) {
  EXPECT_FALSE(ParseMemorySampleV2("188743680\n", kStatV2, ""));
  EXPECT_FALSE(ParseMemorySampleV1("180633600\n", kStatV1, ""));
}

TEST(NodeMemoryTest, IsAvailableMemoryAsTheKubeletCountsIt) {
  const auto memory = ParseNodeMemory(
      "MemTotal:       16384000 kB\nMemFree:         1000 kB\nMemAvailable:    9000 kB\n"
      "Active(file):    500 kB\nInactive(file):    24 kB\n");
  ASSERT_TRUE(memory) << memory.error().message;
  EXPECT_EQ(memory->total, Bytes(16384000LL * 1024));
  EXPECT_EQ(memory->free, Bytes(1024000));
  EXPECT_EQ(memory->available, MiB(1));
  EXPECT_FALSE(ParseNodeMemory("MemTotal: 1 kB\nMemFree: x kB\nInactive(file): 1 kB\n"));
  EXPECT_FALSE(ParseNodeMemory(""));
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
