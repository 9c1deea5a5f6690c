#pragma once

// Calculates the speeds of models on each GPU type by CPU and memory. They follow from profiles
// that were measured on some types and, for the others, from GPU throughputs for each type.
//
// On a GPU that is r times as fast as that of a profile, the best throughput is r times as high. A
// throughput that the GPU limits scales by r; one that CPU and memory limit stays the same,
//
//   W_j(c, m) = r W(c, m) where W(c, m) is the best, else min(W(c, m), r best)
//
// so that a slow GPU needs less CPU than a fast one.
//
// Threading: values. Failures: kInvalid, which names the model.

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

// Returns `profile` for a GPU that is this many times as fast.
JobProfile OnOtherGpu(const JobProfile& profile, double ratio);

// Returns the model of Gavel's table whose throughputs are used for this one, which is one of
// Synergy's ten; empty if there is none.
std::string_view StandInFor(std::string_view model);

class TypeProfiles {
 public:
  // `types`: those of `throughputs`. Profiles without a type were measured on the fastest of them.
  TypeProfiles(std::vector<std::string> types, GavelThroughputs throughputs);

  // Adds a profile that was measured on this type or, if it is empty, on the type of profiles
  // without one. Ignores profiles of other types. REQUIRES: all profiles of a model are in the same
  // unit.
  void Add(const std::string& model, std::string_view type, JobProfile profile);

  // Returns the model's profile for one GPU of its fastest measured type; null if there is none.
  const JobProfile* Measured(const std::string& model) const;

  // Returns a profile for each type, for a job with `gpus` GPUs; nullopt for types on which the
  // model does not run. `measured`: the result of Measured() or, if that is null, a profile without
  // a type; it is for one GPU.
  Result<std::vector<std::optional<JobProfile>>> Of(const std::string& model, Gpus gpus,
                                                    const JobProfile& measured) const;

 private:
  // Returns a throughput for each type, and that of `reference_` last.
  Result<std::vector<double>> Rates(const std::string& model, Gpus gpus) const;

  std::vector<std::string> types_;  // fastest first
  GavelThroughputs throughputs_;
  std::string reference_;
  // model and type -> profile for one GPU
  std::map<std::pair<std::string, std::string>, JobProfile> added_;
};

}  // namespace synergy
