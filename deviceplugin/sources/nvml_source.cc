#include "deviceplugin/sources/nvml_source.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace synergy::deviceplugin {
namespace {

using nvml::NvmlApi;
using std::chrono::milliseconds;

// The longest uninterrupted wait: NVML's wait cannot be woken, so a stop or a wake may take this
// long.
constexpr milliseconds kSlice{200};
// Pause after an event set that fails at once, or if there is none.
constexpr milliseconds kWithoutEvents{1000};
constexpr size_t kMostEventsAtOnce = 64;
// A driver keeps only about 100 samples.
constexpr unsigned kMostSamples = 4096;
constexpr unsigned long long kMicrosecondsOfMean = 1'000'000;
// Pauses between sessions that are opened because a GPU is unhealthy.
constexpr Duration kFirstPause = std::chrono::seconds(5);
constexpr Duration kLongestPause = std::chrono::minutes(5);

constexpr nvml::Return kNoPermission = 4;
constexpr nvml::Return kFunctionNotFound = 13;
constexpr std::string_view kMigMark = " MIG ";
constexpr const char* kSharedNodes[] = {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools",
                                        "nvidia-modeset"};

// Returns whether the code is a success, or reports a problem of the query and not of the GPU.
bool IsHarmless(nvml::Return code) {
  return code == nvml::kSuccess || code == nvml::kNotSupported || code == kNoPermission ||
         code == kFunctionNotFound;
}

// Returns the text that `ask` writes; empty if it fails.
template <class Ask>
std::string Text(Ask ask) {
  std::array<char, nvml::kTextSize> buffer{};
  if (ask(buffer.data(), nvml::kTextSize) != nvml::kSuccess) return {};
  return {buffer.data(), strnlen(buffer.data(), buffer.size())};
}

// Formats the id as the kernel does.
std::string ToPciId(const nvml::PciInfo& pci) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
}

std::string ToText(unsigned recovery_action) {
  switch (recovery_action) {
    case nvml::kRecoveryNone:
      return "";
    case nvml::kRecoveryGpuReset:
      return "a reset of the GPU";
    case nvml::kRecoveryNodeReboot:
      return "a reboot of the node";
    case nvml::kRecoveryDrainPeers:
      return "an end of the traffic between it and other GPUs";
    case nvml::kRecoveryDrainAndReset:
      return "its draining and a reset of the GPU";
    case nvml::kRecoveryImexDomain:
      return "a recovery of its IMEX domain";
    case nvml::kRecoveryBusReset:
      return "a reset of its bus";
    case nvml::kRecoverySystemReboot:
      return "a reboot of the machine";
    default:
      return fmt::format("recovery action {} of NVML", recovery_action);
  }
}

PciPath ToPath(int level) {
  switch (level) {
    case nvml::kTopologyInternal:
      return PciPath::kSameBoard;
    case nvml::kTopologySingle:
      return PciPath::kSingleSwitch;
    case nvml::kTopologyMultiple:
      return PciPath::kMultipleSwitches;
    case nvml::kTopologyHostBridge:
      return PciPath::kHostBridge;
    case nvml::kTopologyNode:
      return PciPath::kNode;
    default:
      return PciPath::kSystem;
  }
}

}  // namespace

class NvmlSource::Session {
 public:
  static Result<std::shared_ptr<Session>> Begin(const NvmlOptions& options) {
    Result<std::unique_ptr<NvmlApi>> api = NvmlApi::Load(options.library);
    if (!api) return Fail(ErrorCode::kUnavailable, api.error().message);
    if (const nvml::Return code = (*api)->Init(); code != nvml::kSuccess)
      return Fail(ErrorCode::kUnavailable, "NVML does not start: " + (*api)->Explain(code));
    auto session = std::make_shared<Session>(*std::move(api), options);
    if (const Result<> found = session->FindGpus(); !found) return Fail(found.error());
    session->FindLinks();
    session->BeginEvents();
    return session;
  }

