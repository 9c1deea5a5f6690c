#include "wire/journal/decisions.h"

#include <algorithm>
#include <array>
#include <variant>

#include "wire/base/json_words.h"
#include "wire/base/member_text.h"
#include "wire/journal/decision_members.h"

namespace synergy::wire {
namespace {

// The names of the alternatives of Decision, in the same order.
constexpr std::array<std::string_view, std::variant_size_v<Decision>> kNames{
    "Filter",          "Prioritize",          "Bind",         "Preempt",      "TunerSet",
    "ProfilesHeld",    "TunerStartedOver",    "TunerDecided", "TunerLearned", "IdleReported",
    "StorageReported", "ReservationsReported"};

}  // namespace

std::string_view NameOf(const Decision& decision) { return kNames.at(decision.index()); }

std::string WriteDecisionLine(const Decision& decision) {
  Writer out;
  MemberWriter members(out);
  out.BeginObject();
  out.Key("decision");
  out.Text(NameOf(decision));
  std::visit([&](const auto& made) { Members(members, made); }, decision);
  out.EndObject();
  return out.Take();
}

Result<Decision> ReadDecisionLine(std::string_view line) {
  const Result<Document> document = Document::Parse(line);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  const Value root = fields.Object(document->root());
  const auto name = std::find(kNames.begin(), kNames.end(), fields.Text(root["decision"]));
  if (name == kNames.end()) return Fail(ErrorCode::kInvalid, "decision: unknown kind");
  auto decision = MakeAlternative<Decision>(static_cast<size_t>(name - kNames.begin()));
  MemberReader members(fields, root);
  std::visit([&](auto& made) { Members(members, made); }, decision);
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, fields.findings().front());
  return decision;
}

}  // namespace synergy::wire
