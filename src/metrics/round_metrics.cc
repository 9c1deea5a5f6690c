#include "metrics/round_metrics.h"

#include <mutex>
#include <set>

#include "metrics/families.h"

namespace synergy::metrics {
namespace {

constexpr const char* kDelays[] = {"fair_share", "fragmentation"};

}  // namespace

class RoundMetrics::Impl {
 public:
  prometheus::Registry registry;
  Counters& writes = MakeCounters(registry, "synergy_rounds_writes_total",
                                  "Writes of turns, by kind of write and outcome.");
  Gauges& workloads = MakeGauges(registry, "synergy_rounds_workloads",
                                 "Workloads of ClusterQueues that a RoundPolicy orders, by band.");
  Counters& delays = MakeCounters(registry, "synergy_rounds_delay_seconds_total",
                                  "Time that workloads waited, by cause.");
  Counters& lost_turns = MakeCounters(registry, "synergy_rounds_lost_turns_total",
                                      "Turns taken from running workloads.");
  std::mutex mutex;
  std::set<std::string> queues;  // queues that have series

  prometheus::Gauge& Workloads(const std::string& queue, const char* band) {
    return workloads.Add({{"cluster_queue", queue}, {"band", band}});
  }
  prometheus::Counter& Delay(const std::string& queue, std::string_view delay) {
    return delays.Add({{"cluster_queue", queue}, {"delay", std::string(delay)}});
  }
  prometheus::Counter& LostTurns(const std::string& queue) {
    return lost_turns.Add({{"cluster_queue", queue}});
  }
};

RoundMetrics::RoundMetrics() : impl_(std::make_unique<Impl>()) {
  for (const char* what : {"band", "restored", "note", "status", "check", "workers"}) {
    for (const char* outcome : {"written", "outdated", "failed"})
      impl_->writes.Add({{"what", what}, {"outcome", outcome}});
  }
}
RoundMetrics::~RoundMetrics() = default;

void RoundMetrics::CountWrite(std::string_view what, std::string_view outcome) {
  impl_->writes.Add({{"what", std::string(what)}, {"outcome", std::string(outcome)}}).Increment();
}

void RoundMetrics::CountDelay(const std::string& queue, std::string_view delay, double seconds) {
  impl_->Delay(queue, delay).Increment(seconds);
}

void RoundMetrics::CountLostTurn(const std::string& queue) { impl_->LostTurns(queue).Increment(); }

void RoundMetrics::SetWorkloads(const std::map<std::string, RoundCounts>& queues) {
  const std::lock_guard lock(impl_->mutex);
  for (const std::string& queue : impl_->queues) {
    if (queues.contains(queue)) continue;
    for (const char* band : {"runs", "next", "waits"})
      impl_->workloads.Remove(&impl_->Workloads(queue, band));
    for (const char* delay : kDelays) impl_->delays.Remove(&impl_->Delay(queue, delay));
    impl_->lost_turns.Remove(&impl_->LostTurns(queue));
  }
  impl_->queues.clear();
  for (const auto& [queue, counts] : queues) {
    impl_->queues.insert(queue);
    impl_->Workloads(queue, "runs").Set(static_cast<double>(counts.runs));
    impl_->Workloads(queue, "next").Set(static_cast<double>(counts.next));
    impl_->Workloads(queue, "waits").Set(static_cast<double>(counts.waits));
    for (const char* delay : kDelays) impl_->Delay(queue, delay);
    impl_->LostTurns(queue);
  }
}

std::string RoundMetrics::Render() const { return RenderText(impl_->registry); }

}  // namespace synergy::metrics
