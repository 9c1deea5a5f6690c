#pragma once

// A cluster in which the pods of one gang train, each on its own node, all at the known speed of
// the slowest. It runs in simulated time, as made_training.h does for one pod.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/random.h"
#include "engine/profiler/profiler.h"

namespace synergy::testing {

// An iteration takes `cost` CPU seconds, beside a GPU that does `best` iterations per second.
struct MadeMember {
  double cores = 3;  // cores at the beginning
  double cost = 0.57;
  double node = 12;  // cores of the node
  bool logs = true;
};

struct MadeGangRules {
  std::string name;
  std::vector<MadeMember> members;
  double best = 10;
  double spin = 0;      // cores that a member uses while it waits for the others
  double noise = 0.02;  // relative noise of each second's speed
  Duration reports = std::chrono::seconds(2);
  bool strict = false;
};

class MadeGang final : public MeasuredCatalog {
 public:
  MadeGang(MadeGangRules rules, uint64_t seed);

  void Run(Duration time);

  // Returns the speed if each member has this much CPU.
  double TrueSpeed(MilliCpu cpu) const;
  // Returns the greatest CPU time of an iteration over the members, in seconds.
  double TrueCost() const;
  const std::optional<MeasuredProfile>& published() const { return published_; }
  std::optional<Duration> confirmed_after() const { return confirmed_after_; }
  size_t probes() const { return probes_; }
  size_t most_probed_at_once() const { return most_probed_at_once_; }
  double iterations() const { return done_; }
  double lost() const { return lost_; }

  std::shared_ptr<const MeasuredProfile> Find(const std::string& profile_namespace,
                                              const std::string& name) const override;

 private:
  struct Member {
    MadeMember made;
    std::string name;
    double cores = 0;
    std::optional<CpuProbe> annotation;
    std::optional<ProbeReading> quota;
    std::optional<Instant> seen;  // when the agent sees the annotation
    CpuUse use{.waited = Duration::zero()};
    CpuUse last_use;
  };

  double CapOf(const Member& member) const;
  void Put(const Member& member);
  void Train();
  void Report(size_t index);
  void Decide();
  void Carry(const ProfilerAction& action);
  void Grow();

  const MadeGangRules rules_;
  Random random_;
  Profiler profiler_;
  ProfilerMemory memory_;
  ClusterState state_;
  Moment at_{Instant{} + std::chrono::hours(1), WallTime{} + std::chrono::hours(9)};
  const Instant begin_ = at_.now;
  std::vector<Member> members_;
  double factor_ = 1;
  double done_ = 0;
  double lost_ = 0;

  std::optional<MeasuredProfile> published_;
  std::optional<Duration> confirmed_after_;
  size_t probes_ = 0;
  size_t most_probed_at_once_ = 0;
};

}  // namespace synergy::testing
