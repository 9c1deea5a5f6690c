#pragma once

// Where decisions find the profiles of pods: the watch's copy in the controller, the models' in the
// simulator.
//
// Threading: that of the caller.

#include <cstdint>
#include <memory>
#include <string>

#include "core/units.h"
#include "profile/job_profile.h"

namespace synergy {

// The profile of a pod of that many GPUs, and which generation of it; null: there is none, or it
// makes no sense.
struct TunedProfile {
  std::shared_ptr<const JobProfile> profile;
  int64_t generation = 0;
  bool measured = false;  // by Synergy, which writes it on the pods again when it changes
};

class ProfileBook {
 public:
  virtual ~ProfileBook() = default;
  virtual TunedProfile Find(const std::string& pod_namespace, const std::string& name,
                            Gpus gpus) const = 0;
  // Differs after any profile has changed.
  virtual uint64_t version() const = 0;
};

}  // namespace synergy
