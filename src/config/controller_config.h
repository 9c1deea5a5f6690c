#pragma once

// The YAML file of synergy-controller, read as strictly as extender_config.h describes.
//
// Threading: pure, except for reading the file.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/claims.h"
#include "cluster/managed_container.h"
#include "config/headroom.h"
#include "core/log.h"
#include "core/result.h"
#include "core/units.h"
#include "profile/job_profile.h"

namespace synergy::config {

struct ControllerConfig {
  // Address for admission reviews, over TLS.
  std::string listen = ":9443";
  std::string tls_certificate_file;  // both files are required
  std::string tls_key_file;
  // Settings for a controller that makes its own certificate and writes it into the files above
  // (docs/adr/0008-own-certificate.md). Secrets are in own_namespace.
  struct OwnCertificate {
    std::string secret;        // empty: another program provides the files
    std::string agent_secret;  // the node agents' certificate, for progress.server_name; or empty
    std::vector<std::string> names;  // the controller's DNS names
    std::string webhooks;            // name of both webhook configurations
    std::string authority_file;      // where to write the authority's certificate
    std::chrono::milliseconds validity = std::chrono::hours(24 * 365);
  } own_certificate;
  // Set both or neither. If they are set, clients must present a certificate for this DNS name,
  // signed by this authority. The API server can be configured to present one.
  std::string webhook_client_ca_file;
  std::string webhook_client_name;
  // The address of /healthz, /readyz and /metrics, without TLS unless metrics_authorization is set.
  std::string http_listen = "127.0.0.1:8889";
  // Whether /metrics requires a token of an authorized account (docs/security.md), and TLS.
  bool metrics_authorization = false;
  std::string probe_socket;  // set only by a flag; empty: none (daemon/probes.h)
  std::string gpu_resource = "nvidia.com/gpu";
  // Whether GPUs from Dynamic Resource Allocation count, and the DeviceClasses of GPUs
  // (docs/dra.md). Must equal the extender's setting.
  bool dra_enabled = false;
  std::vector<std::string> device_classes = {"gpu.nvidia.com"};
  // The scheduler that admitted pods are assigned to.
  std::string scheduler_name = kDefaultSchedulerName;
  Scope scope = Scope::kOptIn;
  // CPU and memory to keep free on every node for later pods without GPUs. Must equal the
  // extender's setting.
  ResourceVector node_headroom = kDefaultHeadroom;
  // The least amounts per GPU in any node pool, including pools that an autoscaler could create.
  // Zero: those of the existing nodes.
  ResourceVector least_pool_per_gpu;
  // The requests to set for a pod that fits no existing node. An autoscaler chooses a node for them
  // (docs/autoscalers.md).
  struct Unplaced {
    // Used if neither the workload's demand nor a node of its GPU product is known.
    ResourceVector per_gpu{Gpus(0), Cores(3), GiB(10)};
    // How long a pod must be unschedulable before its requests shrink to the amounts of the
    // smallest node.
    std::chrono::milliseconds patience{60000};
  } unplaced;
  // Schedulers whose pods Synergy takes over within the scope, in addition to scheduler_name.
  std::vector<std::string> managed_schedulers{"default-scheduler"};
  std::vector<std::string> excluded_namespaces{"kube-system"};
  // The controller's own namespace. Empty: that of the service account, if there is one.
  std::string own_namespace;
  // The enforcement for pods whose labels set none, and whose namespace's labels set none.
  Enforcement enforcement = Enforcement::kShared;
  // The fraction of its maximum throughput that a job may lose when it gets its demand; 0: none. A
  // profile may set its own tolerance.
  double tolerance = 0;
  // The most throughput that a profile may claim, as a multiple of that at the fair share. A larger
  // claim counts as this multiple.
  double max_speed_up = kDefaultMaxSpeedUp;
  // Whether, when and by how much to change running pods (docs/internals/tuner.md).
  struct Tuner {
    bool enabled = true;
    std::chrono::milliseconds round{300000};
    // The least gain in throughput, in percent, of a node or a single pod that justifies a change.
    int64_t least_gain_percent = 5;
    // How long a place stays reserved for a waiting pod.
    std::chrono::milliseconds hold = kDefaultHold;
    // Time between announcing an increase and applying it.
    std::chrono::milliseconds settle{1000};
    // How long the kubelet may take for a change before it is reverted.
    std::chrono::milliseconds patience{30000};
    // How long not to reduce a pod's amounts again after a reduction was reverted.
    std::chrono::milliseconds unshrinkable{600000};
    // An OOM kill or an eviction is attributed to a change of a pod's memory that happened at most
    // this long before.
    std::chrono::milliseconds memory_watch{600000};
    // How long a pod must be idle before it lends CPU to its neighbours; 0: no pod lends CPU
    // (docs/idle-pods.md).
    std::chrono::milliseconds idle_after{0};
    // Whether to divide memory so that it saves reads for which other pods of the node wait
    // (docs/internals/storage.md).
    bool storage = false;
    // Limits on PATCHes of pods: per second, and concurrent ones.
    int64_t patches_per_second = 50;
    int64_t patches_at_once = 8;
  } tuner;
  // The progress of running pods, which the node agents of own_namespace report
  // (docs/internals/progress.md).
  struct Progress {
    bool enabled = false;
    // Interval between queries to one agent.
    std::chrono::milliseconds interval{10000};
    int64_t port = 9412;
    // Labels of the agents' pods: "app.kubernetes.io/component=node-agent".
    std::string agents;
    // The name and the authority that an agent's certificate must have. The controller presents its
    // own certificate.
    std::string server_name;
    std::string ca_file;
    // The address for GET /progress, over TLS with the webhook's certificate; empty: not served. It
    // requires a token of the service account `reader` in own_namespace.
    std::string listen;
    std::string reader = "synergy-controller-progress";
  } progress;
  // Measures workloads without a profile while they train (docs/internals/profiling.md). Requires
  // progress, the basis of the measurements.
  struct Profiling {
    bool enabled = true;
    // How long a measured profile is kept after the workload's last run and the profile's last
    // change.
    std::chrono::milliseconds keep = std::chrono::hours(720);
    // How long to ignore the progress of a pod at its start.
    std::chrono::milliseconds warm_up{20000};
    // The shortest measurement, without a probe and with one.
    std::chrono::milliseconds window{30000};
    std::chrono::milliseconds probe_window{12000};
    // How long a probe lasts before its measurement begins.
    std::chrono::milliseconds probe_lead{8000};
    // The most that probes may cost, in percent of the iterations in a workload's first hour.
    double most_loss_percent = 2;
    int64_t probes_at_once = 32;
    // Whether pods under measurement may exceed their CPU limit by the CPU that other pods leave
    // unused.
    bool bursts = true;
    // How far a pod must deviate from its measured profile, and for how long, before it is measured
    // again.
    int64_t drift_percent = 15;
    std::chrono::milliseconds drift_time{300000};

