#include "wire/base/metadata.h"

#include <map>

#include <fmt/format.h>

namespace synergy::wire {
namespace {

TextOfKey TextByKey(Value words) {
  return [words](std::string_view key) { return words[key].text(); };
}

}  // namespace

std::string ReadText(FieldReader& fields, Value value) { return std::string(fields.Text(value)); }

Labels ReadLabels(FieldReader& fields, Value object) {
  constexpr size_t kMostLabels = 1000;
  // The last of several equal keys counts.
  std::map<std::string_view, std::string_view> by_key;
  fields.Object(object).ForEachMember(
      [&](std::string_view key, Value value) { by_key[key] = fields.Text(value); });
  if (by_key.size() > kMostLabels) {
    fields.TooMuch(fmt::format("more than {} labels", kMostLabels));
    return {};
  }
  return Labels(by_key.begin(), by_key.end());
}

bool ReadDeleting(FieldReader& fields, Value metadata) {
  return !fields.Text(metadata["deletionTimestamp"]).empty();
}

std::string ReadControllerUid(Value metadata) {
  constexpr size_t kLongest = 128;
  std::string uid;
  FieldReader lenient(metadata);
  lenient.Array(metadata["ownerReferences"]).ForEachElement([&](Value reference) {
    reference = lenient.Object(reference);
    if (lenient.Truth(reference["controller"])) uid = ReadText(lenient, reference["uid"]);
  });
  return uid.size() <= kLongest ? uid : std::string();
}

std::shared_ptr<const Gang> ReadGang(std::string_view pod_namespace, Value metadata) {
  return RecogniseGang(pod_namespace, TextByKey(metadata["labels"]),
                       TextByKey(metadata["annotations"]), ReadControllerUid(metadata));
}

std::string ReadWhyNoGang(Value labels, Value annotations) {
  return WhyNoGang(TextByKey(labels), TextByKey(annotations));
}

}  // namespace synergy::wire
