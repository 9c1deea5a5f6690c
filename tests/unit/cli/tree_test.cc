#include "cli/text/tree.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace synergy::cli::testing {
namespace {

Tree Sample() {
  return Tree::Members{
      {"name", "train-0"},
      {"gpus", int64_t{2}},
      {"speed", 1.5},
      {"ready", true},
      {"node", Tree()},
      {"none", Tree::List{}},
      {"events",
       Tree::List{Tree::Members{{"reason", "Synergy\"Grown"}, {"count", int64_t{1}}}, "plain"}}};
}

TEST(TreeTest, JsonIsIndented) {
  EXPECT_EQ(ToJson(Sample()), R"({
  "name": "train-0",
  "gpus": 2,
  "speed": 1.5,
  "ready": true,
  "node": null,
  "none": [],
  "events": [
    {
      "reason": "Synergy\"Grown",
      "count": 1
    },
    "plain"
  ]
}
)");
}

TEST(TreeTest, YamlQuotesWhatItWouldNotTakeForText) {
  EXPECT_EQ(ToYaml(Sample()), R"(name: train-0
gpus: 2
speed: 1.5
ready: true
node: null
none: []
events:
  - reason: "Synergy\"Grown"
    count: 1
  - plain
)");
  for (const char* text : {"", "true", "No", "null", "12", "1e3", "4Gi", "-", "~", "a: b", "é"}) {
    EXPECT_EQ(ToYaml(Tree(text)), "\"" + std::string(text) + "\"\n");
  }
}

TEST(TreeTest, NumbersThatGrowWithTimeCanBeLeftOut) {
  const Tree tree = Tree::Members{{"age", Elapsing{2.5}}, {"size", 2.5}};
  EXPECT_EQ(ToJson(tree), "{\n  \"age\": 2.5,\n  \"size\": 2.5\n}\n");
  EXPECT_EQ(ToJson(tree, TimeIn::kLeftOut), "{\n  \"age\": null,\n  \"size\": 2.5\n}\n");
}

TEST(TreeTest, NumbersThatAreNoneAreNull) {
  EXPECT_EQ(ToJson(Tree(std::numeric_limits<double>::infinity())), "null\n");
  EXPECT_EQ(ToYaml(Tree(std::nan(""))), "null\n");
  EXPECT_EQ(ToJson(Tree(std::optional<double>())), "null\n");
}

}  // namespace
}  // namespace synergy::cli::testing
