#pragma once

// Inventories of real servers.

#include <string>
#include <vector>

#include "inventory/advertisement.h"
#include "inventory/gpu.h"

namespace synergy::testing {

inline std::string GpuId(size_t number) { return "GPU-" + std::to_string(number); }

// Returns GPUs spread evenly over `numa_nodes` nodes.
inline std::vector<Gpu> MakeGpus(size_t count, int numa_nodes,
                                 const std::string& product = "NVIDIA A100-SXM4-80GB") {
  std::vector<Gpu> gpus(count);
  for (size_t i = 0; i < count; ++i) {
    gpus[i].uuid = GpuId(i);
    gpus[i].product = product;
    gpus[i].memory = GiB(80);
    gpus[i].numa_node = static_cast<int>(i * static_cast<size_t>(numa_nodes) / count);
    gpus[i].device_nodes = {"/dev/nvidia" + std::to_string(i)};
  }
  return gpus;
}

// Returns 8 V100 in the hybrid cube mesh of a DGX-1: each GPU has six NVLinks, to four others.
inline GpuInventory Dgx1() {
  GpuInventory inventory(MakeGpus(8, 2, "Tesla V100-SXM2-32GB"));
  struct Pair {
    size_t a, b;
    int nvlinks;
  };
  constexpr Pair kPairs[] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1},
                             {1, 5, 2}, {2, 3, 2}, {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1},
                             {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
  for (const Pair& pair : kPairs)
    inventory.SetLink(pair.a, pair.b, {inventory.link(pair.a, pair.b).path, pair.nvlinks});
  return inventory;
}

// Returns GPUs that all reach each other at full speed through NVSwitch. A DGX A100 has 8, an HGX-2
// 16.
inline GpuInventory WithNvSwitch(size_t gpus) {
  GpuInventory inventory(MakeGpus(gpus, 2));
  for (size_t a = 0; a < gpus; ++a)
    for (size_t b = a + 1; b < gpus; ++b) inventory.SetLink(a, b, {inventory.link(a, b).path, 12});
  return inventory;
}

// Returns 8 GPUs on PCIe switches with two each. If `bridged`, an NVLink bridge links the two.
inline GpuInventory WithPcieSwitches(bool bridged) {
  GpuInventory inventory(MakeGpus(8, 2, "NVIDIA A40"));
  for (size_t a = 0; a < 8; a += 2)
    inventory.SetLink(a, a + 1, {PciPath::kSingleSwitch, bridged ? 4 : 0});
  return inventory;
}

// Returns the devices of all GPUs, healthy and under one resource.
inline std::vector<GpuDevice> DevicesOf(const GpuInventory& inventory) {
  std::vector<GpuDevice> devices;
  for (size_t i = 0; i < inventory.gpus().size(); ++i)
    devices.push_back({inventory.gpus()[i].uuid, i, inventory.gpus()[i].numa_node, {}});
  return devices;
}

}  // namespace synergy::testing
