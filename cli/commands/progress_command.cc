#include "cli/commands/progress_command.h"

#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/commands/log_file.h"
#include "cli/text/terminal.h"
#include "json/writer.h"
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

void Write(json::Writer& out, const char* key, const std::optional<double>& value) {
  out.Key(key);
  value ? out.Number(*value) : out.Raw("null");
}

void Write(json::Writer& out, const char* key, const std::optional<int64_t>& value) {
  out.Key(key);
  value ? out.Integer(*value) : out.Raw("null");
}

}  // namespace

std::string ToText(const TrainingProgress& progress) {
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

std::string ToJson(const TrainingProgress& progress) {
  json::Writer out;
  out.BeginObject();
  out.Key("format");
  progress.format.empty() ? out.Raw("null") : out.Text(progress.format);
  Write(out, "iteration", progress.iteration);
  Write(out, "total", progress.total);
  Write(out, "epoch", progress.epoch);
  Write(out, "rate", progress.rate);
  Write(out, "overallRate", progress.overall_rate);
  Write(out, "loss", progress.loss);
  out.EndObject();
  return out.Take() + "\n";
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
      "progress", "Show how far a training has come and how fast it is, from its log");
  progress
      ->add_option("FILE", arguments.file,
                   "a container's log, in the format of the kubelet or of kubectl logs, or plain, "
                   "optionally compressed by gzip; - reads standard input")
      ->required();
  progress->add_option(
      "--pattern", arguments.pattern,
      "a regular expression (RE2) for this log's lines, with the named groups iteration and, if "
      "present, total, epoch, rate and loss; replaces the shipped patterns");
  progress->add_option("-o,--output", arguments.output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  return progress;
}

Result<> RunProgress(const ProgressArguments& arguments) {
  const Result<TrainingProgress> progress = ReadProgress(arguments);
  if (!progress) return Fail(progress.error());
  fmt::print("{}", Printable(arguments.output == "json" ? ToJson(*progress) : ToText(*progress)));
  return {};
}

}  // namespace synergy::cli
