#pragma once

// The YAML file of synergy-node-agent; docs/internals/node-agent.md describes each field.
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
  std::string listen = ":9411";
  // Whether /metrics requires a token of an authorized account (docs/security.md); `listen` then
  // uses TLS.
  bool metrics_authorization = false;
  std::string probe_socket;  // set only by a flag; empty: none (daemon/probes.h)
  // The address that serves the progress of the node's pods over TLS; empty: not served. It uses
  // the certificate below. It answers only a client whose certificate has the name `client_name`
  // and is signed by the authority in `client_ca_file`.
  std::string progress_listen;
  std::string tls_certificate_file;
  std::string tls_key_file;
  std::string client_ca_file;
  std::string client_name;
  std::string node_name;  // the node of the pods; empty: from flag or environment
  // Managed pods use this scheduler and request this resource.
  std::string scheduler_name = kDefaultSchedulerName;
  std::string gpu_resource = "nvidia.com/gpu";
  std::string cgroup_folder = "/sys/fs/cgroup";
  std::string kubelet_cgroup_root = "/";  // the kubelet's cgroupRoot
  // Whether the agent gives up the right to write files, except pods' control groups and its own
  // state. It then cannot measure the reads of processes.
  bool confine_writes = true;
  // Memory to keep free below the new limit: a percentage of it, with a maximum.
  int64_t margin_percent = 10;
  Bytes margin_most = MiB(64);
  // How often to check memory during a shrink.
  std::chrono::milliseconds check_interval{20};
  // Whether to limit page cache to the pods' shares, and to report the pods' memory use.
  bool keep_cache = true;
  // Whether to measure the progress of trainings, and the folder in which the kubelet keeps pods'
  // logs.
  bool measure_progress = true;
  std::string pod_log_folder = "/var/log/pods";
  // Whether to limit pods' reads from a disk while other pods wait for it.
  bool divide_storage = false;
  // The kubelet's folder of pods, which contains the files in which trainings report their
  // progress; empty: do not read such files.
  std::string pods_folder;
  // The file in which the node's device plugin reports how busy GPUs are (its gpuBusyFile); empty:
  // none.
  std::string gpu_busy_file;
  // The kubelet's socket that reports which container has which device; empty: do not query it.
  std::string pod_resources_socket = "/var/lib/kubelet/pod-resources/kubelet.sock";
  // The DCGM exporter on the node: a pod of a DaemonSet with a matching name in one of these
  // namespaces. If empty, no exporter is queried.
  struct Dcgm {
    std::vector<std::string> namespaces;
    std::string daemon_set = "*dcgm-exporter*";  // a pattern in which * and ? are wildcards
    int64_t port = 9400;
    std::string path = "/metrics";
  };
  Dcgm dcgm;
  // Whether to suspend pods for their turns on GPUs that they share (docs/internals/sharing.md).
  bool turns = false;
  // The folder for the record of temporary writes to control groups. The folder outlives the
  // agent's container.
  std::string state_folder = "/run/synergy-node-agent";
  // The folder in which systemd keeps the files of transient units, including those of containers.
  std::string transient_unit_folder = "/run/systemd/transient";
  // The kubelet's evictionHard value for memory.available.
  Bytes eviction_threshold = MiB(100);
  // How long to keep memory below the new limit if the kubelet does not apply it.
  std::chrono::milliseconds give_up_after{90000};
  // /readyz fails after this long without a message from the API server.
  std::chrono::milliseconds staleness_limit{120000};
  // Time limit from SIGTERM to the end of the process.
  std::chrono::milliseconds shutdown_grace{5000};
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
};

// Returns the JSON Schema of the fields that are values of the chart (field_kinds.h).
std::string NodeAgentConfigSchema();
Result<NodeAgentConfig> LoadNodeAgentConfig(const std::string& file);
// `name` is the file's name in errors.
Result<NodeAgentConfig> ParseNodeAgentConfig(const std::string& yaml, const std::string& name);

}  // namespace synergy::config
