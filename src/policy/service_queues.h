#pragma once

// Tiresias' queues (NSDI'19, section 3.2): a new job enters the first queue, and goes to the end of
// the next one when the GPU-time that it has been served reaches the queue's limit. Promotion,
// where asked for: a job that has waited `promote` times as long as it has run goes back to the
// first queue, and both times count from zero.
//
// Threading: values; pure functions.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/clock.h"
#include "core/units.h"

namespace synergy {

struct ServiceQueues {
  // In GPU-seconds, ascending. One queue more than limits: the last has none.
  std::vector<double> limits{3250, 7200};
  double promote = 0;  // 0: never
};

// Where a job stands in them.
struct QueuePlace {
  uint32_t queue = 0;
  Seconds served{};   // time run since it last entered the first queue
  Seconds waited{};   // time waited since then, not counting what was before its first second
  Seconds entered{};  // when it entered its queue

  bool operator==(const QueuePlace&) const = default;
};

double ServedGpuTime(const QueuePlace& place, Gpus gpus);

// How long the job runs until it reaches its queue's limit, not above zero where it has: limit /
// GPUs - time run. None in the last queue.
std::optional<Seconds> UntilDemotion(const QueuePlace& place, Gpus gpus,
                                     const ServiceQueues& queues);
// How long the job waits until it goes back to the first queue, not above zero where it may now.
// None for jobs of the first queue, and without promotion.
std::optional<Seconds> UntilPromotion(const QueuePlace& place, const ServiceQueues& queues);

void Demote(QueuePlace& place, Seconds now);
void Promote(QueuePlace& place, Seconds now);

// Books time that the job ran, up to `now`, and moves it down as far as that takes it. It counts as
// having entered its queue at the moment when it reached the limit.
void BookRun(QueuePlace& place, Gpus gpus, Seconds ran, Seconds now, const ServiceQueues& queues);
// Books time that the job waited, up to `now`, and promotes it where that is enough.
void BookWait(QueuePlace& place, Seconds waited, Seconds now, const ServiceQueues& queues);

}  // namespace synergy
