#pragma once

// Formats amounts for people. CPU and memory look as in Kubernetes. CPU is in whole cores or
// thousandths ("3", "1500m"). Bytes have the largest suffix that keeps the value exact ("62500M",
// "4Gi", "1023").
//
// This file is separate because these texts are for people; what Kubernetes reads is written in
// src/wire.
//
// Threading: pure. Failures: none.

#include <string>

#include "core/resources.h"
#include "core/units.h"

namespace synergy {

std::string ToQuantityText(MilliCpu cpu);
std::string ToQuantityText(Bytes bytes);
// Returns text such as "1 GPU", "8 GPUs".
std::string DescribeGpus(Gpus gpus);
// Returns text such as "cpu 1500m, memory 4Gi".
std::string DescribeCpuAndMemory(const ResourceVector& amounts);

}  // namespace synergy
