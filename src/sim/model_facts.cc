#include "sim/model_facts.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/rounding.h"

namespace synergy {

Result<JobProfile> ProfileOf(const ModelFact& fact) {
  std::vector<JobProfile::Point> points;
  points.reserve(fact.throughput.size());
  for (size_t at = 0; at < fact.throughput.size(); ++at) {
    const size_t columns = fact.memories.size();
    points.push_back({fact.cpus[at / columns], fact.memories[at % columns], fact.throughput[at]});
  }
  return JobProfile::Create(Gpus(1), std::move(points));
}

ModelFact OnGpusOfSpeed(ModelFact fact, double speed) {
  if (speed == 1 || fact.throughput.empty()) return fact;
  const size_t columns = fact.memories.size();
  const std::vector<double> before = fact.throughput;
  const auto at = [&](size_t row, size_t column) { return before[row * columns + column]; };
  double best = 0;
  for (const double throughput : before) best = std::max(best, throughput);
  for (size_t column = 0; column < columns; ++column) {
    // Storage allows this throughput with this memory, if it is below what GPU and CPU can do.
    double with_memory = 0;
    for (size_t row = 0; row < fact.cpus.size(); ++row)
      with_memory = std::max(with_memory, at(row, column));
    for (size_t row = 0; row < fact.cpus.size(); ++row) {
      const double scaled = speed * at(row, columns - 1);
      fact.throughput[row * columns + column] =
          with_memory < best ? std::min(scaled, with_memory) : scaled;
    }
  }
  for (MilliCpu& cpu : fact.cpus)
    cpu = MilliCpu(ToNearest(static_cast<double>(cpu.count()) * speed));
  fact.cpu = MilliCpu(ToNearest(static_cast<double>(fact.cpu.count()) * speed));
  fact.iteration_time /= speed;
  return fact;
}

namespace {

// Returns null for null.
std::shared_ptr<const JobProfile> OnGpusOfSpeed(const std::shared_ptr<const JobProfile>& profile,
                                                double speed) {
  if (profile == nullptr) return nullptr;
  ModelFact fact;
  fact.cpus.assign(profile->cpus().begin(), profile->cpus().end());
  fact.memories.assign(profile->memories().begin(), profile->memories().end());
  for (size_t cpu = 0; cpu < fact.cpus.size(); ++cpu) {
    for (size_t memory = 0; memory < fact.memories.size(); ++memory)
      fact.throughput.push_back(profile->Cell(cpu, memory));
  }
  fact = OnGpusOfSpeed(std::move(fact), speed);
  std::vector<JobProfile::Point> points;
  for (size_t at = 0; at < fact.throughput.size(); ++at) {
    const size_t columns = fact.memories.size();
    points.push_back({fact.cpus[at / columns], fact.memories[at % columns], fact.throughput[at]});
  }
  auto faster = JobProfile::Create(profile->gpus(), std::move(points));
  if (!faster) return profile;  // amounts beyond any machine
  if (const auto process = profile->process_memory()) *faster = faster->WithProcessMemory(*process);
  return std::make_shared<const JobProfile>(faster->WithSpread(profile->spread()));
}

}  // namespace

std::vector<std::string> ModelFacts::Models() const {
  std::vector<std::string> models;
  for (const auto& [key, fact] : facts_) {
    if (key.second == Gpus(1)) models.push_back(key.first);
  }
  for (const auto& [name, object] : objects_) models.push_back(name);
  std::sort(models.begin(), models.end());
  models.erase(std::unique(models.begin(), models.end()), models.end());
  return models;
}

Seconds ModelFacts::IterationTimeOf(const std::string& model) const {
  const ModelFact* const fact = Find(model, Gpus(1));
  return fact == nullptr ? Seconds(1) : fact->iteration_time;
}

ModelFacts OnGpusOfSpeed(const ModelFacts& facts, double speed) {
  ModelFacts faster = facts;
  if (speed == 1) return faster;
  for (const auto& [key, fact] : facts.all())
    faster.Set(key.first, key.second, OnGpusOfSpeed(fact, speed));
  for (const auto& [name, object] : facts.objects()) {
    ProfileObject on_faster = object;
    on_faster.profile = OnGpusOfSpeed(object.profile, speed);
    faster.SetObject(std::move(on_faster));
  }
  return faster;
}

}  // namespace synergy
