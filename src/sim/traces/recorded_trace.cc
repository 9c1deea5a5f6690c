#include "sim/traces/recorded_trace.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/csv_records.h"
#include "sim/traces/job_table.h"
#include "sim/traces/slurm_trace.h"
#include "sim/traces/trace_fields.h"

namespace synergy {
namespace {

constexpr std::string_view kForms =
    "write CSV with job_id, submit_time, duration_s, gpus; or export with sacct -P; or take the "
    "files of Helios, Acme, Alibaba PAI 2020 or Philly as they are; or save kubectl get "
    "jobs,workloads,pods -A -o json";

using Names = std::vector<std::string>;

bool HasAny(const Names& names, std::initializer_list<std::string_view> wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&names](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

bool IsPaiStatus(std::string_view text) {
  constexpr std::array<std::string_view, 6> kStatuses = {"Terminated", "Failed",  "Running",
                                                         "Waiting",    "Stopped", "Killed"};
  return std::find(kStatuses.begin(), kStatuses.end(), text) != kStatuses.end();
}

// Returns the fields of the first records.
std::vector<Names> FirstRecords(std::string_view text, std::string_view file, char separator) {
  constexpr size_t kEnough = 20;
  CsvRecords records(text, file, {.separator = separator, .quotes = separator != '|'});
  std::vector<Names> found;
  while (found.size() < kEnough) {
    const auto more = records.Next();
    if (!more || !*more) break;
    Names& names = found.emplace_back();
    for (const std::string_view field : records.fields()) names.emplace_back(Trimmed(field));
  }
  return found;
}

// Recognises Alibaba's tables without a header.
std::optional<TraceForm> PaiFormOf(const std::vector<Names>& records) {
  constexpr size_t kJobFields = 6;
  constexpr size_t kTaskFields = 10;
  constexpr size_t kStatus = 3;
  const size_t fields = records.front().size();
  if (fields != kJobFields && fields != kTaskFields) return std::nullopt;
  for (const Names& record : records) {
    if (record.size() == fields && IsPaiStatus(record[kStatus]))
      return fields == kJobFields ? TraceForm::kPaiJobs : TraceForm::kPaiTasks;
  }
  return std::nullopt;
}

std::optional<TraceForm> FormOfHeader(Names names) {
  for (std::string& name : names) name = InLowerCase(name);
  if (HasAny(names, {"plan_gpu"}) && HasAny(names, {"job_name"})) return TraceForm::kPaiTasks;
  if (HasAny(names, {"inst_id"}) && HasAny(names, {"job_name"})) return TraceForm::kPaiJobs;
  const bool has_gpus = HasAny(names, {"gpus", "num_gpus", "num_gpu", "gpu_count"});
  const bool has_duration = HasAny(names, {"duration_s", "duration"});
  const bool has_arrival = HasAny(names, {"arrival_s"});
  if (HasAny(names, {"total_iterations"}) && !(has_gpus && has_duration && !has_arrival))
    return TraceForm::kIterations;
  if (HasAny(names, {"reqtres", "alloctres", "reqgres", "allocgres", "elapsedraw", "jobidraw"}))
    return TraceForm::kSlurm;
  if (HasAny(names, {"gpu_num"})) return TraceForm::kHelios;
  if (has_duration || HasAny(names, {"submit_time", "submit_s"})) return TraceForm::kPlain;
  if (!has_gpus && HasAny(names, {"jobid"}) &&
      HasAny(names, {"state", "submit", "start", "elapsed"}))
    return TraceForm::kSlurm;
  if (has_arrival) return TraceForm::kIterations;
  if (has_gpus) return TraceForm::kPlain;
  return std::nullopt;
}

// Refuses input that is not text.
Result<> CheckText(std::string_view text, std::string_view file) {
  const auto wrong = [file](std::string_view what) {
    return Fail(ErrorCode::kInvalid, fmt::format("{}:1: {}", file, what));
  };
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return wrong("the text is UTF-16: save it as UTF-8");
  if (text.starts_with("\x1F\x8B")) return wrong("the file is compressed: gunzip it first");
  if (text.starts_with("PK\x03\x04"))
    return wrong("the file is an archive: unpack it, or save the sheet as CSV");
  return {};
}

}  // namespace

Result<RecognizedTrace> RecognizeTrace(std::string_view text, std::string_view file) {
  if (auto checked = CheckText(text, file); !checked) return Fail(checked.error());
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  rest = rest.substr(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
  if (rest.empty()) return RecognizedTrace{.form = TraceForm::kIterations};
  if (rest.front() == '[' || rest.front() == '{') return RecognizedTrace{.form = TraceForm::kJson};
  std::string_view line = rest.substr(0, rest.find('\n'));
  for (const char separator : {',', '|', '\t', ';'}) {
    const std::vector<Names> records = FirstRecords(text, file, separator);
    if (records.empty() || records.front().size() < 2) continue;
    if (const auto form = FormOfHeader(records.front()))
      return RecognizedTrace{*form, separator, true};
    if (const auto form = PaiFormOf(records)) return RecognizedTrace{*form, separator, false};
  }
  constexpr size_t kMostShown = 100;
  line = Trimmed(line);
  if (rest.substr(0, 2000).find("\n-----") != rest.npos) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}:1: columns of fixed width, as sacct prints for people: export "
                            "with sacct -P",
                            file));
  }
  return Fail(
      ErrorCode::kInvalid,
      fmt::format("{}:1: the first line, \"{}{}\", names no known columns: {}", file,
                  line.substr(0, kMostShown), line.size() > kMostShown ? "..." : "", kForms));
}

Result<RecordedTrace> ReadRecordedTrace(std::string_view text, std::string_view file,
                                        const RecognizedTrace& form) {
  if (form.form == TraceForm::kSlurm) return ReadSlurmTrace(text, file, form);
  if (form.form == TraceForm::kPaiTasks) return ReadPaiTrace({text, file, form}, std::nullopt);
  return ReadJobTable(text, file, form);
}

}  // namespace synergy
