#include "cli/commands/failure_command.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands/log_file.h"
#include "cli/text/amounts.h"
#include "failure/log_findings.h"
#include "failure/log_tail.h"

namespace synergy::cli {
namespace {

// An earlier event cannot have caused the failure.
constexpr int64_t kLongestAgo = int64_t{365} * 24 * 3600;  // s
constexpr int kSignalBase = 128;

// A word, optionally with the number of seconds before the job's end: "79@30", "79".
struct Dated {
  std::string_view word;
  Duration before_end{};
};

Result<Dated> ReadDated(const char* option, const std::string& text) {
  const size_t at = text.find('@');
  Dated dated{.word = std::string_view(text).substr(0, at)};
  if (at == std::string::npos) return dated;
  const std::optional<int64_t> ago = ParseWholeNumber(std::string_view(text).substr(at + 1));
  if (!ago || *ago > kLongestAgo) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} {}: after @ write how many seconds before the end it was, such as "
                            "{}@30",
                            option, text, dated.word));
  }
  dated.before_end = std::chrono::seconds(*ago);
  return dated;
}

Result<SeenXid> ReadXid(const std::string& text) {
  const Result<Dated> dated = ReadDated("--xid", text);
  if (!dated) return Fail(dated.error());
  const std::optional<int64_t> xid = ParseWholeNumber(dated->word);
  if (!xid || *xid > 100000) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("--xid {}: write an Xid's number, such as 79 or 79@30", text));
  }
  return SeenXid{static_cast<int>(*xid), dated->before_end};
}

Result<OwnAct> ReadAct(const std::string& text) {
  const Result<Dated> dated = ReadDated("--synergy", text);
  if (!dated) return Fail(dated.error());
  for (const ActName& known : ActNames()) {
    if (known.name == dated->word) return OwnAct{known.act, dated->before_end};
  }
  std::vector<std::string_view> names;
  for (const ActName& known : ActNames()) names.push_back(known.name);
  return Fail(ErrorCode::kInvalid, fmt::format("--synergy {}: use one of {}, such as freeze@30",
                                               text, fmt::join(names, ", ")));
}

Result<FailureFacts> ReadFacts(const FailureArguments& arguments) {
  FailureFacts facts{.exit_code = arguments.exit_code,
                     .reason = arguments.reason,
                     .message = arguments.message,
                     .conditions = arguments.conditions,
                     .iterations = arguments.iterations,
                     .shared_gpu = arguments.shared_gpu};
  // A negative code is a signal's number, as Python and torchrun write it.
  if (facts.exit_code && *facts.exit_code < 0) facts.exit_code = kSignalBase - *facts.exit_code;
  for (const std::string& condition : arguments.conditions) {
    if (condition.find('/') != std::string::npos) continue;
    return Fail(ErrorCode::kInvalid, fmt::format("--condition {}: write TYPE/REASON, such as "
                                                 "DisruptionTarget/EvictionByEvictionAPI",
                                                 condition));
  }
  for (const std::string& text : arguments.xids) {
    const Result<SeenXid> xid = ReadXid(text);
    if (!xid) return Fail(xid.error());
    facts.xids.push_back(*xid);
  }
  for (const std::string& text : arguments.acts) {
    const Result<OwnAct> act = ReadAct(text);
    if (!act) return Fail(act.error());
    facts.acts.push_back(*act);
  }
  return facts;
}

std::string TextOf(const std::optional<JobFailure>& failure) {
  if (!failure) return "no failure\n";
  const auto or_none = [](const std::string& text) { return text.empty() ? "-" : text; };
  return fmt::format(
      "category   {} ({})\n"
      "cause      {}\n"
      "behaviour  {}\n"
      "advice     {}\n"
      "rule       {}\n"
      "evidence   {}\n",
      ToString(failure->category), EntryOf(failure->category).meaning,
      ToString(failure->outcome.cause), ToString(failure->outcome.behaviour),
      ToString(failure->outcome.advice), or_none(failure->rule), or_none(failure->evidence));
}

}  // namespace

Shown ShowFailure(const std::optional<JobFailure>& failure) {
  const auto tree = [&](std::string_view value) {
    return failure && !value.empty() ? Tree(value) : Tree();
  };
  const JobFailure none;
  const JobFailure& shown = failure ? *failure : none;
  Tree fields = Tree::Members{{"category", tree(ToString(shown.category))},
                              {"cause", tree(ToString(shown.outcome.cause))},
                              {"behaviour", tree(ToString(shown.outcome.behaviour))},
                              {"advice", tree(ToString(shown.outcome.advice))},
                              {"rule", tree(shown.rule)},
                              {"evidence", tree(shown.evidence)}};
  return ShowOne({}, TextOf(failure), std::move(fields));
}

Result<std::optional<JobFailure>> ReadFailure(const FailureArguments& arguments) {
  Result<FailureFacts> facts = ReadFacts(arguments);
  if (!facts) return Fail(facts.error());
  for (const std::string& file : arguments.files) {
    LogTail log;
    const Result<> read = ReadLogFile(file, [&](std::string_view piece) { log.Feed(piece); });
    if (!read) return Fail(read.error());
    log.End();
    facts->logs.push_back(ReadLog(log));
  }
  return Classify(*facts);
}

CLI::Option* AddFailureOptions(CLI::App& command, FailureArguments& arguments) {
  CLI::Option* const files = command.add_option(
      "FILE", arguments.files,
      "a container's log, in the format of the kubelet or of kubectl logs, or plain, optionally "
      "compressed by gzip; - reads standard input. Pass one file for each process of the job");
  const auto add = [&](const char* name, auto& value, const std::string& description) {
    return command.add_option(name, value, description)->needs(files)->group("With FILE");
  };
  add("--exit-code", arguments.exit_code, "the container's exit code, or -N for signal N")
      ->check(CLI::Range(-64, 255));
  add("--reason", arguments.reason,
      "the container's or pod's reason, such as OOMKilled or Evicted");
  add("--message", arguments.message, "the message that goes with the reason");
  add("--condition", arguments.conditions,
      "TYPE/REASON of a condition of the pod or job; may be repeated")
      ->allow_extra_args(false);
  add("--xid", arguments.xids,
      "N[@SECONDS]: an Xid of one of the job's GPUs, and how long before the end; may be repeated")
      ->allow_extra_args(false);
  add("--iterations", arguments.iterations,
      "iterations that the training completed (default: those in its log)")
      ->check(CLI::NonNegativeNumber);
  command.add_flag("--shared-gpu", arguments.shared_gpu, "the GPU was shared with another pod")
      ->needs(files)
      ->group("With FILE");
  std::vector<std::string_view> names;
  for (const ActName& known : ActNames()) names.push_back(known.name);
  add("--synergy", arguments.acts,
      fmt::format("ACT[@SECONDS]: what Synergy did, and how long before the end: {}; may be "
                  "repeated",
                  fmt::join(names, ", ")))
      ->allow_extra_args(false);
  return files;
}

Result<> RunFailure(const FailureArguments& arguments, const OutputArguments& output) {
  if (const Result<> possible = CheckFormat(output, ShownAs::kText); !possible) return possible;
  const Result<std::optional<JobFailure>> failure = ReadFailure(arguments);
  if (!failure) return Fail(failure.error());
  return Show(output, [&] { return ShowFailure(*failure); });
}

}  // namespace synergy::cli
