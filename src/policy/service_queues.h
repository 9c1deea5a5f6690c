#pragma once

// Tiresias' queues (NSDI'19, section 3.2). A new job enters the first queue, and moves to the end
// of the next one when its GPU-time reaches the queue's limit. With promotion, a job that has
// waited `promote` times as long as it has run returns to the first queue, and both times restart
// at zero.
//
// Threading: values; pure functions.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/clock.h"
#include "core/units.h"

namespace synergy {

struct ServiceQueues {
  // In GPU-seconds, ascending. There is one more queue than limits, because the last queue has
  // none.
  std::vector<double> limits{3250, 7200};
  double promote = 0;  // 0: never
};

// The position of a job in the queues.
struct QueuePlace {
  uint32_t queue = 0;
  Seconds served{};   // time run since it last entered the first queue
  Seconds waited{};   // time waited since then, excluding time before it first ran
  Seconds entered{};  // when it entered its queue; when it started, if that is its first queue

  bool operator==(const QueuePlace&) const = default;
};

double ServedGpuTime(const QueuePlace& place, Gpus gpus);

// Returns how long the job runs until it reaches its queue's limit: limit / GPUs - time run; 0 or
// less if it has reached it. Returns nullopt in the last queue.
std::optional<Seconds> UntilDemotion(const QueuePlace& place, Gpus gpus,
                                     const ServiceQueues& queues);
// Returns how long the job waits until it returns to the first queue; 0 or less if it may return
// now. Returns nullopt for jobs of the first queue, and without promotion.
std::optional<Seconds> UntilPromotion(const QueuePlace& place, const ServiceQueues& queues);

void Demote(QueuePlace& place, Seconds now);
void Promote(QueuePlace& place, Seconds now);

// Records time that the job ran, up to `now`, and moves the job down as many queues as that
// requires. The job counts as having entered its queue at the moment when it reached the limit.
void ChargeRun(QueuePlace& place, Gpus gpus, Seconds ran, Seconds now, const ServiceQueues& queues);
// Records time that the job waited, up to `now`, and promotes the job if it has waited long enough.
void ChargeWait(QueuePlace& place, Seconds waited, Seconds now, const ServiceQueues& queues);

}  // namespace synergy
