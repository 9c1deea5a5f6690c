#pragma once

// Plans when and where jobs that have waited long get their GPUs, and which pods may run there
// until then. Without reservations, a job with many GPUs would wait as long as smaller jobs keep
// every node partly busy. A GPU reservation consists of nodes and a start. The start is an estimate
// that follows from the expected ends of the jobs on these nodes.
//
//   PlanReservations()  jobs by priority, then by waiting time -> nodes whose needed GPUs are free
//                       soonest, with the least CPU and memory that the job needs; does not count
//                       on resources of jobs without a known end
//   MayTake()           a pod may use reserved GPUs if it ends before the earliest start
//                       (backfill); GPUs that the start does not need stay open to all pods
//
// Source: EASY backfilling (Lifka, 1995), here per node, and with intervals in place of users' time
// limits.
//
// Threading: pure.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/resources.h"
#include "core/units.h"

namespace synergy {

// The settings for one GPU product.
struct ReservationSettings {
  Duration after = std::chrono::minutes(10);  // a job that has waited this long gets a reservation
  size_t most = 1;                            // reservations at a time
  Gpus least_gpus;                            // jobs with fewer get none
  // A reservation moves to other nodes only if the move saves at least this fraction of the
  // remaining wait, and at least this time.
  double least_gain = 0.2;
  Duration least_saving = std::chrono::minutes(5);
};

// A time that is not known exactly. The caller chooses the probability that the time lies between
// `earliest` and `latest`. REQUIRES: earliest <= likely <= latest.
struct TimeRange {
  Instant earliest{};
  Instant likely{};
  Instant latest{};

  bool operator==(const TimeRange&) const = default;
};

struct RunningGpuJob {
  std::string name;
  std::optional<TimeRange> ends;  // none: unknown
};

struct GpuNode {
  struct Use {
    size_t job = 0;  // index in GpuCluster::running
    Gpus gpus;
    // The job keeps at least these amounts while it runs. Other jobs may get the rest.
    MilliCpu cpu{};
    Bytes memory{};
  };

  std::string name;
  size_t product = 0;  // index in GpuCluster::products
  Gpus gpus;
  bool takes_pods = true;
  // The total for all jobs on the node.
  MilliCpu cpu{};
  Bytes memory{};
  std::vector<Use> uses;
};

struct WaitingGpuJob {
  std::string name;
  int32_t priority = 0;
  Instant since{};
  std::vector<ResourceVector> pods;  // the least amounts that each pod needs
  size_t nodes = 0;                  // index in GpuCluster::node_sets: eligible nodes
  bool expects_nodes = false;        // an autoscaler creates nodes for it
};

struct GpuCluster {
  std::vector<std::optional<ReservationSettings>> products;  // none: no reservations
  std::vector<GpuNode> nodes;
  std::vector<RunningGpuJob> running;
  std::vector<WaitingGpuJob> waiting;
  std::vector<std::vector<bool>> node_sets;  // each by node
};

struct GpuReservation {
  struct Place {
    std::string node;
    Gpus gpus;
    // The least amounts that the job's pods need on the node.
    MilliCpu cpu{};
    Bytes memory{};

    bool operator==(const Place&) const = default;
  };

  std::string job;
  int32_t priority = 0;
  size_t product = 0;
  std::vector<Place> places;  // by node name
  TimeRange starts;
  std::vector<std::string> waits_for;  // running jobs, in the order in which they likely end

  bool operator==(const GpuReservation&) const = default;
};

// The reason why a waiting job has no reservation, or kReserved. If a job may use several products,
// the last of their outcomes in this order counts.
enum class ReservationOutcome : uint8_t {
  kOff,            // its nodes' products have no reservations
  kFewGpus,        // it asks for fewer than ReservationSettings::least_gpus
  kNotYet,         // it has not waited for long enough
  kExpectsNodes,   // an autoscaler creates nodes for it
  kOthersHaveAll,  // jobs ahead of it have all the reservations allowed
  kNotTried,       // too many jobs ahead of it got no reservation
  kNeverFits,      // not even if all of its nodes were empty
  kNoDates,        // the jobs with known ends free too few resources on all nodes
  kReserved,
};

struct ReservationPlan {
  std::vector<GpuReservation> reservations;
  std::vector<ReservationOutcome> outcomes;  // of GpuCluster::waiting
};

// Plans the current reservations. A job keeps its places in `before`, the previous plan, unless
// other nodes save enough time. The search tries at most kMostTriedJobs different jobs.
inline constexpr size_t kMostTriedJobs = 32;
ReservationPlan PlanReservations(const GpuCluster& cluster, std::span<const GpuReservation> before,
                                 Instant now);

// Returns whether a pod that was refused under `before` may pass under `after`.
bool LetsMorePass(std::span<const GpuReservation> before, std::span<const GpuReservation> after);

// A pod that is a candidate for a node with reserved GPUs.
struct PassingPod {
  std::string_view job;
  int32_t priority = 0;
  Gpus gpus;
  std::optional<Duration> longest = std::nullopt;  // its longest possible run; none: unknown
  bool has_no_other_node = false;                  // no other node could ever take it
};

// GPUs that a running job holds on the node.
struct HeldGpus {
  std::string_view job;
  Gpus gpus;
};

enum class Passing : uint8_t {
  kNotReserved,  // no other job has GPUs reserved here
  kNoOtherNode,
  kHigherPriority,
  kEndsInTime,
  kLeavesEnough,  // enough GPUs remain that the reservations here do not need
  kRefused,
};

struct PassingVerdict {
  Passing passing = Passing::kNotReserved;
  // kRefused: the first one that the pod would delay. kLeavesEnough: the one that leaves the
  // fewest.
  const GpuReservation* by = nullptr;
  // kLeavesEnough, kRefused: how many GPUs of the node the pod's job may take. Can be negative.
  Gpus open = Gpus(0);
};

// Returns whether the pod may run on `node`, where `free` GPUs are free and running jobs hold
// `held`. The answer also holds between two plans, if jobs have ended or begun since the last plan.
PassingVerdict MayTake(const PassingPod& pod, std::span<const GpuReservation> reservations,
                       std::string_view node, Gpus free, std::span<const HeldGpus> held,
                       Instant now);

}  // namespace synergy