  Session(std::unique_ptr<NvmlApi> api, const NvmlOptions& options)
      : api_(std::move(api)), options_(options) {}
  ~Session() {
    if (events_ != nullptr) api_->EventSetFree(events_);
    api_->Shutdown();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Reads MIG again, because it may change at any time; everything else about a GPU is constant.
  Reading Read() const {
    std::vector<Gpu> gpus = inventory_.gpus();
    Reading reading;
    for (size_t i = 0; i < gpus.size(); ++i) {
      const nvml::Return code = ReadMig(handles_[i], gpus[i]);
      GpuProbe& probe = reading.probes[gpus[i].uuid] = ProbeGpu(handles_[i]);
      if (code != nvml::kSuccess && probe.fault.empty())
        probe.fault = "NVML: " + api_->Explain(code);
    }
    reading.inventory = GpuInventory(std::move(gpus));
    for (size_t a = 0; a < handles_.size(); ++a)
      for (size_t b = 0; b < a; ++b) reading.inventory.SetLink(a, b, inventory_.link(a, b));
    reading.inventory.driver_version = inventory_.driver_version;
    reading.inventory.cuda_version = inventory_.cuda_version;
    reading.inventory.shared_device_nodes = inventory_.shared_device_nodes;
    reading.unreachable = unreachable_;
    reading.without_events = without_events_;
    return reading;
  }

  // Returns NVML's indices, by UUID.
  const std::map<std::string, unsigned>& indices() const { return indices_; }

  std::map<std::string, DeviceUse> ReadUse() const {
    std::map<std::string, DeviceUse> uses;
    for (size_t i = 0; i < handles_.size(); ++i) {
      DeviceUse& use = uses[inventory_.gpus()[i].uuid];
      use.utilization = ReadUtilization(handles_[i]);
      nvml::Memory memory{};
      if (api_->DeviceGetMemoryInfo(handles_[i], &memory) == nvml::kSuccess)
        use.memory_used = Bytes(static_cast<int64_t>(memory.used));
      unsigned value = 0;
      if (api_->DeviceGetTemperature(handles_[i], nvml::kTemperatureGpu, &value) == nvml::kSuccess)
        use.temperature = value;
      if (api_->DeviceGetPowerUsage(handles_[i], &value) == nvml::kSuccess)
        use.power = value / 1000.0;
      if (!IsInMigMode(handles_[i])) continue;
      for (const nvml::Device part : PartsOf(handles_[i]))
        if (api_->DeviceGetMemoryInfo(part, &memory) == nvml::kSuccess)
          uses[UuidOf(part)].memory_used = Bytes(static_cast<int64_t>(memory.used));
    }
    return uses;
  }

  bool has_events() const { return events_ != nullptr; }

  // Returns false if a failure ended the wait early.
  bool WaitForEvent(milliseconds longest, std::vector<XidEvent>& events, bool& any) const {
    milliseconds wait = longest;
    while (events.size() < kMostEventsAtOnce) {
      nvml::EventData data{};
      const nvml::Return code =
          api_->EventSetWait(events_, &data, static_cast<unsigned>(wait.count()));
      if (code == nvml::kTimeout) return true;
      if (code != nvml::kSuccess) return false;
      any = true;
      if (data.type == nvml::kEventXid)
        events.push_back({UuidOfGpu(data.device), data.data, MigUuidsOf(data)});
      wait = milliseconds(0);
    }
    return true;
  }

 private:
  // Returns the mean over the last second, from 0 to 1. The rates, which are all that older drivers
  // offer, cover one of the driver's sample periods (200 ms on an H100). So they are far from the
  // mean if the period of the GPU's workload is close to that period.
  std::optional<double> ReadUtilization(nvml::Device gpu) const {
    if (const std::optional<double> mean = MeanOfSamples(gpu)) return mean;
    nvml::Utilization rates{};
    if (api_->DeviceGetUtilizationRates(gpu, &rates) != nvml::kSuccess) return std::nullopt;
    return rates.gpu / 100.0;
  }

  std::optional<double> MeanOfSamples(nvml::Device gpu) const {
    unsigned count = 0;
    int type = 0;
    if (api_->DeviceGetSamples == nullptr ||
        api_->DeviceGetSamples(gpu, nvml::kUtilizationSamples, 0, &type, &count, nullptr) !=
            nvml::kSuccess) {
      return std::nullopt;
    }
    std::vector<nvml::Sample> samples(std::min(count, kMostSamples));
    count = static_cast<unsigned>(samples.size());
    if (count == 0 ||
        api_->DeviceGetSamples(gpu, nvml::kUtilizationSamples, 0, &type, &count, samples.data()) !=
            nvml::kSuccess ||
        type != nvml::kUnsigned) {
      return std::nullopt;
    }
    samples.resize(std::min<size_t>(count, samples.size()));
    unsigned long long newest = 0;
    for (const nvml::Sample& sample : samples) newest = std::max(newest, sample.timestamp);
    double sum = 0;
    int summed = 0;
    for (const nvml::Sample& sample : samples) {
      if (newest - sample.timestamp >= kMicrosecondsOfMean || sample.number > 100) continue;
      sum += sample.number / 100.0;
      ++summed;
    }
    return summed == 0 ? std::nullopt : std::optional(sum / summed);
  }

  // Returns the UUID of a GPU even if the driver no longer reports it, because the GPU is lost.
  std::string UuidOfGpu(nvml::Device gpu) const {
    const auto known = std::find(handles_.begin(), handles_.end(), gpu);
    if (known == handles_.end()) return UuidOf(gpu);
    return inventory_.gpus()[static_cast<size_t>(known - handles_.begin())].uuid;
  }

  std::string UuidOf(nvml::Device device) const {
    return Text([&](char* out, unsigned size) { return api_->DeviceGetUuid(device, out, size); });
  }

  // Returns the parts of a GPU in MIG mode; none if it is not in that mode.
  std::vector<nvml::Device> PartsOf(nvml::Device gpu) const {
    std::vector<nvml::Device> parts;
    unsigned most = 0;
    if (api_->DeviceGetMaxMigDeviceCount == nullptr ||
        api_->DeviceGetMigDeviceHandleByIndex == nullptr ||
        api_->DeviceGetMaxMigDeviceCount(gpu, &most) != nvml::kSuccess) {
      return parts;
    }
    for (unsigned i = 0; i < most && parts.size() < kMostMigDevicesPerGpu; ++i) {
      nvml::Device part = nullptr;
      if (api_->DeviceGetMigDeviceHandleByIndex(gpu, i, &part) == nvml::kSuccess)
        parts.push_back(part);
    }
    return parts;
  }

  struct Instances {
    unsigned gpu = nvml::kNoInstance;
    unsigned compute = nvml::kNoInstance;
  };
  std::optional<Instances> InstancesOf(nvml::Device part) const {
    Instances instances;
    if (api_->DeviceGetGpuInstanceId == nullptr || api_->DeviceGetComputeInstanceId == nullptr ||
        api_->DeviceGetGpuInstanceId(part, &instances.gpu) != nvml::kSuccess ||
        api_->DeviceGetComputeInstanceId(part, &instances.compute) != nvml::kSuccess) {
      return std::nullopt;
    }
    return instances;
  }

  // Returns the parts that an event affects; none if it affects the whole GPU.
  std::vector<std::string> MigUuidsOf(const nvml::EventData& event) const {
    std::vector<std::string> uuids;
    if (event.gpu_instance == nvml::kNoInstance || !IsInMigMode(event.device)) return uuids;
    for (const nvml::Device part : PartsOf(event.device)) {
      const std::optional<Instances> instances = InstancesOf(part);
      if (!instances || instances->gpu != event.gpu_instance) continue;
      const bool of_this = event.compute_instance == nvml::kNoInstance ||
                           event.compute_instance == instances->compute;
      if (of_this) uuids.push_back(UuidOf(part));
    }
    return uuids;
  }

  Result<> FindGpus() {
    unsigned count = 0;
    if (const nvml::Return code = api_->DeviceGetCount(&count); code != nvml::kSuccess)
      return Fail(ErrorCode::kUnavailable, "NVML does not count GPUs: " + api_->Explain(code));
    std::vector<Gpu> gpus;
    for (unsigned i = 0; i < count && gpus.size() < kMostGpusOfNode; ++i) {
      nvml::Device handle = nullptr;
      std::array<char, nvml::kTextSize> uuid{};
      // A lost GPU has no handle or does not answer; NvmlSource remembers it.
      nvml::Return code = api_->DeviceGetHandleByIndex(i, &handle);
      if (code == nvml::kSuccess) code = api_->DeviceGetUuid(handle, uuid.data(), nvml::kTextSize);
      Gpu gpu;
      if (code == nvml::kSuccess) code = ReadGpu(handle, gpu);
      if (code != nvml::kSuccess) {
        unreachable_[i] = "NVML: " + api_->Explain(code);
        continue;
      }
      if (gpu.uuid.empty() || gpu.uuid.size() > kLongestDeviceId) {
        unreachable_[i] = "it has no UUID that can be used";
        continue;
      }
      indices_[gpu.uuid] = i;
      gpus.push_back(std::move(gpu));
      handles_.push_back(handle);
    }
    inventory_ = GpuInventory(std::move(gpus));
    inventory_.driver_version =
        Text([&](char* out, unsigned size) { return api_->SystemGetDriverVersion(out, size); });
    if (int cuda = 0; api_->SystemGetCudaDriverVersion(&cuda) == nvml::kSuccess)
      inventory_.cuda_version = fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10);
    for (const char* name : kSharedNodes) {
      const std::string path = options_.device_folder + "/" + name;
      std::error_code ignored;
      if (std::filesystem::exists(path, ignored)) inventory_.shared_device_nodes.push_back(path);
    }
    return {};
  }

