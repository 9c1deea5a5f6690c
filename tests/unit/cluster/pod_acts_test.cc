#include "cluster/state/pod_acts.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const WallTime kDone = WallTime(std::chrono::hours(500000));

TEST(PodActs, TheLastOfEachNameIsKeptForEachPod) {
  PodActs acts;
  acts.Note("a", "freeze", kDone);
  acts.Note("a", "cache", kDone + seconds(1));
  acts.Note("a", "freeze", kDone + seconds(2));
  acts.Note("ab", "probe", kDone);
  EXPECT_THAT(acts.Of("a"), ElementsAre(PodAct{"cache", kDone + seconds(1)},
                                        PodAct{"freeze", kDone + seconds(2)}));
  EXPECT_THAT(acts.Of("ab"), ElementsAre(PodAct{"probe", kDone}));
  EXPECT_THAT(acts.Of("b"), IsEmpty());
}

TEST(PodActs, TheOldestGoesFirst) {
  PodActs acts;
  for (size_t i = 0; i < PodActs::kMost; ++i)
    acts.Note("pod-" + std::to_string(i), "share", kDone + seconds(i));
  acts.Note("pod-0", "share", kDone + seconds(PodActs::kMost));
  acts.Note("new", "share", kDone + seconds(PodActs::kMost));
  EXPECT_THAT(acts.Of("pod-1"), IsEmpty());
  for (const char* const kept : {"pod-0", "pod-2", "new"})
    EXPECT_EQ(acts.Of(kept).size(), 1U) << kept;
}

}  // namespace
}  // namespace synergy
