#include "cli/views/failure_view.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "cli/text/amounts.h"
#include "core/text/quantity_text.h"
#include "core/wall_time.h"

namespace synergy::cli {
namespace {

constexpr double kSecondsPerHour = 3600;
// The number of pods of an attempt that are shown in addition to the cause.
constexpr size_t kMostOthers = 8;

std::string OrNone(const std::string& text) { return text.empty() ? "-" : text; }

std::string AgoText(WallTime at, WallTime now) {
  return ToShortText(std::max<Duration>(now - at, Duration::zero())) + " ago";
}

std::string PodText(const FailureRecord& record) {
  std::string text = "pod " + record.pod;
  if (!record.rank.empty()) text += fmt::format(" (rank {})", record.rank);
  if (!record.node.empty()) text += " on " + record.node;
  if (!record.HasRun()) text += ", which does not start";
  if (record.exit_code) text += fmt::format(", exit code {}", *record.exit_code);
  return text;
}

Tree SecondsTree(const std::optional<Duration>& duration) {
  return duration ? Tree(Seconds(*duration).count()) : Tree();
}

// Returns the cost of the attempt, and the parts of it that are lost, or that the next attempt
// repeats.
std::string CostText(const FailedAttempt& attempt) {
  const FailureRecord& first = attempt.pods.front();
  if (!first.HasRun() || first.started == WallTime{}) return {};
  double gpu_seconds = 0;
  for (const FailureRecord& record : attempt.pods) gpu_seconds += record.gpu_seconds;
  std::string text =
      fmt::format("    ran for {}, {:.2f} GPU hours", ToShortText(first.at - first.started),
                  gpu_seconds / kSecondsPerHour);
  if (first.startup)
    text += fmt::format("; {} until its first iteration", ToShortText(*first.startup));
  if (first.unsaved)
    text += fmt::format("; {} since its last checkpoint", ToShortText(*first.unsaved));
  return text + "\n";
}

Tree RecordTree(const FailureRecord& record) {
  return Tree::Members{
      {"pod", record.pod},
      {"container", record.container},
      {"run", record.HasRun() ? Tree(static_cast<int64_t>(record.run)) : Tree()},
      {"rank", record.rank},
      {"node", record.node},
      {"at", ToTimeText(record.at)},
      {"category", record.category},
      {"cause", record.cause},
      {"behaviour", record.behaviour},
      {"advice", record.advice},
      {"act", record.act},
      {"rule", record.rule},
      {"evidence", record.evidence},
      {"exitCode", record.exit_code ? Tree(int64_t{*record.exit_code}) : Tree()},
      {"reason", record.reason},
      {"gpuHours", record.gpu_seconds / kSecondsPerHour},
      {"startupSeconds", SecondsTree(record.startup)},
      {"unsavedSeconds", SecondsTree(record.unsaved)},
      {"suspended", record.suspended == WallTime{} ? Tree() : Tree(ToTimeText(record.suspended))},
      {"chosenMemory", record.chosen_memory ? Tree(ToQuantityText(*record.chosen_memory)) : Tree()},
      {"nextMemory", record.larger > Bytes(0) ? Tree(ToQuantityText(record.larger)) : Tree()}};
}

// Returns since when the failures are kept, if earlier ones may have been dropped.
std::optional<WallTime> KeptSince(const FailureHistory& history, WallTime since) {
  if (history.records.size() < kMostFailureRecords || history.records.front().at <= since)
    return std::nullopt;
  return history.records.front().at;
}

}  // namespace

std::vector<FailureSum> SumFailures(const std::vector<FailureHistory>& histories, WallTime since) {
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, FailureSum> sums;
  for (const FailureHistory& history : histories) {
    const std::optional<WallTime> kept_since = KeptSince(history, since);
    for (const FailureRecord& record : history.records) {
      if (record.at < since) continue;
      FailureSum& sum = sums[{history.of_namespace, record.category, record.queue, record.user}];
      sum.of_namespace = history.of_namespace;
      sum.category = record.category;
      sum.queue = record.queue;
      sum.user = record.user;
      ++sum.failures;
      sum.gpu_seconds += record.gpu_seconds;
      sum.last = std::max(sum.last, record.at);
      sum.kept_since = kept_since;
    }
  }
  std::vector<FailureSum> sorted;
  sorted.reserve(sums.size());
  for (auto& [key, sum] : sums) sorted.push_back(std::move(sum));
  std::stable_sort(sorted.begin(), sorted.end(), [](const FailureSum& a, const FailureSum& b) {
    return std::tie(b.gpu_seconds, b.failures) < std::tie(a.gpu_seconds, a.failures);
  });
  return sorted;
}

std::vector<std::string> NotesOnForgotten(const std::vector<FailureHistory>& histories,
                                          WallTime since) {
  std::vector<std::string> notes;
  for (const FailureHistory& history : histories) {
    if (const std::optional<WallTime> kept_since = KeptSince(history, since)) {
      notes.push_back(fmt::format(
          "{}: only the last {} failures are kept, since {}", history.of_namespace,
          kMostFailureRecords, ToTimeText(std::chrono::floor<std::chrono::seconds>(*kept_since))));
    }
  }
  return notes;
}

Tree ToTree(const FailureSum& sum) {
  return Tree::Members{{"namespace", sum.of_namespace},
                       {"category", sum.category},
                       {"queue", sum.queue},
                       {"user", sum.user},
                       {"failures", sum.failures},
                       {"gpuHours", sum.gpu_seconds / kSecondsPerHour},
                       {"last", ToTimeText(sum.last)},
                       {"keptSince", sum.kept_since ? Tree(ToTimeText(*sum.kept_since)) : Tree()}};
}

Shown ShowFailures(const std::vector<FailureSum>& sums, bool all_namespaces, WallTime now) {
  Shown shown{.columns = {"CATEGORY", "QUEUE", "USER", "FAILURES", "GPU HOURS", "LAST"},
              .nothing = "no failures"};
  for (const FailureSum& sum : sums) {
    shown.objects.push_back(
        {.cells = {sum.category, OrNone(sum.queue), OrNone(sum.user), fmt::to_string(sum.failures),
                   fmt::format("{:.2f}", sum.gpu_seconds / kSecondsPerHour),
                   AgoText(sum.last, now)},
         .tree = ToTree(sum)});
    if (all_namespaces) AddNamespace(shown, sum.of_namespace);
  }
  return shown;
}

std::vector<FailedAttempt> AttemptsOf(const std::vector<FailureHistory>& histories,
                                      const std::string& name) {
  // An owner with the same name that was created later has another UID.
  std::map<std::pair<WallTime, std::string>, FailedAttempt> attempts;
  for (const FailureHistory& history : histories) {
    for (const FailureRecord& record : history.records) {
      const bool is_it = record.owner.kind.empty() ? record.pod == name : record.owner.name == name;
      if (is_it) attempts[{record.attempt, record.owner.uid}].pods.push_back(record);
    }
  }
  std::vector<FailedAttempt> sorted;
  for (auto& [key, attempt] : attempts) {
    std::stable_sort(attempt.pods.begin(), attempt.pods.end(), [](const auto& a, const auto& b) {
      return std::tuple(!a.leads, a.at) < std::tuple(!b.leads, b.at);
    });
    sorted.push_back(std::move(attempt));
  }
  return sorted;
}

Tree ToTree(const FailedAttempt& attempt) {
  Tree::List others;
  for (size_t i = 1; i < attempt.pods.size(); ++i) others.push_back(RecordTree(attempt.pods[i]));
  return Tree::Members{{"first", RecordTree(attempt.pods.front())}, {"others", std::move(others)}};
}

std::string AttemptsText(const std::vector<FailedAttempt>& attempts, WallTime now) {
  if (attempts.empty()) return {};
  std::string text = "Failed attempts:\n";
  for (const FailedAttempt& attempt : attempts) {
    const FailureRecord& first = attempt.pods.front();
    const std::string act = first.act.empty() ? "" : ", which " + first.act;
    text += fmt::format("  {}: {} (cause {}{}, {}, advice {}), {}\n", AgoText(first.at, now),
                        first.category, first.cause, act, first.behaviour, first.advice,
                        PodText(first));
    if (!first.evidence.empty()) text += fmt::format("    {}\n", first.evidence);
    text += CostText(attempt);
    for (size_t i = 1; i < attempt.pods.size() && i <= kMostOthers; ++i) {
      text += fmt::format("    then {}: {}\n", PodText(attempt.pods[i]), attempt.pods[i].category);
    }
    if (attempt.pods.size() > kMostOthers + 1)
      text += fmt::format("    and {} more\n", attempt.pods.size() - kMostOthers - 1);
    if (first.suspended != WallTime{}) {
      text += fmt::format("    for this the job was suspended {}: its retries are futile\n",
                          AgoText(first.suspended, now));
    }
    if (first.larger > Bytes(0) && first.chosen_memory) {
      text += fmt::format("    for this the next attempt gets {} of memory instead of {}\n",
                          ToQuantityText(first.larger), ToQuantityText(*first.chosen_memory));
    }
  }
  return text;
}

}  // namespace synergy::cli
