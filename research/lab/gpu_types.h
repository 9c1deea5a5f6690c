#pragma once

// GPU types as options of synergy-lab name them.
//
// Threading: values. Failures: kInvalid and kNotFound, naming file or option.

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
  std::vector<double> gpus;        // per type; whole numbers
  std::vector<double> costs;       // per GPU and hour, by type; empty: not all are known
};

// Reads --types and --prices.
Result<GpuTypes> ReadGpuTypes(const LabArguments& arguments, const GavelThroughputs& throughputs);

// The types' data for our own rounds.
struct TypeSetup {
  TypedServers servers;
  TypeProfiles profiles;
};

// Returns nullopt if no policy uses types. `server`: each one.
Result<std::optional<TypeSetup>> ReadTypeSetup(const LabArguments& arguments,
                                               const ResourceVector& server);

}  // namespace synergy::cli
