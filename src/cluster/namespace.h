#pragma once

// A namespace's name and labels. Values.

#include <string>

#include "cluster/labels.h"

namespace synergy {

struct Namespace {
  std::string name;
  Labels labels;

  const std::string& Key() const { return name; }
};

}  // namespace synergy
