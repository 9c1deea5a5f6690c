#pragma once

// Lists and watches of one kind of objects. A source that reads a kind specializes Kind for it and
// instantiates KindReader, whose functions are defined here. Private to this folder.
//
// Threading: pure.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "json/list_reader.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/objects/object_readers.h"
#include "wire/objects/objects.h"

namespace synergy::wire {

// A specialization has
//   kName              the name of the kind in messages
//   Read(fields, object, rules)   returns the object; reports unreadable fields to `fields`
template <class T>
struct Kind;

// Limits what is read of an object. In managedFields, only the manager of each annotation is read.
extern const ReadRules kObjectRules;

// Fails unless `text` is one JSON object.
Result<Document> ParseObject(std::string_view text, const ReadRules& rules = {});

// Reports a missing name, and a missing UID if `needs_uid`, because the API server's objects have
// both.
void CheckIdentity(FieldReader& fields, Value object, bool needs_uid);

// Returns text such as "pod default/train-1".
std::string DescribeObject(std::string_view kind, Value object);

// Appends the findings of `fields`, each with the object in which it was found.
void MoveFindings(std::vector<std::string>& problems, const FieldReader& fields,
                  std::string_view kind, Value object);

std::optional<WatchEventType> ParseWatchEventType(std::string_view text);

// An object in a list or an event, as far as it could be read, and the limit that it exceeds;
// empty: none.
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
  if (cut) read.too_much = fmt::format("more than {} values", kObjectRules.most_values);
  // Do not report problems of a truncated object, because its author did not write it that way.
  if (read.too_much.empty() && !fields.ok()) MoveFindings(problems, fields, Kind<T>::kName, object);
  if constexpr (std::is_same_v<T, Pod>) {
    if (!read.too_much.empty()) read.object = AccountedOnly(std::move(read.object));
  }
  return read;
}

template <class T>
Result<ListPage<T>> KindReader<T>::ReadList(std::string text, const PodRules& rules) {
  ListPage<T> page;
  size_t index = 0;
  const auto add = [&](Value item, bool cut) {
    const size_t at = index++;
    if (!item.IsObject()) {
      page.problems.push_back(
          fmt::format("items[{}]: must be an object, not {}", at, item.DescribeKind()));
      return;
    }
    ReadObject<T> read = ReadOneOf<T>(page.problems, item, cut, rules);
    if (read.too_much.empty()) {
      page.items.push_back(std::move(read.object));
    } else {
      page.unread.push_back(
          {std::move(read.object), DescribeObject(Kind<T>::kName, item), std::move(read.too_much)});
    }
  };
  const Result<Document> document =
      json::ListReader::Read(std::move(text), "items", kObjectRules, add);
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
Result<WatchEvent<T>> KindReader<T>::ReadWatchEvent(std::string_view text, const PodRules& rules) {
  const Result<Document> document = ParseObject(text, kObjectRules);
  if (!document) return Fail(document.error());
  const Value root = document->root();
  FieldReader fields(root);
  const std::string_view type_text = fields.Text(root["type"]);
  const Value object = fields.Object(root["object"]);
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, fields.findings().front());
  const auto type = ParseWatchEventType(type_text);
  if (!type) {
    return Fail(ErrorCode::kInvalid, Quoted(type_text) + " is not a type of watch event");
  }
  if (object.missing()) return Fail(ErrorCode::kInvalid, "object: is missing");

  WatchEvent<T> event;
  event.type = *type;
  if (event.type == WatchEventType::kError) {
    const std::optional<Status> status = ReadStatusObject(object);
    event.error = status ? ToError(*status)
                         : Error{ErrorCode::kUnavailable, "an ERROR event without a status"};
    return event;
  }
  FieldReader versions(object);
  event.resource_version = versions.NumberInText(object["metadata"]["resourceVersion"]);
  MoveFindings(event.problems, versions, Kind<T>::kName, object);
  if (event.type == WatchEventType::kBookmark) return event;
  ReadObject<T> read = ReadOneOf<T>(event.problems, object, document->cut(), rules);
  event.object = std::move(read.object);
  event.name = DescribeObject(Kind<T>::kName, object);
  event.why_unread = std::move(read.too_much);
  return event;
}

}  // namespace synergy::wire
