#include "nodeagent/guarded/temporary_writes.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/gpu_turn.h"
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

// Control groups with one file each, and a disk.
class FakeWriteFiles final : public WriteFiles {
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
    // The next process could not find a group that is not recorded.
    EXPECT_TRUE(std::any_of(saved.begin(), saved.end(),
                            [&](const KeptWrite& write) { return write.file == file; }));
    texts[file] = file.ends_with("/io.max") ? LimitsAfter(text) : text;
    return {};
  }
  // Returns the contents of a group's io.max with limits on one device, as the kernel shows it.
  static std::string LimitsAfter(const std::string& text) {
    return text.ends_with("rbps=max") ? "" : text + " wbps=max riops=max wiops=max";
  }
  Result<> Save(std::span<const KeptWrite> writes) override {
    if (disk_is_full) return Fail(ErrorCode::kUnavailable, "full");
    saved.assign(writes.begin(), writes.end());
    return {};
  }

  std::map<std::string, std::string> texts{{kFile, "max 100000"}, {kOther, "40000 100000"}};
  std::map<std::string, uint64_t> folders{{kFile, 7}, {kOther, 8}};
  std::vector<KeptWrite> saved;
  bool refuses_writes = false;
  bool disk_is_full = false;
};

class TemporaryWritesTest : public ::testing::Test {
 protected:
  Result<> Begin(Duration longest = seconds(30)) {
    return table.Begin(kFile, "7500 100000", longest, start);
  }
  std::string Text() { return files.texts[kFile]; }

  testing::FakeClock clock;
  testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  FakeWriteFiles files;
  TemporaryWrites table{files, log};
  const Instant start = clock.Now();
};

TEST_F(TemporaryWritesTest, AQuotaGoesWhenItsTimeIsOver) {
  ASSERT_TRUE(Begin());
  EXPECT_EQ(Text(), "7500 100000");
  EXPECT_THAT(files.saved, ElementsAre(KeptWrite{kFile, 7, "max 100000", "7500 100000"}));
  EXPECT_EQ(table.Next(), start + seconds(30));
  table.Step(start + seconds(29));
  EXPECT_EQ(Text(), "7500 100000");
  table.Step(start + seconds(30));
  EXPECT_EQ(Text(), "max 100000");
  EXPECT_THAT(files.saved, IsEmpty());
  EXPECT_EQ(table.Next(), std::nullopt);
  EXPECT_EQ(table.End(kFile, start).error().code, ErrorCode::kNotFound);
}

TEST_F(TemporaryWritesTest, NoCommandMakesItStayForLongerThanTwoMinutes) {
  ASSERT_TRUE(Begin(hours(5)));
  EXPECT_EQ(table.Next(), start + kLongestWrite);
}

TEST_F(TemporaryWritesTest, EndRestoresTheQuota) {
  ASSERT_TRUE(Begin());
  ASSERT_TRUE(table.Begin(kOther, "5000 100000", seconds(30), start));
  EXPECT_TRUE(table.End(kFile, start + seconds(1)));
  EXPECT_EQ(Text(), "max 100000");
  EXPECT_EQ(files.texts[kOther], "5000 100000");
  EXPECT_THAT(files.saved, ElementsAre(KeptWrite{kOther, 8, "40000 100000", "5000 100000"}));
  table.EndAll(start + seconds(2));
  table.Step(start + seconds(2));
  EXPECT_EQ(files.texts[kOther], "40000 100000");
  EXPECT_TRUE(table.empty());
}

TEST_F(TemporaryWritesTest, KeepsAForeignQuota) {
  ASSERT_TRUE(Begin());
  files.texts[kFile] = "90000 100000";
  EXPECT_TRUE(table.End(kFile, start));
  EXPECT_EQ(Text(), "90000 100000");
  EXPECT_THAT(files.saved, IsEmpty());
}

TEST_F(TemporaryWritesTest, AnotherGroupOfThatNameIsLeftAlone) {
  ASSERT_TRUE(Begin());
  files.folders[kFile] = 9;
  EXPECT_TRUE(table.End(kFile, start));
  EXPECT_EQ(Text(), "7500 100000");
  EXPECT_TRUE(table.empty());
}

TEST_F(TemporaryWritesTest, TheRecordOfAGroupThatIsGoneGoesToo) {
  ASSERT_TRUE(Begin());
  files.texts.erase(kFile);
  table.Step(start + seconds(30));
  EXPECT_TRUE(table.empty());
  EXPECT_THAT(files.saved, IsEmpty());
}

