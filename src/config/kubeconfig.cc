#include "config/kubeconfig.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "json/base64.h"

namespace synergy::config {
namespace {

// A problem in the file; the text begins with its place there.
struct KubeconfigProblem {
  std::string text;
};

std::string ReadFile(const std::string& file) {
  // Opening a folder succeeds, but reading it fails.
  std::error_code ignored;
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file, ignored)) {
    throw KubeconfigProblem{fmt::format("{} cannot be read: {}", file,
                                        in ? "it is a directory" : std::strerror(errno))};
  }
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

// A map in the file, and its name for error messages, such as: users "admin".
class KubeconfigSection {
 public:
  KubeconfigSection(const YAML::Node& node, std::string where, std::filesystem::path folder)
      : node_(node), where_(std::move(where)), folder_(std::move(folder)) {
    if (!node_.IsMap()) throw KubeconfigProblem{where_ + ": is not a map"};
  }

  bool Has(const char* field) const { return node_[field].IsDefined() && !node_[field].IsNull(); }

  [[noreturn]] void Reject(const char* field, std::string_view what) const {
    throw KubeconfigProblem{fmt::format("{}: {}: {}", where_, field, what)};
  }

  // Returns an empty string if the field is absent.
  std::string Text(const char* field) const {
    if (!Has(field)) return {};
    if (!node_[field].IsScalar()) Reject(field, "is not a single value");
    return node_[field].Scalar();
  }

  bool Flag(const char* field) const {
    const std::string text = Text(field);
    if (!text.empty() && text != "true" && text != "false")
      Reject(field, "is neither true nor false");
    return text == "true";
  }

  // Returns a file's name, made absolute as kubectl does.
  std::string FileName(const char* field) const {
    const std::string name = Text(field);
    return name.empty() ? name : (folder_ / name).string();
  }

  // Returns a list of single values.
  std::vector<std::string> Texts(const char* field) const {
    std::vector<std::string> texts;
    if (!Has(field)) return texts;
    if (!node_[field].IsSequence()) Reject(field, "is not a list");
    for (const YAML::Node& entry : node_[field]) {
      if (!entry.IsScalar()) Reject(field, "has an entry that is not a single value");
      texts.push_back(entry.Scalar());
    }
    return texts;
  }

  // Returns a map of lists, as one pair per list element.
  std::vector<std::pair<std::string, std::string>> ListsByKey(const char* field) const {
    std::vector<std::pair<std::string, std::string>> pairs;
    if (!Has(field)) return pairs;
    const KubeconfigSection lists = Inner(field);
    for (const auto& entry : lists.node_) {
      const std::string key = entry.first.Scalar();
      for (std::string& value : lists.Texts(key.c_str())) pairs.emplace_back(key, std::move(value));
    }
    return pairs;
  }

  KubeconfigSection Inner(const char* field) const {
    return {node_[field], fmt::format("{}: {}", where_, field), folder_};
  }

  // Returns a list of {name: ..., value: ...}.
  std::vector<std::pair<std::string, std::string>> Pairs(const char* field) const {
    std::vector<std::pair<std::string, std::string>> pairs;
    if (!Has(field)) return pairs;
    if (!node_[field].IsSequence()) Reject(field, "is not a list");
    for (const YAML::Node& entry : node_[field]) {
      const KubeconfigSection pair(entry, fmt::format("{}: {}", where_, field), folder_);
      pairs.emplace_back(pair.Text("name"), pair.Text("value"));
    }
    return pairs;
  }

  // Returns the content of `field`-data. Without it, returns the content of the file that `field`
  // names, and sets `file` to its name.
  std::string Content(const std::string& field, std::string& file) const {
    const std::string data_field = field + "-data";
    if (const std::string data = Text(data_field.c_str()); !data.empty()) {
      std::optional<std::string> content = json::FromBase64(data);
      if (!content) Reject(data_field.c_str(), "is not base64");
      return std::move(*content);
    }
    file = FileName(field.c_str());
    if (file.empty()) return {};
    try {
      return ReadFile(file);
    } catch (const KubeconfigProblem& problem) {
      Reject(field.c_str(), problem.text);
    }
  }

