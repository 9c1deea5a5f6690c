#pragma once

// Runs a trace of jobs through the product, event by event, in simulated time: admission, the
// cluster's state, ranking and allocation as the extender does them, and the tuner's decisions,
// between a model of kube-scheduler and one of the kubelets. What is modelled and what is the
// product's own code: docs/simulator.md.
//
// Threading: pure. The same input gives the same run.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/gangs/gang_locality.h"
#include "cluster/namespace.h"
#include "cluster/node.h"
#include "cluster/pod.h"
#include "core/result.h"
#include "engine/tuner/tuner.h"
#include "sim/cluster/model_profiles.h"
#include "sim/faults.h"
#include "sim/node_order.h"
#include "sim/queue/queue_driver.h"
#include "sim/simulation_run.h"

namespace synergy {

// Measured on real clusters (docs/real-nodes.md, docs/tuner.md).
struct Latencies {
  Duration schedule = std::chrono::milliseconds(10);  // kube-scheduler's attempt for a pod
  Duration bind = std::chrono::milliseconds(50);      // from the choice until the pod has its node
  Duration tune = std::chrono::milliseconds(60);  // from the first news until the tuner's writes
  Duration start = std::chrono::seconds(1);       // until its container runs
  Duration resize = std::chrono::seconds(1);      // from a resize until it is in force
};

// What there is when the simulation begins. Its pods stay, unless ProductOptions::remaining says
// how long; those that wait are scheduled. None is terminal or about to be deleted.
struct StartingCluster {
  std::vector<Node> nodes;
  std::vector<Pod> pods;
  std::vector<Namespace> namespaces;
  // What the cluster's clocks say at the beginning: the pods' times are told by them. No clock of a
  // cluster stands at zero, which often means "never".
  WallTime at{std::chrono::hours(1)};
};

// The label of simulated nodes that says which rack they are in.
inline constexpr std::string_view kSimulatedRackLabel = "topology.kubernetes.io/rack";
// That many nodes, named by ServerName (sim/simulation_run.h). `per_rack` of them share a rack; 0:
// nobody knows of racks.
StartingCluster ClusterOf(size_t servers, const ResourceVector& server, size_t per_rack = 0);

// A job as the cluster sees it: pods with GPUs and the label of a profile.
struct ProductJob {
  uint64_t id = 0;
  std::string model;
  Gpus gpus;
  Seconds arrival{};
  Seconds ideal{};             // its whole running time at the fair share
  double fair_throughput = 1;  // the profile's throughput that `ideal` is told in
  Seconds first_part{};        // as Job::first_part
};

struct ProductOptions {
  Enforcement enforcement = Enforcement::kShared;
  Latencies latencies;
  TunerSettings tuner;
  Duration restart_cost = std::chrono::seconds(30);
  // The speed of a job on several nodes, and over racks, whose profile does not say it.
  double spread_factor = 1;
  double rack_spread_factor = 1;
  // The most GPUs of a pod; a job with more is a gang. None: as many as a node has.
  std::optional<Gpus> pod_gpus;
  LocalityRules locality{.rack_label = std::string(kSimulatedRackLabel)};
  std::string pod_namespace = "training";  // of the jobs' pods
  // How much work each GPU pod of the starting cluster still has, as the time that it takes at the
  // fair share. None: they run for ever. They are not among the run's jobs.
  std::optional<Seconds> remaining;
  bool keep_changes = false;  // SimulationRun::changes
  // Nobody has profiled the jobs' models: the product measures them while they run.
  bool live_profiles = false;
  // ... or has until so long after the first arrival, when the true profiles are published; nobody
  // measures. What placing jobs blindly costs, and nothing else. Not with `live_profiles`.
  std::optional<Duration> profiles_after;
  // The jobs wait in a queue of Kueue that a RoundPolicy orders, whose quota is all GPUs but those
  // of the starting pods. None: every job's pods are created as it arrives.
  std::optional<QueueSetup> queue;
  FaultRates faults;
  // In place of Synergy: every pod has its fair share for good, and no tuner runs. Under
  // Enforcement::kStrict it uses no more CPU than that; under kShared it has no limit.
  std::optional<NodeOrder> baseline;
  // Until a job has read its data set once, all of it comes from storage (simulated_data.h).
  bool cold_epochs = false;
  // The run ends then, whoever still runs or waits; none: when all jobs have finished.
  std::optional<Seconds> until;
  // The simulation gives up after this much simulated time: some job can never run.
  Seconds limit{10.0 * 365 * 24 * 3600};
};

// "synergy" and "synergy-strict".
std::span<const MechanismName> ProductMechanisms();
// What a Kubernetes user would do without Synergy: "proportional", "burstable-spread",
// "burstable-packed".
std::span<const MechanismName> BaselineMechanisms();
// Sets the options of a mechanism of either list. Returns whether there is one of that name.
bool SetMechanism(std::string_view name, ProductOptions& options);

// Told after every event; for tests that look at every state.
class ProductObserver {
 public:
  virtual ~ProductObserver() = default;
  virtual void Look(Seconds at, const ClusterSnapshot& cluster) = 0;
};

// `jobs` in any order. kInvalid for a job that asks for more GPUs than the cluster has, or whose
// model is not known. Jobs that never run because starting pods that never end have their GPUs are
// in the run without a start.
Result<SimulationRun> SimulateProduct(const StartingCluster& cluster,
                                      std::span<const ProductJob> jobs,
                                      const ModelProfiles& profiles, const ProductOptions& options,
                                      const Progress& progress = {},
                                      ProductObserver* observer = nullptr);

}  // namespace synergy
