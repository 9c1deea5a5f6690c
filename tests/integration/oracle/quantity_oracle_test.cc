// Compares spellings of quantities with apimachinery's own code: whether they are valid, and their
// Value() and MilliValue().

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/check.h"
#include "core/exact_quantity.h"
#include "integration/oracle/oracle.h"
#include "json/document.h"
#include "json/field_reader.h"
#include "wire/base/resource_list.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

constexpr int kCases = 200'000;
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

struct Expected {
  bool error = false;
  int64_t value = 0;
  int64_t milli = 0;
  bool value_in_range = true;
  bool milli_in_range = true;
};

Expected ReadAnswer(const std::string& text) {
  const Result<json::Document> document = json::Document::Parse(text);
  SYNERGY_CHECK(document.has_value(), "the oracle answers JSON");
  const json::Value answer = document->root();
  Expected expected;
  expected.error = !answer["error"].missing();
  json::FieldReader fields(answer);
  expected.value = fields.Integer(answer["value"], kLeast, kMost);
  expected.milli = fields.Integer(answer["milli"], kLeast, kMost);
  expected.value_in_range = answer["valueInRange"].truth();
  expected.milli_in_range = answer["milliInRange"].truth();
  SYNERGY_CHECK(fields.ok(), "the oracle answers numbers");
  return expected;
}

// Returns the text that a quantity's UnmarshalJSON passes to its parser.
std::string QuantityText(json::Value quantity) {
  std::string_view text = quantity.text();
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return quantity.absent() ? "0" : std::string(text);
}

// apimachinery truncates a negative decimal towards zero and then adds one, as if it had rounded
// down: -307.2 becomes -306. Validation rejects negative quantities, so this has no effect.
bool IsNegativeAccident(const ParsedQuantity& parsed) {
  return parsed.arbitrary_decimal && parsed.exact < ExactQuantity();
}

// Describes how one reading differs from `expected`; empty if it does not. Beyond the range of
// int64 Kubernetes wraps; our code saturates.
std::string CompareReading(std::string_view reading, int64_t ours, int64_t expected,
                           bool in_range) {
  if (!in_range && (ours == kLeast || ours == kMost)) return {};
  if (in_range && ours == expected) return {};
  return fmt::format("{} is {}, not {}; ", reading, ours,
                     in_range ? fmt::to_string(expected) : "saturated");
}

TEST(QuantityOracle, TextsAreReadAsApimachineryReadsThem) {
  Differences differences;
  int accepted = 0;
  int skipped = 0;
  for (const OracleCase& line : GenerateOracleCases("quantities", kCases, OracleSeed())) {
    const Result<json::Document> input = json::Document::Parse(line.input);
    ASSERT_TRUE(input) << line.input;
    const std::string text = QuantityText(input->root()["quantity"]);
    const Expected expected = ReadAnswer(line.answer);
    const std::optional<ParsedQuantity> ours = ParseExactQuantity(text);
    if (!ours || expected.error) {
      if (ours.has_value() == expected.error)
        differences.Add(line, expected.error ? "accepted" : "refused");
      continue;
    }
    ++accepted;
    if (IsNegativeAccident(*ours)) {
      ++skipped;
      continue;
    }
    const std::string difference =
        CompareReading("Value", ours->exact.ToUnits(), expected.value, expected.value_in_range) +
        CompareReading("MilliValue", ours->exact.ToMilli(), expected.milli,
                       expected.milli_in_range);
    if (!difference.empty()) differences.Add(line, difference);
  }
  EXPECT_EQ(differences.count(), 0) << differences.report();
  EXPECT_GT(accepted, kCases / 2) << "the oracle's inputs are hardly ever quantities";
  EXPECT_LT(skipped, kCases / 20);
}

TEST(QuantityOracle, FieldsOfObjectsAreReadAsTheApiMachineryReadsThem) {
  const ObjectReader reader("nvidia.com/gpu");
  Differences differences;
  for (const OracleCase& line : GenerateOracleCases("quantities", kCases / 4, OracleSeed() + 1)) {
    const std::string_view raw = RawMember(line.input, "quantity");
    const Result<Node> node = reader.ReadNode(fmt::format(
        R"({{"status":{{"allocatable":{{"cpu":{0},"memory":{0},"pods":{0},"nvidia.com/gpu":{0}}}}}}})",
        raw));
    const Expected expected = ReadAnswer(line.answer);
    if (!node || expected.error) {
      if (node.has_value() == expected.error)
        differences.Add(line, expected.error ? "accepted" : "refused");
      continue;
    }
    // Negative amounts are rounded differently. That does not matter, because none is ever stored.
    const Result<json::Document> input = json::Document::Parse(line.input);
    const std::optional<ParsedQuantity> exact =
        ParseExactQuantity(QuantityText(input->root()["quantity"]));
    if (!exact || exact->exact < ExactQuantity()) continue;
    if (!expected.value_in_range || !expected.milli_in_range) continue;
    const int64_t units = std::min(expected.value, kLargestAllocatable);
    const int64_t milli = std::min(expected.milli, kLargestAllocatable);
    const ResourceVector& main = node->allocatable.main;
    if (main != ResourceVector{Gpus(units), MilliCpu(milli), Bytes(units)} ||
        node->pods_allowed != units) {
      differences.Add(line, fmt::format("read as {} units and {} milli units", main.memory.count(),
                                        main.cpu.count()));
    }
  }
  EXPECT_EQ(differences.count(), 0) << differences.report();
}

}  // namespace
}  // namespace synergy::wire
