#pragma once

// Remembers how long jobs have waited in pods that are gone. A job that is suspended and resumed
// gets new pods, but has not waited less for that. The waiting time belongs to the pods' owner,
// such as a Job, by its UID, not by its name. It ends once a pod of the owner runs. The time
// without pods does not count.
//
// Threading: one owner. Memory: the waiting pods' UIDs, and kMostGone owners without pods.

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>

#include "core/clock.h"

namespace synergy {

class WaitingTimes {
 public:
  static constexpr size_t kMostGone = 4096;

  // A GPU pod with an owner.
  struct OwnedPod {
    std::string owner;  // its namespace and UID
    std::string uid;
    bool runs = false;
    Duration waited{};  // if it does not run
  };

  // Records the present pods: all of them.
  void Observe(std::span<const OwnedPod> pods, Instant now);
  // Returns how long earlier pods of this owner have waited.
  Duration WaitedBefore(const std::string& owner) const;

 private:
  struct Waited {
    std::set<std::string> uids;  // of its present pods
    Duration now{};              // the shortest wait of these
    Duration before{};           // of those before them
    Instant seen{};              // with pods
  };

  std::map<std::string, Waited> owners_;
};

}  // namespace synergy
