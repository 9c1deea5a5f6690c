#pragma once

// A cluster of one node and one training whose true speed is known, in simulated time: its node
// agent reports, the profiler decides, and the decisions are carried out.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/random.h"
#include "engine/profiler/profiler.h"

namespace synergy::testing {

// Preprocessing takes `cost` CPU seconds per iteration, in workers beside a GPU that does `best`
// iterations per second.
struct MadeTrainer {
  std::string name;
  double best = 10;
  double cost = 0.5;
  double serial = 0;  // fixed seconds per iteration, in place of `best`
  double spin = 0;    // cores used by busy waiting
  double workers = 64;
  double queue = 2;  // batches that are prepared ahead
  double stall_every = 0;
  double stall = 0;
  double noise = 0.01;  // relative noise of each second's speed
  double outliers = 0;  // probability that a second is three times as slow
  // seconds after which the GPU becomes half as fast, or as fast as before again
  double phase = 0;
  bool phase_of_cpu = false;  // instead of the GPU's speed, the CPU time of preparing changes
  bool slow_first = false;    // the slow phase comes first
  double line = 0.5;          // seconds between two lines
  bool silent = false;
  // The node's agent reports how busy the GPU is; a GPU that spins is always busy.
  bool reports_busy = false;
  bool gpu_spins = false;
};

struct MadeNode {
  double cores = 12;
  double fair_share = 3;
  double idle = 0;  // idle cores that the pod can use beyond its request
  Duration reports = std::chrono::seconds(10);
  bool strict = false;
  bool reports_waiting = true;
  bool grows = true;  // the pod gets the CPU that a guess asks for
};

class MadeTraining final : public MeasuredCatalog {
 public:
  MadeTraining(MadeTrainer trainer, MadeNode node, uint64_t seed, ProfilerSettings settings = {});

  void Run(Duration time);

  // Returns the iterations per second, in the long run, with this much CPU.
  double TrueSpeed(MilliCpu cpu) const;
  const std::optional<MeasuredProfile>& published() const { return published_; }
  // Returns when the true curve was first confirmed; nullopt if it never was.
  std::optional<Duration> confirmed_after() const { return confirmed_after_; }
  const std::vector<MilliCpu>& probes() const { return probes_; }
  double iterations() const { return done_; }
  // Returns the iterations that quotas cost, at the speeds without quotas at those moments.
  double lost() const { return lost_; }
  MilliCpu requested() const { return requested_; }
  Duration elapsed() const { return at_.now - begin_; }
  int publications() const { return publications_; }

  std::shared_ptr<const MeasuredProfile> Find(const std::string& profile_namespace,
                                              const std::string& name) const override;

 private:
  void Train();
  void Report();
  void Decide();
  void Carry(const ProfilerAction& action);
  void Put();
  bool IsSlowPhase() const;
  bool IsBurst() const;
  double Speed(double cores, bool slow_phase = false) const;

  const MadeTrainer trainer_;
  const MadeNode node_;
  Random random_;
  Profiler profiler_;
  ProfilerMemory memory_;
  ClusterState state_;
  Moment at_{Instant{} + std::chrono::hours(1), WallTime{} + std::chrono::hours(9)};
  const Instant begin_ = at_.now;

  MilliCpu requested_;
  std::optional<CpuProbe> annotation_;
  std::optional<Instant> seen_;  // when the agent sees the annotation
  std::optional<ProbeReading> quota_;
  std::optional<Instant> grow_at_;

  double queue_ = 0;
  double done_ = 0;
  double busy_ = 0;  // seconds
  double reported_ = 0;
  WallTime reported_at_{};
  double factor_ = 1;
  CpuUse use_{.waited = Duration::zero()};
  CpuUse use_seen_;
  double lost_ = 0;

  std::optional<MeasuredProfile> published_;
  std::optional<Duration> confirmed_after_;
  std::vector<MilliCpu> probes_;
  int publications_ = 0;
};

}  // namespace synergy::testing
