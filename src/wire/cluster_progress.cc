#include "wire/cluster_progress.h"

#include "wire/json_words.h"
#include "wire/member_text.h"
#include "wire/progress_members.h"

namespace synergy::wire {

void Members(auto& each, Like<KnownProgress> auto& known) {
  auto& [pod, node, since, at, age] = known;
  Members(each, pod);
  each("node", node);
  each("since", since);
  each("at", at);
  each("age", age);
}

void Members(auto& each, Like<ClusterProgress> auto& progress) { each("pods", progress.pods); }

std::string WriteClusterProgress(const ClusterProgress& progress) {
  Writer out;
  MemberWriter members(out);
  out.BeginObject();
  Members(members, progress);
  out.EndObject();
  return out.Take();
}

Result<ClusterProgress> ReadClusterProgress(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  MemberReader members(fields, fields.Object(document->root()));
  ClusterProgress progress;
  Members(members, progress);
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, fields.findings().front());
  return progress;
}

}  // namespace synergy::wire
