#pragma once

// synergy-node-agent's YAML file; docs/internals/node-agent.md describes each field.
//
// Threading: pure, except for reading the file.
// Failures: kInvalid with file, line and field; kNotFound if there is no file.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/claims.h"
#include "core/log.h"
#include "core/result.h"
#include "core/units.h"

namespace synergy::config {

struct NodeAgentConfig {
  std::string listen = "0.0.0.0:9411";
  // Requires a token of an authorized account for /metrics (docs/security.md); `listen` then uses
  // TLS.
  bool metrics_authorization = false;
  std::string probe_socket;  // by flag only; empty: none (daemon/probes.h)
  // Address that serves the progress of the node's pods over TLS; empty: not served. It uses the
  // certificate below, and answers only the client of that name, with a certificate of that
  // authority.
  std::string progress_listen;
  std::string tls_certificate_file;
  std::string tls_key_file;
  std::string client_ca_file;
  std::string client_name;
  std::string node_name;  // the node of the pods; empty: from flag or environment
  // Managed pods are those of this scheduler that request this resource.
  std::string scheduler_name = kDefaultSchedulerName;
  std::string gpu_resource = "nvidia.com/gpu";
  std::string cgroup_folder = "/sys/fs/cgroup";
  std::string kubelet_cgroup_root = "/";  // the kubelet's cgroupRoot
  // Whether the agent gives up the right to write any files except pods' control groups and its
  // state. It then cannot see what processes read.
  bool confine_writes = true;
  // Memory kept free below the new limit: a percentage of it, with a maximum.
  int64_t margin_percent = 10;
  Bytes margin_most = MiB(64);
  // How often to look at memory while a shrink is under way.
  std::chrono::milliseconds check_interval{20};
  // Whether to limit page cache to the pods' shares, and to report the pods' memory use.
  bool keep_cache = true;
  // Whether to measure the progress of trainings, and where the kubelet keeps pods' logs.
  bool measure_progress = true;
  std::string pod_log_folder = "/var/log/pods";
  // Whether to cap what pods read from a disk while others wait for it.
  bool divide_storage = false;
  // The kubelet's folder of pods, which contains the files in which trainings report their
  // progress; empty: such files are not read.
  std::string pods_folder;
  // File in which the node's device plugin reports how busy GPUs are (its gpuBusyFile); empty:
  // none.
  std::string gpu_busy_file;
  // The kubelet's socket that says which container has which device; empty: not asked.
  std::string pod_resources_socket = "/var/lib/kubelet/pod-resources/kubelet.sock";
  // The DCGM exporter on the node: a pod of a DaemonSet whose name matches, in one of these
  // namespaces. None: no exporter is asked.
  struct Dcgm {
    std::vector<std::string> namespaces;
    std::string daemon_set = "*dcgm-exporter*";  // a pattern with * and ?
    int64_t port = 9400;
    std::string path = "/metrics";
  };
  Dcgm dcgm;
  // Whether pods are suspended for their turns on GPUs that they share (docs/internals/sharing.md).
  bool turns = false;
  // Folder for the record of temporary writes to control groups: it outlives the agent's container.
  std::string state_folder = "/run/synergy-node-agent";
  // Folder in which systemd keeps the files of transient units, including containers'.
  std::string transient_unit_folder = "/run/systemd/transient";
  // The kubelet's evictionHard of memory.available.
  Bytes eviction_threshold = MiB(100);
  // How long memory is kept below the new limit for a kubelet that does not apply it.
  std::chrono::milliseconds give_up_after{90000};
  // /readyz fails after this long without a message from the API server.
  std::chrono::milliseconds staleness_limit{120000};
  // Limit from SIGTERM to the end.
  std::chrono::milliseconds shutdown_grace{5000};
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
};

// JSON Schema of the fields that are values of the chart (field_kinds.h).
std::string NodeAgentConfigSchema();
Result<NodeAgentConfig> LoadNodeAgentConfig(const std::string& file);
// `name` stands for the file in errors.
Result<NodeAgentConfig> ParseNodeAgentConfig(const std::string& yaml, const std::string& name);

}  // namespace synergy::config
