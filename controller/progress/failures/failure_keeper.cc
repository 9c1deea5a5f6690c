#include "controller/progress/failures/failure_keeper.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/dns_name.h"
#include "cluster/labels.h"

namespace synergy::controller {
namespace {

// The maximum number of pods that one step reads because their containers were restarted.
constexpr size_t kMostReads = 20;
// Limits the chain of owners, such as RayJob and RayCluster, or TrainJob, JobSet and Job.
constexpr int kMostOwners = 4;
constexpr char kJobSetVersion[] = "jobset.x-k8s.io/v1alpha2";
// The maximum number of events on pods of one attempt; the owner's event states how many pods
// failed.
constexpr size_t kMostPodEvents = 64;

// Returns whether several pods may have the same GPU. NVIDIA's product label then ends with
// "-SHARED", unless the shared GPUs are another resource.
bool HasSharedGpus(const NodeDetail& node) {
  const auto replicas = FindLabel(node.labels, "nvidia.com/gpu.replicas");
  const std::vector<std::string>& products = node.gpu_kinds.products;
  return (replicas && *replicas != "0" && *replicas != "1") ||
         std::any_of(products.begin(), products.end(),
                     [](const std::string& product) { return product.ends_with("-SHARED"); });
}

// Adds facts about the pod's node.
void AddNode(const NodeDetail& node, EndedPod& pod) {
  pod.slices_per_gpu = node.gpu_kinds.slices_per_gpu;
  // The agent reports which pods share the GPUs of slices.
  if (pod.slices == Slices(0)) pod.shared_gpu = HasSharedGpus(node);
}

// Returns the members of the owner's last recorded attempt if these records belong to it, too. The
// rank that made a gang fail may end last, after its grace period. Returns none if that attempt has
// suspended its job.
std::vector<FailureRecord> EarlierMembers(const FailureHistory& history, const ObjectOwner& owner,
                                          const std::vector<FailureRecord>& records) {
  std::vector<FailureRecord> members;
  // The jobs of a CronJob may overlap.
  if (owner.uid.empty() || owner.kind == "CronJob" || !records.front().HasRun()) return members;
  for (const FailureRecord& known : history.records) {
    if (known.owner.uid != owner.uid || !known.HasRun()) continue;
    if (!members.empty() && members.front().attempt != known.attempt) {
      if (known.attempt < members.front().attempt) continue;
      members.clear();
    }
    members.push_back(known);
  }
  const bool belong = std::all_of(members.begin(), members.end(), [&](const auto& member) {
    return member.to_suspend == WallTime{} && member.suspended == WallTime{} &&
           std::all_of(records.begin(), records.end(), [&](const FailureRecord& record) {
             return record.at <= member.attempt + FailureKeeper::kLateMember &&
                    !IsRetry(RunOf(record), RunOf(member)) &&
                    !IsRetry(RunOf(member), RunOf(record));
           });
  });
  if (!belong) members.clear();
  return members;
}

}  // namespace

FailureKeeper::FailureKeeper(kube::FailureApi& api, FailureSources sources, RetryKeeper* retries,
                             kube::EventRecorder& events, std::function<bool()> may_act,
                             Duration patience, const Clock& clock, Logger& log,
                             metrics::ControllerMetrics& metrics)
    : api_(api),
      sources_(std::move(sources)),
      reports_(sources_.reports),
      state_(sources_.state),
      retries_(retries),
      events_(events),
      may_act_(std::move(may_act)),
      patience_(patience),
      clock_(clock),
      log_(log),
      metrics_(metrics) {}

FailureKeeper::RunKey FailureKeeper::KeyOf(const Waiting& one) {
  if (one.wait) return {one.pod.uid, one.wait->container, kNeverRan};
  return one.end ? RunKey{one.pod.uid, one.end->container, one.end->run}
                 : RunKey{one.pod.uid, one.pod.container, 0};
}

PodRun FailureKeeper::RunOf(const Waiting& one) {
  PodRun run{.uid = one.pod.uid, .created = one.pod.created, .failed = one.at};
  if (one.wait) run.run = kNeverRan;
  if (one.end) {
    run.run = one.end->run;
    run.started = one.end->started;
  }
  return run;
}

void FailureKeeper::Replace(std::vector<EndedPod> all) {
  for (EndedPod& pod : all) Upsert(std::move(pod));
}

void FailureKeeper::Upsert(EndedPod pod) {
  if (!pod.managed || !pod.failed) return;
  const ContainerEnd* const end = EndOf(pod);
  std::optional<ContainerEnd> copy = end == nullptr ? std::nullopt : std::optional(*end);
  const std::lock_guard lock(mutex_);
  Add(std::move(pod), std::move(copy));
}

void FailureKeeper::Starting::Replace(std::vector<EndedPod> all) {
  std::set<std::string_view> present;
  for (const EndedPod& pod : all) present.insert(pod.uid);
  {
    const std::lock_guard lock(keeper_.mutex_);
    for (auto& [name, waiting] : keeper_.waiting_) {
      std::erase_if(waiting, [&](const auto& one) {
        return one.second.wait && !present.contains(one.second.pod.uid);
      });
    }
  }
  for (EndedPod& pod : all) Upsert(std::move(pod));
}

void FailureKeeper::Starting::Upsert(EndedPod pod) {
  if (!pod.managed) return;
  const ContainerWait* const wait = pod.deleting ? nullptr : NoStartOf(pod);
  if (wait == nullptr) return Remove(pod);
  ContainerWait copy = *wait;
  const std::lock_guard lock(keeper_.mutex_);
  keeper_.DropWaits(pod, copy.container);
  keeper_.Add(std::move(pod), std::nullopt, std::move(copy));
}

void FailureKeeper::Starting::Remove(const EndedPod& pod) {
  const std::lock_guard lock(keeper_.mutex_);
  keeper_.DropWaits(pod);
}

void FailureKeeper::DropWaits(const EndedPod& pod, std::string_view except) {
  const auto waiting = waiting_.find(pod.pod_namespace);
  if (waiting == waiting_.end()) return;
  std::erase_if(waiting->second, [&](const auto& entry) {
    const Waiting& one = entry.second;
    return one.wait && one.pod.uid == pod.uid && one.wait->container != except;
  });
}

void FailureKeeper::Add(EndedPod pod, std::optional<ContainerEnd> end,
                        std::optional<ContainerWait> wait) {
  const WallTime now = clock_.WallNow();
  const WallTime at = TimeOf(pod, end ? &*end : nullptr, now);
  if (at < now - kOldest) return;
  const std::string of_namespace = pod.pod_namespace;
  Waiting one{std::move(pod), std::move(end), std::move(wait), at, clock_.Now()};
  RunKey key = KeyOf(one);
  const auto reported = reported_.find(of_namespace);
  if (reported != reported_.end() && reported->second.Contains(key, at)) return;
  std::map<RunKey, Waiting>& waiting = waiting_[of_namespace];
  if (const auto found = waiting.find(key); found != waiting.end()) {
    one.since = found->second.since;
    // Keep the first report: the message of ImagePullBackOff only repeats the cause in more words.
    if (one.wait && one.wait->reason == "ImagePullBackOff") one.wait = found->second.wait;
    found->second = std::move(one);
    return;
  }
  if (waiting.size() >= kMostWaiting && acts_) return metrics_.CountFailureDropped();
  waiting.emplace(std::move(key), std::move(one));
  if (waiting.size() <= kMostWaiting) return;
  waiting.erase(std::min_element(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) {
    return a.second.at < b.second.at;
  }));
}

