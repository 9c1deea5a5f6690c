#include <limits>
#include <optional>

#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {

std::optional<Status> ReadStatusObject(Value object) {
  if (object["kind"].text() != "Status") return std::nullopt;
  // A refusal is useful even if parts of it are odd.
  FieldReader fields(object);
  Status status;
  status.code =
      static_cast<int>(fields.Integer(object["code"], 0, std::numeric_limits<int>::max()));
  status.reason = ReadText(fields, object["reason"]);
  status.message = ReadText(fields, object["message"]);
  fields.Array(fields.Object(object["details"])["causes"]).ForEachElement([&](Value cause) {
    // Kubernetes 1.36 and newer, for resizes.
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
