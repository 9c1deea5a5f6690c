#pragma once

// The YAML file of synergy-controller, read as strictly as extender_config.h says.
//
// Threading: pure but for reading the file.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/claims.h"
#include "cluster/fungible.h"
#include "config/headroom.h"
#include "core/log.h"
#include "core/result.h"
#include "core/units.h"
#include "profile/job_profile.h"

namespace synergy::config {

struct ControllerConfig {
  // Admission reviews, over TLS.
  std::string listen = ":9443";
  std::string tls_certificate_file;  // both
  std::string tls_key_file;
  // Both or neither: who asks for a review has to show a certificate that this authority has signed
  // for this DNS name, as the API server does where it is told to.
  std::string webhook_client_ca_file;
  std::string webhook_client_name;
  // /healthz, /readyz and /metrics, without TLS unless metrics_authorization.
  std::string http_listen = "127.0.0.1:8889";
  // /metrics takes a token of an account that may get it (docs/security.md), over TLS.
  bool metrics_authorization = false;
  std::string gpu_resource = "nvidia.com/gpu";
  // What pods that are admitted are given to.
  std::string scheduler_name = kDefaultSchedulerName;
  Scope scope = Scope::kOptIn;
  // Kept free on every node for pods without GPUs that come later; the extender's is the same.
  ResourceVector node_headroom = kDefaultHeadroom;
  // What every node pool has for each GPU, those that an autoscaler could make included. Nothing:
  // as much as the nodes that are there.
  ResourceVector least_pool_per_gpu;
  // Within the scope, whose pods are taken over, beside those that ask for scheduler_name.
  std::vector<std::string> managed_schedulers{"default-scheduler"};
  std::vector<std::string> excluded_namespaces{"kube-system"};
  // The controller's own; empty: that of the service account, where there is one.
  std::string own_namespace;
  // Of pods that neither their own labels nor their namespace's say anything about.
  Enforcement enforcement = Enforcement::kShared;
  // How far below its best a job may be with its demand, unless its profile says: 0 is at its best.
  double tolerance = 0;
  // How many times its fair share's throughput a profile is believed.
  double max_speed_up = kDefaultMaxSpeedUp;
  // Whether running pods are changed, and how eagerly (docs/tuner.md).
  struct Tuner {
    bool enabled = true;
    std::chrono::milliseconds round{300000};
    // By how much, in percent, a node's throughput or a single pod's has to rise.
    int64_t least_gain_percent = 5;
    // How long a place is kept for a waiting pod.
    std::chrono::milliseconds hold = kDefaultHold;
    // Between the announcement of a growth and the growth.
    std::chrono::milliseconds settle{1000};
    // How long the kubelet may take for a change before it is put back.
    std::chrono::milliseconds patience{30000};
    // How long a pod whose cut was put back is not cut again.
    std::chrono::milliseconds unshrinkable{600000};
    // For how long after a change of a pod's memory an OOM kill or an eviction is held to follow
    // from it.
    std::chrono::milliseconds memory_watch{600000};
    // PATCHes of pods, at most: how many a second, and how many at a time.
    int64_t patches_per_second = 50;
    int64_t patches_at_once = 8;
  } tuner;
  // How far running pods are, as the node agents of own_namespace tell (docs/progress.md).
  struct Progress {
    bool enabled = false;
    // Between two questions to an agent.
    std::chrono::milliseconds interval{10000};
    int64_t port = 9412;
    // The pods of agents, by labels: "app.kubernetes.io/component=node-agent".
    std::string agents;
    // Whom an agent's certificate has to name, and whose it is. The controller shows its own.
    std::string server_name;
    std::string ca_file;
    // Where GET /progress tells of it, over TLS with the webhook's certificate; empty: nowhere. It
    // takes a token of the service account `reader` in own_namespace.
    std::string listen;
    std::string reader = "synergy-controller-progress";
  } progress;
  // Workloads without a profile are measured while they train (docs/profiling.md). Needs progress:
  // without it there is nothing to measure by.
  struct Profiling {
    bool enabled = true;
    // How long what was measured of a workload stays after its last run and its last change.
    std::chrono::milliseconds keep = std::chrono::hours(720);
    // Of a pod's progress that is not counted.
    std::chrono::milliseconds warm_up{20000};
    // The least time that is measured, without a probe and with one.
    std::chrono::milliseconds window{30000};
    std::chrono::milliseconds probe_window{12000};
    // How long a probe lasts before it is measured.
    std::chrono::milliseconds probe_lead{8000};
    // What probes may cost of a workload's first hour.
    double most_loss_percent = 2;
    int64_t probes_at_once = 32;
    // How far off what was measured a pod has to be, and for how long, to be measured again.
    int64_t drift_percent = 15;
    std::chrono::milliseconds drift_time{300000};

    bool On(const Progress& progress) const { return enabled && progress.enabled; }
  } profiling;
  // Whether others are evicted for gangs of higher priority, and how long these wait before that
  // (docs/gangs.md).
  struct GangPreemption {
    bool enabled = true;
    std::chrono::milliseconds patience{10000};
  } gang_preemption;
  // Whether Kueue is there, whose queues RoundPolicies may order (docs/queues.md).
  bool kueue_enabled = false;
  // Whether it may change the workers of Jobs in those queues (docs/optimus.md).
  bool kueue_elastic = false;
  // Whether TrainJobs are asked how long they still need, where their logs do not tell
  // (docs/progress.md).
  bool kueue_train_job_progress = false;
  // How long a job with quota waits for somebody to say its GPU type; then it takes any
  // (docs/gavel.md).
  std::chrono::milliseconds type_patience{30000};
  // The Lease, in own_namespace, by which one replica of several changes pods.
  std::string lease_name = "synergy-controller";
  // Silence of the API server after which /readyz says no.
  std::chrono::milliseconds staleness_limit{120000};
  // From SIGTERM to the end, at most.
  std::chrono::milliseconds shutdown_grace{10000};
  // The largest review. The API server takes no request of more than 3 MiB, and writes some
  // characters of it as six bytes.
  int64_t max_body_bytes = int64_t{20} << 20;
  // Where everything that is decided is written down for `synergy replay`; empty: nowhere.
  std::string record_file;
  // The file's size at which that ends.
  Bytes record_limit = GiB(1);
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
};

Result<ControllerConfig> LoadControllerConfig(const std::string& file);
// `name` stands for the file in errors.
Result<ControllerConfig> ParseControllerConfig(const std::string& yaml, const std::string& name);

}  // namespace synergy::config