void FailureKeeper::Reported::Add(RunKey key, Instant now) {
  const auto [place, is_new] = runs.insert(std::move(key));
  if (!is_new) return;
  by_age.emplace_back(now, place);
  if (by_age.size() <= kMostReported) return;
  runs.erase(by_age.front().second);
  by_age.pop_front();
}

bool FailureKeeper::Reported::Contains(const RunKey& key, WallTime at) const {
  return runs.contains(key) || (first && std::pair(at, std::get<0>(key)) < *first);
}

void FailureKeeper::Reported::Forget(Instant before) {
  while (!by_age.empty() && by_age.front().first < before) {
    runs.erase(by_age.front().second);
    by_age.pop_front();
  }
}

bool FailureKeeper::Retry::Fail(const Error& error, Instant now) {
  // An outage ends for all calls at once; a refusal lasts until permissions change.
  due_ = now + (IsOutage(error) ? kWriteInterval : backoff_.Next());
  return std::exchange(error_, error.code) != error.code;
}

void FailureKeeper::Forget() {
  suspects_.StartOver();
  const std::lock_guard lock(mutex_);
  acts_ = false;
  ForgetOld();
}

void FailureKeeper::ForgetOld() {
  const Instant old = clock_.Now() - kOldest;
  for (auto& [name, waiting] : waiting_)
    std::erase_if(waiting, [old](const auto& one) { return one.second.since < old; });
  std::erase_if(waiting_, [](const auto& of_namespace) { return of_namespace.second.empty(); });
  for (auto& [name, reported] : reported_) reported.Forget(old);
  std::erase_if(reported_,
                [](const auto& of_namespace) { return of_namespace.second.runs.empty(); });
}

