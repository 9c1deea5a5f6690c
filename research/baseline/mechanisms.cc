#include "research/baseline/mechanisms.h"

#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "research/baseline/greedy.h"
#include "research/baseline/opt.h"
#include "research/baseline/proportional.h"
#include "research/baseline/tune.h"

namespace synergy {
namespace {

struct Entry {
  MechanismName name;
  std::unique_ptr<Allocator> (*make)();
  Enforcement enforcement;
};

const std::vector<Entry>& Entries() {
  using enum Enforcement;
  static const std::vector<Entry> entries = {
      {{"proportional", "CPU and memory in proportion to GPUs, limits = requests"},
       [] { return MakeProportional(Placing::kPacked); },
       kStrict},
      {{"burstable-spread", "requests in proportion, no CPU limits, emptiest server first"},
       [] { return MakeProportional(Placing::kSpread); },
       kShared},
      {{"burstable-packed", "requests in proportion, no CPU limits, fullest server first"},
       [] { return MakeProportional(Placing::kPacked); },
       kShared},
      {{"greedy", "the whole demand or nothing, first fit"},
       [] { return MakeGreedy(GreedyOrder::kPolicy); },
       kStrict},
      {{"drf", "the whole demand or nothing, least dominant share first"},
       [] { return MakeGreedy(GreedyOrder::kDrf); },
       kStrict},
      {{"tetris", "the whole demand or nothing, best alignment first"},
       [] { return MakeGreedy(GreedyOrder::kTetris); },
       kStrict},
      {{"tune", "Synergy-Tune as published"},
       [] { return MakeTune(TuneVariant::kPublished); },
       kStrict},
      {{"opt", "Synergy-Opt: the greatest total, by an integer program; an upper bound for Tune"},
       [] { return MakeOpt(); },
       kStrict},
      {{"synergy-rounds-strict",
        "an upper bound for our mechanisms in rounds: all jobs at once, nothing takes time; CPU "
        "limits = allocations"},
       [] { return MakeTune(TuneVariant::kOurs); },
       kStrict},
      {{"synergy-rounds", "the same with shared CPU: idle CPU goes to other jobs"},
       [] { return MakeTune(TuneVariant::kOurs); },
       kShared},
  };
  return entries;
}

}  // namespace

std::span<const MechanismName> MechanismNames() {
  static const std::vector<MechanismName> names = [] {
    std::vector<MechanismName> all;
    for (const Entry& entry : Entries()) all.push_back(entry.name);
    return all;
  }();
  return names;
}

Result<Mechanism> MakeMechanism(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Entry& entry : Entries()) {
    if (entry.name.name == name) return Mechanism{entry.make(), entry.enforcement};
    names.push_back(entry.name.name);
  }
  return Fail(ErrorCode::kInvalid,
              fmt::format("unknown mechanism '{}': use one of {}", name, fmt::join(names, ", ")));
}

}  // namespace synergy
