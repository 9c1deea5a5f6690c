#include "wire/base/json_words.h"
#include "wire/extender/extender_messages.h"

namespace synergy::wire {
namespace {

// The text that follows a host, by its points.
constexpr std::string_view kScores[kMostPoints + 1] = {
    R"(,"Score":0})", R"(,"Score":1})", R"(,"Score":2})",  R"(,"Score":3})",
    R"(,"Score":4})", R"(,"Score":5})", R"(,"Score":6})",  R"(,"Score":7})",
    R"(,"Score":8})", R"(,"Score":9})", R"(,"Score":10})",
};

void AppendFailed(std::string& out, std::string_view field, std::span<const FailedNode> failed,
                  bool unresolvable) {
  out += ",\"";
  out += field;
  out += "\":{";
  bool first = true;
  for (const FailedNode& node : failed) {
    if (node.unresolvable != unresolvable) continue;
    if (!first) out.push_back(',');
    first = false;
    out += node.spelled_name;
    out.push_back(':');
    AppendJsonString(out, node.reason);
  }
  out.push_back('}');
}

}  // namespace

std::string WriteFilterResult(bool whole_nodes, std::span<const std::string_view> fitting,
                              std::span<const FailedNode> failed) {
  size_t size = 128;
  for (const std::string_view node : fitting) size += node.size() + 1;
  for (const FailedNode& node : failed) size += node.spelled_name.size() + node.reason.size() + 4;
  std::string out;
  out.reserve(size);
  out += whole_nodes ? R"({"NodeNames":null,"Nodes":{"metadata":{},"items":[)"
                     : R"({"Nodes":null,"NodeNames":[)";
  for (size_t i = 0; i < fitting.size(); ++i) {
    if (i != 0) out.push_back(',');
    out += fitting[i];
  }
  out += whole_nodes ? "]}" : "]";
  AppendFailed(out, "FailedNodes", failed, false);
  AppendFailed(out, "FailedAndUnresolvableNodes", failed, true);
  out += R"(,"Error":""})";
  return out;
}

std::string WriteHostPriorityList(std::span<const std::string_view> spelled_names,
                                  std::span<const uint8_t> points) {
  size_t size = 2;
  for (const std::string_view name : spelled_names) size += name.size() + 22;
  std::string out;
  out.reserve(size);
  out.push_back('[');
  for (size_t i = 0; i < spelled_names.size(); ++i) {
    out += i == 0 ? R"({"Host":)" : R"(,{"Host":)";
    out += spelled_names[i];
    out += kScores[points[i]];
  }
  out.push_back(']');
  return out;
}

std::string WritePreemptionResult(std::span<const NodeVictims> nodes) {
  std::string out = R"({"NodeNameToMetaVictims":{)";
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i != 0) out.push_back(',');
    AppendJsonString(out, nodes[i].node);
    out += R"(:{"Pods":[)";
    for (size_t p = 0; p < nodes[i].uids.size(); ++p) {
      out += p == 0 ? R"({"UID":)" : R"(,{"UID":)";
      AppendJsonString(out, nodes[i].uids[p]);
      out.push_back('}');
    }
    out += R"(],"NumPDBViolations":)";
    out += std::to_string(nodes[i].disruption_budget_violations);
    out.push_back('}');
  }
  out += "}}";
  return out;
}

std::string WriteError(std::string_view message) {
  std::string out = R"({"Error":)";
  AppendJsonString(out, message);
  out.push_back('}');
  return out;
}

}  // namespace synergy::wire
