#include "cli/simulate/option_groups.h"

#include <string>

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
      .add_option("--trace", arguments.traces,
                  "CSV with job_id, model, arrival_s, total_iterations, gpus; or Philly's JSON")
      ->delimiter(',');
  command
      .add_option("--generate", arguments.workloads,
                  "make a workload: rate=9/h,split=20:70:10,gpus=philly,jobs=7000,seed=42; "
                  "may be given several times")
      ->take_all();
  command.add_option("--save", arguments.save, "write the (one) workload to this file as CSV");
  command
      .add_option("--split", arguments.split, "image:language:speech, for traces without models")
      ->capture_default_str();
  command.add_option("--load", arguments.loads, "factors on the rate of arrival")
      ->delimiter(',')
      ->check(CLI::Range(0.001, 1000.0))
      ->capture_default_str();
  command.add_option("--window", arguments.window,
                     "measure the jobs with these ids only, as 4000:5000");
}

void AddProfiles(CLI::App& command, SimulateArguments& arguments) {
  command.option_defaults()->group("Profiles");
  command.add_option("--profiles", arguments.profiles, "the models' profiles, JSON or YAML");
  command.add_flag("--live-profiles", arguments.live_profiles,
                   "nobody has profiled the models; they are measured while their jobs run");
  command.add_option("--profiles-after", arguments.profiles_after,
                     "nobody knows the models' profiles until so long after the first arrival, "
                     "then everybody does: what placing blindly costs");
  command.add_flag("--cold-epochs", arguments.cold_epochs,
                   "until a job has read its data set once it comes from storage");
}

void AddServers(CLI::App& command, SimulateArguments& arguments) {
  command.option_defaults()->group("Servers");
  command.add_option("--servers", arguments.servers, "servers in the cluster")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--gpus", arguments.gpus, "GPUs of a server")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--cpus", arguments.cpus, "CPU cores of a server")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  command.add_option("--memory", arguments.memory, "memory of a server")->capture_default_str();
  command
      .add_option("--rack-servers", arguments.rack_servers,
                  "how many servers share a rack; 0: nobody knows of racks")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
}

// A cluster's servers are its own.
void AddCluster(CLI::App& command, SimulateArguments& arguments) {
  command.option_defaults()->group("A cluster to start from");
  CLI::Option* from = command.add_flag(
      "--from-cluster", arguments.from_cluster,
      "start from the cluster of the kubeconfig as it is now: its nodes, pods, training profiles");
  CLI::Option* file =
      command.add_option("--cluster", arguments.cluster,
                         "start from this file of --save-cluster, or of kubectl get "
                         "nodes,pods,trainingprofiles -A -o json");
  command.add_option("--save-cluster", arguments.save_cluster,
                     "with --from-cluster: keep what was read in this file");
  command.add_option("--remaining", arguments.remaining,
                     "the work that the cluster's own GPU pods still have, each, as the time at "
                     "its fair share (they run for ever)");
  AddClusterOptions(command, arguments.access);
  from->excludes(file);
  for (const char* made : {"--servers", "--gpus", "--cpus", "--memory"}) {
    command.get_option(made)->excludes(from)->excludes(file);
  }
}

void AddScheduling(CLI::App& command, SimulateArguments& arguments) {
  command.option_defaults()->group("Scheduling");
  command
      .add_option("--mechanism", arguments.mechanisms,
                  "who gets what, where; both for a comparison:" + Mechanisms())
      ->delimiter(',')
      ->capture_default_str();
  // kube-scheduler has only one policy: first in, first out.
  command.add_option("--policy", arguments.policies, "fifo")
      ->delimiter(',')
      ->capture_default_str()
      ->group("");
  command.add_option("--round", arguments.round, "length of a round of the tuner")
      ->capture_default_str();
  command.add_option("--latency", arguments.latency,
                     "schedule=10ms,bind=50ms,tune=60ms,start=1s,resize=1s (the defaults), or some "
                     "of these");
  command
      .add_option("--restart-cost", arguments.restart_cost,
                  "what a job loses when it starts or moves")
      ->capture_default_str();
  command
      .add_option("--spread-factor", arguments.spread_factor,
                  "speed of a job that spans servers, where its profile has no spreadSpeed")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
  command
      .add_option("--rack-spread-factor", arguments.rack_spread_factor,
                  "likewise of one that spans racks")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
  command
      .add_option("--pod-gpus", arguments.pod_gpus,
                  "the most GPUs of a pod; a job with more is a gang of several; 0: as many as a "
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
                  "... and then in one rack (locality.rackWait)")
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
                     "write what is allocated over time to this file");
  command.add_option("--changes", arguments.changes,
                     "write where every pod went and what it had when to this file");
  command.add_option("--html", arguments.html,
                     "write a page to look at to this file: every node and job over time, two "
                     "runs side by side");
  command.add_option("--plot", arguments.plot, "draw an SVG (needs gnuplot)");
  command.add_flag("-q,--quiet", arguments.quiet, "no progress on the terminal");
}

}  // namespace

void AddSimulateOptions(CLI::App& command, SimulateArguments& arguments) {
  AddJobs(command, arguments);
  AddProfiles(command, arguments);
  AddServers(command, arguments);
  AddCluster(command, arguments);
  AddScheduling(command, arguments);
  AddOutput(command, arguments);
}

}  // namespace synergy::cli
