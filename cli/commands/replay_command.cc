#include "cli/commands/replay_command.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "config/text_file.h"

namespace synergy::cli {

namespace {

std::string TextOf(const std::string& file, const record::ReplayReport& report) {
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

}  // namespace

ShownObject ShowReplay(const std::string& file, const record::ReplayReport& report) {
  Tree::Members counts;
  for (const auto& [kind, count] : report.counts) {
    counts.emplace_back(kind, Tree::Members{{"same", static_cast<int64_t>(count.same)},
                                            {"different", static_cast<int64_t>(count.different)}});
  }
  Tree::List differences;
  for (const record::Difference& difference : report.differences) {
    differences.push_back(Tree::Members{{"line", static_cast<int64_t>(difference.line)},
                                        {"recorded", difference.recorded},
                                        {"replayed", difference.replayed}});
  }
  return {.text = TextOf(file, report),
          .tree = Tree::Members{{"file", file},
                                {"runs", static_cast<int64_t>(report.runs)},
                                {"counts", std::move(counts)},
                                {"differences", std::move(differences)}}};
}

CLI::App* AddReplay(CLI::App& app, ReplayArguments& arguments) {
  CLI::App* replay =
      app.add_subcommand("replay",
                         "Replay recordings (recordFile of synergy-extender and "
                         "synergy-controller) and check that every decision is the same");
  replay->add_option("FILE", arguments.files, "recordings")->required();
  AddOutput(*replay, arguments.output, ShownAs::kText);
  return replay;
}

Result<> RunReplay(const ReplayArguments& arguments) {
  uint64_t different = 0;
  Shown shown;
  for (const std::string& file : arguments.files) {
    const Result<std::string> text = config::ReadTextFile(file);
    if (!text) return Fail(text.error());
    const Result<record::ReplayReport> report = record::Replay(*text);
    if (!report) {
      return Fail(ErrorCode::kInvalid, fmt::format("{}: {}", file, report.error().message));
    }
    shown.objects.push_back(ShowReplay(file, *report));
    for (const auto& [kind, count] : report->counts) different += count.different;
  }
  if (auto printed = Show(arguments.output, [&] { return shown; }); !printed) return printed;
  if (different == 0) return {};
  return Fail(ErrorCode::kConflict,
              fmt::format("{}: replayed decisions differ from the recorded ones", different));
}

}  // namespace synergy::cli
