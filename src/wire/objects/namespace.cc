#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/objects/kind.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {

Namespace ReadNamespaceObject(FieldReader& fields, Value object) {
  const Value metadata = fields.Object(object["metadata"]);
  return {ReadText(fields, metadata["name"]), ReadLabels(fields, metadata["labels"])};
}

template <>
struct Kind<Namespace> {
  static constexpr std::string_view kName = "namespace";
  static Namespace Read(FieldReader& fields, Value object, const PodRules&) {
    return ReadNamespaceObject(fields, object);
  }
};

template struct KindReader<Namespace>;

}  // namespace synergy::wire
