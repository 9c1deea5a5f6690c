#include "wire/objects/product_affinity.h"

#include <string>

#include <fmt/format.h>

#include "json/text.h"
#include "json/writer.h"

namespace synergy::wire {
namespace {

using json::AppendValue;
using json::JsonPatch;
using json::Value;

// The maximum number of terms by the pod's author; each of them becomes two.
constexpr size_t kMostTerms = 32;

bool NamesProduct(Value term) {
  bool names = false;
  term["matchExpressions"].ForEachElement(
      [&](Value expression) { names |= expression["key"].text() == kProductLabel; });
  return names;
}

size_t Count(Value array) {
  size_t count = 0;
  array.ForEachElement([&](Value) { ++count; });
  return count;
}

// Builds the new list of terms.
class Terms {
 public:
  void Add(Value term) { AppendValue(Begin(), term); }

  // Adds the term with one more expression.
  void Add(Value term, std::string_view expression) {
    std::string& out = Begin();
    out += R"({"matchExpressions":[)";
    term["matchExpressions"].ForEachElement([&](Value present) {
      AppendValue(out, present);
      out += ',';
    });
    out += expression;
    out += ']';
    if (Count(term["matchFields"]) > 0) {
      out += R"(,"matchFields":)";
      AppendValue(out, term["matchFields"]);
    }
    out += '}';
  }

  std::string Write() const { return "[" + text_ + "]"; }

 private:
  std::string& Begin() {
    if (!text_.empty()) text_ += ',';
    return text_;
  }

  std::string text_;
};

}  // namespace

void SetProductAffinity(JsonPatch& patch, Value spec, std::string_view product) {
  if (!spec["nodeSelector"][kProductLabel].absent()) return;
  const Value present = spec["affinity"]["nodeAffinity"]
                            ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  const size_t count = Count(present);
  if (count > kMostTerms) return;
  std::string quoted;
  json::AppendJsonString(quoted, product);
  const std::string is_it =
      fmt::format(R"({{"key":"{}","operator":"In","values":[{}]}})", kProductLabel, quoted);
  const std::string is_absent =
      fmt::format(R"({{"key":"{}","operator":"DoesNotExist"}})", kProductLabel);
  Terms terms;
  bool changed = count == 0;
  if (count == 0) {
    terms.Add(Value(), is_it);
    terms.Add(Value(), is_absent);
  }
  present.ForEachElement([&](Value term) {
    // A term without conditions matches no node.
    const bool empty = Count(term["matchExpressions"]) + Count(term["matchFields"]) == 0;
    if (empty || NamesProduct(term)) {
      terms.Add(term);
      return;
    }
    terms.Add(term, is_it);
    terms.Add(term, is_absent);
    changed = true;
  });
  if (!changed) return;
  patch.Set({"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
             "nodeSelectorTerms"},
            terms.Write());
}

}  // namespace synergy::wire
