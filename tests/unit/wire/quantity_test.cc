#include "wire/base/quantity.h"

#include <cstdint>
#include <limits>
#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/exact_quantity.h"

namespace synergy::wire {

std::ostream& operator<<(std::ostream& out, const QuantityValue& value) {
  return out << value.value << " (" << value.milli << "m)";
}

namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

struct Spelling {
  const char* text;
  int64_t value;
  int64_t milli;
};

void ExpectAll(std::initializer_list<Spelling> spellings) {
  for (const Spelling& spelling : spellings) {
    const Result<QuantityValue> parsed = ParseQuantity(spelling.text);
    ASSERT_TRUE(parsed) << spelling.text;
    EXPECT_EQ(*parsed, (QuantityValue{spelling.value, spelling.milli})) << spelling.text;
  }
}

TEST(ParseQuantity, ReadsEverySuffix) {
  ExpectAll({
      {"1", 1, 1000},
      {"500m", 1, 500},
      {"1500000u", 2, 1500},
      {"2000000000n", 2, 2000},
      {"2k", 2000, 2'000'000},
      {"2M", 2'000'000, 2'000'000'000},
      {"2G", 2'000'000'000, 2'000'000'000'000},
      {"2T", 2'000'000'000'000, 2'000'000'000'000'000},
      {"2P", 2'000'000'000'000'000, 2'000'000'000'000'000'000},
      {"2Ki", 2048, 2'048'000},
      {"2Mi", 2 << 20, (int64_t{2} << 20) * 1000},
      {"2Gi", int64_t{2} << 30, (int64_t{2} << 30) * 1000},
      {"2Ti", int64_t{2} << 40, (int64_t{2} << 40) * 1000},
      {"2Pi", int64_t{2} << 50, (int64_t{2} << 50) * 1000},
      {"1e3", 1000, 1'000'000},
      {"1E3", 1000, 1'000'000},
      {"1e+3", 1000, 1'000'000},
      {"1500e-3", 2, 1500},
      {"1e0", 1, 1000},
  });
}

TEST(ParseQuantity, ReadsOddButLegalNumbers) {
  ExpectAll({
      {"0", 0, 0},
      {"-0", 0, 0},
      {"+1", 1, 1000},
      {"007", 7, 7000},
      {"5.", 5, 5000},
      {".5", 1, 500},
      {"1.Gi", int64_t{1} << 30, (int64_t{1} << 30) * 1000},
      {"1.5Gi", int64_t{3} << 29, (int64_t{3} << 29) * 1000},
      {"0.000Ki", 0, 0},
      {"000000000000000000000000000001", 1, 1000},
      {"1.0000000000000000000000000000", 1, 1000},
  });
}

TEST(ParseQuantity, TakesAMissingNumberForZeroWhereKubernetesDoes) {
  for (const char* const text : {"+", "-", ".", "Ki", "Ti", "m", "n", "e3", "-.k", "E"}) {
    const Result<QuantityValue> parsed = ParseQuantity(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, QuantityValue()) << text;
  }
  for (const char* const text : {"Pi", "Ei", ".Ei", "-Pi", "e-10"}) {
    EXPECT_FALSE(ParseQuantity(text)) << text;
  }
}

TEST(ParseQuantity, RoundsUpNeverDown) {
  ExpectAll({
      {"0.0001", 1, 1},
      {"1.0001", 2, 1001},
      {"1u", 1, 1},
      {"1n", 1, 1},
      {"0.1Ki", 103, 102'400},
      {"1.1Gi", 1'181'116'007, 1'181'116'006'400},
      {"0.0009765625Ki", 1, 1000},
  });
}

TEST(ParseQuantity, KeepsNothingFinerThanANanoUnitAndRoundsThatUp) {
  ExpectAll({
      {"1e-10", 1, 1},
      {"1e-1000000", 1, 1},
      {"1e-2147483648", 1, 1},
      {"0.00000000000000000000000000001", 1, 1},
      {"0.00000000000001Ki", 1, 1},
      {"2.0000000000000000000000000001", 3, 2001},
  });
}

TEST(ParseQuantity, RoundsNegativeNumbersLikeKubernetes) {
  ExpectAll({
      {"-1", -1, -1000},
      {"-1.5", -2, -1500},
      {"-500m", -1, -500},
      {"-1.5Ki", -1536, -1'536'000},
      // A decimal that is kept as such is cut towards zero and then moved up by one.
      {"-0.3Ki", -306, -307'200},
  });
}

TEST(ParseQuantity, CapsBinarySuffixesAtTheLargestInt64) {
  ExpectAll({
      {"7Ei", int64_t{7} << 60, kMost},
      {"8Ei", kMost, kMost},
      {"9999999999999999999999999999Ei", kMost, kMost},
      {"7.99999999999999999999999999999Ei", kMost, kMost},
      {"-9Ei", -kMost, kLeast},
  });
}

TEST(ParseQuantity, SaturatesWhereKubernetesWraps) {
  ExpectAll({
      {"9223372036854775807", kMost, kMost},
      {"9223372036854775808", kMost, kMost},
      {"9223372036854775807m", 9'223'372'036'854'776, kMost},
      {"10E", kMost, kMost},
      {"1E", 1'000'000'000'000'000'000, kMost},
      {"1e400", kMost, kMost},
      {"1e2147483647", kMost, kMost},
      {"99999999999999999999999999999999999999999999999999", kMost, kMost},
  });
  EXPECT_EQ(ParseQuantity("-1e30")->value, kLeast);
}

TEST(ParseQuantity, CutsAnExponentTo32BitsLikeKubernetes) {
  ExpectAll({{"7e4294967296", 7, 7000}, {"7e-4294967296", 7, 7000}, {"0e2147483647", 0, 0}});
  EXPECT_FALSE(ParseQuantity("1e9223372036854775808"));
}

TEST(ParseQuantity, RefusesWhatIsNoQuantity) {
  for (const std::string& text : std::initializer_list<std::string>{
           "",      " ",         "1 ",    " 1",    "1K",    "1ki",  "1mi",  "1B",
           "1GB",   "1KiB",      "1mm",   "1i",    "1e",    "1e+",  "1e-",  "1e1.5",
           "1e3Ki", "1 Gi",      "1,0",   "0x1",   "1..5",  "--1",  "+-1",  "1-",
           "1+",    "five",      "NaN",   "Inf",   "1e3e3", "1Ei1", "1Gi2", "1m5",
           "1\n",   "1\xC2\xB5", "1e--3", "1e+-3", "1Kim",  "1_0",  "k1",   std::string("1\0", 2),
       }) {
    EXPECT_FALSE(ParseQuantity(text)) << text;
  }
}

TEST(ParseQuantity, QuotesTheTextInItsErrorAndShortensIt) {
  EXPECT_EQ(ParseQuantity("12x").error().message, R"("12x" is not a quantity)");
  EXPECT_EQ(ParseQuantity("12x").error().code, ErrorCode::kInvalid);
  EXPECT_THAT(ParseQuantity(std::string(100'000, 'x')).error().message,
              ::testing::AllOf(::testing::EndsWith("x...\" is not a quantity"),
                               ::testing::SizeIs(::testing::Lt(100U))));
}

TEST(ParseQuantity, ReadsAVeryLongNumberInLinearTime) {
  const std::string nines(1'000'000, '9');
  EXPECT_EQ(ParseQuantity(nines)->value, kMost);
  EXPECT_EQ(ParseQuantity("0." + nines)->value, 1);
  EXPECT_EQ(ParseQuantity("1." + nines + "Gi")->value, (int64_t{2} << 30));
  EXPECT_EQ(ParseQuantity(std::string(1'000'000, '0') + "3")->value, 3);
}

TEST(ExactQuantity, SumsBeforeItRounds) {
  ExactQuantity sum;
  for (int i = 0; i < 3; ++i) sum += ParseExactQuantity("100u")->exact;
  EXPECT_EQ(sum.ToMilli(), 1);
  sum = ParseExactQuantity("500m")->exact;
  sum += sum;
  EXPECT_EQ(sum.ToUnits(), 1);
}

TEST(ExactQuantity, SaturatesInsteadOfWrapping) {
  ExactQuantity sum = ParseExactQuantity("1e40")->exact;
  for (int i = 0; i < 200; ++i) sum += sum;
  EXPECT_EQ(sum.ToUnits(), kMost);
  sum = ParseExactQuantity("-1e40")->exact;
  for (int i = 0; i < 200; ++i) sum += sum;
  EXPECT_EQ(sum.ToMilli(), kLeast);
}

}  // namespace
}  // namespace synergy::wire
