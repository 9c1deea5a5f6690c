#include "sim/simulation_run.h"

#include <fmt/format.h>

namespace synergy {

std::string ServerName(size_t server) { return fmt::format("node-{:04}", server + 1); }

}  // namespace synergy