void FailureKeeper::StartOver() {
  loaded_ = false;
  listing_.Succeed();
  writes_.clear();
  removals_.clear();
  asked_.clear();
  unread_.clear();
}

void FailureKeeper::Step(const std::stop_token& stop) {
  {
    const std::lock_guard lock(mutex_);
    acts_ = true;
    ForgetOld();
  }
  if (!loaded_ && !ReadHistories(stop)) return;
  AddRestarts(stop);
  for (const Attempt& attempt : CompleteAttempts()) {
    if (stop.stop_requested() || !may_act_()) return;
    if (Report(attempt, stop)) Settle(attempt);
  }
  suspects_.Look(histories_, *state_.Snapshot(), clock_.WallNow());
  WriteDue(stop);
  if (retries_ != nullptr) ActOnRetries(stop);
  RemoveGone(stop);
}

bool FailureKeeper::ReadHistories(const std::stop_token& stop) {
  const Instant now = clock_.Now();
  if (!listing_.IsDue(now)) return false;
  auto histories = api_.ListHistories(stop);
  if (!histories) {
    if (listing_.Fail(histories.error(), now))
      log_.Warn("cannot read the records of failures", {{"error", histories.error().message}});
    return false;
  }
  listing_.Succeed();
  std::map<std::string, FailureHistory> read;
  for (FailureHistory& history : *histories) {
    if (history.of_namespace.empty()) continue;
    read.insert_or_assign(history.of_namespace, std::move(history));
  }
  {
    const WallTime oldest = clock_.WallNow() - kOldest;
    const std::lock_guard lock(mutex_);
    for (auto& [name, reported] : reported_) reported.first.reset();
    for (const auto& [name, history] : read) {
      const std::vector<FailureRecord>& records = history.records;
      if (records.empty() || records.back().at < oldest) continue;
      Reported& reported = reported_[name];
      if (records.size() >= kMostFailureRecords)
        reported.first.emplace(records.front().at, records.front().uid);
      for (const FailureRecord& record : records)
        reported.Add({record.uid, record.container, record.run}, now);
      if (const auto waiting = waiting_.find(name); waiting != waiting_.end()) {
        std::erase_if(waiting->second, [&reported](const auto& one) {
          return reported.Contains(one.first, one.second.at);
        });
      }
    }
  }
  // Keep records that this replica has not written yet.
  for (const auto& [name, when] : unwritten_) {
    FailureHistory& history = read[name];
    history.of_namespace = name;
    history.records = MergeRecords(histories_[name].records, history.records);
  }
  histories_ = std::move(read);
  loaded_ = true;
  if (retries_ != nullptr) retries_->StartOver(histories_);
  return true;
}

