#pragma once

// The resources of nodes and pods. Scheduling algorithms divide GPUs, CPU and memory
// (ResourceVector). They only check whether a pod's requests for all other resources
// (ScalarResources) fit a node.
//
// Threading: values.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/units.h"

namespace synergy {

struct ResourceVector {
  Gpus gpus;
  MilliCpu cpu;
  Bytes memory;

  // Calls `visit` with a pointer to each member that is divided among the GPUs. All code that works
  // dimension by dimension uses this, so that a new dimension takes one member and one line
  // (docs/adr/0005).
  template <class Visit>
  static constexpr void ForEachDivided(Visit visit) {
    visit(&ResourceVector::cpu);
    visit(&ResourceVector::memory);
  }
  static constexpr size_t kDivided = 2;
  // Does the same for every member.
  template <class Visit>
  static constexpr void ForEach(Visit visit) {
    visit(&ResourceVector::gpus);
    ForEachDivided(visit);
  }

  // Returns a vector with `gpus` GPUs, and amount(member) for each divided member. `amount` returns
  // a bare number or a quantity.
  template <class Amount>
  static constexpr ResourceVector Make(Gpus gpus, Amount amount) {
    ResourceVector made{.gpus = gpus};
    ForEachDivided([&](auto member) {
      made.*member = std::remove_cvref_t<decltype(made.*member)>(amount(member));
    });
    return made;
  }

  bool operator==(const ResourceVector&) const = default;

  ResourceVector& operator+=(const ResourceVector& other) {
    ForEach([&](auto member) { this->*member += other.*member; });
    return *this;
  }
  ResourceVector& operator-=(const ResourceVector& other) {
    ForEach([&](auto member) { this->*member -= other.*member; });
    return *this;
  }
  friend ResourceVector operator+(ResourceVector a, const ResourceVector& b) { return a += b; }
  friend ResourceVector operator-(ResourceVector a, const ResourceVector& b) { return a -= b; }

  // Returns whether this request fits into `free`. A dimension without a request fits even if
  // `free` is negative, as in kube-scheduler's NodeResourcesFit.
  bool FitsWithin(const ResourceVector& free) const {
    bool fits = true;
    ForEach([&](auto member) {
      fits = fits && (this->*member <= free.*member || (this->*member).count() <= 0);
    });
    return fits;
  }
};

static_assert(sizeof(ResourceVector) == sizeof(int64_t) * (1 + ResourceVector::kDivided),
              "every member is visited");

// Return the lesser or the larger amount of each divided dimension, with the GPUs of `a`.
inline ResourceVector LesserOf(const ResourceVector& a, const ResourceVector& b) {
  return ResourceVector::Make(a.gpus, [&](auto member) { return std::min(a.*member, b.*member); });
}
inline ResourceVector LargerOf(const ResourceVector& a, const ResourceVector& b) {
  return ResourceVector::Make(a.gpus, [&](auto member) { return std::max(a.*member, b.*member); });
}

// Scales `amount` from `whole` GPUs to `part` GPUs: amount x part / whole, rounded down. Products
// may exceed an int64; the result is clamped to its range. If `whole` is 0, sets only the GPUs.
ResourceVector PartOf(const ResourceVector& amount, Gpus part, Gpus whole);

// Amounts by resource name, sorted by name: ephemeral storage, huge pages and extended resources
// other than the managed GPU resource. A sorted vector suffices for so few entries.
class ScalarResources {
 public:
  using Entry = std::pair<std::string, int64_t>;

  // Returns the amount under `name`; 0 if there is none.
  int64_t Get(std::string_view name) const;
  void Set(std::string_view name, int64_t amount);
  void Add(const ScalarResources& other);
  // Drops entries that become 0, so that subtracting an added amount restores the former value.
  void Subtract(const ScalarResources& other);
  // Keeps the larger of the two amounts for each name.
  void Max(const ScalarResources& other);

  bool empty() const { return entries_.empty(); }
  const std::vector<Entry>& entries() const { return entries_; }
  bool operator==(const ScalarResources&) const = default;

 private:
  int64_t& Slot(std::string_view name);

  std::vector<Entry> entries_;
};

struct Resources {
  ResourceVector main;
  ScalarResources other;

  bool operator==(const Resources&) const = default;
};

}  // namespace synergy
