#pragma once

// The part of NVML's C interface that this program uses, following its documentation: names,
// numbers and layouts are NVIDIA's stable binary interface. The build needs no files from NVIDIA.
//
// NvmlApi is the table of functions found in one library. Functions that only newer drivers have
// may be null; the others never are.
//
// Threading: any thread may call NVML. Ownership: the library stays loaded while the NvmlApi
// exists.

#include <memory>
#include <string>

#include "core/result.h"

namespace synergy::deviceplugin::nvml {

using Return = int;
inline constexpr Return kSuccess = 0;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kInsufficientSize = 7;
inline constexpr Return kTimeout = 10;
inline constexpr Return kGpuIsLost = 15;

struct DeviceHandle;
struct EventSetHandle;
using Device = DeviceHandle*;
using EventSet = EventSetHandle*;

inline constexpr unsigned kTextSize = 96;  // for every text that is read

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];
};

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct Utilization {
  unsigned gpu;
  unsigned memory;
};

struct Sample {
  unsigned long long timestamp;  // microseconds
  union {
    double real;
    unsigned number;
    unsigned long long long_number;
  };
};
inline constexpr int kUtilizationSamples = 1;  // nvmlSamplingType_t
inline constexpr int kUnsigned = 1;            // nvmlValueType_t

struct EventData {
  Device device;
  unsigned long long type;
  unsigned long long data;  // for an Xid event: the Xid
  // In MIG mode, the instance to which the Xid belongs; kNoInstance if it is not specific to one.
  unsigned gpu_instance;
  unsigned compute_instance;
};
inline constexpr unsigned kNoInstance = 0xffffffff;

struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency;
  int value_type;
  Return result;
  union {
    double real;
    unsigned number;
    unsigned long long long_number;
  };
};
inline constexpr unsigned kFieldRecoveryAction = 230;
// nvmlDeviceGpuRecoveryAction_t
inline constexpr unsigned kRecoveryNone = 0;
inline constexpr unsigned kRecoveryGpuReset = 1;
inline constexpr unsigned kRecoveryNodeReboot = 2;
inline constexpr unsigned kRecoveryDrainPeers = 3;
inline constexpr unsigned kRecoveryDrainAndReset = 4;
inline constexpr unsigned kRecoveryImexDomain = 5;
inline constexpr unsigned kRecoveryBusReset = 6;
inline constexpr unsigned kRecoverySystemReboot = 7;

inline constexpr unsigned long long kEventDoubleBitEcc = 2;
inline constexpr unsigned long long kEventXid = 8;

inline constexpr int kEccUncorrected = 1;
inline constexpr int kEccVolatile = 0;
inline constexpr int kTemperatureGpu = 0;
inline constexpr int kEnabled = 1;
inline constexpr unsigned kMaxNvLinks = 18;
inline constexpr int kRemoteSwitch = 2;  // the type of the device at the other end of an NVLink

// nvmlGpuTopologyLevel_t
inline constexpr int kTopologyInternal = 0;
inline constexpr int kTopologySingle = 10;
inline constexpr int kTopologyMultiple = 20;
inline constexpr int kTopologyHostBridge = 30;
inline constexpr int kTopologyNode = 40;

class NvmlApi {
 public:
  // Returns kNotFound if there is no such library, and kInvalid if it lacks a function that all
  // drivers since 2018 have.
  static Result<std::unique_ptr<NvmlApi>> Load(const std::string& library);
  ~NvmlApi();
  NvmlApi(const NvmlApi&) = delete;
  NvmlApi& operator=(const NvmlApi&) = delete;

  // Returns text such as "GPU is lost (15)".
  std::string Explain(Return code) const;

  Return (*Init)();
  Return (*Shutdown)();
  const char* (*ErrorString)(Return);
  Return (*SystemGetDriverVersion)(char*, unsigned);
  Return (*SystemGetCudaDriverVersion)(int*);
  Return (*DeviceGetCount)(unsigned*);
  Return (*DeviceGetHandleByIndex)(unsigned, Device*);
  Return (*DeviceGetUuid)(Device, char*, unsigned);
  Return (*DeviceGetName)(Device, char*, unsigned);
  Return (*DeviceGetMemoryInfo)(Device, Memory*);
  Return (*DeviceGetPciInfo)(Device, PciInfo*);
  Return (*DeviceGetMinorNumber)(Device, unsigned*);
  Return (*DeviceGetCudaComputeCapability)(Device, int*, int*);
  Return (*DeviceGetTopologyCommonAncestor)(Device, Device, int*);
  Return (*DeviceGetNvLinkState)(Device, unsigned, int*);
  Return (*DeviceGetNvLinkRemotePciInfo)(Device, unsigned, PciInfo*);
  Return (*DeviceGetTotalEccErrors)(Device, int, int, unsigned long long*);
  Return (*DeviceGetUtilizationRates)(Device, Utilization*);
  Return (*DeviceGetTemperature)(Device, int, unsigned*);
  Return (*DeviceGetPowerUsage)(Device, unsigned*);  // milliwatts
  Return (*EventSetCreate)(EventSet*);
  Return (*EventSetFree)(EventSet);
  Return (*EventSetWait)(EventSet, EventData*, unsigned);  // milliseconds
  Return (*DeviceRegisterEvents)(Device, unsigned long long, EventSet);
  Return (*DeviceGetSupportedEventTypes)(Device, unsigned long long*);
  // Null if the driver is too old.
  Return (*DeviceGetNvLinkRemoteDeviceType)(Device, unsigned, int*);
  Return (*DeviceGetRemappedRows)(Device, unsigned*, unsigned*, unsigned*, unsigned*);
  Return (*DeviceGetRetiredPagesPendingStatus)(Device, int*);
  Return (*DeviceGetMigMode)(Device, unsigned*, unsigned*);
  Return (*DeviceGetMaxMigDeviceCount)(Device, unsigned*);
  Return (*DeviceGetMigDeviceHandleByIndex)(Device, unsigned, Device*);
  Return (*DeviceGetGpuInstanceId)(Device, unsigned*);
  Return (*DeviceGetComputeInstanceId)(Device, unsigned*);
  Return (*DeviceGetFieldValues)(Device, int, FieldValue*);
  // Writes the samples after a timestamp, oldest first. With a null array it writes only how many
  // samples the driver keeps.
  Return (*DeviceGetSamples)(Device, int type, unsigned long long after, int* value_type,
                             unsigned* count, Sample*);

 private:
  explicit NvmlApi(void* library) : library_(library) {}

  void* library_;
};

}  // namespace synergy::deviceplugin::nvml
