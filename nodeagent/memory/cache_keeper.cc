#include "nodeagent/memory/cache_keeper.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace synergy::nodeagent {
namespace {

constexpr Duration kIdle = std::chrono::seconds(1);
constexpr Duration kBusy = std::chrono::milliseconds(250);
// The limit for one container per step, so that other containers get their turn and a stop is
// noticed.
constexpr Duration kMostTime = std::chrono::milliseconds(200);
constexpr Bytes kPiece = MiB(16);

bool MayKeep(const wire::ResizeStatus& pod) {
  return pod.has_share && !pod.terminal && !pod.deleting;
}

std::string_view Name(CachePace::Brake brake) {
  switch (brake) {
    case CachePace::Brake::kPressure:
      return "pressure";
    case CachePace::Brake::kRefaults:
      return "refaults";
    case CachePace::Brake::kInVain:
      return "in_vain";
    case CachePace::Brake::kNone:
      break;
  }
  return "none";
}

}  // namespace

struct CacheKeeper::Kept {
  explicit Kept(const wire::ResizeStatus& pod) : reporter(pod.fungible->memory_reading) {}

  MemoryReporter reporter;
  CachePace pace;
  std::string container_id;
  std::unique_ptr<MemoryGroup> group;  // of that container
  std::string last_failure;
};

struct CacheKeeper::Look {
  PodPointer pod;
  Kept* kept;
  MemorySample sample;
};

CacheKeeper::CacheKeeper(const NodePods& pods, MemoryGroups& groups, ReadNode read_node,
                         ReadingWriter& writer, PodActs& acts, const Clock& clock, Logger& log,
                         metrics::NodeAgentMetrics& metrics, CacheRules rules)
    : pods_(pods),
      groups_(groups),
      read_node_(std::move(read_node)),
      writer_(writer),
      acts_(acts),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      rules_(rules) {}

CacheKeeper::~CacheKeeper() = default;

size_t CacheKeeper::kept_pods() const {
  const std::lock_guard lock(mutex_);
  return kept_pods_;
}

bool CacheKeeper::node_short() const {
  const std::lock_guard lock(mutex_);
  return node_short_;
}

void CacheKeeper::ForgetOthers(const std::vector<PodPointer>& pods) {
  std::erase_if(kept_, [&pods](const auto& entry) {
    return std::none_of(pods.begin(), pods.end(), [&entry](const PodPointer& pod) {
      return pod->uid == entry.first && MayKeep(*pod);
    });
  });
}

Duration CacheKeeper::Step(const std::stop_token& stop) {
  const std::vector<PodPointer> pods = pods_.All();
  ForgetOthers(pods);
  const Result<NodeMemory> node = read_node_();
  const bool node_short = node && IsShort(*node, rules_.eviction_threshold);
  const SharedStorage shared(pods);
  std::vector<Look> looks;
  std::vector<ShareUse> uses;
  for (const PodPointer& pod : pods) {
    if (!MayKeep(*pod)) continue;
    Kept& kept = kept_.try_emplace(pod->uid, *pod).first->second;
    std::optional<MemorySample> sample = SampleOf(kept, *pod);
    if (!sample) continue;
    if (shared.IsReadBy(*pod)) sample->cache_can_be_released = false;
    const ManagedContainer& fungible = *pod->fungible;
    uses.push_back({.share = fungible.requested.memory,
                    .usage = sample->use.usage,
                    .cache = sample->cache_can_be_released ? sample->cache : Bytes(0),
                    .strict = fungible.enforcement == Enforcement::kStrict});
    looks.push_back({pod, &kept, *sample});
  }
  {
    const std::lock_guard lock(mutex_);
    kept_pods_ = looks.size();
    node_short_ = node_short;
  }
  if (!node) {
    metrics_.CountError("no_node_memory");
    log_.Warn("the node's memory cannot be read", {{"error", node.error().message}});
    return kIdle;
  }
  const std::vector<Bytes> wanted = WantedDrops(uses, *node, node_short);
  bool busy = false;
  for (size_t i = 0; i < looks.size() && !stop.stop_requested(); ++i) {
    const Look& look = looks[i];
    const ManagedContainer& fungible = *look.pod->fungible;
    if (const auto reading =
            look.kept->reporter.Next(fungible, look.sample.InUse(), node_short, clock_.Present())) {
      writer_.Write({look.pod->pod_namespace, look.pod->name, look.pod->uid}, *reading);
    }
    const Bytes share_wanted = fungible.requested.memory > Bytes(0) ? wanted[i] : Bytes(0);
    const Bytes amount = look.kept->pace.Next(look.sample, share_wanted, node_short, clock_.Now());
    if (share_wanted > Bytes(0) && look.kept->pace.brake() != CachePace::Brake::kNone) {
      metrics_.CountBrake(Name(look.kept->pace.brake()));
    }
    if (amount > Bytes(0)) busy |= Drop(*look.kept, *look.pod, amount, stop);
  }
  return busy || node_short ? kBusy : kIdle;
}

std::optional<MemorySample> CacheKeeper::SampleOf(Kept& kept, const wire::ResizeStatus& pod) {
  const wire::ResizeStatus::Container* const container = TrainingContainer(pod);
  if (container == nullptr) return std::nullopt;
  if (kept.container_id != container->id || !kept.group) {
    auto group = groups_.OfContainer(pod, *container);
    if (!group) {
      Report(kept, pod, "no_cgroup", group.error());
      return std::nullopt;
    }
    kept.group = *std::move(group);
    kept.container_id = container->id;
    kept.pace = {};
  }
  const Result<MemorySample> sample = kept.group->Sample();
  if (sample) return *sample;
  kept.group.reset();
  Report(kept, pod, "sample_failed", sample.error());
  return std::nullopt;
}

bool CacheKeeper::Drop(Kept& kept, const wire::ResizeStatus& pod, Bytes amount,
                       const std::stop_token& stop) {
  const Instant begin = clock_.Now();
  Bytes dropped;
  bool all = true;
  while (all && dropped < amount && !stop.stop_requested() && clock_.Now() - begin < kMostTime) {
    const Bytes piece = std::min(amount - dropped, kPiece);
    const Result<bool> done = kept.group->Drop(piece);
    if (!done) {
      Report(kept, pod, "drop_failed", done.error());
      break;
    }
    all = *done;
    dropped += piece;
  }
  kept.pace.Dropped(dropped, all, clock_.Now());
  metrics_.CountDrop(dropped);
  if (dropped > Bytes(0)) acts_.Note(pod.uid, "cache", clock_.WallNow());
  return dropped > Bytes(0);
}

void CacheKeeper::Report(Kept& kept, const wire::ResizeStatus& pod, std::string_view reason,
                         const Error& error) {
  // A container that ends is not a failure.
  if (error.code == ErrorCode::kNotFound && reason != "no_cgroup") return;
  metrics_.CountError(reason);
  if (error.message == kept.last_failure) return;
  kept.last_failure = error.message;
  log_.Warn("cannot limit the page cache of a pod",
            {{"pod", pod.Key()}, {"reason", reason}, {"error", error.message}});
}

}  // namespace synergy::nodeagent
