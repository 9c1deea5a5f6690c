#pragma once

// An action of Synergy on a pod that may have caused a later failure (failure/own_doing.h). It is
// identified by name, so that users of this header do not need the tables of failure/.
//
// Threading: values.

#include <string>

#include "core/clock.h"

namespace synergy {

struct PodAct {
  std::string act;  // of failure/own_doing.h: "freeze"
  WallTime at{};    // when it last happened

  bool operator==(const PodAct&) const = default;
};

}  // namespace synergy
