#include "failure/classify.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "failure/evidence.h"
#include "failure/log_tail.h"
#include "failure/rules.h"

namespace synergy {
namespace {

using std::chrono::minutes;

// A lost GPU shows only as the timeout of a collective operation, up to half an hour later.
constexpr Duration kLongestXidWindow = minutes(35);
constexpr Duration kBeforeIteration = minutes(2);

constexpr int kSignals = 128;

struct Verdict {
  Category category = Category::kUnknown;
  std::optional<Outcome> outcome;
  std::string rule;
  std::string evidence;
};

bool FullMatches(std::string_view text, std::string_view expression) {
  return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()),
                             re2::RE2(re2::StringPiece(expression.data(), expression.size())));
}

bool Contains(std::string_view text, std::string_view expression) {
  return re2::RE2::PartialMatch(
      re2::StringPiece(text.data(), text.size()),
      re2::RE2(re2::StringPiece(expression.data(), expression.size()), re2::RE2::Latin1));
}

bool IsHardware(Category category) {
  return category == Category::kGpuMemoryFault || category == Category::kGpuLost ||
         category == Category::kNvlink;
}

// Returns whether the failure happens before the program's first CUDA call.
bool PrecedesCuda(Category category) {
  return category == Category::kImport || category == Category::kSyntax ||
         category == Category::kArguments || category == Category::kCommand;
}

std::optional<Verdict> ByXid(const FailureFacts& facts, bool hardware) {
  Duration window = kLongestXidWindow;
  std::optional<Duration> since_iteration;
  for (const LogReading& log : facts.logs) {
    if (log.since_iteration)
      since_iteration = std::max(since_iteration.value_or(Duration::zero()), *log.since_iteration);
  }
  // An agent may report a value outside this range.
  if (since_iteration)
    since_iteration = std::clamp(*since_iteration, Duration::zero(), kLongestXidWindow);
  // The last lines of a collective operation's timeout often have no time.
  const bool hung = std::any_of(facts.logs.begin(), facts.logs.end(), [](const LogReading& log) {
    return log.finding && log.finding->rule->category == Category::kCollectiveTimeout;
  });
  if (since_iteration && !hung) window = std::min(window, *since_iteration + kBeforeIteration);
  for (const CodeRule& rule : XidRules()) {
    if (IsHardware(rule.category) != hardware) continue;
    for (const SeenXid& seen : facts.xids) {
      if (seen.xid != rule.code || seen.before_end > window) continue;
      return Verdict{rule.category, rule.outcome, std::string(rule.name),
                     fmt::format("Xid {}", seen.xid)};
    }
  }
  return std::nullopt;
}

std::optional<Verdict> ByPlatform(const FailureFacts& facts) {
  for (const PlatformRule& rule : ReasonRules()) {
    if (facts.reason.empty() || !FullMatches(facts.reason, rule.reason) ||
        !Contains(facts.message, rule.message)) {
      continue;
    }
    const std::string text =
        facts.message.empty() ? facts.reason : facts.reason + ": " + facts.message;
    return Verdict{rule.category, rule.outcome, std::string(rule.name), Evidence(text)};
  }
  for (const PlatformRule& rule : ConditionRules()) {
    for (const std::string& condition : facts.conditions) {
      if (!FullMatches(condition, rule.reason) || !Contains(facts.message, rule.message)) continue;
      return Verdict{
          rule.category, rule.outcome, std::string(rule.name),
          Evidence(facts.message.empty() ? condition : condition + ": " + facts.message)};
    }
  }
  return std::nullopt;
}

struct LogsVerdict {
  std::optional<Verdict> verdict;
  bool finished = false;
};

// Returns whether `one` came first; without times, whether its rule is earlier in the table.
bool Precedes(const LogFinding& one, const LogFinding& other) {
  return one.time && other.time ? *one.time < *other.time : one.rule < other.rule;
}

// Returns whether a process ended for a reason that no rule recognises.
bool HasUnexplained(const std::vector<LogReading>& logs) {
  return std::any_of(logs.begin(), logs.end(),
                     [](const LogReading& log) { return log.unexplained && !log.finding; });
}

// Returns the finding that is the strongest evidence of the cause; null if there is none.
const LogFinding* BestOf(const std::vector<LogReading>& logs) {
  const auto strength = [](const LogFinding& one) { return StrengthOf(one.rule->category); };
  const LogFinding* best = nullptr;
  for (const LogReading& log : logs) {
    if (!log.finding) continue;
    if (best == nullptr || strength(*log.finding) > strength(*best) ||
        (strength(*log.finding) == strength(*best) && Precedes(*log.finding, *best))) {
      best = &*log.finding;
    }
  }
  // Drop a finding that may be the consequence of an end that no rule explains.
  const bool met = best != nullptr && strength(*best) <= Strength::kCascade;
  return met && HasUnexplained(logs) ? nullptr : best;
}

