// Tests the bands of arbitrary workloads, under every policy.

#include <algorithm>
#include <chrono>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "queues/rounds.h"

namespace synergy::testing {
namespace {

constexpr WallTime kNow{Duration(std::chrono::hours(500'000))};

Rounds AnyRounds() {
  const auto names = PolicyNames();
  RoundSettings settings;
  settings.policy = names[*rc::gen::inRange<size_t>(0, names.size())].name;
  settings.sizes = {100, 2000, 9000};
  return *Rounds::Make(std::move(settings));
}

RoundWorkload AnyWorkload(int number) {
  RoundWorkload workload;
  workload.name = "w" + std::to_string(number);
  workload.state = *rc::gen::element(RoundState::kWaits, RoundState::kRuns, RoundState::kLeaves);
  workload.may_lose_turn = *rc::gen::inRange(0, 4) != 0;
  workload.left_alone = *rc::gen::inRange(0, 8) == 0;
  workload.gpus = Gpus(*rc::gen::inRange(1, 9));
  workload.own_priority = *rc::gen::element(0, 0, 100);
  workload.band = *rc::gen::element(Band::kWaits, Band::kNext, Band::kRuns);
  workload.created = kNow - std::chrono::seconds(*rc::gen::inRange(0, 5000));
  workload.started = kNow - std::chrono::seconds(*rc::gen::inRange(0, 1000));
  workload.service.served = *rc::gen::inRange(0, 20000);
  workload.service.place.queue = static_cast<uint32_t>(*rc::gen::inRange(0, 3));
  workload.service.place.served = Seconds(workload.service.served);
  if (*rc::gen::inRange(0, 2) == 0)
    workload.service.remaining = Seconds(*rc::gen::inRange(0, 10000));
  return workload;
}

std::vector<RoundWorkload> AnyWorkloads() {
  std::vector<RoundWorkload> workloads;
  const int count = *rc::gen::inRange(0, 30);
  for (int number = 0; number < count; ++number) workloads.push_back(AnyWorkload(number));
  return workloads;
}

// Returns the workloads after all decisions are written.
std::vector<RoundWorkload> Written(std::vector<RoundWorkload> workloads,
                                   const RoundDecision& decision) {
  for (size_t index = 0; index < workloads.size(); ++index)
    workloads[index].band = decision.verdicts[index].band;
  return workloads;
}

bool Stays(const RoundWorkload& workload) {
  return workload.state == RoundState::kRuns && (workload.left_alone || !workload.may_lose_turn);
}

RC_GTEST_PROP(RoundsProperty, NoMoreHaveTheirTurnThanTheQuotaHolds, ()) {
  const std::vector<RoundWorkload> workloads = AnyWorkloads();
  const Gpus quota(*rc::gen::inRange(0, 40));
  const RoundDecision decision =
      AnyRounds().Decide(quota, workloads, *rc::gen::arbitrary<bool>(), kNow);
  Gpus staying;
  Gpus chosen;
  for (size_t index = 0; index < workloads.size(); ++index) {
    const RoundWorkload& workload = workloads[index];
    const Band band = decision.verdicts[index].band;
    if (workload.left_alone) {
      RC_ASSERT(band == workload.band);
    } else if (Stays(workload)) {
      RC_ASSERT(band == Band::kRuns);
    } else if (workload.state == RoundState::kRuns) {
      RC_ASSERT(band != Band::kWaits);
    }
    if (Stays(workload)) staying += workload.gpus;
    if (!Stays(workload) && !workload.left_alone && band == Band::kRuns) chosen += workload.gpus;
  }
  RC_ASSERT(chosen <= std::max(quota - staying, Gpus(0)));
}

RC_GTEST_PROP(RoundsProperty, WrittenBandsAreStable, ()) {
  const Rounds rounds = AnyRounds();
  const std::vector<RoundWorkload> workloads = AnyWorkloads();
  const Gpus quota(*rc::gen::inRange(0, 40));
  const RoundDecision first = rounds.Decide(quota, workloads, *rc::gen::arbitrary<bool>(), kNow);
  const auto written = Written(workloads, first);
  const RoundDecision second = rounds.Decide(quota, written, false, kNow);
  for (size_t index = 0; index < written.size(); ++index)
    RC_ASSERT(second.verdicts[index].band == written[index].band);
}

RC_GTEST_PROP(RoundsProperty, TheOrderOfTheInputDoesNotMatter, ()) {
  const Rounds rounds = AnyRounds();
  std::vector<RoundWorkload> workloads = AnyWorkloads();
  const Gpus quota(*rc::gen::inRange(0, 40));
  const RoundDecision forth = rounds.Decide(quota, workloads, true, kNow);
  std::reverse(workloads.begin(), workloads.end());
  const RoundDecision back = rounds.Decide(quota, workloads, true, kNow);
  for (size_t index = 0; index < workloads.size(); ++index) {
    RC_ASSERT(forth.verdicts[index].band == back.verdicts[workloads.size() - 1 - index].band);
  }
}

RC_GTEST_PROP(RoundsProperty, NoJobLosesItsTurnWithinARound, ()) {
  const Rounds rounds = AnyRounds();
  const std::vector<RoundWorkload> workloads = AnyWorkloads();
  const Gpus quota(*rc::gen::inRange(0, 40));
  // Later workloads of the same or lower classes come to the chosen ones.
  const auto written = Written(workloads, rounds.Decide(quota, workloads, true, kNow));
  std::vector<RoundWorkload> more = written;
  for (const RoundWorkload& workload : AnyWorkloads()) {
    RoundWorkload& added = more.emplace_back(workload);
    added.name += "-later";
    added.state = RoundState::kWaits;
    added.left_alone = false;
    added.own_priority = 0;
    added.band = Band::kNext;
  }
  const RoundDecision decision = rounds.Decide(quota, more, false, kNow + std::chrono::seconds(1));
  for (size_t index = 0; index < written.size(); ++index) {
    if (written[index].band == Band::kRuns) RC_ASSERT(decision.verdicts[index].band == Band::kRuns);
  }
}

RC_GTEST_PROP(RoundsProperty, RunningJobLosesNoTurnToOneThatWaitsForItsOwn, ()) {
  const std::vector<RoundWorkload> workloads = AnyWorkloads();
  const Gpus quota(*rc::gen::inRange(0, 40));
  const RoundDecision decision = AnyRounds().Decide(quota, workloads, false, kNow);
  const auto had_turn = [&](size_t index, bool runs) {
    const RoundWorkload& workload = workloads[index];
    return workload.band == Band::kRuns && !workload.left_alone &&
           (workload.state == RoundState::kRuns) == runs;
  };
  for (size_t loses = 0; loses < workloads.size(); ++loses) {
    if (!had_turn(loses, true) || decision.verdicts[loses].band == Band::kRuns) continue;
    for (size_t waits = 0; waits < workloads.size(); ++waits) {
      if (!had_turn(waits, false) || workloads[waits].gpus < workloads[loses].gpus ||
          workloads[waits].own_priority != workloads[loses].own_priority) {
        continue;
      }
      RC_ASSERT(decision.verdicts[waits].band != Band::kRuns);
    }
  }
}

// With backfill, the first workload that waits for GPUs has them at the time that follows from what
// runs, whichever others have their turn before.
RC_GTEST_PROP(RoundsProperty, BackfillDelaysNoStart, ()) {
  const Rounds rounds = *Rounds::Make({.policy = "fifo", .backfill = true});
  const Gpus quota(*rc::gen::inRange(8, 24));
  std::vector<RoundWorkload> workloads;
  Gpus in_use;
  const int count = *rc::gen::inRange(2, 16);
  for (int number = 0; number < count; ++number) {
    RoundWorkload workload = AnyWorkload(number);
    workload.left_alone = false;
    workload.own_priority = 0;
    workload.state = *rc::gen::element(RoundState::kWaits, RoundState::kRuns);
    if (in_use + workload.gpus > quota) workload.state = RoundState::kWaits;
    if (workload.state == RoundState::kRuns) in_use += workload.gpus;
    workload.service.refuted = *rc::gen::inRange(0, 4) == 0;
    if (*rc::gen::inRange(0, 2) == 0)
      workload.longest = std::chrono::seconds(*rc::gen::inRange(1000, 8000));
    // All that waits has come after all that runs.
    if (workload.state == RoundState::kWaits) workload.created += std::chrono::hours(2);
    workloads.push_back(std::move(workload));
  }
  const RoundDecision decision = rounds.Decide(quota, workloads, true, kNow);
  const RoundWorkload* head = nullptr;
  for (const size_t index : decision.order) {
    const RoundWorkload& workload = workloads[index];
    const bool waits = workload.state == RoundState::kWaits && workload.gpus <= quota &&
                       decision.verdicts[index].band != Band::kRuns;
    if (waits && (head == nullptr ||
                  std::tie(workload.created, workload.name) < std::tie(head->created, head->name)))
      head = &workload;
  }
  if (head == nullptr) return;
  const double never = 1e12;
  const auto likely_end = [&](const RoundWorkload& workload) {
    double end = never;
    if (workload.service.remaining && !workload.service.refuted)
      end = workload.service.remaining->count();
    if (workload.longest) {
      const double left = Seconds(workload.started + *workload.longest - kNow).count();
      end = std::min(end, std::max(left, 0.0));
    }
    return end;
  };
  Gpus free = quota;
  std::vector<std::pair<double, Gpus>> ends;
  std::vector<const RoundWorkload*> passed;
  for (size_t index = 0; index < workloads.size(); ++index) {
    const RoundWorkload& workload = workloads[index];
    const bool before_it =
        std::tie(workload.created, workload.name) < std::tie(head->created, head->name);
    if (workload.state == RoundState::kRuns) {
      free -= workload.gpus;
      ends.emplace_back(likely_end(workload), workload.gpus);
    } else if (decision.verdicts[index].band == Band::kRuns) {
      if (before_it) {
        free -= workload.gpus;
      } else {
        passed.push_back(&workload);
      }
    }
  }
  std::sort(ends.begin(), ends.end());
  double start = 0;
  Gpus then = free;
  for (auto end = ends.begin(); then < head->gpus && end != ends.end(); ++end) {
    then += end->second;
    start = end->first;
  }
  if (start == never || then < head->gpus) {
    RC_ASSERT(passed.empty());
    return;
  }
  for (const RoundWorkload* const workload : passed) {
    double longest = never;
    if (workload->longest) longest = Seconds(*workload->longest).count();
    if (workload->service.remaining && !workload->service.refuted)
      longest = std::min(longest, 2 * workload->service.remaining->count() + 60);
    if (longest > start) then -= workload->gpus;
    RC_ASSERT(workload->gpus <= free);
  }
  RC_ASSERT(then >= head->gpus);
}

}  // namespace
}  // namespace synergy::testing
