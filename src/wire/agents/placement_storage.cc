#include "wire/agents/placement_storage.h"

#include <utility>

#include "wire/base/config_map.h"
#include "wire/base/metadata.h"
#include "wire/base/storage_members.h"
#include "wire/objects/kind.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {
namespace {

constexpr std::string_view kStorageData = "storage.json";

std::string DataOf(const PublishedStorage& published) {
  return DataWith(kStorageData, WriteMembers(published.storage));
}

PublishedStorage ReadPublished(FieldReader& fields, Value object) {
  PublishedStorage published;
  published.resource_version =
      ReadText(fields, fields.Object(object["metadata"])["resourceVersion"]);
  if (auto storage =
          ReadMembers<PlacementStorage>(fields.Text(fields.Object(object["data"])[kStorageData]))) {
    published.storage = *std::move(storage);
  }
  return published;
}

}  // namespace

template <>
struct Kind<PublishedStorage> {
  static constexpr std::string_view kName = "configmap";
  static PublishedStorage Read(FieldReader& fields, Value object, const PodRules&) {
    return ReadPublished(fields, object);
  }
};
template struct KindReader<PublishedStorage>;

std::string WriteNewStorage(const PublishedStorage& published) {
  return NewConfigMap(kStorageName, DataOf(published));
}

std::string WriteStoragePatch(const PublishedStorage& published) {
  return DataPatch(published.resource_version, DataOf(published));
}

Result<PublishedStorage> ReadStorage(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  return ReadPublished(fields, document->root());
}

}  // namespace synergy::wire
