#pragma once

// v1.ResourceList: exact quantities by resource name, with kube-scheduler's rounding to whole
// numbers (docs/internals/accounting.md). Private to this folder.
//
// Threading: values. Ownership: names point into the document that the list was read from.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/exact_quantity.h"
#include "core/gpu_amount.h"
#include "core/resources.h"
#include "wire/base/json_words.h"

namespace synergy::wire {

// Larger amounts are reduced to these. So neither the sum over the pods of a node nor the free
// amount overflows an int64, whatever a single object claims.
inline constexpr int64_t kLargestRequest = int64_t{1} << 55;      // 32 PiB; 255 of them add up
inline constexpr int64_t kLargestAllocatable = int64_t{1} << 60;  // 1 EiB

class ResourceList {
 public:
  static ResourceList Read(FieldReader& fields, Value object);

  void Set(std::string_view name, ExactQuantity amount) { amounts_[name] = amount; }
  // Both functions work per name. A name that only one side has keeps its amount, even a negative
  // one.
  void Add(const ResourceList& other);
  void Max(const ResourceList& other);

  const std::map<std::string_view, ExactQuantity>& amounts() const { return amounts_; }
  // Converts to kube-scheduler's Resource: drops names that kube-scheduler does not count;
  // `gpu_resource` becomes `main.gpus`. Amounts are limited to +-`largest`.
  Resources ToResources(std::string_view gpu_resource, int64_t largest) const;
  // Returns the amount under `name` in whole units, limited to +-`largest`; 0 if there is none.
  int64_t Units(std::string_view name, int64_t largest) const;

 private:
  // Usually two or three entries, but a user may request tens of thousands of resources.
  std::map<std::string_view, ExactQuantity> amounts_;
};

// Returns the slices of the managed GPU resource, and its turns, which count in the same way.
Slices SlicesOf(const ScalarResources& amounts, std::string_view gpu_resource);

MilliCpu ToMilliCpu(ExactQuantity amount, int64_t largest);
Bytes ToBytes(ExactQuantity amount, int64_t largest);

// Returns whether pod-level requests (spec.resources) may set this resource.
bool IsPodLevelResource(std::string_view name);
// Returns whether kube-scheduler keeps the resource among its scalar resources.
bool IsScalarResource(std::string_view name);

// CPU and memory as in Synergy's annotations: {"cpu":"1500m","memory":"4Gi"}.

// Reads an object with `cpu`, `memory` or both; an absent one is 0. Returns nullopt, and records a
// finding, for anything else.
std::optional<ResourceVector> ReadAmounts(FieldReader& fields, Value object);
// Reads an annotation whose text is such an object. Returns nullopt, without a finding, if there is
// no annotation.
std::optional<ResourceVector> ReadAmountsAnnotation(FieldReader& fields, Value annotation);

std::string WriteAmounts(const ResourceVector& amounts);

}  // namespace synergy::wire
