#pragma once

// What the scheduling algorithms divide: GPUs, CPU and memory (ResourceVector), and what they only
// have to respect: every other resource name that a node may offer and a pod may ask for
// (ScalarResources).
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

  // Calls `visit` with a pointer to each member that is divided among the GPUs. What goes dimension
  // by dimension goes through here, so that a further one is a member and a line (docs/adr/0005).
  template <class Visit>
  static constexpr void ForEachDivided(Visit visit) {
    visit(&ResourceVector::cpu);
    visit(&ResourceVector::memory);
  }
  static constexpr size_t kDivided = 2;
  // The same for every member.
  template <class Visit>
  static constexpr void ForEach(Visit visit) {
    visit(&ResourceVector::gpus);
    ForEachDivided(visit);
  }

  // So many GPUs, and amount(member) of each of what is divided: a bare number or a quantity.
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

  // Whether `free` holds this. A dimension that asks for nothing fits even where `free` is
  // negative, as in kube-scheduler's NodeResourcesFit.
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

// Per dimension the lesser and the larger of both, with the GPUs of the first.
inline ResourceVector LesserOf(const ResourceVector& a, const ResourceVector& b) {
  return ResourceVector::Make(a.gpus, [&](auto member) { return std::min(a.*member, b.*member); });
}
inline ResourceVector LargerOf(const ResourceVector& a, const ResourceVector& b) {
  return ResourceVector::Make(a.gpus, [&](auto member) { return std::max(a.*member, b.*member); });
}

// The part of `amount`, which is there for `whole` GPUs, that `part` GPUs are due: amount x part /
// whole, rounded down, with `part` GPUs. Exact for any amounts; what an int64 does not hold, where
// `part` is more than `whole`, is cut to its bounds. Nothing beside the GPUs where `whole` is none.
ResourceVector PartOf(const ResourceVector& amount, Gpus part, Gpus whole);

// Amounts by resource name, sorted by name: ephemeral storage, huge pages and extended resources
// other than the managed GPU resource. Few entries, so a sorted vector.
class ScalarResources {
 public:
  using Entry = std::pair<std::string, int64_t>;

  // The amount under `name`, 0 where there is none.
  int64_t Get(std::string_view name) const;
  void Set(std::string_view name, int64_t amount);
  void Add(const ScalarResources& other);
  // Entries that come to 0 are dropped, so that adding and subtracting the same leaves no trace.
  void Subtract(const ScalarResources& other);
  // Per name the larger of both.
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
