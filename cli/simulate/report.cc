#include "cli/simulate/report.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/simulate/failures/failure_report.h"
#include "cli/simulate/figures/gang_figures.h"
#include "cli/simulate/figures/start_figures.h"
#include "cli/text/terminal.h"
#include "json/text.h"
#include "wire/objects/objects.h"

namespace synergy::cli {
namespace {

constexpr double kHour = 3600;
// The last columns: the resources of this machine that the run used.
constexpr int kMachineColumns = 2;

struct Column {
  const char* name;
  std::string value;
  bool text = false;
};

// Returns the number of jobs that the figures should count but do not.
size_t LeftOut(const RunResult& run) { return run.statistics.unfinished + run.not_run; }

std::string Exact(double value) { return fmt::format("{}", value); }

// Features that only some simulations use, with their own figures; true if any run has them.
struct Features {
  bool reservations = false;
  bool failures = false;
  bool sharing = false;
  bool moves = false;
};

Features FeaturesOf(std::span<const RunResult> runs) {
  Features features;
  for (const RunResult& run : runs) {
    features.reservations |= run.has_reservations;
    features.failures |= run.failures.has_value();
    features.sharing |= run.sharing.has_value();
    features.moves |= run.moves.has_value();
  }
  return features;
}

// Returns every figure of a run, under its name in JSON and CSV.
std::vector<Column> Columns(const RunResult& run, const Features& features) {
  const RunStatistics& statistics = run.statistics;
  const GangFigures gangs = FiguresOfGangs(run);
  const auto hours = [&statistics](Seconds time) {
    return statistics.measured > 0 ? Exact(time.count() / kHour) : std::string();
  };
  std::vector<Column> columns = {
      {"workload", run.workload, true},
      {"load", Exact(run.load)},
      {"policy", run.policy, true},
      {"mechanism", run.mechanism, true},
      {"jobs", fmt::format("{}", statistics.measured)},
      {"left_out", fmt::format("{}", LeftOut(run))},
      {"mean_jct_hours", hours(statistics.mean)},
      {"p50_jct_hours", hours(statistics.p50)},
      {"p95_jct_hours", hours(statistics.p95)},
      {"p99_jct_hours", hours(statistics.p99)},
      {"p999_jct_hours", hours(statistics.p999)},
      {"mean_wait_hours", hours(statistics.mean_wait)},
      {"mean_first_100_iterations_hours",
       statistics.mean_first_iterations ? hours(*statistics.mean_first_iterations) : std::string()},
      {"makespan_hours", hours(statistics.makespan)},
      {"rounds", fmt::format("{}", run.rounds)},
      {"restarts", fmt::format("{}", run.restarts)},
      {"resizes", fmt::format("{}", run.resizes)},
      {"gpu_utilisation", Exact(run.gpu_utilisation)},
      {"cpu_utilisation", Exact(run.cpu_utilisation)},
      {"memory_utilisation", Exact(run.memory_utilisation)},
      {"gangs", fmt::format("{}", gangs.gangs)},
      {"gangs_over_nodes", Exact(gangs.over_nodes)},
      {"gangs_over_racks", Exact(gangs.over_racks)},
      {"mean_gang_jct_hours", hours(gangs.mean_completion)},
      {"mean_gang_wait_hours", hours(gangs.mean_wait)},
      {"mean_locality_wait_hours", hours(gangs.mean_locality_wait)},
      {"gpus_kept_idle", Exact(run.kept_idle)},
      {"worst_gap", Exact(run.worst_gap)},
      {"fell_back", fmt::format("{}", run.fell_back)},
      {"wall_seconds", Exact(run.wall_seconds)},
      {"cpu_seconds", Exact(run.cpu_seconds)}};
  // A run has no figures for features that only other runs have.
  const auto add = [&columns](bool has, std::vector<Column> figures) {
    for (Column& figure : figures) {
      if (!has) figure.value.clear();
      columns.insert(columns.end() - kMachineColumns, std::move(figure));
    }
  };
  if (features.reservations) {
    const StartFigures starts = FiguresOfStarts(run);
    add(run.has_reservations, {{"promises", fmt::format("{}", starts.predicted)},
                               {"promise_error_p50", Exact(starts.p50)},
                               {"promise_error_p90", Exact(starts.p90)}});
  }
  if (features.failures) {
    std::vector<Column> figures;
    for (auto& [name, value] : FailureColumns(run)) figures.push_back({name, std::move(value)});
    add(run.failures.has_value(), std::move(figures));
  }
  if (features.sharing) {
    const SharingFigures sharing = run.sharing.value_or(SharingFigures{});
    add(run.sharing.has_value(), {{"work_per_gpu_second", Exact(sharing.work_per_gpu_second)},
                                  {"packs_tried", fmt::format("{}", sharing.packs_tried)},
                                  {"packs_kept", fmt::format("{}", sharing.packs_kept)},
                                  {"packs_undone", fmt::format("{}", sharing.packs_undone)},
                                  {"packs_misjudged", fmt::format("{}", sharing.packs_misjudged)}});
  }
  if (features.moves) {
    const MoveFigures moves = run.moves.value_or(MoveFigures{});
    add(run.moves.has_value(),
        {{"moves", fmt::format("{}", moves.moves)},
         {"moves_in_vain", fmt::format("{}", moves.in_vain)},
         {"moves_lost_gpu_hours", Exact(moves.gpu_time_lost.count() / kHour)}});
  }
  return columns;
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + '"';
}

std::string RunCsv(const RunResult& run) {
  return fmt::format("{},{},{},{}", CsvField(run.workload), run.load, run.policy, run.mechanism);
}

// Formats nodes, CPU in cores and memory in bytes at bind; empty if unknown.
std::string PlaceCsv(const RunResult& run, size_t job) {
  if (run.job_places.empty()) return ",,";
  const JobPlace& place = run.job_places[job];
  return fmt::format("{},{},{}", place.nodes,
                     static_cast<double>(place.bound_with.cpu.count()) / 1000,
                     place.bound_with.memory.count());
}

// Formats when a start was first predicted, and the predicted start; empty if none was.
std::string PredictedCsv(const RunResult& run, size_t job) {
  if (run.job_places.empty() || !run.job_places[job].predicted) return ",";
  const auto& predicted = *run.job_places[job].predicted;
  return fmt::format("{},{}", predicted.at.count(), predicted.start.count());
}

std::string Label(const RunResult& run) {
  std::string label = run.policy + " " + run.mechanism;
  if (run.load != 1) label += fmt::format(" x{}", run.load);
  // Removes characters that gnuplot reads as markup.
  std::erase_if(label, [](char letter) { return letter == '"' || letter == '\\'; });
  return label;
}

// Returns named data of a gnuplot script: `$NAME << EOD`.
std::string Block(const std::string& name, const std::string& lines) {
  return fmt::format("${} << EOD\n{}EOD\n", name, lines);
}

std::string Distribution(const RunResult& run) {
  std::vector<double> hours;
  for (const JobTimes& job : run.jobs) {
    if (job.finished) hours.push_back((*job.finished - job.submitted).count() / kHour);
  }
  std::sort(hours.begin(), hours.end());
  std::string lines;
  const size_t step = std::max<size_t>(hours.size() / 500, 1);
  for (size_t at = 0; at < hours.size(); at += step) {
    lines += fmt::format("{} {}\n", hours[at],
                         static_cast<double>(at + 1) / static_cast<double>(hours.size()));
  }
  return lines;
}

// Returns the table of moves; empty if no run has them.
std::string ToMoveTable(std::span<const RunResult> runs) {
  std::vector<std::vector<std::string>> rows{
      {"workload", "load", "mechanism", "moves", "in vain", "lost GPU h"}};
  for (const RunResult& run : runs) {
    if (!run.moves) continue;
    rows.push_back({run.workload, fmt::format("{}", run.load), run.mechanism,
                    fmt::format("{}", run.moves->moves), fmt::format("{}", run.moves->in_vain),
                    fmt::format("{:.2f}", run.moves->gpu_time_lost.count() / kHour)});
  }
  return rows.size() == 1 ? "" : '\n' + FormatTable(rows);
}

}  // namespace

std::string ToTable(std::span<const RunResult> runs) {
  const std::vector<std::string> head = {
      "workload", "load",    "policy",     "mechanism", "jobs", "mean h", "p50 h",  "p95 h",
      "p99 h",    "p99.9 h", "makespan h", "rounds",    "GPU",  "CPU",    "memory", "s"};
  std::vector<std::vector<std::string>> rows{head};
  for (const RunResult& run : runs) {
    const auto hours = [&run](Seconds time) {
      return run.statistics.measured > 0 ? fmt::format("{:.3f}", time.count() / kHour) : "-";
    };
    const auto percent = [](double part) { return fmt::format("{:.1f} %", part * 100); };
    const RunStatistics& statistics = run.statistics;
    rows.push_back({run.workload, fmt::format("{}", run.load), run.policy, run.mechanism,
                    fmt::format("{}", statistics.measured), hours(statistics.mean),
                    hours(statistics.p50), hours(statistics.p95), hours(statistics.p99),
                    hours(statistics.p999), hours(statistics.makespan),
                    fmt::format("{}", run.rounds), percent(run.gpu_utilisation),
                    percent(run.cpu_utilisation), percent(run.memory_utilisation),
                    fmt::format("{:.2f}", run.wall_seconds)});
  }
  return FormatTable(rows) + ToGangTable(runs) + ToStartTable(runs) + ToFailureTable(runs) +
         ToMoveTable(runs);
}

std::string ToCsv(std::span<const RunResult> runs) {
  std::string csv;
  const Features features = FeaturesOf(runs);
  for (const RunResult& run : runs) {
    const std::vector<Column> columns = Columns(run, features);
    if (csv.empty()) {
      for (const Column& column : columns) {
        csv += fmt::format("{}{}", &column == columns.data() ? "" : ",", column.name);
      }
      csv += '\n';
    }
    for (const Column& column : columns) {
      csv += fmt::format("{}{}", &column == columns.data() ? "" : ",", CsvField(column.value));
    }
    csv += '\n';
  }
  return csv;
}

std::string ToJson(std::span<const RunResult> runs) {
  std::string text = runs.size() == 1 ? "" : "[";
  const Features features = FeaturesOf(runs);
  for (const RunResult& run : runs) {
    text += &run == runs.data() ? "{" : ",\n{";
    bool first = true;
    for (const Column& column : Columns(run, features)) {
      text += fmt::format("{}\"{}\":", first ? "" : ",", column.name);
      if (column.text) {
        json::AppendJsonString(text, column.value);
      } else {
        text += column.value.empty() ? "null" : column.value;
      }
      first = false;
    }
    if (!run.reading.empty()) {
      text += ",\"import\":";
      json::AppendJsonString(text, run.reading);
    }
    text += '}';
  }
  return text + (runs.size() == 1 ? "\n" : "]\n");
}

std::string LeftOutReasons(const RunResult& run) {
  std::vector<std::string> reasons;
  if (run.not_run > 0)
    reasons.push_back(fmt::format("{} with more GPUs than all servers have", run.not_run));
  if (!run.never_placed.empty()) {
    constexpr size_t kMostNamed = 10;
    const size_t named = std::min(run.never_placed.size(), kMostNamed);
    const size_t others = run.never_placed.size() - named;
    reasons.push_back(fmt::format(
        "job {}{} never got {} GPUs, because {}",
        fmt::join(run.never_placed.begin(),
                  run.never_placed.begin() + static_cast<std::ptrdiff_t>(named), ", job "),
        others > 0 ? fmt::format(" and {} more", others) : "",
        run.never_placed.size() == 1 ? "its" : "their",
        run.has_starting_pods ? "pods that run forever have them"
                              : "no server has as much CPU and memory as the pods request"));
  } else if (run.statistics.unfinished > 0) {
    reasons.push_back(
        fmt::format("{} had not finished when the run ended", run.statistics.unfinished));
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

std::string LeftOutWarnings(std::span<const RunResult> runs) {
  std::string text;
  for (const RunResult& run : runs) {
    const size_t left_out = LeftOut(run);
    if (left_out == 0) continue;
    const size_t all = run.statistics.measured + left_out;
    text += fmt::format("warning: {}, {}: {} of {} job{} left out: {}\n", run.workload, Label(run),
                        left_out, all, all == 1 ? " is" : "s are", LeftOutReasons(run));
  }
  return text;
}

Result<> CheckMeasured(std::span<const RunResult> runs) {
  const bool any = std::any_of(runs.begin(), runs.end(),
                               [](const RunResult& run) { return run.statistics.measured > 0; });
  if (any || runs.empty()) return {};
  const RunResult& first = runs.front();
  return Fail(ErrorCode::kNotFound, fmt::format("no job to measure: {}, {}: {}", first.workload,
                                                Label(first), LeftOutReasons(first)));
}

std::string ToJobsCsv(std::span<const RunResult> runs) {
  std::string csv =
      "workload,load,policy,mechanism,job_id,model,gpus,submit_s,start_s,finish_s,nodes,"
      "cpu_at_bind,memory_at_bind";
  const bool reservations = FeaturesOf(runs).reservations;
  csv += reservations ? ",predicted_at_s,predicted_start_s\n" : "\n";
  for (const RunResult& run : runs) {
    const std::string prefix = RunCsv(run);
    for (size_t at = 0; at < run.jobs.size(); ++at) {
      const JobTimes& job = run.jobs[at];
      const auto time = [](const std::optional<Seconds>& seconds) {
        return seconds ? Exact(seconds->count()) : std::string();
      };
      csv += fmt::format("{},{},{},{},{},{},{},{}", prefix, job.id, run.job_models[at],
                         run.job_gpus[at].count(), job.submitted.count(), time(job.started),
                         time(job.finished), PlaceCsv(run, at));
      csv += reservations ? ',' + PredictedCsv(run, at) + '\n' : "\n";
    }
  }
  return csv;
}

std::string ToTimelineCsv(std::span<const RunResult> runs) {
  std::string csv = "workload,load,policy,mechanism,time_s,gpus,cpu,memory,running,waiting\n";
  for (const RunResult& run : runs) {
    const std::string prefix = RunCsv(run);
    for (const UtilisationPoint& point : run.timeline) {
      csv += fmt::format("{},{},{:.4f},{:.4f},{:.4f},{},{}\n", prefix, point.at.count(), point.gpus,
                         point.cpu, point.memory, point.running, point.waiting);
    }
  }
  return csv;
}

std::string ToChangesCsv(std::span<const RunResult> runs) {
  std::string csv = "workload,load,policy,mechanism,time_s,job_id,what,pod,node,cpu,memory\n";
  const auto name = [](PlaceChange::Kind kind) {
    return kind == PlaceChange::Kind::kBound     ? "bound"
           : kind == PlaceChange::Kind::kResized ? "resized"
                                                 : "gone";
  };
  for (const RunResult& run : runs) {
    const std::string prefix = RunCsv(run);
    for (const PlaceChange& change : run.changes) {
      const std::string job = change.job ? fmt::format("{}", *change.job) : "";
      csv += fmt::format("{},{},{},{},{},{},{},{}\n", prefix, Exact(change.at.count()), job,
                         name(change.kind), change.pod, change.node,
                         static_cast<double>(change.amounts.cpu.count()) / 1000,
                         change.amounts.memory.count());
    }
  }
  return csv;
}

std::string ToGnuplot(std::span<const RunResult> runs, const std::string& file) {
  std::string script = fmt::format(
      "set terminal svg size 1000,1200 noenhanced\nset output '{}'\nset multiplot layout 3,1\n"
      "set key outside right\nset grid\n",
      file);
  std::string distributions;
  std::string timelines;
  // Maps policy and mechanism to loads, and each load to the means of all workloads.
  std::map<std::string, std::map<double, std::vector<double>>> by_load;
  for (size_t at = 0; at < runs.size(); ++at) {
    const RunResult& run = runs[at];
    script += Block(fmt::format("jct{}", at), Distribution(run));
    std::string lines;
    for (const UtilisationPoint& point : run.timeline) {
      lines += fmt::format("{} {} {} {}\n", point.at.count() / kHour, point.gpus * 100,
                           point.cpu * 100, point.memory * 100);
    }
    const char* comma = at == 0 ? "" : ", ";
    distributions += fmt::format("{}$jct{} with steps title \"{}\"", comma, at, Label(run));
    if (!lines.empty()) {
      script += Block(fmt::format("use{}", at), lines);
      timelines += fmt::format("{}$use{} using 1:3 with steps title \"CPU, {}\"",
                               timelines.empty() ? "" : ", ", at, Label(run));
    }
    by_load[run.policy + " " + run.mechanism][run.load].push_back(run.statistics.mean.count() /
                                                                  kHour);
  }
  std::string loads;
  size_t number = 0;
  for (const auto& [name, means] : by_load) {
    std::string lines;
    for (const auto& [load, hours] : means) {
      double sum = 0;
      for (const double mean : hours) sum += mean;
      lines += fmt::format("{} {}\n", load, sum / static_cast<double>(hours.size()));
    }
    script += Block(fmt::format("load{}", number), lines);
    loads += fmt::format("{}$load{} with linespoints title \"{}\"", number == 0 ? "" : ", ", number,
                         name);
    ++number;
  }
  script +=
      "set logscale x\nset xlabel 'completion time (h)'\nset ylabel 'part of the jobs'\nplot " +
      distributions + "\nunset logscale x\n";
  script += "set xlabel 'load'\nset ylabel 'mean completion time (h)'\nplot " + loads + "\n";
  if (!timelines.empty()) {
    script += "set xlabel 'time (h)'\nset ylabel 'allocated CPU (%)'\nset yrange [0:100]\nplot " +
              timelines + "\n";
  }
  return script + "unset multiplot\n";
}

}  // namespace synergy::cli
