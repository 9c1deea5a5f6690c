#include "policy/policy.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace synergy {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"fifo", "srtf", "las", "ftf"};

}  // namespace

double Fifo::Rank(const Job& job, Seconds /*now*/) const { return job.arrival.count(); }

double Srtf::Rank(const Job& job, Seconds /*now*/) const { return job.remaining.count(); }

double Las::Rank(const Job& job, Seconds /*now*/) const { return job.attained.count(); }

double Ftf::Rank(const Job& job, Seconds now) const {
  const Seconds finish = now - job.arrival + job.remaining;
  return -finish.count() / std::max(job.ideal.count(), 1e-9);
}

std::span<const std::string_view> PolicyNames() { return kNames; }

Result<std::unique_ptr<Policy>> MakePolicy(std::string_view name) {
  if (name == "fifo") return std::make_unique<Fifo>();
  if (name == "srtf") return std::make_unique<Srtf>();
  if (name == "las") return std::make_unique<Las>();
  if (name == "ftf") return std::make_unique<Ftf>();
  return Fail(ErrorCode::kInvalid,
              fmt::format("no policy '{}': one of {}", name, fmt::join(kNames, ", ")));
}

std::vector<JobIndex> Order(std::span<const Job> jobs, const Policy& policy, Seconds now) {
  struct Entry {
    double rank;
    double arrival;
    uint64_t id;
    JobIndex index;

    bool operator<(const Entry& other) const {
      return std::tie(rank, arrival, id) < std::tie(other.rank, other.arrival, other.id);
    }
  };
  std::vector<Entry> entries;
  entries.reserve(jobs.size());
  for (JobIndex index = 0; index < jobs.size(); ++index) {
    const Job& job = jobs[index];
    entries.push_back({policy.Rank(job, now), job.arrival.count(), job.id, index});
  }
  // Under a policy that keeps the order of arrival they come sorted.
  if (!std::is_sorted(entries.begin(), entries.end())) std::sort(entries.begin(), entries.end());
  std::vector<JobIndex> order;
  order.reserve(entries.size());
  for (const Entry& entry : entries) order.push_back(entry.index);
  return order;
}

}  // namespace synergy
