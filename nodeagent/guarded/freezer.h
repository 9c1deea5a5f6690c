#pragma once

// Plans the suspension of a container: which file to write, and with which text. Only the
// container's own group is suspended, never its pod's, so its sidecars and the sandbox keep
// running.
//
//   v2   cgroup.freeze   1        v1   freezer.state   FROZEN
//
// Threading: any thread. Failures: kNotFound if there is no such group.

#include <memory>
#include <string>

#include "core/result.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

struct PlannedSuspension {
  std::string file;
  std::string text;

  bool operator==(const PlannedSuspension&) const = default;
};

class Freezers {
 public:
  virtual ~Freezers() = default;
  virtual Result<PlannedSuspension> Plan(const wire::ResizeStatus& pod,
                                         const wire::ResizeStatus::Container& container) = 0;
  // Returns whether all processes of a planned file's group are suspended.
  virtual Result<bool> IsFrozen(const std::string& file) = 0;
};

// Returns the machine's freezers; kNotFound if no freezer is mounted.
Result<std::unique_ptr<Freezers>> FindFreezers(std::string cgroup_folder,
                                               std::string kubelet_cgroup_root);

}  // namespace synergy::nodeagent
