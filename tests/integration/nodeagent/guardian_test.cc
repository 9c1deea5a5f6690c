// Tests the guardian as a process. Its child, the agent, requests a quota on a control group; then
// one of the two is killed, stopped, or asked to end.

#include "nodeagent/guarded/guardian.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "nodeagent/cgroups/cgroup_files.h"
#include "support/child_process.h"
#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

using std::chrono::minutes;
using std::chrono::seconds;
using testing::Eventually;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// All of these texts have the same length: on a machine without control groups v1 a file takes the
// place of one.
constexpr const char* kFormer = "90000";
constexpr const char* kProbe = "75000";

std::string ReadAll(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// A control group for this test.
class TestGroup {
 public:
  TestGroup() {
    const std::string real =
        fmt::format("/sys/fs/cgroup/cpu/synergy-agent-test-guardian-{}", ::getpid());
    std::error_code error;
    fs::create_directory(real, error);
    folder_ = fs::exists(real + "/cpu.cfs_quota_us") ? real : stand_in_.Path("group");
    fs::create_directory(folder_, error);
    std::ofstream(file()) << kFormer;
  }
  ~TestGroup() { Remove(); }
  TestGroup(const TestGroup&) = delete;
  TestGroup& operator=(const TestGroup&) = delete;

  std::string file() const { return folder_ + "/cpu.cfs_quota_us"; }
  std::string above() const { return fs::path(folder_).parent_path().string(); }
  std::string Quota() const {
    std::string text = ReadAll(file());
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }
  void Write(const std::string& text) const { ASSERT_TRUE(WriteCgroupFile(file(), text)->done); }
  // The files of a control group cannot be removed; they disappear with it.
  void Remove() const {
    if (::rmdir(folder_.c_str()) != 0) fs::remove_all(folder_);
  }

 private:
  testing::TemporaryFolder stand_in_;
  std::string folder_;
};

// Acts as the agent: requests the quota, reports the answer, waits for SIGTERM.
struct AgentRole {
  std::string file;
  std::string answer_file;  // file for its process id and the answer
  std::optional<Duration> longest;
  bool ends = false;    // the agent ends at once
  bool stalls = false;  // the agent stops the guardian during the request

  int Play(TemporaryWriter& writer) const {
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &term, nullptr);
    std::string answer = "-";
    if (longest) {
      if (stalls) ::kill(::getppid(), SIGSTOP);
      const Result<> begun = writer.Begin(file, kProbe, *longest);
      if (stalls) ::kill(::getppid(), SIGCONT);
      answer = begun ? "begun" : begun.error().message;
    }
    if (ends) {
      const Result<> ended = writer.End(file);
      answer += ended ? " ended" : " " + ended.error().message;
    }
    std::ofstream(answer_file) << ::getpid() << " " << answer << "\n";
    int signal = 0;
    sigwait(&term, &signal);
    return EXIT_SUCCESS;
  }
};

class RunningGuardian {
 public:
  RunningGuardian(const TestGroup& group, const std::string& state, AgentRole role) {
    role.file = group.file();
    role.answer_file = folder_.Path("said");
    pid_ = ::fork();
    if (pid_ == 0) {
      Logger log(StderrSink(), SystemClock(), LogLevel::kInfo, LogFormat::kText);
      ::_exit(RunGuarded(
          {.cgroup_folder = group.above(), .state_folder = state, .stop_grace = seconds(1)}, log,
          [&role](TemporaryWriter& writer) { return role.Play(writer); }));
    }
    EXPECT_TRUE(Eventually([&] { return ReadAll(role.answer_file).ends_with("\n"); }));
    std::istringstream answer_file(ReadAll(role.answer_file));
    answer_file >> agent_;
    std::getline(answer_file >> std::ws, answer_);
  }
  ~RunningGuardian() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    Wait();
  }
  RunningGuardian(const RunningGuardian&) = delete;
  RunningGuardian& operator=(const RunningGuardian&) = delete;

  pid_t pid() const { return pid_; }
  pid_t agent() const { return agent_; }
  const std::string& answer() const { return answer_; }
  // Returns the exit status, or the negative number of the signal.
  int Wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  testing::TemporaryFolder folder_;
  pid_t pid_ = -1;
  pid_t agent_ = -1;
  std::string answer_;
};

class GuardianTest : public ::testing::Test {
 protected:
  // Orphaned processes become this process's children.
  GuardianTest() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

  std::string Records() const { return ReadAll(state + "/writes"); }

  TestGroup group;
  testing::TemporaryFolder folder;
  const std::string state = folder.Path("state");
};

TEST_F(GuardianTest, WritesAQuotaAndItsRecord) {
  const RunningGuardian guardian(group, state, {.longest = minutes(1)});
  EXPECT_EQ(guardian.answer(), "begun");
  EXPECT_EQ(group.Quota(), kProbe);
  EXPECT_THAT(Records(), HasSubstr(group.file()));
}

