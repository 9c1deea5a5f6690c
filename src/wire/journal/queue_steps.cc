#include "wire/journal/queue_steps.h"

#include <algorithm>
#include <array>
#include <variant>

#include "wire/base/json_words.h"
#include "wire/base/member_text.h"
#include "wire/journal/queue_members.h"

namespace synergy::wire {
namespace {

// The names of the alternatives of QueueStep, in the same order.
constexpr std::array<std::string_view, std::variant_size_v<QueueStep>> kSteps{"StartedOver",
                                                                              "Planned", "Learned"};

}  // namespace

std::string_view NameOf(const QueueStep& step) { return kSteps.at(step.index()); }

std::string WriteQueueLine(const QueueStep& step) {
  Writer out;
  MemberWriter members(out);
  out.BeginObject();
  out.Key("queues");
  out.Text(NameOf(step));
  std::visit([&](const auto& made) { Members(members, made); }, step);
  out.EndObject();
  return out.Take();
}

Result<QueueStep> ReadQueueLine(std::string_view line) {
  const Result<Document> document = Document::Parse(line);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  const Value root = fields.Object(document->root());
  const auto name = std::find(kSteps.begin(), kSteps.end(), fields.Text(root["queues"]));
  if (name == kSteps.end()) return Fail(ErrorCode::kInvalid, "queues: unknown step");
  auto step = MakeAlternative<QueueStep>(static_cast<size_t>(name - kSteps.begin()));
  MemberReader members(fields, root);
  std::visit([&](auto& made) { Members(members, made); }, step);
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, fields.findings().front());
  return step;
}

}  // namespace synergy::wire