  // Returns a failure of the GPU, because the reading is then incomplete.
  nvml::Return ReadGpu(nvml::Device handle, Gpu& gpu) const {
    gpu.uuid = UuidOf(handle);
    gpu.product =
        Text([&](char* out, unsigned size) { return api_->DeviceGetName(handle, out, size); });
    nvml::Memory memory{};
    const nvml::Return code = api_->DeviceGetMemoryInfo(handle, &memory);
    if (!IsHarmless(code)) return code;
    if (code == nvml::kSuccess) gpu.memory = Bytes(static_cast<int64_t>(memory.total));
    nvml::PciInfo pci{};
    if (api_->DeviceGetPciInfo(handle, &pci) == nvml::kSuccess) {
      gpu.pci_id = ToPciId(pci);
      std::ifstream numa(options_.pci_folder + "/" + gpu.pci_id + "/numa_node");
      if (int node = kNoNuma; numa >> node) gpu.numa_node = std::max(node, -1);
    }
    ComputeCapability capability;
    if (api_->DeviceGetCudaComputeCapability(handle, &capability.major, &capability.minor) ==
        nvml::kSuccess) {
      gpu.compute_capability = capability;
    }
    if (unsigned minor = 0; api_->DeviceGetMinorNumber(handle, &minor) == nvml::kSuccess)
      gpu.device_nodes = {fmt::format("{}/nvidia{}", options_.device_folder, minor)};
    return ReadMig(handle, gpu);
  }

