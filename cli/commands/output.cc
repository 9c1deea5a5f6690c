#include "cli/commands/output.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "cli/text/terminal.h"

namespace synergy::cli {
namespace {

struct FormatName {
  const char* name;
  Format format;
};

constexpr FormatName kFormats[] = {{"table", Format::kTable},
                                   {"wide", Format::kWide},
                                   {"json", Format::kJson},
                                   {"yaml", Format::kYaml},
                                   {"name", Format::kName}};

std::vector<std::string> FormatsOf(ShownAs as) {
  const bool wide = as == ShownAs::kList || as == ShownAs::kUnnamedList;
  const bool named = as == ShownAs::kList || as == ShownAs::kObject;
  std::vector<std::string> names;
  for (const FormatName& each : kFormats) {
    if ((each.format == Format::kWide && !wide) || (each.format == Format::kName && !named))
      continue;
    names.emplace_back(each.name);
  }
  return names;
}

Format FormatOf(const OutputArguments& output) {
  for (const FormatName& each : kFormats)
    if (output.format == each.name) return each.format;
  return Format::kTable;
}

bool MayPass(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kOverloaded ||
         error.code == ErrorCode::kTimeout || error.code == ErrorCode::kGone;
}

}  // namespace

std::string FormatsText(ShownAs as) {
  const std::vector<std::string> names = FormatsOf(as);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

void AddOutput(CLI::App& command, OutputArguments& output, ShownAs as) {
  command.add_option("-o,--output", output.format, FormatsText(as))
      ->check(CLI::IsMember(FormatsOf(as)))
      ->capture_default_str();
}

void AddNoHeaders(CLI::App& command, OutputArguments& output) {
  command.add_flag("--no-headers", output.no_headings, "leave out the headings of tables");
}

void AddWatch(CLI::App& command, OutputArguments& output) {
  command.add_flag("-w,--watch", output.watch,
                   "then print what changes, every two seconds at most, until interrupted");
}

Result<> CheckFormat(const OutputArguments& output, ShownAs as) {
  const std::vector<std::string> names = FormatsOf(as);
  if (std::find(names.begin(), names.end(), output.format) != names.end()) return {};
  return Fail(ErrorCode::kInvalid, fmt::format("--output {}: not possible here: use {}",
                                               output.format, FormatsText(as)));
}

Result<> Show(const OutputArguments& output, const ReadShown& read) {
  const Sinks sinks{.out =
                        [](std::string_view text) {
                          return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
                                 std::fflush(stdout) == 0;
                        },
                    .note = [](std::string_view text) { fmt::print(stderr, "{}\n", text); }};
  return ShowUntil(output, read, sinks, SystemClock(), {});
}

Result<> ShowUntil(const OutputArguments& output, const ReadShown& read, const Sinks& sinks,
                   const Clock& clock, const std::stop_token& stop) {
  Presenter presenter(FormatOf(output), !output.no_headings, output.watch);
  std::vector<std::string> noted;
  const auto note = [&](std::vector<std::string> notes) {
    for (const std::string& each : notes) {
      if (!each.empty() && std::find(noted.begin(), noted.end(), each) == noted.end())
        sinks.note("Note: " + Printable(each));
    }
    noted = std::move(notes);
  };
  Duration wait = kShortestWatch;
  for (bool first = true;; first = false) {
    Result<Shown> shown = read();
    if (shown) {
      note(shown->notes);
      if (first && shown->objects.empty() && !shown->nothing.empty() && !output.IsTree())
        sinks.note(shown->nothing);
      if (!sinks.out(Printable(presenter.Present(*shown)))) return {};
    } else if (first || !MayPass(shown.error())) {
      return Fail(shown.error());
    } else {
      note({shown.error().message});
    }
    wait = shown ? Duration(kShortestWatch) : std::min<Duration>(2 * wait, kLongestWatch);
    if (!output.watch || !clock.SleepFor(wait, stop)) return {};
  }
}

}  // namespace synergy::cli
