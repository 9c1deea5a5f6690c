#pragma once

// Every job gets its full demand, or waits.

#include "sim/reference/mechanism.h"

namespace synergy::reference {

class Greedy final : public OneByOne {
 public:
  using OneByOne::OneByOne;

 private:
  Result<bool> Place(Job& job) override;
};

}  // namespace synergy::reference
