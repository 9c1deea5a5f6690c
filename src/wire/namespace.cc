#include "wire/json_words.h"
#include "wire/object_readers.h"

namespace synergy::wire {

Namespace ReadNamespaceObject(FieldReader& fields, Value object) {
  const Value metadata = fields.Object(object["metadata"]);
  return {ReadText(fields, metadata["name"]), ReadLabels(fields, metadata["labels"])};
}

}  // namespace synergy::wire
