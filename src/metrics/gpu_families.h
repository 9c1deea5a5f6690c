#pragma once

// The families of metrics about GPUs. Private to this folder.
//
// Threading: one owner.

#include <string>

#include "metrics/families.h"
#include "metrics/gpu_metrics.h"

namespace synergy::metrics {

// Adds the node to the labels of its GPUs' metrics, because the labels that Prometheus adds name
// the program's pod.
LabelPairs OfNode(const std::string& node, LabelPairs labels = {});

void AddGpuFamilies(const GpuGauges& gauges, Families& out);

}  // namespace synergy::metrics
