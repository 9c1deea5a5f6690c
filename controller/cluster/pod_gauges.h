#pragma once

// Reads the gauges of GPU pods for a scrape: each pod's allocation, demand, fair share and
// speed-up, which pods are idle, and why pods wait.
//
// Threading: any thread.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "engine/profile_catalog.h"
#include "metrics/controller_metrics.h"
#include "profile/pod_progress.h"

namespace synergy::controller {

// Returns the managed pods that have a node. `max_speed_up`: caps the throughput that profiles
// promise, as a multiple of the throughput at the fair share.
std::vector<metrics::PodGauge> ReadPodGauges(const ClusterSnapshot& snapshot,
                                             const std::string& gpu_resource,
                                             const ProfileCatalog& profiles, double max_speed_up);

// Returns the devices for metrics::ControllerGauges::devices.
std::map<std::pair<std::string, std::string>, uint64_t> ReadDeviceGauges(
    const ClusterSnapshot& snapshot);

// Returns the GPUs for metrics::ControllerGauges::idle_gpus. `progress`: the progress of all pods.
std::map<std::string, Gpus> ReadIdleGpus(const ClusterSnapshot& snapshot,
                                         const ClusterProgress& progress);

// Maps kube-scheduler's reason for a waiting GPU pod to one of metrics::kWaitingReasons. The
// scarcest resource wins, so that each pod counts once.
std::string_view WaitingReason(const Pod& pod, const std::string& gpu_resource);

}  // namespace synergy::controller
