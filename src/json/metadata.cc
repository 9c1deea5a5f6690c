#include <algorithm>
#include <utility>

#include "json/object_readers.h"

namespace synergy::json {

std::string ReadText(FieldReader& fields, Value value) { return std::string(fields.Text(value)); }

Labels ReadLabels(FieldReader& fields, Value object) {
  Labels labels;
  fields.Object(object).ForEachMember(
      [&](std::string_view key, Value value) { labels.emplace_back(key, fields.Text(value)); });
  // The last of equal keys counts: it is the first from behind.
  std::reverse(labels.begin(), labels.end());
  std::stable_sort(labels.begin(), labels.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  labels.erase(std::unique(labels.begin(), labels.end(),
                           [](const auto& a, const auto& b) { return a.first == b.first; }),
               labels.end());
  return labels;
}

bool ReadDeleting(FieldReader& fields, Value metadata) {
  return !fields.Text(metadata["deletionTimestamp"]).empty();
}

}  // namespace synergy::json