 private:
  YAML::Node node_;
  std::string where_;
  std::filesystem::path folder_;
};

struct LoadedFile {
  YAML::Node root;
  std::filesystem::path folder;
};

// Finds the entry `name` in `list`, a list of {name: ..., <field>: {...}}; nullopt if there is
// none.
std::optional<KubeconfigSection> FindIn(const LoadedFile& file, const char* list, const char* field,
                                        const std::string& name) {
  const YAML::Node& root = file.root;
  const YAML::Node entries = root[list];
  if (entries.IsDefined() && !entries.IsNull() && !entries.IsSequence())
    throw KubeconfigProblem{fmt::format("{}: is not a list", list)};
  for (const YAML::Node& entry : entries) {
    if (!entry.IsMap() || !entry["name"] || !entry["name"].IsScalar()) {
      throw KubeconfigProblem{fmt::format("{}: an entry has no name", list)};
    }
    if (entry["name"].Scalar() != name) continue;
    return KubeconfigSection(entry[field] ? entry[field] : YAML::Node(YAML::NodeType::Undefined),
                             fmt::format("{} \"{}\": {}", list, name, field), file.folder);
  }
  return std::nullopt;
}

// Returns the entry from the first file that has it.
KubeconfigSection Find(const std::vector<LoadedFile>& files, const char* list, const char* field,
                       const std::string& name) {
  for (const LoadedFile& file : files) {
    if (auto found = FindIn(file, list, field, name)) return *std::move(found);
  }
  throw KubeconfigProblem{fmt::format("{}: there is no entry named \"{}\"", list, name)};
}

bool IsServer(std::string_view url) {
  return url.starts_with("https://") || url.starts_with("http://");
}

void ReadCluster(const KubeconfigSection& cluster, const AccessOverrides& overrides,
                 ClusterAccess& access) {
  access.server = cluster.Text("server");
  if (overrides.server.empty() && !IsServer(access.server)) {
    cluster.Reject("server",
                   fmt::format("\"{}\" does not start with https:// or http://", access.server));
  }
  access.proxy_url = cluster.Text("proxy-url");
  if (!overrides.skip_verify)
    access.ca_pem = cluster.Content("certificate-authority", access.ca_file);
  access.tls_server_name = cluster.Text("tls-server-name");
  access.skip_verify = cluster.Flag("insecure-skip-tls-verify");
}

constexpr std::string_view kOtherCredentials =
    "is not supported; set a token, a tokenFile or a client certificate for the user (a service "
    "account's token: kubectl create token)";

void ReadPlugin(const KubeconfigSection& exec, CredentialPlugin& plugin) {
  plugin.api_version = exec.Text("apiVersion");
  if (plugin.api_version != "client.authentication.k8s.io/v1" &&
      plugin.api_version != "client.authentication.k8s.io/v1beta1") {
    exec.Reject(
        "apiVersion",
        fmt::format("\"{}\" is not supported; use v1 or v1beta1 of client.authentication.k8s.io",
                    plugin.api_version));
  }
  plugin.command = exec.Text("command");
  if (plugin.command.empty()) exec.Reject("command", "is missing");
  // A path is relative to the kubeconfig; a bare name is looked up in $PATH.
  if (plugin.command.find('/') != std::string::npos) plugin.command = exec.FileName("command");
  plugin.arguments = exec.Texts("args");
  plugin.environment = exec.Pairs("env");
  plugin.install_hint = exec.Text("installHint");
}

void ReadImpersonation(const KubeconfigSection& user, Impersonation& as) {
  as.user = user.Text("as");
  as.uid = user.Text("as-uid");
  as.groups = user.Texts("as-groups");
  as.extra = user.ListsByKey("as-user-extra");
  if (as.user.empty() && as != Impersonation())
    user.Reject("as", "is missing; as-uid, as-groups and as-user-extra need it");
}

void ReadUser(const KubeconfigSection& user, bool plugins, ClusterAccess& access) {
  if (user.Has("exec") && !plugins) user.Reject("exec", kOtherCredentials);
  for (const char* field : {"auth-provider", "username", "password"}) {
    if (user.Has(field)) user.Reject(field, kOtherCredentials);
  }
  ReadImpersonation(user, access.as);
  access.certificate_pem = user.Content("client-certificate", access.certificate_file);
  access.key_pem = user.Content("client-key", access.key_file);
  if (access.certificate_pem.empty() != access.key_pem.empty()) {
    user.Reject(access.key_pem.empty() ? "client-key" : "client-certificate",
                "is missing; its counterpart is set");
  }
  // As in client-go, the file takes precedence if both are given.
  access.token_file = user.FileName("tokenFile");
  if (access.token_file.empty()) access.token = user.Text("token");
  if (user.Has("exec")) ReadPlugin(user.Inner("exec"), access.plugin);
}

// Parses the content of a file; returns nullopt if it is empty.
std::optional<LoadedFile> Parse(const std::string& file, const std::string& content) {
  const YAML::Node root = YAML::Load(content);
  if (root.IsNull()) return std::nullopt;
  LoadedFile loaded{root, std::filesystem::path(file).parent_path()};
  const KubeconfigSection top(loaded.root, "the file", loaded.folder);
  return loaded;
}

// Returns the context that the overrides name, otherwise the current one; nullopt if there is none
// and the overrides suffice.
std::optional<KubeconfigSection> ChooseContext(const std::vector<LoadedFile>& files,
                                               const AccessOverrides& overrides) {
  std::string name = overrides.context;
  for (const LoadedFile& file : files) {
    if (!name.empty()) break;
    name = KubeconfigSection(file.root, "the file", file.folder).Text("current-context");
  }
  if (!name.empty()) return Find(files, "contexts", "context", name);
  if (overrides.cluster.empty() && overrides.server.empty())
    throw KubeconfigProblem{"the file: current-context: is not set; set it or name a context"};
  return std::nullopt;
}

ClusterAccess ReadAccess(const std::vector<LoadedFile>& files, const AccessOverrides& overrides,
                         bool plugins) {
  ClusterAccess access;
  const std::optional<KubeconfigSection> context = ChooseContext(files, overrides);
  const auto named = [&](const std::string& override, const char* field) {
    return !override.empty() || !context ? override : context->Text(field);
  };
  const std::string cluster = named(overrides.cluster, "cluster");
  if (!cluster.empty() || overrides.server.empty())
    ReadCluster(Find(files, "clusters", "cluster", cluster), overrides, access);
  // A context without a user is anonymous.
  const std::string user = named(overrides.user, "user");
  if (!user.empty()) ReadUser(Find(files, "users", "user", user), plugins, access);
  if (context) access.default_namespace = context->Text("namespace");
  return access;
}

Result<ClusterAccess> Load(const std::vector<std::string>& files, const AccessOverrides& overrides,
                           bool plugins) {
  std::string names;
  for (const std::string& file : files) names += (names.empty() ? "" : ", ") + file;
  ErrorCode code = ErrorCode::kNotFound;
  std::string reading;
  try {
    std::vector<LoadedFile> loaded;
    for (const std::string& file : files) {
      std::error_code ignored;
      if (files.size() > 1 && !std::filesystem::exists(file, ignored)) continue;
      reading = file;
      code = ErrorCode::kNotFound;
      const std::string content = ReadFile(file);
      code = ErrorCode::kInvalid;
      std::optional<LoadedFile> one = Parse(file, content);
      if (!one && files.size() == 1) throw KubeconfigProblem{"the file is empty"};
      if (one) loaded.push_back(*std::move(one));
    }
    if (loaded.empty()) throw KubeconfigProblem{"the files do not exist, or are empty"};
    reading = names;
    return WithOverrides(ReadAccess(loaded, overrides, plugins), overrides);
  } catch (const KubeconfigProblem& problem) {
    return Fail(code, fmt::format("kubeconfig {}: {}", reading, problem.text));
  } catch (const YAML::Exception& problem) {
    return Fail(code, fmt::format("kubeconfig {}: line {}: {}", reading, problem.mark.line + 1,
                                  problem.msg));
  }
}

void AddNames(const YAML::Node& entries, std::vector<std::string>& names) {
  if (!entries.IsDefined() || !entries.IsSequence()) return;
  for (const YAML::Node& entry : entries) {
    if (entry.IsMap() && entry["name"] && entry["name"].IsScalar())
      names.push_back(entry["name"].Scalar());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace

Result<ClusterAccess> LoadKubeconfig(const std::string& file, const std::string& context) {
  return Load({file}, {.context = context}, false);
}

Result<ClusterAccess> LoadKubeconfigs(const std::vector<std::string>& files,
                                      const AccessOverrides& overrides) {
  return Load(files, overrides, true);
}

Result<ClusterAccess> WithOverrides(ClusterAccess access, const AccessOverrides& overrides) {
  if (!overrides.server.empty()) {
    if (!IsServer(overrides.server)) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("--server \"{}\": does not start with https:// or http://",
                              overrides.server));
    }
    access.server = overrides.server;
    access.tls_server_name = {};
  }
  if (!overrides.tls_server_name.empty()) access.tls_server_name = overrides.tls_server_name;
  if (overrides.skip_verify) {
    access.skip_verify = true;
    access.ca_pem = access.ca_file = {};
  }
  if (!overrides.token.empty()) {
    access.token = overrides.token;
    access.token_file = {};
    access.plugin = {};
  }
  const Impersonation& as = overrides.as;
  if (!as.user.empty()) access.as.user = as.user;
  if (!as.uid.empty()) access.as.uid = as.uid;
  if (!as.groups.empty()) access.as.groups = as.groups;
  if (access.as.user.empty() && access.as != Impersonation())
    return Fail(ErrorCode::kInvalid, "--as is missing; --as-group and --as-uid need it");
  return access;
}

KubeconfigNames ListKubeconfigs(const std::vector<std::string>& files) {
  KubeconfigNames names;
  for (const std::string& file : files) {
    try {
      const std::optional<LoadedFile> loaded = Parse(file, ReadFile(file));
      if (!loaded) continue;
      AddNames(loaded->root["contexts"], names.contexts);
      AddNames(loaded->root["clusters"], names.clusters);
      AddNames(loaded->root["users"], names.users);
    } catch (const KubeconfigProblem&) {
      continue;
    } catch (const YAML::Exception&) {
      continue;
    }
  }
  return names;
}

Result<ClusterAccess> InClusterAccess(const std::string& host, const std::string& port,
                                      const std::string& folder, PodToken token) {
  if (host.empty() || port.empty()) {
    return Fail(ErrorCode::kNotFound,
                "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; they are set in "
                "every pod, and outside of pods a kubeconfig is required");
  }
  const bool v6 = host.find(':') != std::string::npos;
  ClusterAccess access;
  access.server = fmt::format("https://{}:{}", v6 ? "[" + host + "]" : host, port);
  try {
    access.ca_file = folder + "/ca.crt";
    access.ca_pem = ReadFile(access.ca_file);
    if (token == PodToken::kNone) return access;
    access.token_file = folder + "/token";
    ReadFile(access.token_file);
  } catch (const KubeconfigProblem& problem) {
    return Fail(ErrorCode::kNotFound, fmt::format("service account: {}", problem.text));
  }
  return access;
}

Result<ClusterAccess> FindClusterAccess(const std::string& kubeconfig, const std::string& context) {
  if (!kubeconfig.empty()) return LoadKubeconfig(kubeconfig, context);
  const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
  if (host == nullptr || port == nullptr) {
    return Fail(ErrorCode::kInvalid,
                "not inside a cluster (KUBERNETES_SERVICE_HOST is not set): set --kubeconfig FILE");
  }
  return InClusterAccess(host, port);
}

}  // namespace synergy::config
