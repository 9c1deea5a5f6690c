#include "engine/reservations/waiting_jobs.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "allocation/surplus.h"
#include "cluster/node_selection.h"
#include "engine/gangs/preempting_gangs.h"
#include "engine/reservations/passing_check.h"

namespace synergy {
namespace {

// A node without GPU products in its labels has the product with the empty name.
const std::string& ProductOf(const NodeState& node) {
  static const std::string kUnknown;
  const std::vector<std::string>& products = node.detail->gpu_kinds.products;
  return products.empty() ? kUnknown : products.front();
}

}  // namespace

ResourceVector LeastOf(const Pod& pod) {
  ResourceVector least = pod.requests.main;
  if (!pod.fungible || pod.fungible->ChangedByHand()) return least;
  const ManagedContainer& fungible = *pod.fungible;
  const ResourceVector at_floor = LesserOf(fungible.requested, fungible.Counted(fungible.floor));
  const ResourceVector surplus = fungible.Counted(fungible.requested) - fungible.Counted(at_floor);
  ResourceVector::ForEachDivided([&](auto member) { least.*member -= surplus.*member; });
  return least;
}

ResourceVector LeastOn(const NodeState& node, const std::shared_ptr<const Pod>& pod, WallTime now) {
  const std::shared_ptr<const Pod> without = WithoutLoan(pod);
  return without->requests.main - SurplusOn(node, *without, now);
}

ResourceVector RoomForJobs(const NodeState& node) {
  ResourceVector room = node.allocatable;
  for (const auto& pod : node.detail->pods) {
    if (!pod->UsesGpus()) room -= pod->requests.main;
  }
  return room;
}

bool SelectsAlike(const Pod& a, const Pod& b) {
  const auto& one = a.waiting->selection;
  const auto& other = b.waiting->selection;
  return a.gpu_product == b.gpu_product && (one == other || (one && other && *one == *other));
}

std::vector<JobInLine> JobsInLine(const ClusterSnapshot& snapshot,
                                  const std::vector<std::shared_ptr<const Pod>>& waiting,
                                  const std::string& scheduler_name,
                                  const ReservationSettings& settings,
                                  std::span<const GpuReservation> before, Moment at,
                                  const std::function<Duration(const Pod&)>& waited_before) {
  const auto has_one = [&](const std::string& name) {
    return std::any_of(before.begin(), before.end(),
                       [&](const GpuReservation& each) { return each.job == name; });
  };
  std::map<std::string, JobInLine> jobs;
  std::set<std::string> left_out;
  for (const auto& pod : waiting) {
    std::string name = JobOf(*pod);
    const Duration more = waited_before ? waited_before(*pod) : Duration::zero();
    const Instant since = at.now - (at.wall - pod->waiting->since) - more;
    const bool is_in_line = pod->waiting->scheduler == scheduler_name &&
                            (pod->waiting->unschedulable || has_one(name)) &&
                            IsSubjectToReservations(*pod) && since + settings.after <= at.now &&
                            (!pod->gang || pod->IsOfGang());
    JobInLine& job = jobs[name];
    if (!is_in_line || (!job.pods.empty() && !SelectsAlike(*job.pods.front(), *pod))) {
      left_out.insert(std::move(name));
      continue;
    }
    job.priority = job.pods.empty() ? pod->priority : std::min(job.priority, pod->priority);
    job.since = job.pods.empty() ? since : std::max(job.since, since);
    job.pods.push_back(pod);
  }
  std::vector<JobInLine> in_line;
  for (auto& [name, job] : jobs) {
    if (left_out.contains(name)) continue;
    const Pod& first = *job.pods.front();
    if (first.gang && !IsWhole(snapshot, *first.gang)) continue;
    Gpus gpus;
    for (const auto& pod : job.pods) gpus += pod->requests.main.gpus;
    if (gpus < settings.least_gpus) continue;
    job.name = name;
    std::sort(job.pods.begin(), job.pods.end(),
              [](const auto& a, const auto& b) { return a->name < b->name; });
    in_line.push_back(std::move(job));
  }
  std::stable_sort(in_line.begin(), in_line.end(), [](const JobInLine& a, const JobInLine& b) {
    return std::tie(b.priority, a.since) < std::tie(a.priority, b.since);
  });
  if (in_line.size() > kMostJobsInLine) in_line.resize(kMostJobsInLine);
  return in_line;
}

std::vector<RunningJob> RunningJobs(const ClusterSnapshot& snapshot) {
  std::map<std::string, RunningJob> jobs;
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    const NodeState& node = snapshot.node(index);
    if (!node.exists || node.allocatable.gpus <= Gpus(0)) continue;
    for (const auto& pod : node.detail->pods) {
      // Skip a waiting pod: the node only keeps a place for it.
      if (!pod->UsesGpus() || pod->waiting) continue;
      std::string name = JobOf(*pod);
      RunningJob& job = jobs[name];
      job.name = std::move(name);
      job.pods.push_back(pod);
    }
  }
  std::vector<RunningJob> running;
  running.reserve(jobs.size());
  for (auto& [name, job] : jobs) running.push_back(std::move(job));
  return running;
}

