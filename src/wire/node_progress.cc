#include "wire/node_progress.h"

#include <fmt/format.h>

#include "wire/json_words.h"
#include "wire/member_text.h"
#include "wire/progress_members.h"

namespace synergy::wire {

void Members(auto& each, Like<NodeProgress> auto& progress) {
  auto& [node, since, at, pods] = progress;
  each("node", node);
  each("since", since);
  each("at", at);
  each("pods", pods);
}

std::string WriteNodeProgress(const NodeProgress& progress) {
  Writer out;
  MemberWriter members(out);
  out.BeginObject();
  Members(members, progress);
  out.EndObject();
  return out.Take();
}

Result<NodeProgress> ReadNodeProgress(std::string_view text) {
  if (text.size() > kLongestNodeProgress) {
    return Fail(ErrorCode::kInvalid, fmt::format("longer than {} bytes", kLongestNodeProgress));
  }
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  MemberReader members(fields, fields.Object(document->root()));
  NodeProgress progress;
  Members(members, progress);
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, fields.findings().front());
  return progress;
}

}  // namespace synergy::wire
