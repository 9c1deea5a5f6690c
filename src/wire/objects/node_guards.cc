#include "wire/objects/node_guards.h"

#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/objects/kind.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {

template <>
struct Kind<GuardedNode> {
  static constexpr std::string_view kName = "node";
  static GuardedNode Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    GuardedNode node;
    node.name = ReadText(fields, metadata["name"]);
    node.resource_version = ReadText(fields, metadata["resourceVersion"]);
    for (size_t i = 0; i < kNodeGuards.size(); ++i) {
      if (metadata["annotations"][kNodeGuards[i]].absent()) continue;
      node.guards[i] =
          WrittenBySynergy(metadata, kNodeGuards[i]) ? NodeGuard::kOurs : NodeGuard::kOthers;
    }
    return node;
  }
};

template struct KindReader<GuardedNode>;

std::string WriteNodeGuards(const NodeGuardChange& change) {
  Writer out;
  out.BeginObject();
  out.Key("metadata");
  out.BeginObject();
  out.Key("resourceVersion");
  out.Text(change.resource_version);
  out.Key("annotations");
  out.BeginObject();
  for (const std::string_view guard : change.added) {
    out.Key(guard);
    out.Text("true");
  }
  for (const std::string_view guard : change.removed) {
    out.Key(guard);
    out.Raw("null");
  }
  out.EndObject();
  out.EndObject();
  out.EndObject();
  return out.Take();
}

}  // namespace synergy::wire