    bool On(const Progress& progress) const { return enabled && progress.enabled; }
  } profiling;
  // Whether pods that share GPUs in turns are suspended one after another, and how long each runs
  // (docs/internals/sharing.md). Requires progress. With packing, pods that opted in may run at the
  // same time.
  struct Turns {
    bool enabled = false;
    std::chrono::milliseconds quantum{60000};
    bool packing = false;
  } turns;
  // Whether to report failures of managed pods in events, records and a metric (docs/failures.md).
  // Changes no pod.
  bool failures_enabled = true;
  // Whether to suspend jobs with futile retries if their owners ask for it. Requires
  // failures_enabled.
  bool failures_retries = false;
  // Whether to run trials of Jobs that wait in Kueue's queues if their owners ask for it. Requires
  // failures_enabled and kueue_enabled.
  bool failures_prerun = false;
  // The PriorityClass of trials, whose pods evict no other pods.
  std::string prerun_priority_class = "synergy-prerun";
  // Whether to evict pods for gangs of higher priority, and how long such a gang waits first
  // (docs/internals/gangs.md).
  struct GangPreemption {
    bool enabled = true;
    std::chrono::milliseconds patience{10000};
  } gang_preemption;
  // Whether jobs that have waited long get GPU reservations (docs/internals/reservations.md).
  struct Reservations {
    bool enabled = false;
    std::chrono::milliseconds after{600000};
    int64_t most = 1;  // per GPU product
    int64_t least_gpus = 0;
    // Whether an autoscaler makes and removes nodes (engine/reservations/autoscaling.h).
    bool autoscaler = false;
  } reservations;
  // Whether running jobs move to other GPUs so that waiting ones get room
  // (docs/internals/sharing.md).
  struct Moves {
    bool enabled = false;
    std::chrono::milliseconds after{600000};  // how long a job waits before others move for it
    // The running time that a restart costs a job, if its progress does not show the cost; 0:
    // unknown, so the job does not move.
    std::chrono::milliseconds restart_cost{0};
  } moves;
  // Whether Kueue, whose queues RoundPolicies may order, is installed (docs/queues.md).
  bool kueue_enabled = false;
  // Whether the controller may change the number of workers of Jobs in those queues
  // (docs/internals/optimus.md).
  bool kueue_elastic = false;
  // Whether pods in those queues may have more CPU and memory than Kueue counted
  // (docs/kueue-quotas.md).
  bool kueue_growth_beyond_quota = true;
  // Whether to query TrainJobs for their remaining time if their logs do not contain it
  // (docs/internals/progress.md).
  bool kueue_train_job_progress = false;
  // How long a job with quota waits for the choice of its GPU type before it accepts any type
  // (docs/internals/gavel.md).
  std::chrono::milliseconds type_patience{30000};
  // The Lease in own_namespace, which elects the one replica that changes pods.
  std::string lease_name = "synergy-controller";
  // /readyz fails after this long without a message from the API server.
  std::chrono::milliseconds staleness_limit{120000};
  // Time limit from SIGTERM to the end of the process.
  std::chrono::milliseconds shutdown_grace{10000};
  // The maximum size of a review, in bytes. The API server accepts requests up to 3 MiB, and
  // encodes some of their characters in six bytes.
  int64_t max_body_bytes = int64_t{20} << 20;
  // File for the record of all decisions, for `synergy replay`; empty: none.
  std::string record_file;
  // The file size at which recording ends.
  Bytes record_limit = GiB(1);
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
};

// Returns the JSON Schema of the fields that are values of the chart (field_kinds.h).
std::string ControllerConfigSchema();
Result<ControllerConfig> LoadControllerConfig(const std::string& file);
// `name` is the file's name in errors.
Result<ControllerConfig> ParseControllerConfig(const std::string& yaml, const std::string& name);

}  // namespace synergy::config