GpuCluster ToGpuCluster(
    const ClusterSnapshot& snapshot, const std::vector<JobInLine>& in_line,
    const std::vector<RunningJob>& running, const ReservationSettings& settings, WallTime now,
    const std::function<std::optional<TimeRange>(const RunningJob& job)>& end_of) {
  GpuCluster cluster;
  std::map<std::string_view, size_t> products;
  std::map<std::string_view, size_t> node_of;  // index in cluster.nodes
  std::vector<NodeIndex> indices;              // of cluster.nodes
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    const NodeState& state = snapshot.node(index);
    if (!state.exists || state.allocatable.gpus <= Gpus(0)) continue;
    const size_t product =
        products.try_emplace(ProductOf(state), cluster.products.size()).first->second;
    if (product == cluster.products.size()) cluster.products.emplace_back(settings);
    node_of.emplace(state.detail->name, cluster.nodes.size());
    indices.push_back(index);
    const ResourceVector room = RoomForJobs(state);
    cluster.nodes.push_back({.name = state.detail->name,
                             .product = product,
                             .gpus = state.allocatable.gpus,
                             .takes_pods = state.Schedulable(),
                             .cpu = room.cpu,
                             .memory = room.memory,
                             .uses = {}});
  }
  for (const RunningJob& job : running) {
    for (const auto& pod : job.pods) {
      const auto node = node_of.find(pod->node);
      if (node == node_of.end()) continue;
      const ResourceVector least = LeastOn(snapshot.node(indices[node->second]), pod, now);
      cluster.nodes[node->second].uses.push_back(
          {cluster.running.size(), least.gpus, least.cpu, least.memory});
    }
    cluster.running.push_back({job.name, end_of(job)});
  }
  std::vector<const Pod*> selecting;  // one pod for each of node_sets
  for (const JobInLine& job : in_line) {
    const Pod& first = *job.pods.front();
    const auto alike = std::find_if(selecting.begin(), selecting.end(), [&](const Pod* other) {
      return SelectsAlike(*other, first) && other->requests == first.requests;
    });
    const auto set = static_cast<size_t>(alike - selecting.begin());
    if (alike == selecting.end()) {
      selecting.push_back(&first);
      std::vector<bool>& allowed = cluster.node_sets.emplace_back();
      for (const NodeIndex index : indices)
        allowed.push_back(CouldEverRun(first, snapshot.node(index)));
    }
    WaitingGpuJob& waiting = cluster.waiting.emplace_back();
    waiting.name = job.name;
    waiting.priority = job.priority;
    waiting.since = job.since;
    waiting.nodes = set;
    waiting.expects_nodes = job.expects_nodes;
    for (const auto& pod : job.pods) waiting.pods.push_back(LeastOf(*pod));
  }
  return cluster;
}

}  // namespace synergy