void FailureKeeper::AddRestarts(const std::stop_token& stop) {
  const Instant now = clock_.Now();
  std::erase_if(asked_, [now](const auto& entry) { return now - entry.second > kOldest; });
  std::erase_if(unread_, [now](const auto& entry) { return now - entry.second.due() > kOldest; });
  const auto cluster = state_.Snapshot();
  const std::map<std::string, std::vector<EndedRun>> all = reports_.All(now);
  // Begin after the node that was served last.
  std::vector<const std::pair<const std::string, std::vector<EndedRun>>*> nodes;
  for (const auto& of_node : all) nodes.push_back(&of_node);
  std::rotate(nodes.begin(),
              std::find_if(nodes.begin(), nodes.end(),
                           [this](const auto* of_node) { return of_node->first > served_node_; }),
              nodes.end());
  size_t reads = 0;
  for (const auto* const of_node : nodes) {
    const auto& [node, runs] = *of_node;
    const auto index = cluster->Find(node);
    if (!index) continue;
    const auto& pods = cluster->node(*index).detail->pods;
    size_t reads_of_node = 0;
    for (const EndedRun& run : runs) {
      const RunKey key{run.uid, run.container, run.run};
      if (asked_.contains(key)) continue;
      const auto failed = unread_.find(key);
      if (failed != unread_.end() && !failed->second.IsDue(now)) continue;
      const auto pod = std::find_if(pods.begin(), pods.end(),
                                    [&](const auto& one) { return one->uid == run.uid; });
      // The watch reports pods that have ended.
      if (pod == pods.end()) continue;
      if (++reads_of_node > kMostReadsOfNode) break;
      if (++reads > kMostReads || stop.stop_requested()) return;
      served_node_ = node;
      auto read = api_.ReadPod((*pod)->pod_namespace, (*pod)->name, stop);
      if (!read && read.error().code != ErrorCode::kNotFound) {
        unread_[key].Fail(read.error(), now);
        // The next call may take as long to fail.
        return;
      }
      asked_.emplace(key, now);
      unread_.erase(key);
      if (!read || read->uid != run.uid || read->node != node || !read->managed || read->failed)
        continue;
      // The agent's copy of the pod is older. So a run without a recorded end was followed by
      // another run that has also ended, because the status keeps only the last end.
      const ContainerEnd* const end = EndOf(*read, run.container, run.run);
      if (end == nullptr) continue;
      ContainerEnd copy = *end;
      const std::lock_guard lock(mutex_);
      Add(*std::move(read), std::move(copy));
    }
  }
}

bool FailureKeeper::IsReady(const std::vector<const Waiting*>& attempt, Instant now) const {
  Instant oldest = now;
  bool ready = true;
  for (const Waiting* const one : attempt) {
    oldest = std::min(oldest, one->since);
    const Duration waited = now - one->since;
    const bool reported =
        one->end && reports_.Of(one->pod.node, one->pod.uid, one->end->container, one->end->run);
    ready &= waited >= (one->wait ? kNoStart : reported ? kSettle : std::max(patience_, kSettle));
  }
  return ready || now - oldest >= kMostSettle;
}

std::vector<FailureKeeper::Attempt> FailureKeeper::CompleteAttempts() {
  const Instant now = clock_.Now();
  std::vector<Attempt> complete;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, waiting] : waiting_) {
    // Keys: the owner's uid, and whether the pods have run.
    std::map<std::pair<std::string_view, bool>, std::vector<const Waiting*>> of_owners;
    for (const auto& [key, one] : waiting) {
      const EndedPod& pod = one.pod;
      const std::string& owner = !pod.job_set.empty()    ? pod.job_set
                                 : pod.owner.uid.empty() ? pod.uid
                                                         : pod.owner.uid;
      of_owners[{owner, !one.wait}].push_back(&one);
    }
    size_t of_namespace = 0;
    for (auto& [owner, ends] : of_owners) {
      std::stable_sort(ends.begin(), ends.end(),
                       [](const Waiting* a, const Waiting* b) { return a->at < b->at; });
      for (auto begin = ends.begin(); begin != ends.end() && of_namespace < kMostAttempts;) {
        const auto end = std::find_if(
            begin, ends.end(),
            [first = RunOf(**begin)](const Waiting* one) { return IsRetry(RunOf(*one), first); });
        const std::vector<const Waiting*> attempt(begin, end);
        begin = end;
        if (!IsReady(attempt, now)) continue;
        ++of_namespace;
        Attempt& copy = complete.emplace_back();
        for (const Waiting* const one : attempt) copy.push_back(*one);
      }
    }
  }
  return complete;
}

void FailureKeeper::Settle(const Attempt& attempt) {
  const Instant now = clock_.Now();
  const std::string& name = attempt.front().pod.pod_namespace;
  const std::lock_guard lock(mutex_);
  Reported& reported = reported_[name];
  const auto waiting = waiting_.find(name);
  for (const Waiting& one : attempt) {
    const RunKey key = KeyOf(one);
    if (waiting != waiting_.end()) waiting->second.erase(key);
    reported.Add(key, now);
  }
}

