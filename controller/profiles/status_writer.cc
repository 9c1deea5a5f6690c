#include "controller/profiles/status_writer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "allocation/fair_share.h"
#include "core/text/quantity_text.h"
#include "core/wall_time.h"

namespace synergy::controller {
namespace {

constexpr Duration kRefresh = std::chrono::minutes(1);
constexpr Duration kRetry = std::chrono::seconds(5);

// Formats with at most two decimals, without trailing zeros, as JSON writes the number.
std::string RatioText(double ratio) {
  std::string text = fmt::format("{:.2f}", ratio);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

StatusWriter::StatusWriter(kube::ProfileApi& api, const ProfileStore& profiles,
                           const ClusterState& cluster, const Clock& clock, Logger& log,
                           metrics::ControllerMetrics& metrics, std::function<bool()> may_act,
                           ResourceVector headroom, double max_speed_up,
                           const ProfileMismatch* mismatch)
    : api_(api),
      profiles_(profiles),
      cluster_(cluster),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      headroom_(headroom),
      max_speed_up_(max_speed_up),
      may_act_(std::move(may_act)),
      mismatch_(mismatch) {}

void StatusWriter::WriteIfDue(const std::stop_token& stop) {
  const uint64_t version = profiles_.version();
  const Instant now = clock_.Now();
  const uint64_t verdicts = mismatch_ != nullptr ? mismatch_->version() : 0;
  if (version_ == version && verdicts_ == verdicts && now < next_) return;
  version_ = version;
  verdicts_ = verdicts;
  next_ = now + (WriteAll(stop) ? kRefresh : kRetry);
}

bool StatusWriter::WriteAll(const std::stop_token& stop) {
  bool all_written = true;
  for (const std::shared_ptr<const KnownProfile>& profile : profiles_.All()) {
    if (stop.stop_requested() || !may_act_()) return false;
    const ProfileObject& object = profile->object;
    ProfileStatus status = Describe(*profile);
    if (status == object.status) continue;
    if (status.valid != object.status.valid || status.since.empty())
      status.since = ToTimeText(clock_.WallNow());
    if (!status.contradiction.empty() && status.contradicted_since.empty())
      status.contradicted_since = ToTimeText(clock_.WallNow());
    const Result<> written = api_.WriteStatus(object, status, stop);
    metrics_.CountStatusWrite(written ? "written" : "failed");
    // A profile that is gone or has changed meanwhile arrives again through the watch.
    if (written || written.error().code == ErrorCode::kNotFound ||
        written.error().code == ErrorCode::kConflict) {
      continue;
    }
    all_written = false;
    log_.Warn("cannot write a profile's status",
              {{"profile", object.Key()}, {"error", written.error().message}});
  }
  return all_written;
}

void StatusWriter::DescribeContradiction(const ProfileObject& object, ProfileStatus& status) const {
  if (object.measured || object.profile == nullptr) return;
  const ProfileVerdict seen = mismatch_ != nullptr ? mismatch_->Of(object) : ProfileVerdict();
  // A replica without observations keeps those of another replica.
  const bool still = object.status.observed_generation == object.generation;
  if (still) status.contradicted_since = object.status.contradicted_since;
  if (seen.verdict == Verdict::kContradicted) {
    status.contradiction = seen.message;
  } else if (seen.verdict == Verdict::kUnknown && still) {
    status.contradiction = object.status.contradiction;
  }
  if (status.contradiction.empty()) status.contradicted_since.clear();
}

ProfileStatus StatusWriter::Describe(const KnownProfile& profile) const {
  const ProfileObject& object = profile.object;
  ProfileStatus status;
  status.observed_generation = object.generation;
  status.since = object.status.since;
  DescribeContradiction(object, status);
  if (object.profile == nullptr && object.problems.empty()) {
    status.valid = "Unknown";
    status.reason = "Measuring";
    status.message = "the workload has not been measured yet";
    return status;
  }
  if (object.profile == nullptr) {
    status.valid = "False";
    status.reason = "Unusable";
    status.message = fmt::format("{}", fmt::join(object.problems, "; "));
    return status;
  }
  status.valid = "True";
  status.reason = object.measured ? "Measured" : "Usable";
  status.message = fmt::format("{}", fmt::join(object.profile->warnings(), "; "));
  if (object.measured && !object.measured->note.empty()) status.message = object.measured->note;
  // Covers all nodes to which the profile applies, regardless of which pods may run there.
  const auto fair = LeastFairShare(*cluster_.Snapshot(), nullptr, object.profile->gpus(),
                                   object.training.gpu_product, headroom_);
  ResourceVector demand = profile.demand;
  if (fair) {
    const double credible = CredibleThroughput(*object.profile, *fair, max_speed_up_);
    demand = object.profile->Demand(profile.tolerance, credible);
    const double slow = object.profile->ThroughputAt(fair->cpu, fair->memory);
    const double fast = std::min(object.profile->ThroughputAt(demand.cpu, demand.memory), credible);
    if (slow > 0 && std::isfinite(fast / slow)) status.speed_up = RatioText(fast / slow);
    if (credible < object.profile->Best()) {
      status.reason = "Bounded";
      status.message = fmt::format(
          "{}claims {} times the speed at the fair share; counts as {} times as fast (maxSpeedUp)",
          status.message.empty() ? "" : status.message + "; ",
          RatioText(object.profile->Best() / slow), RatioText(max_speed_up_));
    }
  }
  status.demand_cpu = ToQuantityText(demand.cpu);
  // Memory is not measured.
  if (!object.measured) status.demand_memory = ToQuantityText(demand.memory);
  return status;
}

}  // namespace synergy::controller
