#include "allocation/node_division.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "allocation/re_division.h"

namespace synergy {
namespace {

// Number of CPU amounts to try between a pod's least and most.
constexpr int64_t kCpuSteps = 12;
constexpr int64_t kLeastCpuStep = 10;  // thousandths of a core
// Number of fractions of a data set in memory to try.
constexpr int64_t kCacheSteps = 8;

template <class Amount>
void SortAndRestrict(std::vector<Amount>& amounts, Amount least, Amount most) {
  std::erase_if(amounts, [&](Amount amount) { return amount < least || amount > most; });
  std::sort(amounts.begin(), amounts.end());
  amounts.erase(std::unique(amounts.begin(), amounts.end()), amounts.end());
}

struct Tried {
  std::vector<MilliCpu> cpus;
  std::vector<Bytes> memories;
};

// Returns amounts within the range, including those of `also` that lie in it.
Tried ToTry(const PodShare& share, const Range& range, std::span<const ResourceVector> also) {
  Tried tried{{range.least.cpu, range.most.cpu}, {range.least.memory, range.most.memory}};
  for (const ResourceVector& amounts : also) {
    tried.cpus.push_back(amounts.cpu);
    tried.memories.push_back(amounts.memory);
  }
  const int64_t width = (range.most.cpu - range.least.cpu).count();
  const int64_t step = std::max(width / kCpuSteps, kLeastCpuStep);
  for (int64_t above = step; above < width; above += step) {
    tried.cpus.push_back(range.least.cpu + share.Step(MilliCpu(above)));
  }
  if (share.profile != nullptr) {
    const auto measured = share.profile->memories();
    tried.memories.insert(tried.memories.end(), measured.begin(), measured.end());
  }
  if (share.storage) {
    const DataReads& reads = share.storage->reads;
    for (int64_t part = 1; part <= kCacheSteps; ++part)
      tried.memories.push_back(reads.process + Bytes(reads.data_set.count() / kCacheSteps * part));
    tried.memories.push_back(reads.Enough());
  }
  SortAndRestrict(tried.cpus, range.least.cpu, range.most.cpu);
  SortAndRestrict(tried.memories, range.least.memory, range.most.memory);
  return tried;
}

// Returns the value of the bandwidth that the share leaves unused.
double SavedOf(const PodShare& share, const ResourceVector& amounts, double storage_price) {
  if (!share.storage || storage_price <= 0) return 0;
  const double need = share.storage->reads.NeedOf(*share.profile, amounts);
  return storage_price * std::max(share.storage->left - need, 0.0);
}

std::vector<DivisionChoice> Choices(const PodShare& share, const Range& range,
                                    double storage_price) {
  const Throughputs throughputs(share);
  const Tried tried = ToTry(share, range, std::span(&share.current, 1));

  std::vector<DivisionChoice> choices;
  for (const MilliCpu cpu : tried.cpus) {
    // Skip amounts with more memory than the last amount that helped.
    double best = -1;
    for (const Bytes memory : tried.memories) {
      const ResourceVector amounts{share.current.gpus, cpu, memory};
      const bool stays = amounts == share.current;
      const double value = throughputs.At(amounts) + SavedOf(share, amounts, storage_price);
      if (!stays && value <= best + kLeastGain) continue;
      best = std::max(best, value);
      choices.push_back({cpu, memory, value + (stays ? kLeastGain : 0)});
    }
  }
  return choices;
}

// Indexes of shares that get the same amounts per GPU: one share that trains alone, or the shares
// of a gang.
using Party = std::vector<size_t>;

std::vector<Party> PartiesOf(std::span<const PodShare> shares) {
  std::vector<Party> parties;
  for (size_t i = 0; i < shares.size(); ++i) {
    const auto joins = [&](const Party& party) {
      const auto& gang = shares[party.front()].gang;
      return gang && shares[i].gang && gang->number == shares[i].gang->number;
    };
    const auto party = std::find_if(parties.begin(), parties.end(), joins);
    if (party != parties.end()) {
      party->push_back(i);
    } else {
      parties.push_back({i});
    }
  }
  return parties;
}

// The choices of a party, and the amounts of its shares with each.
struct PartyChoices {
  std::vector<DivisionChoice> choices;
  std::vector<std::vector<ResourceVector>> amounts;  // for gangs
};

PartyChoices GangChoices(std::span<const PodShare> shares, std::span<const Range> ranges,
                         const Party& party, double storage_price) {
  std::vector<PodShare> members;
  std::vector<const PodShare*> views;
  std::vector<Range> bounds;
  std::vector<ResourceVector> present;
  bool may_stay = true;
  for (const size_t i : party) {
    members.push_back(shares[i]);
    views.push_back(&shares[i]);
    bounds.push_back(ranges[i]);
    present.push_back(shares[i].current);
    may_stay &= LargerOf(ranges[i].least, present.back()) == present.back() &&
                LesserOf(ranges[i].most, present.back()) == present.back();
  }
  PartyChoices made;
  const auto add = [&](std::vector<ResourceVector> amounts, double bonus) {
    DivisionChoice choice{.value = TotalThroughput(members, amounts) + bonus};
    for (size_t i = 0; i < amounts.size(); ++i) {
      choice.cpu += amounts[i].cpu;
      choice.memory += amounts[i].memory;
      choice.value += SavedOf(members[i], amounts[i], storage_price);
    }
    made.choices.push_back(choice);
    made.amounts.push_back(std::move(amounts));
  };
  if (may_stay) add(present, kLeastGain);
  for (const ResourceVector& common : CommonAmounts(views, bounds)) {
    std::vector<ResourceVector> amounts;
    for (size_t i = 0; i < members.size(); ++i) {
      amounts.push_back(Part(members[i], bounds[i], common));
    }
    add(std::move(amounts), 0);
  }
  return made;
}

}  // namespace

ResourceVector Part(const PodShare& share, const Range& range, const ResourceVector& common) {
  ResourceVector part = PartOf(common, share.current.gpus, common.gpus);
  part.cpu = share.Step(part.cpu);
  return LesserOf(LargerOf(part, range.least), range.most);
}

std::vector<ResourceVector> CommonAmounts(std::span<const PodShare* const> members,
                                          std::span<const Range> ranges) {
  const PodShare& first = *members.front();
  const auto as_the_first = [&](const ResourceVector& amounts, const PodShare& member) {
    return PartOf(amounts, first.current.gpus, member.current.gpus);
  };
  Range range = ranges.front();
  std::vector<ResourceVector> also;
  for (size_t i = 0; i < members.size(); ++i) {
    range.least = LesserOf(range.least, as_the_first(ranges[i].least, *members[i]));
    range.most = LargerOf(range.most, as_the_first(ranges[i].most, *members[i]));
    also.push_back(as_the_first(members[i]->current, *members[i]));
    if (members[i]->gang) also.push_back(as_the_first(members[i]->gang->needs, *members[i]));
  }
  // Between two of these amounts the throughput is linear in the CPU.
  if (first.profile != nullptr) {
    for (const MilliCpu cpu : first.profile->cpus()) also.push_back({{}, cpu, range.least.memory});
  }
  const Tried tried = ToTry(first, range, also);
  std::vector<ResourceVector> amounts;
  for (const MilliCpu cpu : tried.cpus) {
    for (const Bytes memory : tried.memories) amounts.push_back({first.current.gpus, cpu, memory});
  }
  return amounts;
}

std::optional<std::vector<ResourceVector>> DivideAgain(std::span<const PodShare> shares,
                                                       std::span<const Range> ranges,
                                                       const ResourceVector& spare,
                                                       double storage_price) {
  const std::vector<Party> parties = PartiesOf(shares);
  std::vector<PartyChoices> all;
  std::vector<std::span<const DivisionChoice>> views;
  ResourceVector capacity = spare;
  for (const PodShare& share : shares) capacity += share.current;
  all.reserve(parties.size());
  views.reserve(parties.size());
  for (const Party& party : parties) {
    const size_t first = party.front();
    all.push_back(shares[first].gang
                      ? GangChoices(shares, ranges, party, storage_price)
                      : PartyChoices{Choices(shares[first], ranges[first], storage_price), {}});
    views.emplace_back(all.back().choices);
  }
  const Division division = Divide(views, capacity.cpu, capacity.memory);
  if (division.chosen.size() != parties.size()) return std::nullopt;
  std::vector<ResourceVector> amounts(shares.size());
  for (size_t at = 0; at < parties.size(); ++at) {
    const size_t chosen = division.chosen[at];
    const Party& party = parties[at];
    if (all[at].amounts.empty()) {
      const DivisionChoice& choice = all[at].choices[chosen];
      amounts[party.front()] = {shares[party.front()].current.gpus, choice.cpu, choice.memory};
      continue;
    }
    for (size_t i = 0; i < party.size(); ++i) amounts[party[i]] = all[at].amounts[chosen][i];
  }
  return amounts;
}

void GiveBack(std::span<const PodShare> shares, const ResourceVector& lacking,
              std::vector<ResourceVector>& amounts) {
  ResourceVector rest = ResourceVector{} - LargerOf(lacking, {});
  for (size_t i = 0; i < shares.size(); ++i) rest += shares[i].current - amounts[i];
  for (const Party& party : PartiesOf(shares)) {
    Gpus gpus;
    for (const size_t i : party) gpus += shares[i].current.gpus;
    const ResourceVector whole = rest;
    for (const size_t i : party) {
      const PodShare& share = shares[i];
      const ResourceVector cut = share.current - amounts[i];
      const ResourceVector due =
          party.size() == 1 ? whole : PartOf(whole, share.current.gpus, gpus);
      const MilliCpu cpu = share.Step(std::clamp(due.cpu, MilliCpu(0), cut.cpu));
      const Bytes memory = std::clamp(due.memory, Bytes(0), cut.memory);
      amounts[i] += {Gpus(0), cpu, memory};
      rest -= {Gpus(0), cpu, memory};
    }
  }
}

void GiveRest(std::span<const PodShare> shares, std::span<const Range> ranges,
              const ResourceVector& spare, std::vector<ResourceVector>& amounts) {
  ResourceVector rest = spare;
  for (size_t i = 0; i < shares.size(); ++i) rest += shares[i].current - amounts[i];
  for (size_t turn = 0; turn < shares.size(); ++turn) {
    std::optional<size_t> best;
    ResourceVector best_amounts;
    double best_gain = kLeastGain;
    for (size_t i = 0; i < shares.size(); ++i) {
      if (shares[i].gang) continue;
      ResourceVector more = amounts[i];
      more.cpu += shares[i].Step(std::clamp(ranges[i].most.cpu - more.cpu, MilliCpu(0), rest.cpu));
      const double gain =
          NormalizedThroughput(shares[i], more) - NormalizedThroughput(shares[i], amounts[i]);
      if (gain <= best_gain) continue;
      best = i;
      best_amounts = more;
      best_gain = gain;
    }
    if (!best) return;
    rest -= best_amounts - amounts[*best];
    amounts[*best] = best_amounts;
  }
}

}  // namespace synergy
