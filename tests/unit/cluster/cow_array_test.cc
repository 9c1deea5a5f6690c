#include "cluster/state/cow_array.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

constexpr size_t kChunk = CowArray<int>::kChunkSize;

CowArray<int> Numbers(size_t count) {
  CowArray<int> numbers;
  for (size_t i = 0; i < count; ++i) numbers.Append() = static_cast<int>(i);
  return numbers;
}

TEST(CowArrayTest, HoldsWhatWasAppendedAcrossChunks) {
  const CowArray<int> numbers = Numbers(3 * kChunk + 1);
  ASSERT_EQ(numbers.size(), 3 * kChunk + 1);
  for (size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], static_cast<int>(i));
}

TEST(CowArrayTest, ANewElementIsValueInitialised) {
  CowArray<int> numbers;
  EXPECT_EQ(numbers.Append(), 0);
}

TEST(CowArrayTest, ACopyDoesNotSeeLaterWrites) {
  CowArray<int> numbers = Numbers(2 * kChunk);
  const CowArray<int> before = numbers.Share();
  numbers.Mutable(0) = -1;
  const CowArray<int> between = numbers.Share();
  numbers.Mutable(0) = -2;
  numbers.Mutable(kChunk) = -3;
  EXPECT_EQ(before[0], 0);
  EXPECT_EQ(between[0], -1);
  EXPECT_EQ(between[kChunk], static_cast<int>(kChunk));
  EXPECT_EQ(numbers[0], -2);
}

TEST(CowArrayTest, ACopyDoesNotGrowWithTheOriginal) {
  CowArray<int> numbers = Numbers(1);
  const CowArray<int> before = numbers.Share();
  // The second element is in the chunk that both share.
  numbers.Append() = 7;
  EXPECT_EQ(before.size(), 1U);
  EXPECT_EQ(numbers.size(), 2U);
  EXPECT_EQ(numbers[1], 7);
}

TEST(CowArrayTest, OnlyTheChunkThatIsWrittenIsCopied) {
  CowArray<std::shared_ptr<int>> pointers;
  for (size_t i = 0; i < 2 * kChunk; ++i) pointers.Append() = std::make_shared<int>(0);
  const auto shared = pointers.Share();
  pointers.Mutable(0) = nullptr;
  EXPECT_EQ(shared[1].use_count(), 2) << "one in each copy of the first chunk";
  EXPECT_EQ(shared[kChunk].use_count(), 1) << "the second chunk is one and the same";
}

TEST(CowArrayTest, RepeatedWritesBetweenTwoSharesCopyOnce) {
  CowArray<std::shared_ptr<int>> pointers;
  for (size_t i = 0; i < kChunk; ++i) pointers.Append() = std::make_shared<int>(0);
  const auto shared = pointers.Share();
  const auto* first = &pointers.Mutable(0);
  EXPECT_EQ(&pointers.Mutable(0), first);
  EXPECT_NE(&shared[0], first);
}

}  // namespace
}  // namespace synergy::testing
