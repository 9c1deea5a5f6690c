#pragma once

// What `synergy simulate` was asked for.
//
// Threading: values.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/cluster_connection.h"
#include "core/clock.h"
#include "core/resources.h"
#include "core/result.h"
#include "sim/cluster/product_simulator.h"
#include "sim/reference/reference_simulator.h"
#include "sim/statistics.h"

namespace synergy::cli {

// As written on the command line.
struct SimulateArguments {
  std::vector<std::string> traces;
  std::vector<std::string> workloads;  // --generate
  std::string save;
  bool from_cluster = false;
  std::string cluster;       // a file
  std::string save_cluster;  // likewise
  std::string remaining;
  ClusterArguments access;
  std::string profiles;
  int64_t servers = 16;
  int64_t gpus = 8;
  int64_t cpus = 24;
  std::string memory = "500GB";
  std::vector<std::string> policies{"fifo"};
  std::vector<std::string> mechanisms{"synergy"};
  std::vector<double> loads{1};
  std::string placement = "first-fit";
  std::string compat;
  std::string arrivals = "auto";
  std::string window;
  std::string round = "300s";
  std::string restart_cost = "30s";
  double spread_factor = 1;
  std::string latency;
  std::string split = "20:70:10";
  std::string output = "table";
  std::string jobs_csv;
  std::string timeline;
  std::string changes;
  std::string plot;
  bool quiet = false;
};

// Checked.
struct SimulateOptions {
  ResourceVector server;
  Seconds round{300};
  Seconds restart_cost{30};
  Latencies latencies;
  std::optional<JobWindow> window;
  bool reference = false;
  bool consolidate = false;
  // Of the reference simulator. What --generate makes is kGenerated unless something else is asked.
  ReferenceArrivals arrivals = ReferenceArrivals::kAuto;
  // As StartingCluster is given; its pods' work.
  bool starts_from_cluster = false;
  std::optional<Seconds> remaining;
};

// kInvalid names the option.
Result<SimulateOptions> CheckArguments(const SimulateArguments& arguments);

}  // namespace synergy::cli
