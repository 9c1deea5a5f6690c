#pragma once

// How fast models are on each GPU type with how much CPU and memory: from profiles that were
// measured on some types, and from GPU throughputs per type for the others.
//
// A GPU that is r times as fast as the one of a profile makes the profile's best r times as high:
// what the GPU bounds goes r times as fast, what CPU and memory bound stays as it is,
//
//   W_j(c, m) = r W(c, m) where W(c, m) is the best, else min(W(c, m), r best)
//
// so that a slow GPU wants less CPU than a fast one.
//
// Threading: values. Failures: kInvalid, naming the model.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/units.h"
#include "profile/job_profile.h"
#include "research/gavel/gavel_input.h"

namespace synergy {

// `profile` on a GPU that is so many times as fast.
JobProfile OnOtherGpu(const JobProfile& profile, double ratio);

// The model of Gavel's table whose throughputs stand for those of this one, of Synergy's ten.
// Empty: none does.
std::string_view StandInFor(std::string_view model);

class TypeProfiles {
 public:
  // `types`: of `throughputs`, whose fastest type is the one that profiles without a type are of.
  TypeProfiles(std::vector<std::string> types, GavelThroughputs throughputs);

  // What was measured on this type; empty: on the one that profiles without a type are of. Those of
  // types that there are not do not count. All of a model are in one unit.
  void Add(const std::string& model, std::string_view type, JobProfile profile);

  // Of what was added of the model for one GPU, that of the fastest type; null: nothing was.
  const JobProfile* Measured(const std::string& model) const;

  // Per type, of a job with `gpus` GPUs; none where the model does not run. `measured`: what
  // Measured() has, or if that has nothing, a profile without a type; for one GPU.
  Result<std::vector<std::optional<JobProfile>>> Of(const std::string& model, Gpus gpus,
                                                    const JobProfile& measured) const;

 private:
  // Throughputs per type, `reference_` last.
  Result<std::vector<double>> Rates(const std::string& model, Gpus gpus) const;

  std::vector<std::string> types_;  // fastest first
  GavelThroughputs throughputs_;
  std::string reference_;
  std::map<std::pair<std::string, std::string>, JobProfile> added_;  // by model and type, one GPU
};

}  // namespace synergy