  nvml::Return ReadMigMode(nvml::Device handle, unsigned& current) const {
    unsigned pending = 0;
    if (api_->DeviceGetMigMode == nullptr) return nvml::kNotSupported;
    return api_->DeviceGetMigMode(handle, &current, &pending);
  }

  bool IsInMigMode(nvml::Device handle) const {
    unsigned current = 0;
    return ReadMigMode(handle, current) == nvml::kSuccess && current == 1;
  }

  // Changes nothing, and returns a failure, if the GPU fails.
  nvml::Return ReadMig(nvml::Device handle, Gpu& gpu) const {
    unsigned mode = 0;
    const nvml::Return code = ReadMigMode(handle, mode);
    if (!IsHarmless(code)) return code;
    gpu.mig_capable = code == nvml::kSuccess;
    gpu.mig_enabled = gpu.mig_capable && mode == 1;
    ReadParts(handle, gpu);
    return nvml::kSuccess;
  }

  void ReadParts(nvml::Device handle, Gpu& gpu) const {
    gpu.mig_devices.clear();
    if (!gpu.mig_enabled) return;
    for (const nvml::Device part : PartsOf(handle)) {
      MigDevice device;
      device.uuid = UuidOf(part);
      // "NVIDIA A100-SXM4-40GB MIG 1g.5gb"
      const std::string name =
          Text([&](char* out, unsigned size) { return api_->DeviceGetName(part, out, size); });
      if (const size_t mark = name.rfind(kMigMark); mark != std::string::npos)
        device.profile = name.substr(mark + kMigMark.size());
      nvml::Memory memory{};
      if (api_->DeviceGetMemoryInfo(part, &memory) == nvml::kSuccess)
        device.memory = Bytes(static_cast<int64_t>(memory.total));
      device.device_nodes = NodesOf(handle, part);
      if (!device.uuid.empty() && device.uuid.size() <= kLongestDeviceId &&
          !device.profile.empty()) {
        gpu.mig_devices.push_back(std::move(device));
      }
    }
  }

