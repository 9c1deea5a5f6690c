#pragma once

// Every job gets its GPUs' fair share of the servers ("GPU-proportional").

#include "sim/reference/mechanism.h"

namespace synergy::reference {

class Fair final : public OneByOne {
 public:
  using OneByOne::OneByOne;

 private:
  Result<bool> Place(Job& job) override;
};

}  // namespace synergy::reference
