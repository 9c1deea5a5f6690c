#include "inventory/gpu_xids.h"

#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const WallTime kNow = WallTime(hours(500000));

DeviceOwner Owner(const std::string& device, const std::string& pod) {
  return {"nvidia.com/gpu", device, "team", pod, "main"};
}
ContainerXid Seen(const std::string& pod, int32_t xid, WallTime at = kNow) {
  return {"team", pod, "main", xid, at};
}

TEST(XidOwnersTest, AnXidBelongsToTheContainersThatHadTheGpuBeforeIt) {
  XidOwners owners;
  EXPECT_THAT(owners.Recent({Owner("GPU-0", "a"), Owner("GPU-1", "b")}, kNow), IsEmpty());
  owners.Add("GPU-0", 79, kNow);
  // The Xid has ended a, and c has its GPU.
  EXPECT_THAT(owners.Recent({Owner("GPU-0", "c"), Owner("GPU-1", "b")}, kNow),
              ElementsAre(Seen("a", 79)));
  owners.Add("GPU-0", 31, kNow);
  EXPECT_THAT(owners.Recent({Owner("GPU-0", "c")}, kNow),
              ElementsAre(Seen("a", 79), Seen("c", 31)));
}

TEST(XidOwnersTest, AnXidBeforeTheFirstLookBelongsToThePresentOwners) {
  XidOwners owners;
  owners.Add("GPU-0", 31, kNow);
  EXPECT_THAT(owners.Recent({Owner("GPU-0::1", "a"), Owner("GPU-0::2", "b")}, kNow),
              ElementsAre(Seen("a", 31), Seen("b", 31)))
      << "containers share the GPU";
  owners.Add("", 31, kNow);
  owners.Add("GPU-7", 31, kNow);
  EXPECT_THAT(owners.Recent({Owner("GPU-1", "c")}, kNow), SizeIs(2)) << "of an unknown GPU";
}

TEST(XidOwnersTest, ARepetitionCountsWhenItCameLast) {
  XidOwners owners;
  for (int i = 0; i < 1000; ++i) owners.Add("GPU-0", 31, kNow + seconds(i));
  owners.Add("GPU-0", 48, kNow);
  EXPECT_THAT(owners.Recent({Owner("GPU-0", "a")}, kNow),
              ElementsAre(Seen("a", 31, kNow + seconds(999)), Seen("a", 48)));
}

TEST(XidOwnersTest, ForgetsOldOnesAndKeepsABoundedNumber) {
  XidOwners owners;
  const std::vector<DeviceOwner> all = {Owner("GPU-0", "a")};
  owners.Add("GPU-0", 79, kNow);
  EXPECT_THAT(owners.Recent(all, kNow + minutes(35)), SizeIs(1));
  EXPECT_THAT(owners.Recent(all, kNow + minutes(36)), IsEmpty());
  for (uint64_t xid = 1; xid <= 2 * XidOwners::kMost; ++xid) {
    owners.Add("GPU-0", xid, kNow);
    owners.Recent(all, kNow);
  }
  EXPECT_THAT(owners.Recent(all, kNow), SizeIs(XidOwners::kMost));
}

TEST(XidOwnersTest, NumbersOutOfRangeAreNone) {
  XidOwners owners;
  owners.Add("GPU-0", 0, kNow);
  owners.Add("GPU-0", std::numeric_limits<uint64_t>::max(), kNow);
  EXPECT_THAT(owners.Recent({Owner("GPU-0", "a")}, kNow), IsEmpty());
}

}  // namespace
}  // namespace synergy
