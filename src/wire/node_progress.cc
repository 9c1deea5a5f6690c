#include "wire/node_progress.h"

#include <fmt/format.h>

#include "wire/json_words.h"
#include "wire/member_text.h"

namespace synergy::wire {

void Members(auto& each, Like<CpuUse> auto& cpu) {
  auto& [used, throttled, waited] = cpu;
  each("used", used);
  each("throttled", throttled);
  each("waited", waited);
}

void Members(auto& each, Like<PodProgress> auto& pod) {
  auto& [uid, pod_namespace, name, container, format, iteration, total, epoch, loss, rate,
         overall_rate, iterations, last, remaining, cpu] = pod;
  each("uid", uid);
  each("namespace", pod_namespace);
  each("name", name);
  each("container", container);
  each("format", format);
  each("iteration", iteration);
  each("total", total);
  each("epoch", epoch);
  each("loss", loss);
  each("rate", rate);
  each("overallRate", overall_rate);
  each("iterations", iterations);
  each("last", last);
  each("remaining", remaining);
  each("cpu", cpu);
}

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
