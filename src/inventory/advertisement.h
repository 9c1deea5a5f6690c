#pragma once

// Decides how a node's GPUs are advertised to the kubelet: under which resource names, and which
// devices each resource has. A resource's devices may be offered several times, so that several
// containers share a GPU (docs/internals/sharing.md): "GPU-...::0" and so on, under a name with
// the suffix ".shared" for slices, which are used at the same time, and ".turns" for turns. The ids
// depend only on the GPU and their number.
//
// Threading: pure.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu_amount.h"
#include "core/result.h"
#include "inventory/gpu.h"
#include "inventory/health.h"

namespace synergy {

// How GPUs in MIG mode are advertised; named as in NVIDIA's device plugin.
enum class MigStrategy {
  kNone,    // left out
  kSingle,  // their parts are devices of the GPU resource
  kMixed,   // their parts are devices of nvidia.com/mig-<profile>
};
std::string_view ToString(MigStrategy strategy);
Result<MigStrategy> ParseMigStrategy(std::string_view text);

struct GpuResourceRule {
  std::string product;   // a pattern with * and ?, for a product's name
  std::string resource;  // "nvidia.com/a100"
};

inline constexpr int kMostReplicas = 64;
// More pods would be suspended for too long (engine/sharing/gpu_turns.h).
inline constexpr int kMostTurns = 4;

struct AdvertisementRules {
  std::string resource = "nvidia.com/gpu";  // if no rule matches
  std::vector<GpuResourceRule> rules;       // the first match counts
  MigStrategy mig_strategy = MigStrategy::kNone;
  // How many slices each device of a resource is offered in, by resource; whole if it is missing.
  std::map<std::string, int, std::less<>> replicas;
  // How many containers take turns on each device of a resource. A resource is in one of the two.
  std::map<std::string, int, std::less<>> turns;
};

struct GpuDevice {
  std::string id;  // the GPU's UUID, or the MIG device's; of a slice, with its number
  size_t gpu = 0;  // its position in the inventory
  int numa_node = kNoNuma;
  GpuHealth health;

  bool operator==(const GpuDevice&) const = default;
};

struct Advertisement {
  // By resource. A resource in `known` that has lost its last device stays, with an empty list,
  // because the kubelet must be informed.
  std::map<std::string, std::vector<GpuDevice>, std::less<>> resources;
  // How many slices, or turns, a device of a resource has, by resource, if it has any.
  std::map<std::string, int, std::less<>> replicas;
  // Why a GPU is left out, by UUID.
  std::map<std::string, std::string> left_out;

  bool operator==(const Advertisement&) const = default;
};

// Returns how many slices or turns every device on offer has; 0 if they differ, or some are whole.
int ReplicasOf(const Advertisement& advertisement);
// Whether the resource's devices are used in turns.
bool IsInTurns(const Advertisement& advertisement, std::string_view resource);
// Whether that holds for all devices on offer.
bool AreAllInTurns(const Advertisement& advertisement);

// `health` is called for GPUs and MIG devices; a part is no healthier than its GPU. `known`: the
// resources that were advertised before.
Advertisement Advertise(const GpuInventory& inventory, const AdvertisementRules& rules,
                        const std::function<GpuHealth(std::string_view uuid)>& health,
                        const std::vector<std::string>& known = {});

// "NVIDIA A100*" matches "NVIDIA A100-SXM4-80GB". Linear in pattern x text.
bool MatchesPattern(std::string_view pattern, std::string_view text);

}  // namespace synergy
