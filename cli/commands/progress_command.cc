#include "cli/commands/progress_command.h"

#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/commands/log_file.h"
#include "progress/log_progress.h"

namespace synergy::cli {
namespace {

template <class Value>
std::string Text(const std::optional<Value>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

std::string RateText(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.4g} iterations/s", *rate) : "-";
}

std::string TextOf(const TrainingProgress& progress) {
  if (progress.format.empty()) {
    return "no progress recognised: set --pattern to a regular expression for this log's lines\n";
  }
  const std::string of = progress.total ? fmt::format(" of {}", *progress.total) : "";
  return fmt::format(
      "format        {}\n"
      "iteration     {}{}\n"
      "epoch         {}\n"
      "loss          {}\n"
      "rate          {} (the last minute of training)\n"
      "overall rate  {} (by the clock)\n",
      progress.format, Text(progress.iteration), of, Text(progress.epoch), Text(progress.loss),
      RateText(progress.rate), RateText(progress.overall_rate));
}

}  // namespace

Shown ShowProgress(const TrainingProgress& progress) {
  Tree fields = Tree::Members{{"format", progress.format.empty() ? Tree() : Tree(progress.format)},
                              {"iteration", progress.iteration},
                              {"total", progress.total},
                              {"epoch", progress.epoch},
                              {"rate", progress.rate},
                              {"overallRate", progress.overall_rate},
                              {"loss", progress.loss}};
  return ShowOne({}, TextOf(progress), std::move(fields));
}

Result<TrainingProgress> ReadProgress(const ProgressArguments& arguments) {
  std::optional<OwnPattern> own;
  if (!arguments.pattern.empty()) {
    Result<OwnPattern> parsed = OwnPattern::Parse(arguments.pattern);
    if (!parsed) return Fail(parsed.error());
    own = *std::move(parsed);
  }
  LogProgress log(ContainerLog::Form::kUnknown, std::move(own));
  const Result<> read =
      ReadLogFile(arguments.file, [&](std::string_view piece) { log.Feed(piece); });
  if (!read) return Fail(read.error());
  log.End();
  return log.Current();
}

CLI::App* AddProgress(CLI::App& app, ProgressArguments& arguments) {
  CLI::App* progress = app.add_subcommand(
      "progress", "Show the progress and the speed of a training run, from its log");
  progress
      ->add_option("FILE", arguments.file,
                   "a container's log, in the format of the kubelet or of kubectl logs, or plain, "
                   "optionally compressed by gzip; - reads standard input")
      ->required();
  progress->add_option(
      "--pattern", arguments.pattern,
      "a regular expression (RE2) for this log's lines, with the named groups iteration and, if "
      "present, total, epoch, rate and loss; replaces the shipped patterns");
  AddOutput(*progress, arguments.output, ShownAs::kText);
  return progress;
}

Result<> RunProgress(const ProgressArguments& arguments) {
  const Result<TrainingProgress> progress = ReadProgress(arguments);
  if (!progress) return Fail(progress.error());
  return Show(arguments.output, [&] { return ShowProgress(*progress); });
}

}  // namespace synergy::cli
