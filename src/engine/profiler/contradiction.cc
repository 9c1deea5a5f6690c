#include "engine/profiler/contradiction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "core/text/quantity_text.h"
#include "engine/profiler/measuring.h"
#include "engine/profiler/profiler_pass.h"
#include "engine/profiler/progress_intake.h"

namespace synergy {
namespace {

// The number of windows with one amount of CPU before that amount is compared.
constexpr size_t kWindows = 3;
// Amounts that differ by less than this fraction count as equal.
constexpr double kSameAmount = 0.1;
constexpr size_t kMostAmounts = 16;
// Amounts older than this are no longer compared, because trainings have phases.
constexpr Duration kFresh = std::chrono::hours(1);
constexpr Duration kForgottenAfter = std::chrono::minutes(10);
constexpr Duration kTidyUp = std::chrono::minutes(1);
constexpr size_t kMostKept = 64;   // samples
constexpr double kCachesFill = 2;  // epochs, counted from 0 or from 1

// Labels of jobs whose pods may wait for each other although the number of pods is unknown
// (cluster/gang.h).
constexpr std::array<std::string_view, 5> kMembers = {
    "batch.kubernetes.io/job-completion-index",
    "jobset.sigs.k8s.io/jobset-name",
    "training.kubeflow.org/job-name",
    "leaderworkerset.sigs.k8s.io/name",
    "ray.io/cluster",
};

bool MayWaitForOthers(const Pod& pod) {
  return pod.gang != nullptr ||
         std::any_of(kMembers.begin(), kMembers.end(), [&pod](std::string_view label) {
           return FindLabel(pod.labels, label).has_value();
         });
}

bool CachesAreFull(const JobProfile& curve, const PodProgress& progress) {
  return progress.epoch ? *progress.epoch >= kCachesFill : curve.memories().size() == 1;
}

// Returns the CPU that the container started with, from its allocation at bind. After a later
// change, that amount is unknown, and the result is 0.
MilliCpu BeganWith(const Pod& pod) {
  const auto& change = pod.fungible->change;
  if (!change) return AmountOf(pod);
  if (change->kind != ChangeKind::kAllocated) return MilliCpu(0);
  return pod.fungible->requested == change->to ? AmountOf(pod) : change->to.cpu;
}

struct Seen {
  MilliCpu cpu;
  double rate = 0;
  double claimed = 0;
  double low = 0;
  std::optional<double> high;
};

std::optional<Seen> WhatIsSeen(const ComparedPod& pod, const WindowReading& reading,
                               MilliCpu node_cpu) {
  const auto point = PointOf(pod.watched, reading);
  if (!point) return std::nullopt;
  const ManagedContainer& fungible = *pod.watched.pod->fungible;
  const Bytes memory = fungible.requested.memory;
  const Bytes most_memory = std::max(memory, pod.curve->memories().back());
  const MilliCpu most = point->bound || point->quota ? point->cpu : std::max(point->cpu, node_cpu);
  Seen seen{.cpu = point->cpu, .rate = reading.rate};
  seen.claimed = pod.curve->ThroughputAt(point->cpu, memory);
  if (seen.claimed <= 0) return std::nullopt;
  seen.low = reading.rate / pod.curve->ThroughputAt(most, most_memory);
  const bool may_be_faster = !point->bound && (point->certainty != PointCertainty::kExact ||
                                               AmountOf(*pod.watched.pod) > pod.began_with);
  if (!may_be_faster) seen.high = reading.rate / seen.claimed;
  return seen;
}

void KeepLast(std::vector<double>& values, double value) {
  values.push_back(value);
  if (values.size() > kWindows) values.erase(values.begin());
}

void TakeIn(Compared& compared, const Seen& seen, Instant now) {
  auto& amounts = compared.amounts;
  std::erase_if(amounts, [now](const SeenAmount& amount) { return now - amount.at > kFresh; });
  auto found = std::find_if(amounts.begin(), amounts.end(), [&seen](const SeenAmount& amount) {
    return std::abs(InCores(amount.cpu) - InCores(seen.cpu)) <= kSameAmount * InCores(amount.cpu);
  });
  if (found == amounts.end()) {
    if (amounts.size() == kMostAmounts) {
      amounts.erase(
          std::min_element(amounts.begin(), amounts.end(),
                           [](const SeenAmount& a, const SeenAmount& b) { return a.at < b.at; }));
    }
    found = std::find_if(amounts.begin(), amounts.end(),
                         [&seen](const SeenAmount& amount) { return amount.cpu > seen.cpu; });
    found = amounts.insert(found, SeenAmount{.cpu = seen.cpu});
  }
  found->rate = seen.rate;
  found->claimed = seen.claimed;
  found->at = now;
  KeepLast(found->lows, seen.low);
  if (seen.high) KeepLast(found->highs, *seen.high);
}

// Returns the range that covers the ranges of the latest windows; nullopt if there are too few
// windows.
std::optional<UnitRange> RangeOf(const SeenAmount& amount) {
  if (amount.lows.size() < kWindows) return std::nullopt;
  const bool bounded = amount.highs.size() == kWindows;
  return UnitRange{*std::min_element(amount.lows.begin(), amount.lows.end()),
                   bounded ? *std::max_element(amount.highs.begin(), amount.highs.end())
                           : std::numeric_limits<double>::infinity()};
}

std::string MessageOf(const SeenAmount& less, const SeenAmount& more) {
  return fmt::format(
      "with {} of CPU pods are {:.2f} times as fast as with {} ({:.3g} and {:.3g} iterations a "
      "second), but the profile says {:.2f} times. Measure it again, or remove it from the pods: "
      "then Synergy measures them",
      ToQuantityText(more.cpu), more.rate / less.rate, ToQuantityText(less.cpu), more.rate,
      less.rate, more.claimed / less.claimed);
}

// Returns two amounts whose unit ranges do not overlap. Sets `comparable` if any two amounts could
// be compared.
std::optional<std::pair<const SeenAmount*, const SeenAmount*>> FindApart(
    const std::vector<SeenAmount>& amounts, double drift, bool& comparable) {
  for (const SeenAmount& less : amounts) {
    for (const SeenAmount& more : amounts) {
      if (more.cpu <= less.cpu) continue;
      const auto a = RangeOf(less);
      const auto b = RangeOf(more);
      if (!a || !b || (std::isinf(a->high) && std::isinf(b->high))) continue;
      comparable = true;
      if (a->low > b->high * (1 + drift) || b->low > a->high * (1 + drift))
        return std::pair(&less, &more);
    }
  }
  return std::nullopt;
}

void Judge(const ProfilerSettings& settings, Compared& compared, Instant now) {
  bool comparable = false;
  const auto apart = FindApart(compared.amounts, settings.drift, comparable);
  if (!apart) compared.apart_since.reset();
  if (apart || !comparable) compared.together_since.reset();
  if (!comparable) return;
  std::optional<Instant>& since = apart ? compared.apart_since : compared.together_since;
  if (!since) since = now;
  if (now - *since < settings.drift_time) return;
  compared.verdict = {.verdict = apart ? Verdict::kContradicted : Verdict::kFits,
                      .version = compared.version,
                      .message = apart ? MessageOf(*apart->first, *apart->second) : ""};
}

// Returns the verdict over all workloads. One workload that contradicts the profile suffices.
ProfileVerdict VerdictOf(const ContradictionMemory& memory, const ComparedKey& key,
                         const ProfileVersion& version) {
  ProfileVerdict all{.version = version};
  const ComparedKey first{key.profile_namespace, key.profile, "", Gpus(0), "", ""};
  for (auto it = memory.compared.lower_bound(first); it != memory.compared.end(); ++it) {
    const auto& [other, compared] = *it;
    if (other.profile_namespace != key.profile_namespace || other.profile != key.profile) break;
    if (compared.version != version) continue;
    if (compared.verdict.verdict > all.verdict) all = compared.verdict;
  }
  return all;
}

void TidyUp(ContradictionMemory& memory, Instant now) {
  if (now < memory.next_tidy_up) return;
  memory.next_tidy_up = now + kTidyUp;
  std::erase_if(memory.pods,
                [now](const auto& entry) { return now - entry.second.observed > kForgottenAfter; });
  std::erase_if(memory.compared, [now](const auto& entry) {
    const auto& amounts = entry.second.amounts;
    return std::all_of(amounts.begin(), amounts.end(),
                       [now](const SeenAmount& amount) { return now - amount.at > kFresh; });
  });
}

// Returns the pod's entry, updated, with the samples since its circumstances last changed.
ComparedPod& Take(const ProfilerSettings& settings, ContradictionMemory& memory,
                  const std::shared_ptr<const Pod>& pod, const GivenProfile& given) {
  ComparedPod& known = memory.pods[pod->uid];
  WatchedPod& watched = known.watched;
  if (watched.pod == nullptr) known.began_with = BeganWith(*pod);
  if (watched.pod == nullptr || known.version != given.version ||
      watched.pod->fungible->profile != pod->fungible->profile) {
    known.version = given.version;
    known.curve = ForGpus(given.curve, pod->fungible->requested.gpus);
    watched.samples.clear();
  } else if (watched.pod != pod && !SameAmounts(*watched.pod, *pod)) {
    BreakOff(watched,
             watched.last ? std::optional(*watched.last + settings.probe_lead) : std::nullopt);
  }
  watched.pod = pod;
  return known;
}

}  // namespace

std::optional<ProfileVerdict> ContradictionFinder::Observe(
    ContradictionMemory& memory, const std::shared_ptr<const Pod>& pod, MilliCpu node_cpu,
    const std::string& gpu_product, const GivenProfile& given, const PodProgress& progress,
    WallTime since, Moment at) const {
  TidyUp(memory, at.now);
  if (!pod->fungible || progress.format.empty() || !progress.last || MayWaitForOthers(*pod))
    return std::nullopt;
  ComparedPod& known = Take(settings_, memory, pod, given);
  known.observed = at.now;
  const auto sample = Listen(settings_, known.watched, progress, since);
  if (!known.curve || !sample || progress.probe || !CachesAreFull(*known.curve, progress))
    return std::nullopt;
  std::vector<ProgressSample>& samples = known.watched.samples;
  samples.push_back(*sample);
  if (samples.size() > kMostKept) samples.erase(samples.begin());
  const WindowReading reading =
      ReadWindow(samples, {settings_.window, settings_.longest_window, settings_.agreement});
  if (reading.state == WindowState::kOpen) return std::nullopt;
  samples.erase(samples.begin(), samples.end() - 1);
  if (reading.state == WindowState::kUnsettled) return std::nullopt;
  const auto seen = WhatIsSeen(known, reading, node_cpu);
  if (!seen) return std::nullopt;
  const ComparedKey key{pod->pod_namespace,
                        pod->fungible->profile,
                        pod->fungible->workload,
                        pod->fungible->requested.gpus,
                        gpu_product,
                        progress.format};
  const ProfileVerdict before = VerdictOf(memory, key, given.version);
  Compared& compared = memory.compared[key];
  if (compared.version != given.version) compared = {.version = given.version};
  TakeIn(compared, *seen, at.now);
  Judge(settings_, compared, at.now);
  const ProfileVerdict after = VerdictOf(memory, key, given.version);
  return after.verdict != before.verdict ? std::optional(after) : std::nullopt;
}

}  // namespace synergy
