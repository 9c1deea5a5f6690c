#pragma once

// Decides how to advertise a node's GPUs to the kubelet: under which resource names, and which
// devices each resource has. A resource's devices may be offered several times, so that several
// containers share a GPU (docs/internals/sharing.md). Their ids are "GPU-...::0" and so on; their
// resource has the suffix ".shared" for slices, which are used at the same time, and ".turns" for
// turns. The ids depend only on the GPU and the number of its shares.
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

// How to advertise GPUs in MIG mode; named as in NVIDIA's device plugin.
enum class MigStrategy {
  kNone,    // not advertised
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
// With more, pods would be suspended for too long (engine/sharing/gpu_turns.h).
inline constexpr int kMostTurns = 4;

struct AdvertisementRules {
  std::string resource = "nvidia.com/gpu";  // if no rule matches
  std::vector<GpuResourceRule> rules;       // the first match counts
  MigStrategy mig_strategy = MigStrategy::kNone;
  // The number of slices as which each device of a resource is offered, by resource. Devices of
  // resources without an entry are whole.
  std::map<std::string, int, std::less<>> replicas;
  // How many containers take turns on each device of a resource. A resource is in at most one of
  // the two maps.
  std::map<std::string, int, std::less<>> turns;
};

struct GpuDevice {
  std::string id;  // the UUID of the GPU or MIG device; for a slice, with its number
  size_t gpu = 0;  // position in the inventory
  int numa_node = kNoNuma;
  GpuHealth health;

  bool operator==(const GpuDevice&) const = default;
};

struct Advertisement {
  // The devices by resource. A resource in `known` that lost its last device stays, with an empty
  // list, because the kubelet must be informed.
  std::map<std::string, std::vector<GpuDevice>, std::less<>> resources;
  // How many slices or turns each device of a resource has, by resource. Omits resources whose
  // devices are whole.
  std::map<std::string, int, std::less<>> replicas;
  // Why a GPU is not advertised, by UUID.
  std::map<std::string, std::string> left_out;

  bool operator==(const Advertisement&) const = default;
};

// Returns how many slices or turns every offered device has; 0 if they differ, or some are whole.
int ReplicasOf(const Advertisement& advertisement);
// Returns whether the resource's devices are used in turns.
bool IsInTurns(const Advertisement& advertisement, std::string_view resource);
// Returns whether all offered devices are used in turns.
bool AreAllInTurns(const Advertisement& advertisement);

// `health` is called for GPUs and MIG devices; a part is never healthier than its GPU. `known`: the
// resources advertised before.
Advertisement Advertise(const GpuInventory& inventory, const AdvertisementRules& rules,
                        const std::function<GpuHealth(std::string_view uuid)>& health,
                        const std::vector<std::string>& known = {});

// Returns whether the whole text matches the pattern: true for "NVIDIA A100*" and "NVIDIA
// A100-SXM4-80GB". Takes time proportional to pattern x text.
bool MatchesPattern(std::string_view pattern, std::string_view text);

}  // namespace synergy
