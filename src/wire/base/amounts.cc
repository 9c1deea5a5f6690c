#include "wire/base/amounts.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/quantity_text.h"
#include "wire/base/json_words.h"
#include "wire/base/resource_list.h"

namespace synergy::wire {

std::optional<ResourceVector> ReadAmounts(FieldReader& fields, Value object) {
  object = fields.Object(object);
  const Value cpu = object["cpu"];
  const Value memory = object["memory"];
  if (cpu.absent() && memory.absent()) {
    if (!object.missing()) fields.Report(object, "has neither cpu nor memory");
    return std::nullopt;
  }
  const size_t before = fields.count();
  ResourceVector amounts;
  amounts.cpu = std::max(MilliCpu(0), ToMilliCpu(fields.Amount(cpu), kLargestRequest));
  amounts.memory = std::max(Bytes(0), ToBytes(fields.Amount(memory), kLargestRequest));
  if (fields.count() != before) return std::nullopt;
  return amounts;
}

std::optional<ResourceVector> ReadAmountsAnnotation(FieldReader& fields, Value annotation) {
  const std::string_view text = fields.Text(annotation);
  if (annotation.absent() || !annotation.IsString()) return std::nullopt;
  const Result<Document> document = Document::Parse(text);
  if (!document) {
    fields.Report(annotation, document.error().message);
    return std::nullopt;
  }
  FieldReader inner(document->root());
  const std::optional<ResourceVector> amounts = ReadAmounts(inner, document->root());
  fields.Adopt(annotation, inner);
  return amounts;
}

std::string WriteAmounts(const ResourceVector& amounts) {
  return fmt::format(R"({{"cpu":"{}","memory":"{}"}})", ToQuantityText(amounts.cpu),
                     ToQuantityText(amounts.memory));
}

}  // namespace synergy::wire
