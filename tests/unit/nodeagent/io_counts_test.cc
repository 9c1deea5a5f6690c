#include "nodeagent/cgroups/storage/io_counts.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"

namespace synergy::nodeagent {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST(IoCountsTest, ParsesIoStat) {
  EXPECT_THAT(ParseIoStat("254:32 rbytes=41948160 wbytes=8192 rios=57 wios=2 dbytes=0 dios=0\n"
                          "7:7 \n"
                          "253:0 rbytes=270336 wbytes=0 rios=11 wios=0 dbytes=0 dios=0 "
                          "cost.usage=12\n"),
              UnorderedElementsAre(Pair(DeviceNumber{254, 32}, IoCount{41948160, 8192}),
                                   Pair(DeviceNumber{253, 0}, IoCount{270336, 0})));
  EXPECT_THAT(ParseIoStat(""), IsEmpty());
}

TEST(IoCountsTest, ParsesTheTotalsOfControlGroupsV1) {
  EXPECT_THAT(ParseThrottledIo("8:0 Read 4096\n8:0 Write 512\n8:0 Sync 4608\n8:0 Async 0\n"
                               "8:0 Discard 0\n8:0 Total 4608\n8:16 Read 7\nTotal 4615\n"),
              UnorderedElementsAre(Pair(DeviceNumber{8, 0}, IoCount{4096, 512}),
                                   Pair(DeviceNumber{8, 16}, IoCount{7, 0})));
  EXPECT_THAT(ParseThrottledIo("Total 0\n"), IsEmpty());
}

TEST(IoCountsTest, SkipsWhatIsMalformed) {
  for (const char* line :
       {"8:0 rbytes=1", "8 rbytes=1 wbytes=1", "8: rbytes=1 wbytes=1", ":0 rbytes=1 wbytes=1",
        "8:-1 rbytes=1 wbytes=1", "8:0 rbytes=-1 wbytes=1", "8:0 rbytes=1e9 wbytes=1",
        "8:0 rbytes= wbytes=1", "8:0 rbytes=18446744073709551616 wbytes=1",
        "4294967296:0 rbytes=1 wbytes=1", "8:0:1 rbytes=1 wbytes=1", "\n\n", "x"}) {
    EXPECT_THAT(ParseIoStat(fmt::format("{}\n9:1 rbytes=3 wbytes=4\n", line)),
                UnorderedElementsAre(Pair(DeviceNumber{9, 1}, IoCount{3, 4})))
        << line;
  }
  for (const char* line :
       {"8:0 Read", "8:0 Read -1", "8:0 Read x", "8:0 Read 1 2", "8:0", "8 Read 1", "8:0 read 1"}) {
    EXPECT_THAT(ParseThrottledIo(fmt::format("{}\n9:1 Write 4\n", line)),
                UnorderedElementsAre(Pair(DeviceNumber{9, 1}, IoCount{0, 4})))
        << line;
  }
}

TEST(IoCountsTest, SkipsALastLineThatIsCutOff) {
  EXPECT_THAT(ParseIoStat("8:0 rbytes=1 wbytes=2 rios=1\n8:16 rbytes=3 wbytes=41"), SizeIs(1));
  EXPECT_THAT(ParseThrottledIo("8:0 Read 1\n8:16 Read 41"), SizeIs(1));
}

TEST(IoCountsTest, DevicesAreLimited) {
  std::string stat;
  std::string bytes;
  for (size_t minor = 0; minor < 3 * kMostDevices; ++minor) {
    stat += fmt::format("8:{} rbytes=1 wbytes=1\n", minor);
    bytes += fmt::format("8:{} Read 1\n", minor);
  }
  EXPECT_THAT(ParseIoStat(stat), SizeIs(kMostDevices));
  EXPECT_THAT(ParseThrottledIo(bytes), SizeIs(kMostDevices));
}

TEST(IoCountsTest, CompleteLinesAreFoundInAnyText) {
  Random random(42);
  const std::string alphabet = "0123456789:= \nrwbytesReadWi-+.x\0\xff";
  for (int history = 0; history < 2000; ++history) {
    std::string noise;
    const auto length = static_cast<size_t>(random.Uniform() * 200);
    while (noise.size() < length)
      noise +=
          alphabet[static_cast<size_t>(random.Uniform() * static_cast<double>(alphabet.size()))];
    const std::string text = noise + "\n99:7 rbytes=5 wbytes=6\n" + noise;
    const IoCounts counts = ParseIoStat(text);
    ASSERT_TRUE(counts.contains(DeviceNumber{99, 7})) << text;
    for (const auto& [device, count] : counts) {
      EXPECT_GE(count.read, 0);
      EXPECT_GE(count.written, 0);
    }
    EXPECT_LE(ParseThrottledIo(text).size(), kMostDevices);
  }
}

}  // namespace
}  // namespace synergy::nodeagent
