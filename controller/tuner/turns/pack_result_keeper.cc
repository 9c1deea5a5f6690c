#include "controller/tuner/turns/pack_result_keeper.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "profile/measured/measured_profile.h"

namespace synergy::controller {
namespace {

// A pod that takes turns has one GPU, and is in no gang.
std::string ProfileNameOf(const PackedWorkload& workload) {
  return MeasuredName(workload.workload, Gpus(1), workload.gpu_product);
}

// Returns whether another try may succeed although no verdict has changed. It would not after
// kNotFound: the namespace is gone, or the profile has just been deleted.
bool IsPassing(const Error& error) {
  return error.code != ErrorCode::kDenied && error.code != ErrorCode::kInvalid &&
         error.code != ErrorCode::kNotFound;
}

}  // namespace

PackResultKeeper::PackResultKeeper(const ProfileStore& profiles, kube::ProfileApi& api,
                                   std::function<bool()> may_act, const Clock& clock, Logger& log,
                                   metrics::TurnMetrics& metrics)
    : profiles_(profiles),
      api_(api),
      may_act_(std::move(may_act)),
      clock_(clock),
      log_(log),
      metrics_(metrics) {}

PackResults PackResultKeeper::Load() {
  PackRecords records;
  for (const auto& known : profiles_.All()) {
    const ProfileObject& object = known->object;
    const PackedWorkload workload{object.profile_namespace, object.workload,
                                  object.training.gpu_product};
    // The name identifies the workload for which the profile was made, even if its spec has been
    // edited since.
    if (object.kept_by_us && !object.packing.empty() && object.name == ProfileNameOf(workload))
      records[workload] = object.packing;
  }
  RecordedPacks recorded = ResultsOf(records, clock_.Present());
  metrics_.CountPackResults("loaded", recorded.results.size());
  metrics_.CountPackResults("ignored", recorded.ignored);
  if (recorded.ignored > 0) {
    log_.Warn(
        "some results of packs are ignored: they are from the future, or contradict "
        "themselves",
        {{"ignored", recorded.ignored}, {"loaded", recorded.results.size()}});
  }
  verdicts_ = {};
  due_.clear();
  last_.reset();
  next_ = {};
  (void)verdicts_.Observe(recorded.results);
  return std::move(recorded.results);
}

void PackResultKeeper::Keep(const PackResults& results, const std::stop_token& stop) {
  due_.merge(verdicts_.Observe(results));
  if (due_.empty() || clock_.Now() < next_) return;
  // Continue after the workload tried last, so that failing writes do not block the others.
  std::vector<PackedWorkload> queue(due_.begin(), due_.end());
  if (last_) std::ranges::rotate(queue, std::ranges::upper_bound(queue, *last_));
  if (queue.size() > kMostWrites) queue.erase(queue.begin() + kMostWrites, queue.end());
  for (const PackedWorkload& each : queue) {
    if (stop.stop_requested() || !may_act_()) return;
    last_ = each;
    const Result<> written = Write(each, RecordsOf(each, results, clock_.Present()), stop);
    metrics_.CountPackResults(written ? "written" : "failed");
    if (!written) {
      log_.Warn("cannot keep the results of packs in a profile",
                {{"namespace", each.pod_namespace},
                 {"profile", ProfileNameOf(each)},
                 {"error", written.error().message}});
    }
    if (written || !IsPassing(written.error())) {
      due_.erase(each);
      continue;
    }
    next_ = clock_.Now() + kRetry;
    // The next call may take as long, and turns wait for it.
    if (IsOutage(written.error())) return;
  }
}

Result<> PackResultKeeper::Write(const PackedWorkload& workload,
                                 const std::vector<PackRecord>& records,
                                 const std::stop_token& stop) {
  const auto known = profiles_.Find(workload.pod_namespace, ProfileNameOf(workload));
  if (known != nullptr) {
    if (!known->object.kept_by_us)
      return Fail(ErrorCode::kDenied, "another client has created a TrainingProfile of that name");
    return api_.WritePacking(known->object, records, stop);
  }
  if (records.empty()) return {};
  MeasuredProfile made;
  made.workload = workload.workload;
  made.gpu_product = workload.gpu_product;
  const Result<ProfileObject> created = api_.Create(workload.pod_namespace, made, stop);
  if (!created) return Fail(created.error());
  if (stop.stop_requested() || !may_act_())
    return Fail(ErrorCode::kCancelled, "another replica acts now");
  return api_.WritePacking(*created, records, stop);
}

}  // namespace synergy::controller
