#pragma once

// Publishes what is known about storage, in one ConfigMap that the extender watches
// (docs/internals/storage.md, "Placement").
//
// This file is separate because its calls must not delay the tuner.
//
// Bounds: one write every kInterval, only after a change.
//
// Threading: any thread calls Offer(); one owner calls the others. Failures: a failed call is
// repeated after kInterval; if another client changes the ConfigMap, it is read again.

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>

#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "engine/storage/published_storage.h"
#include "kube/apis/storage_api.h"

namespace synergy::controller {

class StoragePublisher {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(5);

  // Both references must outlive this object.
  StoragePublisher(kube::StorageApi& api, const Clock& clock, Logger& log);

  // Sets what is to be published. Until the first call nothing is.
  void Offer(PlacementStorage storage);
  // Forgets what an earlier leader may have changed. Call it when this process begins to lead.
  void StartOver();
  // Call it about every second while this process leads.
  void Publish(const std::stop_token& stop);

 private:
  Result<> TryToPublish(const PlacementStorage& storage, const std::stop_token& stop);

  kube::StorageApi& api_;
  const Clock& clock_;
  Logger& log_;
  std::mutex mutex_;  // guards the next member
  std::optional<PlacementStorage> offered_;
  std::optional<PublishedStorage> published_;  // as stored; absent: unknown
  Instant due_ = Instant::min();
  std::optional<ErrorCode> error_;  // the last call's error, if it failed
};

}  // namespace synergy::controller
