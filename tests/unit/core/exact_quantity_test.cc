#include "core/exact_quantity.h"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace synergy {
namespace {

constexpr int64_t kMostQuantity = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeastQuantity = std::numeric_limits<int64_t>::min();

struct Spelling {
  const char* text;
  int64_t value;
  int64_t milli;
};

void ExpectAll(std::initializer_list<Spelling> spellings) {
  for (const Spelling& spelling : spellings) {
    const std::optional<ParsedQuantity> parsed = ParseExactQuantity(spelling.text);
    ASSERT_TRUE(parsed) << spelling.text;
    EXPECT_EQ(parsed->exact.ToUnits(), spelling.value) << spelling.text;
    EXPECT_EQ(parsed->exact.ToMilli(), spelling.milli) << spelling.text;
  }
}

TEST(ParseExactQuantity, ReadsEverySuffix) {
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

TEST(ParseExactQuantity, ReadsOddButLegalNumbers) {
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

TEST(ParseExactQuantity, TakesAMissingNumberForZeroWhereKubernetesDoes) {
  for (const char* const text : {"+", "-", ".", "Ki", "Ti", "m", "n", "e3", "-.k", "E"}) {
    const std::optional<ParsedQuantity> parsed = ParseExactQuantity(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(parsed->exact, ExactQuantity()) << text;
  }
  for (const char* const text : {"Pi", "Ei", ".Ei", "-Pi", "e-10"}) {
    EXPECT_FALSE(ParseExactQuantity(text)) << text;
  }
}

TEST(ParseExactQuantity, RoundsUpNeverDown) {
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

TEST(ParseExactQuantity, KeepsNothingFinerThanANanoUnitAndRoundsThatUp) {
  ExpectAll({
      {"1e-10", 1, 1},
      {"1e-1000000", 1, 1},
      {"1e-2147483648", 1, 1},
      {"0.00000000000000000000000000001", 1, 1},
      {"0.00000000000001Ki", 1, 1},
      {"2.0000000000000000000000000001", 3, 2001},
  });
}

TEST(ParseExactQuantity, RoundsNegativeNumbersAwayFromZero) {
  ExpectAll({
      {"-1", -1, -1000},
      {"-1.5", -2, -1500},
      {"-500m", -1, -500},
      {"-1.5Ki", -1536, -1'536'000},
      {"-0.3Ki", -308, -307'200},
  });
}

TEST(ParseExactQuantity, CapsBinarySuffixesAtTheLargestInt64) {
  ExpectAll({
      {"7Ei", int64_t{7} << 60, kMostQuantity},
      {"8Ei", kMostQuantity, kMostQuantity},
      {"9999999999999999999999999999Ei", kMostQuantity, kMostQuantity},
      {"7.99999999999999999999999999999Ei", kMostQuantity, kMostQuantity},
      {"-9Ei", -kMostQuantity, kLeastQuantity},
  });
}

TEST(ParseExactQuantity, SaturatesWhereKubernetesWraps) {
  ExpectAll({
      {"9223372036854775807", kMostQuantity, kMostQuantity},
      {"9223372036854775808", kMostQuantity, kMostQuantity},
      {"9223372036854775807m", 9'223'372'036'854'776, kMostQuantity},
      {"10E", kMostQuantity, kMostQuantity},
      {"1E", 1'000'000'000'000'000'000, kMostQuantity},
      {"1e400", kMostQuantity, kMostQuantity},
      {"1e2147483647", kMostQuantity, kMostQuantity},
      {"99999999999999999999999999999999999999999999999999", kMostQuantity, kMostQuantity},
  });
  EXPECT_EQ(ParseExactQuantity("-1e30")->exact.ToUnits(), kLeastQuantity);
}

TEST(ParseExactQuantity, CutsAnExponentTo32BitsLikeKubernetes) {
  ExpectAll({{"7e4294967296", 7, 7000}, {"7e-4294967296", 7, 7000}, {"0e2147483647", 0, 0}});
  EXPECT_FALSE(ParseExactQuantity("1e9223372036854775808"));
}

TEST(ParseExactQuantity, RefusesWhatIsNoQuantity) {
  for (const std::string& text : std::initializer_list<std::string>{
           "",      " ",         "1 ",    " 1",    "1K",    "1ki",  "1mi",  "1B",
           "1GB",   "1KiB",      "1mm",   "1i",    "1e",    "1e+",  "1e-",  "1e1.5",
           "1e3Ki", "1 Gi",      "1,0",   "0x1",   "1..5",  "--1",  "+-1",  "1-",
           "1+",    "five",      "NaN",   "Inf",   "1e3e3", "1Ei1", "1Gi2", "1m5",
           "1\n",   "1\xC2\xB5", "1e--3", "1e+-3", "1Kim",  "1_0",  "k1",   std::string("1\0", 2),
       }) {
    EXPECT_FALSE(ParseExactQuantity(text)) << text;
  }
}

TEST(ParseExactQuantity, ReadsAVeryLongNumberInLinearTime) {
  const std::string nines(1'000'000, '9');
  EXPECT_EQ(ParseExactQuantity(nines)->exact.ToUnits(), kMostQuantity);
  EXPECT_EQ(ParseExactQuantity("0." + nines)->exact.ToUnits(), 1);
  EXPECT_EQ(ParseExactQuantity("1." + nines + "Gi")->exact.ToUnits(), (int64_t{2} << 30));
  EXPECT_EQ(ParseExactQuantity(std::string(1'000'000, '0') + "3")->exact.ToUnits(), 3);
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
  EXPECT_EQ(sum.ToUnits(), kMostQuantity);
  sum = ParseExactQuantity("-1e40")->exact;
  for (int i = 0; i < 200; ++i) sum += sum;
  EXPECT_EQ(sum.ToMilli(), kLeastQuantity);
}

}  // namespace
}  // namespace synergy
