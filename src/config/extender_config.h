#pragma once

// The YAML file of synergy-extender. Like every program's it is read strictly: every field has a
// default, and a field that does not exist, or a value that makes no sense, is an error that names
// file, line and field.
//
// Threading: pure but for reading the file.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cluster/claims.h"
#include "config/headroom.h"
#include "core/log.h"
#include "core/resources.h"
#include "core/result.h"
#include "core/units.h"

namespace synergy::config {

struct ExtenderConfig {
  std::string listen = "127.0.0.1:8888";
  // /healthz, /readyz and /metrics a second time, without the verbs, so that probes and Prometheus
  // reach them while the verbs stay on loopback. Without TLS unless metrics_authorization. Empty:
  // on `listen` alone.
  std::string http_listen;
  // /metrics takes a token of an account that may get it (docs/security.md), on http_listen over
  // TLS.
  bool metrics_authorization = false;
  std::string tls_certificate_file;  // both or neither
  std::string tls_key_file;
  std::string gpu_resource = "nvidia.com/gpu";
  // Tells what it would have chosen for pods that others place, and changes nothing.
  bool shadow = false;
  // Whose pods Synergy manages, and how long the controller's tuner keeps a place for one: what a
  // pod's annotations claim counts by these (cluster/claims.h).
  std::string scheduler_name = kDefaultSchedulerName;
  std::chrono::milliseconds hold = kDefaultHold;
  // CPU and memory kept for every GPU that stays free on a node; none: learned from the cluster's
  // pods.
  std::optional<ResourceVector> reserve_per_gpu;
  // Kept free on every node for pods without GPUs that come later; the controller's is the same.
  ResourceVector node_headroom = kDefaultHeadroom;
  // How much worse a place may be than the best one, in hundredths of the largest node, for
  // kube-scheduler's own scores to choose between them where a pod prefers some nodes; 0: never.
  int64_t preference_percent = 10;
  // For all of a bind: below kube-scheduler's httpTimeout, after which it asks again.
  std::chrono::milliseconds bind_timeout{13000};
  // After a bind was sent: when to ask the API server what became of it.
  std::chrono::milliseconds assume_timeout{30000};
  // How long places are held for a gang of which not all pods come to be bound.
  std::chrono::milliseconds gang_hold{60000};
  // How long the place of a member that a running gang has lost is held for its replacement; 0: not
  // at all. A Job makes one after 10 s, doubled with each failure.
  std::chrono::milliseconds replacement_hold{60000};
  // How near each other a gang's members are to be (allocation/gangs/gang_locality.h).
  struct Locality {
    std::chrono::milliseconds node_wait{30000};
    std::chrono::milliseconds rack_wait{30000};
    std::string rack_label;  // of nodes; empty: racks are not looked at
    double least_speed = 0.95;
    double most_skew = 0.35;
  } locality;
  // When a place that our ranking promised is given up if no bind came.
  std::chrono::milliseconds expect_timeout{3000};
  // Silence of the API server after which /readyz says no.
  std::chrono::milliseconds staleness_limit{120000};
  // From SIGTERM to the end, at most.
  std::chrono::milliseconds shutdown_grace{10000};
  int64_t max_body_bytes = int64_t{160} << 20;
  // Where everything that is decided is written down for `synergy replay`; empty: nowhere.
  std::string record_file;
  // The file's size at which that ends.
  Bytes record_limit = GiB(1);
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
};

Result<ExtenderConfig> LoadExtenderConfig(const std::string& file);
// `name` stands for the file in errors.
Result<ExtenderConfig> ParseExtenderConfig(const std::string& yaml, const std::string& name);

}  // namespace synergy::config
