#include "wire/journal/journal.h"

#include <algorithm>
#include <array>
#include <variant>

#include "wire/base/json_words.h"
#include "wire/base/member_text.h"
#include "wire/journal/journal_members.h"

namespace synergy::wire {
namespace {

using Call = decltype(ClusterChange::call);

// In the order of the alternatives.
constexpr std::array<std::string_view, std::variant_size_v<Call>> kCalls{"ReplaceNodes",
                                                                         "UpsertNode",
                                                                         "RemoveNode",
                                                                         "PutListedPods",
                                                                         "UpsertPod",
                                                                         "RemovePod",
                                                                         "RefreshPod",
                                                                         "ReplaceDisruptionBudgets",
                                                                         "UpsertDisruptionBudget",
                                                                         "RemoveDisruptionBudget",
                                                                         "ReplaceLimitRanges",
                                                                         "UpsertLimitRange",
                                                                         "RemoveLimitRange",
                                                                         "ReplaceResourceQuotas",
                                                                         "UpsertResourceQuota",
                                                                         "RemoveResourceQuota",
                                                                         "Expect",
                                                                         "Assume",
                                                                         "Forget",
                                                                         "Extend",
                                                                         "DropStaleExpectations",
                                                                         "KeepNews",
                                                                         "Hold",
                                                                         "Release",
                                                                         "HoldVacated",
                                                                         "SettleVacant",
                                                                         "CountDevices",
                                                                         "ReplaceResourceClaims",
                                                                         "UpsertResourceClaim",
                                                                         "RemoveResourceClaim",
                                                                         "ReplaceResourceSlices",
                                                                         "UpsertResourceSlice",
                                                                         "RemoveResourceSlice",
                                                                         "ReplaceDeviceClasses",
                                                                         "UpsertDeviceClass",
                                                                         "RemoveDeviceClass"};

}  // namespace

std::string WriteJournalLine(const ClusterChange& change) {
  Writer out;
  MemberWriter members(out);
  out.BeginObject();
  out.Key("call");
  out.Text(kCalls.at(change.call.index()));
  members("version", change.version);
  std::visit([&](const auto& call) { Members(members, call); }, change.call);
  out.EndObject();
  return out.Take();
}

Result<ClusterChange> ReadJournalLine(std::string_view line) {
  const Result<Document> document = Document::Parse(line);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  const Value root = fields.Object(document->root());
  const auto name = std::find(kCalls.begin(), kCalls.end(), fields.Text(root["call"]));
  if (name == kCalls.end()) return Fail(ErrorCode::kInvalid, "call: unknown name");
  ClusterChange change;
  change.call = MakeAlternative<Call>(static_cast<size_t>(name - kCalls.begin()));
  MemberReader members(fields, root);
  members("version", change.version);
  std::visit([&](auto& call) { Members(members, call); }, change.call);
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, fields.findings().front());
  return change;
}

}  // namespace synergy::wire
