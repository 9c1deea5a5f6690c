#pragma once

// Plans when and where jobs that have waited long get their GPUs, and which pods may run there
// until then. Without this, a job with many GPUs would wait as long as smaller jobs keep every node
// partly busy. The job gets a GPU reservation: nodes, and a start that follows from when the jobs
// there end. The start is an estimate that moves with the jobs' expected ends.
//
//   PlanReservations()  jobs by priority, then by waiting time -> nodes whose needed GPUs are free
//                       soonest, with the CPU and memory that the job needs at least; what belongs
//                       to jobs without a known end is not counted on
//   MayTake()           a pod may go to reserved GPUs if it ends before the earliest start
//                       (backfill); GPUs that the start does not need stay open to everybody
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
  // A reservation moves to other nodes only if that saves at least this fraction of the remaining
  // wait, and at least this time.
  double least_gain = 0.2;
  Duration least_saving = std::chrono::minutes(5);
};

// A time that is not known exactly. The caller chooses the confidence with which it lies between
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
    size_t job = 0;  // in GpuCluster::running
    Gpus gpus;
    // The job keeps at least these while it runs. Others may get the rest.
    MilliCpu cpu{};
    Bytes memory{};
  };

  std::string name;
  size_t product = 0;  // in GpuCluster::products
  Gpus gpus;
  bool takes_pods = true;
  // For all jobs on it together.
  MilliCpu cpu{};
  Bytes memory{};
  std::vector<Use> uses;
};

struct WaitingGpuJob {
  std::string name;
  int32_t priority = 0;
  Instant since{};
  std::vector<ResourceVector> pods;  // what each needs at least
  size_t nodes = 0;                  // in GpuCluster::node_sets: where its pods may go
  bool expects_nodes = false;        // an autoscaler makes nodes for it
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
    // The job's pods there need at least these.
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

// Tells why a waiting job has no reservation, or that it has one. If a job may use several
// products, the last of their outcomes in this order counts.
enum class ReservationOutcome : uint8_t {
  kOff,            // its nodes' products have no reservations
  kFewGpus,        // it asks for fewer than ReservationSettings::least_gpus
  kNotYet,         // it has not waited for long enough
  kExpectsNodes,   // an autoscaler creates nodes for it
  kOthersHaveAll,  // jobs ahead of it have all the reservations allowed
  kNotTried,       // too many jobs ahead of it got none
  kNeverFits,      // not even if all of its nodes were empty
  kNoDates,        // the jobs with known ends free too little on any nodes
  kReserved,
};

struct ReservationPlan {
  std::vector<GpuReservation> reservations;
  std::vector<ReservationOutcome> outcomes;  // of GpuCluster::waiting
};

// Plans the current reservations. A job keeps its places in `before` unless other nodes save enough
// time. The search tries at most kMostTriedJobs different jobs.
inline constexpr size_t kMostTriedJobs = 32;
ReservationPlan PlanReservations(const GpuCluster& cluster, std::span<const GpuReservation> before,
                                 Instant now);

// Returns whether a pod that was refused under `before` may pass under `after`.
bool LetsMorePass(std::span<const GpuReservation> before, std::span<const GpuReservation> after);

// A pod that is a candidate for a node with reserved GPUs.
struct PassingPod {
  std::string_view job;
  int32_t priority = 0;
  Gpus gpus;  // of the whole gang, since all of its pods may go to this node
  std::optional<Duration> longest = std::nullopt;  // it ends within this; none: unknown
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
  const GpuReservation* by = nullptr;  // kRefused: the first one that the pod would delay
};

// Returns whether the pod may go to `node`, where `free` GPUs are free and running jobs hold those
// in `held`. The answer is also right between two plans, when jobs have ended or begun since.
PassingVerdict MayTake(const PassingPod& pod, std::span<const GpuReservation> reservations,
                       std::string_view node, Gpus free, std::span<const HeldGpus> held,
                       Instant now);

}  // namespace synergy
