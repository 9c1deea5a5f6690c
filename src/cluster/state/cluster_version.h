#pragma once

// The version of the cluster. All parts of ClusterState share this counter.
//
// Threading: under ClusterState's mutex.

#include <cstdint>

namespace synergy {

class ClusterVersion {
 public:
  uint64_t present() const { return present_; }
  // The version that the present change leads to.
  uint64_t next() const { return present_ + 1; }
  void Advance() { ++present_; }

 private:
  uint64_t present_ = 0;
};

}  // namespace synergy
