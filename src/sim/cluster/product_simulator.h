#pragma once

// Runs a trace of jobs through the product, event by event, in simulated time. Admission, the
// cluster's state, the extender's ranking and allocation, and the tuner's decisions are the
// product's. kube-scheduler and the kubelets are models. docs/internals/simulator.md lists all
// parts.
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
#include "sim/cluster/drivers/moves_driver.h"
#include "sim/cluster/drivers/reservation_driver.h"
#include "sim/cluster/model_profiles.h"
#include "sim/cluster/simulated_data.h"
#include "sim/cluster/simulated_scheduler.h"
#include "sim/cpu_pods.h"
#include "sim/failures/failing_jobs.h"
#include "sim/faults.h"
#include "sim/node_order.h"
#include "sim/queue/gpu_speeds.h"
#include "sim/queue/queue_driver.h"
#include "sim/sharing/shared_gpus.h"
#include "sim/simulation_run.h"

namespace synergy {

// Measured on real clusters (docs/evidence/real-nodes.md, docs/evidence/tuner.md).
struct Latencies {
  Duration schedule = std::chrono::milliseconds(10);  // one attempt of kube-scheduler for a pod
  Duration bind = std::chrono::milliseconds(50);      // from the choice of a node until it is set
  Duration tune = std::chrono::milliseconds(60);  // from the first news until the tuner's writes
  Duration start = std::chrono::seconds(1);       // until the container runs
  Duration resize = std::chrono::seconds(1);      // from the write of a resize until it is in force
};

// The state at the beginning of the simulation. Its pods stay forever unless
// ProductOptions::remaining limits them; waiting pods are scheduled. REQUIRES: no pod is terminal
// or about to be deleted.
struct StartingCluster {
  std::vector<Node> nodes;
  std::vector<Pod> pods;
  std::vector<Namespace> namespaces;
  // Wall time at the beginning, to which the pods' times refer. It is not zero, because a zero time
  // often means "never".
  WallTime at{std::chrono::hours(1)};
};

// The label of simulated nodes with the name of their rack.
inline constexpr std::string_view kSimulatedRackLabel = "topology.kubernetes.io/rack";
// Returns a cluster of that many nodes, named by ServerName (sim/simulation_run.h). `per_rack` of
// them share a rack; 0: racks are unknown.
StartingCluster ClusterOf(size_t servers, const ResourceVector& server, size_t per_rack = 0);

// A job as the cluster receives it: pods with GPUs and the label of a profile.
struct ProductJob {
  uint64_t id = 0;
  std::string model;
  Gpus gpus;
  Seconds arrival{};
  Seconds ideal{};             // total running time at the fair share
  double fair_throughput = 1;  // the profile's throughput at which the job takes `ideal`
  Seconds first_part{};        // see Job::first_part
  double iterations = 0;       // in total; 0: unknown
  int32_t priority = 0;        // priority of its pods. REQUIRES: 0 in a queue
};

// Jobs that run with more or fewer pods than in the trace. By Amdahl's law, a job with n pods is
// n / (1 + serial * (n - 1)) times as fast as with one.
struct ElasticWorkers {
  int64_t least = 1;
  int64_t most = 16;
  double serial = 0;  // the fraction of its work that pods do not share
};

struct ProductOptions {
  Enforcement enforcement = Enforcement::kShared;
  Latencies latencies;
  TunerSettings tuner;
  Duration restart_cost = std::chrono::seconds(30);
  // The speed of a job on several nodes, and on several racks, if its profile has no value for it.
  double spread_factor = 1;
  double rack_spread_factor = 1;
  // The most GPUs of a pod; a job with more is a gang. Absent: as many as a node has.
  std::optional<Gpus> pod_gpus;
  LocalityRules locality{.rack_label = std::string(kSimulatedRackLabel)};
  std::string pod_namespace = "training";  // namespace of the jobs' pods
  // The remaining work of each GPU pod of the starting cluster, as its duration at the fair share.
  // Absent: those pods run forever. They do not count as jobs of the run.
  std::optional<Seconds> remaining;
  bool keep_changes = false;  // fills SimulationRun::changes
  // Whether the jobs' models have no profiles, so that the product measures them while they run.
  bool live_profiles = false;
  // The models have no profiles until this long after the first arrival; then the true ones are
  // published. Nothing is measured. Isolates the cost of placing jobs without profiles. Excludes
  // `live_profiles`.
  std::optional<Duration> profiles_after;
  // The queue of Kueue in which the jobs wait. A RoundPolicy orders it, and its quota is all GPUs
  // except those of the starting pods. Absent: every job's pods are created when it arrives.
  std::optional<QueueSetup> queue;
  // How fast the models are on the GPU products of the nodes. The product knows this from profiles.
  GpuSpeeds gpu_speeds;
  FaultRates faults;
  CpuPodLoad cpu_pods;
  // How the jobs are assumed to fail. Excludes `elastic` and `reservations`.
  std::optional<FailureSettings> failures;
  // Makes every job whose pods have equally many GPUs elastic. Its own number of pods widens these
  // bounds. REQUIRES: queue->rounds.elastic.
  std::optional<ElasticWorkers> elastic;
  // GPU reservations for jobs that have waited long. They are not available under a baseline.
  // REQUIRES: no queue.
  std::optional<SimulatedReservations> reservations;
  // Moves of running jobs for waiting ones. They are not available under a baseline. REQUIRES: no
  // queue.
  std::optional<SimulatedMoves> moves;
  // How much the ranking of nodes prefers to keep nodes whole.
  WholeNodes whole_nodes = WholeNodes::kByCost;
  // How jobs share GPUs: nodes offer each GPU `height` times. GPU utilisation is then the fraction
  // of these places that is allocated. Works for jobs of one pod, in a cluster that begins without
  // pods. Excludes `queue`, `live_profiles`, `profiles_after`, `baseline`, `failures`,
  // `reservations` and lost nodes.
  std::optional<SharingOptions> sharing;
  // The storage of each node, which its pods share. Absent: each pod has its own storage, as in its
  // profile. Excludes `live_profiles` and `sharing`.
  std::optional<StorageOptions> storage;
  // Replaces Synergy: every pod has its fair share permanently, and no tuner runs. With
  // Enforcement::kStrict a pod uses no more CPU than its share; with kShared it has no limit.
  std::optional<NodeOrder> baseline;
  // Whether all of a job's data come from storage until the job has read its data set once
  // (simulated_data.h).
  bool cold_epochs = false;
  // When to end the run, whether or not jobs still run or wait; absent: when all jobs have
  // finished.
  std::optional<Seconds> until;
  // Gives up after this much simulated time, because some job can never run.
  Seconds limit{10.0 * 365 * 24 * 3600};
};

// Labels the nodes' GPUs as being of that product. REQUIRES: their labels are sorted by key.
void SetProduct(std::string_view product, std::span<Node> nodes);

// Returns "synergy" and "synergy-strict".
std::span<const MechanismName> ProductMechanisms();
// Returns the common practices without Synergy: "proportional", "burstable-spread",
// "burstable-packed".
std::span<const MechanismName> BaselineMechanisms();
// Sets the options of a mechanism from either list. Returns whether there is one with that name.
bool SetMechanism(std::string_view name, ProductOptions& options);

// Called after every event; for tests that check every state.
class ProductObserver {
 public:
  virtual ~ProductObserver() = default;
  virtual void Look(Seconds at, const ClusterSnapshot& cluster) = 0;
};

// Takes `jobs` in any order. Returns kInvalid for a job that requests more GPUs than the cluster
// has or, under a policy of GPU types, than any product has. Also returns kInvalid for a job whose
// model is unknown, and for options that exclude each other. Jobs that never run, because starting
// pods without an end have their GPUs, appear in the run without a start.
Result<SimulationRun> SimulateProduct(const StartingCluster& cluster,
                                      std::span<const ProductJob> jobs,
                                      const ModelProfiles& profiles, const ProductOptions& options,
                                      const Progress& progress = {},
                                      ProductObserver* observer = nullptr);

}  // namespace synergy
