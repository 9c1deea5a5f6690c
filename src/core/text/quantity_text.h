#pragma once

// Formats amounts for people. CPU and memory look as in Kubernetes: whole cores or thousandths
// ("3", "1500m"), bytes with the largest suffix that loses nothing ("62500M", "4Gi", "1023").
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
// Returns the fungible amounts without the GPUs, as in "cpu 1500m, memory 4Gi".
std::string DescribeCpuAndMemory(const ResourceVector& amounts);

}  // namespace synergy
