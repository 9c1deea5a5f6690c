#include "kube/instance.h"

#include <array>

#include <unistd.h>

namespace synergy::kube {

std::string InstanceName() {
  std::array<char, 256> name{};
  // Room for the terminator, which a name that was cut lacks.
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

}  // namespace synergy::kube