  // Returns the capability files that a container needs for a part, in addition to the GPU's own
  // file. The result is empty if the driver does not list them.
  std::vector<std::string> NodesOf(nvml::Device handle, nvml::Device part) const {
    unsigned gpu = 0;
    const std::optional<Instances> instances = InstancesOf(part);
    if (!instances || api_->DeviceGetMinorNumber(handle, &gpu) != nvml::kSuccess) return {};
    const std::map<std::string, unsigned>& minors = MigMinors();
    const auto gpu_instance = minors.find(fmt::format("gpu{}/gi{}/access", gpu, instances->gpu));
    const auto compute_instance =
        minors.find(fmt::format("gpu{}/gi{}/ci{}/access", gpu, instances->gpu, instances->compute));
    if (gpu_instance == minors.end() || compute_instance == minors.end()) return {};
    return {
        fmt::format("{}/nvidia-caps/nvidia-cap{}", options_.device_folder, gpu_instance->second),
        fmt::format("{}/nvidia-caps/nvidia-cap{}", options_.device_folder,
                    compute_instance->second)};
  }

  // Reads the file once: the numbers of all possible instances never change.
  const std::map<std::string, unsigned>& MigMinors() const {
    if (mig_minors_.empty()) {
      std::ifstream file(options_.mig_minors);
      std::string name;
      for (unsigned minor = 0; file >> name >> minor;) mig_minors_[name] = minor;
    }
    return mig_minors_;
  }

  GpuProbe ProbeGpu(nvml::Device handle) const {
    GpuProbe probe;
    nvml::Memory memory{};
    unsigned value = 0;
    for (const nvml::Return code :
         {api_->DeviceGetMemoryInfo(handle, &memory),
          api_->DeviceGetTemperature(handle, nvml::kTemperatureGpu, &value)}) {
      if (IsHarmless(code)) continue;
      probe.fault = "NVML: " + api_->Explain(code);
      return probe;
    }
    unsigned long long errors = 0;
    if (api_->DeviceGetTotalEccErrors(handle, nvml::kEccUncorrected, nvml::kEccVolatile, &errors) ==
        nvml::kSuccess) {
      probe.uncorrectable_errors = errors;
    }
    unsigned corrected = 0;
    unsigned uncorrected = 0;
    unsigned pending = 0;
    unsigned failed = 0;
    if (api_->DeviceGetRemappedRows != nullptr &&
        api_->DeviceGetRemappedRows(handle, &corrected, &uncorrected, &pending, &failed) ==
            nvml::kSuccess) {
      probe.repair_pending = pending != 0;
      probe.repair_failed = failed != 0;
    }
    int pages = 0;
    if (api_->DeviceGetRetiredPagesPendingStatus != nullptr &&
        api_->DeviceGetRetiredPagesPendingStatus(handle, &pages) == nvml::kSuccess &&
        pages == nvml::kEnabled) {
      probe.repair_pending = true;
    }
    nvml::FieldValue action{};
    action.field = nvml::kFieldRecoveryAction;
    if (api_->DeviceGetFieldValues != nullptr &&
        api_->DeviceGetFieldValues(handle, 1, &action) == nvml::kSuccess &&
        action.result == nvml::kSuccess) {
      probe.recovery_action = ToText(action.number);
    }
    return probe;
  }

