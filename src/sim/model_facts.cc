#include "sim/model_facts.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <set>
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

namespace {

// A throughput as a function of CPU, linear between the rows of a matrix.
class AlongCpu {
 public:
  AlongCpu(std::vector<double> cpus, std::vector<double> throughputs)
      : cpus_(std::move(cpus)), throughputs_(std::move(throughputs)) {}

  // Interpolates as JobProfile::ThroughputAt() does.
  double At(double cpu) const {
    if (cpu <= cpus_.front()) return throughputs_.front() * cpu / cpus_.front();
    if (cpu >= cpus_.back()) return throughputs_.back();
    const auto above = std::upper_bound(cpus_.begin(), cpus_.end(), cpu) - cpus_.begin();
    const auto i = static_cast<size_t>(above);
    const double part = (cpu - cpus_[i - 1]) / (cpus_[i] - cpus_[i - 1]);
    return throughputs_[i - 1] + (throughputs_[i] - throughputs_[i - 1]) * part;
  }

  // Returns the throughput on GPUs of `speed`. The same fraction of the best speed takes `speed`
  // times the CPU: T'(c) = s T(c / s) = c T(x) / x at x = c / s. Where T(x) / x rises with x, this
  // would be slower than on slower GPUs, so the best speed up to `speed` counts (for slower GPUs:
  // the worst speed from there). Between rows T(x) / x is monotone, so only rows and ends count.
  double OnSpeed(double speed, double cpu) const {
    constexpr double kSame = 1e-12;
    double found = speed * At(cpu / speed);
    const auto consider = [&](double throughput) {
      const bool better = speed > 1 ? throughput > found * (1 + kSame) : throughput < found;
      if (better) found = throughput;
    };
    consider(At(cpu));
    const auto [least, most] = std::minmax({cpu, cpu / speed});
    for (size_t i = 0; i < cpus_.size(); ++i) {
      if (cpus_[i] > least && cpus_[i] < most) consider(cpu * throughputs_[i] / cpus_[i]);
    }
    return found;
  }

  const std::vector<double>& cpus() const { return cpus_; }

 private:
  std::vector<double> cpus_;
  std::vector<double> throughputs_;
};

// A fact's matrix for GPUs of another speed: the columns as functions of CPU. A throughput that
// storage limits does not change.
class OnOtherGpus {
 public:
  // REQUIRES: the profile has the fact's matrix.
  OnOtherGpus(const JobProfile& profile, double speed) : speed_(speed) {
    std::vector<double> cpus;
    for (const MilliCpu cpu : profile.cpus()) cpus.push_back(static_cast<double>(cpu.count()));
    for (size_t column = 0; column < profile.memories().size(); ++column) {
      std::vector<double> throughputs;
      for (size_t row = 0; row < cpus.size(); ++row)
        throughputs.push_back(profile.Cell(row, column));
      most_.push_back(throughputs.back());
      before_.emplace_back(cpus, std::move(throughputs));
    }
  }

  std::vector<double> At(double cpu) const {
    const double all = before_.back().OnSpeed(speed_, cpu);
    std::vector<double> row;
    for (size_t column = 0; column < before_.size(); ++column) {
      double throughput = all;
      if (most_[column] < most_.back()) throughput = std::min(throughput, most_[column]);
      // Slower GPUs make no job faster where both CPU and storage limit it.
      if (speed_ < 1) throughput = std::min(throughput, before_[column].At(cpu));
      row.push_back(throughput);
    }
    return row;
  }

  // Returns the rows' amounts of CPU, in thousandths: the measured ones, those times the speed, and
  // others near which a throughput bends.
  std::vector<double> Rows() const {
    std::set<double> rows;
    for (const double cpu : before_.back().cpus()) {
      rows.insert(cpu);
      rows.insert(std::max(1.0, std::round(cpu * speed_)));
    }
    for (int pass = 0; pass < kPasses; ++pass) {
      if (rows.size() * before_.size() < JobProfile::kMaxCells / 4) Refine(rows);
    }
    return {rows.begin(), rows.end()};
  }

 private:
  static constexpr int kPasses = 10;
  static constexpr double kSame = 1e-9;

  bool Bends(double low, double cpu, double high) const {
    const std::vector<double> at_low = At(low);
    const std::vector<double> at_cpu = At(cpu);
    const std::vector<double> at_high = At(high);
    const double part = (cpu - low) / (high - low);
    for (size_t column = 0; column < at_cpu.size(); ++column) {
      const double between = at_low[column] + (at_high[column] - at_low[column]) * part;
      if (std::abs(between - at_cpu[column]) > kSame * most_.back() * speed_) return true;
    }
    return false;
  }

  // Adds the middle of each interval in which a throughput is not linear.
  void Refine(std::set<double>& rows) const {
    std::vector<double> middles;
    for (auto high = std::next(rows.begin()); high != rows.end(); ++high) {
      const double low = *std::prev(high);
      const double middle = std::round((low + *high) / 2);
      if (middle > low && middle < *high && Bends(low, middle, *high)) middles.push_back(middle);
    }
    rows.insert(middles.begin(), middles.end());
  }

  double speed_;
  std::vector<AlongCpu> before_;  // by memory
  std::vector<double> most_;      // by memory: the limit by storage, if it is below the last one
};

}  // namespace

ModelFact OnGpusOfSpeed(ModelFact fact, double speed) {
  if (speed == 1 || fact.throughput.empty()) return fact;
  const auto profile = ProfileOf(fact);
  if (!profile) return fact;
  const OnOtherGpus other(*profile, speed);
  fact.cpus.clear();
  fact.memories.assign(profile->memories().begin(), profile->memories().end());
  fact.throughput.clear();
  for (const double cpu : other.Rows()) {
    fact.cpus.push_back(MilliCpu(ToNearest(cpu)));
    const std::vector<double> row = other.At(cpu);
    fact.throughput.insert(fact.throughput.end(), row.begin(), row.end());
  }
  fact.cpu = MilliCpu(ToNearest(static_cast<double>(fact.cpu.count()) * speed));
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
