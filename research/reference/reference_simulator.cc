#include "research/reference/reference_simulator.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "research/reference/job.h"
#include "research/reference/run.h"

namespace synergy {
namespace {

using reference::Amounts;

// Beyond these limits counts and sums would overflow; no real cluster reaches them.
constexpr int64_t kMostServers = 100'000;
constexpr int64_t kMostGpus = 1024;

// Network bandwidth of every server.
constexpr double kNetwork = 40;

Result<> Check(const ReferenceOptions& options) {
  const auto reject = [](std::string_view what) {
    return Fail(ErrorCode::kInvalid, std::string(what));
  };
  if (options.servers < 1 || options.servers > kMostServers)
    return reject(fmt::format("{} servers: use 1 to {}", options.servers, kMostServers));
  const int64_t gpus = options.server.gpus.count();
  if (gpus < 1 || gpus > kMostGpus)
    return reject(fmt::format("{} GPUs per server: use 1 to {}", gpus, kMostGpus));
  if (options.server.cpu <= MilliCpu(0)) return reject("servers without CPU: set --cpus");
  if (options.server.memory <= Bytes(0)) return reject("servers without memory: set --memory");
  if (!(options.round.count() > 0 && options.round.count() < 1e9))
    return reject(fmt::format("rounds of {} s: use more than 0", options.round.count()));
  if (options.window && (options.window->first < 0 || options.window->end <= options.window->first))
    return reject("the window of job ids is empty: its end must be above its beginning");
  return {};
}

Amounts ServerOf(const ReferenceOptions& options) {
  const auto gpus = static_cast<double>(options.server.gpus.count());
  return {gpus, reference::ToCores(options.server.cpu), reference::ToGb(options.server.memory),
          gpus * reference::kStoragePerGpu, kNetwork};
}

bool InOrderOfArrival(std::span<const TraceJob> trace) {
  return std::is_sorted(trace.begin(), trace.end(),
                        [](const TraceJob& a, const TraceJob& b) { return a.arrival < b.arrival; });
}

ReferenceArrivals KindOf(std::span<const TraceJob> trace, const ReferenceOptions& options) {
  if (options.arrivals != ReferenceArrivals::kAuto) return options.arrivals;
  const auto [first, last] = std::minmax_element(
      trace.begin(), trace.end(),
      [](const TraceJob& a, const TraceJob& b) { return a.arrival < b.arrival; });
  if (first->arrival < Seconds(1) && last->arrival < options.round)
    return ReferenceArrivals::kStatic;
  const bool leaves_out_the_end =
      options.window && std::any_of(trace.begin(), trace.end(), [&](const TraceJob& job) {
        return job.id >= options.window->end;
      });
  return leaves_out_the_end && InOrderOfArrival(trace) ? ReferenceArrivals::kGenerated
                                                       : ReferenceArrivals::kReplay;
}

}  // namespace

Result<ReferenceRun> SimulateReference(std::span<const TraceJob> trace, const ModelFacts& facts,
                                       const ReferenceOptions& options) {
  if (trace.empty())
    return Fail(ErrorCode::kInvalid, "the trace has no jobs: there is nothing to simulate");
  if (auto checked = Check(options); !checked) return Fail(checked.error());
  const ReferenceArrivals arrivals = KindOf(trace, options);
  if (arrivals == ReferenceArrivals::kGenerated && !InOrderOfArrival(trace)) {
    return Fail(ErrorCode::kInvalid,
                "a generated trace has its jobs in the order of arrival: sort it, or replay it");
  }

  const Amounts server = ServerOf(options);
  const int64_t all_gpus = options.servers * options.server.gpus.count();
  std::vector<reference::Job> jobs;
  jobs.reserve(trace.size());
  for (const TraceJob& job : trace) {
    auto made = reference::MakeJob(job, static_cast<uint32_t>(jobs.size()), facts, server,
                                   options.round.count());
    if (!made) return Fail(made.error());
    if (made->gpus > all_gpus) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("job {}: {} GPUs, but the cluster has {}: the job would wait for "
                              "ever; remove it, or use a larger cluster",
                              job.id, made->gpus, all_gpus));
    }
    jobs.push_back(*std::move(made));
  }
  return reference::Run(std::move(jobs), server, options, arrivals).Execute();
}

}  // namespace synergy
