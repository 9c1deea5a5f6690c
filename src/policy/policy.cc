#include "policy/policy.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace synergy {
namespace {

using Made = std::unique_ptr<const Policy>;

constexpr std::string_view kRemaining = "remaining times (progress)";

constexpr std::array kPolicies = {
    PolicyName{"fifo", "first come, first served", false, "",
               [](const PolicyOptions&) -> Made { return std::make_unique<Fifo>(); }},
    PolicyName{"srtf", "least remaining time at the fair share", true, kRemaining,
               [](const PolicyOptions&) -> Made { return std::make_unique<Srtf>(); }},
    PolicyName{"las", "least GPU-time so far", false, "",
               [](const PolicyOptions&) -> Made { return std::make_unique<Las>(); }},
    PolicyName{"ftf", "the job that finishes latest, compared with a cluster of its own", true,
               kRemaining, [](const PolicyOptions&) -> Made { return std::make_unique<Ftf>(); }},
    PolicyName{"2d-las", "queues by GPU-time so far, each in order of entry", false,
               "queueLimits, promote",
               [](const PolicyOptions& options) -> Made {
                 return std::make_unique<QueuedLas>(options.queues);
               }},
    PolicyName{"2d-gittins",
               "the queues of 2d-las; in each, the job most likely to end soon (Gittins index)",
               false, "queueLimits, promote, sizeHistory",
               [](const PolicyOptions& options) -> Made {
                 return std::make_unique<QueuedGittins>(options.queues, options.sizes);
               }},
};

// The precision of times that are sums of fractions of rounds.
constexpr Seconds kSlack{1e-6};

void ChargeInQueues(Job& job, Seconds stretch, Seconds now, const ServiceQueues& queues) {
  if (job.Runs()) {
    ChargeRun(job.place, job.gpus, stretch, now, queues);
  } else {
    ChargeWait(job.place, stretch, now, queues);
  }
}

double WaitsLast(const Job& job) { return job.Runs() ? 0 : 1; }

}  // namespace

PolicyRank Fifo::Rank(const Job& job, Seconds /*now*/) const { return {job.arrival.count()}; }

PolicyRank Srtf::Rank(const Job& job, Seconds /*now*/) const { return {job.remaining.count()}; }

PolicyRank Las::Rank(const Job& job, Seconds /*now*/) const { return {job.attained.count()}; }

PolicyRank Ftf::Rank(const Job& job, Seconds now) const {
  const Seconds finish = now - job.arrival + job.remaining;
  return {-finish.count() / std::max(job.ideal.count(), 1e-9)};
}

PolicyRank QueuedLas::Rank(const Job& job, Seconds /*now*/) const {
  const bool is_new = job.place == QueuePlace{};
  const Seconds entered = is_new ? job.arrival : job.place.entered;
  // A job that has started goes before those that have not, however early they arrived.
  const double unstarted = job.place.served > Seconds(0) ? 0 : 1;
  const double standing = job.Runs() ? 0 : 1 + unstarted;
  return {static_cast<double>(job.place.queue), standing, entered.count()};
}

void QueuedLas::Charge(Job& job, Seconds stretch, Seconds now) const {
  ChargeInQueues(job, stretch, now, queues_);
}

PolicyRank QueuedGittins::Rank(const Job& job, Seconds /*now*/) const {
  const size_t queue = job.place.queue;
  const double limit = queue < queues_.limits.size() ? queues_.limits[queue]
                                                     : std::numeric_limits<double>::infinity();
  const double index = sizes_.Index(ServedGpuTime(job.place, job.gpus), limit);
  return {static_cast<double>(queue), -index, WaitsLast(job)};
}

void QueuedGittins::Charge(Job& job, Seconds stretch, Seconds now) const {
  ChargeInQueues(job, stretch, now, queues_);
}

std::span<const PolicyName> PolicyNames() { return kPolicies; }

const PolicyName* FindPolicy(std::string_view name) {
  const auto found = std::find_if(kPolicies.begin(), kPolicies.end(),
                                  [&](const PolicyName& known) { return known.name == name; });
  return found == kPolicies.end() ? nullptr : &*found;
}

Result<std::unique_ptr<const Policy>> MakePolicy(std::string_view name,
                                                 const PolicyOptions& options) {
  if (const PolicyName* const found = FindPolicy(name)) return found->make(options);
  std::vector<std::string_view> names;
  for (const PolicyName& known : kPolicies) names.push_back(known.name);
  return Fail(ErrorCode::kInvalid,
              fmt::format("unknown policy '{}': use one of {}", name, fmt::join(names, ", ")));
}

std::vector<JobIndex> Order(std::span<const Job> jobs, const Policy& policy, Seconds now) {
  struct Entry {
    bool leased;
    PolicyRank rank;
    double arrival;
    uint64_t id;
    JobIndex index;

    bool operator<(const Entry& other) const {
      return std::tuple(!leased, rank, arrival, id) <
             std::tuple(!other.leased, other.rank, other.arrival, other.id);
    }
  };
  std::vector<Entry> entries;
  entries.reserve(jobs.size());
  for (JobIndex index = 0; index < jobs.size(); ++index) {
    const Job& job = jobs[index];
    const bool leased = job.Runs() && job.lease_end > now + kSlack;
    entries.push_back({leased, policy.Rank(job, now), job.arrival.count(), job.id, index});
  }
  // The entries are already sorted if the policy keeps the order of arrival.
  if (!std::is_sorted(entries.begin(), entries.end())) std::sort(entries.begin(), entries.end());
  std::vector<JobIndex> order;
  order.reserve(entries.size());
  for (const Entry& entry : entries) order.push_back(entry.index);
  return order;
}

}  // namespace synergy