TEST_F(TemporaryWritesTest, WritesNoQuotaThatCannotBeRecorded) {
  files.disk_is_full = true;
  EXPECT_EQ(Begin().error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(Text(), "max 100000");
  EXPECT_TRUE(table.empty());
}

TEST_F(TemporaryWritesTest, ForgetsAQuotaThatTheKernelRefuses) {
  files.refuses_writes = true;
  EXPECT_EQ(Begin().error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(table.empty());
  EXPECT_THAT(files.saved, IsEmpty());
}

TEST_F(TemporaryWritesTest, AGroupHasOneAtATime) {
  ASSERT_TRUE(Begin());
  EXPECT_EQ(Begin().error().code, ErrorCode::kConflict);
  EXPECT_EQ(table.Begin("/groups/none/cpu.max", "1", seconds(1), start).error().code,
            ErrorCode::kNotFound);
}

TEST_F(TemporaryWritesTest, RetriesAFailedRestore) {
  ASSERT_TRUE(Begin());
  files.refuses_writes = true;
  EXPECT_EQ(table.End(kFile, start).error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(files.saved, ElementsAre(KeptWrite{kFile, 7, "max 100000", "7500 100000"}));
  EXPECT_EQ(table.Next(), start + seconds(1));
  files.refuses_writes = false;
  table.Step(start + seconds(1));
  EXPECT_EQ(Text(), "max 100000");
  EXPECT_TRUE(table.empty());
}

TEST_F(TemporaryWritesTest, ADiskThatIsFullKeepsNoQuotaThere) {
  ASSERT_TRUE(Begin());
  files.disk_is_full = true;
  EXPECT_TRUE(table.End(kFile, start));
  EXPECT_EQ(Text(), "max 100000");
}

TEST_F(TemporaryWritesTest, RestoresQuotasOfAnEarlierProcessAtOnce) {
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

TEST_F(TemporaryWritesTest, ARecordThatNoWriteFollowedChangesNothing) {
  table.Adopt({{kFile, 7, "max 100000", "7500 100000"}}, start);
  files.refuses_writes = true;
  table.Step(start);
  EXPECT_TRUE(table.empty());
}

TEST_F(TemporaryWritesTest, ASuspensionEndsAfterItsLongestTime) {
  for (const auto& [file, frozen, thawed] :
       {std::tuple{"/groups/pod1/cgroup.freeze", "1", "0"},
        std::tuple{"/groups/pod1/freezer.state", "FROZEN", "THAWED"}}) {
    files.texts[file] = thawed;
    ASSERT_TRUE(table.Begin(file, frozen, hours(1), start));
    EXPECT_EQ(files.texts[file], frozen);
    EXPECT_EQ(table.Next(), start + kMostSuspended);
    table.Step(start + kMostSuspended);
    EXPECT_EQ(files.texts[file], thawed);
  }
}

TEST_F(TemporaryWritesTest, AGroupThatIsStillFreezingIsThawed) {
  const std::string file = "/groups/pod1/freezer.state";
  files.texts[file] = "THAWED";
  ASSERT_TRUE(table.Begin(file, "FROZEN", seconds(30), start));
  files.texts[file] = "FREEZING";
  EXPECT_TRUE(table.End(file, start + seconds(1)));
  EXPECT_EQ(files.texts[file], "THAWED");
}

TEST_F(TemporaryWritesTest, AForeignSuspensionIsLeftAlone) {
  const std::string file = "/groups/pod1/cgroup.freeze";
  files.texts[file] = "1";
  EXPECT_EQ(table.Begin(file, "1", seconds(30), start).error().code, ErrorCode::kConflict);
  EXPECT_EQ(files.texts[file], "1");
  EXPECT_TRUE(table.empty());
}

TEST_F(TemporaryWritesTest, ALimitOnReadsIsOfOneDevice) {
  const std::string file = "/groups/pod1/io.max";
  const std::string other = "8:0 rbps=5 wbps=max riops=max wiops=max\n";
  files.texts[file] = other;
  ASSERT_TRUE(table.Begin(file, "8:16 rbps=1000", seconds(30), start));
  EXPECT_THAT(files.saved, ElementsAre(KeptWrite{file, 0, "8:16 rbps=max", "8:16 rbps=1000"}));
  files.texts[file] = other + "8:16 rbps=1000 wbps=7 riops=max wiops=max";
  EXPECT_TRUE(table.End(file, start + seconds(1)));
  EXPECT_EQ(files.texts[file], "") << "\"8:16 rbps=max\" was written";
}

TEST_F(TemporaryWritesTest, AForeignLimitOnReadsIsLeftAlone) {
  const std::string file = "/groups/pod1/io.max";
  files.texts[file] = "8:16 rbps=500 wbps=max riops=max wiops=max";
  EXPECT_EQ(table.Begin(file, "8:16 rbps=1000", seconds(30), start).error().code,
            ErrorCode::kConflict);
  files.texts[file] = "";
  ASSERT_TRUE(table.Begin(file, "8:16 rbps=1000", seconds(30), start));
  files.texts[file] = "8:16 rbps=500 wbps=max riops=max wiops=max";
  EXPECT_TRUE(table.End(file, start + seconds(1)));
  EXPECT_EQ(files.texts[file], "8:16 rbps=500 wbps=max riops=max wiops=max");
}

TEST_F(TemporaryWritesTest, OnlyTextsAndFilesOfAKindAreWritten) {
  files.texts["/groups/pod1/cgroup.freeze"] = "0";
  files.texts["/groups/pod1/memory.max"] = "max";
  files.texts["/groups/pod1/io.max"] = "";
  for (const auto& [file, text] :
       {std::pair{"/groups/pod1/cgroup.freeze", "2"}, std::pair{"/groups/pod1/memory.max", "1"},
        std::pair{"/groups/pod1/io.max", "8:16 rbps=max"},
        std::pair{"/groups/pod1/io.max", "8:16 rbps=5 wbps=5"},
        std::pair{"/groups/pod1/io.max", "8:16 wbps=5"},
        std::pair{"/groups/pod1/io.max", "x:16 rbps=5"}})
    EXPECT_EQ(table.Begin(file, text, seconds(30), start).error().code, ErrorCode::kInvalid);
  EXPECT_THAT(files.saved, IsEmpty());
}

// Tests a node whose guardian is killed and restarted at any moment, and whose containers restart.
class RandomNode {
 public:
  explicit RandomNode(unsigned seed) : random_(seed) {
    for (int pod = 0; pod < 3; ++pod) {
      for (const auto& [name, normal, written] :
           {std::tuple{"cpu.max", "max 100000", "7500 100000"},
            std::tuple{"cpu.cfs_quota_us", "-1", "7500"}, std::tuple{"cgroup.freeze", "0", "1"},
            std::tuple{"freezer.state", "THAWED", "FROZEN"},
            std::tuple{"io.max", "", "8:16 rbps=1000"}}) {
        const std::string file = "/groups/pod" + std::to_string(pod) + "/" + name;
        all_.push_back({file, normal, written});
        files_.texts[file] = normal;
        files_.folders[file] = next_inode_++;
      }
    }
    Start();
  }

  void StepAtRandom() {
    const Kind& kind = all_[Pick(all_.size())];
    switch (Pick(6)) {
      case 0:
        if (table_->Begin(kind.file, kind.written, seconds(Pick(200)), now_))
          since_[kind.file] = now_;
        break;
      case 1:
        static_cast<void>(table_->End(kind.file, now_));
        break;
      case 2:
        Start();
        break;
      case 3:  // a container restarts
        files_.texts[kind.file] = kind.normal;
        files_.folders[kind.file] = next_inode_++;
        break;
      default:
        PassTime(seconds(Pick(60)));
    }
  }

  // Lets time pass, and steps whenever the table says so, as the guardian does.
  void PassTime(Duration time) {
    const Instant end = now_ + time;
    for (auto next = table_->Next(); next && *next <= end; next = table_->Next()) {
      now_ = std::max(now_, *next);
      table_->Step(now_);
    }
    now_ = end;
  }

  // Kills the guardian, and starts another one.
  void Start() {
    table_ = std::make_unique<TemporaryWrites>(files_, log_);
    table_->Adopt(files_.saved, now_);
    table_->Step(now_);
    for (const Kind& kind : all_) EXPECT_EQ(files_.texts[kind.file], kind.normal) << kind.file;
  }

  void ExpectNothingOverdue() {
    for (const Kind& kind : all_) {
      if (files_.texts[kind.file] == kind.normal) continue;
      EXPECT_LT(now_ - since_.at(kind.file), WriteKindOf(kind.file)->longest) << kind.file;
    }
  }

 private:
  struct Kind {
    std::string file, normal, written;
  };

  size_t Pick(size_t below) { return std::uniform_int_distribution<size_t>(0, below - 1)(random_); }

  std::mt19937 random_;
  testing::FakeClock clock_;
  testing::SilentSink sink_;
  Logger log_{sink_, clock_, LogLevel::kDebug, LogFormat::kText};
  FakeWriteFiles files_;
  std::vector<Kind> all_;
  std::map<std::string, Instant> since_;
  uint64_t next_inode_ = 1;
  Instant now_ = clock_.Now();
  std::unique_ptr<TemporaryWrites> table_;
};

TEST(TemporaryWritesPropertyTest, NothingStaysOnceItIsDueInAnyOrderOfKills) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    RandomNode node(seed);
    for (int step = 0; step < 300; ++step) {
      node.StepAtRandom();
      node.ExpectNothingOverdue();
    }
  }
}

}  // namespace
}  // namespace synergy::nodeagent
