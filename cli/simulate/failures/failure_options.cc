#include "cli/simulate/failures/failure_options.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "cli/simulate/failure_tables.h"
#include "cli/simulate/settings.h"
#include "config/text_file.h"

namespace synergy::cli {
namespace {

constexpr std::string_view kTables = "write philly, acme or the name of a CSV file";

Result<std::vector<FailureAssumption>> ReadTable(std::string_view name) {
  if (name == "philly") return ParseFailureAssumptions(kPhillyFailures, "philly");
  if (name == "acme") return ParseFailureAssumptions(kAcmeFailures, "acme");
  const std::string file(name);
  const auto text = config::ReadTextFile(file);
  if (!text) return Fail(text.error().code, fmt::format("{}: {}", text.error().message, kTables));
  return ParseFailureAssumptions(*text, file);
}

}  // namespace

Result<FailureSettings> ReadFailures(std::string_view text) {
  constexpr std::string_view kUsage = "stop-futile,elsewhere,prerun";
  const std::string_view table = text.substr(0, text.find(','));
  if (table.empty())
    return Fail(ErrorCode::kInvalid, fmt::format("{} first, then {}", kTables, kUsage));
  FailureSettings settings;
  const auto read = ReadSettings(text.substr(std::min(table.size() + 1, text.size())), ':', kUsage,
                                 {{"stop-futile", SetFlag(settings.actions.stop_futile), true},
                                  {"elsewhere", SetFlag(settings.actions.elsewhere), true},
                                  {"prerun", SetFlag(settings.prerun), true}});
  if (!read) return Fail(read.error());
  auto assumptions = ReadTable(table);
  if (!assumptions) return Fail(assumptions.error());
  settings.assumptions = *std::move(assumptions);
  return settings;
}

}  // namespace synergy::cli
