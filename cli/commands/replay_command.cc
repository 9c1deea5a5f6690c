#include "cli/commands/replay_command.h"

#include <cstdio>

#include <fmt/format.h>

#include "cli/text/terminal.h"
#include "config/text_file.h"
#include "json/writer.h"

namespace synergy::cli {

std::string ToText(const std::string& file, const record::ReplayReport& report) {
  std::string text = fmt::format("{}: {} runs\n{:<14} {:>10} {:>10}\n", file, report.runs, "KIND",
                                 "SAME", "DIFFERENT");
  for (const auto& [kind, count] : report.counts) {
    text += fmt::format("{:<14} {:>10} {:>10}\n", kind, count.same, count.different);
  }
  for (const record::Difference& difference : report.differences) {
    text += fmt::format("\nline {}\n  recorded: {}\n  replayed: {}\n", difference.line,
                        difference.recorded, difference.replayed);
  }
  return text;
}

std::string ToJson(const std::string& file, const record::ReplayReport& report) {
  json::Writer out;
  out.BeginObject();
  out.Key("file");
  out.Text(file);
  out.Key("runs");
  out.Integer(static_cast<int64_t>(report.runs));
  out.Key("counts");
  out.BeginObject();
  for (const auto& [kind, count] : report.counts) {
    out.Key(kind);
    out.BeginObject();
    out.Key("same");
    out.Integer(static_cast<int64_t>(count.same));
    out.Key("different");
    out.Integer(static_cast<int64_t>(count.different));
    out.EndObject();
  }
  out.EndObject();
  out.Key("differences");
  out.BeginArray();
  for (const record::Difference& difference : report.differences) {
    out.BeginObject();
    out.Key("line");
    out.Integer(static_cast<int64_t>(difference.line));
    out.Key("recorded");
    out.Text(difference.recorded);
    out.Key("replayed");
    out.Text(difference.replayed);
    out.EndObject();
  }
  out.EndArray();
  out.EndObject();
  return out.Take() + "\n";
}

CLI::App* AddReplay(CLI::App& app, ReplayArguments& arguments) {
  CLI::App* replay =
      app.add_subcommand("replay",
                         "Replay recordings (recordFile of synergy-extender and "
                         "synergy-controller) and check that every decision is the same");
  replay->add_option("FILE", arguments.files, "recordings")->required();
  replay->add_option("-o,--output", arguments.output, "text or json, an object per file and line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  return replay;
}

Result<> RunReplay(const ReplayArguments& arguments) {
  uint64_t different = 0;
  for (const std::string& file : arguments.files) {
    const Result<std::string> text = config::ReadTextFile(file);
    if (!text) return Fail(text.error());
    const Result<record::ReplayReport> report = record::Replay(*text);
    if (!report) {
      return Fail(ErrorCode::kInvalid, fmt::format("{}: {}", file, report.error().message));
    }
    fmt::print("{}", Printable(arguments.output == "json" ? ToJson(file, *report)
                                                          : ToText(file, *report)));
    for (const auto& [kind, count] : report->counts) different += count.different;
  }
  if (different == 0) return {};
  return Fail(ErrorCode::kConflict,
              fmt::format("{}: replayed decisions differ from the recorded ones", different));
}

}  // namespace synergy::cli
