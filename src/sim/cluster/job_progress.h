#pragma once

// Tracks the progress of the jobs of a simulated cluster.
//
// A pod runs at the throughput that its profile has for the memory in force and for its CPU. The
// pods of a node share its CPU by the amounts in force (allocation/sharing.h); under strict
// enforcement no pod gets more than its amount. A job runs as fast as its slowest pod. It starts to
// work once its last pod has started and the restart cost has passed. Until a job has read its data
// set once, the storage may limit its speed.
//
// If a node's storage has a bandwidth, the node's pods share it by their needs
// (allocation/storage/storage_left.h). Other pods get the CPU that a pod cannot use while it waits
// for data. A pod of a gang needs as much as if it did not wait for the other members.
//
// Threading: one owner.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/managed_container.h"
#include "core/clock.h"
#include "core/resources.h"
#include "profile/data_reads.h"
#include "profile/job_profile.h"
#include "profile/spread_cost.h"

namespace synergy {

class JobProgress {
 public:
  static constexpr size_t kNoJob = std::numeric_limits<size_t>::max();

  struct Rules {
    Duration restart_cost{};
    // Factors on the speed of a job on several nodes, and on several racks, if its profile has
    // none.
    double spread_factor = 1;
    double rack_spread_factor = 1;
  };
  explicit JobProgress(Rules rules) : rules_(rules) {}

  struct Work {
    Seconds ideal{};             // at the fair share
    double fair_throughput = 1;  // the profile's throughput at the fair share
    uint32_t pods = 1;
    bool runs_already = false;  // the restart cost has been paid
    Seconds first_part{};       // see Job::first_part
    double workers_factor = 1;  // on the job's speed, by its number of pods
    SpreadCost spread;          // the profile's slowdown; without one, that of the rules
  };
  // REQUIRES: `job` is a number below kNoJob that was not used before.
  void Begin(size_t job, const Work& work);

  // Gives the job another number of pods. REQUIRES: none of its pods exists.
  void SetWorkers(size_t job, uint32_t pods, double workers_factor);

  // `rack` is empty if unknown. `storage`: its bandwidth per second; 0: each pod has its own.
  void SetNode(const std::string& node, MilliCpu cpu, const std::string& rack = {},
               Bytes storage = Bytes(0)) {
    nodes_[node].cpu = cpu;
    nodes_[node].rack = rack;
    nodes_[node].storage = static_cast<double>(storage.count());
  }

  struct RunningPod {
    std::string uid;
    size_t job = kNoJob;   // pods without a job only share the CPU
    uint32_t ordinal = 0;  // among the job's pods
    ResourceVector in_force;
    std::shared_ptr<const JobProfile> profile;  // for its GPUs; null: the pod uses its requests
    Enforcement enforcement = Enforcement::kShared;
    double speed = 1;  // speed of its GPUs: a factor on the profile's throughput
    // The remaining work, in the profile's unit, for which the data come from storage, and the
    // throughput that storage allows. Absent: the cache is warm.
    struct ColdEpoch {
      double work = 0;
      double most = 0;
    };
    std::optional<ColdEpoch> cold_epoch = std::nullopt;
    DataReads reads = {};  // from the node's storage
  };
  void Start(const std::string& node, RunningPod pod, Instant now);
  void SetInForce(const std::string& node, const std::string& uid, const ResourceVector& in_force,
                  Instant now);
  // Sets the CPU quota of a probe on the pod; nullopt removes it.
  void SetQuota(const std::string& node, const std::string& uid,
                const std::optional<CpuProbe>& quota, Instant now);
  // The pace of a job's pod, its CPU, and the CPU that it could use.
  struct Pace {
    double throughput = 0;  // in the profile's unit
    MilliCpu cpu;
    MilliCpu useful;
    // The throughput that storage allows in the first epoch; absent: that epoch is over.
    std::optional<double> cold_most;
  };
  // Returns nullopt if the pod does not work yet, or if the effect of CPU on it is unknown.
  std::optional<Pace> PaceOf(const std::string& node, const std::string& uid, Instant now) const;
  void Stop(const std::string& node, const std::string& uid, Instant now);
  void End(size_t job) { jobs_.erase(job); }
  // Suspends the job, whose pods end. REQUIRES: called before Stop() of each pod. The job keeps its
  // progress, and pays the restart cost again once all of its pods have started again.
  void Suspend(size_t job, Instant now);
  // Keeps that many pods of a suspended job, so that they need not start again.
  void KeepStarted(size_t job, uint32_t pods, Instant now);
  // Sets the factor on the job's speed that results from sharing its GPUs. With 0, its pods are
  // frozen, and their CPU goes to their neighbours.
  void SetGpuFactor(size_t job, double factor, Instant now);
  // Returns how long the job still takes at its present speed, or without interruptions if its
  // pods are frozen; nullopt while it does not work.
  std::optional<Duration> RemainingOf(size_t job, Instant now) const;
  // Returns the remaining work, as time at the fair share. REQUIRES: the job does not work.
  Seconds WorkLeft(size_t job) const { return Seconds(jobs_.at(job).remaining); }
  void SetWorkLeft(size_t job, Seconds left) { jobs_.at(job).remaining = left.count(); }
  // Returns when the job completed its first part; nullopt if it did not complete it by `now`, or
  // if the job has no first part.
  std::optional<Instant> FirstPartDone(size_t job, Instant now) const;
  // Returns the speed relative to that at the fair share; 0 for a job that does not run.
  double SpeedOf(size_t job) const;

