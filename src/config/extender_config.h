#pragma once

// The YAML file of synergy-extender. Like the file of every program, it is read strictly. Every
// field has a default. An unknown field or an invalid value is an error that names file, line and
// field.
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
  // A second address for /healthz, /readyz and /metrics, without the extender's verbs. So probes
  // and Prometheus can reach these paths while the verbs stay on loopback. Without TLS unless
  // metrics_authorization is set. Empty: the paths are served only on `listen`.
  std::string http_listen;
  // Whether /metrics requires a token of an authorized account (docs/security.md), on http_listen
  // over TLS.
  bool metrics_authorization = false;
  std::string probe_socket;          // set only by a flag; empty: none (daemon/probes.h)
  std::string tls_certificate_file;  // set both or neither
  std::string tls_key_file;
  std::string gpu_resource = "nvidia.com/gpu";
  // Whether GPUs from Dynamic Resource Allocation count, and the DeviceClasses of GPUs
  // (docs/dra.md). Must equal the controller's setting.
  bool dra_enabled = false;
  std::vector<std::string> device_classes = {"gpu.nvidia.com"};
  // Whether the extender only reports which nodes it would have chosen for pods that other
  // schedulers place, and changes nothing.
  bool shadow = false;
  // The scheduler of the pods that Synergy manages, and how long the controller's tuner reserves a
  // place. Both decide whether the claims in a pod's annotations count (cluster/claims.h).
  std::string scheduler_name = kDefaultSchedulerName;
  std::chrono::milliseconds hold = kDefaultHold;
  // CPU and memory to keep for every free GPU of a node; absent: derived from the cluster's pods.
  std::optional<ResourceVector> reserve_per_gpu;
  // CPU and memory to keep free on every node for later pods without GPUs. Must equal the
  // controller's setting.
  ResourceVector node_headroom = kDefaultHeadroom;
  // If a pod prefers some nodes, kube-scheduler's own scores decide between places that are almost
  // as good as the best. This is the largest difference, in hundredths of the largest node; 0: the
  // scores never decide.
  int64_t preference_percent = 10;
  // Time limit for a whole bind; shorter than kube-scheduler's httpTimeout, after which it retries.
  std::chrono::milliseconds bind_timeout{13000};
  // How long after sending a bind the extender queries the API server for its outcome.
  std::chrono::milliseconds assume_timeout{30000};
  // How long places are held for a gang if not all of its pods' binds arrive.
  std::chrono::milliseconds gang_hold{60000};
  // How long the place of a lost member of a running gang is held for a replacement; 0: it is not
  // held. A Job creates a replacement after 10 s; the time doubles with each failure.
  std::chrono::milliseconds replacement_hold{60000};
  // Whether the controller's GPU reservations apply (docs/internals/reservations.md); must equal
  // the controller's setting.
  bool reservations_enabled = false;
  // The namespace of the ConfigMap with the nodes that pods avoid after failures
  // (extender/nodes/elsewhere.h); empty: no nodes are avoided.
  std::string elsewhere_namespace;
  // The namespace of the ConfigMap in which the controller publishes what it knows about storage
  // (extender/nodes/node_storage.h); empty: storage does not count.
  std::string storage_namespace;
  // How close to each other the members of a gang should be placed
  // (allocation/gangs/gang_locality.h).
  struct Locality {
    std::chrono::milliseconds node_wait{30000};
    std::chrono::milliseconds rack_wait{30000};
    std::string rack_label;  // of nodes; empty: racks are ignored
    double least_speed = 0.95;
    double most_skew = 0.35;
  } locality;
  // How long to expect a pod's bind to the place that the extender's ranking recommended.
  std::chrono::milliseconds expect_timeout{3000};
  // /readyz fails after this long without a message from the API server.
  std::chrono::milliseconds staleness_limit{120000};
  // Time limit from SIGTERM to the end of the process.
  std::chrono::milliseconds shutdown_grace{10000};
  int64_t max_body_bytes = int64_t{160} << 20;
  // File for the record of all decisions, for `synergy replay`; empty: none.
  std::string record_file;
  // The file size at which recording ends.
  Bytes record_limit = GiB(1);
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
};

// Returns the JSON Schema of the fields that are values of the chart (field_kinds.h).
std::string ExtenderConfigSchema();
Result<ExtenderConfig> LoadExtenderConfig(const std::string& file);
// `name` is the file's name in errors.
Result<ExtenderConfig> ParseExtenderConfig(const std::string& yaml, const std::string& name);

}  // namespace synergy::config
