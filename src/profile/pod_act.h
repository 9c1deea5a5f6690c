#pragma once

// An act of Synergy on a pod, from which a failure may follow (failure/own_doing.h). A name instead
// of the tables of failure/, which this half does not need.
//
// Threading: values.

#include <string>

#include "core/clock.h"

namespace synergy {

struct PodAct {
  std::string act;  // of failure/own_doing.h: "freeze"
  WallTime at{};    // the last time

  bool operator==(const PodAct&) const = default;
};

}  // namespace synergy
