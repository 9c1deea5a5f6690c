#include "cli/simulate/philly_trace.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "json/document.h"
#include "sim/traces/time_text.h"
#include "sim/traces/trace_builder.h"

namespace synergy::cli {
namespace {

class PhillyReader {
 public:
  PhillyReader(json::Value jobs, std::string_view file) : jobs_(jobs), file_(file) {}

  Result<RecordedTrace> Read() {
    jobs_.ForEachElement([this](json::Value job) {
      if (!error_) Add(job);
    });
    if (error_) return Fail(*std::move(error_));
    return builder_.Finish("Philly's cluster_job_log", file_);
  }

 private:
  void Add(json::Value job) {
    if (!job.IsObject()) return Reject(job, "write a job as an object");
    RecordedRow row{.id = std::string(job["jobid"].text()),
                    .submitted = TimeOf(job["submitted_time"])};
    bool began = false;
    Seconds gpu_time{};
    ForEach(job["attempts"], "write a list of attempts", [&](json::Value attempt) {
      const std::optional<Seconds> start = TimeOf(attempt["start_time"]);
      const std::optional<Seconds> end = TimeOf(attempt["end_time"]);
      const double gpus = CountGpus(attempt);
      began |= start && gpus > 0;
      if (!start || !end || *end <= *start || gpus == 0) return;
      if (!row.started) row.started = start;
      gpu_time += (*end - *start) * gpus;
      row.gpus = std::max(row.gpus, gpus);
    });
    if (error_) return;
    // Attempts may differ in their GPU counts, so derive the duration from their total GPU time.
    if (row.gpus > 0) row.duration = gpu_time / row.gpus;
    if (!row.duration) return builder_.LeaveOut(began ? "without an end" : "never ran");
    builder_.Add(std::move(row), true);
  }

  // Rejects a value that is neither a list nor missing.
  template <typename Function>
  void ForEach(json::Value list, const char* advice, const Function& add) {
    if (!list.absent() && !list.IsArray()) return Reject(list, advice);
    list.ForEachElement(add);
  }

  double CountGpus(json::Value attempt) {
    double gpus = 0;
    ForEach(attempt["detail"], "write a list of machines", [&](json::Value machine) {
      ForEach(machine["gpus"], "write a list of GPUs", [&](json::Value) { ++gpus; });
    });
    return gpus;
  }

  // Returns nullopt if the time is missing, or is rejected.
  std::optional<Seconds> TimeOf(json::Value value) {
    const bool has_text = value.IsString() || value.IsNumber();
    if (value.absent() || (has_text && IsUninformative(value.text()))) return std::nullopt;
    const std::optional<Seconds> time = ReadTimeText(value.text());
    if (!time) Reject(value, "write a time as 2017-10-09 07:00:46, or null");
    return time;
  }

  void Reject(json::Value value, std::string_view cure) {
    if (error_) return;
    const std::string text = value.text().empty() ? std::string(value.DescribeKind())
                                                  : fmt::format("\"{}\"", value.text());
    error_ = Error{ErrorCode::kInvalid,
                   fmt::format("{}: {} is {}: {}", file_, jobs_.PathTo(value), text, cure)};
  }

  json::Value jobs_;
  std::string_view file_;
  TraceBuilder builder_;
  std::optional<Error> error_;
};

}  // namespace

Result<RecordedTrace> ReadPhillyTrace(std::string_view text, std::string_view file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const Result<json::Document> document = json::Document::Parse(text);
  if (!document)
    return Fail(document.error().code, fmt::format("{}: {}", file, document.error().message));
  if (!document->root().IsArray()) {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("{}: not a Philly trace: {} instead of an array of jobs (of Slurm: sacct -P, "
                    "not --json)",
                    file, document->root().DescribeKind()));
  }
  return PhillyReader(document->root(), file).Read();
}

}  // namespace synergy::cli
