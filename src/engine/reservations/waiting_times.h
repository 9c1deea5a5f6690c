#pragma once

// Records how long jobs have waited in pods that are gone, because a job that is suspended and
// resumed gets new pods. Waiting times belong to the pods' owner, such as a Job, identified by its
// UID. The time ends once a pod of the owner runs. Times without pods do not count.
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
    Duration waited{};  // the wait so far, if it does not run
  };

  // Records the present pods. `pods`: all GPU pods with owners.
  void Observe(std::span<const OwnedPod> pods, Instant now);
  // Returns how long earlier pods of this owner have waited.
  Duration WaitedBefore(const std::string& owner) const;

 private:
  struct Waited {
    std::set<std::string> uids;  // of its present pods
    Duration now{};              // the shortest wait of the present pods
    Duration before{};           // the wait of earlier pods
    Instant seen{};              // when it last had pods
  };

  std::map<std::string, Waited> owners_;
};

}  // namespace synergy
