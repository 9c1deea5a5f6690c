#include "cli/page/page.h"

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "cli/page/page_text.h"
#include "cli/page/simulated_map.h"
#include "json/writer.h"

namespace synergy::cli {
namespace {

// Placeholder for the page's data.
constexpr std::string_view kDataMark = "{{data}}";

std::string NameOf(const RunResult& run, bool with_workload) {
  std::string name = run.mechanism + ", " + run.policy;
  if (run.load != 1) name += fmt::format(", load x{}", run.load);
  if (with_workload) name += ", " + run.workload;
  return name;
}

void WriteTime(json::Writer& out, std::string_view key, std::optional<Seconds> time) {
  if (!time) return;
  out.Key(key);
  out.Number(time->count());
}

void WriteFigures(json::Writer& out, const RunResult& run) {
  const RunStatistics& statistics = run.statistics;
  out.Key("figures");
  out.BeginObject();
  WriteTime(out, "meanCompletion", statistics.mean);
  WriteTime(out, "p95Completion", statistics.p95);
  WriteTime(out, "meanWait", statistics.mean_wait);
  WriteTime(out, "makespan", statistics.makespan);
  out.Key("gpuUtilisation");
  out.Number(run.gpu_utilisation);
  out.Key("cpuUtilisation");
  out.Number(run.cpu_utilisation);
  out.EndObject();
}

void WriteJobs(json::Writer& out, const RunResult& run) {
  out.Key("jobs");
  out.BeginObject();
  for (const JobTimes& job : run.jobs) {
    out.Key(JobName(job));
    out.BeginObject();
    WriteTime(out, "submitted", job.submitted);
    WriteTime(out, "started", job.started);
    WriteTime(out, "finished", job.finished);
    out.EndObject();
  }
  out.EndObject();
}

void WriteRun(json::Writer& out, const StartingCluster& start, const RunResult& run,
              bool with_workload) {
  const SimulatedMap map = MapOfRun(start, run);
  out.BeginObject();
  out.Key("name");
  out.Text(NameOf(run, with_workload));
  WriteFigures(out, run);
  WriteJobs(out, run);
  out.Key("state");
  out.Raw(map.state);
  out.Key("changes");
  out.BeginArray();
  for (const SimulatedMap::Change& change : map.changes) {
    out.BeginArray();
    out.Number(change.at.count());
    out.Raw(change.patch);
    out.EndArray();
  }
  out.EndArray();
  out.EndObject();
}

// Escapes `<`: without it, no text can end a script element, and JSON has it only in strings.
std::string WithoutTags(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char letter : json) {
    if (letter == '<') {
      text += "\\u003c";
    } else {
      text += letter;
    }
  }
  return text;
}

std::string PageWith(std::string_view json) {
  const size_t mark = kPage.find(kDataMark);
  std::string page(kPage.substr(0, mark));
  page += WithoutTags(json);
  page += kPage.substr(mark + kDataMark.size());
  return page;
}

}  // namespace

std::string ClusterPage() { return PageWith(R"({"format":1,"kind":"cluster"})"); }

std::string SimulationPage(const StartingCluster& start, std::span<const RunResult> runs) {
  bool several_workloads = false;
  for (const RunResult& run : runs) several_workloads |= run.workload != runs.front().workload;
  json::Writer out;
  out.BeginObject();
  out.Key("format");
  out.Integer(1);
  out.Key("kind");
  out.Text("simulation");
  out.Key("runs");
  out.BeginArray();
  for (const RunResult& run : runs) WriteRun(out, start, run, several_workloads);
  out.EndArray();
  out.EndObject();
  return PageWith(out.Take());
}

}  // namespace synergy::cli
