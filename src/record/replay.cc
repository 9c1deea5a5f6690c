#include "record/replay.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "record/replayed_queues.h"
#include "record/replayed_run.h"
#include "wire/journal/decisions.h"
#include "wire/journal/journal.h"
#include "wire/journal/queue_steps.h"

namespace synergy::record {
namespace {

struct Line {
  size_t number = 0;
  std::string_view text;
};

struct RecordedDecision {
  Line line;
  uint64_t version = 0;  // version of the cluster on which it was made
  Decision decision;
};

// The lines of one run; decisions are ordered by the versions on which they were made.
struct Run {
  std::vector<Line> changes;
  std::vector<RecordedDecision> decisions;
  std::vector<Line> queues;  // steps of the queue planner, which do not read the cluster state
};

Error At(const Line& line, const Error& error) {
  return {ErrorCode::kInvalid, fmt::format("line {}: {}", line.number, error.message)};
}

// Returns the version that a decision names; nullopt for inputs of the tuner, which name none.
std::optional<uint64_t> VersionOf(const Decision& decision) {
  return std::visit(
      [](const auto& made) -> std::optional<uint64_t> {
        if constexpr (requires { made.version; }) return made.version;
        return std::nullopt;
      },
      decision);
}

bool IsCompared(const Decision& decision) { return VersionOf(decision).has_value(); }

// Sorts decisions by version. A decision is written after it is made, so newer changes may precede
// it, and decisions of two threads may be in any order. The tuner's decisions stay in their own
// order.
Result<Run> Sort(const std::vector<Line>& lines) {
  Run run;
  uint64_t tuner_version = 0;
  for (const Line& line : lines) {
    if (line.text.starts_with(R"({"call":)")) {
      run.changes.push_back(line);
      continue;
    }
    if (line.text.starts_with(R"({"queues":)")) {
      run.queues.push_back(line);
      continue;
    }
    Result<Decision> decision = wire::ReadDecisionLine(line.text);
    if (!decision) return Fail(At(line, decision.error()));
    if (std::holds_alternative<decision::TunerDecided>(*decision)) {
      tuner_version = *VersionOf(*decision);
    }
    const uint64_t version = VersionOf(*decision).value_or(tuner_version);
    run.decisions.push_back({line, version, *std::move(decision)});
  }
  std::stable_sort(
      run.decisions.begin(), run.decisions.end(),
      [](const RecordedDecision& a, const RecordedDecision& b) { return a.version < b.version; });
  return run;
}

class Replayer {
 public:
  explicit Replayer(ReplayReport& report) : report_(report) {}

  Result<> Go(const Run& run) {
    auto recorded = run.decisions.begin();
    for (const Line& line : run.changes) {
      const Result<ClusterChange> change = wire::ReadJournalLine(line.text);
      if (!change) return Fail(At(line, change.error()));
      while (recorded != run.decisions.end() && std::tie(recorded->version, recorded->line.number) <
                                                    std::tie(change->version, line.number)) {
        Compare(*recorded++);
      }
      Change(line, *change);
    }
    while (recorded != run.decisions.end()) Compare(*recorded++);
    for (const Line& line : run.queues) {
      const Result<QueueStep> step = wire::ReadQueueLine(line.text);
      if (!step) return Fail(At(line, step.error()));
      const QueueStep again = queues_.Again(*step);
      if (std::holds_alternative<queue_step::Planned>(*step))
        Count("QueuesPlanned", line, wire::WriteQueueLine(again));
    }
    return {};
  }

 private:
  void Change(const Line& line, const ClusterChange& change) {
    const Result<> applied = run_.Change(change);
    Count("Change", line, applied ? std::string(line.text) : applied.error().message);
  }

  void Compare(const RecordedDecision& recorded) {
    const Decision again = run_.Decide(recorded.decision);
    if (!IsCompared(recorded.decision)) return;
    Count(std::string(wire::NameOf(recorded.decision)), recorded.line,
          wire::WriteDecisionLine(again));
  }

  void Count(const std::string& kind, const Line& line, std::string replayed) {
    ReplayReport::Count& count = report_.counts[kind];
    if (replayed == line.text) {
      ++count.same;
      return;
    }
    ++count.different;
    if (report_.differences.size() < ReplayReport::kMostShown) {
      report_.differences.push_back({line.number, std::string(line.text), std::move(replayed)});
    }
  }

  ReplayReport& report_;
  ReplayedRun run_;
  ReplayedQueues queues_;
};

Result<> ReplayRun(std::vector<Line>& lines, ReplayReport& report) {
  // Drop a line that a killed program did not finish.
  if (!lines.empty() && !wire::ReadDecisionLine(lines.back().text) &&
      !wire::ReadJournalLine(lines.back().text) && !wire::ReadQueueLine(lines.back().text)) {
    lines.pop_back();
  }
  const Result<Run> run = Sort(lines);
  lines.clear();
  if (!run) return Fail(run.error());
  ++report.runs;
  return Replayer(report).Go(*run);
}

}  // namespace

Result<ReplayReport> Replay(std::string_view text) {
  ReplayReport report;
  std::vector<Line> lines;
  bool begun = false;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const Line line{number, text.substr(0, end)};
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.text.starts_with(R"({"recording":)")) {
      if (begun) {
        if (const Result<> replayed = ReplayRun(lines, report); !replayed) {
          return Fail(replayed.error());
        }
      }
      begun = true;
    } else if (!begun) {
      return Fail(ErrorCode::kInvalid, "line 1: not the beginning of a recording");
    } else if (!line.text.empty()) {
      lines.push_back(line);
    }
  }
  if (!begun) return Fail(ErrorCode::kInvalid, "the file contains no recording");
  if (const Result<> replayed = ReplayRun(lines, report); !replayed) return Fail(replayed.error());
  return report;
}

}  // namespace synergy::record
