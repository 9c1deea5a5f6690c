#pragma once

// Rules that keep the pods of a gang apart: shared host ports, required pod anti-affinity, and hard
// topology spread. kube-scheduler enforces them (NodePorts, InterPodAffinity, PodTopologySpread);
// it does not refuse a plan that respects them.
//
// Threading: values, immutable once shared.

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/disruption_budget.h"

namespace synergy {

struct HostPort {
  std::string ip;        // 0.0.0.0: all addresses of the node
  std::string protocol;  // "TCP"
  int32_t port = 0;

  bool operator==(const HostPort&) const = default;
};

// Keeps the pod out of domains with pods of its namespace that `selector` matches, and keeps those
// out of its own domain. Nodes with the same value of the label `topology_key` are a domain.
struct AntiAffinity {
  std::string topology_key;
  LabelSelector selector;

  bool operator==(const AntiAffinity&) const = default;
};

// Keeps the pod out of domains where `selector` matches `max_skew` more pods than in the domain
// with the fewest.
struct TopologySpread {
  std::string topology_key;
  int32_t max_skew = 1;
  int32_t min_domains = 1;  // with fewer domains, the least count is taken as zero
  LabelSelector selector;
  // Whether nodes count only if the pod's node selector and affinity permit them, or its
  // tolerations do.
  bool honors_affinity = true;
  bool honors_taints = false;

  bool operator==(const TopologySpread&) const = default;
};

struct Separation {
  std::vector<HostPort> host_ports;
  std::vector<AntiAffinity> anti_affinity;
  std::vector<TopologySpread> spread;

  bool operator==(const Separation&) const = default;
};

// Returns whether pods with these rules cannot share a node because of a port.
bool ShareAPort(const Separation& a, const Separation& b);

}  // namespace synergy