TEST_F(GuardianTest, RestoresAQuotaOnRequest) {
  const RunningGuardian guardian(group, state, {.longest = minutes(1), .ends = true});
  EXPECT_EQ(guardian.answer(), "begun ended");
  EXPECT_EQ(group.Quota(), kFormer);
  EXPECT_EQ(Records(), "");
}

TEST_F(GuardianTest, RevertsALateChange) {
  const RunningGuardian guardian(group, state,
                                 {.longest = minutes(1), .ends = true, .stalls = true});
  EXPECT_THAT(guardian.answer(), StartsWith("the guardian does not answer"));
  EXPECT_THAT(guardian.answer(), HasSubstr("is not written for a time"));
  EXPECT_EQ(group.Quota(), kFormer);
}

TEST_F(GuardianTest, AnAgentThatIsKilledLeavesNoQuota) {
  RunningGuardian guardian(group, state, {.longest = minutes(1)});
  ASSERT_EQ(group.Quota(), kProbe);
  ::kill(guardian.agent(), SIGKILL);
  EXPECT_EQ(guardian.Wait(), 128 + SIGKILL);
  EXPECT_EQ(group.Quota(), kFormer);
  EXPECT_EQ(Records(), "");
}

TEST_F(GuardianTest, AnAgentThatIsStoppedDoesNotMakeItLast) {
  RunningGuardian guardian(group, state, {.longest = seconds(1)});
  ASSERT_EQ(guardian.answer(), "begun");
  ::kill(guardian.agent(), SIGSTOP);
  EXPECT_TRUE(Eventually([&] { return group.Quota() == kFormer; }));
  // The stopped guardian does not act on SIGTERM either.
  ::kill(guardian.pid(), SIGTERM);
  EXPECT_EQ(guardian.Wait(), 128 + SIGKILL);
}

TEST_F(GuardianTest, TheNextOneRestoresWhatAKilledOneHasLeft) {
  RunningGuardian guardian(group, state, {.longest = minutes(2)});
  ASSERT_EQ(group.Quota(), kProbe);
  ::kill(guardian.pid(), SIGKILL);
  EXPECT_EQ(guardian.Wait(), -SIGKILL);
  // The agent ends with the guardian.
  int status = 0;
  ASSERT_EQ(::waitpid(guardian.agent(), &status, 0), guardian.agent());
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_EQ(group.Quota(), kProbe);

  const RunningGuardian next(group, state, {.longest = std::nullopt});
  EXPECT_TRUE(Eventually([&] { return group.Quota() == kFormer && Records().empty(); }));
}

TEST_F(GuardianTest, OnSigtermItRestoresAndExits) {
  RunningGuardian guardian(group, state, {.longest = minutes(1)});
  ASSERT_EQ(group.Quota(), kProbe);
  ::kill(guardian.pid(), SIGTERM);
  EXPECT_EQ(guardian.Wait(), EXIT_SUCCESS);
  EXPECT_EQ(group.Quota(), kFormer);
}

TEST_F(GuardianTest, KeepsAForeignQuota) {
  RunningGuardian guardian(group, state, {.longest = minutes(1)});
  ASSERT_EQ(guardian.answer(), "begun");
  group.Write("80000");
  ::kill(guardian.agent(), SIGKILL);
  guardian.Wait();
  EXPECT_EQ(group.Quota(), "80000");
  EXPECT_EQ(Records(), "");
}

TEST_F(GuardianTest, TheRecordOfAGroupThatIsGoneGoesToo) {
  const RunningGuardian guardian(group, state, {.longest = seconds(1)});
  ASSERT_EQ(guardian.answer(), "begun");
  ASSERT_NE(Records(), "");
  group.Remove();
  EXPECT_TRUE(Eventually([&] { return Records().empty(); }));
}

TEST_F(GuardianTest, OnlyOneAtATimeHasTheRecords) {
  const auto first = std::make_unique<RunningGuardian>(group, state, AgentRole{});
  const RunningGuardian second(group, state, {.longest = minutes(1)});
  EXPECT_THAT(second.answer(), HasSubstr("another agent has it"));
  EXPECT_EQ(group.Quota(), kFormer);
}

TEST_F(GuardianTest, WithoutAPlaceForRecordsThereIsNoQuota) {
  const std::string file = folder.Write("file", "");
  RunningGuardian guardian(group, file, {.longest = minutes(1)});
  EXPECT_THAT(guardian.answer(), StartsWith(file + "/lock"));
  EXPECT_EQ(group.Quota(), kFormer);
  ::kill(guardian.pid(), SIGTERM);
  EXPECT_EQ(guardian.Wait(), EXIT_SUCCESS);
}

}  // namespace
}  // namespace synergy::nodeagent
