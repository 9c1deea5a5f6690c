#pragma once

// How far the jobs of a simulated cluster have come.
//
// A pod goes at the throughput that its profile has for the memory that is in force and the CPU
// that it gets: what a node has is shared among those who run there by what is in force
// (allocation/sharing.h), under strict enforcement nobody has more than that. A job goes as fast as
// the slowest of its pods, from the restart cost after the last of them has started. Until it has
// read its data set once, what storage delivers may be less.
//
// Threading: one owner.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/fungible.h"
#include "core/clock.h"
#include "core/resources.h"
#include "profile/job_profile.h"
#include "profile/spread_cost.h"

namespace synergy {

class JobProgress {
 public:
  static constexpr size_t kNoJob = std::numeric_limits<size_t>::max();

  struct Rules {
    Duration restart_cost{};
    // On the speed of a job of which nothing else is known, on several nodes and over racks.
    double spread_factor = 1;
    double rack_spread_factor = 1;
  };
  explicit JobProgress(Rules rules) : rules_(rules) {}

  struct Work {
    Seconds ideal{};             // at the fair share
    double fair_throughput = 1;  // what a profile says of the fair share
    uint32_t pods = 1;
    bool runs_already = false;  // it has paid the restart cost
    Seconds first_part{};       // as Job::first_part
    SpreadCost spread;          // its speeds; without one, by the rules
  };
  // `job` is any number below kNoJob, not used before.
  void Begin(size_t job, const Work& work);

  // `rack`: empty where nobody says.
  void SetNode(const std::string& node, MilliCpu cpu, const std::string& rack = {}) {
    nodes_[node].cpu = cpu;
    nodes_[node].rack = rack;
  }

  struct RunningPod {
    std::string uid;
    size_t job = kNoJob;   // those of none share the CPU only
    uint32_t ordinal = 0;  // among the job's pods
    ResourceVector in_force;
    std::shared_ptr<const JobProfile> profile;  // for its GPUs; null: it uses what it asks for
    Enforcement enforcement = Enforcement::kShared;
    // In the profile's unit: the work in which its data come from storage, and how fast that is.
    // None: its cache is warm.
    struct ColdEpoch {
      double work = 0;
      double most = 0;
    };
    std::optional<ColdEpoch> cold_epoch = std::nullopt;
  };
  void Start(const std::string& node, RunningPod pod, Instant now);
  void SetInForce(const std::string& node, const std::string& uid, const ResourceVector& in_force,
                  Instant now);
  // A probe's quota is on the pod; none: it is not any more.
  void SetQuota(const std::string& node, const std::string& uid, std::optional<MilliCpu> quota,
                Instant now);
  // How fast a pod of a job works, with what CPU, and with how much it could work.
  struct Pace {
    double throughput = 0;  // in the profile's unit
    MilliCpu cpu;
    MilliCpu useful;
    // What storage allows in the first epoch; none: that is over.
    std::optional<double> cold_most;
  };
  // None: it does not work yet, or nobody knows what CPU does for it.
  std::optional<Pace> PaceOf(const std::string& node, const std::string& uid, Instant now) const;
  void Stop(const std::string& node, const std::string& uid, Instant now);
  void End(size_t job) { jobs_.erase(job); }
  // The job's pods are ended, to be called before Stop() of each. It keeps what it has done, and
  // pays the restart cost again once all of its pods have been started anew.
  void Suspend(size_t job, Instant now);
  // Returns how long the job still takes at its present speed; nullopt while it does not work.
  std::optional<Duration> RemainingOf(size_t job, Instant now) const;
  // When it had done its first part; none: not by `now`, or it has none.
  std::optional<Instant> FirstPartDone(size_t job, Instant now) const;
  // Of the speed at the fair share; 0 for a job that does not run.
  double SpeedOf(size_t job) const;

  // When a job ends as things are, or has read its data once. Each call of the functions above may
  // change that of some jobs; what was said before holds no more.
  struct Finish {
    size_t job = 0;
    Instant at{};
    uint32_t saying = 0;
    bool first_epoch = false;  // it is that alone which ends
  };
  std::vector<Finish> TakeFinishes();
  bool Holds(const Finish& finish) const;
  // The data of the job's pods are in their caches from now on.
  void EndFirstEpoch(size_t job, Instant now);

 private:
  struct JobState {
    Work work;
    double remaining = 0;  // seconds at the fair share
    double cold = 0;       // ... of these with data from storage
    double speed = 0;
    Instant from{};    // it works from then on
    Instant booked{};  // `remaining` is as of then
    std::vector<double> pod_speeds;
    std::vector<std::string> pod_nodes;
    uint32_t started = 0;  // pods
    uint32_t saying = 0;
    double spread = 1;  // what its places leave of its speed
    std::optional<Instant> first_part_done = std::nullopt;

    bool Runs() const { return started == work.pods; }
  };
  struct Tenant {
    RunningPod pod;
    MilliCpu useful;
    MilliCpu cold_useful;  // in the first epoch
    std::optional<MilliCpu> quota = std::nullopt;
    MilliCpu cpu = {};  // that it gets
  };
  struct NodeTenants {
    MilliCpu cpu;
    std::string rack;
    std::vector<Tenant> tenants;
  };

  bool Runs(const RunningPod& pod) const;
  bool IsCold(const RunningPod& pod) const;
  double SpreadOf(const JobState& job) const;
  static void Book(JobState& state, Instant now);
  void ShareCpuOf(NodeTenants& node, Instant now);
  void SetSpeed(size_t job, uint32_t ordinal, double speed, Instant now);

  Rules rules_;
  std::unordered_map<std::string, NodeTenants> nodes_;
  std::unordered_map<size_t, JobState> jobs_;
  std::vector<size_t> changed_;
};

}  // namespace synergy
