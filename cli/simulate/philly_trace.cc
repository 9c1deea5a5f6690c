#include "cli/simulate/philly_trace.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "json/document.h"
#include "json/text.h"

namespace synergy::cli {
namespace {

std::optional<int> Digits(std::string_view text, size_t at, size_t count) {
  int number = 0;
  for (const char digit : text.substr(at, count)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + (digit - '0');
  }
  return number;
}

// Parses "2017-10-09 07:00:46". The time zone does not matter, because only differences count.
std::optional<Seconds> ReadTime(std::string_view text) {
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' || text[10] != ' ' || text[13] != ':' ||
      text[16] != ':') {
    return std::nullopt;
  }
  const auto year = Digits(text, 0, 4);
  const auto month = Digits(text, 5, 2);
  const auto day = Digits(text, 8, 2);
  const auto hour = Digits(text, 11, 2);
  const auto minute = Digits(text, 14, 2);
  const auto second = Digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return Seconds(std::chrono::sys_days(date).time_since_epoch()) +
         Seconds(*hour * 3600 + *minute * 60 + *second);
}

int64_t CountGpus(json::Value attempt) {
  int64_t gpus = 0;
  attempt["detail"].ForEachElement(
      [&](json::Value machine) { machine["gpus"].ForEachElement([&](json::Value) { ++gpus; }); });
  return gpus;
}

// Returns nullopt for a job that never ran.
std::optional<PhillyJob> ReadJob(json::Value value) {
  const auto submitted = ReadTime(value["submitted_time"].text());
  if (!submitted) return std::nullopt;
  PhillyJob job{.submitted = *submitted};
  value["attempts"].ForEachElement([&](json::Value attempt) {
    const auto start = ReadTime(attempt["start_time"].text());
    const auto end = ReadTime(attempt["end_time"].text());
    const int64_t gpus = CountGpus(attempt);
    if (!start || !end || *end <= *start || gpus == 0) return;
    job.duration += *end - *start;
    job.gpus = Gpus(gpus);
  });
  if (job.gpus == Gpus(0)) return std::nullopt;
  return job;
}

}  // namespace

Result<PhillyTrace> ParsePhillyTrace(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const Result<json::Document> document = json::Document::Parse(text);
  if (!document) return Fail(document.error());
  if (!document->root().IsArray()) {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("not a Philly trace: {} instead of an array of jobs (of Slurm: sacct -P, not "
                    "--json)",
                    document->root().DescribeKind()));
  }
  PhillyTrace trace;
  document->root().ForEachElement([&](json::Value value) {
    if (const auto job = ReadJob(value)) {
      trace.jobs.push_back(*job);
    } else {
      ++trace.left_out;
    }
  });
  std::stable_sort(
      trace.jobs.begin(), trace.jobs.end(),
      [](const PhillyJob& a, const PhillyJob& b) { return a.submitted < b.submitted; });
  if (trace.jobs.empty()) return Fail(ErrorCode::kNotFound, "the trace has no job that ever ran");
  const Seconds first = trace.jobs.front().submitted;
  for (PhillyJob& job : trace.jobs) job.submitted -= first;
  return trace;
}

}  // namespace synergy::cli