  // The next event of a job if nothing changes: its end, or the end of its first epoch. Each call
  // of the functions above may change it for some jobs, which makes earlier answers void.
  struct Finish {
    size_t job = 0;
    Instant at{};
    uint32_t generation = 0;
    bool first_epoch = false;  // the event is the end of the first epoch
  };
  std::vector<Finish> TakeFinishes();
  bool Holds(const Finish& finish) const;
  // Records that the data of the job's pods are in their caches from now on.
  void EndFirstEpoch(size_t job, Instant now);

 private:
  struct JobState {
    Work work;
    double remaining = 0;  // seconds at the fair share
    double cold = 0;       // the part of `remaining` with data from storage
    double speed = 0;
    double last_speed = 0;  // the last speed that was not 0
    Instant from{};         // when the work begins
    Instant advanced_to{};  // `remaining` is as of then
    std::vector<double> pod_speeds;
    std::vector<std::string> pod_nodes;
    uint32_t started = 0;  // number of pods
    uint32_t generation = 0;
    double spread = 1;  // factor of the placement on the speed
    double gpu_factor = 1;
    std::optional<Instant> first_part_done = std::nullopt;

    bool Runs() const { return started == work.pods; }
  };
  struct Tenant {
    RunningPod pod;
    MilliCpu useful;
    MilliCpu cold_useful;  // useful CPU in the first epoch
    std::optional<CpuProbe> quota = std::nullopt;
    MilliCpu cpu = {};  // CPU that the pod gets
  };
  struct NodeTenants {
    MilliCpu cpu;
    std::string rack;
    double storage = 0;  // bytes per second; 0: each pod has its own storage
    std::vector<Tenant> tenants;
  };

  bool Runs(const RunningPod& pod) const;
  bool IsCold(const RunningPod& pod) const;
  double SpreadOf(const JobState& job) const;
  static void Advance(JobState& state, Instant now);
  // Returns the throughput of a tenant with that CPU, if its storage is its own.
  double ThroughputOf(const Tenant& tenant, MilliCpu cpu) const;
  // Returns the throughputs that the node's storage allows these tenants, which have that CPU;
  // infinity for tenants that do not wait for storage.
  std::vector<double> StorageLimits(const NodeTenants& node, const std::vector<Tenant*>& tenants,
                                    const std::vector<MilliCpu>& cpu) const;
  void DivideAmongTenants(NodeTenants& node, Instant now);
  void SetSpeed(size_t job, uint32_t ordinal, double speed, Instant now);

  Rules rules_;
  std::unordered_map<std::string, NodeTenants> nodes_;
  std::unordered_map<size_t, JobState> jobs_;
  std::vector<size_t> changed_;
};

}  // namespace synergy
