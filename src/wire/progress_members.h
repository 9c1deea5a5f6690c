#pragma once

// The members of a pod's progress, for whoever tells of it. Private to this folder.
//
// Threading: pure.

#include "profile/pod_progress.h"
#include "wire/member_text.h"

namespace synergy::wire {

void Members(auto& each, Like<CpuUse> auto& cpu) {
  auto& [used, throttled, waited] = cpu;
  each("used", used);
  each("throttled", throttled);
  each("waited", waited);
}

void Members(auto& each, Like<PodProgress> auto& pod) {
  auto& [uid, pod_namespace, name, container, format, iteration, total, epoch, loss, rate,
         overall_rate, iterations, last, remaining, cpu] = pod;
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
}

}  // namespace synergy::wire
