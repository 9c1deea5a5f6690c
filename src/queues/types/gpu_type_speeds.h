#pragma once

// The inputs of Gavel's policies (docs/internals/gavel.md): how many GPUs of each product can be
// divided, and how fast each kind of job is on them.
//
// Speeds come from two sources. TrainingProfiles that name the workload and a gpuProduct, written
// or measured, are read at the fair share of a node of that product. The progress of running jobs
// is averaged exponentially, with weight 1/2 for the last rate (Gavel, OSDI'20). Speeds that
// neither source has are estimated (gavel/type_speeds.h). Progress is in iterations, and a written
// profile in whatever unit its author chose. The two are joined through products that both have; if
// there are none, the source with more products counts.
//
// Threading: one owner. Progress is kept only in memory; the profiler publishes its measurements as
// TrainingProfiles.
//
// Anyone who may write TrainingProfiles in a namespace, or run trainings there, can claim any
// speed. So the products of one kind differ by a factor of 100 at most, and what is estimated for
// other kinds is the median over the namespaces.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cluster/node_selection.h"
#include "cluster/state/cluster_state.h"
#include "gavel/type_speeds.h"
#include "profile/profile_object.h"
#include "queues/kueue.h"
#include "queues/planner/type_chooser.h"

namespace synergy {

class GpuTypeSpeeds {
 public:
  // Returns the fair share that a node of that product has for a pod with that selection and number
  // of GPUs; nullopt if unknown.
  using FairShare = std::function<std::optional<ResourceVector>(const NodeSelection&, Gpus,
                                                                const std::string& product)>;

  // The most kinds whose progress is kept; the one that has not been learned for the longest time
  // goes first.
  static constexpr size_t kMostLearned = 2000;

  // References must outlive this object.
  GpuTypeSpeeds(const ClusterState& state, const ProfileIndex& profiles, FairShare fair_share)
      : state_(state), profiles_(profiles), fair_share_(std::move(fair_share)) {}

  // Counts the GPUs by product. `ours`: the UIDs of the pods of the policy's workloads. Nodes with
  // several products, or with an unknown one, are not counted.
  std::map<std::string, ProductGpus> Count(const std::set<std::string>& ours) const;
  // Returns the product of a node's GPUs; empty if it has several products or is unknown.
  std::string ProductOf(std::string_view node) const;

  // Records that the workload runs at `rate` iterations per second on that product. Call it once
  // per round.
  void Learn(const Workload& workload, const std::string& product, double rate);

  // Returns the speed on each product, in one unit; 0 on products on which the workload may not
  // run. Missing speeds are estimated from those of other kinds.
  std::vector<TypeSpeed> SpeedsOf(const Workload& workload,
                                  const std::vector<std::string>& products) const;
  // Returns for each product the mean speed of a namespace's known kinds of jobs, as a fraction of
  // each kind's best: the median over all namespaces; 0 if nothing is known.
  std::vector<double> MeanSpeeds(const std::vector<std::string>& products) const;
  // Returns the product of the profile that the workload's label names, which its pods then
  // require; empty if there is none.
  std::string ProductOfProfile(const Workload& workload) const;

 private:
  // Namespace, workload key (Workload::alike), GPUs of a pod, number of pods that train together.
  using Kind = std::tuple<std::string, std::string, Gpus, int64_t>;
  using ByProduct = std::map<std::string, double>;

  // Returns the products of the nodes that the selection allows.
  std::set<std::string> ProductsFor(const NodeSelection& selection) const;
  Kind KindOf(const Workload& workload) const;
  std::map<Kind, ByProduct> FromProfiles() const;
  // Returns the known speeds of all kinds, from profiles and progress.
  const std::map<Kind, ByProduct>& Known() const;
  // Returns the known and the estimated speeds of a kind; of an unknown one if Known() lacks it.
  const std::vector<TypeSpeed>& Estimate(const Kind& kind,
                                         const std::vector<std::string>& products) const;

  const ClusterState& state_;
  const ProfileIndex& profiles_;
  FairShare fair_share_;
  struct Learned {
    ByProduct speeds;
    uint64_t at = 0;  // the call of Learn() that changed it last
  };
  std::map<Kind, Learned> learned_;
  uint64_t calls_ = 0;                       // of Learn()
  mutable std::map<Kind, ByProduct> known_;  // valid until profiles or progress change
  mutable std::optional<uint64_t> known_version_;
  // From known_, for these products.
  mutable std::vector<std::string> products_;
  mutable std::vector<std::vector<KnownSpeeds>> groups_;  // one for each namespace
  mutable std::map<Kind, std::vector<TypeSpeed>> estimates_;
};

}  // namespace synergy
