#include "nodeagent/progress/idle_time.h"

#include <algorithm>

#include "core/rounding.h"

namespace synergy::nodeagent {
namespace {

constexpr double kBusyGpus = 0.02;
constexpr double kBusyCores = 0.25;

}  // namespace

void IdleTime::Observe(const ContainerBusy* busy, Instant busy_at, const std::optional<CpuUse>& cpu,
                       Instant cpu_at, Instant now) {
  if (busy == nullptr || !cpu) {
    *this = {};
    return;
  }
  // The idle time begins with the first readings, and again after a gap.
  bool goes_on = reading_ && gpus_ && cpu_;
  bool is_busy = false;
  double cores = 0;
  if (gpus_ && busy_at > gpus_->at) {
    goes_on &= gpus_->busy.since == busy->since && gpus_->busy.seconds <= busy->seconds;
    is_busy |=
        busy->seconds - gpus_->busy.seconds >= kBusyGpus * Seconds(busy_at - gpus_->at).count();
  }
  if (cpu_ && cpu_at > cpu_->at) {
    goes_on &= cpu_->used <= cpu->used;
    cores = Seconds(cpu->used - cpu_->used).count() / Seconds(cpu_at - cpu_->at).count();
    is_busy |= cores >= kBusyCores;
  }
  if (!gpus_ || busy_at > gpus_->at) gpus_ = {*busy, busy_at};
  if (!cpu_ || cpu_at > cpu_->at) cpu_ = {cpu->used, cpu_at};
  if (!goes_on || is_busy) {
    idle_since_ = now;
    reading_ = IdleReading{};
    return;
  }
  reading_->idle = now - idle_since_;
  reading_->most_cpu = std::max(reading_->most_cpu, MilliCpu(ToNearest(cores * 1000)));
}

}  // namespace synergy::nodeagent
