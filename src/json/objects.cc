#include "json/objects.h"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "json/document.h"
#include "json/field_reader.h"
#include "json/object_readers.h"
#include "json/text.h"

namespace synergy::json {
namespace {

Result<Document> ParseObject(std::string_view text) {
  Result<Document> document = Document::Parse(text);
  if (document && !document->root().IsObject()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("must be an object, not {}", document->root().DescribeKind()));
  }
  return document;
}

// `read(fields, object)` on the one object in `text`, where nothing may be wrong.
template <class Read>
auto ReadSingle(std::string_view text, Read read)
    -> Result<decltype(read(std::declval<FieldReader&>(), Value()))> {
  const Result<Document> document = ParseObject(text);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  auto object = read(fields, document->root());
  if (!fields.ok()) {
    std::string message = fields.findings().front();
    if (fields.count() > 1) message += fmt::format(" (and {} more)", fields.count() - 1);
    return Fail(ErrorCode::kInvalid, std::move(message));
  }
  return object;
}

// An object that the API server says it has, so it must be possible to tell it from others.
void CheckIdentity(FieldReader& fields, Value object, bool needs_uid) {
  const Value metadata = object["metadata"];
  if (metadata.absent()) return fields.ReportMissing(object, "metadata");
  if (!metadata.IsObject()) return;  // that is reported where it is read
  if (metadata["name"].absent()) fields.ReportMissing(metadata, "name");
  if (needs_uid && metadata["uid"].absent()) fields.ReportMissing(metadata, "uid");
}

// "pod default/train-1: ", before what is wrong with it.
std::string Describe(std::string_view kind, Value object) {
  const Value metadata = object["metadata"];
  const std::string_view name_space = metadata["namespace"].text();
  std::string text(kind);
  text += ' ';
  text += name_space;
  if (!name_space.empty()) text += '/';
  const std::string_view name = metadata["name"].text();
  text += name.empty() ? "without a name" : name;
  return text + ": ";
}

void MoveFindings(std::vector<std::string>& problems, const FieldReader& fields,
                  std::string_view kind, Value object) {
  for (const std::string& finding : fields.findings()) {
    problems.push_back(Describe(kind, object) + finding);
  }
  if (fields.count() > fields.findings().size()) {
    problems.push_back(Describe(kind, object) +
                       fmt::format("and {} more", fields.count() - fields.findings().size()));
  }
}

// What `read` makes of an object in a list or an event, whatever is wrong with it.
template <class Read>
auto ReadOneOf(std::vector<std::string>& problems, std::string_view kind, Value object, Read read) {
  FieldReader fields(object);
  CheckIdentity(fields, object, kind != "node");
  auto result = read(fields, object);
  if (!fields.ok()) MoveFindings(problems, fields, kind, object);
  return result;
}

template <class T, class Read>
Result<ListPage<T>> ReadList(std::string_view text, std::string_view kind, Read read) {
  const Result<Document> document = ParseObject(text);
  if (!document) return Fail(document.error());
  const Value root = document->root();
  if (const std::optional<Status> status = ReadStatusObject(root)) return Fail(ToError(*status));

  FieldReader fields(root);
  ListPage<T> page;
  const Value metadata = fields.Object(root["metadata"]);
  page.resource_version = ReadText(fields, metadata["resourceVersion"]);
  page.continue_token = ReadText(fields, metadata["continue"]);
  const Value items = fields.Array(root["items"]);
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, fields.findings().front());

  size_t count = 0;
  items.ForEachElement([&count](Value) { ++count; });
  page.items.reserve(count);
  items.ForEachElement([&](Value item) {
    if (item.IsObject()) {
      page.items.push_back(ReadOneOf(page.problems, kind, item, read));
    } else {
      page.problems.push_back(
          fmt::format("{}: must be an object, not {}", root.PathTo(item), item.DescribeKind()));
    }
  });
  return page;
}

template <class T>
std::optional<typename WatchEvent<T>::Type> ParseEventType(std::string_view text) {
  using Type = typename WatchEvent<T>::Type;
  if (text == "ADDED") return Type::kAdded;
  if (text == "MODIFIED") return Type::kModified;
  if (text == "DELETED") return Type::kDeleted;
  if (text == "BOOKMARK") return Type::kBookmark;
  if (text == "ERROR") return Type::kError;
  return std::nullopt;
}

