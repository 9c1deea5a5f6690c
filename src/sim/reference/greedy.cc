#include "sim/reference/greedy.h"

namespace synergy::reference {

Result<bool> Greedy::Place(Job& job) { return TryPlace(job, job.demand, /*at_demand=*/true); }

}  // namespace synergy::reference
