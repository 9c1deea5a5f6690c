// Compares pods' requests, and whether they fit on a node, with kube-scheduler's own code
// (docs/internals/accounting.md).

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cluster/state/cluster_state.h"
#include "cluster/state/fit.h"
#include "core/check.h"
#include "core/exact_quantity.h"
#include "integration/oracle/oracle.h"
#include "json/document.h"
#include "json/field_reader.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

constexpr int kCases = 6'000;
constexpr std::string_view kGpuResource = "nvidia.com/gpu";

using Amounts = std::map<std::string, int64_t>;

Amounts ReadAmounts(json::Value object) {
  Amounts amounts;
  json::FieldReader fields(object);
  object.ForEachMember([&](std::string_view name, json::Value amount) {
    amounts[std::string(name)] = fields.Integer(amount, std::numeric_limits<int64_t>::min(),
                                                std::numeric_limits<int64_t>::max());
  });
  SYNERGY_CHECK(fields.ok() && !amounts.empty(), "the oracle answers amounts");
  return amounts;
}

// Returns amounts in the oracle's format: the first three always, others only if they are not zero.
Amounts ToAmounts(const ResourceVector& main, const ScalarResources& other) {
  Amounts amounts = {
      {"cpu", main.cpu.count()}, {"memory", main.memory.count()}, {"ephemeral-storage", 0}};
  if (main.gpus != Gpus(0)) amounts[std::string(kGpuResource)] = main.gpus.count();
  for (const auto& [name, amount] : other.entries()) amounts[name] = amount;
  return amounts;
}

Amounts LargerOf(Amounts some, const Amounts& others) {
  for (const auto& [name, amount] : others) {
    const auto [it, is_new] = some.emplace(name, amount);
    if (!is_new) it->second = std::max(it->second, amount);
  }
  return some;
}

std::string ToText(const Amounts& amounts) {
  std::string text;
  for (const auto& [name, amount] : amounts) text += fmt::format(" {}={}", name, amount);
  return text;
}

class Comparison {
 public:
  Comparison(const OracleCase& line, json::Value answer, Differences& differences)
      : line_(line), answer_(answer), differences_(differences) {}

  void AmountsEqual(std::string_view what, const Amounts& ours) {
    const auto theirs = ReadAmounts(answer_[what]);
    if (ours != theirs) Differ(what, ToText(ours), ToText(theirs));
  }

  void AmountsNotLess(std::string_view what, const Amounts& ours) {
    const auto theirs = ReadAmounts(answer_[what]);
    if (LargerOf(ours, theirs) != ours) Differ(what, ToText(ours), ToText(theirs));
  }

  template <class T>
  void Equal(std::string_view what, const T& ours, const T& theirs) {
    if (ours != theirs) Differ(what, fmt::to_string(ours), fmt::to_string(theirs));
  }

 private:
  void Differ(std::string_view what, const std::string& ours, const std::string& theirs) {
    differences_.Add(line_, fmt::format("{}: ours is {}, kube-scheduler's {}", what, ours, theirs));
  }

  const OracleCase& line_;
  const json::Value answer_;
  Differences& differences_;
};

// Sorts reasons alphabetically, because ours begin with GPUs.
std::string SortReasons(const std::set<std::string>& reasons) {
  std::string text;
  for (const std::string& reason : reasons) text += reason + "; ";
  return text;
}

std::string TheirReasons(json::Value answer) {
  std::set<std::string> reasons;
  answer["reasons"].ForEachElement([&](json::Value reason) { reasons.emplace(reason.text()); });
  if (answer["unschedulable"].truth()) reasons.emplace("node(s) were unschedulable");
  return SortReasons(reasons);
}

std::string OurReasons(const std::string& description) {
  std::set<std::string> reasons;
  for (std::string_view rest = description; !rest.empty();) {
    const size_t comma = rest.find(", ");
    reasons.emplace(rest.substr(0, comma));
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 2);
  }
  return SortReasons(reasons);
}

// Returns whether kube-scheduler's figure for the pod grows each time. kube-scheduler adds a pod's
// overhead to a copy of its pod-level request. If the request does not fit into a quantity's short
// form (memory from 100Ti on, for example), the copy shares its digits with the original, so every
// evaluation makes the request larger. There is no right answer to compare with.
bool GrowsWithEveryLook(json::Value pod) {
  const json::Value spec = pod["spec"];
  bool grows = false;
  spec["resources"]["requests"].ForEachMember([&](std::string_view name, json::Value amount) {
    const std::optional<ParsedQuantity> parsed = ParseExactQuantity(amount.text());
    grows |= parsed && parsed->arbitrary_decimal && !spec["overhead"][name].missing();
  });
  return grows;
}

bool HasNoRightAnswer(const OracleCase& line) {
  const Result<json::Document> input = json::Document::Parse(line.input);
  SYNERGY_CHECK(input.has_value(), "the oracle generates JSON");
  bool grows = GrowsWithEveryLook(input->root()["pod"]);
  input->root()["pods"].ForEachElement([&](json::Value pod) { grows |= GrowsWithEveryLook(pod); });
  return grows;
}

