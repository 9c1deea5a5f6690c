#pragma once

// `synergy queue`: which workloads of one of Kueue's queues run, and which are next and why, in
// order. It is computed from the cluster's objects with the controller's own function
// (queues/rounds.h).
//
// Threading: pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cluster/queue_facts.h"
#include "cli/text/shown.h"
#include "cli/text/tree.h"
#include "core/clock.h"
#include "core/units.h"
#include "queues/rounds.h"

namespace synergy::cli {

// A workload in its queue.
struct QueuedView {
  std::string workload_namespace;
  std::string workload;
  std::string kind;  // kind of its job: "Job"; empty: it has no job
  std::string job;   // the job's name, or the workload's if there is no job
  // "runs", "starts" (its pods do not all run yet), "unplaced" (some have no node), "leaves" (they
  // are being ended), "waits", "backoff" (Kueue queues it again later), "stopped" (by its user), or
  // "ended".
  std::string_view state;
  Gpus gpus;
  // nullopt: no RoundPolicy that the user may see orders its queue.
  std::optional<Band> band;
  std::string why;              // why it is in that band
  std::optional<size_t> place;  // among the waiting ones, from 1
  // Service and waiting times; nullopt: not counted.
  std::optional<RoundService> service;
  std::vector<std::string> unplaced;  // its pods without a node
  // If an admission check chooses its GPU type: the type (empty if it has none), and why it has
  // that type, or what it waits for.
  std::string product;
  std::string product_why;

  const std::string& Why() const { return why.empty() ? product_why : why; }
  std::string Name() const { return workload_namespace + "/" + job; }
};

struct QueueView {
  std::string name;
  std::string round_policy;    // the policy that names the queue; empty: none
  RoundSettings settings;      // the policy's settings
  std::string problem;         // why it is not ordered although a policy names it
  bool chooses_types = false;  // its policy chooses GPU types
  std::optional<Gpus> quota;   // nullopt: there is no such ClusterQueue, or the user may not see it
  size_t running = 0;
  size_t waiting = 0;
  std::vector<QueuedView> workloads;  // those with GPUs, in order: running ones, then waiting ones
};

// Returns whether a ClusterQueue with that name is known, or a LocalQueue names it, for users who
// may not see ClusterQueues.
bool HasQueue(const QueueFacts& facts, const std::string& name);
// Returns the view of a ClusterQueue; an empty one if there is no such queue.
QueueView ViewQueue(const QueueFacts& facts, const std::string& name, WallTime now);
// Returns the queues that a RoundPolicy names, by name.
std::vector<QueueView> ViewOrderedQueues(const QueueFacts& facts, WallTime now);
// Returns the view of a workload that has ended and is no longer in a queue.
QueuedView ViewEnded(const Workload& workload);
// Returns the name of the workload's ClusterQueue; empty if unknown.
std::string QueueOf(const QueueFacts& facts, const Workload& workload);

Tree ToTree(const QueuedView& view);
Tree ToTree(const QueueView& view);
std::string HeadLine(const QueueView& view);  // "Queue train: las by RoundPolicy train, 8 GPUs"
// `headings`: the queue's line, and the line of column headings.
std::string ToText(const QueueView& view, bool headings = true);
Shown ShowQueues(const std::vector<QueueView>& views, bool headings);

}  // namespace synergy::cli
