#pragma once

// What a simulated run asked one of Gavel's policies, and what it answered, as JSON that `synergy
// gavel solve` reads again: {"policy": NAME, "calls": [...]}, each call with the fields of a
// problem, its "time", "objective" and "allocation".
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
  // Once, after all have been added.
  std::string Take();

 private:
  json::Writer out_;
};

}  // namespace synergy::cli
