#include "cli/cluster/cluster_connection.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/cluster/credential_plugin.h"
#include "config/kubeconfig.h"
#include "core/version.h"

namespace synergy::cli {
namespace {

// Looks in the same order as kubectl: the option, KUBECONFIG, ~/.kube/config, and in a pod its
// service account.
Result<config::ClusterAccess> FindAccess(const std::string& option, const std::string& context) {
  if (!option.empty()) return config::LoadKubeconfigs({option}, context);
  const char* variable = std::getenv("KUBECONFIG");
  std::vector<std::string> files;
  for (std::string_view rest = variable == nullptr ? "" : variable; !rest.empty();) {
    const size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) files.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (!files.empty()) return config::LoadKubeconfigs(files, context);
  const char* home = std::getenv("HOME");
  const std::string file = fmt::format("{}/.kube/config", home == nullptr ? "" : home);
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) return config::LoadKubeconfigs({file}, context);
  if (std::getenv("KUBERNETES_SERVICE_HOST") != nullptr) return config::FindClusterAccess("", "");
  return Fail(
      ErrorCode::kInvalid,
      fmt::format("no cluster: set --kubeconfig FILE or KUBECONFIG ({} does not exist)", file));
}

}  // namespace

wire::PodRules RulesOf(const ClusterArguments& arguments) {
  wire::PodRules rules{.gpu_resource = arguments.gpu_resource, .claims = {}};
  rules.claims.scheduler_name = arguments.scheduler_name;
  return rules;
}

void AddClusterOptions(CLI::App& command, ClusterArguments& arguments) {
  command.add_option("-n,--namespace", arguments.pod_namespace,
                     "instead of the context's namespace");
  command.add_option("--kubeconfig", arguments.kubeconfig,
                     "instead of KUBECONFIG or ~/.kube/config");
  command.add_option("--context", arguments.context, "instead of the kubeconfig's current context");
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
  auto access = FindAccess(arguments.kubeconfig, arguments.context);
  if (access) access = WithCredentials(*std::move(access));
  if (!access) return Fail(access.error());
  auto client = kube::ApiClient::Create(
      *access, {.user_agent = fmt::format("kubectl-synergy/{}", Version())});
  if (!client) return Fail(client.error());
  std::string pod_namespace = arguments.pod_namespace;
  if (pod_namespace.empty()) pod_namespace = access->default_namespace;
  if (pod_namespace.empty()) pod_namespace = "default";
  wire::PodRules rules = RulesOf(arguments);
  return Connection{*std::move(client),
                    wire::ObjectReader(std::move(rules.gpu_resource), std::move(rules.claims)),
                    std::move(pod_namespace), arguments.device_classes};
}

}  // namespace synergy::cli
