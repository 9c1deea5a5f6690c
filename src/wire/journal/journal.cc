#include "wire/journal/journal.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "wire/base/json_words.h"
#include "wire/base/member_text.h"
#include "wire/journal/journal_members.h"

namespace synergy::wire {
namespace {

using Call = decltype(ClusterChange::call);

template <class... Change>
constexpr std::array<std::string_view, sizeof...(Change)> NamesOf(
    std::type_identity<std::variant<Change...>> /*calls*/) {
  return {Change::kName...};
}

// The names of the alternatives of Call, in the same order.
constexpr auto kCalls = NamesOf(std::type_identity<Call>());

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
  const std::string_view call = fields.Text(root["call"]);
  const auto* const name = std::find(kCalls.begin(), kCalls.end(), call);
  if (name == kCalls.end())
    return Fail(ErrorCode::kInvalid, fmt::format("call: unknown name \"{}\"", call));
  ClusterChange change;
  change.call = MakeAlternative<Call>(static_cast<size_t>(name - kCalls.begin()));
  MemberReader members(fields, root);
  members("version", change.version);
  std::visit([&](auto& each) { Members(members, each); }, change.call);
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, fields.findings().front());
  return change;
}

}  // namespace synergy::wire
