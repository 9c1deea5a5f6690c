#pragma once

// What Gavel's policies have to know of a cluster (docs/gavel.md): how many GPUs of each product
// there are to be divided, and how fast each kind of job is on them.
//
// Speeds come from TrainingProfiles that name the workload and a gpuProduct, given or measured, at
// the fair share of a node of that product; and from the progress of jobs that run, of which the
// last half counts for as much as all before (Gavel, OSDI'20). What nobody has seen is estimated
// (gavel/type_speeds.h). Progress is in iterations, a given profile in whatever unit its author
// chose: they are joined by a product of which both are known, and where there is none, those count
// that know more products.
//
// Threading: one owner. Progress is kept in memory alone; the profiler publishes what it has
// measured as TrainingProfiles.

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

namespace synergy {

// GPUs of one product.
struct ProductGpus {
  int64_t usable = 0;  // on nodes to which pods may go, those of pods of others left out
  int64_t free = 0;    // of these, that no pod has

  bool operator==(const ProductGpus&) const = default;
};

class GpuTypeSpeeds {
 public:
  // The fair share of a node of that product for a pod with so many GPUs; none: there is none.
  using FairShare = std::function<std::optional<ResourceVector>(Gpus, const std::string& product)>;

  // References outlive this.
  GpuTypeSpeeds(const ClusterState& state, const ProfileIndex& profiles, FairShare fair_share)
      : state_(state), profiles_(profiles), fair_share_(std::move(fair_share)) {}

  // By product. `ours`: the UIDs of the pods among which the rest is divided. Nodes of several
  // products, or of none that is told, do not count.
  std::map<std::string, ProductGpus> Count(const std::set<std::string>& ours) const;
  // Of a node's GPUs; empty: not known.
  std::string ProductOf(std::string_view node) const;

  // That it runs at so many iterations a second on that product: once a round.
  void Learn(const Workload& workload, const std::string& product, double rate);

  // Per product in one unit; 0 where the workload may not run. All others' speeds are what is
  // estimated by.
  std::vector<TypeSpeed> SpeedsOf(const Workload& workload,
                                  const std::vector<std::string>& products) const;
  // Per product the mean speed of all kinds of jobs that are known, in units of each one's best; 0:
  // nothing is known.
  std::vector<double> MeanSpeeds(const std::vector<std::string>& products) const;
  // The product that the profile of that workload's label is of, which its pods then have to have;
  // empty: none.
  std::string ProductOfProfile(const Workload& workload) const;

 private:
  // Namespace, what is alike, GPUs of a pod, pods that train together.
  using Kind = std::tuple<std::string, std::string, Gpus, int64_t>;
  using ByProduct = std::map<std::string, double>;

  // Of nodes to which a pod may go by that.
  std::set<std::string> ProductsFor(const NodeSelection& selection) const;
  Kind KindOf(const Workload& workload) const;
  std::map<Kind, ByProduct> FromProfiles() const;
  // What is known of all kinds.
  const std::map<Kind, ByProduct>& Known() const;

  const ClusterState& state_;
  const ProfileIndex& profiles_;
  FairShare fair_share_;
  std::map<Kind, ByProduct> learned_;
  mutable std::map<Kind, ByProduct> known_;  // until profiles or progress change
  mutable std::optional<uint64_t> known_version_;
};

}  // namespace synergy
