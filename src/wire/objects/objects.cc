#include "wire/objects/objects.h"

#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/objects/kind.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {
namespace {

// Returns `read(fields, object)` of the one object in `text`; fails on any finding.
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

// The only parts of managedFields that are read: which manager wrote which annotation.
constexpr ReadRules::OnlyMember kOnly[] = {{"fieldsV1", "f:metadata"},
                                           {"f:metadata", "f:annotations"}};
// An object has a few thousand values. If it has more than the limit, only the identity and a pod's
// amounts are read.
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

}  // namespace

const ReadRules kObjectRules{.only = kOnly,
                             .most_values = size_t{1} << 16,
                             .vital = kVital,
                             .most_vital_values = size_t{1} << 20};

Result<Document> ParseObject(std::string_view text, const ReadRules& rules) {
  Result<Document> document = Document::Parse(text, rules);
  if (document && !document->root().IsObject()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("must be an object, not {}", document->root().DescribeKind()));
  }
  return document;
}

// Every object from the API server has an identity.
void CheckIdentity(FieldReader& fields, Value object, bool needs_uid) {
  const Value metadata = object["metadata"];
  if (metadata.absent()) return fields.ReportMissing(object, "metadata");
  if (!metadata.IsObject()) return;  // reported where it is read
  if (metadata["name"].absent()) fields.ReportMissing(metadata, "name");
  if (needs_uid && metadata["uid"].absent()) fields.ReportMissing(metadata, "uid");
}

// Returns text such as "pod default/train-1".
std::string DescribeObject(std::string_view kind, Value object) {
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
    problems.push_back(fmt::format("{}: {}", DescribeObject(kind, object), finding));
  }
  if (fields.count() > fields.findings().size()) {
    problems.push_back(fmt::format("{}: and {} more", DescribeObject(kind, object),
                                   fields.count() - fields.findings().size()));
  }
}

std::optional<WatchEventType> ParseWatchEventType(std::string_view text) {
  if (text == "ADDED") return WatchEventType::kAdded;
  if (text == "MODIFIED") return WatchEventType::kModified;
  if (text == "DELETED") return WatchEventType::kDeleted;
  if (text == "BOOKMARK") return WatchEventType::kBookmark;
  if (text == "ERROR") return WatchEventType::kError;
  return std::nullopt;
}

ObjectReader::ObjectReader(std::string gpu_resource, ClaimRules claims, bool device_claims)
    : rules_{std::move(gpu_resource), std::move(claims), device_claims} {}

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

std::optional<Status> ReadStatusObject(Value object) {
  if (object["kind"].text() != "Status") return std::nullopt;
  // A refusal is useful even if parts of it are malformed.
  FieldReader fields(object);
  Status status;
  status.code =
      static_cast<int>(fields.Integer(object["code"], 0, std::numeric_limits<int>::max()));
  status.reason = ReadText(fields, object["reason"]);
  status.message = ReadText(fields, object["message"]);
  fields.Array(fields.Object(object["details"])["causes"]).ForEachElement([&](Value cause) {
    // Kubernetes 1.36 and newer set this for resizes.
    const std::string_view type = fields.Text(fields.Object(cause)["reason"]);
    status.never_fits |= type == "NodeCapacity" || type == "UnsupportedPlatform";
  });
  return status;
}

std::optional<Status> ReadStatus(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return std::nullopt;
  return ReadStatusObject(document->root());
}

ErrorCode ToErrorCode(int http_status, const std::optional<Status>& status) {
  if (http_status == 403 && status && status->never_fits) return ErrorCode::kInvalid;
  switch (http_status) {
    case 401:
    case 403:
      return ErrorCode::kDenied;
    case 404:
      return ErrorCode::kNotFound;
    case 409:
      return ErrorCode::kConflict;
    case 410:
      return ErrorCode::kGone;
    case 408:
    case 504:
      return ErrorCode::kTimeout;
    case 429:
      return ErrorCode::kOverloaded;
    default:
      return http_status >= 500 ? ErrorCode::kUnavailable : ErrorCode::kInvalid;
  }
}

Error ToError(const Status& status) {
  std::string message = status.message.empty() ? status.reason : status.message;
  if (message.empty()) message = "the API server gives no reason";
  return Error{ToErrorCode(status.code, status), std::move(message)};
}

}  // namespace synergy::wire
