#pragma once

// Pods without GPUs that come and go alongside the jobs of a simulated cluster, drawn from a seed.
// They take CPU and memory on the nodes, and Synergy does not manage them.
//
// Threading: one owner. The same seed gives the same pods.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "cluster/pod.h"
#include "core/clock.h"
#include "core/random.h"
#include "core/resources.h"

namespace synergy {

struct CpuPodLoad {
  double per_hour = 0;      // arrivals, exponentially distributed; 0: none
  ResourceVector requests;  // requests per pod, without GPUs
  Duration lasts{};         // mean running time, exponentially distributed
  uint64_t seed = 1;
};

class CpuPods {
 public:
  // REQUIRES: load.per_hour > 0.
  explicit CpuPods(CpuPodLoad load)
      : load_(std::move(load)), arrivals_(load_.seed), ends_(load_.seed + 1) {}

  // Returns the time until the next pod arrives.
  Duration UntilNext() { return Exponential(arrivals_, 3600 / load_.per_hour); }
  // Returns how long a pod runs.
  Duration Lasts() { return Exponential(ends_, Seconds(load_.lasts).count()); }

  // Returns a pod that waits for a node. Its UID differs from the UIDs of all other pods, including
  // the pods of jobs.
  Pod Come(const std::string& pod_namespace, WallTime now) {
    Pod pod;
    pod.uid = pod.name = "cpu-" + std::to_string(++came_);
    pod.pod_namespace = pod_namespace;
    pod.requests.main = load_.requests;
    auto waiting = std::make_shared<Waiting>();
    waiting->scheduler = "default-scheduler";
    waiting->since = now;
    pod.waiting = std::move(waiting);
    uids_.insert(pod.uid);
    return pod;
  }
  void Go(const std::string& uid) { uids_.erase(uid); }
  // Returns the pods that are there, waiting or not.
  const std::set<std::string>& uids() const { return uids_; }

 private:
  static Duration Exponential(Random& random, double mean_seconds) {
    const double seconds = -std::log1p(-random.Uniform()) * mean_seconds;
    return Duration(static_cast<int64_t>(std::min(seconds, 9e9) * 1e9));
  }

  const CpuPodLoad load_;
  Random arrivals_;
  Random ends_;
  uint64_t came_ = 0;
  std::set<std::string> uids_;
};

}  // namespace synergy
