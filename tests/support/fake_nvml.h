#pragma once

// The state of libfake-nvml.so, a stand-in for NVIDIA's libnvidia-ml.so.1 on machines without GPUs.
// It is loaded like the real library; tests control it through fake_nvml_library.h.
//
// Threading: guarded by `mutex`.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <dlfcn.h>
namespace synergy::testing {

struct FakeNvLink {
  bool to_switch = false;
  size_t gpu = 0;  // if not `to_switch`
};

struct FakeMigPart {
  std::string uuid;
  std::string name;
  unsigned long long memory = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};

struct FakeNvmlGpu {
  std::string uuid;
  std::string name = "NVIDIA A100-SXM4-80GB";
  unsigned long long memory = 0;
  unsigned long long memory_used = 0;
  unsigned bus = 0;
  unsigned minor = 0;
  int result = 0;      // result of every call about it
  bool listed = true;  // if false, there is no handle for it
  std::optional<unsigned long long> ecc_errors;
  std::optional<unsigned> recovery_action;  // nullopt: the field is not supported
  bool remap_pending = false;
  bool remap_failed = false;
  bool pages_pending = false;
  unsigned utilization = 0;
  struct Sample {
    unsigned long long timestamp = 0;  // microseconds
    unsigned utilization = 0;
  };
  std::vector<Sample> samples;  // empty: not supported
  unsigned temperature = 0;
  unsigned milliwatts = 0;
  std::vector<FakeNvLink> links;
  std::vector<int> ancestors;  // topology level to each GPU
  int event_result = 0;        // result of registering for its events
  bool mig_capable = true;
  bool mig = false;
  int mig_result = 0;  // result of reading its MIG mode
  std::vector<FakeMigPart> parts;
};

struct FakeNvmlEvent {
  size_t gpu = 0;
  unsigned long long type = 0;
  unsigned long long data = 0;
  unsigned gpu_instance = 0xffffffff;
  unsigned compute_instance = 0xffffffff;
};

struct FakeNvml {
  std::mutex mutex;
  std::condition_variable changed;
  int init_result = 0;
  int wait_result = 0;  // result of waiting for events, if not 0
  int sessions = 0;     // number of nvmlInit calls so far
  std::vector<FakeNvmlGpu> gpus;
  std::deque<FakeNvmlEvent> events;
};

}  // namespace synergy::testing
