#include "cluster/state/cow_map.h"

#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

constexpr int kMany = 2000;  // more than there are shards

CowMap<int> Numbers(int count) {
  CowMap<int> numbers;
  for (int i = 0; i < count; ++i) numbers.Put(fmt::format("n{}", i), i);
  return numbers;
}

TEST(CowMapTest, HoldsWhatWasPutUntilItIsErased) {
  CowMap<int> numbers = Numbers(kMany);
  for (int i = 0; i < kMany; ++i) {
    const int* const found = numbers.Find(fmt::format("n{}", i));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(*found, i);
  }
  numbers.Put("n7", -7);
  EXPECT_EQ(*numbers.Find("n7"), -7);
  numbers.Erase("n7");
  EXPECT_EQ(numbers.Find("n7"), nullptr);
  EXPECT_NE(numbers.Find("n8"), nullptr);
  numbers.Erase("n7");
  EXPECT_EQ(CowMap<int>().Find("n7"), nullptr);
}

TEST(CowMapTest, ACopyDoesNotSeeLaterWrites) {
  CowMap<int> numbers = Numbers(kMany);
  const CowMap<int> before = numbers.Share();
  numbers.Put("n0", -1);
  numbers.Put("another", 1);
  numbers.Erase("n1");
  const CowMap<int> between = numbers.Share();
  numbers.Put("n0", -2);
  EXPECT_EQ(*before.Find("n0"), 0);
  EXPECT_EQ(*before.Find("n1"), 1);
  EXPECT_EQ(before.Find("another"), nullptr);
  EXPECT_EQ(*between.Find("n0"), -1);
  EXPECT_EQ(between.Find("n1"), nullptr);
  EXPECT_EQ(*numbers.Find("n0"), -2);
  for (int i = 2; i < kMany; ++i) ASSERT_EQ(*between.Find(fmt::format("n{}", i)), i);
}

TEST(CowMapTest, AWriteCopiesFewEntriesAndOnlyOnce) {
  CowMap<std::shared_ptr<int>> pointers;
  for (int i = 0; i < kMany; ++i) pointers.Put(fmt::format("n{}", i), std::make_shared<int>(i));
  const auto shared = pointers.Share();
  pointers.Put("n0", nullptr);
  pointers.Put("n0", std::make_shared<int>(0));
  int copied = 0;
  for (int i = 1; i < kMany; ++i) copied += shared.Find(fmt::format("n{}", i))->use_count() > 1;
  EXPECT_LE(copied, kMany / 20) << "those of one shard";
}

}  // namespace
}  // namespace synergy::testing
