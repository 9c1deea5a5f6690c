#pragma once

// `synergy queue`: who runs in a queue of Kueue's, who is next and why, in order; decided from the
// cluster's objects by the function that the controller decides by (queues/rounds.h).
//
// Threading: pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cluster/queue_facts.h"
#include "cli/text/tree.h"
#include "core/clock.h"
#include "core/units.h"
#include "queues/rounds.h"

namespace synergy::cli {

// A workload in its queue.
struct QueuedView {
  std::string workload_namespace;
  std::string workload;
  std::string kind;  // of its job: "Job"; empty: it has none
  std::string job;   // the job's name, else the workload's
  // "runs", "starts" (its pods do not all run yet), "unplaced" (some have no node), "leaves" (they
  // are being ended), "waits", "stopped" by its user, "ended"
  std::string_view state;
  Gpus gpus;
  // None: no RoundPolicy orders its queue, or none that the user may see.
  std::optional<Band> band;
  std::string why;              // it is in that band
  std::optional<size_t> place;  // among those that wait, from 1
  // What it has had and how long it has waited; none: nobody counts.
  std::optional<RoundService> service;
  std::vector<std::string> unplaced;  // its pods without a node
  // Where an admission check gives it its GPU type: the type, or none, and why it has that or what
  // it waits for.
  std::string product;
  std::string product_why;

  const std::string& Why() const { return why.empty() ? product_why : why; }
  std::string Name() const { return workload_namespace + "/" + job; }
};

struct QueueView {
  std::string name;
  std::string round_policy;    // that names it; empty: none
  RoundSettings settings;      // of that policy
  std::string problem;         // why it is not ordered all the same
  bool chooses_types = false;  // its policy does
  std::optional<Gpus> quota;   // none: the ClusterQueue is not there, or may not be seen
  size_t running = 0;
  size_t waiting = 0;
  std::vector<QueuedView> workloads;  // with GPUs, in order: who runs, then who is next
};

// Also where the user may not see ClusterQueues, and one is named by another object.
bool HasQueue(const QueueFacts& facts, const std::string& name);
// A ClusterQueue; one that is not there is empty.
QueueView ViewQueue(const QueueFacts& facts, const std::string& name, WallTime now);
// Those that a RoundPolicy names, by name.
std::vector<QueueView> ViewOrderedQueues(const QueueFacts& facts, WallTime now);
// A workload that has ended, which is in no queue any more.
QueuedView ViewEnded(const Workload& workload);
// The name of its ClusterQueue; empty: not known.
std::string QueueOf(const QueueFacts& facts, const Workload& workload);

Tree ToTree(const QueuedView& view);
Tree ToTree(const QueueView& view);
std::string HeadLine(const QueueView& view);  // "Queue train: las by RoundPolicy train, 8 GPUs"
std::string ToText(const QueueView& view);

}  // namespace synergy::cli
