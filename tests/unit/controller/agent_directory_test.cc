#include "controller/progress/agent_directory.h"

#include <chrono>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace synergy::controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

wire::AgentPod ReadyPod(const std::string& uid, const std::string& address = "10.0.0.1") {
  return {uid, "node-of-" + uid, address, true};
}

class AgentDirectoryTest : public ::testing::Test {
 protected:
  testing::FakeClock clock_;
  AgentDirectory agents_{clock_, seconds(10)};
};

TEST_F(AgentDirectoryTest, AReadyAgentIsDueOnceAnInterval) {
  agents_.Upsert(ReadyPod("a"));
  clock_.Advance(seconds(10));
  auto agent = agents_.TakeDue();
  ASSERT_TRUE(agent);
  EXPECT_EQ(agent->node, "node-of-a");
  EXPECT_EQ(agent->address, "10.0.0.1");
  EXPECT_FALSE(agents_.TakeDue()) << "it is being asked";
  agents_.GiveBack(*agent);
  EXPECT_FALSE(agents_.TakeDue());
  clock_.Advance(seconds(10));
  EXPECT_TRUE(agents_.TakeDue());
}

TEST_F(AgentDirectoryTest, ManyAreSpreadOverTheInterval) {
  for (int i = 0; i < 1000; ++i) agents_.Upsert(ReadyPod(std::to_string(i)));
  for (int second = 0; second < 10; ++second) {
    clock_.Advance(seconds(1));
    size_t due = 0;
    while (agents_.TakeDue()) ++due;
    EXPECT_GT(due, 50U) << second;
    EXPECT_LT(due, 150U) << second;
  }
}

TEST_F(AgentDirectoryTest, OneThatDoesNotAnswerIsAskedLessOften) {
  agents_.Upsert(ReadyPod("a"));
  clock_.Advance(seconds(10));
  auto agent = agents_.TakeDue();
  ASSERT_TRUE(agent);
  for (const int pause : {20, 40, 60, 60}) {
    ++agent->failures;
    clock_.Advance(milliseconds(1));
    agents_.GiveBack(*agent);
    // The pause starts at the time at which the poll was due.
    clock_.Advance(seconds(pause) - seconds(11));
    EXPECT_FALSE(agents_.TakeDue()) << pause;
    clock_.Advance(seconds(11));
    agent = agents_.TakeDue();
    ASSERT_TRUE(agent) << pause;
  }
  agent->failures = 0;
  agents_.GiveBack(*agent);
  clock_.Advance(seconds(10));
  EXPECT_TRUE(agents_.TakeDue());
}

TEST_F(AgentDirectoryTest, OnlyReadyAgentsWithANodeAndAnAddressAreAsked) {
  wire::AgentPod starting = ReadyPod("starting");
  starting.ready = false;
  agents_.Upsert(starting);
  agents_.Upsert({"unbound", "", "", true});
  agents_.Upsert(ReadyPod("gone"));
  agents_.Remove(ReadyPod("gone"));
  agents_.Upsert(ReadyPod("leaving"));
  wire::AgentPod leaving = ReadyPod("leaving");
  leaving.ready = false;
  agents_.Upsert(leaving);
  EXPECT_EQ(agents_.size(), 0U);
  clock_.Advance(seconds(10));
  EXPECT_FALSE(agents_.TakeDue());
}

TEST_F(AgentDirectoryTest, AListReplacesWhatWasThere) {
  agents_.Upsert(ReadyPod("a"));
  agents_.Upsert(ReadyPod("b"));
  clock_.Advance(seconds(10));
  agents_.Replace({ReadyPod("b"), ReadyPod("c")});
  EXPECT_EQ(agents_.size(), 2U);
  const auto agent = agents_.TakeDue();
  ASSERT_TRUE(agent);
  EXPECT_EQ(agent->uid, "b") << "still due";
  // The agent disappears during a poll.
  agents_.Replace({ReadyPod("c")});
  agents_.GiveBack(*agent);
  EXPECT_EQ(agents_.size(), 1U);
}

TEST_F(AgentDirectoryTest, AnotherAddressIsAnotherConnection) {
  agents_.Upsert(ReadyPod("a", "10.0.0.1"));
  clock_.Advance(seconds(10));
  const auto before = agents_.TakeDue();
  ASSERT_TRUE(before);
  agents_.Upsert(ReadyPod("a", "10.0.0.2"));
  agents_.GiveBack(*before);
  clock_.Advance(seconds(10));
  const auto now = agents_.TakeDue();
  ASSERT_TRUE(now);
  EXPECT_EQ(now->address, "10.0.0.2");
  EXPECT_FALSE(agents_.TakeDue());
}

TEST_F(AgentDirectoryTest, AnAgentThatReturnsDuringAPollIsPolledOnceAnInterval) {
  agents_.Upsert(ReadyPod("a"));
  clock_.Advance(seconds(10));
  const auto before = agents_.TakeDue();
  ASSERT_TRUE(before);
  wire::AgentPod away = ReadyPod("a");
  away.ready = false;
  agents_.Upsert(away);
  agents_.Upsert(ReadyPod("a"));
  agents_.GiveBack(*before);
  clock_.Advance(seconds(20));
  EXPECT_TRUE(agents_.TakeDue());
  EXPECT_FALSE(agents_.TakeDue());
  agents_.Remove(ReadyPod("a"));
  clock_.Advance(seconds(20));
  EXPECT_FALSE(agents_.TakeDue());
}

TEST_F(AgentDirectoryTest, PollsWatchedNodesMoreOften) {
  for (const char* uid : {"a", "b"}) agents_.Upsert(ReadyPod(uid));
  clock_.Advance(seconds(10));
  for (int i = 0; i < 2; ++i) agents_.GiveBack(*agents_.TakeDue());
  const auto asked_in_ten_seconds = [this] {
    std::map<std::string, int> asked;
    for (int second = 0; second < 10; ++second) {
      clock_.Advance(seconds(1));
      while (const auto agent = agents_.TakeDue()) {
        ++asked[agent->uid];
        agents_.GiveBack(*agent);
      }
    }
    return asked;
  };
  agents_.WatchClosely(AgentDirectory::Purpose::kProbes, {"node-of-a"});
  EXPECT_EQ(asked_in_ten_seconds(), (std::map<std::string, int>{{"a", 5}, {"b", 1}}));
  agents_.WatchClosely(AgentDirectory::Purpose::kLoans, {"node-of-a", "node-of-b"});
  asked_in_ten_seconds();
  EXPECT_EQ(asked_in_ten_seconds(), (std::map<std::string, int>{{"a", 10}, {"b", 10}}));
  agents_.WatchClosely(AgentDirectory::Purpose::kLoans, {});
  agents_.WatchClosely(AgentDirectory::Purpose::kProbes, {});
  asked_in_ten_seconds();
  EXPECT_EQ(asked_in_ten_seconds(), (std::map<std::string, int>{{"a", 1}, {"b", 1}}));
}

TEST_F(AgentDirectoryTest, OneThatDoesNotAnswerIsNotAskedMoreOften) {
  agents_.Upsert(ReadyPod("a"));
  clock_.Advance(seconds(10));
  auto agent = agents_.TakeDue();
  ASSERT_TRUE(agent);
  agent->failures = 1;
  agents_.GiveBack(*agent);
  agents_.WatchClosely(AgentDirectory::Purpose::kProbes, {"node-of-a"});
  clock_.Advance(seconds(9));
  EXPECT_FALSE(agents_.TakeDue());
}

}  // namespace
}  // namespace synergy::controller
