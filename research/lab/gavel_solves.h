#pragma once

// Records the problems that a simulated run gives to one of Gavel's policies, and the answers. The
// JSON, {"policy": NAME, "calls": [...]}, can be read by `synergy-lab gavel solve`. Each call has
// the fields of a problem, and "time", "objective" and "allocation".
//
// Threading: one owner.

#include <string>
#include <string_view>

#include "json/writer.h"
#include "research/gavel/gavel_simulator.h"

namespace synergy::cli {

class GavelSolves {
 public:
  explicit GavelSolves(std::string_view policy);

  void Add(const GavelSolve& solve);
  // REQUIRES: this is called once, after all calls have been added.
  std::string Take();

 private:
  json::Writer out_;
};

}  // namespace synergy::cli
