#include "profile/measured/memory_raise.h"

namespace synergy {

Bytes WithMargin(Bytes process_memory) {
  return process_memory + Bytes(process_memory.count() / 10);
}

Bytes WithoutMargin(Bytes amount) {
  return Bytes(amount.count() - amount.count() / 11 - (amount.count() % 11 == 0 ? 0 : 1));
}

}  // namespace synergy
