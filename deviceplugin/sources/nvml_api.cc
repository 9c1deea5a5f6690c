#include "deviceplugin/sources/nvml_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace synergy::deviceplugin::nvml {
namespace {

// Tries `names` in turn, because each version of a function has its own name.
template <class Function>
bool Find(void* library, Function& function, std::initializer_list<const char*> names) {
  function = nullptr;
  for (const char* name : names) {
    if (void* found = dlsym(library, name)) {
      function = reinterpret_cast<Function>(found);
      return true;
    }
  }
  return false;
}

// dlerror() may return a long text, which ends with the library's name.
std::string LoadError() {
  const char* error = dlerror();
  return error == nullptr ? "unknown error" : error;
}

}  // namespace

Result<std::unique_ptr<NvmlApi>> NvmlApi::Load(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("NVIDIA's driver library cannot be loaded: {} (a machine with GPUs has "
                            "it from the driver; a container gets it from NVIDIA's runtime, or by "
                            "mounting the host's)",
                            LoadError()));
  }
  std::unique_ptr<NvmlApi> api(new NvmlApi(handle));
  NvmlApi& a = *api;
  std::string missing;
  const auto need = [&](auto& function, std::initializer_list<const char*> names) {
    if (!Find(handle, function, names)) missing += fmt::format(" {}", *names.begin());
  };
  need(a.Init, {"nvmlInit_v2"});
  need(a.Shutdown, {"nvmlShutdown"});
  need(a.ErrorString, {"nvmlErrorString"});
  need(a.SystemGetDriverVersion, {"nvmlSystemGetDriverVersion"});
  need(a.SystemGetCudaDriverVersion,
       {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"});
  need(a.DeviceGetCount, {"nvmlDeviceGetCount_v2"});
  need(a.DeviceGetHandleByIndex, {"nvmlDeviceGetHandleByIndex_v2"});
  need(a.DeviceGetUuid, {"nvmlDeviceGetUUID"});
  need(a.DeviceGetName, {"nvmlDeviceGetName"});
  need(a.DeviceGetMemoryInfo, {"nvmlDeviceGetMemoryInfo"});
  need(a.DeviceGetPciInfo, {"nvmlDeviceGetPciInfo_v3"});
  need(a.DeviceGetMinorNumber, {"nvmlDeviceGetMinorNumber"});
  need(a.DeviceGetCudaComputeCapability, {"nvmlDeviceGetCudaComputeCapability"});
  need(a.DeviceGetTopologyCommonAncestor, {"nvmlDeviceGetTopologyCommonAncestor"});
  need(a.DeviceGetNvLinkState, {"nvmlDeviceGetNvLinkState"});
  need(a.DeviceGetNvLinkRemotePciInfo, {"nvmlDeviceGetNvLinkRemotePciInfo_v2"});
  need(a.DeviceGetTotalEccErrors, {"nvmlDeviceGetTotalEccErrors"});
  need(a.DeviceGetUtilizationRates, {"nvmlDeviceGetUtilizationRates"});
  need(a.DeviceGetTemperature, {"nvmlDeviceGetTemperature"});
  need(a.DeviceGetPowerUsage, {"nvmlDeviceGetPowerUsage"});
  need(a.EventSetCreate, {"nvmlEventSetCreate"});
  need(a.EventSetFree, {"nvmlEventSetFree"});
  need(a.EventSetWait, {"nvmlEventSetWait_v2", "nvmlEventSetWait"});
  need(a.DeviceRegisterEvents, {"nvmlDeviceRegisterEvents"});
  need(a.DeviceGetSupportedEventTypes, {"nvmlDeviceGetSupportedEventTypes"});
  if (!missing.empty()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} is not an NVML of a driver from 2018 or later: it lacks{}", library,
                            missing));
  }
  Find(handle, a.DeviceGetNvLinkRemoteDeviceType, {"nvmlDeviceGetNvLinkRemoteDeviceType"});
  Find(handle, a.DeviceGetRemappedRows, {"nvmlDeviceGetRemappedRows"});
  Find(handle, a.DeviceGetRetiredPagesPendingStatus, {"nvmlDeviceGetRetiredPagesPendingStatus"});
  Find(handle, a.DeviceGetMigMode, {"nvmlDeviceGetMigMode"});
  Find(handle, a.DeviceGetMaxMigDeviceCount, {"nvmlDeviceGetMaxMigDeviceCount"});
  Find(handle, a.DeviceGetMigDeviceHandleByIndex, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  Find(handle, a.DeviceGetGpuInstanceId, {"nvmlDeviceGetGpuInstanceId"});
  Find(handle, a.DeviceGetComputeInstanceId, {"nvmlDeviceGetComputeInstanceId"});
  Find(handle, a.DeviceGetFieldValues, {"nvmlDeviceGetFieldValues"});
  Find(handle, a.DeviceGetSamples, {"nvmlDeviceGetSamples"});
  return api;
}

NvmlApi::~NvmlApi() { dlclose(library_); }

std::string NvmlApi::Explain(Return code) const {
  const char* text = ErrorString(code);
  return fmt::format("{} ({})", text == nullptr ? "unknown error" : text, code);
}

}  // namespace synergy::deviceplugin::nvml
