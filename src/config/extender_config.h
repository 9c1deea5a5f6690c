#pragma once

// The YAML file of synergy-extender. Like every program's it is read strictly: every field has a
// default, and an unknown field or an invalid value is an error that names file, line and field.
//
// Threading: pure, except for reading the file.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/claims.h"
#include "config/headroom.h"
#include "core/log.h"
#include "core/resources.h"
#include "core/result.h"
#include "core/units.h"

namespace synergy::config {

struct ExtenderConfig {
  std::string listen = "127.0.0.1:8888";
  // Second address of /healthz, /readyz and /metrics, without the verbs, so that probes and
  // Prometheus reach them while the verbs stay on loopback. Without TLS unless
  // metrics_authorization. Empty: only on `listen`.
  std::string http_listen;
  // Requires a token of an authorized account for /metrics (docs/security.md), on http_listen over
  // TLS.
  bool metrics_authorization = false;
  std::string probe_socket;          // by flag only; empty: none (daemon/probes.h)
  std::string tls_certificate_file;  // both or neither
  std::string tls_key_file;
  std::string gpu_resource = "nvidia.com/gpu";
  // Whether GPUs by Dynamic Resource Allocation count, and the DeviceClasses of GPUs (docs/dra.md).
  // Must equal the controller's.
  bool dra_enabled = false;
  std::vector<std::string> device_classes = {"gpu.nvidia.com"};
  // Reports what it would have chosen for pods that other schedulers place, and changes nothing.
  bool shadow = false;
  // The scheduler of the pods that Synergy manages, and how long the controller's tuner reserves a
  // place: both decide whether the claims in a pod's annotations count (cluster/claims.h).
  std::string scheduler_name = kDefaultSchedulerName;
  std::chrono::milliseconds hold = kDefaultHold;
  // CPU and memory kept for every free GPU of a node; none: derived from the cluster's pods.
  std::optional<ResourceVector> reserve_per_gpu;
  // Kept free on every node for later pods without GPUs; must equal the controller's.
  ResourceVector node_headroom = kDefaultHeadroom;
  // If a pod prefers some nodes, kube-scheduler's own scores choose between places that are at most
  // this much worse than the best, in hundredths of the largest node; 0: never.
  int64_t preference_percent = 10;
  // Limit for a whole bind: below kube-scheduler's httpTimeout, after which it retries.
  std::chrono::milliseconds bind_timeout{13000};
  // How long after a bind was sent to query the API server for its outcome.
  std::chrono::milliseconds assume_timeout{30000};
  // How long places are held for a gang if not all of its pods arrive to be bound.
  std::chrono::milliseconds gang_hold{60000};
  // How long the place of a member that a running gang has lost is held for its replacement; 0: not
  // held. A Job creates one after 10 s, doubled with each failure.
  std::chrono::milliseconds replacement_hold{60000};
  // Whether GPU reservations of the controller hold (docs/internals/reservations.md); must equal
  // the controller's.
  bool reservations_enabled = false;
  // The namespace of the ConfigMap that names the nodes which pods avoid after failures
  // (extender/elsewhere.h); empty: no nodes are avoided.
  std::string elsewhere_namespace;
  // How close to each other a gang's members should be (allocation/gangs/gang_locality.h).
  struct Locality {
    std::chrono::milliseconds node_wait{30000};
    std::chrono::milliseconds rack_wait{30000};
    std::string rack_label;  // of nodes; empty: racks are ignored
    double least_speed = 0.95;
    double most_skew = 0.35;
  } locality;
  // A place that our ranking expects a pod to take is given up if no bind arrives within this time.
  std::chrono::milliseconds expect_timeout{3000};
  // /readyz fails after this long without a message from the API server.
  std::chrono::milliseconds staleness_limit{120000};
  // Limit from SIGTERM to the end.
  std::chrono::milliseconds shutdown_grace{10000};
  int64_t max_body_bytes = int64_t{160} << 20;
  // File for the record of all decisions, for `synergy replay`; empty: none.
  std::string record_file;
  // Size of the file at which recording ends.
  Bytes record_limit = GiB(1);
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
};

// JSON Schema of the fields that are values of the chart (field_kinds.h).
std::string ExtenderConfigSchema();
Result<ExtenderConfig> LoadExtenderConfig(const std::string& file);
// `name` stands for the file in errors.
Result<ExtenderConfig> ParseExtenderConfig(const std::string& yaml, const std::string& name);

}  // namespace synergy::config
