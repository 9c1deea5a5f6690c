#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "wire/base/json_words.h"
#include "wire/base/resource_list.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {
namespace {

// Returns whether LimitRanger reports that it filled in this request of the container. For example:
// "LimitRanger plugin set: cpu, memory request for container train; cpu limit for container train".
bool IsFilledIn(std::string_view message, std::string_view resource, std::string_view container) {
  const std::string end = fmt::format(" request for container {}", container);
  if (const size_t begin = message.find(": "); begin != std::string_view::npos)
    message.remove_prefix(begin + 2);
  while (!message.empty()) {
    const size_t length = message.find("; ");
    const std::string_view part = message.substr(0, length);
    if (part.ends_with(end) &&
        part.substr(0, part.size() - end.size()).find(resource) != std::string_view::npos) {
      return true;
    }
    message.remove_prefix(length == std::string_view::npos ? message.size() : length + 2);
  }
  return false;
}

}  // namespace

WrittenAmounts ReadAmountsOf(FieldReader& fields, Value resources) {
  WrittenAmounts written;
  const auto amount = [&](const char* list, const char* name) -> std::optional<ExactQuantity> {
    const Value value = fields.Object(resources[list])[name];
    if (value.absent()) return std::nullopt;
    return fields.Amount(value);
  };
  const auto read = [&](const char* list, auto& cpu, auto& memory) {
    if (const auto found = amount(list, "cpu")) cpu = ToMilliCpu(*found, kLargestRequest);
    if (const auto found = amount(list, "memory")) memory = ToBytes(*found, kLargestRequest);
  };
  read("requests", written.cpu_request, written.memory_request);
  read("limits", written.cpu_limit, written.memory_limit);
  return written;
}

Beside ReadBeside(FieldReader& fields, Value spec, std::string_view name) {
  Beside beside;
  const auto add = [&](Value list) {
    const ResourceVector amounts =
        ResourceList::Read(fields, list).ToResources("", kLargestRequest).main;
    beside.requests +=
        {Gpus(0), std::max(amounts.cpu, MilliCpu(0)), std::max(amounts.memory, Bytes(0))};
  };
  const auto read = [&](Value container, bool counts) {
    const Value resources = fields.Object(container["resources"]);
    if (counts) add(fields.Object(resources["requests"]));
    beside.guaranteed &= ReadAmountsOf(fields, resources).IsGuaranteed();
  };
  fields.Array(spec["containers"]).ForEachElement([&](Value container) {
    container = fields.Object(container);
    if (fields.Text(container["name"]) != name) read(container, true);
  });
  fields.Array(spec["initContainers"]).ForEachElement([&](Value container) {
    container = fields.Object(container);
    read(container, fields.Text(container["restartPolicy"]) == "Always");
  });
  add(spec["overhead"]);
  return beside;
}

std::optional<Document> ReadOriginal(Value annotations, Value resources) {
  const Value before = annotations[annotations::kOriginal];
  FieldReader fields(annotations);
  const std::optional<ResourceVector> floor =
      ReadAmountsAnnotation(fields, annotations[annotations::kFloor]);
  if (!floor || !before.IsString()) return std::nullopt;
  const Resources now = ResourceList::Read(fields, fields.Object(resources["requests"]))
                            .ToResources("", kLargestRequest);
  if (!fields.ok() || now.main.cpu != floor->cpu || now.main.memory != floor->memory)
    return std::nullopt;
  Result<Document> document = Document::Parse(before.text());
  if (!document || !document->root().IsObject()) return std::nullopt;
  return *std::move(document);
}

WrittenAmounts WithoutDefaults(FieldReader& fields, Value annotations, WrittenAmounts written,
                               std::string_view container) {
  const std::string_view message = fields.Text(annotations[annotations::kLimitRanger]);
  if (IsFilledIn(message, "cpu", container)) written.cpu_request.reset();
  if (IsFilledIn(message, "memory", container)) written.memory_request.reset();
  return written;
}

WrittenAmounts ReadWrittenAmounts(FieldReader& fields, Value annotations, Value resources,
                                  std::string_view container) {
  if (const std::optional<Document> original = ReadOriginal(annotations, resources)) {
    FieldReader inner(original->root());
    const WrittenAmounts written = ReadAmountsOf(inner, original->root());
    if (inner.ok()) return WithoutDefaults(fields, annotations, written, container);
  }
  return WithoutDefaults(fields, annotations, ReadAmountsOf(fields, resources), container);
}

}  // namespace synergy::wire
