#include "controller/preemption/reservation_driver.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "core/wall_time.h"
#include "engine/reservations/passing_check.h"

namespace synergy::controller {
namespace {

// A time is not written (or not announced) again if it changes by less than the larger of `least`
// and a fraction of the remaining wait.
struct Tolerance {
  Duration least;
  int part;  // one in this many parts of the remaining wait
};
constexpr Tolerance kUnwritten{std::chrono::minutes(1), 20};
constexpr Tolerance kUnannounced{std::chrono::minutes(5), 5};

// How long a job may leave its reserved GPUs unused, and how long it then gets no reservation,
// because it waits for something else.
constexpr Duration kInVain = std::chrono::minutes(2);
constexpr Duration kSetAside = std::chrono::minutes(30);

bool IsNear(Instant a, Instant b, const GpuReservation& reservation, Tolerance tolerance,
            Instant now) {
  const Duration wait = reservation.starts.likely - now;
  return std::chrono::abs(a - b) < std::max(tolerance.least, wait / tolerance.part);
}

bool IsHardlyMoved(const GpuReservation& before, const GpuReservation& after, Instant now) {
  const auto sorted = [](std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    return names;
  };
  const auto is_near = [&](Instant TimeRange::* time) {
    return IsNear(before.starts.*time, after.starts.*time, after, kUnwritten, now);
  };
  return before.priority == after.priority && before.places == after.places &&
         sorted(before.waits_for) == sorted(after.waits_for) && is_near(&TimeRange::earliest) &&
         is_near(&TimeRange::likely) && is_near(&TimeRange::latest);
}

// Returns whether the annotation already contains `wanted` and does not expire soon.
bool IsWritten(const std::optional<PublishedReservation>& written,
               const PublishedReservation& wanted, WallTime now) {
  const auto is_same = [](WallTime a, WallTime b) {
    return std::chrono::abs(a - b) < std::chrono::seconds(1);  // the two clocks drift apart
  };
  return written && written->job == wanted.job && written->priority == wanted.priority &&
         written->places == wanted.places && written->waits_for == wanted.waits_for &&
         is_same(written->earliest, wanted.earliest) && is_same(written->likely, wanted.likely) &&
         is_same(written->latest, wanted.latest) &&
         written->until - now >= PublishedReservation::kLifetime / 2;
}

// Returns whether a learnt duration need not be written again.
bool IsNearly(const std::optional<Duration>& written, const std::optional<Duration>& wanted) {
  if (!written || !wanted) return written.has_value() == wanted.has_value();
  return std::chrono::abs(*written - *wanted) <
         std::max<Duration>(std::chrono::seconds(10), *wanted / 20);
}

const JobInLine* Find(const std::vector<JobInLine>& jobs, const std::string& name) {
  const auto job = std::find_if(jobs.begin(), jobs.end(),
                                [&](const JobInLine& each) { return each.name == name; });
  return job == jobs.end() ? nullptr : &*job;
}

// Returns why a job that has waited long has no reservation; empty if that needs no explanation.
std::string_view WhyNotReserved(ReservationOutcome outcome) {
  switch (outcome) {
    case ReservationOutcome::kExpectsNodes:
      return "an autoscaler makes nodes for it";
    case ReservationOutcome::kNeverFits:
      return "it would not fit if all of its nodes were empty";
    case ReservationOutcome::kNoDates:
      return "pods with known ends have too little of what it needs";
    default:
      return {};
  }
}

bool IsRefused(const Pod& pod, const std::string& scheduler_name) {
  return pod.waiting && pod.waiting->scheduler == scheduler_name &&
         pod.waiting->message.find(kReservedFor) != std::string::npos;
}

}  // namespace

ReservationDriver::ReservationDriver(ReservationDriverSettings settings, ClusterState& state,
                                     TrainingEnds::ProgressOf progress,
                                     const KeyedStore<wire::PodTimes>& times,
                                     ExpectsNode expects_node, kube::PodApi& pods,
                                     kube::EventRecorder& events, std::function<bool()> may_act,
                                     const Clock& clock, Logger& log)
    : settings_(std::move(settings)),
      state_(state),
      times_(times),
      expects_node_(std::move(expects_node)),
      pods_(pods),
      events_(events),
      may_act_(std::move(may_act)),
      clock_(clock),
      log_(log),
      ends_(std::move(progress), times) {}

void ReservationDriver::StartOver() {
  const Moment at = clock_.Present();
  std::map<std::string, PublishedReservation> written;
  for (const auto& [uid, times] : times_.Snapshot()) {
    if (times->reservation) written.emplace(times->reservation->job, *times->reservation);
  }
  free_since_.clear();
  reservations_.clear();
  for (const auto& [job, reservation] : written)
    reservations_.push_back(ToReservation(reservation, at));
  announced_starts_.clear();
  announced_outcomes_.clear();
  BeginToRemind();
}

void ReservationDriver::Observe() { Look(RunningJobs(*state_.Snapshot()), clock_.Present()); }

void ReservationDriver::Look(const std::vector<RunningJob>& running, Moment at) {
  ends_.Observe(running, at);
  std::vector<WaitingTimes::OwnedPod> pods;
  const auto add = [&](const Pod& pod) {
    std::string owner = OwnerOf(pod);
    if (owner.empty()) return;
    WaitingTimes::OwnedPod& owned = pods.emplace_back();
    owned.owner = std::move(owner);
    owned.uid = pod.uid;
    owned.runs = !pod.waiting;
    if (pod.waiting && pod.waiting->unschedulable) owned.waited = at.wall - pod.waiting->since;
  };
  for (const RunningJob& job : running) {
    for (const auto& pod : job.pods) add(*pod);
  }
  for (const auto& pod : state_.WaitingPods()) {
    if (pod->UsesGpus()) add(*pod);
  }
  waiting_times_.Observe(pods, at.now);
}

void ReservationDriver::Step(const std::stop_token& stop) {
  const Moment at = clock_.Present();
  const auto snapshot = state_.Snapshot();
  const std::vector<RunningJob> running = RunningJobs(*snapshot);
  Look(running, at);
  std::vector<JobInLine> in_line =
      JobsInLine(*snapshot, state_.WaitingPods(), settings_.scheduler_name, settings_.reservations,
                 reservations_, at,
                 [this](const Pod& pod) { return waiting_times_.WaitedBefore(OwnerOf(pod)); });
  SetAside(in_line, at.now);
  for (JobInLine& job : in_line) {
    job.expects_nodes = std::any_of(job.pods.begin(), job.pods.end(),
                                    [&](const auto& pod) { return expects_node_(*pod, at.wall); });
  }
  const GpuCluster cluster =
      ToGpuCluster(*snapshot, in_line, running, settings_.reservations, at.wall,
                   [&](const RunningJob& job) { return ends_.EndOf(job, at); });
  std::vector<GpuReservation> last = LastReservationsOf(in_line, at.now);
  // Added or removed nodes may have changed the numbers that identify products.
  for (GpuReservation& reservation : last) {
    const auto node = std::find_if(
        cluster.nodes.begin(), cluster.nodes.end(),
        [&](const GpuNode& each) { return each.name == reservation.places.front().node; });
    if (node != cluster.nodes.end()) reservation.product = node->product;
  }
  ReservationPlan plan = PlanReservations(cluster, last, at.now);
  for (GpuReservation& reservation : plan.reservations) {
    const auto before = std::find_if(last.begin(), last.end(), [&](const GpuReservation& each) {
      return each.job == reservation.job;
    });
    if (before != last.end() && IsHardlyMoved(*before, reservation, at.now)) reservation = *before;
    const std::string owner = OwnerOf(*Find(in_line, reservation.job)->pods.front());
    if (!owner.empty()) last_of_owners_.insert_or_assign(owner, OfOwner{reservation, at.now});
  }
  if (LetsMorePass(reservations_, plan.reservations)) BeginToRemind();
  reservations_ = std::move(plan.reservations);
  NoteFreeGpus(at.now);
  Write(in_line, at, stop);
  RemoveOthers(stop);
  WriteLongestRuns(at.wall, stop);
  AnnounceStarts(in_line, at);
  ExplainMissing(in_line, plan.outcomes);
  Remind(stop);
}

std::vector<GpuReservation> ReservationDriver::LastReservationsOf(
    const std::vector<JobInLine>& in_line, Instant now) {
  std::erase_if(last_of_owners_, [&](const auto& entry) {
    return now - entry.second.planned > PublishedReservation::kLifetime;
  });
  std::vector<GpuReservation> last = reservations_;
  for (const JobInLine& job : in_line) {
    const auto known = last_of_owners_.find(OwnerOf(*job.pods.front()));
    const bool has_one = std::any_of(
        last.begin(), last.end(), [&](const GpuReservation& each) { return each.job == job.name; });
    if (known == last_of_owners_.end() || has_one) continue;
    last.push_back(known->second.reservation);
    last.back().job = job.name;
  }
  return last;
}

std::string ReservationDriver::OwnerOf(const Pod& pod) const {
  const auto times = times_.Find(pod.uid);
  // The author of a pod chooses its owner reference, so an owner's UID counts only within the pod's
  // namespace.
  return times && !times->owner.empty() ? pod.pod_namespace + " " + times->owner : std::string();
}

void ReservationDriver::SetAside(std::vector<JobInLine>& in_line, Instant now) {
  // If steps were missed, reservations may have expired, and other jobs may have used the GPUs.
  if (stepped_ && now - *stepped_ > TrainingEnds::kLongestGap) free_since_.clear();
  stepped_ = now;
  for (const auto& [name, since] : free_since_) {
    const JobInLine* const job = Find(in_line, name);
    if (job == nullptr || now - since < kInVain) continue;
    set_aside_until_[KindOf(*job)] = now + kSetAside;
    log_.Info("GPUs were reserved in vain", {{"job", name}});
    Record(*job->pods.front(), "SynergyNotReserved",
           "no GPUs are reserved any more: they were free for two minutes, and it did not start");
  }
  std::erase_if(set_aside_until_, [&](const auto& entry) { return entry.second <= now; });
  std::erase_if(in_line,
                [&](const JobInLine& job) { return set_aside_until_.contains(KindOf(job)); });
}

ReservationDriver::JobKind ReservationDriver::KindOf(const JobInLine& job) {
  const Pod& first = *job.pods.front();
  return {first.pod_namespace, job.pods.size(), first.requests.main.gpus};
}

void ReservationDriver::NoteFreeGpus(Instant now) {
  std::map<std::string, Instant> free_since;
  for (const GpuReservation& reservation : reservations_) {
    if (!reservation.waits_for.empty()) continue;
    const auto before = free_since_.find(reservation.job);
    free_since.emplace(reservation.job, before == free_since_.end() ? now : before->second);
  }
  free_since_ = std::move(free_since);
}

void ReservationDriver::Write(const std::vector<JobInLine>& in_line, Moment at,
                              const std::stop_token& stop) {
  for (const GpuReservation& reservation : reservations_) {
    const PublishedReservation wanted = Publish(reservation, at);
    const std::string value = wire::WriteGpuReservation(wanted);
    for (const auto& pod : Find(in_line, reservation.job)->pods) {
      const auto times = times_.Find(pod->uid);
      if (times && IsWritten(times->reservation, wanted, at.wall)) continue;
      if (!Annotate(*pod, annotations::kGpuReservation, value, stop)) return;
    }
  }
}

void ReservationDriver::RemoveOthers(const std::stop_token& stop) {
  for (const auto& [uid, times] : times_.Snapshot()) {
    if (!times->reservation) continue;
    const std::shared_ptr<const Pod> pod = state_.FindPod(uid);
    if (!pod) continue;
    const bool is_held = pod->waiting && std::any_of(reservations_.begin(), reservations_.end(),
                                                     [&](const GpuReservation& each) {
                                                       return each.job == JobOf(*pod);
                                                     });
    if (!is_held && !Annotate(*pod, annotations::kGpuReservation, std::nullopt, stop)) return;
  }
}

void ReservationDriver::WriteLongestRuns(WallTime now, const std::stop_token& stop) {
  if (reservations_.empty()) return;
  std::map<std::string, std::vector<std::shared_ptr<const Pod>>> jobs;
  for (auto& pod : state_.WaitingPods()) {
    if (pod->UsesGpus() && IsSubjectToReservations(*pod)) jobs[JobOf(*pod)].push_back(pod);
  }
  size_t written = 0;
  for (const auto& [name, pods] : jobs) {
    std::optional<std::optional<Duration>> learnt;  // set when first needed
    for (const auto& pod : pods) {
      const auto times = times_.Find(pod->uid);
      if (!times || (!times->learnt && !IsRefused(*pod, settings_.scheduler_name))) continue;
      if (!learnt) learnt = ends_.LongestRunOf(pods, now);
      if (IsNearly(times->learnt, *learnt)) continue;
      if (written++ == settings_.reminders_per_step) return;
      std::optional<std::string> value;
      if (*learnt) value = wire::WriteLongestRun(**learnt);
      // The write also makes kube-scheduler retry the pod.
      if (!Annotate(*pod, annotations::kLongestRun, std::move(value), stop)) return;
    }
  }
}

void ReservationDriver::AnnounceStarts(const std::vector<JobInLine>& in_line, Moment at) {
  std::map<std::string, GpuReservation> announced;
  for (const GpuReservation& reservation : reservations_) {
    const auto before = announced_starts_.find(reservation.job);
    const bool is_news = before == announced_starts_.end() ||
                         before->second.places != reservation.places ||
                         !IsNear(before->second.starts.likely, reservation.starts.likely,
                                 reservation, kUnannounced, at.now);
    announced.emplace(reservation.job, is_news ? reservation : before->second);
    if (!is_news) continue;
    const std::string text = DescribeStart(Publish(reservation, at), at.wall);
    log_.Info("GPUs reserved", {{"job", reservation.job}, {"what", text}});
    Record(*Find(in_line, reservation.job)->pods.front(), "SynergyReserved",
           "GPUs are reserved: it " + text);
  }
  announced_starts_ = std::move(announced);
}

void ReservationDriver::ExplainMissing(const std::vector<JobInLine>& in_line,
                                       const std::vector<ReservationOutcome>& outcomes) {
  std::map<std::string, ReservationOutcome> announced;
  for (size_t i = 0; i < in_line.size(); ++i) {
    const ReservationOutcome outcome = outcomes[i];
    const std::string_view why = WhyNotReserved(outcome);
    if (why.empty()) continue;
    announced.emplace(in_line[i].name, outcome);
    const auto before = announced_outcomes_.find(in_line[i].name);
    if (before != announced_outcomes_.end() && before->second == outcome) continue;
    Record(*in_line[i].pods.front(), "SynergyNotReserved",
           fmt::format("no GPUs are reserved: {}", why));
  }
  announced_outcomes_ = std::move(announced);
}

void ReservationDriver::BeginToRemind() {
  std::vector<std::shared_ptr<const Pod>> refused = state_.WaitingPods();
  std::erase_if(refused,
                [&](const auto& pod) { return !IsRefused(*pod, settings_.scheduler_name); });
  std::sort(refused.begin(), refused.end(), [](const auto& a, const auto& b) {
    return std::tie(b->priority, a->waiting->since, a->uid) <
           std::tie(a->priority, b->waiting->since, b->uid);
  });
  to_remind_.clear();
  for (const auto& pod : refused) to_remind_.push_back(pod->uid);
}

void ReservationDriver::Remind(const std::stop_token& stop) {
  for (size_t sent = 0; sent < settings_.reminders_per_step && !to_remind_.empty();) {
    const std::shared_ptr<const Pod> pod = state_.FindPod(to_remind_.front());
    if (pod && IsRefused(*pod, settings_.scheduler_name)) {
      if (!Annotate(*pod, annotations::kRoomSeen, ToTimeText(clock_.WallNow()), stop)) return;
      ++sent;
    }
    to_remind_.pop_front();
  }
}

bool ReservationDriver::Annotate(const Pod& pod, std::string_view key,
                                 std::optional<std::string> value, const std::stop_token& stop) {
  if (!MayGoOn(stop)) return false;
  const Result<Pod> annotated =
      pods_.Annotate(pod, {{key, std::move(value)}}, kube::Precondition::kSamePod, stop);
  if (annotated) {
    state_.RefreshPod(*annotated);
  } else {
    log_.Warn("cannot write about GPU reservations",
              {{"pod", pod.Key()}, {"error", annotated.error().message}});
  }
  return true;
}

void ReservationDriver::Record(const Pod& pod, std::string reason, std::string message) {
  events_.Record(kube::AboutPod(pod, "Normal", std::move(reason), std::move(message)));
}

}  // namespace synergy::controller