class AccountingOracle : public testing::Test {
 protected:
  // Compares all of the oracle's answers about one node, the pods on it and a pod to be placed.
  void Compare(const OracleCase& line) {
    const Result<json::Document> answers = json::Document::Parse(line.answer);
    ASSERT_TRUE(answers) << line.answer;
    const json::Value answer = answers->root();
    ASSERT_TRUE(answer["error"].missing()) << line.answer;
    Comparison comparison(line, answer, differences_);

    const std::string_view pod_text = RawMember(line.input, "pod");
    const Result<Pod> incoming = reader_.ReadPod(pod_text, PodUse::kIncoming);
    const Result<Node> node = reader_.ReadNode(RawMember(line.input, "node"));
    Result<ListPage<Pod>> pods = reader_.ReadList<Pod>(
        fmt::format(R"({{"kind":"PodList","items":{}}})", RawMember(line.input, "pods")));
    ASSERT_TRUE(incoming && node && pods) << line.input;
    ASSERT_TRUE(pods->problems.empty()) << pods->problems.front();
    comparison.AmountsEqual("incoming",
                            ToAmounts(incoming->requests.main, incoming->requests.other));

    ClusterState cluster;
    cluster.ReplaceNodes({*node});
    cluster.ReplacePods(std::move(pods->items));
    const std::shared_ptr<const ClusterSnapshot> snapshot = cluster.Snapshot();
    const auto index = snapshot->Find(node->name);
    ASSERT_TRUE(index);
    const NodeState& state = snapshot->node(*index);
    Amounts allocatable = ToAmounts(state.allocatable, state.detail->allocatable);
    allocatable["pods"] = state.pods_allowed;
    comparison.AmountsEqual("allocatable", allocatable);
    const Amounts requested = ToAmounts(state.requested, state.detail->requested);
    comparison.AmountsNotLess("requested", requested);
    comparison.Equal("podCount", fmt::to_string(state.pods),
                     std::string(answer["podCount"].text()));

    // older versions' formulas count otherwise
    if (requested != ReadAmounts(answer["requested"])) return;
    ++compared_;
    const FitFailures failures = CheckFit(*incoming, state);
    comparison.Equal(
        "reasons", OurReasons(DescribeFailures(failures, incoming->requests, &state, kGpuResource)),
        TheirReasons(answer));
    const bool they_take_it = answer["fits"].truth() && !answer["unschedulable"].truth();
    comparison.Equal("fits", failures.none(), they_take_it);
    ++(they_take_it ? fitting_ : failing_);
  }

  const ObjectReader reader_{std::string(kGpuResource)};
  Amounts Accounted(std::string_view pod) const {
    const Result<Pod> accounted = reader_.ReadPod(pod, PodUse::kAccounted);
    SYNERGY_CHECK(accounted.has_value(), "the oracle generates pods");
    return ToAmounts(accounted->requests.main, accounted->requests.other);
  }

  // Returns a resource list as kube-scheduler counts it.
  Amounts AmountsOf(std::string_view list) const {
    return Accounted(fmt::format(R"({{"metadata":{{"name":"a","uid":"a"}},"spec":{{"containers":[)"
                                 R"({{"name":"a","resources":{{"requests":{}}}}}]}}}})",
                                 list));
  }

  Differences differences_;
  int compared_ = 0;
  int fitting_ = 0;
  int failing_ = 0;
};

TEST_F(AccountingOracle, PodsAndNodesAreCountedAsKubeSchedulerCountsThem) {
  int skipped = 0;
  for (const OracleCase& line : GenerateOracleCases("mixes", kCases, OracleSeed())) {
    if (HasNoRightAnswer(line)) {
      ++skipped;
      continue;
    }
    ASSERT_NO_FATAL_FAILURE(Compare(line));
  }
  EXPECT_EQ(differences_.count(), 0) << differences_.report();
  EXPECT_LT(skipped, kCases / 20);
  EXPECT_GT(compared_, kCases / 4) << "most nodes count differently in different versions";
  EXPECT_GT(fitting_, kCases / 50) << "the oracle's pods hardly ever fit";
  EXPECT_GT(failing_, kCases / 50) << "the oracle's pods hardly ever fail to fit";
}

TEST_F(AccountingOracle, PodsOnNodesCountForTheMostThatAnyVersionCounts) {
  std::vector<OracleCase> cases = GenerateOracleCases("pods", kCases, OracleSeed());
  std::erase_if(cases, HasNoRightAnswer);
  std::vector<std::string_view> pods;
  for (const OracleCase& line : cases) pods.push_back(RawMember(line.input, "pod"));
  const std::vector<std::string> before = RequestsBefore137(pods);
  int more_before = 0;
  int more_now = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Result<json::Document> answer = json::Document::Parse(cases[i].answer);
    ASSERT_TRUE(answer) << cases[i].answer;
    const Amounts now = ReadAmounts(answer->root()["accounted"]);
    const Amounts then = LargerOf(AmountsOf(RawMember(before[i], "container")),
                                  AmountsOf(RawMember(before[i], "pod")));
    const Amounts most = LargerOf(now, then);
    more_before += most != now ? 1 : 0;
    more_now += most != then ? 1 : 0;
    const Amounts ours = Accounted(pods[i]);
    if (ours == most) continue;
    differences_.Add(cases[i], fmt::format("ours is {}, 1.37's {}, of others {}", ToText(ours),
                                           ToText(now), before[i]));
  }
  EXPECT_EQ(differences_.count(), 0) << differences_.report();
  EXPECT_GT(cases.size(), kCases * 9 / 10);
  EXPECT_GT(more_before, kCases / 50);
  EXPECT_GT(more_now, kCases / 50);
}

}  // namespace
}  // namespace synergy::wire