  void FindLinks() {
    const size_t count = handles_.size();
    std::vector<int> to_switch(count, 0);
    std::vector<int> direct(count * count, 0);
    for (size_t a = 0; a < count; ++a) CountNvLinks(a, to_switch[a], direct);
    for (size_t a = 0; a < count; ++a) {
      for (size_t b = 0; b < a; ++b) {
        GpuLink link = inventory_.link(a, b);
        if (int level = 0; api_->DeviceGetTopologyCommonAncestor(handles_[a], handles_[b],
                                                                 &level) == nvml::kSuccess) {
          link.path = ToPath(level);
        }
        link.nvlinks = direct[a * count + b] + std::min(to_switch[a], to_switch[b]);
        inventory_.SetLink(a, b, link);
      }
    }
  }

  void CountNvLinks(size_t a, int& to_switch, std::vector<int>& direct) const {
    for (unsigned link = 0; link < nvml::kMaxNvLinks; ++link) {
      int state = 0;
      if (api_->DeviceGetNvLinkState(handles_[a], link, &state) != nvml::kSuccess ||
          state != nvml::kEnabled) {
        continue;
      }
      int type = -1;
      if (api_->DeviceGetNvLinkRemoteDeviceType != nullptr)
        api_->DeviceGetNvLinkRemoteDeviceType(handles_[a], link, &type);
      nvml::PciInfo remote{};
      const bool known =
          api_->DeviceGetNvLinkRemotePciInfo(handles_[a], link, &remote) == nvml::kSuccess;
      const auto& gpus = inventory_.gpus();
      const auto other = std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& gpu) {
        return known && gpu.pci_id == ToPciId(remote);
      });
      if (type == nvml::kRemoteSwitch) {
        ++to_switch;
      } else if (other != gpus.end()) {
        ++direct[a * gpus.size() + static_cast<size_t>(other - gpus.begin())];
      }
    }
  }

  void BeginEvents() {
    const nvml::Return created = api_->EventSetCreate(&events_);
    if (created != nvml::kSuccess) events_ = nullptr;
    for (size_t i = 0; i < handles_.size(); ++i) {
      const std::string why = created == nvml::kSuccess ? RegisterForEvents(handles_[i])
                                                        : "NVML: " + api_->Explain(created);
      if (!why.empty()) without_events_[inventory_.gpus()[i].uuid] = why;
    }
  }

  // Returns why the GPU's Xids will not be reported; empty if they will be.
  std::string RegisterForEvents(nvml::Device handle) const {
    unsigned long long supported = 0;
    nvml::Return code = api_->DeviceGetSupportedEventTypes(handle, &supported);
    if (code == nvml::kSuccess && (supported & nvml::kEventXid) == 0) code = nvml::kNotSupported;
    if (code == nvml::kSuccess) {
      code = api_->DeviceRegisterEvents(
          handle, supported & (nvml::kEventXid | nvml::kEventDoubleBitEcc), events_);
    }
    return code == nvml::kSuccess ? "" : "NVML: " + api_->Explain(code);
  }

  const std::unique_ptr<NvmlApi> api_;
  const NvmlOptions options_;
  mutable std::map<std::string, unsigned> mig_minors_;  // for the reading thread
  std::vector<nvml::Device> handles_;
  GpuInventory inventory_;
  std::map<std::string, unsigned> indices_;
  std::map<unsigned, std::string> unreachable_;
  std::map<std::string, std::string> without_events_;
  nvml::EventSet events_ = nullptr;
};

