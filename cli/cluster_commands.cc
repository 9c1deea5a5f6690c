#include "cli/cluster_commands.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/cluster_facts.h"
#include "cli/credential_plugin.h"
#include "cli/explain.h"
#include "cli/profile_list.h"
#include "cli/top.h"
#include "core/clock.h"
#include "core/version.h"
#include "kube/api_client.h"

namespace synergy::cli {
namespace {

constexpr const char* kExplainHelp =
    R"(Why a pod is where it is, with what, and what it waits for.

examples:
  synergy explain pod train-0
  synergy explain pod/train-0 --namespace research --output json)";

constexpr const char* kTopHelp =
    R"(Who has how much: GPUs, CPU and memory that are allocated, wanted (demand) and above the fair
share (surplus), and the throughput that the profiles promise, as part of the best.

examples:
  synergy top nodes
  synergy top pods --all-namespaces)";

constexpr const char* kProfilesHelp =
    R"(The training profiles, or one of them as a curve.

examples:
  synergy profiles --all-namespaces
  synergy profiles resnet18)";

// As kubectl looks for it: the option, KUBECONFIG, ~/.kube/config, and in a pod its own account.
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
      fmt::format("no cluster: give --kubeconfig FILE or set KUBECONFIG ({} is not there)", file));
}

// What a command needs of the cluster.
struct Connection {
  std::unique_ptr<kube::ApiClient> client;
  json::ObjectReader reader;
  std::string default_namespace;
};

Result<Connection> Connect(const std::string& kubeconfig, const std::string& context,
                           const std::string& gpu_resource) {
  auto access = FindAccess(kubeconfig, context);
  if (access) access = WithCredentials(*std::move(access));
  if (!access) return Fail(access.error());
  auto client = kube::ApiClient::Create(
      *access, {.user_agent = fmt::format("kubectl-synergy/{}", Version())});
  if (!client) return Fail(client.error());
  return Connection{*std::move(client), json::ObjectReader(gpu_resource),
                    access->default_namespace.empty() ? "default" : access->default_namespace};
}

// `table` is only made where it is wanted.
template <class ToTable>
void Print(const std::string& output, const Tree& tree, ToTable table) {
  fmt::print("{}", output == "json" ? ToJson(tree) : output == "yaml" ? ToYaml(tree) : table());
}

void PrintNotes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) fmt::print(stderr, "Note: {}\n", note);
}

}  // namespace

ClusterCommands::ClusterCommands(CLI::App& app)
    : explain_(app.add_subcommand("explain", kExplainHelp)),
      top_(app.add_subcommand("top", kTopHelp)),
      profiles_(app.add_subcommand("profiles", kProfilesHelp)) {
  explain_->add_option("what", explained_, "pod NAME, or pod/NAME")->required()->expected(1, 2);
  top_->add_option("of", top_of_, "nodes or pods")
      ->required()
      ->check(CLI::IsMember({"nodes", "node", "pods", "pod"}));
  profiles_->add_option("name", profile_, "one of them");
  for (CLI::App* command : {explain_, top_, profiles_}) AddCommon(*command);
  for (CLI::App* command : {top_, profiles_}) {
    command->add_flag("-A,--all-namespaces", all_namespaces_, "those of all namespaces");
  }
}

void ClusterCommands::AddCommon(CLI::App& command) {
  command.add_option("-n,--namespace", namespace_, "instead of the context's namespace");
  command.add_option("--kubeconfig", kubeconfig_, "instead of KUBECONFIG or ~/.kube/config");
  command.add_option("--context", context_, "instead of the kubeconfig's current one");
  command.add_option("--gpu-resource", gpu_resource_, "the resource that counts GPUs")
      ->capture_default_str();
  command.add_option("-o,--output", output_, "table, json or yaml")
      ->check(CLI::IsMember({"table", "json", "yaml"}))
      ->capture_default_str();
}

bool ClusterCommands::Parsed() const {
  return explain_->parsed() || top_->parsed() || profiles_->parsed();
}

std::string ClusterCommands::Name() const {
  for (const CLI::App* command : {explain_, top_, profiles_}) {
    if (command->parsed()) return command->get_name();
  }
  return {};
}

Result<> ClusterCommands::Run() const {
  if (explain_->parsed()) return RunExplain();
  return top_->parsed() ? RunTop() : RunProfiles();
}

Result<> ClusterCommands::RunExplain() const {
  std::string kind = explained_.front();
  std::string name = explained_.size() > 1 ? explained_[1] : "";
  if (const size_t slash = kind.find('/'); slash != std::string::npos && name.empty()) {
    name = kind.substr(slash + 1);
    kind.resize(slash);
  }
  if ((kind != "pod" && kind != "pods" && kind != "po") || name.empty() ||
      name.find('/') != std::string::npos) {
    return Fail(ErrorCode::kInvalid, "say pod NAME or pod/NAME");
  }
  auto connection = Connect(kubeconfig_, context_, gpu_resource_);
  if (!connection) return Fail(connection.error());
  FactsReader facts_reader(*connection->client, connection->reader);
  const auto facts =
      facts_reader.ReadPod(namespace_.empty() ? connection->default_namespace : namespace_, name);
  if (!facts) return Fail(facts.error());
  const WallTime now = SystemClock().WallNow();
  const Explanation explanation = Explain(*facts, now);
  Print(output_, ToTree(explanation), [&] { return ToText(explanation, now); });
  return {};
}

Result<> ClusterCommands::RunTop() const {
  auto connection = Connect(kubeconfig_, context_, gpu_resource_);
  if (!connection) return Fail(connection.error());
  FactsReader facts_reader(*connection->client, connection->reader);
  const bool nodes = top_of_.starts_with("node");
  const std::string& default_namespace =
      namespace_.empty() ? connection->default_namespace : namespace_;
  const auto facts = nodes ? facts_reader.ReadCluster()
                           : facts_reader.ReadPods(all_namespaces_ ? "" : default_namespace);
  if (!facts) return Fail(facts.error());
  PrintNotes(facts->notes);
  Tree::List items;
  if (nodes) {
    const std::vector<NodeView> views = ViewNodes(*facts);
    for (const NodeView& view : views) items.push_back(ToTree(view));
    Print(output_, items, [&] { return NodeTable(views); });
  } else {
    const std::vector<PodView> views = ViewPods(*facts);
    for (const PodView& view : views) items.push_back(ToTree(view));
    Print(output_, items, [&] { return PodTable(views, all_namespaces_); });
  }
  return {};
}

Result<> ClusterCommands::RunProfiles() const {
  auto connection = Connect(kubeconfig_, context_, gpu_resource_);
  if (!connection) return Fail(connection.error());
  FactsReader facts_reader(*connection->client, connection->reader);
  if (all_namespaces_ && !profile_.empty()) {
    return Fail(ErrorCode::kInvalid, "one profile is in one namespace: say --namespace");
  }
  const std::string profile_namespace = all_namespaces_      ? ""
                                        : namespace_.empty() ? connection->default_namespace
                                                             : namespace_;
  const auto profiles = facts_reader.ReadProfiles(profile_namespace);
  if (!profiles) return Fail(profiles.error());
  if (profile_.empty()) {
    Print(output_, ToTree(*profiles), [&] { return ProfileTable(*profiles, all_namespaces_); });
    return {};
  }
  const ProfileObject* object = profiles->Find(profile_namespace, profile_);
  if (object == nullptr) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("there is no profile {} in namespace {}", profile_, profile_namespace));
  }
  Print(output_, ToTree(*object), [&] { return ProfileText(*object); });
  return {};
}

}  // namespace synergy::cli
