#pragma once

// The process memory and the data set of a simulated training. A trace's profiles only state how
// fast the training is with how much memory. The values are chosen so that a cache that keeps a
// fixed part of the data (profile/cache_model.h), with storage of 500 MB/s, gives the profile's
// speeds where memory is the limit: at two of the profile's amounts, the least with the best speed
// and one below.
//
// Threading: pure.

#include "core/units.h"
#include "profile/job_profile.h"

namespace synergy {

struct SimulatedData {
  Bytes process;             // with admission's margin it is the profile's least memory
  Bytes size;                // of the data set; 0: the training needs no cache
  double per_iteration = 0;  // bytes read
  // Iterations per second that storage allows while all data come from it, as in a first epoch.
  double uncached = 0;

  // Returns the number of iterations that read the data set once.
  double Epoch() const { return static_cast<double>(size.count()) / per_iteration; }
};
SimulatedData DataOf(const JobProfile& truth);

}  // namespace synergy
