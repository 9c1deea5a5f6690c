// Tests turns on GPUs (engine/sharing/gpu_turns.h) with generated sharers that come, go, start up,
// idle and are packed, and packing with generated pairs.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "engine/sharing/gpu_turns.h"
#include "engine/sharing/packing.h"

namespace synergy::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Instant kBegin{std::chrono::hours(1)};

std::string NameOf(int number) { return "s" + std::to_string(number); }

// Returns a pod on one block, or a gang on several.
GpuSharer MadeSharer(int number) {
  GpuSharer sharer{.name = NameOf(number), .blocks = {}};
  std::set<GpuBlock> blocks;
  const int count = *rc::gen::weightedElement<int>({{3, 1}, {1, 2}, {1, 3}});
  for (int draw = 0; draw < count; ++draw)
    blocks.insert({*rc::gen::element<std::string>("m", "n"), *rc::gen::inRange(0, 3)});
  sharer.blocks.assign(blocks.begin(), blocks.end());
  sharer.weight = *rc::gen::element(1.0, 1.0, 2.0, 5.0);
  sharer.active = *rc::gen::weightedElement<bool>({{5, true}, {1, false}});
  sharer.newcomer = *rc::gen::arbitrary<bool>();
  return sharer;
}

bool IsOneOf(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool Share(const GpuSharer& a, const GpuSharer& b) {
  return std::any_of(a.blocks.begin(), a.blocks.end(), [&](const GpuBlock& block) {
    return std::find(b.blocks.begin(), b.blocks.end(), block) != b.blocks.end();
  });
}

// Returns the moments at which something may change in the next five minutes, and moments in
// between.
std::vector<Instant> Moments(const GpuTurns& turns, Instant now) {
  std::vector<Instant> moments{now};
  for (auto next = turns.NextSwitch(now); next && *next < now + std::chrono::minutes(5);
       next = turns.NextSwitch(*next)) {
    moments.push_back(*next - milliseconds(1));
    moments.push_back(*next);
  }
  return moments;
}

RC_GTEST_PROP(GpuTurnsProperty, NoTwoOfABlockRunAtOnceAndNoBlockIdles, ()) {
  GpuTurns turns;
  Instant now = kBegin;
  std::vector<GpuSharer> sharers;
  int number = 0;
  for (int change = *rc::gen::inRange(1, 8); change > 0; --change) {
    if (sharers.empty() || *rc::gen::inRange(0, 3) > 0) {
      sharers.push_back(MadeSharer(number++));
    } else {
      sharers.erase(sharers.begin() + *rc::gen::inRange<int>(0, static_cast<int>(sharers.size())));
    }
    now += seconds(*rc::gen::inRange(0, 200));
    turns.Plan(now, sharers);
    for (const Instant at : Moments(turns, now)) {
      for (size_t a = 0; a < sharers.size(); ++a) {
        const GpuSharer& sharer = sharers[a];
        const bool runs = turns.Runs(sharer.name, at);
        if (!sharer.active) RC_ASSERT(runs);
        bool is_blocked = false;
        for (size_t b = 0; b < sharers.size(); ++b) {
          const GpuSharer& other = sharers[b];
          if (a == b || !sharer.active || !other.active || !Share(sharer, other)) continue;
          if (IsOneOf(turns.without_turns(), sharer.name)) continue;
          const bool both = runs && turns.Runs(other.name, at);
          RC_ASSERT(!both);
          is_blocked |= turns.Runs(other.name, at);
        }
        // A sharer is suspended only while another runs on one of its blocks.
        RC_ASSERT(runs || is_blocked);
      }
    }
  }
}

RC_GTEST_PROP(GpuTurnsProperty, NoSuspensionIsTooLongAndEveryMemberHasASlot, ()) {
  GpuTurns turns;
  std::vector<GpuSharer> sharers;
  for (int number = *rc::gen::inRange(2, 8); number > 0; --number)
    sharers.push_back(MadeSharer(number));
  turns.Plan(kBegin, sharers);
  for (const TurnGroup& group : turns.groups()) {
    RC_ASSERT(group.slots.size() <= GpuTurns::kMostSlots);
    std::set<std::string> holders;
    for (const TurnSlot& slot : group.slots) {
      RC_ASSERT(slot.length >= GpuTurns::kLeastSlot - milliseconds(1));
      RC_ASSERT(group.Cycle() - slot.length <= kMostSuspended);
      holders.insert(slot.holders.begin(), slot.holders.end());
      for (const std::string& name : slot.runs)
        RC_ASSERT(std::any_of(group.slots.begin(), group.slots.end(),
                              [&](const TurnSlot& own) { return IsOneOf(own.holders, name); }));
    }
    for (const std::string& name : holders) {
      bool runs = false;
      for (Instant at = kBegin; at < kBegin + group.Cycle(); at += seconds(1))
        runs |= turns.Runs(name, at);
      RC_ASSERT(runs);
    }
  }
}

RC_GTEST_PROP(GpuTurnsProperty, EveryMemberHasItsWeightsShareWithinAQuantum, ()) {
  const int height = *rc::gen::inRange(2, 5);
  // The weights are such that no slot is shorter than the minimum.
  std::vector<GpuSharer> sharers;
  double sum = 0;
  for (int number = 0; number < height; ++number) {
    const double weight =
        height == 4 ? 1 : 1 + *rc::gen::inRange(0, height == 2 ? 200 : 60) / 100.0;
    sharers.push_back({.name = NameOf(number), .blocks = {{"n", 0}}, .weight = weight});
    sum += weight;
  }
  GpuTurns turns;
  turns.Plan(kBegin, sharers);
  const Instant from = kBegin + seconds(*rc::gen::inRange(0, 500));
  const Duration stretch = seconds(*rc::gen::inRange(1, 2000));
  std::map<std::string, double> time;
  for (Instant at = from; at < from + stretch;) {
    const Instant next = std::min(*turns.NextSwitch(at), from + stretch);
    for (const GpuSharer& sharer : sharers) {
      if (turns.Runs(sharer.name, at)) time[sharer.name] += Seconds(next - at).count();
    }
    at = next;
  }
  for (const GpuSharer& sharer : sharers) {
    const double share = Seconds(stretch).count() * sharer.weight / sum;
    RC_ASSERT(std::abs(time[sharer.name] - share) <= 60);
  }
}

RC_GTEST_PROP(GpuTurnsProperty, GroupIsTheSameWhenPlannedAgainBesideAStranger, ()) {
  std::vector<GpuSharer> sharers;
  for (int number = *rc::gen::inRange(2, 7); number > 0; --number)
    sharers.push_back(MadeSharer(number));
  GpuTurns turns;
  turns.Plan(kBegin, sharers);
  const GpuTurns before = turns;
  const Instant now = kBegin + milliseconds(*rc::gen::inRange(0, 1'000'000));
  std::vector<GpuSharer> more = sharers;
  GpuSharer stranger = MadeSharer(99);
  for (GpuBlock& block : stranger.blocks) block.node = "elsewhere";
  more.push_back(stranger);
  std::reverse(more.begin(), more.end());
  turns.Plan(now, more);
  for (const Instant at : Moments(before, now)) {
    for (const GpuSharer& sharer : sharers)
      RC_ASSERT(turns.Runs(sharer.name, at) == before.Runs(sharer.name, at));
  }
}

RC_GTEST_PROP(GpuTurnsProperty, SlotOfTheMomentGoesOnWhenOneComes, ()) {
  std::vector<GpuSharer> sharers;
  for (int number = 0; number < *rc::gen::inRange(2, 4); ++number)
    sharers.push_back({.name = NameOf(number), .blocks = {{"n", 0}}});
  GpuTurns turns;
  turns.Plan(kBegin, sharers);
  const Instant now = kBegin + milliseconds(*rc::gen::inRange(0, 1'000'000));
  const GpuTurns before = turns;
  sharers.push_back({.name = "new", .blocks = {{"n", 0}}, .newcomer = true});
  turns.Plan(now, sharers);
  // The sharer that runs now either continues, or its shortened slot is over; the newcomer is next.
  const auto runner = [&](Instant at) {
    for (const GpuSharer& sharer : sharers) {
      if (turns.Runs(sharer.name, at)) return sharer.name;
    }
    return std::string();
  };
  if (runner(now) != "new") {
    RC_ASSERT(before.Runs(runner(now), now));
    RC_ASSERT(runner(*turns.NextSwitch(now)) == "new");
  }
}

// A pair ends packed if and only if its true speeds meet both conditions.
RC_GTEST_PROP(PackingProperty, PairsEndByTheirSpeeds, ()) {
  Packing packing;
  Instant now = kBegin;
  const auto made = [] { return *rc::gen::inRange(10, 101) / 100.0; };
  const std::array<double, 2> speeds = {made(), made()};
  const double slice = *rc::gen::element(0.5, 1.0 / 3, 0.25);
  const std::array<double, 2> alone = {*rc::gen::element(0.2, 1.0, 50.0),
                                       *rc::gen::element(0.2, 1.0, 50.0)};
  const bool fits = *rc::gen::weightedElement<bool>({{6, true}, {1, false}});
  const std::vector<PackCandidate> candidates = {
      {.node = "n",
       .gpu_product = "p",
       .first = {.name = "a", .workload = "x", .alone = alone[0], .slice = slice},
       .second = {.name = "b", .workload = "y", .alone = alone[1], .slice = slice},
       .fits = fits}};
  double tried = 0;
  for (int minute = 0; minute < 60; ++minute) {
    const bool packed = !packing.Plan(now, candidates).empty();
    RC_ASSERT(!packed || fits);
    now += seconds(60);
    if (!packed) continue;
    tried += packing.IsOnTrial({"a", "b"}) ? 1 : 0;
    packing.Observe(now, {"a", "b"},
                    {seconds(60), {60 * alone[0] * speeds[0], 60 * alone[1] * speeds[1]}});
  }
  const bool good = speeds[0] + speeds[1] > 1.05 + 1e-9 &&
                    std::min(speeds[0], speeds[1]) >= 0.9 * slice + 1e-9 &&
                    std::min(speeds[0], speeds[1]) >= 0.3;
  const bool is_close = std::abs(speeds[0] + speeds[1] - 1.05) < 1e-6 ||
                        std::abs(std::min(speeds[0], speeds[1]) - 0.9 * slice) < 1e-6 ||
                        std::abs(std::min(speeds[0], speeds[1]) - 0.3) < 1e-6;
  const bool packed = !packing.Plan(now, candidates).empty() && !packing.IsOnTrial({"a", "b"});
  if (!is_close) RC_ASSERT(packed == (good && fits));
  RC_ASSERT(tried > 0 || !fits);
}

}  // namespace
}  // namespace synergy::testing
