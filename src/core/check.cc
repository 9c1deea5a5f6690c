#include "core/check.h"

#include <cstdio>
#include <cstdlib>

namespace synergy {

void CheckFailed(const char* condition, const char* what, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: invariant broken: %s (%s)\n", file, line, what, condition);
  std::abort();
}

}  // namespace synergy
