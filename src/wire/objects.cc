#include "wire/objects.h"

#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "json/list_reader.h"
#include "wire/json_words.h"
#include "wire/kueue_readers.h"
#include "wire/namespace_limits.h"
#include "wire/object_readers.h"

namespace synergy::wire {
namespace {

Result<Document> ParseObject(std::string_view text, const ReadRules& rules = {}) {
  Result<Document> document = Document::Parse(text, rules);
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

// Of managedFields who wrote which annotation. An object that a person means has a few thousand
// values; of one with more a pod's amounts are read, and whose it is.
constexpr ReadRules::OnlyMember kOnly[] = {{"fieldsV1", "f:metadata"},
                                           {"f:metadata", "f:annotations"}};
constexpr std::string_view kVital[] = {"object",
                                       "metadata",
                                       "spec",
                                       "status",
                                       "containers",
                                       "initContainers",
                                       "resources",
                                       "requests",
                                       "overhead",
                                       "allocatedResources",
                                       "containerStatuses",
                                       "initContainerStatuses"};
constexpr ReadRules kRules{.only = kOnly,
                           .most_values = size_t{1} << 16,
                           .vital = kVital,
                           .most_vital_values = size_t{1} << 20};

// An object that the API server says it has, so it must be possible to tell it from others.
void CheckIdentity(FieldReader& fields, Value object, bool needs_uid) {
  const Value metadata = object["metadata"];
  if (metadata.absent()) return fields.ReportMissing(object, "metadata");
  if (!metadata.IsObject()) return;  // that is reported where it is read
  if (metadata["name"].absent()) fields.ReportMissing(metadata, "name");
  if (needs_uid && metadata["uid"].absent()) fields.ReportMissing(metadata, "uid");
}

// "pod default/train-1"
std::string Describe(std::string_view kind, Value object) {
  const Value metadata = object["metadata"];
  const std::string_view name_space = metadata["namespace"].text();
  std::string text(kind);
  text += ' ';
  text += name_space;
  if (!name_space.empty()) text += '/';
  const std::string_view name = metadata["name"].text();
  text += name.empty() ? "without a name" : name;
  return text;
}

void MoveFindings(std::vector<std::string>& problems, const FieldReader& fields,
                  std::string_view kind, Value object) {
  for (const std::string& finding : fields.findings()) {
    problems.push_back(fmt::format("{}: {}", Describe(kind, object), finding));
  }
  if (fields.count() > fields.findings().size()) {
    problems.push_back(fmt::format("{}: and {} more", Describe(kind, object),
                                   fields.count() - fields.findings().size()));
  }
}

// How the objects of a kind are called in messages, and read.
template <class T>
struct Kind;
template <>
struct Kind<Pod> {
  static constexpr std::string_view kName = "pod";
  static Pod Read(FieldReader& fields, Value object, const PodRules& rules) {
    return ReadPodObject(fields, object, PodUse::kAccounted, rules);
  }
};
template <>
struct Kind<Node> {
  static constexpr std::string_view kName = "node";
  static Node Read(FieldReader& fields, Value object, const PodRules& rules) {
    return ReadNodeObject(fields, object, rules.gpu_resource);
  }
};
template <>
struct Kind<DisruptionBudget> {
  static constexpr std::string_view kName = "disruption budget";
  static DisruptionBudget Read(FieldReader& fields, Value object, const PodRules&) {
    return ReadDisruptionBudgetObject(fields, object);
  }
};
template <>
struct Kind<ResizeStatus> {
  static constexpr std::string_view kName = "pod";
  static ResizeStatus Read(FieldReader& fields, Value object, const PodRules& rules) {
    return ReadResizeStatusObject(fields, object, rules);
  }
};
template <>
struct Kind<AgentPod> {
  static constexpr std::string_view kName = "pod";
  static AgentPod Read(FieldReader& fields, Value object, const PodRules&) {
    return ReadAgentPodObject(fields, object);
  }
};
template <>
struct Kind<Namespace> {
  static constexpr std::string_view kName = "namespace";
  static Namespace Read(FieldReader& fields, Value object, const PodRules&) {
    return ReadNamespaceObject(fields, object);
  }
};
template <>
struct Kind<LimitRange> {
  static constexpr std::string_view kName = "limit range";
  static LimitRange Read(FieldReader& fields, Value object, const PodRules&) {
    return ReadLimitRangeObject(fields, object);
  }
};
template <>
struct Kind<ResourceQuota> {
  static constexpr std::string_view kName = "resource quota";
  static ResourceQuota Read(FieldReader& fields, Value object, const PodRules&) {
    return ReadResourceQuotaObject(fields, object);
  }
};
template <>
struct Kind<ProfileObject> {
  static constexpr std::string_view kName = "training profile";
  static ProfileObject Read(FieldReader&, Value object, const PodRules&) {
    return ReadProfileObject(object);
  }
};
template <>
struct Kind<EventAboutPod> {
  static constexpr std::string_view kName = "event";
  static EventAboutPod Read(FieldReader& fields, Value object, const PodRules&) {
    return ReadEventAboutPodObject(fields, object);
  }
};
template <>
struct Kind<RoundPolicy> {
  static constexpr std::string_view kName = "round policy";
  static RoundPolicy Read(FieldReader& fields, Value object, const PodRules&) {
    return ReadRoundPolicyObject(fields, object);
  }
};
template <>
struct Kind<Workload> {
  static constexpr std::string_view kName = "workload";
  static Workload Read(FieldReader& fields, Value object, const PodRules& rules) {
    return ReadWorkloadObject(fields, object, rules.gpu_resource);
  }
};
template <>
struct Kind<ClusterQueue> {
  static constexpr std::string_view kName = "cluster queue";
  static ClusterQueue Read(FieldReader& fields, Value object, const PodRules& rules) {
    return ReadClusterQueueObject(fields, object, rules.gpu_resource);
  }
};
template <>
struct Kind<LocalQueue> {
  static constexpr std::string_view kName = "local queue";
  static LocalQueue Read(FieldReader& fields, Value object, const PodRules&) {
    return ReadLocalQueueObject(fields, object);
  }
};
template <>
struct Kind<QueuePart> {
  static constexpr std::string_view kName = "part of a queue";
  static QueuePart Read(FieldReader& fields, Value object, const PodRules&) {
    return ReadQueuePartObject(fields, object);
  }
};
template <>
struct Kind<QueuedPod> {
  static constexpr std::string_view kName = "pod";
  static QueuedPod Read(FieldReader& fields, Value object, const PodRules& rules) {
    return ReadQueuedPodObject(fields, object, rules.gpu_resource);
  }
};
template <>
struct Kind<QueuedJob> {
  static constexpr std::string_view kName = "job";
  static QueuedJob Read(FieldReader& fields, Value object, const PodRules&) {
    return ReadQueuedJobObject(fields, object);
  }
};

// An object in a list or an event, whatever is wrong with it, and what of it was too much to read.
template <class T>
struct ReadObject {
  T object;
  std::string too_much;
};

template <class T>
ReadObject<T> ReadOneOf(std::vector<std::string>& problems, Value object, bool cut,
                        const PodRules& rules) {
  FieldReader fields(object);
  CheckIdentity(fields, object, !std::is_same_v<T, Node>);
  ReadObject<T> read{Kind<T>::Read(fields, object, rules), fields.too_much()};
  if (cut) read.too_much = fmt::format("more than {} values", kRules.most_values);
  // What is left of one that was cut is not what its author wrote.
  if (read.too_much.empty() && !fields.ok()) MoveFindings(problems, fields, Kind<T>::kName, object);
  if constexpr (std::is_same_v<T, Pod>) {
    if (!read.too_much.empty()) read.object = AccountedOnly(std::move(read.object));
  }
  return read;
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

}  // namespace

ObjectReader::ObjectReader(std::string gpu_resource, ClaimRules claims)
    : rules_{std::move(gpu_resource), std::move(claims)} {}

Result<Pod> ObjectReader::ReadPod(std::string_view text, PodUse use) const {
  return ReadSingle(text, [&](FieldReader& fields, Value object) {
    return ReadPodObject(fields, object, use, rules_);
  });
}

Result<Node> ObjectReader::ReadNode(std::string_view text) const {
  return ReadSingle(text, [&](FieldReader& fields, Value object) {
    return ReadNodeObject(fields, object, rules_.gpu_resource);
  });
}

template <class T>
Result<ListPage<T>> ObjectReader::ReadList(std::string text) const {
  ListPage<T> page;
  size_t index = 0;
  const auto add = [&](Value item, bool cut) {
    const size_t at = index++;
    if (!item.IsObject()) {
      page.problems.push_back(
          fmt::format("items[{}]: must be an object, not {}", at, item.DescribeKind()));
      return;
    }
    ReadObject<T> read = ReadOneOf<T>(page.problems, item, cut, rules_);
    if (read.too_much.empty()) {
      page.items.push_back(std::move(read.object));
    } else {
      page.unread.push_back(
          {std::move(read.object), Describe(Kind<T>::kName, item), std::move(read.too_much)});
    }
  };
  const Result<Document> document = json::ListReader::Read(std::move(text), "items", kRules, add);
  if (!document) return Fail(document.error());
  const Value root = document->root();
  if (!root.IsObject()) {
    return Fail(ErrorCode::kInvalid, fmt::format("must be an object, not {}", root.DescribeKind()));
  }
  if (const std::optional<Status> status = ReadStatusObject(root)) return Fail(ToError(*status));

  FieldReader fields(root);
  const Value metadata = fields.Object(root["metadata"]);
  page.resource_version = ReadText(fields, metadata["resourceVersion"]);
  page.continue_token = ReadText(fields, metadata["continue"]);
  fields.Array(root["items"]);
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, fields.findings().front());
  return page;
}

template <class T>
Result<WatchEvent<T>> ObjectReader::ReadWatchEvent(std::string_view text) const {
  using Type = typename WatchEvent<T>::Type;
  const Result<Document> document = ParseObject(text, kRules);
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
  MoveFindings(event.problems, versions, Kind<T>::kName, object);
  if (event.type == Type::kBookmark) return event;
  ReadObject<T> read = ReadOneOf<T>(event.problems, object, document->cut(), rules_);
  event.object = std::move(read.object);
  event.name = Describe(Kind<T>::kName, object);
  event.why_unread = std::move(read.too_much);
  return event;
}

template Result<ListPage<Pod>> ObjectReader::ReadList(std::string) const;
template Result<ListPage<Node>> ObjectReader::ReadList(std::string) const;
template Result<ListPage<DisruptionBudget>> ObjectReader::ReadList(std::string) const;
template Result<ListPage<ResizeStatus>> ObjectReader::ReadList(std::string) const;
template Result<ListPage<AgentPod>> ObjectReader::ReadList(std::string) const;
template Result<ListPage<Namespace>> ObjectReader::ReadList(std::string) const;
template Result<ListPage<LimitRange>> ObjectReader::ReadList(std::string) const;
template Result<ListPage<ResourceQuota>> ObjectReader::ReadList(std::string) const;
template Result<ListPage<ProfileObject>> ObjectReader::ReadList(std::string) const;
template Result<ListPage<EventAboutPod>> ObjectReader::ReadList(std::string) const;
template Result<ListPage<RoundPolicy>> ObjectReader::ReadList(std::string) const;
template Result<ListPage<Workload>> ObjectReader::ReadList(std::string) const;
template Result<ListPage<ClusterQueue>> ObjectReader::ReadList(std::string) const;
template Result<ListPage<LocalQueue>> ObjectReader::ReadList(std::string) const;
template Result<ListPage<QueuePart>> ObjectReader::ReadList(std::string) const;
template Result<ListPage<QueuedPod>> ObjectReader::ReadList(std::string) const;
template Result<ListPage<QueuedJob>> ObjectReader::ReadList(std::string) const;

template Result<WatchEvent<Pod>> ObjectReader::ReadWatchEvent(std::string_view) const;
template Result<WatchEvent<Node>> ObjectReader::ReadWatchEvent(std::string_view) const;
template Result<WatchEvent<DisruptionBudget>> ObjectReader::ReadWatchEvent(std::string_view) const;
template Result<WatchEvent<ResizeStatus>> ObjectReader::ReadWatchEvent(std::string_view) const;
template Result<WatchEvent<AgentPod>> ObjectReader::ReadWatchEvent(std::string_view) const;
template Result<WatchEvent<Namespace>> ObjectReader::ReadWatchEvent(std::string_view) const;
template Result<WatchEvent<LimitRange>> ObjectReader::ReadWatchEvent(std::string_view) const;
template Result<WatchEvent<ResourceQuota>> ObjectReader::ReadWatchEvent(std::string_view) const;
template Result<WatchEvent<ProfileObject>> ObjectReader::ReadWatchEvent(std::string_view) const;
template Result<WatchEvent<RoundPolicy>> ObjectReader::ReadWatchEvent(std::string_view) const;
template Result<WatchEvent<Workload>> ObjectReader::ReadWatchEvent(std::string_view) const;
template Result<WatchEvent<ClusterQueue>> ObjectReader::ReadWatchEvent(std::string_view) const;
template Result<WatchEvent<LocalQueue>> ObjectReader::ReadWatchEvent(std::string_view) const;
template Result<WatchEvent<QueuePart>> ObjectReader::ReadWatchEvent(std::string_view) const;
template Result<WatchEvent<QueuedPod>> ObjectReader::ReadWatchEvent(std::string_view) const;
template Result<WatchEvent<QueuedJob>> ObjectReader::ReadWatchEvent(std::string_view) const;

}  // namespace synergy::wire
