#include "sim/reference/fair.h"

namespace synergy::reference {

Result<bool> Fair::Place(Job& job) {
  return TryPlace(job, round().cluster.fair() * job.gpus, /*at_demand=*/false);
}

}  // namespace synergy::reference
