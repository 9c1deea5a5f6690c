#include "gavel/round_mechanism.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns a mechanism for one GPU of a fast type and one of a slow type.
RoundMechanism OneOfEach(GavelRoundOptions options = {}) { return {{1, 1}, options}; }

TEST(RoundMechanism, JobsTakeTurnsByWhatTheyLack) {
  RoundMechanism rounds = OneOfEach();
  rounds.Add("a", 1, {2, 1});
  rounds.Add("b", 1, {2, 1});
  rounds.Solved(0, {{"a", {0.75, 0}}, {"b", {0.25, 0.75}}});
  EXPECT_THAT(rounds.Picks(), ElementsAre(GavelPick{"a", 0}, GavelPick{"b", 1}));
  rounds.Charge("a", 0, 360);
  rounds.Charge("b", 1, 360);
  // 0.75 * 720 / 540 compared with 0.25 * 720 / 180.
  EXPECT_DOUBLE_EQ(rounds.Priority("a", 0), 1);
  EXPECT_DOUBLE_EQ(rounds.Priority("b", 0), 1);
  rounds.Charge("a", 0, 360);
  EXPECT_LT(rounds.Priority("a", 0), rounds.Priority("b", 0));
  // a has no share of the slow type, but fills it.
  EXPECT_THAT(rounds.Picks(), ElementsAre(GavelPick{"b", 0}, GavelPick{"a", 1}));
}

TEST(RoundMechanism, RemembersUnservedShares) {
  RoundMechanism rounds = OneOfEach();
  rounds.Add("a", 1, {2, 1});
  rounds.Add("b", 1, {2, 1});
  rounds.Solved(100, {{"a", {0.5, 0}}, {"b", {0.5, 0}}});
  rounds.Charge("a", 0, 720);
  rounds.Solved(820, {{"a", {0.5, 0}}, {"b", {0.5, 0}}});
  EXPECT_DOUBLE_EQ(rounds.Deficit("a", 0), -360);
  EXPECT_DOUBLE_EQ(rounds.Deficit("b", 0), 360);
  EXPECT_DOUBLE_EQ(rounds.Priority("a", 0), rounds.Priority("b", 0));
  EXPECT_THAT(rounds.Picks(), ElementsAre(GavelPick{"b", 0}, GavelPick{"a", 1}));
}

TEST(RoundMechanism, CallerDeterminesTheOrderOfTypes) {
  RoundMechanism rounds({1, 1}, {});
  rounds.Add("a", 1, {1, 1});
  rounds.Solved(0, {{"a", {0.5, 0.5}, {}}});
  EXPECT_EQ(rounds.Picks(), (std::vector<GavelPick>{{"a", 0, {}}}));
  const std::vector<size_t> order = {1, 0};
  EXPECT_EQ(rounds.Picks({}, order), (std::vector<GavelPick>{{"a", 1, {}}}));
}

TEST(RoundMechanism, FifoFillsNothing) {
  RoundMechanism rounds = OneOfEach({.fifo = true});
  rounds.Add("a", 1, {2, 1});
  rounds.Add("b", 1, {2, 1});
  rounds.Solved(0, {{"a", {1, 0}}, {"b", {0, 0}}});
  EXPECT_THAT(rounds.Picks(), ElementsAre(GavelPick{"a", 0}));
}

TEST(RoundMechanism, SkipsJobsThatDoNotFit) {
  RoundMechanism rounds({2}, {});
  rounds.Add("large", 4, {9});
  rounds.Add("pair", 2, {1});
  rounds.Solved(0, {{"large", {0.5}}, {"pair", {0.1}}});
  EXPECT_THAT(rounds.Picks(), ElementsAre(GavelPick{"pair", 0}));
}

TEST(RoundMechanism, FillsNoTypeThatCannotRunTheJob) {
  RoundMechanism rounds = OneOfEach();
  rounds.Add("a", 1, {0, 1});
  rounds.Solved(0, {{"a", {0, 0}}});
  EXPECT_THAT(rounds.Picks(), ElementsAre(GavelPick{"a", 1}));
}

