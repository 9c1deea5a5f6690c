#include "cli/page/simulated_map.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "allocation/fair_share.h"
#include "cli/page/cluster_map.h"
#include "cli/page/map_objects.h"
#include "cluster/state/cluster_state.h"

namespace synergy::cli {
namespace {

class RunMapper {
 public:
  RunMapper(const StartingCluster& start, const RunResult& run)
      : run_(run), places_(run.jobs.size()) {
    ClusterState cluster;
    cluster.ReplaceNodes(start.nodes);
    cluster.ReplacePods(start.pods);
    for (const auto& [name, node] : NodesOf(*cluster.Snapshot())) {
      map_.SetNode(name, ToMapObject(node));
    }
    for (const Pod& pod : start.pods) {
      if (pod.UsesGpus()) Put(pod.uid, {.view = View(pod, nullptr, Profiles(), start.at)});
    }
    for (size_t job = 0; job < run.jobs.size(); ++job) {
      jobs_[static_cast<uint64_t>(run.jobs[job].id)] = job;
    }
    result_.state = map_.State();
    map_.TakePatch();
  }

  SimulatedMap Map() {
    std::vector<size_t> arrivals(run_.jobs.size());
    std::iota(arrivals.begin(), arrivals.end(), size_t{0});
    std::stable_sort(arrivals.begin(), arrivals.end(), [this](size_t a, size_t b) {
      return run_.jobs[a].submitted < run_.jobs[b].submitted;
    });
    auto change = run_.changes.begin();
    for (const size_t job : arrivals) {
      for (; change != run_.changes.end() && change->at < run_.jobs[job].submitted; ++change) {
        Make(*change);
      }
      GoTo(run_.jobs[job].submitted);
      Wait(job);
    }
    for (; change != run_.changes.end(); ++change) Make(*change);
    Emit();
    return std::move(result_);
  }

 private:
  struct Place {
    Gpus gpus;  // total of its pods
    std::optional<Seconds> waits_since;
  };

  // Times that differ by less than this are the same moment, because times are sums of fractions.
  static constexpr Seconds kMoment{1e-6};

  void Emit() {
    if (std::string patch = map_.TakePatch(); !patch.empty()) {
      result_.changes.push_back({now_, std::move(patch)});
    }
  }

  void GoTo(Seconds at) {
    if (at - now_ > kMoment) Emit();
    now_ = std::max(now_, at);
  }

  void Put(const std::string& key, MapPod pod) {
    map_.SetPod(key, ToMapObject(pod));
    pods_.insert_or_assign(key, std::move(pod));
  }

  // Returns a pod of the job with this part of its GPUs.
  MapPod PodOf(size_t job, std::string name, Gpus gpus) const {
    const Gpus all = run_.job_gpus[job];
    MapPod pod{.job = JobName(run_.jobs[job])};
    pod.view.name = std::move(name);
    pod.view.gpus = gpus;
    pod.view.profile = run_.job_models[job];
    pod.view.fair_share = FairShareOf(run_.job_fair_shares[job], all, gpus);
    pod.view.demand = FairShareOf(run_.job_demands[job], all, gpus);
    return pod;
  }

  bool Ended(size_t job) const {
    const std::optional<Seconds>& finished = run_.jobs[job].finished;
    return finished && *finished - now_ <= kMoment;
  }

  // Shows the GPUs that the job still waits for, if any.
  void Wait(size_t job) {
    Place& place = places_[job];
    const Gpus missing = run_.job_gpus[job] - place.gpus;
    const std::string name = JobName(run_.jobs[job]);
    if (missing <= Gpus(0) || Ended(job)) {
      place.waits_since.reset();
      map_.RemovePod(name);
      return;
    }
    if (!place.waits_since) place.waits_since = now_;
    MapPod pod = PodOf(job, name, missing);
    pod.view.state = "waiting";
    pod.since = place.waits_since->count();
    map_.SetPod(name, ToMapObject(pod));
  }

  void Make(const PlaceChange& change) {
    GoTo(change.at);
    const std::optional<size_t> job =
        change.job ? std::optional(jobs_.at(*change.job)) : std::nullopt;
    switch (change.kind) {
      case PlaceChange::Kind::kBound:
        Bind(change, job);
        break;
      case PlaceChange::Kind::kResized:
        Resize(change);
        break;
      case PlaceChange::Kind::kGone:
        if (job) places_[*job].gpus -= pods_.at(change.pod).view.gpus;
        pods_.erase(change.pod);
        map_.RemovePod(change.pod);
        break;
    }
    if (job) Wait(*job);
  }

  void Bind(const PlaceChange& change, std::optional<size_t> job) {
    MapPod pod;
    if (job) {
      pod = PodOf(*job, change.pod, change.amounts.gpus);
      places_[*job].gpus += change.amounts.gpus;
    } else if (const auto known = pods_.find(change.pod); known != pods_.end()) {
      pod = known->second;
    } else {
      return;  // it has no GPUs
    }
    pod.view.node = change.node;
    pod.view.state = "placed";
    pod.view.allocated = change.amounts;
    Put(change.pod, std::move(pod));
  }

  void Resize(const PlaceChange& change) {
    const auto known = pods_.find(change.pod);
    if (known == pods_.end()) return;
    known->second.view.allocated = change.amounts;
    map_.SetPod(change.pod, ToMapObject(known->second));
  }

  const RunResult& run_;
  std::unordered_map<uint64_t, size_t> jobs_;  // index in the run, by the job's id
  std::vector<Place> places_;                  // by the same index
  std::unordered_map<std::string, MapPod> pods_;
  MapRecorder map_;
  Seconds now_{};
  SimulatedMap result_;
};

}  // namespace

std::string JobName(const JobTimes& job) { return fmt::format("job-{}", job.id); }

SimulatedMap MapOfRun(const StartingCluster& start, const RunResult& run) {
  return RunMapper(start, run).Map();
}

}  // namespace synergy::cli
