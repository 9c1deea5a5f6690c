#include "research/baseline/divider.h"

#include <algorithm>
#include <utility>

#include "research/baseline/allocator.h"

namespace synergy {
namespace {

// Values are sums of ratios near 1; smaller differences count as equal.
constexpr double kEqual = 1e-9;

constexpr size_t kMaxAnswers = 100'000;

template <class T>
void SortUnique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

std::vector<DivisionChoice> DivisionChoices(const JobProfile& profile, const ResourceVector& fair,
                                            const ResourceVector& limit, MilliCpu cpu_step) {
  std::vector<MilliCpu> cpus(profile.cpus().begin(), profile.cpus().end());
  const MilliCpu most = std::min(limit.cpu, profile.cpus().back());
  for (MilliCpu cpu = cpu_step; cpu <= most; cpu += cpu_step) cpus.push_back(cpu);
  cpus.push_back(fair.cpu);
  SortUnique(cpus);
  std::vector<Bytes> memories(profile.memories().begin(), profile.memories().end());
  memories.push_back(fair.memory);
  SortUnique(memories);

  const double unit = std::max(profile.ThroughputAt(fair.cpu, fair.memory), 1e-12);
  const auto gpus = static_cast<double>(fair.gpus.count());
  std::vector<DivisionChoice> choices;
  for (const MilliCpu cpu : cpus) {
    for (const Bytes memory : memories) {
      if (cpu > limit.cpu || memory > limit.memory) continue;
      const double value = gpus * profile.ThroughputAt(cpu, memory) / unit;
      const bool enough = value >= gpus * (1 - kEqual);
      // Choices that dominate others come earlier in this order.
      const bool dominated = std::any_of(choices.begin(), choices.end(), [&](const auto& other) {
        return other.memory <= memory && other.value >= value - kEqual;
      });
      if (enough && !dominated) choices.push_back({cpu, memory, value});
    }
  }
  if (choices.empty()) choices.push_back({fair.cpu, fair.memory, gpus});
  return choices;
}

const std::vector<DivisionChoice>& Divider::Choices(const Server& server,
                                                    const JobProfile& profile) {
  const ChoicesKey key{&profile, server.capacity.gpus.count(), server.capacity.cpu.count(),
                       server.capacity.memory.count()};
  auto found = choices_.find(key);
  if (found == choices_.end()) {
    const ResourceVector fair = FairShareOf(server, profile.gpus());
    found = choices_.emplace(key, DivisionChoices(profile, fair, server.capacity, cpu_step_)).first;
  }
  return found->second;
}

const Divider::Answer& Divider::Divide(const Server& server,
                                       std::span<const JobProfile* const> jobs,
                                       const ResourceVector& free) {
  AnswerKey key{server.capacity.gpus.count(),
                server.capacity.cpu.count(),
                server.capacity.memory.count(),
                free.cpu.count(),
                free.memory.count(),
                {jobs.begin(), jobs.end()}};
  // The limit suffices for all the mixes of a large cluster, and bounds the memory of a process
  // that never ends.
  if (answers_.size() >= kMaxAnswers) answers_.clear();
  const auto [at, is_new] = answers_.try_emplace(std::move(key));
  Answer& answer = at->second;
  if (!is_new) return answer;
  std::vector<std::span<const DivisionChoice>> choices;
  for (const JobProfile* profile : jobs) choices.emplace_back(Choices(server, *profile));
  const Division division = synergy::Divide(choices, free.cpu, free.memory);
  answer.value = division.value;
  answer.bound = division.bound;
  for (size_t job = 0; job < division.chosen.size(); ++job) {
    const DivisionChoice& choice = choices[job][division.chosen[job]];
    answer.amounts.push_back({jobs[job]->gpus(), choice.cpu, choice.memory});
  }
  return answer;
}

}  // namespace synergy
