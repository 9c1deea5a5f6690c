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
  std::vector<double> costs;       // of a GPU per type and hour; empty: not all are known
};

// --types and --prices.
Result<GpuTypes> ReadGpuTypes(const LabArguments& arguments, const GavelThroughputs& throughputs);

// What our own rounds need of types.
struct TypeSetup {
  TypedServers servers;
  TypeProfiles profiles;
};

// None where no policy is of types. `server`: each one.
Result<std::optional<TypeSetup>> ReadTypeSetup(const LabArguments& arguments,
                                               const ResourceVector& server);

}  // namespace synergy::cli
