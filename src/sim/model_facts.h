#pragma once

// Measurements of each model on one kind of server: its demand, its speed with the demand, and its
// throughput by CPU and memory. The demand is the least CPU and memory with which the model is
// fastest.
//
// All amounts are per GPU. Speed and throughput are relative to those at the GPU's fair share of
// the server.
//
// Threading: values.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "core/units.h"
#include "profile/job_profile.h"
#include "profile/profile_object.h"

namespace synergy {

struct ModelFact {
  MilliCpu cpu;              // demand
  Bytes memory;              // demand
  Seconds iteration_time{};  // at the fair share, on the GPUs of the measurement
  double speedup = 1;        // with the demand
  // The throughput matrix, by CPU, then memory.
  std::vector<MilliCpu> cpus;
  std::vector<Bytes> memories;
  std::vector<double> throughput;
};

// Returns the matrix as the profile of a job with one GPU; fails with kInvalid as
// JobProfile::Create does.
Result<JobProfile> ProfileOf(const ModelFact& fact);

// Returns the fact for GPUs that are `speed` times as fast. The GPU's part of the work scales,
// while CPU and storage do as much per second as before. So the same fraction of the best speed
// takes `speed` times the CPU, and a throughput that memory limits does not change. With the same
// CPU and memory, no job is slower on faster GPUs. REQUIRES: `speed` > 0.
ModelFact OnGpusOfSpeed(ModelFact fact, double speed);

// Measurements of models, and TrainingProfiles that stand for models of their names.
class ModelFacts {
 public:
  void Set(std::string model, Gpus gpus, ModelFact fact) {
    facts_.insert_or_assign({std::move(model), gpus}, std::move(fact));
  }

  // Returns the facts for a job of this model with this many GPUs; nullptr if there are none.
  const ModelFact* Find(std::string_view model, Gpus gpus) const {
    const auto found = facts_.find({std::string(model), gpus});
    return found == facts_.end() ? nullptr : &found->second;
  }

  const std::map<std::pair<std::string, Gpus>, ModelFact>& all() const { return facts_; }

  void SetObject(ProfileObject object) {
    std::string name = object.name;
    objects_.insert_or_assign(std::move(name), std::move(object));
  }
  // Returns the TrainingProfile of this name; nullptr if there is none.
  const ProfileObject* FindObject(const std::string& model) const {
    const auto found = objects_.find(model);
    return found == objects_.end() ? nullptr : &found->second;
  }
  const std::map<std::string, ProfileObject>& objects() const { return objects_; }

  bool Knows(const std::string& model) const {
    return FindObject(model) != nullptr || Find(model, Gpus(1)) != nullptr;
  }
  // Returns the names of all models that Knows() knows, in order.
  std::vector<std::string> Models() const;
  // Returns the time of an iteration with one GPU at the fair share; for a TrainingProfile, which
  // has none, a second. REQUIRES: Knows(model).
  Seconds IterationTimeOf(const std::string& model) const;

 private:
  std::map<std::pair<std::string, Gpus>, ModelFact> facts_;
  std::map<std::string, ProfileObject> objects_;  // by name
};

// Does the same as for one fact, for all facts and TrainingProfiles.
ModelFacts OnGpusOfSpeed(const ModelFacts& facts, double speed);

}  // namespace synergy
