#pragma once

// What a scrape reads of GPU pods: what each has, wants and is due, what that brings, and why pods
// wait.
//
// Threading: from any thread.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "engine/profile_book.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

// The pods with a node that are under Synergy's management. `max_speed_up`: how many times the
// throughput with its fair share a profile is believed.
std::vector<metrics::PodGauge> ReadPodGauges(const ClusterSnapshot& snapshot,
                                             const ProfileBook& profiles, double max_speed_up);

// As metrics::ControllerGauges::devices.
std::map<std::pair<std::string, std::string>, uint64_t> ReadDeviceGauges(
    const ClusterSnapshot& snapshot);

// Why kube-scheduler says that a GPU pod waits, in one of the words of metrics::kWaitingReasons:
// what is scarcest first, so that a pod counts once.
std::string_view WaitingReason(const Pod& pod, const std::string& gpu_resource);

}  // namespace synergy::controller
