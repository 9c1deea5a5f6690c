#pragma once

// A TrainingProfile on the API server: measurements that a user wrote down, or that Synergy made of
// a workload (profile/measured/measured_profile.h); its problems; and its status.
//
// Threading: values; immutable once shared.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/resources.h"
#include "profile/job_profile.h"
#include "profile/measured/measured_profile.h"
#include "profile/measured/pack_record.h"
#include "profile/training_profile.h"

namespace synergy {

// The status subresource, as the texts of its fields.
struct ProfileStatus {
  int64_t observed_generation = 0;
  std::string demand_cpu;     // empty: none
  std::string demand_memory;  // empty: none
  std::string speed_up;       // throughput with the demand, relative to that with the fair share
  std::string valid;          // of the condition Valid: "True", "False" or empty
  std::string reason;
  std::string message;
  std::string since;  // when `valid` last changed
  // The message of the condition Contradicted, which describes the observation; empty: no such
  // condition.
  std::string contradiction = {};
  std::string contradicted_since = {};

  bool operator==(const ProfileStatus&) const = default;
};

struct ProfileObject {
  std::string uid;
  std::string profile_namespace;
  std::string name;
  std::string resource_version;
  int64_t generation = 0;
  TrainingProfile training;
  std::optional<double> tolerance;  // replaces the controller's
  std::string workload;      // spec.workload: the workload that was measured; empty: not given
  int32_t gang_size = 1;     // spec.gangSize: the size of the gangs that were measured
  bool checkpoints = false;  // spec.checkpoints: a stopped training resumes where it stopped
  bool kept_by_us = false;   // created by the controller for its own measurements
  // status.measured, which is the source of `profile` and of the points of `training` if the spec
  // has no points; nullopt: nothing measured yet.
  std::optional<MeasuredProfile> measured;
  std::vector<PackRecord> packing;  // status.packing, without unreadable entries
  // Null if there are `problems`, or if nothing was measured yet.
  std::shared_ptr<const JobProfile> profile;
  std::vector<std::string> problems;  // "spec.points[3].cpu: ..."
  ProfileStatus status;

  std::string Key() const { return profile_namespace + "/" + name; }
  bool IsMeasured() const { return measured.has_value(); }
  // Returns a number that grows with each change of the points or of the process memory: the spec's
  // generation, or the measurement's revision and its raises.
  int64_t PointsGeneration() const {
    if (!measured) return generation;
    return measured->revision + (measured->raise ? measured->raise->times : 0);
  }
};

// A profile, and the demand that follows from it.
struct KnownProfile {
  ProfileObject object;
  double tolerance = 0;   // the object's own, or else the controller's
  ResourceVector demand;  // with the profile's GPU count; empty without a profile
};

// Looks up the cluster's TrainingProfiles.
class ProfileIndex {
 public:
  virtual ~ProfileIndex() = default;

  // Returns null if there is no profile with that name.
  virtual std::shared_ptr<const KnownProfile> Find(const std::string& profile_namespace,
                                                   const std::string& name) const = 0;
  virtual std::vector<std::shared_ptr<const KnownProfile>> All() const = 0;
  // Grows with every change.
  virtual uint64_t version() const = 0;
};

}  // namespace synergy
