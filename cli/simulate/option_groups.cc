#include "cli/simulate/option_groups.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/cluster/cluster_connection.h"
#include "sim/cluster/product_simulator.h"

namespace synergy::cli {
namespace {

std::string Mechanisms() {
  std::string text;
  for (const MechanismName& name : ProductMechanisms()) {
    text += fmt::format("\n    {:<21} {}", name.name, name.meaning);
  }
  return text;
}

void AddJobs(CLI::App& command, SimulateArguments& arguments) {
  command.option_defaults()->group("Jobs");
  command
      .add_option(
          "--trace", arguments.traces,
          "jobs with durations: CSV with job_id, submit_time, duration_s, gpus; sacct -P; Helios, "
          "Acme, Alibaba PAI 2020 (jobs,tasks), Philly; kubectl get jobs,workloads,pods -A -o "
          "json; or CSV with job_id, model, arrival_s, "
          "total_iterations, gpus")
      ->delimiter(',');
  command
      .add_option("--generate", arguments.workloads,
                  "generate a workload: rate=9/h,split=20:70:10,gpus=philly,jobs=7000,seed=42; may "
                  "be repeated")
      ->take_all();
  command.add_option("--save", arguments.save, "write the (single) workload to this file as CSV");
  command
      .add_option("--split", arguments.split,
                  "shares of image, language and speech models among jobs whose model is unknown")
      ->capture_default_str();
  command.add_option("--load", arguments.loads, "factors on the arrival rate")
      ->delimiter(',')
      ->check(NumberBetween(0.001, 1000))
      ->capture_default_str();
  command.add_option("--window", arguments.window,
                     "measure only jobs with these ids, such as 4000:5000");
}

void AddProfiles(CLI::App& command, SimulateArguments& arguments) {
  command.option_defaults()->group("Profiles");
  command.add_option(
      "--profiles", arguments.profiles,
      "the models' profiles, JSON or YAML, or TrainingProfiles as kubectl prints them; without it "
      "those of the Synergy paper's models");
  command
      .add_option("--gpu-speed", arguments.gpu_speed,
                  "speed of the servers' GPUs in units of those that were profiled and recorded; "
                  "a faster GPU needs more CPU for its full speed")
      ->check(NumberBetween(0.01, 100))
      ->capture_default_str();
  command.add_option("--recorded", arguments.recorded,
                     "the servers on which the trace was recorded, gpus=8,cpus=96,memory=1Ti or "
                     "some of these (default: the simulated ones); a duration counts as the work "
                     "done there with the fair share");
  command.add_flag("--live-profiles", arguments.live_profiles,
                   "the models have no profiles; they are measured while their jobs run");
  command.add_option("--profiles-after", arguments.profiles_after,
                     "the models have no profiles until this long after the first arrival; "
                     "isolates the cost of placing jobs without profiles");
  command.add_flag("--cold-epochs", arguments.cold_epochs,
                   "until a job has read its data set once, all its data comes from storage");
}

void AddServers(CLI::App& command, SimulateArguments& arguments) {
  command.option_defaults()->group("Servers");
  command.add_option("--servers", arguments.servers, "servers in the cluster")
      ->check(CLI::Range(1, 1'000'000))
      ->each([&arguments](const std::string&) { arguments.servers_written = true; })
      ->capture_default_str();
  command.add_option("--gpus", arguments.gpus, "GPUs per server")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--cpus", arguments.cpus, "CPU cores per server")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  command.add_option("--memory", arguments.memory, "memory per server")->capture_default_str();
  command
      .add_option("--rack-servers", arguments.rack_servers,
                  "servers per rack; 0: racks are unknown")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
}

// A cluster has its own servers, so these options exclude those that describe servers.
void AddCluster(CLI::App& command, SimulateArguments& arguments) {
  command.option_defaults()->group("A cluster to start from");
  CLI::Option* from = command.add_flag("--from-cluster", arguments.from_cluster,
                                       "start from the present state of the kubeconfig's cluster: "
                                       "its nodes, pods, training profiles");
  CLI::Option* file =
      command.add_option("--cluster", arguments.cluster,
                         "start from this file of --save-cluster, or of kubectl get "
                         "nodes,pods,trainingprofiles -A -o json");
  command
      .add_option("--since", arguments.since,
                  "with --from-cluster: start with empty servers; the trace is what the cluster "
                  "has run for this long, such as 7d")
      ->excludes(file)
      ->needs(from);
  command.add_option("--save-cluster", arguments.save_cluster,
                     "with --from-cluster: save the state to this file");
  command.add_option("--remaining", arguments.remaining,
                     "how long each GPU pod of the cluster would still run with its fair share "
                     "(default: forever)");
  AddClusterOptions(command, arguments.access);
  from->excludes(file);
  for (const char* option : {"--servers", "--gpus", "--cpus", "--memory"}) {
    command.get_option(option)->excludes(from)->excludes(file);
  }
}

void AddScheduling(CLI::App& command, SimulateArguments& arguments) {
  command.option_defaults()->group("Scheduling");
  command
      .add_option("--mechanism", arguments.mechanisms,
                  "the allocation mechanism; give several to compare them:" + Mechanisms())
      ->delimiter(',')
      ->capture_default_str();
  // kube-scheduler has only one policy: first in, first out.
  command.add_option("--policy", arguments.policies, "fifo")
      ->delimiter(',')
      ->capture_default_str()
      ->group("");
  command.add_option("--round", arguments.round, "length of a round of the tuner")
      ->capture_default_str();
  command.add_option(
      "--latency", arguments.latency,
      "schedule=10ms,bind=50ms,tune=60ms,start=1s,resize=1s (the defaults), or some of these");
  command
      .add_option("--restart-cost", arguments.restart_cost,
                  "time that a job loses when it starts or moves")
      ->capture_default_str();
  command
      .add_option("--spread-factor", arguments.spread_factor,
                  "speed factor of a job that spans servers, if its profile has no spreadSpeed")
      ->check(NumberBetween(0.01, 1))
      ->capture_default_str();
  command
      .add_option("--rack-spread-factor", arguments.rack_spread_factor,
                  "speed factor of a job that spans racks, if its profile has none")
      ->check(NumberBetween(0.01, 1))
      ->capture_default_str();
  command
      .add_option("--pod-gpus", arguments.pod_gpus,
                  "the most GPUs of a pod; a larger job is a gang of several pods; 0: as many as a "
                  "server has")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command
      .add_option("--node-wait", arguments.node_wait,
                  "how long a gang waits for room on one server (the extender's "
                  "locality.nodeWait)")
      ->capture_default_str();
  command
      .add_option("--rack-wait", arguments.rack_wait,
                  "how long it then waits for room in one rack (locality.rackWait)")
      ->capture_default_str();
}

void AddOutput(CLI::App& command, SimulateArguments& arguments) {
  command.option_defaults()->group("Output");
  command.get_help_ptr()->group("Output");
  command.add_option("-o,--output", arguments.output, "table, json or csv")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  command.add_option("--jobs-csv", arguments.jobs_csv, "write every job's times to this file");
  command.add_option("--timeline", arguments.timeline,
                     "write the allocation over time to this file");
  command.add_option("--changes", arguments.changes,
                     "write every pod's node and amounts over time to this file");
  command.add_option(
      "--html", arguments.html,
      "write an HTML page to this file: every node and job over time, two runs side by side");
  command.add_option("--plot", arguments.plot, "draw an SVG (needs gnuplot)");
  command.add_flag("-q,--quiet", arguments.quiet, "show no progress on the terminal");
}

}  // namespace

// Refuses NaN, which CLI::Range accepts.
CLI::Validator NumberBetween(double least, double most) {
  const CLI::Range range(least, most);
  const std::string about = range.get_description();
  return {[least, most](const std::string& text) {
            double number = 0;
            const bool reads = CLI::detail::lexical_cast(text, number);
            if (reads && number >= least && number <= most) return std::string();
            return fmt::format("Value {} not in range {} to {}", text, least, most);
          },
          about};
}

void RejectEmptyValues(CLI::App& command) {
  constexpr auto kMayBeEmpty =
      std::to_array<std::string_view>({"--kubeconfig", "--context", "--namespace"});
  for (CLI::Option* const option : command.get_options()) {
    if (option->get_items_expected_max() == 0 ||
        std::find(kMayBeEmpty.begin(), kMayBeEmpty.end(), option->get_name()) != kMayBeEmpty.end())
      continue;
    option->check(CLI::Validator(
        [](const std::string& text) {
          return text.empty() ? std::string("is empty: write a value, or leave the option out")
                              : std::string();
        },
        ""));
  }
}

void AddSimulateOptions(CLI::App& command, SimulateArguments& arguments) {
  AddJobs(command, arguments);
  AddProfiles(command, arguments);
  AddServers(command, arguments);
  AddCluster(command, arguments);
  AddScheduling(command, arguments);
  AddOutput(command, arguments);
}

}  // namespace synergy::cli