LogsVerdict ByLogs(const FailureFacts& facts) {
  std::vector<LogReading> of_message;
  const LogFinding* best = BestOf(facts.logs);
  if (best == nullptr && !facts.message.empty()) {
    // The kubelet may copy the end of the log into the message.
    LogTail message(ContainerLog::Form::kPlain);
    message.Feed(facts.message);
    message.End();
    of_message.push_back(ReadLog(message));
    best = BestOf(of_message);
  }
  const auto has_finished = [](const LogReading& log) { return log.finished; };
  const bool finished = !facts.logs.empty() &&
                        std::all_of(facts.logs.begin(), facts.logs.end(), has_finished) &&
                        std::all_of(of_message.begin(), of_message.end(), has_finished);
  if (best == nullptr) return {std::nullopt, finished};
  return {Verdict{best->rule->category, best->rule->outcome, std::string(best->rule->name),
                  best->evidence},
          finished};
}

std::optional<Verdict> ByExitCode(int code) {
  for (const CodeRule& rule : ExitRules()) {
    if (rule.code != code) continue;
    return Verdict{rule.category, rule.outcome, std::string(rule.name),
                   fmt::format("exit code {}", code)};
  }
  return std::nullopt;
}

// Returns whether the path in the line belongs to another machine.
bool IsRemotePath(std::string_view line) {
  static const re2::RE2 remote(
      R"((?i)\b(?:s3a?|s3n|gs|gcs|hdfs|viewfs|abfss?|wasbs?|adl|oss|cos|obs|tos|swift|dfs|https?|ftp|dbfs|az)://|(?:^|["' =:(])/(?:mnt|nfs|efs|fsx|lustre|gpfs|beegfs|ceph\w*|gcs\w*|s3\w*|net|weka\w*|juicefs|jfs|hdfs|gluster\w*|azure\w*|blobfuse|afs|panfs|vast|netapp|cifs|smb)\b|NoSuch(?:Key|Bucket)|when calling the (?:Head|Get|List)\w+ operation|(?:^|[ :"'])b/[\w.-]+/o/)",
      re2::RE2::Latin1);
  return re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), remote);
}

int64_t IterationsOf(const FailureFacts& facts) {
  int64_t most = 0;
  for (const LogReading& log : facts.logs) most = std::max(most, log.iterations);
  return facts.iterations.value_or(most);
}

JobFailure Judge(const Verdict& verdict, const FailureFacts& facts) {
  JobFailure failure{verdict.category, verdict.outcome.value_or(EntryOf(verdict.category).outcome),
                     verdict.rule, verdict.evidence};
  Outcome& outcome = failure.outcome;
  const Category category = verdict.category;
  if ((category == Category::kProgramming || category == Category::kConfiguration) &&
      IterationsOf(facts) > 0) {
    outcome.behaviour = Behaviour::kUnknown;
    outcome.advice = Advice::kRetry;
  }
  if (category == Category::kInputMissing && !verdict.outcome && IsRemotePath(verdict.evidence)) {
    outcome.behaviour = Behaviour::kUnknown;
    outcome.advice = Advice::kRetry;
  }
  const bool shared =
      facts.shared_gpu && (category == Category::kGpuOom || category == Category::kIllegalAccess);
  failure.act =
      ActBehind({.category = category,
                 .evidence = verdict.evidence,
                 .for_memory = verdict.evidence.find("memory") != std::string::npos,
                 .device_lost = !facts.xids.empty(),
                 .by_signal = facts.exit_code == kSignals + 9 || facts.exit_code == kSignals + 15},
                facts.acts);
  if (!shared && !failure.act) return failure;
  outcome.cause = Cause::kSynergy;
  outcome.behaviour = Behaviour::kTransient;
  const bool beside = category == Category::kGpuOom || category == Category::kCudaLibrary ||
                      category == Category::kDeviceAssert || category == Category::kIllegalAccess;
  if (beside) outcome.advice = Advice::kRetryElsewhere;
  if (category == Category::kCudaInit) outcome.advice = Advice::kRetry;
  return failure;
}

}  // namespace

std::optional<JobFailure> Classify(const FailureFacts& facts) {
  const int code = facts.exit_code.value_or(-1);
  if (code == 0 || facts.reason == "Completed") return std::nullopt;
  LogsVerdict logs = ByLogs(facts);
  // Without an exit code, a reported end of the program takes precedence over earlier lines.
  if (!facts.exit_code && logs.finished) logs.verdict.reset();
  std::optional<Verdict> verdict = ByXid(facts, true);
  if (verdict && logs.verdict && PrecedesCuda(logs.verdict->category)) verdict.reset();
  if (!verdict) verdict = ByPlatform(facts);
  // A job that hangs also reaches its deadline.
  if (verdict && verdict->category == Category::kDeadline && logs.verdict &&
      logs.verdict->category == Category::kCollectiveTimeout) {
    verdict = logs.verdict;
  }
  if (!verdict) verdict = logs.verdict;
  if (!verdict || StrengthOf(verdict->category) == Strength::kSignal) {
    if (std::optional<Verdict> by_xid = ByXid(facts, false)) verdict = std::move(by_xid);
  }
  if (!verdict) verdict = ByExitCode(code);
  if (!verdict && !facts.exit_code && logs.finished) return std::nullopt;
  if (!verdict) return JobFailure{};
  return Judge(*verdict, facts);
}

}  // namespace synergy
