#pragma once

// Watches the objects of Dynamic Resource Allocation, from which a ClusterState counts GPUs
// (docs/dra.md).
//
// Threading: the thread that starts the other watches calls Start(), once.

#include <string>

#include "cluster/devices/device_objects.h"
#include "cluster/state/cluster_state.h"
#include "core/log.h"
#include "kube/api_client.h"
#include "kube/cluster_store.h"
#include "kube/watches.h"

namespace synergy::kube {

class DeviceWatches {
 public:
  // All references must outlive this object.
  DeviceWatches(ClusterState& state, ApiClient& client, Logger& log)
      : state_(state),
        client_(client),
        log_(log),
        claims_(state),
        slices_(state),
        classes_(state) {}

  // Watches the objects, and makes the ClusterState count GPUs by `rules`. If the API server lacks
  // resource.k8s.io/v1 (Kubernetes older than 1.34), logs a warning and watches nothing. Blocks on
  // one request. Call it before the other watches start, and stop `watches` before this object
  // ends. `templates` receives the templates of claims; null: they are not watched.
  void Start(Watches& watches, DeviceRules rules,
             ObjectStore<ResourceClaimTemplate>* templates = nullptr);

 private:
  ClusterState& state_;
  ApiClient& client_;
  Logger& log_;
  StateStore<ResourceClaim, &ClusterState::ReplaceResourceClaims,
             &ClusterState::UpsertResourceClaim, &ClusterState::RemoveResourceClaim,
             &ResourceClaim::uid>
      claims_;
  StateStore<ResourceSlice, &ClusterState::ReplaceResourceSlices,
             &ClusterState::UpsertResourceSlice, &ClusterState::RemoveResourceSlice,
             &ResourceSlice::name>
      slices_;
  StateStore<DeviceClass, &ClusterState::ReplaceDeviceClasses, &ClusterState::UpsertDeviceClass,
             &ClusterState::RemoveDeviceClass, &DeviceClass::name>
      classes_;
};

}  // namespace synergy::kube
