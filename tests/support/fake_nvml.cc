// libfake-nvml.so implements the functions of NVIDIA's library that the device plugin calls, with
// the answers of a FakeNvml. By default there are four A100 in two pairs with four NVLinks each.
// The environment sets their utilization in percent (SYNERGY_FAKE_NVML_UTILIZATION). It can also
// name a file (SYNERGY_FAKE_NVML_XID) from which an Xid is read, as "GPU XID"; the file is then
// removed.

#include "support/fake_nvml.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "deviceplugin/sources/nvml_api.h"

namespace {

using namespace synergy::deviceplugin::nvml;  // NOLINT: the names of one C interface
using synergy::testing::FakeMigPart;
using synergy::testing::FakeNvml;
using synergy::testing::FakeNvmlEvent;
using synergy::testing::FakeNvmlGpu;

// These sizes are part of the binary interface in NVIDIA's documentation.
static_assert(sizeof(PciInfo) == 68 && sizeof(Memory) == 24 && sizeof(Utilization) == 8 &&
              sizeof(EventData) == 32 && sizeof(FieldValue) == 40 && sizeof(Sample) == 16);

constexpr int kInvalidArgument = 2;
constexpr int kNotFoundCode = 6;

FakeNvml& State() {
  static FakeNvml state;
  return state;
}

// A handle is 1 + GPU, and for the GPU's MIG devices 1000 x (1 + GPU) + part.
constexpr uintptr_t kParts = 1000;
Device ToHandle(uintptr_t number) { return reinterpret_cast<Device>(number); }

FakeNvmlGpu* GpuOf(Device device) {
  auto number = reinterpret_cast<uintptr_t>(device);
  if (number >= kParts) number /= kParts;
  FakeNvml& state = State();
  return number >= 1 && number <= state.gpus.size() ? &state.gpus[number - 1] : nullptr;
}

FakeMigPart* PartOf(Device device) {
  const auto number = reinterpret_cast<uintptr_t>(device);
  FakeNvmlGpu* gpu = GpuOf(device);
  if (number < kParts || gpu == nullptr || number % kParts >= gpu->parts.size()) return nullptr;
  return &gpu->parts[number % kParts];
}

Return Copy(const std::string& text, char* out, unsigned size) {
  if (text.size() >= size) return kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return kSuccess;
}

PciInfo PciOf(unsigned bus) {
  PciInfo pci{};
  pci.bus = bus;
  return pci;
}

// Calls `answer` with the GPU, unless calls about it have to fail.
template <class Answer>
Return Ask(Device device, Answer answer) {
  const std::lock_guard lock(State().mutex);
  FakeNvmlGpu* gpu = GpuOf(device);
  if (gpu == nullptr) return kInvalidArgument;
  if (gpu->result != kSuccess) return gpu->result;
  return answer(*gpu);
}

// REQUIRES: the mutex is held.
void ReadXid(FakeNvml& state) {
  const char* const file = std::getenv("SYNERGY_FAKE_NVML_XID");
  FakeNvmlEvent event{.type = kEventXid};
  if (file == nullptr || !(std::ifstream(file) >> event.gpu >> event.data)) return;
  std::remove(file);
  state.events.push_back(event);
}

}  // namespace

