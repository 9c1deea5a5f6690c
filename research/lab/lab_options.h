#pragma once

// The command line of synergy-lab: the options of `synergy simulate`, and its own.
//
// Threading: values.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/simulate/simulate_options.h"
#include "core/clock.h"
#include "core/result.h"
#include "research/lab/gpu_types.h"
#include "research/reference/reference_simulator.h"

namespace synergy::cli {

// The simulator: that of Synergy's, Tiresias' or Gavel's authors, or our own in rounds.
enum class LabKind { kReference, kTiresias, kGavel, kRounds };

// Arguments as they are written on the command line.
struct LabArguments : SimulateArguments {
  LabKind kind = LabKind::kRounds;
  std::string placement = "first-fit";  // for kReference, like the next member
  std::string arrivals = "auto";
  std::vector<std::string> schedules{"dlas-gpu"};  // for kTiresias, like the next members
  std::string scheme = "count";
  std::vector<double> queue_limits{3250, 7200};
  double promote = 0;
  std::string lease;
  std::string size_history;
  std::vector<std::string> types;  // such as "v100=12"
  std::vector<std::string> prices{"v100=0.74", "p100=0.43", "k80=0.135"};
  std::string throughputs;    // a file
  std::string type_profiles;  // a file
  std::string solves;         // a file, for kGavel
  bool elastic = false;       // for kRounds
};

// The arguments after they have been checked.
struct LabOptions : SimulateOptions {
  Seconds lease{};
  // Sizes of past jobs in GPU-seconds. If there are none, the workload's own sizes are used.
  std::optional<std::vector<double>> sizes;
  bool consolidate = false;
  // For the reference simulator. Generated jobs are kGenerated unless --arrivals says otherwise.
  ReferenceArrivals arrivals = ReferenceArrivals::kAuto;
  std::optional<TypeSetup> types;  // if there are none, all GPUs are alike
};

// Rejects options that a simulator does not support. The simulators of other authors, and that of
// elastic jobs, support no places of jobs (--changes, --html) and no profiles (--type-profiles).
Result<> CheckFiles(const LabArguments& arguments);

// Checks --queue-limits: at most 64 limits, above 0 and ascending.
Result<> CheckQueueLimits(std::span<const double> limits);

// Checks arguments for kReference and kRounds. kInvalid names the option.
Result<LabOptions> CheckLabArguments(const LabArguments& arguments);

}  // namespace synergy::cli
