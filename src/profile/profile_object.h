#pragma once

// A TrainingProfile as the API server has it: what somebody measured and wrote down, what is wrong
// with it, and what its status says so far.
//
// Threading: values; immutable once shared.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/resources.h"
#include "profile/job_profile.h"
#include "profile/training_profile.h"

namespace synergy {

// The status subresource, in the words that it is written in.
struct ProfileStatus {
  int64_t observed_generation = 0;
  std::string demand_cpu;     // empty: none
  std::string demand_memory;  // likewise
  std::string speed_up;       // throughput with the demand in units of that with the fair share
  std::string valid;          // of the condition Valid: "True", "False" or empty
  std::string reason;
  std::string message;
  std::string since;  // when `valid` became what it is

  bool operator==(const ProfileStatus&) const = default;
};

struct ProfileObject {
  std::string uid;
  std::string profile_namespace;
  std::string name;
  int64_t generation = 0;
  TrainingProfile training;
  std::optional<double> tolerance;  // instead of the controller's
  // Null where `problems` is not empty.
  std::shared_ptr<const JobProfile> profile;
  std::vector<std::string> problems;  // "spec.points[3].cpu: ..."
  ProfileStatus status;

  std::string Key() const { return profile_namespace + "/" + name; }
};

// A profile and what follows from it.
struct KnownProfile {
  ProfileObject object;
  double tolerance = 0;   // the object's own or the controller's
  ResourceVector demand;  // with the profile's GPU count; nothing where there is no profile
};

}  // namespace synergy
