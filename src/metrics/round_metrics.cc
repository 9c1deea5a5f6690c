#include "metrics/round_metrics.h"

#include <mutex>
#include <set>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace synergy::metrics {
namespace {

constexpr const char* kDelays[] = {"fair_share", "fragmentation"};

}  // namespace

class RoundMetrics::Impl {
 public:
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& writes =
      prometheus::BuildCounter()
          .Name("synergy_rounds_writes_total")
          .Help("Writes of turns, by kind of write and outcome.")
          .Register(registry);
  prometheus::Family<prometheus::Gauge>& workloads =
      prometheus::BuildGauge()
          .Name("synergy_rounds_workloads")
          .Help("Workloads of ClusterQueues that a RoundPolicy orders, by band.")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& delays =
      prometheus::BuildCounter()
          .Name("synergy_rounds_delay_seconds_total")
          .Help("Time that workloads waited, by cause.")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& lost_turns =
      prometheus::BuildCounter()
          .Name("synergy_rounds_lost_turns_total")
          .Help("Turns taken from running workloads.")
          .Register(registry);
  std::mutex mutex;
  std::set<std::string> queues;  // with series

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

// Starts all counters at 0: one that appears with its first count would show no increase.
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

std::string RoundMetrics::Render() const {
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace synergy::metrics
