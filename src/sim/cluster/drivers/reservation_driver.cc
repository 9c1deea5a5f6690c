#include "sim/cluster/drivers/reservation_driver.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "engine/reservations/passing_check.h"
#include "engine/reservations/waiting_jobs.h"

namespace synergy {
namespace {

constexpr Duration kInterval = std::chrono::minutes(1);
// Users request up to this many times the real duration.
constexpr double kMostOfUsers = 14;

Duration Times(Duration duration, double factor) {
  // Limits times to ten years.
  const double most = 1e9 * 10 * 365 * 86400;
  return Duration(
      static_cast<int64_t>(std::clamp(static_cast<double>(duration.count()) * factor, 0.0, most)));
}

}  // namespace

ReservationDriver::ReservationDriver(const SimulatedReservations& options,
                                     const ClusterState& state, RemainingOf remaining)
    : options_(options),
      state_(state),
      remaining_(std::move(remaining)),
      random_(options.seed),
      users_(~options.seed),
      times_(RemainingTimes::kConfidence) {}

double ReservationDriver::DrawFactor() {
  // The Box-Muller transform.
  const double radius = std::sqrt(-2 * std::log1p(-random_.Uniform()));
  return std::exp(options_.error * radius * std::cos(2 * std::numbers::pi * random_.Uniform()));
}

void ReservationDriver::Wait(const std::string& job, std::span<const Pod> pods, Duration duration,
                             Instant now) {
  JobState state{.since = now,
                 .pods = {},
                 .needs = {},
                 .name = JobOf(pods.front()),
                 .nodes = NodeSetOf(pods.front()),
                 .workload = pods.front().fungible ? pods.front().fungible->workload : "",
                 .priority = pods.front().priority,
                 .duration = duration,
                 .factor = DrawFactor(),
                 .users_factor = std::pow(kMostOfUsers, users_.Uniform())};
  for (const Pod& pod : pods) {
    state.pods.push_back(pod.uid);
    state.needs.push_back(LeastOf(pod));
    job_of_.insert_or_assign(pod.uid, job);
  }
  ++waiting_;
  jobs_.insert_or_assign(job, std::move(state));
}

void ReservationDriver::Lose(const std::string& uid) {
  const auto job = jobs_.find(NameOf(uid));
  if (job == jobs_.end()) return;
  JobState& state = job->second;
  const auto lost = std::find(state.pods.begin(), state.pods.end(), uid);
  state.needs.erase(state.needs.begin() + (lost - state.pods.begin()));
  state.pods.erase(lost);
  job_of_.erase(uid);
}

void ReservationDriver::Replace(const std::string& job, std::span<const Pod> pods) {
  JobState& state = jobs_.at(job);
  for (const Pod& pod : pods) {
    state.pods.push_back(pod.uid);
    state.needs.push_back(LeastOf(pod));
    job_of_.insert_or_assign(pod.uid, job);
  }
}

void ReservationDriver::SetPlaced(const std::string& uid, bool placed) {
  const auto job = jobs_.find(NameOf(uid));
  if (job == jobs_.end() || job->second.placed == placed) return;
  job->second.placed = placed;
  if (placed) {
    --waiting_;
  } else {
    ++waiting_;
  }
}

void ReservationDriver::Finished(const std::string& uid, Instant now) {
  times_.Ended(NameOf(uid), now);
}

void ReservationDriver::ForgetJobOf(const std::string& uid) {
  const auto state = jobs_.find(NameOf(uid));
  if (state == jobs_.end()) return;
  if (!state->second.placed) --waiting_;
  for (const std::string& pod : state->second.pods) job_of_.erase(pod);
  times_.Forget(state->first);
  jobs_.erase(state);
}

const std::string& ReservationDriver::NameOf(const std::string& uid) const {
  const auto job = job_of_.find(uid);
  return job == job_of_.end() ? uid : job->second;
}

size_t ReservationDriver::NodeSetOf(const Pod& pod) {
  for (size_t set = 0; set < node_sets_.size(); ++set) {
    if (SelectsAlike(node_sets_[set].first, pod)) return set;
  }
  const auto snapshot = state_.Snapshot();
  std::vector<bool> allowed;
  for (NodeIndex node = 0; node < snapshot->size(); ++node)
    allowed.push_back(snapshot->node(node).exists && MayEverGo(pod, snapshot->node(node)));
  node_sets_.emplace_back(pod, std::move(allowed));
  return node_sets_.size() - 1;
}

std::optional<TimeRange> ReservationDriver::EndOf(const JobState* job, Duration left,
                                                  Instant now) const {
  if (job == nullptr) return times_.EndOf("", left, now);
  if (!options_.ends_from_users) return times_.EndOf(job->workload, Times(left, job->factor), now);
  const Instant limit = now + left + Times(job->duration, job->users_factor - 1);
  return TimeRange{now, limit, limit};
}

void ReservationDriver::NoteEstimates(Instant now) {
  for (const auto& [name, job] : jobs_) {
    const auto left = job.placed ? remaining_(job.pods.front()) : std::nullopt;
    if (left) times_.EstimateMade(name, job.workload, Times(*left, job.factor), now);
  }
}

GpuCluster ReservationDriver::View(const ClusterSnapshot& snapshot, Instant now) const {
  GpuCluster cluster;
  cluster.products = {options_.settings};
  std::map<std::string_view, size_t> running;
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    const NodeState& state = snapshot.node(index);
    GpuNode& node = cluster.nodes.emplace_back();
    node.name = state.detail ? state.detail->name : std::string();
    node.takes_pods = state.exists && state.Schedulable();
    node.gpus = state.allocatable.gpus;
    if (!state.exists) continue;
    const ResourceVector room = RoomForJobs(state);
    node.cpu = room.cpu;
    node.memory = room.memory;
    for (const auto& pod : state.detail->pods) {
      if (!pod->UsesGpus()) continue;
      const std::string& name = NameOf(pod->uid);
      const auto job = jobs_.find(name);
      // Skip a place that the tuner keeps for a waiting pod: kube-scheduler may choose another.
      if (pod->waiting && job != jobs_.end() && !job->second.placed) continue;
      const auto [entry, is_new] = running.try_emplace(name, cluster.running.size());
      const ResourceVector least = LeastOf(*pod);
      node.uses.push_back({entry->second, least.gpus, least.cpu, least.memory});
      if (!is_new) continue;
      RunningGpuJob& made = cluster.running.emplace_back();
      made.name = name;
      std::optional<Duration> left = remaining_(pod->uid);
      const JobState* const known = job == jobs_.end() ? nullptr : &job->second;
      const bool is_given = options_.durations_known || options_.ends_from_users;
      if (!left && is_given && known != nullptr) left = known->duration;
      if (left) made.ends = EndOf(known, *left, now);
    }
  }
  for (const auto& [name, job] : jobs_) {
    if (job.placed) continue;
    cluster.waiting.push_back({.name = name,
                               .priority = job.priority,
                               .since = job.since,
                               .pods = job.needs,
                               .nodes = job.nodes});
  }
  for (const auto& [pod, allowed] : node_sets_) cluster.node_sets.push_back(allowed);
  return cluster;
}