template <class T, class Read>
Result<WatchEvent<T>> ReadEvent(std::string_view text, std::string_view kind, Read read) {
  using Type = typename WatchEvent<T>::Type;
  const Result<Document> document = ParseObject(text);
  if (!document) return Fail(document.error());
  const Value root = document->root();
  FieldReader fields(root);
  const std::string_view type_text = fields.Text(root["type"]);
  const Value object = fields.Object(root["object"]);
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, fields.findings().front());
  const auto type = ParseEventType<T>(type_text);
  if (!type) {
    return Fail(ErrorCode::kInvalid, Quoted(type_text) + " is not a type of watch event");
  }
  if (object.missing()) return Fail(ErrorCode::kInvalid, "object: is missing");

  WatchEvent<T> event;
  event.type = *type;
  if (event.type == Type::kError) {
    const std::optional<Status> status = ReadStatusObject(object);
    event.error = status ? ToError(*status)
                         : Error{ErrorCode::kUnavailable, "an ERROR event without a status"};
    return event;
  }
  FieldReader versions(object);
  event.resource_version = versions.NumberInText(object["metadata"]["resourceVersion"]);
  MoveFindings(event.problems, versions, kind, object);
  if (event.type != Type::kBookmark) event.object = ReadOneOf(event.problems, kind, object, read);
  return event;
}

auto PodReader(const std::string& gpu_resource, PodUse use) {
  return [&gpu_resource, use](FieldReader& fields, Value object) {
    return ReadPodObject(fields, object, use, gpu_resource);
  };
}

auto NodeReader(const std::string& gpu_resource) {
  return [&gpu_resource](FieldReader& fields, Value object) {
    return ReadNodeObject(fields, object, gpu_resource);
  };
}

ProfileObject ReadProfile(FieldReader& /*fields*/, Value object) {
  return ReadProfileObject(object);
}

}  // namespace

ObjectReader::ObjectReader(std::string gpu_resource) : gpu_resource_(std::move(gpu_resource)) {}

Result<Pod> ObjectReader::ReadPod(std::string_view text, PodUse use) const {
  return ReadSingle(text, PodReader(gpu_resource_, use));
}

Result<Node> ObjectReader::ReadNode(std::string_view text) const {
  return ReadSingle(text, NodeReader(gpu_resource_));
}

Result<ListPage<Pod>> ObjectReader::ReadPodList(std::string_view text) const {
  return ReadList<Pod>(text, "pod", PodReader(gpu_resource_, PodUse::kAccounted));
}

Result<ListPage<Node>> ObjectReader::ReadNodeList(std::string_view text) const {
  return ReadList<Node>(text, "node", NodeReader(gpu_resource_));
}

Result<ListPage<DisruptionBudget>> ObjectReader::ReadDisruptionBudgetList(
    std::string_view text) const {
  return ReadList<DisruptionBudget>(text, "disruption budget", ReadDisruptionBudgetObject);
}

Result<ListPage<Namespace>> ObjectReader::ReadNamespaceList(std::string_view text) const {
  return ReadList<Namespace>(text, "namespace", ReadNamespaceObject);
}

Result<ListPage<PodEvent>> ObjectReader::ReadPodEventList(std::string_view text) const {
  return ReadList<PodEvent>(text, "event", ReadPodEventObject);
}

Result<ListPage<ProfileObject>> ObjectReader::ReadProfileList(std::string_view text) const {
  return ReadList<ProfileObject>(text, "training profile", ReadProfile);
}

Result<WatchEvent<Pod>> ObjectReader::ReadPodEvent(std::string_view text) const {
  return ReadEvent<Pod>(text, "pod", PodReader(gpu_resource_, PodUse::kAccounted));
}

Result<WatchEvent<Node>> ObjectReader::ReadNodeEvent(std::string_view text) const {
  return ReadEvent<Node>(text, "node", NodeReader(gpu_resource_));
}

Result<WatchEvent<DisruptionBudget>> ObjectReader::ReadDisruptionBudgetEvent(
    std::string_view text) const {
  return ReadEvent<DisruptionBudget>(text, "disruption budget", ReadDisruptionBudgetObject);
}

Result<ListPage<ResizeStatus>> ObjectReader::ReadResizeStatusList(std::string_view text) const {
  return ReadList<ResizeStatus>(text, "pod", ReadResizeStatusObject);
}

Result<WatchEvent<ResizeStatus>> ObjectReader::ReadResizeStatusEvent(std::string_view text) const {
  return ReadEvent<ResizeStatus>(text, "pod", ReadResizeStatusObject);
}

Result<WatchEvent<Namespace>> ObjectReader::ReadNamespaceEvent(std::string_view text) const {
  return ReadEvent<Namespace>(text, "namespace", ReadNamespaceObject);
}

Result<WatchEvent<ProfileObject>> ObjectReader::ReadProfileEvent(std::string_view text) const {
  return ReadEvent<ProfileObject>(text, "training profile", ReadProfile);
}

}  // namespace synergy::json
