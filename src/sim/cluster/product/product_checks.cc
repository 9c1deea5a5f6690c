#include "sim/cluster/product/product_checks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace synergy {
namespace {

class Checks {
 public:
  Checks(const StartingCluster& cluster, std::span<const ProductJob> jobs,
         const ProductOptions& options)
      : nodes_(cluster.nodes),
        jobs_(jobs),
        options_(options),
        begins_with_pods_(!cluster.pods.empty()),
        has_priorities_(std::any_of(jobs.begin(), jobs.end(),
                                    [](const ProductJob& job) { return job.priority != 0; })) {
    for (const Node& node : nodes_) {
      const Gpus gpus = node.allocatable.main.gpus;
      gpus_ += gpus;
      if (gpus > Gpus(0)) gpus_of_[node.gpu_kinds.OnlyProduct()] += gpus;
    }
  }

  Result<> All() const {
    for (const auto check : {&Checks::OfGpus, &Checks::OfTypes, &Checks::OfElastic,
                             &Checks::OfFailures, &Checks::OfSharing, &Checks::OfStorage,
                             &Checks::OfStartingPods, &Checks::OfReservations, &Checks::OfQueue}) {
      if (auto passed = (this->*check)(); !passed) return passed;
    }
    return {};
  }

 private:
  static Result<> Invalid(std::string why) { return Fail(ErrorCode::kInvalid, std::move(why)); }

  Result<> OfGpus() const {
    for (const ProductJob& job : jobs_) {
      if (job.gpus <= gpus_ && job.gpus > Gpus(0)) continue;
      return Invalid(fmt::format("job {} asks for {} GPUs, but the cluster has {}", job.id,
                                 job.gpus.count(), gpus_.count()));
    }
    return {};
  }

  Result<> OfTypes() const {
    const bool differ = std::any_of(jobs_.begin(), jobs_.end(), [&](const ProductJob& job) {
      return std::any_of(gpus_of_.begin(), gpus_of_.end(), [&](const auto& entry) {
        return options_.gpu_speeds.Of(job.model, entry.first) != 1;
      });
    });
    if (differ && (options_.live_profiles || options_.profiles_after)) {
      return Invalid(
          "models whose speeds differ by GPU product have profiles from the beginning: the "
          "profiler measures them on one product alone");
    }
    if (!options_.queue || options_.queue->rounds.gpu_types == GpuTypes::kNone) return {};
    if (gpus_of_.contains("")) {
      return Invalid("gpuTypes: some nodes have no GPU product, or several: give each node one");
    }
    Gpus most;
    for (const auto& [product, gpus] : gpus_of_) most = std::max(most, gpus);
    for (const ProductJob& job : jobs_) {
      if (job.gpus <= most) continue;
      return Invalid(
          fmt::format("gpuTypes: job {} asks for {} GPUs, but no product has more than {}", job.id,
                      job.gpus.count(), most.count()));
    }
    return {};
  }

  Result<> OfElastic() const {
    if (!options_.elastic) return {};
    if (!options_.queue || !options_.queue->rounds.elastic)
      return Invalid("elastic jobs need a queue with workers: Elastic");
    if (options_.live_profiles)
      return Invalid("elastic jobs have profiles from the beginning: they are not measured live");
    return {};
  }

  Result<> OfFailures() const {
    if (options_.failures && (options_.elastic || options_.reservations))
      return Invalid("failures: not with elastic jobs or GPU reservations");
    return {};
  }

  Result<> OfSharing() const {
    if (!options_.sharing) return {};
    if (options_.queue || options_.live_profiles || options_.profiles_after || options_.baseline ||
        options_.faults.node_lost > 0 || options_.failures || options_.reservations ||
        begins_with_pods_) {
      return Invalid(
          "sharing: only for jobs with profiles that do not fail, without a queue and "
          "reservations, in a cluster that begins without pods and loses no nodes");
    }
    for (const ProductJob& job : jobs_) {
      const bool has_place = std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& node) {
        const int64_t has = node.allocatable.main.gpus.count();
        return has >= job.gpus.count() && has % job.gpus.count() == 0;
      });
      if (has_place) continue;
      return Invalid(
          fmt::format("sharing: job {} has {} GPUs, which divides no node's GPUs; gangs do not "
                      "share GPUs in the simulation",
                      job.id, job.gpus.count()));
    }
    if (!options_.sharing->pairs.empty() && gpus_of_.contains("")) {
      return Invalid(
          "sharing: pairs have speeds by GPU product, but some nodes have none: give each node "
          "one");
    }
    return {};
  }

  Result<> OfStorage() const {
    if (options_.storage && (options_.live_profiles || options_.sharing))
      return Invalid("storage: only for jobs with profiles that do not share GPUs");
    return {};
  }

  Result<> OfStartingPods() const {
    if (options_.faults.node_lost > 0 && begins_with_pods_)
      return Invalid("nodes are lost only in a cluster that begins without pods");
    if (has_priorities_ && begins_with_pods_) {
      return Invalid("priority: only in a cluster that begins without pods: leave out the column");
    }
    return {};
  }

  Result<> OfReservations() const {
    if (options_.reservations && options_.queue) {
      return Invalid("reservations are for jobs that no queue of Kueue admits: leave out --kueue");
    }
    if (options_.moves && options_.queue)
      return Invalid("moves are of jobs that no queue of Kueue admits: leave out --kueue");
    return {};
  }

  Result<> OfQueue() const {
    if (!options_.queue) return {};
    if (has_priorities_) {
      return Invalid(
          "priority: a queue has an order of its own: leave out the column, or --kueue and "
          "--policy");
    }
    std::set<uint64_t> ids;
    for (const ProductJob& job : jobs_) ids.insert(job.id);
    if (ids.size() < jobs_.size())
      return Invalid("two jobs have the same id, and a queue needs them apart");
    return {};
  }

  std::span<const Node> nodes_;
  std::span<const ProductJob> jobs_;
  const ProductOptions& options_;
  const bool begins_with_pods_;
  const bool has_priorities_;
  Gpus gpus_;
  std::map<std::string, Gpus> gpus_of_;  // by product
};

}  // namespace

Result<> CheckSimulation(const StartingCluster& cluster, std::span<const ProductJob> jobs,
                         const ProductOptions& options) {
  return Checks(cluster, jobs, options).All();
}

}  // namespace synergy
