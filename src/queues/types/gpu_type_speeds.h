#pragma once

// The inputs of Gavel's policies (docs/internals/gavel.md): how many GPUs of each product can be
// divided, and how fast each kind of job is on them.
//
// Speeds come from two sources. A TrainingProfile that names the workload and a gpuProduct gives
// the speed at the fair share of a node of that product; it may be written by a user or measured.
// The progress of running jobs is averaged exponentially, with weight 1/2 for the last rate (Gavel,
// OSDI'20). Speeds that neither source has are estimated (gavel/type_speeds.h). Progress is in
// iterations per second, but the author of a profile chooses its unit. So profiles are scaled by
// the products for which both sources have a speed. If there are none, only the source with more
// products counts.
//
// Threading: one owner. Progress is kept only in memory; the profiler publishes its measurements as
// TrainingProfiles.
//
// Any user who may write TrainingProfiles in a namespace, or run trainings there, can claim any
// speed. So the speeds of one kind of job differ by a factor of at most 100 between products, and
// estimates for other kinds are medians over the namespaces.

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
  // Returns the fair share of a pod with this selection and number of GPUs on a node of this
  // product; nullopt if unknown.
  using FairShare = std::function<std::optional<ResourceVector>(const NodeSelection&, Gpus,
                                                                const std::string& product)>;

  // The maximum number of kinds whose progress is kept. Beyond it, the kind with the oldest call of
  // Learn() is dropped.
  static constexpr size_t kMostLearned = 2000;

  // References must outlive this object.
  GpuTypeSpeeds(const ClusterState& state, const ProfileIndex& profiles, FairShare fair_share)
      : state_(state), profiles_(profiles), fair_share_(std::move(fair_share)) {}

  // Counts the GPUs by product. `ours`: the UIDs of the pods of the policy's workloads. Omits nodes
  // with several products or an unknown one.
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
  // Returns for each product the median over all namespaces of the mean speed of the namespace's
  // known kinds of jobs. The speeds are fractions of each kind's best speed. The result is 0 if
  // none is known.
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
  // Returns the known and the estimated speeds of a kind; only estimates if Known() lacks the kind.
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