bool FailureKeeper::IsRecorded(const std::string& pod_namespace, const RunKey& key) const {
  const auto found = histories_.find(pod_namespace);
  return found != histories_.end() &&
         std::any_of(found->second.records.begin(), found->second.records.end(),
                     [&key](const FailureRecord& record) {
                       return std::tie(record.uid, record.container, record.run) == key;
                     });
}

ObjectOwner FailureKeeper::OutermostOwner(const EndedPod& pod, std::string& queue,
                                          const std::stop_token& stop) {
  ObjectOwner owner = pod.owner;
  for (int i = 0; i < kMostOwners && !owner.kind.empty(); ++i) {
    Result<wire::OwnerFacts> facts = api_.ReadOwner(pod.pod_namespace, owner, stop);
    if ((!facts || facts->uid != owner.uid) && owner.kind == "Job" && !pod.job_set.empty()) {
      // A JobSet that restarts deletes its Jobs.
      ObjectOwner set{kJobSetVersion, "JobSet", pod.job_set, ""};
      facts = api_.ReadOwner(pod.pod_namespace, set, stop);
      // A JobSet with the same name that was created later is a different one.
      if (!facts || facts->created > pod.created) break;
      set.uid = facts->uid;
      owner = std::move(set);
    }
    // The name may belong to another object by now.
    if (!facts || facts->uid != owner.uid) break;
    if (queue.empty()) queue = facts->queue;
    if (facts->owner.kind.empty()) break;
    owner = facts->owner;
  }
  return owner;
}

bool FailureKeeper::Report(const Attempt& attempt, const std::stop_token& stop) {
  const WallTime now = clock_.WallNow();
  const EndedPod& any = attempt.front().pod;
  const auto cluster = state_.Snapshot();
  std::vector<FailureRecord> records;
  for (const Waiting& one : attempt) {
    if (IsRecorded(any.pod_namespace, KeyOf(one))) continue;
    const ContainerEnd* const end = one.end ? &*one.end : nullptr;
    std::optional<EndedRun> run;
    if (end != nullptr) run = reports_.Of(one.pod.node, one.pod.uid, end->container, end->run);
    if (one.wait) {
      records.push_back(JudgeNoStart(one.pod, *one.wait, now));
      continue;
    }
    EndedPod pod = one.pod;
    if (const auto node = cluster->Find(pod.node)) AddNode(*cluster->node(*node).detail, pod);
    const std::string& container = end != nullptr ? end->container : pod.container;
    SeenOfRun seen{reports_.XidsOf(pod.node, pod.uid, container), sources_.acts.Of(pod.uid)};
    if (run) seen.acts.insert(seen.acts.end(), run->acts.begin(), run->acts.end());
    auto record = JudgeFailure(pod, end, run ? &run->log : nullptr, now, seen);
    if (record) records.push_back(*std::move(record));
  }
  if (records.empty()) return true;
  std::string queue = any.queue;
  const ObjectOwner owner = OutermostOwner(any, queue, stop);
  // Check again, because the calls take time.
  if (stop.stop_requested() || !may_act_()) return false;
  FailureHistory& history = histories_[any.pod_namespace];
  history.of_namespace = any.pod_namespace;
  for (FailureRecord& record : records) {
    record.owner = owner;
    record.queue = queue;
  }
  std::vector<FailureRecord> members = EarlierMembers(history, owner, records);
  const size_t known = members.size();
  members.insert(members.end(), records.begin(), records.end());
  JoinAttempt(members);
  records.assign(members.begin() + static_cast<std::ptrdiff_t>(known), members.end());
  size_t events = 0;
  for (const FailureRecord& record : records) {
    metrics_.CountFailure(record.category, record.gpu_seconds);
    if (!record.leads && ++events > kMostPodEvents) continue;
    events_.Record({any.pod_namespace, record.pod, record.uid, "Warning", "SynergyFailure",
                    DescribeFailure(record)});
  }
  const auto leads = std::find_if(records.begin(), records.end(),
                                  [](const FailureRecord& record) { return record.leads; });
  // The API server refuses events about objects with invalid names. Members that ended later cause
  // another event only if one of them leads.
  if (!owner.kind.empty() && IsDnsSubdomain(owner.name) && leads != records.end()) {
    const std::string rank = leads->rank.empty() ? "" : fmt::format(" (rank {})", leads->rank);
    const std::string others =
        members.size() == 1 ? "" : fmt::format(", and {} more pods with it", members.size() - 1);
    events_.Record(kube::AboutOwner(any.pod_namespace, owner, "Warning", "SynergyFailure",
                                    fmt::format("pod {}{} {}{}: {}", leads->pod, rank,
                                                leads->HasRun() ? "failed" : "does not start",
                                                others, DescribeFailure(*leads))));
  }
  history.records = MergeRecords(members, history.records);
  const auto written = written_.find(any.pod_namespace);
  unwritten_.emplace(any.pod_namespace,
                     written == written_.end() ? clock_.Now() : written->second + kWriteInterval);
  if (retries_ != nullptr) retries_->Look(any.pod_namespace);
  return true;
}