bool ReservationDriver::Plan(Instant now) {
  const auto snapshot = state_.Snapshot();
  if (waiting_ == 0 || (snapshot->version() == planned_version_ && now < planned_at_ + kInterval))
    return false;
  NoteEstimates(now);
  planned_version_ = snapshot->version();
  planned_at_ = now;
  std::vector<GpuReservation> before = std::move(reservations_);
  reservations_ = PlanReservations(View(*snapshot, now), before, now).reservations;
  for (const GpuReservation& reservation : reservations_) {
    const Instant since = reserved_since_.try_emplace(reservation.job, now).first->second;
    // Skip the first plans: one may follow the start of a job whose end is unknown for half a
    // minute.
    if (now - since >= kInterval)
      predicted_.try_emplace(reservation.job, Prediction{now, reservation.starts.likely});
  }
  return LetsMorePass(before, reservations_);
}

std::vector<GpuReservation> ReservationDriver::InTermsOfPods() const {
  const auto name_of = [this](const std::string& job) {
    const auto state = jobs_.find(job);
    return state == jobs_.end() ? job : state->second.name;
  };
  std::vector<GpuReservation> reservations = reservations_;
  for (GpuReservation& reservation : reservations) {
    reservation.job = name_of(reservation.job);
    for (std::string& job : reservation.waits_for) job = name_of(job);
  }
  return reservations;
}

Instant ReservationDriver::due() const {
  return waiting_ == 0 ? Instant::max() : planned_at_ + kInterval;
}

std::optional<PassingTerms> ReservationDriver::TermsFor(const Pod& pod, Instant now) const {
  if (reservations_.empty()) return std::nullopt;
  const Gpus gpus = pod.requests.main.gpus;
  PassingTerms terms{.reservations = InTermsOfPods(),
                     .gpus = gpus,
                     .largest = gpus,
                     .longest = std::nullopt,
                     .now = now};
  const auto job = jobs_.find(NameOf(pod.uid));
  if (job == jobs_.end()) return terms;
  terms.gpus = Gpus(0);
  for (const ResourceVector& needs : job->second.needs) {
    terms.gpus += needs.gpus;
    terms.largest = std::max(terms.largest, needs.gpus);
  }
  const auto ends =
      options_.durations_known ? EndOf(&job->second, job->second.duration, now) : std::nullopt;
  if (ends) terms.longest = ends->latest - now;
  return terms;
}

bool ReservationDriver::HasReservation(const std::string& uid) const {
  const std::string& name = NameOf(uid);
  return std::any_of(reservations_.begin(), reservations_.end(),
                     [&](const GpuReservation& each) { return each.job == name; });
}

std::vector<std::string> ReservationDriver::PodsWithReservations() const {
  std::vector<std::string> uids;
  for (const GpuReservation& reservation : reservations_) {
    const auto job = jobs_.find(reservation.job);
    if (job != jobs_.end())
      uids.insert(uids.end(), job->second.pods.begin(), job->second.pods.end());
  }
  return uids;
}

std::string ReservationDriver::LikenessOf(const std::string& uid) const {
  return options_.durations_known ? NameOf(uid) : std::string();
}

std::optional<ReservationDriver::Prediction> ReservationDriver::FirstPredictionFor(
    const std::string& job) const {
  const auto predicted = predicted_.find(job);
  return predicted == predicted_.end() ? std::nullopt : std::optional(predicted->second);
}

}  // namespace synergy