TEST(RoundMechanism, NewcomersGetWhatWouldIdleOnTheirFastestType) {
  RoundMechanism rounds({1, 1, 1}, {});
  rounds.Add("a", 1, {2, 1, 1});
  rounds.Solved(0, {{"a", {1, 0, 0}}});
  rounds.Add("b", 1, {9, 1, 5});
  rounds.Add("c", 4, {9, 9, 9});
  EXPECT_THAT(rounds.Picks(), ElementsAre(GavelPick{"a", 0}, GavelPick{"b", 2}));
  RoundMechanism idle({1, 1, 1}, {.newcomers = GavelNewcomers::kIdle});
  idle.Add("b", 1, {9, 1, 5});
  EXPECT_THAT(idle.Picks(), IsEmpty());
}

TEST(RoundMechanism, ASolveIsDueWhenJobsComeOrGo) {
  RoundMechanism rounds = OneOfEach();
  EXPECT_FALSE(rounds.SolveIsDue(0));
  rounds.Add("a", 1, {1, 1});
  EXPECT_TRUE(rounds.SolveIsDue(0));
  rounds.Solved(0, {{"a", {1, 0}}});
  EXPECT_FALSE(rounds.SolveIsDue(5000));
  rounds.Add("b", 1, {1, 1});
  EXPECT_TRUE(rounds.SolveIsDue(360));  // the last solve was at 0
  rounds.Solved(360, {{"a", {1, 0}}, {"b", {0, 1}}});
  rounds.Remove("a");
  EXPECT_FALSE(rounds.SolveIsDue(360 + 1919));
  EXPECT_TRUE(rounds.SolveIsDue(360 + 1920));
  rounds.Remove("b");
  EXPECT_FALSE(rounds.SolveIsDue(360 + 1920));  // there is no job
  rounds.Add("c", 1, {1, 1});
  EXPECT_TRUE(rounds.SolveIsDue(400));  // the job was not in the last solve
}

TEST(RoundMechanism, APairTakesItsTurnAsOne) {
  RoundMechanism rounds({1}, {});
  for (const char* name : {"a", "b", "c"}) rounds.Add(name, 1, {1});
  rounds.AddPair("a", "b", {true});
  rounds.Solved(0, {{"a", {0}, {}}, {"b", {0}, {}}, {"c", {0.5}, {}}, {"b", {0.5}, "a"}});
  EXPECT_THAT(rounds.Picks(), ElementsAre(GavelPick{"b", 0, "a"}));
  rounds.Charge("a", 0, 360, "b");
  EXPECT_THAT(rounds.Picks(), ElementsAre(GavelPick{"c", 0, {}}));
  rounds.Charge("c", 0, 720);
  EXPECT_THAT(rounds.Picks(), ElementsAre(GavelPick{"b", 0, "a"}));
  rounds.Remove("a");  // the pair disappears with it
  EXPECT_THAT(rounds.Picks(), ElementsAre(GavelPick{"c", 0, {}}));
}

TEST(RoundMechanism, NoJobRunsInTwoPlaces) {
  RoundMechanism rounds({1, 1}, {});
  for (const char* name : {"a", "b"}) rounds.Add(name, 1, {1, 1});
  rounds.AddPair("a", "b", {true, false});
  rounds.Solved(0, {{"a", {0, 0.5}, {}}, {"b", {0, 0.5}, {}}, {"a", {0.5, 0.5}, "b"}});
  EXPECT_THAT(rounds.Picks(), ElementsAre(GavelPick{"b", 0, "a"}));
  // On the second type the two do not run together.
  rounds.Remove("b");
  rounds.Add("b", 1, {1, 1});
  rounds.AddPair("b", "a", {false, false});
  rounds.Solved(720, {{"a", {0, 0}, {}}, {"b", {0, 0.5}, {}}, {"a", {1, 1}, "b"}});
  EXPECT_THAT(rounds.Picks(), ElementsAre(GavelPick{"a", 0, {}}, GavelPick{"b", 1, {}}));
}

}  // namespace
}  // namespace synergy::testing
