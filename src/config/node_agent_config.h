#pragma once

// synergy-node-agent's YAML file; docs/node-agent.md says what each field is for.
//
// Threading: pure but for reading the file. Failures: kInvalid with file, line and field; kNotFound
// where there is no file.

#include <chrono>
#include <cstdint>
#include <string>

#include "cluster/claims.h"
#include "core/log.h"
#include "core/result.h"
#include "core/units.h"

namespace synergy::config {

struct NodeAgentConfig {
  std::string listen = "0.0.0.0:9411";
  // /metrics takes a token of an account that may get it (docs/security.md); `listen` has TLS then.
  bool metrics_authorization = false;
  // Where the progress of the node's pods is told, over TLS; empty: nowhere. Then the certificate
  // is shown there, and only the client of that name is told, by a certificate of that authority.
  std::string progress_listen;
  std::string tls_certificate_file;
  std::string tls_key_file;
  std::string client_ca_file;
  std::string client_name;
  std::string node_name;  // whose pods; empty: given by flag or environment
  // Which pods are managed: those of this scheduler that ask for this.
  std::string scheduler_name = kDefaultSchedulerName;
  std::string gpu_resource = "nvidia.com/gpu";
  std::string cgroup_folder = "/sys/fs/cgroup";
  std::string kubelet_cgroup_root = "/";  // the kubelet's cgroupRoot
  // Whether the agent gives up the right to write other files than pods' control groups and its
  // state. It cannot see then what processes read.
  bool confine_writes = true;
  // Kept free below the new limit: a part of it, in percent, and no more than so much.
  int64_t margin_percent = 10;
  Bytes margin_most = MiB(64);
  // While a shrink is under way: how often its memory is looked at.
  std::chrono::milliseconds check_interval{20};
  // Whether page cache is kept to the pods' shares, and what they have in use is told.
  bool keep_cache = true;
  // Whether the progress of trainings is measured, and where the kubelet keeps the logs of pods.
  bool measure_progress = true;
  std::string pod_log_folder = "/var/log/pods";
  // Where the device plugin of the node tells how busy GPUs are (its gpuBusyFile); empty: nowhere.
  std::string gpu_busy_file;
  // Where it is kept which pods have a CPU quota for a moment: it outlives the agent's container.
  std::string state_folder = "/run/synergy-node-agent";
  // Where systemd has the files of transient units, those of containers among them.
  std::string transient_unit_folder = "/run/systemd/transient";
  // The kubelet's evictionHard of memory.available.
  Bytes eviction_threshold = MiB(100);
  // How long the memory is kept below the new limit for a kubelet that does not take it.
  std::chrono::milliseconds give_up_after{90000};
  // Silence of the API server after which /readyz says no.
  std::chrono::milliseconds staleness_limit{120000};
  // From SIGTERM to the end, at most.
  std::chrono::milliseconds shutdown_grace{5000};
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
};

Result<NodeAgentConfig> LoadNodeAgentConfig(const std::string& file);
// `name` stands for the file in errors.
Result<NodeAgentConfig> ParseNodeAgentConfig(const std::string& yaml, const std::string& name);

}  // namespace synergy::config
