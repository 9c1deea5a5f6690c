#include "sim/traces/trace_builder.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "sim/traces/trace_fields.h"

namespace synergy {

RecordedRow::State ReadRecordedState(std::string_view text) {
  const std::string state = InLowerCase(Trimmed(text.substr(0, text.find_first_of(" +"))));
  using State = RecordedRow::State;
  for (const std::string_view pending :
       {"pending", "pd", "configuring", "cf", "waiting", "queued", "requeue_hold", "rh"}) {
    if (state == pending) return State::kPending;
  }
  for (const std::string_view running :
       {"running", "r", "suspended", "s", "completing", "cg", "stopped", "st"}) {
    if (state == running) return State::kRunning;
  }
  return State::kOther;
}

void TraceBuilder::Count(std::vector<RecordedTrace::Count>& counts, std::string_view what,
                         size_t number) {
  const auto found = std::find_if(counts.begin(), counts.end(),
                                  [what](const auto& count) { return count.first == what; });
  if (found != counts.end()) {
    found->second += number;
  } else {
    counts.emplace_back(what, number);
  }
}

void TraceBuilder::Add(RecordedRow row, bool names_starts) {
  using State = RecordedRow::State;
  if (row.state == State::kPending) return LeaveOut("pending");
  if (!(row.gpus > 0)) return LeaveOut("without GPUs");
  const bool running = row.state == State::kRunning;
  if (!row.duration && row.started && row.ended) row.duration = *row.ended - *row.started;
  const bool ran = row.duration && *row.duration > Seconds(0);
  if (!ran && !running && names_starts && !row.started) return LeaveOut("never ran");
  if (!row.duration) {
    return LeaveOut(running ? "running, without the time so far" : "without a duration");
  }
  if (!ran) return LeaveOut("with a duration of 0 or less");
  if (!row.submitted) row.submitted = row.started;
  if (!row.submitted && row.ended) row.submitted = *row.ended - *row.duration;
  if (!row.submitted) return LeaveOut("without a time of submission");
  if (running) Note("still running, counted with the time so far");
  if (row.gpus != std::floor(row.gpus)) Note("with a fraction of a GPU, rounded up");
  origins_.push_back({row.started, row.line});
  trace_.jobs.push_back({std::move(row.id), std::move(row.model), *row.submitted, *row.duration,
                         Gpus(static_cast<int64_t>(std::ceil(row.gpus))), row.priority});
}

void TraceBuilder::KeepLastOfEachId() {
  std::vector<RecordedJob>& jobs = trace_.jobs;
  std::unordered_map<std::string_view, size_t> last;
  last.reserve(jobs.size());
  const auto time = [&](size_t at) { return std::pair(jobs[at].submitted, origins_[at].started); };
  for (size_t at = 0; at < jobs.size(); ++at) {
    if (jobs[at].id.empty()) continue;
    const auto [found, is_new] = last.try_emplace(jobs[at].id, at);
    if (!is_new && (!keeps_latest_ || time(at) >= time(found->second))) found->second = at;
  }
  std::vector<RecordedJob> kept;
  std::vector<Origin> origins;
  kept.reserve(jobs.size());
  for (size_t at = 0; at < jobs.size(); ++at) {
    const auto found = last.find(jobs[at].id);
    if (found != last.end() && found->second != at) {
      LeaveOut("repeated ids");
    } else {
      kept.push_back(jobs[at]);
      origins.push_back(origins_[at]);
    }
  }
  jobs = std::move(kept);
  origins_ = std::move(origins);
}

Result<> TraceBuilder::CheckTimes(std::string_view file) const {
  constexpr Seconds kDay(86400);
  constexpr Seconds kMost = 3650 * kDay;
  const auto wrong = [&](size_t at, const std::string& what) {
    const size_t line = origins_[at].line;
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}{}: job {} {}", file, line > 0 ? fmt::format(":{}", line) : "",
                            trace_.jobs[at].id, what));
  };
  std::vector<Seconds> times;
  for (const RecordedJob& job : trace_.jobs) times.push_back(job.submitted);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  for (size_t at = 0; at < trace_.jobs.size(); ++at) {
    const RecordedJob& job = trace_.jobs[at];
    if (job.duration > kMost)
      return wrong(at, fmt::format("ran for {:.0f} days: correct that", job.duration / kDay));
    const double days = (job.submitted - *middle) / kDay;
    if (std::abs(days) * kDay > kMost) {
      return wrong(at, fmt::format("was submitted {:.0f} days {} the job in the middle: write all "
                                   "times in one form, and correct wrong ones",
                                   std::abs(days), days < 0 ? "before" : "after"));
    }
  }
  return {};
}

Result<RecordedTrace> TraceBuilder::Finish(std::string form, std::string_view file) {
  trace_.form = std::move(form);
  std::vector<RecordedJob>& jobs = trace_.jobs;
  KeepLastOfEachId();
  if (jobs.empty()) {
    const std::string none = trace_.left_out.empty() ? ": there are no rows" : "";
    return Fail(ErrorCode::kNotFound,
                fmt::format("{}: no job to simulate: {}{}", file, trace_.Describe(), none));
  }
  if (auto checked = CheckTimes(file); !checked) return Fail(checked.error());
  std::stable_sort(jobs.begin(), jobs.end(), [](const RecordedJob& a, const RecordedJob& b) {
    return a.submitted < b.submitted;
  });
  const Seconds first = jobs.front().submitted;
  for (RecordedJob& job : jobs) job.submitted -= first;
  return std::move(trace_);
}

std::string RecordedTrace::Describe() const {
  std::string text =
      fmt::format("read as {}: {} job{}", form, jobs.size(), jobs.size() == 1 ? "" : "s");
  const char* before = ", left out: ";
  for (const auto& [reason, count] : left_out) {
    text += fmt::format("{}{} {}", std::exchange(before, ", "), count, reason);
  }
  before = "; ";
  for (const auto& [what, count] : notes) {
    text += fmt::format("{}{} {}", std::exchange(before, ", "), count, what);
  }
  return text;
}

}  // namespace synergy
