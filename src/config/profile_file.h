#pragma once

// Reads training profiles from a file, in YAML or JSON (which YAML includes):
//
//   profiles:
//     - model: resnet50                  # measured over CPU and memory
//       gpuProduct: NVIDIA-A100-SXM4-80GB  # as in label nvidia.com/gpu.product; absent: any
//       gpus: 1                          # absent: 1
//       points:
//         - {cpu: 3, memory: 62.5G, throughput: 1.0}
//         - {cpu: 4500m, memory: 64Gi, throughput: 1.15}
//     - model: alexnet                   # measured with the data set in memory
//       points:
//         - {cpu: 3, throughput: 1200}   # samples per second
//         - {cpu: 12, throughput: 3528}
//       datasetSize: 140Gi
//       storageBandwidth: 500M           # bytes per second
//       bytesPerSample: 110k
//       memories: [20Gi, 60Gi]           # absent: chosen to fit the model of the cache
//       spreadSpeed: {nodes: 0.7, racks: 0.5}  # of a gang, relative to one node
//       tensorSkew: 0.61                 # Tiresias' skew, if spreadSpeed is unknown
//
// Amounts are Kubernetes quantities for the whole job, rounded up to thousandths of a core and to
// whole bytes.
//
// Threading: pure, except for reading the file.
// Failures: kInvalid with file, line, column and field; kNotFound if there is no file.

#include <string>
#include <vector>

#include "core/result.h"
#include "profile/job_profile.h"
#include "profile/training_profile.h"

namespace synergy::config {

struct ProfileFile {
  struct Entry {
    TrainingProfile training;  // as written
    JobProfile profile;        // as used
  };

  std::vector<Entry> entries;  // never empty; one per model, GPU product and GPU count
  // Points that are slower with more CPU or memory, with file, line, column and field.
  std::vector<std::string> warnings;
};

Result<ProfileFile> LoadProfiles(const std::string& file);
// `name` is the file's name in errors and warnings.
Result<ProfileFile> ParseProfiles(const std::string& text, const std::string& name);

}  // namespace synergy::config
