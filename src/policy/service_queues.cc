#include "policy/service_queues.h"

namespace synergy {

double ServedGpuTime(const QueuePlace& place, Gpus gpus) {
  return place.served.count() * static_cast<double>(gpus.count());
}

std::optional<Seconds> UntilDemotion(const QueuePlace& place, Gpus gpus,
                                     const ServiceQueues& queues) {
  if (place.queue >= queues.limits.size()) return std::nullopt;
  return Seconds(queues.limits[place.queue] / static_cast<double>(gpus.count())) - place.served;
}

std::optional<Seconds> UntilPromotion(const QueuePlace& place, const ServiceQueues& queues) {
  if (queues.promote <= 0 || place.queue == 0 || place.served <= Seconds(0)) return std::nullopt;
  return queues.promote * place.served - place.waited;
}

void Demote(QueuePlace& place, Seconds now) {
  ++place.queue;
  place.entered = now;
}

void Promote(QueuePlace& place, Seconds now) { place = {.entered = now}; }

void ChargeRun(QueuePlace& place, Gpus gpus, Seconds ran, Seconds now,
               const ServiceQueues& queues) {
  if (place == QueuePlace{}) place.entered = now - ran;
  place.served += ran;
  for (auto left = UntilDemotion(place, gpus, queues); left && *left <= Seconds(0);
       left = UntilDemotion(place, gpus, queues)) {
    Demote(place, now + *left);
  }
}

void ChargeWait(QueuePlace& place, Seconds waited, Seconds now, const ServiceQueues& queues) {
  if (place.served > Seconds(0)) place.waited += waited;
  const auto left = UntilPromotion(place, queues);
  if (left && *left <= Seconds(0)) Promote(place, now);
}

}  // namespace synergy
