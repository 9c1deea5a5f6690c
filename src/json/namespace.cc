#include "json/object_readers.h"

namespace synergy::json {

Namespace ReadNamespaceObject(FieldReader& fields, Value object) {
  const Value metadata = fields.Object(object["metadata"]);
  return {ReadText(fields, metadata["name"]), ReadLabels(fields, metadata["labels"])};
}

}  // namespace synergy::json
