#pragma once

// What a scrape reads of GPU pods: what each has, wants and is due, what that brings, and why pods
// wait.
//
// Threading: from any thread.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster_snapshot.h"
#include "cluster/pod.h"
#include "controller/tenancies.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

// The pods with a node that are under Synergy's management.
std::vector<metrics::PodGauge> ReadPodGauges(const ClusterSnapshot& snapshot,
                                             const FindProfile& find_profile);

// Why kube-scheduler says that a GPU pod waits, in one of the words of metrics::kWaitingReasons:
// what is scarcest first, so that a pod counts once.
std::string_view WaitingReason(const Pod& pod, const std::string& gpu_resource);

}  // namespace synergy::controller
