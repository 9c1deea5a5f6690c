#include "cli/cluster/cluster_connection.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/cluster/credential_plugin.h"
#include "cli/text/amounts.h"
#include "cluster/namespace.h"
#include "core/version.h"
#include "http/proxy.h"
#include "kube/listing.h"

namespace synergy::cli {
namespace {

constexpr std::chrono::milliseconds kCompletionTimeout{2000};
// Stands for no limit on a request: longer than any user waits.
constexpr std::chrono::milliseconds kUnlimited = std::chrono::hours(24);

// Returns the value of the first variable that is set.
std::string Variable(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

// Searches in the same order as kubectl: the option, KUBECONFIG, ~/.kube/config, and inside a pod
// the service account.
Result<config::ClusterAccess> FindAccess(const ClusterArguments& arguments,
                                         config::PodToken token = config::PodToken::kOwn) {
  const std::vector<std::string> files = KubeconfigFiles(arguments);
  const bool named = !arguments.kubeconfig.empty() || !Variable({"KUBECONFIG"}).empty();
  std::error_code ignored;
  if (named || std::filesystem::exists(files.front(), ignored))
    return config::LoadKubeconfigs(files, arguments.access);
  if (!arguments.access.server.empty()) return config::WithOverrides({}, arguments.access);
  const std::string host = Variable({"KUBERNETES_SERVICE_HOST"});
  if (!host.empty()) {
    auto access = config::InClusterAccess(host, Variable({"KUBERNETES_SERVICE_PORT"}),
                                          config::kServiceAccountFolder, token);
    return access ? config::WithOverrides(*std::move(access), arguments.access) : access;
  }
  return Fail(ErrorCode::kInvalid,
              fmt::format("no cluster: set --kubeconfig FILE or KUBECONFIG ({} does not exist)",
                          files.front()));
}

// The kubeconfig's proxy takes precedence over the environment's, and has no exceptions.
std::string ProxyOf(const config::ClusterAccess& access) {
  if (!access.proxy_url.empty()) return access.proxy_url;
  return http::ProxyFor(access.server, {.https = Variable({"HTTPS_PROXY", "https_proxy"}),
                                        .http = Variable({"HTTP_PROXY", "http_proxy"}),
                                        .exempt = Variable({"NO_PROXY", "no_proxy"})});
}

Result<kube::ApiClientOptions> OptionsOf(const ClusterArguments& arguments) {
  kube::ApiClientOptions options{.user_agent = fmt::format("kubectl-synergy/{}", Version())};
  if (arguments.request_timeout.empty()) return options;
  const Result<Duration> timeout = ParseTimeout(arguments.request_timeout);
  if (!timeout) return Fail(ErrorCode::kInvalid, "--request-timeout: " + timeout.error().message);
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(*timeout);
  options.request_timeout = limit > limit.zero() ? std::min(limit, kUnlimited) : kUnlimited;
  options.call_timeout = options.request_timeout;
  return options;
}

Result<std::unique_ptr<kube::ApiClient>> MakeClient(config::ClusterAccess access,
                                                    kube::ApiClientOptions options) {
  access.proxy_url = ProxyOf(access);
  return kube::ApiClient::Create(access, std::move(options));
}

Result<Connection> ConnectWith(const config::ClusterAccess& access,
                               const ClusterArguments& arguments) {
  auto options = OptionsOf(arguments);
  if (!options) return Fail(options.error());
  auto client = MakeClient(access, *std::move(options));
  if (!client) return Fail(client.error());
  std::string pod_namespace = arguments.pod_namespace;
  if (pod_namespace.empty()) pod_namespace = access.default_namespace;
  if (pod_namespace.empty()) pod_namespace = "default";
  wire::PodRules rules = RulesOf(arguments);
  return Connection{*std::move(client),
                    wire::ObjectReader(std::move(rules.gpu_resource), std::move(rules.claims)),
                    std::move(pod_namespace), arguments.device_classes};
}

// A command may already have such an option: simulate's --cluster is a file.
template <class Value>
CLI::Option* AddUnlessTaken(CLI::App& command, const std::string& name, Value& value,
                            const std::string& description) {
  const std::string long_name = name.substr(name.find("--"));
  if (command.get_option_no_throw(long_name) != nullptr) return nullptr;
  return command.add_option(name, value, description);
}

void AddAccessOptions(CLI::App& command, ClusterArguments& arguments) {
  config::AccessOverrides& access = arguments.access;
  const auto add = [&command](const char* name, std::string& value, const char* description) {
    AddUnlessTaken(command, name, value, description);
  };
  add("--kubeconfig", arguments.kubeconfig,
      "the kubeconfig file (default: KUBECONFIG or ~/.kube/config)");
  add("--context", access.context, "a context of the kubeconfig (default: the current one)");
  add("--cluster", access.cluster, "a cluster of the kubeconfig (default: the context's)");
  add("--user", access.user, "a user of the kubeconfig (default: the context's)");
  add("-s,--server", access.server, "the API server's URL (default: the cluster's)");
  add("--token", access.token, "a bearer token (default: the user's)");
  add("--as", access.as.user, "the user to impersonate");
  add("--as-uid", access.as.uid, "the UID to impersonate");
  CLI::Option* const groups = AddUnlessTaken(command, "--as-group", access.as.groups,
                                             "a group to impersonate; may be repeated");
  if (groups != nullptr) groups->allow_extra_args(false);
  add("--tls-server-name", access.tls_server_name, "the name in the server's certificate");
  command.add_flag("--insecure-skip-tls-verify", access.skip_verify,
                   "accept any certificate of the server");
  add("--request-timeout", arguments.request_timeout,
      "time limit of a request, such as 5s or 1m30s; 0: none (default: 10s without an answer)");
}

}  // namespace

wire::PodRules RulesOf(const ClusterArguments& arguments) {
  wire::PodRules rules{.gpu_resource = arguments.gpu_resource, .claims = {}};
  rules.claims.scheduler_name = arguments.scheduler_name;
  return rules;
}

void AddClusterOptions(CLI::App& command, ClusterArguments& arguments) {
  CLI::OptionDefaults& defaults = *command.option_defaults();
  const std::string group = defaults.get_group();
  // `simulate` has its own group for these options.
  if (group == "Options") defaults.group("Cluster");
  command.add_option("-n,--namespace", arguments.pod_namespace,
                     "the namespace (default: the context's)");
  AddAccessOptions(command, arguments);
  command.add_option("--gpu-resource", arguments.gpu_resource, "the resource that counts GPUs")
      ->capture_default_str();
  command
      .add_option("--device-classes", arguments.device_classes,
                  "the DeviceClasses of GPUs, as Synergy's dra.deviceClasses")
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("--scheduler-name", arguments.scheduler_name,
                  "the scheduler of the pods that Synergy manages")
      ->capture_default_str();
  defaults.group(group);
}

void AddControllerOptions(CLI::App& command, ControllerAddress& controller) {
  command
      .add_option("--synergy-namespace", controller.controller_namespace,
                  "Synergy's namespace, to read progress from its controller")
      ->capture_default_str();
  command
      .add_option("--synergy-service", controller.service, "the service of Synergy's controller")
      ->capture_default_str();
}

Result<Connection> Connect(const ClusterArguments& arguments) {
  auto access = FindAccess(arguments);
  if (access) access = WithCredentials(*std::move(access));
  if (!access) return Fail(access.error());
  return ConnectWith(*access, arguments);
}

Result<ConnectByToken> FindServer(const ClusterArguments& arguments) {
  const auto found = FindAccess(arguments, config::PodToken::kNone);
  if (!found) return Fail(found.error());
  config::ClusterAccess server{.server = found->server,
                               .ca_pem = found->ca_pem,
                               .ca_file = found->ca_file,
                               .tls_server_name = found->tls_server_name,
                               .skip_verify = found->skip_verify,
                               .proxy_url = found->proxy_url};
  return [server, arguments](const std::string& token) -> Result<Connection> {
    if (token.empty()) return Fail(ErrorCode::kInvalid, "a request without a token is anonymous");
    config::ClusterAccess access = server;
    access.token = token;
    return ConnectWith(access, arguments);
  };
}

std::vector<std::string> KubeconfigFiles(const ClusterArguments& arguments) {
  if (!arguments.kubeconfig.empty()) return {arguments.kubeconfig};
  std::vector<std::string> files;
  const std::string variable = Variable({"KUBECONFIG"});
  for (std::string_view rest = variable; !rest.empty();) {
    const size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) files.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (files.empty()) files.push_back(Variable({"HOME"}) + "/.kube/config");
  return files;
}

std::vector<std::string> NamespaceNames(const ClusterArguments& arguments) {
  const auto access = FindAccess(arguments);
  if (!access || !access->plugin.command.empty()) return {};
  const auto client = MakeClient(
      *access, {.request_timeout = kCompletionTimeout, .call_timeout = kCompletionTimeout});
  if (!client) return {};
  const wire::ObjectReader reader(arguments.gpu_resource);
  const auto listing = kube::ListAll<Namespace>(**client, reader, {"/api/v1/namespaces", ""});
  std::vector<std::string> names;
  if (!listing) return names;
  for (const Namespace& one : listing->items) names.push_back(one.name);
  return names;
}

}  // namespace synergy::cli
