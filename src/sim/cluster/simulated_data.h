#pragma once

// Derives the process memory and the data set of a simulated training, and models the storage that
// simulated pods share. A trace's profiles only state how fast the training is with each amount of
// memory. The values assume a cache that keeps a fixed part of the data (profile/cache_model.h),
// and storage of 500 MB/s. With them, the model gives the profile's speeds where memory is the
// limit. This holds exactly for two of the profile's amounts: the least with the best speed, and a
// smaller one.
//
// Threading: pure; a SimulatedStorage has one owner.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "allocation/storage/storage_catalog.h"
#include "cluster/pod.h"
#include "core/units.h"
#include "engine/profile_catalog.h"
#include "profile/data_reads.h"
#include "profile/job_profile.h"

namespace synergy {

// The process memory and the data set of a training. With admission's margin, the process memory is
// the profile's least memory. A training that needs no cache has no data set.
struct SimulatedData : DataReads {
  // Iterations per second that storage allows while all data come from it, as in a first epoch.
  double uncached = 0;

  // Returns the number of iterations that read the data set once.
  double Epoch() const { return static_cast<double>(data_set.count()) / per_iteration; }
};
SimulatedData DataOf(const JobProfile& truth);

// Gives every node a storage of this bandwidth, which its pods share.
struct StorageOptions {
  Bytes bandwidth;     // per second
  bool known = false;  // the product knows it, and how much pods read
};

// The simulated storage as far as the product knows it.
class SimulatedStorage final : public StorageCatalog {
 public:
  // `profiles`: those that the product knows; they must outlive this object.
  SimulatedStorage(Bytes bandwidth, const ProfileCatalog& profiles)
      : bandwidth_(static_cast<double>(bandwidth.count())), profiles_(profiles) {}

  double BandwidthOf(const std::string& /*node*/) const override { return bandwidth_; }
  double MostBandwidth() const override { return bandwidth_; }
  std::optional<PodReads> ReadsOf(const Pod& pod) const override;

 private:
  const double bandwidth_;
  const ProfileCatalog& profiles_;
  mutable std::map<std::shared_ptr<const JobProfile>, DataReads> reads_;  // filled on demand
};

}  // namespace synergy
