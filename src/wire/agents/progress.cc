#include "wire/agents/progress.h"

#include <fmt/format.h>

#include "profile/pod_progress.h"
#include "wire/base/member_text.h"

namespace synergy::wire {

void Members(auto& each, Like<CpuUse> auto& cpu) {
  auto& [used, throttled, waited, at] = cpu;
  each("used", used);
  each("throttled", throttled);
  each("waited", waited);
  each("at", at);
}

void Members(auto& each, Like<ProbeReading> auto& probe) {
  auto& [cpu, since, wiped] = probe;
  each("cpu", cpu);
  each("since", since);
  each("wiped", wiped);
}

void Members(auto& each, Like<MemoryUse> auto& memory) {
  auto& [process, cache, read, fetched, starved, shared, at] = memory;
  each("process", process);
  each("cache", cache);
  each("read", read);
  each("fetched", fetched);
  each("starved", starved);
  each("shared", shared);
  each("at", at);
}

void Members(auto& each, Like<BusyEstimate> auto& estimate) {
  auto& [busy, rate, at] = estimate;
  each("busy", busy);
  each("rate", rate);
  each("at", at);
}

void Members(auto& each, Like<IdleReading> auto& reading) {
  auto& [idle, most_cpu] = reading;
  each("idle", idle);
  each("mostCpu", most_cpu);
}

void Members(auto& each, Like<StorageUse> auto& storage) {
  auto& [backend, read, waited, all, bandwidth, at, cap] = storage;
  each("backend", backend);
  each("read", read);
  each("waited", waited);
  each("all", all);
  each("bandwidth", bandwidth);
  each("at", at);
  each("cap", cap);
}

void Members(auto& each, Like<TurnReading> auto& turn) {
  auto& [gpus, suspended, time_suspended, refusal] = turn;
  each("gpus", gpus);
  each("suspended", suspended);
  each("timeSuspended", time_suspended);
  each("refusal", refusal);
}

void Members(auto& each, Like<PodProgress> auto& pod) {
  auto& [uid, pod_namespace, name, container, format, iteration, total, epoch, loss, rate,
         overall_rate, iterations, last, remaining, cpu, probe, memory, checkpoint, estimate, idle,
         storage, turn] = pod;
  each("uid", uid);
  each("namespace", pod_namespace);
  each("name", name);
  each("container", container);
  each("format", format);
  each("iteration", iteration);
  each("total", total);
  each("epoch", epoch);
  each("loss", loss);
  each("rate", rate);
  each("overallRate", overall_rate);
  each("iterations", iterations);
  each("last", last);
  each("remaining", remaining);
  each("cpu", cpu);
  each("probe", probe);
  each("memory", memory);
  each("checkpoint", checkpoint);
  each("estimate", estimate);
  each("idle", idle);
  each("storage", storage);
  each("turn", turn);
}

void Members(auto& each, Like<LogEvidence> auto& log) {
  auto& [rule, evidence, time, finished, iterations, since_iteration, checkpoint, first_iteration] =
      log;
  each("rule", rule);
  each("evidence", evidence);
  each("time", time);
  each("finished", finished);
  each("iterations", iterations);
  each("sinceIteration", since_iteration);
  each("checkpoint", checkpoint);
  each("firstIteration", first_iteration);
}

void Members(auto& each, Like<PodAct> auto& act) {
  auto& [name, at] = act;
  each("act", name);
  each("at", at);
}

void Members(auto& each, Like<EndedRun> auto& run) {
  auto& [uid, container, number, log, acts] = run;
  each("uid", uid);
  each("container", container);
  each("run", number);
  each("log", log);
  each("acts", acts);
}

void Members(auto& each, Like<PodXid> auto& seen) {
  auto& [uid, container, xid, at] = seen;
  each("uid", uid);
  each("container", container);
  each("xid", xid);
  each("at", at);
}

void Members(auto& each, Like<NodeProgress> auto& progress) {
  auto& [node, since, at, pods, ended, xids] = progress;
  each("node", node);
  each("since", since);
  each("at", at);
  each("pods", pods);
  each("ended", ended);
  each("xids", xids);
}

std::string WriteNodeProgress(const NodeProgress& progress) { return WriteMembers(progress); }

Result<NodeProgress> ReadNodeProgress(std::string_view text) {
  if (text.size() > kLongestNodeProgress) {
    return Fail(ErrorCode::kInvalid, fmt::format("longer than {} bytes", kLongestNodeProgress));
  }
  return ReadMembers<NodeProgress>(text);
}

void Members(auto& each, Like<KnownProgress> auto& known) {
  auto& [pod, node, since, at, age] = known;
  Members(each, pod);
  each("node", node);
  each("since", since);
  each("at", at);
  each("age", age);
}

void Members(auto& each, Like<ClusterProgress> auto& progress) { each("pods", progress.pods); }

std::string WriteClusterProgress(const ClusterProgress& progress) { return WriteMembers(progress); }

Result<ClusterProgress> ReadClusterProgress(std::string_view text) {
  return ReadMembers<ClusterProgress>(text);
}

}  // namespace synergy::wire
