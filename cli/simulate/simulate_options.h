#pragma once

// The arguments of `synergy simulate`, as written and as checked.
//
// Threading: values.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/gangs/gang_locality.h"
#include "cli/cluster/cluster_connection.h"
#include "core/clock.h"
#include "core/resources.h"
#include "core/result.h"
#include "sim/cluster/drivers/moves_driver.h"
#include "sim/cluster/drivers/reservation_driver.h"
#include "sim/cluster/product_simulator.h"
#include "sim/cluster/simulated_scheduler.h"
#include "sim/queue/gpu_speeds.h"
#include "sim/statistics.h"
#include "sim/traces/recorded_trace.h"

namespace synergy::cli {

// The arguments as written on the command line.
struct SimulateArguments {
  std::vector<std::string> traces;
  std::vector<std::string> workloads;  // --generate
  std::string save;
  bool from_cluster = false;
  std::string since;                     // with from_cluster: length of its history
  std::optional<RecordedTrace> history;  // as read for `since`, in place of traces
  std::string cluster;                   // a file
  std::string save_cluster;              // a file
  std::string remaining;
  ClusterArguments access;
  std::string profiles;  // empty: those of the Synergy paper
  double gpu_speed = 1;
  bool plan = false;
  std::string baseline = "burstable-spread";  // for --plan
  double price = 0;                           // price of a GPU for an hour; 0: not given
  std::string recorded;
  int64_t servers = 16;
  bool servers_written = false;
  int64_t gpus = 8;
  int64_t cpus = 24;
  std::string memory = "500GB";
  std::vector<std::string> policies{"fifo"};
  bool kueue = false;
  std::string queue_rounds;
  std::vector<std::string> with;  // "faults=call-fails:0.1"
  uint64_t seed = 1;              // for the faults and the pods without GPUs
  std::vector<std::string> mechanisms{"synergy"};
  std::vector<double> loads{1};
  std::string window;
  std::string round = "300s";
  std::string restart_cost = "30s";
  double spread_factor = 1;
  double rack_spread_factor = 1;
  int64_t rack_servers = 0;
  int64_t pod_gpus = 0;
  std::string node_wait = "30s";
  std::string rack_wait = "30s";
  bool live_profiles = false;
  std::string profiles_after;
  bool cold_epochs = false;
  std::string latency;
  std::string split = "20:70:10";
  std::string output = "table";
  std::string jobs_csv;
  std::string timeline;
  std::string changes;
  std::string html;
  std::string plot;
  bool quiet = false;
};

// The checked arguments.
struct SimulateOptions {
  ResourceVector server;
  // The jobs' work is their time at this server's fair share; absent: at that of `server`.
  std::optional<ResourceVector> recorded;
  Seconds round{300};
  Seconds restart_cost{30};
  Latencies latencies;
  std::optional<JobWindow> window;
  // StartingCluster comes from a cluster; `remaining` is its pods' work.
  bool starts_from_cluster = false;
  std::optional<Seconds> remaining;
  std::optional<Duration> profiles_after;
  LocalityRules locality;
  bool keeps_changes = false;
  // The queue of jobs, apart from its policy. It is used under all policies except fifo, and also
  // under fifo if `always_queues`. Absent: jobs do not queue, and fifo is the only policy.
  std::optional<QueueSetup> queue;
  bool always_queues = false;
  FaultRates faults;
  CpuPodLoad cpu_pods;
  std::optional<FailureSettings> failures;
  std::optional<ElasticWorkers> elastic;
  std::optional<SimulatedReservations> reservations;
  WholeNodes whole_nodes = WholeNodes::kByCost;
  std::optional<SharingOptions> sharing;
  std::optional<SimulatedMoves> moves;
  std::optional<StorageOptions> storage;
  // Replaces the servers of --servers if the products of their GPUs are known.
  struct ServersOfProduct {
    std::string product;
    size_t servers = 0;
  };
  std::vector<ServersOfProduct> gpu_types;
  GpuSpeeds gpu_speeds;
};

// Returns the error "--option: why", as kInvalid or with the code of `error`.
tl::unexpected<Error> WrongOption(std::string_view option, std::string_view why);
tl::unexpected<Error> WrongOption(std::string_view option, const Error& error);

// Parses --window; absent: all jobs.
Result<std::optional<JobWindow>> WindowOf(const SimulateArguments& arguments);

// Returns kInvalid, which names the option, for invalid arguments.
Result<SimulateOptions> CheckArguments(const SimulateArguments& arguments);

}  // namespace synergy::cli
