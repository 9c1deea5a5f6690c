#include "engine/retries/retries.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/text/quantity_text.h"

namespace synergy {
namespace {

using Kind = RetryDecision::Kind;

constexpr std::array<std::pair<std::string_view, bool RetryActions::*>, 3> kActions = {
    {{"stop-futile", &RetryActions::stop_futile},
     {"elsewhere", &RetryActions::elsewhere},
     {"larger", &RetryActions::larger}}};

size_t FailuresToStop(StopsAfter stops) {
  switch (stops) {
    case StopsAfter::kTwo:
    case StopsAfter::kTwoUnstarted:
    case StopsAfter::kTwoUnshared:
      return 2;
    case StopsAfter::kThreeApart:
      return 3;
    case StopsAfter::kNever:
      break;
  }
  return 0;
}

// Returns whether repetitions of this failure may stop the job.
bool MayStop(const FailedAttempt& attempt) {
  if (attempt.outcome.cause != Cause::kUser ||
      attempt.outcome.behaviour != Behaviour::kDeterministic)
    return false;
  if (attempt.template_hash.empty() || attempt.image_id.empty()) return false;
  if (attempt.failed < attempt.started || attempt.failed - attempt.started > kSoonAfterStart)
    return false;
  switch (EntryOf(attempt.category).stops) {
    case StopsAfter::kTwo:
    case StopsAfter::kThreeApart:
      return true;
    case StopsAfter::kTwoUnstarted:
      return attempt.iterations == 0;
    case StopsAfter::kTwoUnshared:
      return !attempt.shared_gpu;
    case StopsAfter::kNever:
      break;
  }
  return false;
}

bool AreAlike(const FailedAttempt& one, const FailedAttempt& other) {
  return one.category == other.category && one.template_hash == other.template_hash &&
         one.image_id == other.image_id;
}

// Returns the latest consecutive attempts that failed alike and whose repetition may stop the job.
std::span<const FailedAttempt> AlikeInARow(const FailingJob& job) {
  const std::span<const FailedAttempt> all(job.attempts);
  size_t first = all.size();
  while (first > 0 && MayStop(all[first - 1]) && AreAlike(all[first - 1], all.back()) &&
         (!job.resumed || all[first - 1].started >= *job.resumed)) {
    --first;
  }
  return all.subspan(first);
}

// Returns how many attempts of `row` count.
size_t CountOf(std::span<const FailedAttempt> row, StopsAfter stops) {
  if (stops != StopsAfter::kThreeApart) return row.size();
  size_t count = 0;
  std::optional<WallTime> last;
  for (const FailedAttempt& attempt : row) {
    if (last && attempt.failed - *last < kFailuresApart) continue;
    last = attempt.failed;
    ++count;
  }
  return count;
}

RetryDecision StopIfFutile(const FailingJob& job, const SuspensionLimit& limit, WallTime now) {
  const std::span<const FailedAttempt> row = AlikeInARow(job);
  if (row.empty()) return {};
  const CategoryEntry& entry = EntryOf(row.back().category);
  if (CountOf(row, entry.stops) < FailuresToStop(entry.stops)) return {};
  const std::string failures = fmt::format(
      "the last {} attempts of this template and image failed alike within {} minutes "
      "of their starts: {}: {}",
      row.size(), std::chrono::duration_cast<std::chrono::minutes>(kSoonAfterStart).count(),
      entry.name, entry.meaning);
  if (job.independent_completions) {
    return {.reason =
                failures + "; the job is not suspended, because its other completions may succeed"};
  }
  if (!limit.Allows(job.job_namespace, now)) {
    return {.reason = failures +
                      "; the job is not suspended, because as many jobs as are allowed were "
                      "suspended within the last hour"};
  }
  return {.kind = Kind::kSuspend, .reason = failures};
}

// REQUIRES: the last attempt is an infrastructure failure.
RetryDecision GoElsewhere(const FailingJob& job, WallTime now) {
  RetryDecision decision;
  std::vector<std::string>& nodes = decision.nodes;
  size_t failures = 0;
  // Start with the latest attempt.
  for (const FailedAttempt& attempt : std::views::reverse(job.attempts)) {
    const WallTime until = attempt.failed + kElsewhereLasts;
    if (attempt.outcome.cause != Cause::kInfrastructure || until <= now || attempt.nodes.empty())
      continue;
    if (++failures > kMostAvoidedFailures) break;
    nodes.insert(nodes.end(), attempt.nodes.begin(), attempt.nodes.end());
    decision.until = std::max(decision.until, until);
  }
  if (nodes.empty()) return {};
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const CategoryEntry& entry = EntryOf(job.attempts.back().category);
  decision.kind = Kind::kPreferOtherNodes;
  decision.reason =
      fmt::format("{}: {}; the next attempt prefers other nodes", entry.name, entry.meaning);
  return decision;
}

RetryDecision NoLarger(MemoryOutcome outcome, std::string reason) {
  return {.reason = std::move(reason), .memory_outcome = outcome};
}

// REQUIRES: the last attempt was killed for lack of memory.
RetryDecision Enlarge(const FailingJob& job, WallTime now) {
  const FailedAttempt& last = job.attempts.back();
  if (!last.chosen_memory) {
    return NoLarger(MemoryOutcome::kWritten,
                    "it was killed for lack of memory: the amount that its author wrote is too "
                    "small, and stays; write more");
  }
  const Bytes had = *last.chosen_memory;
  const std::string killed =
      fmt::format("it was killed for lack of memory: the {} that Synergy chose is too small: {}",
                  last.fair_memory ? "request" : "limit", ToQuantityText(had));
  if (!job.memory) {
    return NoLarger(MemoryOutcome::kUnmeasured,
                    killed +
                        "; Synergy has not measured what its processes need, so write a memory "
                        "request");
  }
  const WorkloadMemory& known = *job.memory;
  if (known.given) {
    return NoLarger(MemoryOutcome::kGiven,
                    killed +
                        "; it follows from processMemory in its TrainingProfile, which stays; "
                        "write more");
  }
  const Bytes most = last.fair_memory ? std::min(known.most, *last.fair_memory) : known.most;
  if (const Bytes next = std::min(WithMargin(known.process), most); next > had) {
    return {.reason = fmt::format("{}; the next attempt gets {}", killed, ToQuantityText(next)),
            .memory_outcome = MemoryOutcome::kLarger,
            .next_memory = next};
  }
  const int32_t times = known.raise ? known.raise->times : 0;
  if (times >= kMostMemoryRaises) {
    return NoLarger(
        MemoryOutcome::kSpent,
        fmt::format("{}, although it was raised {} times; write a memory request", killed, times));
  }
  const Bytes process = WithoutMargin(std::min(had + Bytes(had.count() / 2), most));
  const Bytes next = WithMargin(process);
  if (next <= had) {
    return NoLarger(MemoryOutcome::kBounded,
                    killed +
                        "; its quota, its limit range, its fair share or the machines allow no "
                        "more");
  }
  return {.kind = Kind::kEnlargeMemory,
          .reason = fmt::format("{}; the next attempt gets {}", killed, ToQuantityText(next)),
          .memory_outcome = MemoryOutcome::kRaised,
          .raise = {.process = process,
                    .too_small = had,
                    .times = times + 1,
                    .at = std::chrono::floor<std::chrono::seconds>(now),
                    .ran = last.started == WallTime{}
                               ? Duration::zero()
                               : std::max<Duration>(last.failed - last.started, Duration::zero())},
          .next_memory = next};
}

}  // namespace

Result<RetryActions> ParseRetryActions(std::string_view text) {
  RetryActions actions;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const auto* const known = std::find_if(kActions.begin(), kActions.end(),
                                           [&](const auto& entry) { return entry.first == word; });
    if (known == kActions.end()) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("\"{}\": write stop-futile, elsewhere and larger, or some of these, "
                              "separated by commas",
                              word));
    }
    actions.*known->second = true;
  }
  return actions;
}

bool SuspensionLimit::Allows(std::string_view of_namespace, WallTime now) const {
  size_t all = 0;
  size_t in_namespace = 0;
  for (const auto& [name, at] : suspended_) {
    if (now - at >= rates_.within) continue;
    ++all;
    if (name == of_namespace) ++in_namespace;
  }
  return all < rates_.in_all && in_namespace < rates_.in_namespace;
}

void SuspensionLimit::Note(std::string_view of_namespace, WallTime now) {
  std::erase_if(suspended_, [&](const auto& entry) { return now - entry.second >= rates_.within; });
  suspended_.emplace_back(of_namespace, now);
}

RetryDecision DecideRetry(const FailingJob& job, const RetryActions& actions,
                          const SuspensionLimit& limit, WallTime now) {
  if (job.attempts.empty()) return {};
  const FailedAttempt& last = job.attempts.back();
  if (actions.elsewhere && last.outcome.cause == Cause::kInfrastructure)
    return GoElsewhere(job, now);
  if (actions.larger && last.category == Category::kHostOom && last.oom_killed)
    return Enlarge(job, now);
  return actions.stop_futile ? StopIfFutile(job, limit, now) : RetryDecision{};
}

}  // namespace synergy
