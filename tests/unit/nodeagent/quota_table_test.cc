#include "nodeagent/probes/quota_table.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/silent_log.h"

namespace synergy::nodeagent {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kFile = "/groups/pod1/cpu.max";
constexpr const char* kOther = "/groups/pod2/cpu.max";

// Control groups with a file each, and a disk.
class FakeQuotaFiles final : public QuotaFiles {
 public:
  Result<uint64_t> FolderOf(const std::string& file) override {
    if (!texts.contains(file)) return Fail(ErrorCode::kNotFound, "gone");
    return folders[file];
  }
  Result<std::string> Read(const std::string& file) override {
    if (!texts.contains(file)) return Fail(ErrorCode::kNotFound, "gone");
    return texts[file];
  }
  Result<> Write(const std::string& file, const std::string& text) override {
    if (refuses_writes) return Fail(ErrorCode::kInvalid, "refused");
    // A group that is not recorded could not be found by the next process.
    EXPECT_TRUE(std::any_of(saved.begin(), saved.end(),
                            [&](const KeptQuota& quota) { return quota.file == file; }));
    texts[file] = text;
    return {};
  }
  Result<> Save(std::span<const KeptQuota> quotas) override {
    if (disk_is_full) return Fail(ErrorCode::kUnavailable, "full");
    saved.assign(quotas.begin(), quotas.end());
    return {};
  }

  std::map<std::string, std::string> texts{{kFile, "max 100000"}, {kOther, "40000 100000"}};
  std::map<std::string, uint64_t> folders{{kFile, 7}, {kOther, 8}};
  std::vector<KeptQuota> saved;
  bool refuses_writes = false;
  bool disk_is_full = false;
};

class QuotaTableTest : public ::testing::Test {
 protected:
  Result<> Begin(Duration longest = seconds(30)) {
    return table.Begin(kFile, "7500 100000", longest, start);
  }
  std::string Text() { return files.texts[kFile]; }

  testing::FakeClock clock;
  testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  FakeQuotaFiles files;
  QuotaTable table{files, log};
  const Instant start = clock.Now();
};

TEST_F(QuotaTableTest, AQuotaGoesWhenItsTimeIsOver) {
  ASSERT_TRUE(Begin());
  EXPECT_EQ(Text(), "7500 100000");
  EXPECT_THAT(files.saved, ElementsAre(KeptQuota{kFile, 7, "max 100000", "7500 100000"}));
  EXPECT_EQ(table.Next(), start + seconds(30));
  table.Step(start + seconds(29));
  EXPECT_EQ(Text(), "7500 100000");
  table.Step(start + seconds(30));
  EXPECT_EQ(Text(), "max 100000");
  EXPECT_THAT(files.saved, IsEmpty());
  EXPECT_EQ(table.Next(), std::nullopt);
  EXPECT_EQ(table.End(kFile, start).error().code, ErrorCode::kNotFound);
}

TEST_F(QuotaTableTest, NoCommandMakesItStayForLongerThanTwoMinutes) {
  ASSERT_TRUE(Begin(hours(5)));
  EXPECT_EQ(table.Next(), start + kLongestQuota);
}

TEST_F(QuotaTableTest, EndRestoresTheQuota) {
  ASSERT_TRUE(Begin());
  ASSERT_TRUE(table.Begin(kOther, "5000 100000", seconds(30), start));
  EXPECT_TRUE(table.End(kFile, start + seconds(1)));
  EXPECT_EQ(Text(), "max 100000");
  EXPECT_EQ(files.texts[kOther], "5000 100000");
  EXPECT_THAT(files.saved, ElementsAre(KeptQuota{kOther, 8, "40000 100000", "5000 100000"}));
  table.EndAll(start + seconds(2));
  table.Step(start + seconds(2));
  EXPECT_EQ(files.texts[kOther], "40000 100000");
  EXPECT_TRUE(table.empty());
}

TEST_F(QuotaTableTest, KeepsAForeignQuota) {
  ASSERT_TRUE(Begin());
  files.texts[kFile] = "90000 100000";
  EXPECT_TRUE(table.End(kFile, start));
  EXPECT_EQ(Text(), "90000 100000");
  EXPECT_THAT(files.saved, IsEmpty());
}

TEST_F(QuotaTableTest, AnotherGroupOfThatNameIsLeftAlone) {
  ASSERT_TRUE(Begin());
  files.folders[kFile] = 9;
  EXPECT_TRUE(table.End(kFile, start));
  EXPECT_EQ(Text(), "7500 100000");
  EXPECT_TRUE(table.empty());
}

TEST_F(QuotaTableTest, TheRecordOfAGroupThatIsGoneGoesToo) {
  ASSERT_TRUE(Begin());
  files.texts.erase(kFile);
  table.Step(start + seconds(30));
  EXPECT_TRUE(table.empty());
  EXPECT_THAT(files.saved, IsEmpty());
}

TEST_F(QuotaTableTest, WritesNoQuotaThatCannotBeRecorded) {
  files.disk_is_full = true;
  EXPECT_EQ(Begin().error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(Text(), "max 100000");
  EXPECT_TRUE(table.empty());
}

TEST_F(QuotaTableTest, ForgetsAQuotaThatTheKernelRefuses) {
  files.refuses_writes = true;
  EXPECT_EQ(Begin().error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(table.empty());
  EXPECT_THAT(files.saved, IsEmpty());
}

TEST_F(QuotaTableTest, AGroupHasOneAtATime) {
  ASSERT_TRUE(Begin());
  EXPECT_EQ(Begin().error().code, ErrorCode::kConflict);
  EXPECT_EQ(table.Begin("/groups/none/cpu.max", "1", seconds(1), start).error().code,
            ErrorCode::kNotFound);
}

TEST_F(QuotaTableTest, RetriesAFailedRestore) {
  ASSERT_TRUE(Begin());
  files.refuses_writes = true;
  EXPECT_EQ(table.End(kFile, start).error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(files.saved, ElementsAre(KeptQuota{kFile, 7, "max 100000", "7500 100000"}));
  EXPECT_EQ(table.Next(), start + seconds(1));
  files.refuses_writes = false;
  table.Step(start + seconds(1));
  EXPECT_EQ(Text(), "max 100000");
  EXPECT_TRUE(table.empty());
}

TEST_F(QuotaTableTest, ADiskThatIsFullKeepsNoQuotaThere) {
  ASSERT_TRUE(Begin());
  files.disk_is_full = true;
  EXPECT_TRUE(table.End(kFile, start));
  EXPECT_EQ(Text(), "max 100000");
}

TEST_F(QuotaTableTest, RestoresQuotasOfAnEarlierProcessAtOnce) {
  files.texts[kFile] = "7500 100000";
  files.saved = {{kFile, 7, "max 100000", "7500 100000"}, {kOther, 8, "max 100000", "1 100000"}};
  table.Adopt(files.saved, start);
  EXPECT_EQ(table.Next(), start);
  table.Step(start);
  EXPECT_EQ(Text(), "max 100000");
  EXPECT_EQ(files.texts[kOther], "40000 100000");
  EXPECT_TRUE(table.empty());
  EXPECT_THAT(files.saved, IsEmpty());
}

TEST_F(QuotaTableTest, ARecordThatNoWriteFollowedChangesNothing) {
  table.Adopt({{kFile, 7, "max 100000", "7500 100000"}}, start);
  files.refuses_writes = true;
  table.Step(start);
  EXPECT_TRUE(table.empty());
}

}  // namespace
}  // namespace synergy::nodeagent
