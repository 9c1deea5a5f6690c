#include "research/lab/lab_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/text/amounts.h"
#include "config/text_file.h"
#include "research/tiresias/tiresias_input.h"

namespace synergy::cli {
namespace {

// Returns nullopt if no file is named, or if no policy uses the file.
Result<std::optional<std::vector<double>>> ReadSizeHistory(const LabArguments& arguments) {
  const auto& policies = arguments.policies;
  if (arguments.size_history.empty() ||
      std::find(policies.begin(), policies.end(), "2d-gittins") == policies.end()) {
    return std::nullopt;
  }
  const auto text = config::ReadTextFile(arguments.size_history);
  if (!text) return Fail(text.error());
  const auto sizes = ParseSizeHistory(*text, arguments.size_history);
  if (!sizes) return Fail(sizes.error());
  return std::vector<double>(sizes->begin(), sizes->end());
}

}  // namespace

Result<> CheckFiles(const LabArguments& arguments) {
  if (arguments.kind == LabKind::kRounds && !arguments.elastic) return {};
  const std::string_view why = arguments.elastic ? "not with --elastic" : "only in our rounds";
  if (!arguments.changes.empty()) return WrongOption("--changes", why);
  if (!arguments.html.empty()) return WrongOption("--html", why);
  if (!arguments.type_profiles.empty()) return WrongOption("--type-profiles", why);
  return {};
}

Result<> CheckQueueLimits(std::span<const double> limits) {
  double last = 0;
  for (const double limit : limits) {
    if (!(limit > last) || limit > 1e15) {
      return WrongOption("--queue-limits",
                         fmt::format("invalid {}: write GPU-seconds above 0 and up to 1e15, each "
                                     "limit above the one before, such as 3250,7200",
                                     limit));
    }
    last = limit;
  }
  if (limits.size() > 64) return WrongOption("--queue-limits", "must be at most 64 limits");
  return {};
}

Result<LabOptions> CheckLabArguments(const LabArguments& arguments) {
  if (!arguments.solves.empty()) return WrongOption("--solves", "only for synergy-lab gavel");
  const auto checked = CheckArguments(arguments);
  if (!checked) return Fail(checked.error());
  if (arguments.profiles.empty() && arguments.type_profiles.empty() &&
      !checked->starts_from_cluster) {
    return WrongOption("--profiles", "needs a file");
  }
  LabOptions options{*checked};
  auto types = ReadTypeSetup(arguments, options.server);
  if (!types) return Fail(types.error());
  options.types = *std::move(types);
  if (!arguments.lease.empty()) {
    const auto lease = ParseDuration(arguments.lease);
    if (!lease) return WrongOption("--lease", lease.error());
    options.lease = *lease;
  }
  const auto sizes = ReadSizeHistory(arguments);
  if (!sizes) return Fail(sizes.error());
  options.sizes = *sizes;
  const bool reference = arguments.kind == LabKind::kReference;
  if (reference && options.starts_from_cluster) {
    return WrongOption(arguments.from_cluster ? "--from-cluster" : "--cluster",
                       "the authors' simulator only supports empty clusters");
  }
  options.consolidate = arguments.placement == "consolidate";
  if (options.consolidate && !reference) {
    return WrongOption("--placement",
                       "only for synergy-lab reference; our mechanisms always consolidate");
  }
  const auto arrivals = ParseReferenceArrivals(arguments.arrivals);
  if (!arrivals) return WrongOption("--arrivals", arrivals.error());
  options.arrivals = *arrivals;
  if (options.arrivals == ReferenceArrivals::kAuto) {
    if (!arguments.workloads.empty()) options.arrivals = ReferenceArrivals::kGenerated;
  } else if (!reference) {
    return WrongOption("--arrivals",
                       "only for synergy-lab reference; our rounds always begin with the first "
                       "arrival and end with the last job");
  }
  return options;
}

}  // namespace synergy::cli
