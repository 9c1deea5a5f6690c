#pragma once

// Writes and reads values as JSON objects, member by member. Members(each, value), which is
// declared beside a folder's types, calls each(name, member) for every member of `value`. A member
// that is empty, zero or false is omitted, and reads as that value. Times are whole nanoseconds,
// and Seconds are fractions. Private to this folder.
//
// Threading: one owner.

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "cluster/state/fit.h"
#include "core/clock.h"
#include "core/resources.h"
#include "core/result.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"

namespace synergy::wire {

// A T, const or not.
template <class Value, class T>
concept Like = std::same_as<std::remove_const_t<Value>, T>;

// The names of an enumeration's values, in the order of the values.
template <class Enum>
inline constexpr std::array<std::string_view, 0> kWords;
class MemberWriter {
 public:
  explicit MemberWriter(Writer& out) : out_(out) {}

  template <class T>
  void operator()(std::string_view name, const T& member) {
    if (IsEmpty(member)) return;
    out_.Key(name);
    Write(member);
  }

 private:
  template <class T>
  static bool IsEmpty(const T& member) {
    if constexpr (requires { member.empty(); }) {
      return member.empty();
    } else if constexpr (requires { member.has_value(); }) {
      return !member.has_value();
    } else if constexpr (requires { member.get(); }) {
      return member == nullptr;
    } else if constexpr (std::is_enum_v<T>) {
      return false;
    } else if constexpr (requires { member == T{}; }) {
      return member == T{};
    }
    return false;
  }

  void Write(const std::string& text) { out_.Text(text); }
  void Write(std::string_view text) { out_.Text(text); }
  void Write(bool truth) { out_.Truth(truth); }
  void Write(int32_t number) { out_.Integer(number); }
  void Write(uint32_t number) { out_.Integer(number); }
  void Write(int64_t number) { out_.Integer(number); }
  // Writes text, because readers of JSON numbers may lose digits of a 64-bit number. Kubernetes
  // writes resourceVersion as text for the same reason.
  void Write(uint64_t number) { out_.Text(fmt::to_string(number)); }
  void Write(double number) { out_.Number(number); }
  void Write(Duration duration) { out_.Integer(duration.count()); }
  void Write(Seconds seconds) { out_.Number(seconds.count()); }
  void Write(FitFailures failures) { out_.Integer(failures.bits()); }
  template <class Tag>
  void Write(Quantity<Tag> amount) {
    out_.Integer(amount.count());
  }
  template <class Source>
  void Write(std::chrono::time_point<Source, Duration> time) {
    out_.Integer(time.time_since_epoch().count());
  }
  void Write(const Labels& labels) {
    out_.BeginObject();
    for (const auto& [key, value] : labels) {
      out_.Key(key);
      out_.Text(value);
    }
    out_.EndObject();
  }
  void Write(const ScalarResources& amounts) {
    out_.BeginObject();
    for (const auto& [name, amount] : amounts.entries()) {
      out_.Key(name);
      out_.Integer(amount);
    }
    out_.EndObject();
  }
  template <class T>
  void Write(const std::map<std::string, T>& values) {
    out_.BeginObject();
    for (const auto& [key, value] : values) {
      out_.Key(key);
      Write(value);
    }
    out_.EndObject();
  }
  template <class T>
  void Write(const std::optional<T>& value) {
    Write(*value);
  }
  template <class T>
  void Write(const std::shared_ptr<const T>& value) {
    Write(*value);
  }
  template <class T>
  void Write(const std::vector<T>& values) {
    out_.BeginArray();
    for (const T& value : values) Write(value);
    out_.EndArray();
  }
  template <class T>
  void Write(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      out_.Text(kWords<T>.at(static_cast<size_t>(value)));
    } else {
      out_.BeginObject();
      Members(*this, value);
      out_.EndObject();
    }
  }

  Writer& out_;
};

class MemberReader {
 public:
  MemberReader(FieldReader& fields, Value object) : fields_(fields), object_(object) {}

  template <class T>
  void operator()(std::string_view name, T& member) {
    if (const Value value = object_[name]; !value.absent()) {
      Read(value, member);
    } else {
      member = T{};
    }
  }

