#pragma once

// A TrainingProfile as the API server has it: what somebody measured and wrote down, or what
// Synergy has measured of a workload (profile/measured/measured_profile.h), what is wrong with it,
// and what its status says so far.
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
  // Of the condition Contradicted: what was seen; empty: there is none.
  std::string contradiction = {};
  std::string contradicted_since = {};

  bool operator==(const ProfileStatus&) const = default;
};

struct ProfileObject {
  std::string uid;
  std::string profile_namespace;
  std::string name;
  int64_t generation = 0;
  TrainingProfile training;
  std::optional<double> tolerance;  // instead of the controller's
  std::string workload;             // spec.workload: whose speed it is; empty: not said
  int32_t gang_size = 1;            // spec.gangSize: of the gangs whose speed it is
  bool checkpoints = false;  // spec.checkpoints: a training goes on where it was when it is stopped
  bool kept_by_us = false;   // the controller has made it, for what it measures
  // status.measured, where the spec has no points: `profile` and the points of `training` are made
  // of it. None: nothing was measured yet.
  std::optional<MeasuredProfile> measured;
  // Null where `problems` is not empty, and where nothing was measured yet.
  std::shared_ptr<const JobProfile> profile;
  std::vector<std::string> problems;  // "spec.points[3].cpu: ..."
  ProfileStatus status;

  std::string Key() const { return profile_namespace + "/" + name; }
  bool IsMeasured() const { return measured.has_value(); }
  // Which state of the points it is: the spec's generation, or the measurement's revision.
  int64_t PointsGeneration() const { return measured ? measured->revision : generation; }
};

// A profile and what follows from it.
struct KnownProfile {
  ProfileObject object;
  double tolerance = 0;   // the object's own or the controller's
  ResourceVector demand;  // with the profile's GPU count; nothing where there is no profile
};

// Looks up the cluster's TrainingProfiles.
class ProfileIndex {
 public:
  virtual ~ProfileIndex() = default;

  // Returns null if there is no profile of that name.
  virtual std::shared_ptr<const KnownProfile> Find(const std::string& profile_namespace,
                                                   const std::string& name) const = 0;
  virtual std::vector<std::shared_ptr<const KnownProfile>> All() const = 0;
  // Grows with every change.
  virtual uint64_t version() const = 0;
};

}  // namespace synergy
