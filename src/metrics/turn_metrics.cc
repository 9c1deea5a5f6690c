#include "metrics/turn_metrics.h"

#include "metrics/families.h"

namespace synergy::metrics {

class TurnMetrics::Impl {
 public:
  prometheus::Registry registry;
  Gauges& pods = MakeGauges(registry, "synergy_turns_pods", "Pods with turns on GPUs, by state.");
  Counters& writes =
      MakeCounters(registry, "synergy_turns_writes_total", "Writes of pods' turns, by outcome.");
  Counters& plans =
      MakeCounters(registry, "synergy_turns_plans_total", "Plans of turns, by outcome.");
  Counters& packs = MakeCounters(registry, "synergy_turns_packs_total",
                                 "Pairs of pods that ran on a GPU at the same time, by outcome.");
  Counters& pack_results = MakeCounters(registry, "synergy_turns_pack_results_total",
                                        "Results of packs in profiles, by outcome.");
};

TurnMetrics::TurnMetrics() : impl_(std::make_unique<Impl>()) {
  StartAtZero(impl_->writes, "outcome", {"written", "failed"});
  StartAtZero(impl_->plans, "outcome", {"complete", "incomplete"});
  StartAtZero(impl_->packs, "outcome",
              {"tried", "reused", "kept", "refused", "undone", "given_up"});
  StartAtZero(impl_->pack_results, "outcome", {"written", "failed", "loaded", "ignored"});
  SetPods(0, 0, 0);
}
TurnMetrics::~TurnMetrics() = default;

void TurnMetrics::SetPods(size_t in_turns, size_t suspended, size_t packed) {
  impl_->pods.Add({{"state", "in_turns"}}).Set(static_cast<double>(in_turns));
  impl_->pods.Add({{"state", "suspended"}}).Set(static_cast<double>(suspended));
  impl_->pods.Add({{"state", "packed"}}).Set(static_cast<double>(packed));
}

void TurnMetrics::CountWrite(std::string_view outcome) { Count(impl_->writes, "outcome", outcome); }

void TurnMetrics::CountPass(std::string_view outcome) { Count(impl_->plans, "outcome", outcome); }

void TurnMetrics::CountPack(std::string_view outcome) { Count(impl_->packs, "outcome", outcome); }

void TurnMetrics::CountPackResults(std::string_view outcome, size_t count) {
  Count(impl_->pack_results, "outcome", outcome, static_cast<double>(count));
}

std::string TurnMetrics::Render() const { return RenderText(impl_->registry); }

}  // namespace synergy::metrics