void FailureKeeper::ActOnRetries(const std::stop_token& stop) {
  for (const std::string& name : retries_->Due()) {
    if (stop.stop_requested() || !may_act_()) return;
    FailureHistory& history = histories_[name];
    history.of_namespace = name;
    // Write at once, because the next attempt may begin while the write waits.
    if (retries_->Step(history, !unwritten_.contains(name), stop))
      unwritten_.emplace(name, clock_.Now());
  }
  retries_->Publish(stop);
}

void FailureKeeper::WriteDue(const std::stop_token& stop) {
  const Instant now = clock_.Now();
  size_t writes = 0;
  // Begin after the namespace that was served last.
  std::vector<std::string> due;
  for (const auto& [name, when] : unwritten_) {
    if (when <= now) due.push_back(name);
  }
  std::rotate(due.begin(), std::upper_bound(due.begin(), due.end(), served_), due.end());
  for (const std::string& name : due) {
    if (++writes > kMostWrites || stop.stop_requested() || !may_act_()) return;
    served_ = name;
    if (const Result<> written = Write(histories_[name], stop)) {
      written_[name] = now;
      unwritten_.erase(name);
      writes_.erase(name);
    } else {
      Retry& retry = writes_[name];
      if (retry.Fail(written.error(), now)) {
        log_.Warn("cannot write the records of failures",
                  {{"namespace", name}, {"error", written.error().message}});
      }
      unwritten_[name] = retry.due();
    }
  }
}

Result<> FailureKeeper::Write(FailureHistory& history, const std::stop_token& stop) {
  Result<FailureHistory> written = api_.WriteHistory(history, stop);
  if (!written && written.error().code == ErrorCode::kConflict) {
    auto read = api_.ReadHistory(history.of_namespace, stop);
    if (read) {
      history.resource_version = read->resource_version;
      history.records = MergeRecords(history.records, read->records);
      written = api_.WriteHistory(history, stop);
    }
  }
  if (written) {
    history.resource_version = written->resource_version;
    return {};
  }
  // The ConfigMap was deleted.
  if (written.error().code == ErrorCode::kNotFound) history.resource_version.clear();
  return Fail(written.error());
}

void FailureKeeper::RemoveGone(const std::stop_token& stop) {
  const Instant now = clock_.Now();
  const WallTime latest = clock_.WallNow() - kGone;
  for (auto& [name, history] : histories_) {
    const bool recent = !history.records.empty() && history.records.back().at > latest;
    if (recent || unwritten_.contains(name) || sources_.has_namespace(name)) continue;
    Retry& retry = removals_[name];
    if (!retry.IsDue(now)) continue;
    if (stop.stop_requested() || !may_act_()) return;
    const Result<> removed = api_.RemoveHistory(history, stop);
    if (!removed && removed.error().code != ErrorCode::kNotFound) {
      if (removed.error().code == ErrorCode::kConflict) {
        if (const auto read = api_.ReadHistory(name, stop))
          history.resource_version = read->resource_version;
      }
      if (retry.Fail(removed.error(), now)) {
        log_.Warn("cannot remove the records of a namespace that is gone",
                  {{"namespace", name}, {"error", removed.error().message}});
      }
      return;
    }
    removals_.erase(name);
    written_.erase(name);
    histories_.erase(name);
    return;
  }
}

}  // namespace synergy::controller
