#pragma once

// What the scheduling algorithms divide: GPUs, CPU and memory (ResourceVector), and what they only
// have to respect: every other resource name that a node may offer and a pod may ask for
// (ScalarResources).
//
// Threading: values.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/units.h"

namespace synergy {

struct ResourceVector {
  Gpus gpus;
  MilliCpu cpu;
  Bytes memory;

  bool operator==(const ResourceVector&) const = default;

  ResourceVector& operator+=(const ResourceVector& other) {
    gpus += other.gpus;
    cpu += other.cpu;
    memory += other.memory;
    return *this;
  }
  ResourceVector& operator-=(const ResourceVector& other) {
    gpus -= other.gpus;
    cpu -= other.cpu;
    memory -= other.memory;
    return *this;
  }
  friend ResourceVector operator+(ResourceVector a, const ResourceVector& b) { return a += b; }
  friend ResourceVector operator-(ResourceVector a, const ResourceVector& b) { return a -= b; }

  // Whether `free` holds this. A dimension that asks for nothing fits even where `free` is
  // negative, as in kube-scheduler's NodeResourcesFit.
  bool FitsWithin(const ResourceVector& free) const {
    return (gpus <= free.gpus || gpus <= Gpus(0)) && (cpu <= free.cpu || cpu <= MilliCpu(0)) &&
           (memory <= free.memory || memory <= Bytes(0));
  }
};

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