extern "C" {

FakeNvml* FakeNvmlState() { return &State(); }

void FakeNvmlReset() {
  FakeNvml& state = State();
  const std::lock_guard lock(state.mutex);
  state.init_result = state.wait_result = state.sessions = 0;
  state.events.clear();
  state.gpus.assign(4, {});
  for (size_t i = 0; i < state.gpus.size(); ++i) {
    FakeNvmlGpu& gpu = state.gpus[i];
    gpu.uuid = "GPU-0000000" + std::to_string(i) + "-1111-2222-3333-444444444444";
    gpu.memory = 85'899'345'920;
    gpu.bus = static_cast<unsigned>(0x3b + i);
    gpu.minor = static_cast<unsigned>(i);
    if (const char* const busy = std::getenv("SYNERGY_FAKE_NVML_UTILIZATION"))
      gpu.utilization = static_cast<unsigned>(std::atoi(busy));
    gpu.links.assign(4, {false, i ^ 1U});
    gpu.ancestors.assign(4, 50);
    gpu.ancestors[i ^ 1U] = 10;
  }
}

Return nvmlInit_v2() {
  const std::lock_guard lock(State().mutex);
  ++State().sessions;
  return State().init_result;
}
Return nvmlShutdown() { return kSuccess; }
const char* nvmlErrorString(Return code) {
  switch (code) {
    case 9:
      return "Driver Not Loaded";
    case kGpuIsLost:
      return "GPU is lost";
    default:
      return "Some Error";
  }
}
Return nvmlSystemGetDriverVersion(char* out, unsigned size) { return Copy("550.54.15", out, size); }
Return nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 12040;
  return kSuccess;
}
Return nvmlDeviceGetCount_v2(unsigned* count) {
  const std::lock_guard lock(State().mutex);
  *count = static_cast<unsigned>(State().gpus.size());
  return kSuccess;
}
Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  const std::lock_guard lock(State().mutex);
  if (index >= State().gpus.size()) return kInvalidArgument;
  if (!State().gpus[index].listed) return kGpuIsLost;
  *device = ToHandle(index + 1);
  return kSuccess;
}
Return nvmlDeviceGetUUID(Device device, char* out, unsigned size) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    const FakeMigPart* part = PartOf(device);
    return Copy(part != nullptr ? part->uuid : gpu.uuid, out, size);
  });
}
Return nvmlDeviceGetName(Device device, char* out, unsigned size) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    const FakeMigPart* part = PartOf(device);
    return Copy(part != nullptr ? part->name : gpu.name, out, size);
  });
}
Return nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    const FakeMigPart* part = PartOf(device);
    *memory = {part != nullptr ? part->memory : gpu.memory, 0, gpu.memory_used};
    return kSuccess;
  });
}
Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    *pci = PciOf(gpu.bus);
    return kSuccess;
  });
}
Return nvmlDeviceGetMinorNumber(Device device, unsigned* minor) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    *minor = gpu.minor;
    return kSuccess;
  });
}
Return nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
  return Ask(device, [&](FakeNvmlGpu& /*gpu*/) {
    *major = 8;
    *minor = 0;
    return kSuccess;
  });
}
Return nvmlDeviceGetTopologyCommonAncestor(Device a, Device b, int* level) {
  const auto other = reinterpret_cast<uintptr_t>(b) - 1;
  return Ask(a, [&](FakeNvmlGpu& gpu) {
    if (other >= gpu.ancestors.size()) return kNotSupported;
    *level = gpu.ancestors[other];
    return kSuccess;
  });
}
Return nvmlDeviceGetNvLinkState(Device device, unsigned link, int* state) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    if (link >= gpu.links.size()) return kNotSupported;
    *state = kEnabled;
    return kSuccess;
  });
}
Return nvmlDeviceGetNvLinkRemotePciInfo_v2(Device device, unsigned link, PciInfo* pci) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    if (link >= gpu.links.size()) return kNotSupported;
    *pci = PciOf(gpu.links[link].to_switch ? 0xc0 : State().gpus[gpu.links[link].gpu].bus);
    return kSuccess;
  });
}
Return nvmlDeviceGetNvLinkRemoteDeviceType(Device device, unsigned link, int* type) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    if (link >= gpu.links.size()) return kNotSupported;
    *type = gpu.links[link].to_switch ? kRemoteSwitch : 0;
    return kSuccess;
  });
}
Return nvmlDeviceGetTotalEccErrors(Device device, int type, int counter,
                                   unsigned long long* count) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    if (type != kEccUncorrected || counter != kEccVolatile) return kInvalidArgument;
    if (!gpu.ecc_errors) return kNotSupported;
    *count = *gpu.ecc_errors;
    return kSuccess;
  });
}
Return nvmlDeviceGetRemappedRows(Device device, unsigned* corrected, unsigned* uncorrected,
                                 unsigned* pending, unsigned* failed) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    *corrected = *uncorrected = 0;
    *failed = gpu.remap_failed ? 1 : 0;
    *pending = gpu.remap_pending ? 1 : 0;
    return kSuccess;
  });
}
Return nvmlDeviceGetRetiredPagesPendingStatus(Device device, int* pending) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    *pending = gpu.pages_pending ? kEnabled : 0;
    return kSuccess;
  });
}
Return nvmlDeviceGetUtilizationRates(Device device, Utilization* utilization) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    *utilization = {gpu.utilization, 0};
    return kSuccess;
  });
}
Return nvmlDeviceGetSamples(Device device, int type, unsigned long long after, int* value_type,
                            unsigned* count, Sample* samples) {
  return Ask(device, [&](FakeNvmlGpu& gpu) -> Return {
    if (type != kUtilizationSamples || gpu.samples.empty()) return kNotSupported;
    *value_type = kUnsigned;
    if (samples == nullptr) {
      *count = static_cast<unsigned>(gpu.samples.size());
      return kSuccess;
    }
    unsigned written = 0;
    for (const auto& sample : gpu.samples) {
      if (sample.timestamp <= after) continue;
      if (written == *count) return kInsufficientSize;
      samples[written] = {.timestamp = sample.timestamp, .long_number = 0};
      samples[written++].number = sample.utilization;
    }
    *count = written;
    return written == 0 ? kNotFoundCode : kSuccess;
  });
}
Return nvmlDeviceGetTemperature(Device device, int /*sensor*/, unsigned* temperature) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    *temperature = gpu.temperature;
    return kSuccess;
  });
}
Return nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    *milliwatts = gpu.milliwatts;
    return kSuccess;
  });
}
Return nvmlDeviceGetMigMode(Device device, unsigned* current, unsigned* pending) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    if (!gpu.mig_capable) return kNotSupported;
    if (gpu.mig_result != kSuccess) return gpu.mig_result;
    *current = *pending = gpu.mig ? 1 : 0;
    return kSuccess;
  });
}
Return nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned* count) {
  return Ask(device, [&](FakeNvmlGpu& /*gpu*/) {
    *count = 7;
    return kSuccess;
  });
}
Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* part) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    if (index >= gpu.parts.size()) return kNotFoundCode;
    *part = ToHandle(reinterpret_cast<uintptr_t>(device) * kParts + index);
    return kSuccess;
  });
}
Return nvmlDeviceGetGpuInstanceId(Device device, unsigned* id) {
  return Ask(device, [&](FakeNvmlGpu& /*gpu*/) {
    const FakeMigPart* part = PartOf(device);
    if (part == nullptr) return kInvalidArgument;
    *id = part->gpu_instance;
    return kSuccess;
  });
}
Return nvmlDeviceGetComputeInstanceId(Device device, unsigned* id) {
  return Ask(device, [&](FakeNvmlGpu& /*gpu*/) {
    const FakeMigPart* part = PartOf(device);
    if (part == nullptr) return kInvalidArgument;
    *id = part->compute_instance;
    return kSuccess;
  });
}
Return nvmlDeviceGetFieldValues(Device device, int count, FieldValue* values) {
  return Ask(device, [&](FakeNvmlGpu& gpu) {
    for (int i = 0; i < count; ++i) {
      const bool known = values[i].field == kFieldRecoveryAction && gpu.recovery_action;
      values[i].result = known ? kSuccess : kNotSupported;
      if (known) values[i].number = *gpu.recovery_action;
    }
    return kSuccess;
  });
}
Return nvmlEventSetCreate(EventSet* set) {
  *set = reinterpret_cast<EventSet>(&State());
  return kSuccess;
}
Return nvmlEventSetFree(EventSet /*set*/) { return kSuccess; }
Return nvmlDeviceGetSupportedEventTypes(Device device, unsigned long long* types) {
  return Ask(device, [&](FakeNvmlGpu& /*gpu*/) {
    *types = kEventXid | kEventDoubleBitEcc;
    return kSuccess;
  });
}
Return nvmlDeviceRegisterEvents(Device device, unsigned long long /*types*/, EventSet /*set*/) {
  return Ask(device, [](FakeNvmlGpu& gpu) { return gpu.event_result; });
}
Return nvmlEventSetWait_v2(EventSet /*set*/, EventData* data, unsigned milliseconds) {
  FakeNvml& state = State();
  std::unique_lock lock(state.mutex);
  ReadXid(state);
  state.changed.wait_for(lock, std::chrono::milliseconds(milliseconds),
                         [&] { return !state.events.empty() || state.wait_result != kSuccess; });
  if (state.wait_result != kSuccess) return state.wait_result;
  if (state.events.empty()) return kTimeout;
  const auto event = state.events.front();
  state.events.pop_front();
  *data = {ToHandle(event.gpu + 1), event.type, event.data, event.gpu_instance,
           event.compute_instance};
  return kSuccess;
}

}  // extern "C"

namespace {
// Initializes the library for a process that only loads it.
[[maybe_unused]] const bool kReady = (FakeNvmlReset(), true);
}  // namespace
