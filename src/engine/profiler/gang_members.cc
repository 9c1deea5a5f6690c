#include "engine/profiler/gang_members.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "engine/profiler/hints.h"
#include "engine/profiler/measuring.h"
#include "engine/profiler/probes/probing.h"
#include "engine/profiler/progress_intake.h"
#include "engine/profiler/publishing.h"

namespace synergy {
namespace {

// How long a head may report no progress before a member that reports progress replaces it.
constexpr Duration kFallenSilent = std::chrono::minutes(2);

bool AllAreThere(const GangRecord& gang) {
  const MeasurementKey* alike = nullptr;
  for (const auto& [uid, member] : gang.there) {
    if (GangSizeOf(*member.pod) != std::ssize(gang.there)) return false;
    if (!member.pod->UsesGpus()) continue;
    if (!member.key || (alike != nullptr && *alike != *member.key)) return false;
    alike = &*member.key;
  }
  return alike != nullptr;
}

void MakeHead(ProfilerMemory& memory, GangRecord& gang, const std::string& uid) {
  WatchedPod& before = memory.pods.at(gang.head);
  WatchedPod& head = memory.pods.at(uid);
  Measurement& measurement = memory.measurements.at(head.key);
  measurement.pods.erase(gang.head);
  measurement.closely.erase(gang.head);
  before.others.clear();
  before.samples.clear();
  before.closely = false;
  before.off_since.reset();
  head.samples.clear();
  head.last.reset();
  for (const auto& [other, member] : gang.there) {
    if (other != uid && member.pod->UsesGpus()) head.others.push_back(other);
  }
  gang.head = uid;
  measurement.pods.insert(uid);
}

void Begin(ProfilerPass& pass, const std::string& name, GangRecord& gang) {
  ProfilerMemory& memory = pass.memory;
  std::optional<MilliCpu> most;
  MilliCpu fair_share;
  for (const auto& [uid, member] : gang.there) {
    if (!member.pod->UsesGpus()) continue;
    WatchedPod watched;
    watched.pod = member.pod;
    watched.node = member.node;
    watched.key = *member.key;
    watched.gang = name;
    memory.pods.insert_or_assign(uid, std::move(watched));
    const MilliCpu of_node = MostOf(pass.cluster.node(member.node), *member.pod);
    most = std::min(most.value_or(of_node), of_node);
    fair_share = std::max(fair_share, member.pod->fungible->fair_share.cpu);
    gang.head = uid;
  }
  const MeasurementKey& key = memory.pods.at(gang.head).key;
  Measurement& measurement = Recalled(pass, key);
  NoteIdentities(measurement, memory.pods.at(gang.head).pod->fungible->alike);
  measurement.node_cpu = std::max(measurement.node_cpu, *most);
  measurement.fair_share = std::max(measurement.fair_share, fair_share);
  MakeHead(memory, gang, gang.head);
  memory.news.insert(key);
}

void End(ProfilerPass& pass, GangRecord& gang) {
  if (gang.head.empty()) return;
  ProfilerMemory& memory = pass.memory;
  const WatchedPod& head = memory.pods.at(gang.head);
  const MeasurementKey key = head.key;
  Measurement& measurement = memory.measurements.at(key);
  AbandonProbe(pass, measurement, gang.head, "some pods of its gang no longer run");
  measurement.pods.erase(gang.head);
  measurement.closely.erase(gang.head);
  memory.news.insert(key);
  const std::vector<std::string> others = head.others;
  for (const std::string& uid : others) memory.pods.erase(uid);
  memory.pods.erase(gang.head);
  gang.head.clear();
}

// Drops the samples, and starts again `pause` after the last report.
void BreakOffIn(WatchedPod& head, Duration pause) {
  BreakOff(head, head.last ? std::optional(*head.last + pause) : std::nullopt);
}

bool SameQuota(const std::optional<ProbeReading>& a, const std::optional<ProbeReading>& b) {
  return a.has_value() == b.has_value() && (!a || (a->cpu == b->cpu && a->since == b->since));
}

}  // namespace

void SeeMember(ProfilerPass& pass, NodeIndex index, const std::shared_ptr<const Pod>& pod,
               const std::optional<MeasurementKey>& key) {
  ProfilerMemory& memory = pass.memory;
  const std::string& name = pod->gang->name;
  if (const auto of = memory.gang_of.find(pod->uid);
      of != memory.gang_of.end() && of->second != name) {
    LoseMember(pass, memory.gangs.at(of->second).there.at(pod->uid).node, pod->uid);
  }
  memory.gang_of.insert_or_assign(pod->uid, name);
  GangRecord& gang = memory.gangs[name];
  GangRecord::Member& member = gang.there[pod->uid];
  const bool same = member.pod != nullptr && member.node == index && member.key == key &&
                    GangSizeOf(*member.pod) == GangSizeOf(*pod);
  member = {pod, index, key};
  if (!same) {
    End(pass, gang);
    if (AllAreThere(gang)) Begin(pass, name, gang);
    return;
  }
  // `pods` lacks the pod if it has no GPUs, or if other members are missing.
  const auto known = memory.pods.find(pod->uid);
  if (known == memory.pods.end() || known->second.pod == pod) return;
  WatchedPod& watched = known->second;
  if (!SameAmounts(*watched.pod, *pod)) ForgetWindows(pass.settings, memory, watched);
  watched.pod = pod;
  memory.news.insert(watched.key);
}

void LoseMember(ProfilerPass& pass, NodeIndex index, const std::string& uid) {
  ProfilerMemory& memory = pass.memory;
  const auto of = memory.gang_of.find(uid);
  if (of == memory.gang_of.end()) return;
  const auto found = memory.gangs.find(of->second);
  GangRecord& gang = found->second;
  if (gang.there.at(uid).node != index) return;
  End(pass, gang);
  gang.there.erase(uid);
  memory.gang_of.erase(of);
  if (gang.there.empty()) {
    memory.gangs.erase(found);
  } else if (AllAreThere(gang)) {
    Begin(pass, found->first, gang);
  }
}

bool ObserveMember(const ProfilerSettings& settings, ProfilerMemory& memory, WatchedPod& pod,
                   const PodProgress& progress, Moment at) {
  GangRecord& gang = memory.gangs.at(pod.gang);
  WatchedPod& head = memory.pods.at(gang.head);
  const bool has_restarted = pod.cpu && progress.cpu && progress.cpu->used < pod.cpu->used;
  if (has_restarted) BreakOffIn(head, settings.warm_up);
  if (progress.cpu) pod.cpu = progress.cpu;
  const bool reports = !progress.format.empty() && progress.last;
  const bool is_news = reports && (!pod.last || *progress.last > *pod.last);
  if (is_news) pod.news_at = at.now;
  if (&pod == &head) return reports;

  if (!SameQuota(pod.probe, progress.probe)) BreakOffIn(head, settings.probe_lead);
  pod.probe = progress.probe;
  if (!is_news) return false;
  pod.last = progress.last;
  const bool falls_silent = !head.last || at.now - head.news_at >= kFallenSilent;
  const Measurement& measurement = memory.measurements.at(head.key);
  if (!falls_silent || measurement.IsProbing(gang.head)) return false;
  MakeHead(memory, gang, progress.uid);
  return true;
}

std::optional<std::vector<CpuUse>> CpuOfOthers(const ProfilerMemory& memory,
                                               const WatchedPod& head) {
  std::vector<CpuUse> all;
  for (const std::string& uid : head.others) {
    const std::optional<CpuUse>& cpu = memory.pods.at(uid).cpu;
    if (!cpu) return std::nullopt;
    all.push_back(*cpu);
  }
  return all;
}

void ForgetWindows(const ProfilerSettings& settings, ProfilerMemory& memory, WatchedPod& pod) {
  WatchedPod& head = pod.gang.empty() ? pod : memory.pods.at(memory.gangs.at(pod.gang).head);
  ForEachTogether(memory, head, [](WatchedPod& each) {
    each.window.reset();
    each.fastest = 0;
    if (!each.uses.empty()) each.same_quota_since = each.uses.back().at;
  });
  BreakOffIn(head, settings.probe_lead);
}

}  // namespace synergy
