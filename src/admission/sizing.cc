#include "admission/sizing.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/text/quantity_text.h"
#include "profile/measured/memory_raise.h"

namespace synergy {
namespace {

MilliCpu WholeDown(MilliCpu cpu) { return cpu - MilliCpu(cpu.count() % Cores(1).count()); }
MilliCpu WholeUp(MilliCpu cpu) { return WholeDown(cpu + Cores(1) - MilliCpu(1)); }

bool WritesWholeCpus(const SizingCase& sizing) {
  return sizing.guaranteed && WholeDown(*sizing.written.cpu_limit) == *sizing.written.cpu_limit;
}

// Returns the most that the container may request if its author set a limit.
std::optional<MilliCpu> MostCpu(const SizingCase& sizing, bool by_profile) {
  const std::optional<MilliCpu>& limit = sizing.written.cpu_limit;
  if (!limit || sizing.enforcement == Enforcement::kStrict) return std::nullopt;
  // Stay below the limit: otherwise a resize would make the pod Guaranteed, which the API server
  // refuses. A container that will not be resized stays as written.
  const bool stays = !by_profile && sizing.written.cpu_request;
  return std::max(*limit - MilliCpu(stays ? 0 : 1), MilliCpu(0));
}

// Returns the most memory that the container may request under its author's limit. A request that
// is not written as equal to the limit stays below it, at least where the CPU request may equal its
// limit: otherwise a resize would change the pod's QoS class.
Bytes MostMemory(const SizingCase& sizing, bool by_profile) {
  const WrittenAmounts& written = sizing.written;
  const Bytes limit = *written.memory_limit;
  const bool cpu_may_equal = sizing.enforcement == Enforcement::kStrict ||
                             (written.cpu_limit && written.cpu_request && !by_profile);
  if (!cpu_may_equal || written.memory_request == limit) return limit;
  return std::max(limit - kLeastBelowLimit.memory, written.memory_request.value_or(Bytes(0)));
}

// `least`: the least CPU of a floor that comes from a profile.
void SizeCpu(const SizingCase& sizing, const JobProfile* profile, const ResourceVector& wanted,
             MilliCpu least, Sizes& sizes) {
  MilliCpu fair = std::max(sizes.fair_share.cpu, least);
  MilliCpu demand = sizing.written.cpu_request.value_or(fair);
  if (profile != nullptr) {
    demand = std::max(wanted.cpu, least);
    if (WritesWholeCpus(sizing)) {
      demand = WholeUp(demand);
      fair = std::max(WholeDown(fair), Cores(1));
    }
  } else {
    fair = demand;
  }
  if (const auto most = MostCpu(sizing, profile != nullptr)) demand = std::min(demand, *most);
  sizes.demand.cpu = demand;
  sizes.floor.cpu = std::min(demand, fair);
}

void SizeMemory(const SizingCase& sizing, const JobProfile* profile, const ResourceVector& wanted,
                bool at_least_share, Sizes& sizes) {
  const WrittenAmounts& written = sizing.written;
  const bool fungible = profile != nullptr && profile->process_memory();
  const Bytes fair = sizes.fair_share.memory;
  Bytes least = written.memory_request.value_or(Bytes(0));
  if (fungible) {
    least = std::max(least, WithMargin(*profile->process_memory()));
    if (at_least_share) least = std::max(least, written.memory_request.value_or(fair));
    sizes.demand.memory = std::max(wanted.memory, least);
    sizes.floor.memory = std::max(std::min(sizes.demand.memory, fair), least);
  } else {
    sizes.floor.memory = sizes.demand.memory = written.memory_request.value_or(fair);
  }
  if (written.memory_limit) {
    if (*written.memory_limit < least) {
      sizes.warnings.push_back(fmt::format(
          "the memory limit {} is less than the profile says that the processes need ({})",
          ToQuantityText(*written.memory_limit), ToQuantityText(least)));
    }
    const Bytes most = MostMemory(sizing, profile != nullptr);
    sizes.floor.memory = std::min(sizes.floor.memory, most);
    sizes.demand.memory = std::min(sizes.demand.memory, most);
  } else if (fungible && !at_least_share && sizing.enforcement == Enforcement::kStrict) {
    sizes.memory_limit = sizes.floor.memory;
  }
}

// A floor below the calculated one gets no memory limit, which would be too low.
void LowerFloor(const ResourceVector& to, Sizes& sizes) {
  if (to.memory < sizes.floor.memory) sizes.memory_limit.reset();
  sizes.floor = to;
}

// Clamps to the namespace's LimitRanges.
void KeepWithin(const SizingCase& sizing, Sizes& sizes) {
  AmountBounds bounds = sizing.bounds;
  if (WritesWholeCpus(sizing)) {
    bounds.least.cpu = WholeUp(bounds.least.cpu);
    bounds.most.cpu = WholeDown(bounds.most.cpu);
  }
  sizes.demand = bounds.Clamp(sizes.demand);
  LowerFloor(bounds.Clamp(sizes.floor), sizes);
  if (sizes.memory_limit) sizes.memory_limit = sizes.floor.memory;
}

}  // namespace

Sizes Size(const SizingCase& sizing, const ResourceVector& share, const JobProfile* profile,
           const ProfileTrust& trust) {
  Sizes sizes;
  sizes.fair_share = {sizing.gpus, std::max(share.cpu - sizing.beside.cpu, kLeastRequest.cpu),
                      std::max(share.memory - sizing.beside.memory, kLeastRequest.memory)};
  sizes.demand.gpus = sizes.floor.gpus = sizing.gpus;
  ResourceVector wanted;
  if (profile != nullptr) {
    const double credible = CredibleThroughput(*profile, sizes.fair_share, trust.max_speed_up);
    wanted = profile->Demand(trust.tolerance, credible);
    if (credible < profile->Best()) {
      sizes.warnings.push_back(
          fmt::format("the profile claims more than {:.4g} times the speed at the fair share; "
                      "Synergy counts no more than that (maxSpeedUp)",
                      trust.max_speed_up));
    }
  }
  if (trust.at_least_share) wanted.cpu = std::max(wanted.cpu, sizes.fair_share.cpu);
  const MilliCpu least =
      trust.at_least_written ? sizing.written.cpu_request.value_or(MilliCpu(0)) : MilliCpu(0);
  SizeCpu(sizing, profile, wanted, least, sizes);
  SizeMemory(sizing, profile, wanted, trust.at_least_share_of_memory, sizes);
  KeepWithin(sizing, sizes);
  return sizes;
}

Sizes SizeUnplaced(const SizingCase& sizing, const ResourceVector& share, const JobProfile* profile,
                   const ProfileTrust& trust, bool least) {
  const WrittenAmounts& written = sizing.written;
  Sizes sizes = Size(sizing, share, profile, trust);
  if (!least) sizes.floor = sizes.demand;
  // The amounts will change, and a limit cannot be removed afterwards.
  sizes.memory_limit.reset();
  sizes.placeholder = profile != nullptr || !written.cpu_request || !written.memory_request;
  return sizes;
}

bool HoldBack(const SizingCase& sizing, const ResourceVector& most, Sizes& sizes) {
  const ResourceVector held = LesserOf(sizes.floor, LargerOf(most, sizing.bounds.least));
  const bool lowered = held != sizes.floor;
  LowerFloor(held, sizes);
  return lowered;
}

}  // namespace synergy
