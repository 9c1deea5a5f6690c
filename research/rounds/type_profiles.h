#pragma once

// The speeds of models on each GPU type by CPU and memory: from profiles that were measured on some
// types, and from GPU throughputs per type for the others.
//
// A GPU that is r times as fast as the one of a profile makes the profile's best r times as high:
// what the GPU limits becomes r times as fast, what CPU and memory limit stays as it is,
//
//   W_j(c, m) = r W(c, m) where W(c, m) is the best, else min(W(c, m), r best)
//
// so that a slow GPU needs less CPU than a fast one.
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

// Returns `profile` on a GPU that is this many times as fast.
JobProfile OnOtherGpu(const JobProfile& profile, double ratio);

// Returns the model of Gavel's table whose throughputs stand for those of this one, of Synergy's
// ten; empty if there is none.
std::string_view StandInFor(std::string_view model);

class TypeProfiles {
 public:
  // `types`: from `throughputs`; profiles without a type were measured on the fastest of them.
  TypeProfiles(std::vector<std::string> types, GavelThroughputs throughputs);

  // Adds a profile measured on this type; with an empty type, on the type of profiles without one.
  // Profiles of other types are ignored. REQUIRES: all profiles of a model are in one unit.
  void Add(const std::string& model, std::string_view type, JobProfile profile);

  // Returns the model's profile for one GPU on its fastest measured type; null if there is none.
  const JobProfile* Measured(const std::string& model) const;

  // Returns profiles per type for a job with `gpus` GPUs; nullopt if the model does not run there.
  // `measured`: the result of Measured(), or if that is null, a profile without a type; for one
  // GPU.
  Result<std::vector<std::optional<JobProfile>>> Of(const std::string& model, Gpus gpus,
                                                    const JobProfile& measured) const;

 private:
  // Returns throughputs per type, `reference_` last.
  Result<std::vector<double>> Rates(const std::string& model, Gpus gpus) const;

  std::vector<std::string> types_;  // fastest first
  GavelThroughputs throughputs_;
  std::string reference_;
  std::map<std::pair<std::string, std::string>, JobProfile> added_;  // by model and type, one GPU
};

}  // namespace synergy
