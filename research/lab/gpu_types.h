#pragma once

// Reads the GPU types that options of synergy-lab name.
//
// Threading: values. Failures: kInvalid and kNotFound, which name the file or option.

#include <optional>
#include <string>
#include <vector>

#include "core/resources.h"
#include "core/result.h"
#include "research/gavel/gavel_input.h"
#include "research/rounds/gavel_rounds.h"
#include "research/rounds/type_profiles.h"

namespace synergy::cli {

struct LabArguments;

struct GpuTypes {
  std::vector<std::string> names;  // fastest first
  std::vector<double> gpus;        // for each type; whole numbers
  std::vector<double> costs;       // per GPU and hour, for each type; empty if some are unknown
};

// Reads --types and --prices.
Result<GpuTypes> ReadGpuTypes(const LabArguments& arguments, const GavelThroughputs& throughputs);

// The data about types for our own rounds.
struct TypeSetup {
  TypedServers servers;
  TypeProfiles profiles;
};

// Returns nullopt if no policy uses types. `server`: the size of each server.
Result<std::optional<TypeSetup>> ReadTypeSetup(const LabArguments& arguments,
                                               const ResourceVector& server);

}  // namespace synergy::cli