 private:
  template <class Number>
  Number Whole(Value value) {
    using Limits = std::numeric_limits<Number>;
    return static_cast<Number>(fields_.Integer(value, Limits::min(), Limits::max()));
  }

  void Read(Value value, std::string& text) { text = fields_.Text(value); }
  void Read(Value value, bool& truth) { truth = fields_.Truth(value); }
  void Read(Value value, int32_t& number) { number = Whole<int32_t>(value); }
  void Read(Value value, uint32_t& number) { number = Whole<uint32_t>(value); }
  void Read(Value value, int64_t& number) { number = Whole<int64_t>(value); }
  void Read(Value value, uint64_t& number) { number = fields_.NumberInText(value); }
  void Read(Value value, double& number) {
    const std::string_view text = value.text();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (!value.IsNumber() || error != std::errc() || end != text.data() + text.size()) {
      fields_.Report(value, "is not a number");
    }
  }
  void Read(Value value, Duration& duration) { duration = Duration(Whole<int64_t>(value)); }
  void Read(Value value, Seconds& seconds) {
    double number = 0;
    Read(value, number);
    seconds = Seconds(number);
  }
  void Read(Value value, FitFailures& failures) {
    failures = FitFailures::FromBits(Whole<uint16_t>(value));
  }
  template <class Tag>
  void Read(Value value, Quantity<Tag>& amount) {
    amount = Quantity<Tag>(Whole<int64_t>(value));
  }
  template <class Source>
  void Read(Value value, std::chrono::time_point<Source, Duration>& time) {
    time = std::chrono::time_point<Source, Duration>(Duration(Whole<int64_t>(value)));
  }
  void Read(Value value, Labels& labels) { labels = ReadLabels(fields_, value); }
  void Read(Value value, ScalarResources& amounts) {
    amounts = {};
    fields_.Object(value).ForEachMember(
        [&](std::string_view name, Value amount) { amounts.Set(name, Whole<int64_t>(amount)); });
  }
  template <class T>
  void Read(Value value, std::map<std::string, T>& read) {
    read.clear();
    fields_.Object(value).ForEachMember(
        [&](std::string_view key, Value member) { Read(member, read[std::string(key)]); });
  }
  template <class T>
  void Read(Value value, std::optional<T>& read) {
    Read(value, read.emplace());
  }
  template <class T>
  void Read(Value value, std::shared_ptr<const T>& read) {
    auto made = std::make_shared<T>();
    Read(value, *made);
    read = std::move(made);
  }
  template <class T>
  void Read(Value value, std::vector<T>& read) {
    read.clear();
    fields_.Array(value).ForEachElement([&](Value element) { Read(element, read.emplace_back()); });
  }
  template <class T>
  void Read(Value value, T& read) {
    if constexpr (std::is_enum_v<T>) {
      const auto word = std::find(kWords<T>.begin(), kWords<T>.end(), fields_.Text(value));
      if (word == kWords<T>.end()) return fields_.Report(value, "is not one of the allowed words");
      read = static_cast<T>(word - kWords<T>.begin());
    } else {
      MemberReader members(fields_, fields_.Object(value));
      Members(members, read);
    }
  }

  FieldReader& fields_;
  Value object_;
};

// Writes a value as a JSON object.
template <class T>
std::string WriteMembers(const T& value) {
  Writer out;
  MemberWriter members(out);
  out.BeginObject();
  Members(members, value);
  out.EndObject();
  return out.Take();
}
// Returns kInvalid, with the path to the error. Ignores unknown members.
template <class T>
Result<T> ReadMembers(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  MemberReader members(fields, fields.Object(document->root()));
  T value;
  Members(members, value);
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, fields.findings().front());
  return value;
}

// Returns the variant with that alternative, value-initialized.
template <class Variant, size_t... kAlternative>
Variant MakeAlternative(size_t which, std::index_sequence<kAlternative...>) {
  Variant made;
  ((which == kAlternative ? static_cast<void>(made.template emplace<kAlternative>()) : void()),
   ...);
  return made;
}
template <class Variant>
Variant MakeAlternative(size_t which) {
  return MakeAlternative<Variant>(which, std::make_index_sequence<std::variant_size_v<Variant>>());
}

}  // namespace synergy::wire
