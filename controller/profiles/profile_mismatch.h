#pragma once

// Compares the speeds of pods with the TrainingProfiles that users wrote for them
// (engine/profiler/contradiction.h), and keeps the verdicts. An event on the pod and the profile's
// status report a contradiction (status_writer.h).
//
// Threading: any thread may call Of() and version(); one thread calls the rest.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "cluster/state/cluster_snapshot.h"
#include "controller/cluster/profile_store.h"
#include "core/clock.h"
#include "core/log.h"
#include "engine/profiler/contradiction.h"
#include "kube/apis/events.h"
#include "profile/pod_progress.h"

namespace synergy::controller {

class ProfileMismatch {
 public:
  // All references must outlive this object.
  ProfileMismatch(ProfilerSettings settings, const ProfileStore& profiles,
                  kube::EventRecorder& events, Logger& log)
      : finder_(settings), profiles_(profiles), events_(events), log_(log) {}

  // Discards all verdicts, so every profile is kUnknown again.
  void StartOver();
  // Processes progress reported for a pod of that node. Ignores pods whose profile is measured or
  // missing.
  void Observe(const std::shared_ptr<const Pod>& pod, const NodeState& node,
               const KnownProgress& progress, Moment at);

  // Also returns kUnknown if the verdict concerns another version of the profile.
  ProfileVerdict Of(const ProfileObject& object) const;
  // Increases with every change.
  uint64_t version() const;

 private:
  using Key = std::pair<std::string, std::string>;  // namespace, name

  const ContradictionFinder finder_;
  const ProfileStore& profiles_;
  kube::EventRecorder& events_;
  Logger& log_;
  ContradictionMemory memory_;
  mutable std::mutex mutex_;
  std::map<Key, ProfileVerdict> verdicts_;
  uint64_t version_ = 0;
};

}  // namespace synergy::controller
