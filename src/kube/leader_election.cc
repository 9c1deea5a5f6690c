#include "kube/leader_election.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "kube/listing.h"
#include "wire/api/lease.h"

namespace synergy::kube {
namespace {

class LeaseElection final : public LeaderElection {
 public:
  LeaseElection(ApiClient& client, const Clock& clock, Logger& log, LeaderElectionOptions options)
      : client_(client),
        clock_(clock),
        log_(log),
        options_(std::move(options)),
        folder_(fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases",
                            Escape(options_.lease_namespace))),
        path_(fmt::format("{}/{}", folder_, Escape(options_.name))),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}

  bool IsLeader() const override {
    return leads_until_.load() > clock_.Now().time_since_epoch().count();
  }
  Instant LedLast() const override { return Instant(Instant::duration(led_last_.load())); }
  uint64_t Terms() const override { return terms_.load(); }

 private:
  void Run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const bool led = IsLeader();
      const Instant asked = clock_.Now();
      const Result<bool> mine = Try(stop);
      if (mine && *mine) {
        // Count from before the call: other replicas count from the moment when they see the
        // renewal.
        leads_until_ = (asked + options_.renew_deadline).time_since_epoch().count();
        led_last_ = asked.time_since_epoch().count();
      } else if (mine) {
        leads_until_ = 0;
      }
      if (!mine) log_.Debug("cannot renew the lease", {{"error", mine.error().message}});
      if (IsLeader() != led) {
        log_.Info(led ? "no longer leader" : "leader",
                  {{"lease", options_.name}, {"identity", options_.identity}});
      }
      clock_.SleepFor(options_.retry, stop);
    }
    GiveUp();
  }

  // Returns whether this process now holds the lease.
  Result<bool> Try(const std::stop_token& stop) {
    const Result<std::string> answer = client_.Get(path_, stop);
    if (!answer && answer.error().code == ErrorCode::kNotFound) {
      was_lost_ = true;
      // The Lease was deleted. Its last known holder may lead until its own next try.
      if (!seen_.empty() && clock_.Now() - seen_at_ < options_.lease_duration) return false;
      const Result<std::string> made =
          client_.Post(folder_,
                       wire::WriteNewLease(options_.name, options_.identity,
                                           options_.lease_duration, clock_.WallNow()),
                       stop);
      if (!made) return Fail(made.error());
      NoteTaken();
      return true;
    }
    if (!answer) return Fail(answer.error());
    const Result<wire::Lease> lease = wire::ReadLease(*answer);
    if (!lease) return Fail(lease.error());
    const bool mine = lease->holder == options_.identity;
    was_lost_ |= !mine;
    if (!mine && !lease->holder.empty() && !IsOverdue(*lease)) {
      led_last_ = seen_at_.time_since_epoch().count();
      return false;
    }
    const Result<std::string> taken =
        client_.Patch(path_, "application/merge-patch+json",
                      wire::WriteLeaseChange(*lease, options_.identity, options_.lease_duration,
                                             clock_.WallNow()),
                      stop);
    if (taken) {
      NoteTaken();
      return true;
    }
    if (taken.error().code == ErrorCode::kConflict) return false;
    return Fail(taken.error());
  }

  // Counts a new term only if another process may have held the lease. If the answer to a write was
  // lost, the lease names this process at the next try.
  void NoteTaken() {
    seen_.clear();
    if (std::exchange(was_lost_, false)) ++terms_;
  }

  // Returns whether the holder has not renewed the lease for the lease's duration. Uses the local
  // clock, because the clocks of other replicas may be wrong.
  bool IsOverdue(const wire::Lease& lease) {
    const std::string seen = lease.holder + " " + lease.renewed;
    const Instant now = clock_.Now();
    if (seen != seen_) {
      seen_ = seen;
      seen_at_ = now;
    }
    return now - seen_at_ >= lease.duration;
  }

  void GiveUp() {
    if (!IsLeader()) return;
    leads_until_ = 0;
    const Result<std::string> answer = client_.Get(path_);
    if (!answer) return;
    const Result<wire::Lease> lease = wire::ReadLease(*answer);
    if (!lease || lease->holder != options_.identity) return;
    const Result<std::string> given = client_.Patch(
        path_, "application/merge-patch+json",
        wire::WriteLeaseChange(*lease, "", std::chrono::seconds(1), clock_.WallNow()));
    if (!given) log_.Debug("cannot release the lease", {{"error", given.error().message}});
  }

  ApiClient& client_;
  const Clock& clock_;
  Logger& log_;
  const LeaderElectionOptions options_;
  const std::string folder_;
  const std::string path_;
  std::atomic<Instant::rep> leads_until_{0};  // nanoseconds of the clock
  std::atomic<Instant::rep> led_last_{0};     // same unit
  std::atomic<uint64_t> terms_{0};

  // Only the thread uses these.
  bool was_lost_ = true;  // the lease has not named this process since its last write
  std::string seen_;      // the other holder and its renewal; empty: held by this process
  Instant seen_at_{};

  std::jthread thread_;
};

}  // namespace

std::unique_ptr<LeaderElection> LeaderElection::Start(ApiClient& client, const Clock& clock,
                                                      Logger& log, LeaderElectionOptions options) {
  return std::make_unique<LeaseElection>(client, clock, log, std::move(options));
}

}  // namespace synergy::kube
