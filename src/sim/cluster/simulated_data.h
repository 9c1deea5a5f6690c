#pragma once

// The processes and the data set of a simulated training, of which a trace's profiles tell nothing
// but how fast the training is with how much memory. Made so that a cache that keeps a fixed part
// of the data (profile/cache_model.h), and storage of 500 MB/s, allow just that where memory is
// what limits it: through two of the profile's amounts, the least with its best speed and one
// below.
//
// Threading: pure.

#include "core/units.h"
#include "profile/job_profile.h"

namespace synergy {

struct SimulatedData {
  Bytes process;             // admission's margin on top of it is the profile's least memory
  Bytes size;                // of the data set; 0: it needs no cache
  double per_iteration = 0;  // bytes that are read
  // Iterations a second that storage allows while all of it comes from there, as in a first epoch.
  double uncached = 0;

  // Iterations in which the data set is read once.
  double Epoch() const { return static_cast<double>(size.count()) / per_iteration; }
};
SimulatedData DataOf(const JobProfile& truth);

}  // namespace synergy