NvmlSource::NvmlSource(NvmlOptions options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      between_sessions_(kFirstPause, kLongestPause, std::hash<std::string>()(options_.library)) {}

NvmlSource::~NvmlSource() = default;

Result<std::shared_ptr<NvmlSource::Session>> NvmlSource::Open() {
  {
    const std::lock_guard lock(mutex_);
    if (session_) return session_;
  }
  Result<std::shared_ptr<Session>> session = Session::Begin(options_);
  if (!session) return session;
  const std::lock_guard lock(mutex_);
  session_ = *session;
  return session;
}

void NvmlSource::Close() {
  const std::lock_guard lock(mutex_);
  session_.reset();
}

Result<Reading> NvmlSource::Read() {
  // A GPU that was lost answers only to handles that are acquired after it comes back.
  const bool anew = std::exchange(start_anew_, false);
  if (anew && clock_.Now() >= next_session_) {
    Close();
    next_session_ = clock_.Now() + between_sessions_.Next();
  }
  const Result<std::shared_ptr<Session>> session = Open();
  if (!session) return Fail(session.error());
  for (const auto& [uuid, index] : (*session)->indices()) indices_[uuid] = index;
  Reading reading = WithKnown((*session)->Read());
  known_ = reading.inventory;
  std::set<std::string> unwell;
  for (const auto& [uuid, probe] : reading.probes)
    if (!probe.fault.empty()) unwell.insert(uuid);
  start_anew_ = !unwell.empty() || !reading.unreachable.empty();
  const bool one_more =
      !std::includes(unwell_.begin(), unwell_.end(), unwell.begin(), unwell.end());
  if (one_more || (!start_anew_ && !anew)) {
    between_sessions_.Reset();
    next_session_ = {};
  }
  unwell_ = std::move(unwell);
  return reading;
}

Reading NvmlSource::WithKnown(Reading reading) {
  std::set<std::string> kept;
  std::vector<Gpu> gpus = reading.inventory.gpus();
  for (Gpu& gpu : gpus) {
    const auto known = known_.Find(gpu.uuid);
    if (!known || reading.probes[gpu.uuid].fault.empty()) continue;
    gpu = known_.gpus()[*known];
    kept.insert(gpu.uuid);
  }
  for (const Gpu& gpu : known_.gpus()) {
    if (reading.inventory.Find(gpu.uuid)) continue;
    GpuProbe& probe = reading.probes[gpu.uuid];
    if (const auto counted = reading.unreachable.find(indices_[gpu.uuid]);
        counted != reading.unreachable.end()) {
      probe.fault = counted->second;
      reading.unreachable.erase(counted);
    } else {
      probe.fault = "NVML does not list the GPU any more";
      probe.absent = true;
    }
    gpus.push_back(gpu);
    kept.insert(gpu.uuid);
  }
  if (kept.empty()) return reading;
  GpuInventory all(std::move(gpus));
  for (size_t a = 0; a < all.gpus().size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      const std::string& one = all.gpus()[a].uuid;
      const std::string& other = all.gpus()[b].uuid;
      const bool is_kept = kept.contains(one) || kept.contains(other);
      const GpuInventory* const sources[] = {&reading.inventory, &known_};
      for (const GpuInventory* from : sources) {
        const auto x = from->Find(one);
        const auto y = from->Find(other);
        if (x && y && (from != &known_ || is_kept)) all.SetLink(a, b, from->link(*x, *y));
      }
    }
  }
  all.driver_version = reading.inventory.driver_version;
  all.cuda_version = reading.inventory.cuda_version;
  all.shared_device_nodes = reading.inventory.shared_device_nodes;
  reading.inventory = std::move(all);
  return reading;
}

std::vector<XidEvent> NvmlSource::Wait(milliseconds longest, const std::stop_token& stop) {
  std::shared_ptr<Session> session;
  {
    const std::lock_guard lock(mutex_);
    session = session_;
  }
  std::vector<XidEvent> events;
  const Instant deadline = clock_.Now() + longest;
  while (!stop.stop_requested() && !woken_.exchange(false)) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - clock_.Now());
    if (left <= milliseconds(0)) break;
    const milliseconds slice = std::min(left, kSlice);
    bool any = false;
    if (session && session->has_events()) {
      if (session->WaitForEvent(slice, events, any)) {
        if (any) break;
        continue;
      }
      // An event set breaks with its GPU or driver, so read the GPUs again.
      start_anew_ = true;
      clock_.SleepFor(std::min(left, kWithoutEvents), stop);
      break;
    }
    clock_.SleepFor(slice, stop);
  }
  return events;
}

std::map<std::string, DeviceUse> NvmlSource::ReadUse() {
  std::shared_ptr<Session> session;
  {
    const std::lock_guard lock(mutex_);
    session = session_;
  }
  return session ? session->ReadUse() : std::map<std::string, DeviceUse>();
}

}  // namespace synergy::deviceplugin
