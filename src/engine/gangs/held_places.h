#pragma once

// Selects places that are held for waiting pods and yield to a pod of higher priority. The places
// of a gang yield all at once, and those of single pods one by one.
//
// Threading: values.

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cluster/pod.h"

namespace synergy {

struct HeldPlaces {
  std::string name;  // of the gang, or of the single pod
  bool of_gang = false;
  int32_t priority = std::numeric_limits<int32_t>::min();  // the highest of its pods
  std::vector<std::string> uids;                           // of the pods that the places are for
};

// Groups held places by gang; the place of a single pod is a group of its own.
class HeldPlacesByJob {
 public:
  // Adds the place of a member of `gang`, or of a single pod if `gang` is empty.
  void Add(const Pod& pod, const std::string& gang);
  // Returns the groups that yield to a pod of this priority, lowest priority first.
  std::vector<HeldPlaces> Below(int32_t priority) const;

 private:
  std::map<std::pair<bool, std::string>, HeldPlaces> jobs_;  // by whether it is a gang, and name
};

// Returns a minimal part of `held` for which `fits` returns true, preferring places that come
// first. Returns none if all of `held` are not enough. `fits`: returns whether the waiting pod or
// gang fits once these places have yielded.
std::vector<HeldPlaces> FewestThatYield(
    const std::vector<HeldPlaces>& held,
    const std::function<bool(const std::vector<HeldPlaces>&)>& fits);

}  // namespace synergy
