#pragma once

// How to reach an API server: from a kubeconfig file or from inside a pod.
//
// Threading: pure but for reading the files named. Errors name the file and the field.

#include <string>

#include "core/result.h"

namespace synergy::config {

struct ClusterAccess {
  std::string server;           // URL
  std::string ca_pem;           // empty: the system's authorities
  std::string certificate_pem;  // both or neither
  std::string key_pem;
  std::string token;       // at most one of token and token_file
  std::string token_file;  // read again as it changes (service account tokens rotate)
  std::string tls_server_name;
  bool skip_verify = false;
};

// The current context of a kubeconfig, or `context` if not empty. Relative file names are relative
// to the kubeconfig.
Result<ClusterAccess> LoadKubeconfig(const std::string& file, const std::string& context = {});

// What a pod is given: KUBERNETES_SERVICE_HOST/PORT (passed in) and the service account's folder.
Result<ClusterAccess> InClusterAccess(
    const std::string& host, const std::string& port,
    const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

// That of `kubeconfig`, and without one that of the pod that we run in, by its environment.
Result<ClusterAccess> FindClusterAccess(const std::string& kubeconfig, const std::string& context);

}  // namespace synergy::config
