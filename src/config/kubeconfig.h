#pragma once

// Finds the address and credentials of an API server, in a kubeconfig or in a pod's environment.
//
// Threading: pure, except for reading the files named. Errors name the file and the field.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"

namespace synergy::config {

struct CredentialPlugin {
  std::string api_version;  // "client.authentication.k8s.io/v1"
  std::string command;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // added to the process's own
  std::string install_hint;
};

// The user to act as, through the API server's impersonation.
struct Impersonation {
  std::string user;  // empty: none
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::vector<std::pair<std::string, std::string>> extra = {};  // one pair per value

  bool operator==(const Impersonation&) const = default;
};

struct ClusterAccess {
  std::string server;           // URL
  std::string ca_pem;           // empty: the system's authorities
  std::string certificate_pem;  // both or neither
  std::string key_pem;
  // The files of these values, which may change; empty for values stored in the kubeconfig.
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  std::string token;       // at most one of token and token_file
  std::string token_file;  // read again when it changes (service account tokens rotate)
  std::string tls_server_name;
  bool skip_verify = false;
  std::string proxy_url;  // may contain credentials; empty: not set
  Impersonation as;
  std::string default_namespace;  // of the context; empty: not set
  // A program that provides credentials, such as a cloud's command line (a credential plugin of
  // client-go); an empty command means none. A caller that cannot run it must not connect.
  CredentialPlugin plugin;
};

// Replaces values of a kubeconfig, as kubectl's options do. Empty values replace nothing.
struct AccessOverrides {
  std::string context = {};
  std::string cluster = {};  // name of a cluster's entry
  std::string user = {};
  std::string server = {};  // also drops the kubeconfig's tls-server-name
  std::string tls_server_name = {};
  bool skip_verify = false;  // excludes the kubeconfig's authority
  // Replaces the user's token, token file or plugin. A client certificate stays, as in kubectl.
  std::string token = {};
  Impersonation as = {};  // each part that is set replaces the kubeconfig's
};

// The names of a kubeconfig's entries.
struct KubeconfigNames {
  std::vector<std::string> contexts;
  std::vector<std::string> clusters;
  std::vector<std::string> users;
};

// Reads the current context of a kubeconfig, or `context` if it is not empty. Relative file names
// are relative to the kubeconfig's folder. Refuses credential plugins, because servers have their
// own credentials.
Result<ClusterAccess> LoadKubeconfig(const std::string& file, const std::string& context = {});

// Merges kubeconfigs as kubectl does: takes each entry from the first file that has it, and skips
// files that do not exist.
Result<ClusterAccess> LoadKubeconfigs(const std::vector<std::string>& files,
                                      const AccessOverrides& overrides = {});

// Returns `access` with the overriding values; for access without a kubeconfig.
Result<ClusterAccess> WithOverrides(ClusterAccess access, const AccessOverrides& overrides);

// Returns the names of all entries, sorted. Skips files and entries that cannot be read.
KubeconfigNames ListKubeconfigs(const std::vector<std::string>& files);

// Selects a pod's credentials: its service account's token, or none if the pod mounts no token.
enum class PodToken : uint8_t { kOwn, kNone };

inline constexpr const char* kServiceAccountFolder =
    "/var/run/secrets/kubernetes.io/serviceaccount";

// Returns a pod's access, from KUBERNETES_SERVICE_HOST/PORT (passed in) and the service account's
// folder.
Result<ClusterAccess> InClusterAccess(const std::string& host, const std::string& port,
                                      const std::string& folder = kServiceAccountFolder,
                                      PodToken token = PodToken::kOwn);

// Returns the access of `kubeconfig` or, without one, that of this pod from its environment.
Result<ClusterAccess> FindClusterAccess(const std::string& kubeconfig, const std::string& context);

}  // namespace synergy::config
