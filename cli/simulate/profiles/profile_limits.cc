#include "cli/simulate/profiles/profile_limits.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "profile/job_profile.h"

namespace synergy::cli {
namespace {

// Cores and GB per GPU, of one model or of all.
struct Limits {
  double least_cpu = 0;
  double most_cpu = 0;
  double least_memory = 0;
  double most_memory = 0;
};

double CoresOf(MilliCpu cpu, Gpus gpus) {
  return static_cast<double>(cpu.count()) / 1e3 / static_cast<double>(gpus.count());
}

double GigabytesOf(Bytes memory, Gpus gpus) {
  return static_cast<double>(memory.count()) / 1e9 / static_cast<double>(gpus.count());
}

std::optional<Limits> LimitsOf(const ModelFacts& facts, const std::string& model) {
  if (const ProfileObject* const object = facts.FindObject(model)) {
    if (!object->profile) return std::nullopt;
    const JobProfile& profile = *object->profile;
    return Limits{CoresOf(profile.cpus().front(), profile.gpus()),
                  CoresOf(profile.cpus().back(), profile.gpus()),
                  GigabytesOf(profile.memories().front(), profile.gpus()),
                  GigabytesOf(profile.memories().back(), profile.gpus())};
  }
  const ModelFact* const fact = facts.Find(model, Gpus(1));
  if (fact == nullptr || fact->cpus.empty() || fact->memories.empty()) return std::nullopt;
  return Limits{CoresOf(fact->cpus.front(), Gpus(1)), CoresOf(fact->cpus.back(), Gpus(1)),
                GigabytesOf(fact->memories.front(), Gpus(1)),
                GigabytesOf(fact->memories.back(), Gpus(1))};
}

// Returns the largest of each limit.
Limits MostOf(const ModelFacts& facts) {
  Limits most;
  for (const std::string& model : facts.Models()) {
    const auto limits = LimitsOf(facts, model);
    if (!limits) continue;
    most.least_cpu = std::max(most.least_cpu, limits->least_cpu);
    most.most_cpu = std::max(most.most_cpu, limits->most_cpu);
    most.most_memory = std::max(most.most_memory, limits->most_memory);
  }
  return most;
}

// Amounts that look the same in a message count as equal.
bool Below(double amount, double limit) {
  return amount < limit && fmt::format("{:.4g}", amount) != fmt::format("{:.4g}", limit);
}

tl::unexpected<Error> TooFewCpus(const CheckedServer& server, const std::string& model, double cpu,
                                 double measured) {
  const double speed = server.gpu_speed;
  if (speed == 1) {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("{}: {:.4g} CPUs per GPU are fewer than the {:.4g} with which {} was "
                    "measured: give servers more, or measure it with {:.4g} and name the "
                    "file in --profiles",
                    server.option.empty() ? "--cpus" : server.option, cpu, measured, model, cpu));
  }
  return Fail(
      ErrorCode::kInvalid,
      fmt::format(
          "--gpu-speed {:.4g}: {} was measured with {:.4g} CPUs per GPU or more, which are "
          "{:.4g} at this speed, and servers have {:.4g}: give servers {:.4g} CPUs per GPU, "
          "or set a speed of at most {:.4g}",
          speed, model, measured, measured * speed, cpu, measured * speed, cpu / measured));
}

}  // namespace

Result<> CheckServer(const ModelFacts& facts, const std::set<std::string>& models,
                     const CheckedServer& server) {
  const Gpus gpus = server.amounts.gpus;
  if (gpus <= Gpus(0)) return {};
  const double cpu = CoresOf(server.amounts.cpu, gpus);
  const double memory = GigabytesOf(server.amounts.memory, gpus);
  for (const std::string& model : models) {
    const auto limits = LimitsOf(facts, model);
    if (!limits) continue;
    if (const double least = limits->least_cpu * server.gpu_speed; Below(cpu, least))
      return TooFewCpus(server, model, cpu, limits->least_cpu);
    if (!Below(memory, limits->least_memory)) continue;
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}: {:.4g} GB per GPU are fewer than the {:.4g} with which {} was "
                            "measured: give servers more, or measure it with {:.4g} and name the "
                            "file in --profiles",
                            server.option.empty() ? "--memory" : server.option, memory,
                            limits->least_memory, model, memory));
  }
  return {};
}

double LeastCpusPerGpu(const ModelFacts& facts) { return MostOf(facts).least_cpu; }

std::string ExtrapolatedModels(const ModelFacts& facts, const ResourceVector& server,
                               double gpu_speed) {
  const double most = MostOf(facts).most_cpu * gpu_speed;
  if (most == 0 || server.gpus <= Gpus(0)) return {};
  const double cpus = CoresOf(server.cpu, server.gpus);
  if (cpus <= most) return {};
  return fmt::format(
      "no model was measured with more than {:g} CPUs per GPU: on servers with {:g} "
      "each is as fast as with {:g}",
      most, cpus, most);
}

std::string ExtrapolatedMemory(const ModelFacts& facts, const ResourceVector& server) {
  const double most = MostOf(facts).most_memory;
  if (most == 0 || server.gpus <= Gpus(0)) return {};
  const double memory = GigabytesOf(server.memory, server.gpus);
  if (!Below(most, memory)) return {};
  return fmt::format(
      "no model was measured with more than {:.4g} GB per GPU: on servers with {:.4g} each is as "
      "fast as with {:.4g}",
      most, memory, most);
}

}  // namespace synergy::cli
