#pragma once

// How far the training of a running pod has come, and what CPU it took, as the agent of its node
// measures it (docs/progress.md).
//
// Threading: values.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"

namespace synergy {

// Of a container's control group, since it was made.
struct CpuUse {
  Duration used{};
  Duration throttled{};  // time in which a quota kept threads from running, summed over CPUs
  // Time in which some thread that could run waited for a CPU (PSI, `some`); none: the kernel does
  // not say.
  std::optional<Duration> waited;

  bool operator==(const CpuUse&) const = default;
};

struct PodProgress {
  std::string uid;
  std::string pod_namespace;
  std::string name;
  std::string container;
  // Who says so: a format of log lines ("tqdm"), "pattern" for the user's own, "counter" for a
  // Prometheus counter; empty: nothing of the pod tells.
  std::string format;
  // As the training prints them: of the whole run, or of an epoch where it counts by epochs.
  std::optional<int64_t> iteration;
  std::optional<int64_t> total;
  std::optional<double> epoch;
  std::optional<double> loss;
  // Iterations per second: in the last minute while it trained, and since the agent first looked
  // by the clock.
  std::optional<double> rate;
  std::optional<double> overall_rate;
  // Iterations done since the agent first looked; never falls. It starts anew with the agent.
  double iterations = 0;
  // When the newest of them was said to be done.
  std::optional<WallTime> last;
  // How long the training goes on at the present rate, where it says how much there is.
  std::optional<Duration> remaining;
  std::optional<CpuUse> cpu;  // none: the control group cannot be read

  bool operator==(const PodProgress&) const = default;
};

// All that an agent knows at one moment.
struct NodeProgress {
  std::string node;
  WallTime since{};  // when the agent started: another one counts from the beginning
  WallTime at{};     // when it looked
  std::vector<PodProgress> pods;

  bool operator==(const NodeProgress&) const = default;
};

}  // namespace synergy
