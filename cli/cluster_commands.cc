#include "cli/cluster_commands.h"

#include <cstdio>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/cluster_facts.h"
#include "cli/explain.h"
#include "cli/profile_list.h"
#include "cli/top.h"
#include "core/clock.h"

namespace synergy::cli {
namespace {

constexpr const char* kExplainHelp =
    R"(Why a pod is where it is, with what, and what it waits for.

examples:
  synergy explain pod train-0
  synergy explain pod train-0 --nodes
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

// `table` is only made where it is wanted.
template <class ToTable>
void Print(const std::string& output, const Tree& tree, ToTable table) {
  fmt::print("{}", output == "json" ? ToJson(tree) : output == "yaml" ? ToYaml(tree) : table());
}

void PrintNotes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    if (!note.empty()) fmt::print(stderr, "Note: {}\n", note);
  }
}

}  // namespace

ClusterCommands::ClusterCommands(CLI::App& app)
    : explain_(app.add_subcommand("explain", kExplainHelp)),
      top_(app.add_subcommand("top", kTopHelp)),
      profiles_(app.add_subcommand("profiles", kProfilesHelp)) {
  explain_->add_option("what", explained_, "pod NAME, or pod/NAME")->required()->expected(1, 2);
  explain_->add_flag("--nodes", each_node_, "what keeps a waiting pod from each node");
  top_->add_option("of", top_of_, "nodes or pods")
      ->required()
      ->check(CLI::IsMember({"nodes", "node", "pods", "pod"}));
  profiles_->add_option("name", profile_, "one of them");
  for (CLI::App* command : {explain_, top_, profiles_}) AddCommon(*command);
  for (CLI::App* command : {explain_, top_}) {
    command
        ->add_option("--synergy-namespace", controller_.controller_namespace,
                     "where Synergy is, which knows how far pods are")
        ->capture_default_str();
    command->add_option("--synergy-service", controller_.service, "its controller's service")
        ->capture_default_str();
  }
  for (CLI::App* command : {top_, profiles_}) {
    command->add_flag("-A,--all-namespaces", all_namespaces_, "those of all namespaces");
  }
}

void ClusterCommands::AddCommon(CLI::App& command) {
  AddClusterOptions(command, cluster_);
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
  auto connection = Connect(cluster_);
  if (!connection) return Fail(connection.error());
  FactsReader facts_reader(*connection->client, connection->reader);
  auto facts = facts_reader.ReadPod(connection->pod_namespace, name);
  if (!facts) return Fail(facts.error());
  facts->progress = ReadProgress(*connection->client, controller_, connection->pod_namespace);
  PrintNotes({facts->progress.note});
  const WallTime now = SystemClock().WallNow();
  const Explanation explanation = Explain(*facts, now);
  Print(output_, ToTree(explanation, each_node_),
        [&] { return ToText(explanation, now, each_node_); });
  return {};
}

Result<> ClusterCommands::RunTop() const {
  auto connection = Connect(cluster_);
  if (!connection) return Fail(connection.error());
  FactsReader facts_reader(*connection->client, connection->reader);
  const bool nodes = top_of_.starts_with("node");
  const std::string pods_of = all_namespaces_ ? "" : connection->pod_namespace;
  auto facts = nodes ? facts_reader.ReadCluster() : facts_reader.ReadPods(pods_of);
  if (!facts) return Fail(facts.error());
  if (!nodes) {
    facts->progress = ReadProgress(*connection->client, controller_, pods_of);
    facts->notes.push_back(facts->progress.note);
  }
  PrintNotes(facts->notes);
  const WallTime now = SystemClock().WallNow();
  Tree::List items;
  if (nodes) {
    const std::vector<NodeView> views = ViewNodes(*facts, now);
    for (const NodeView& view : views) items.push_back(ToTree(view));
    Print(output_, items, [&] { return NodeTable(views); });
  } else {
    const std::vector<PodView> views = ViewPods(*facts, now);
    for (const PodView& view : views) items.push_back(ToTree(view));
    Print(output_, items, [&] { return PodTable(views, all_namespaces_); });
  }
  return {};
}

Result<> ClusterCommands::RunProfiles() const {
  auto connection = Connect(cluster_);
  if (!connection) return Fail(connection.error());
  FactsReader facts_reader(*connection->client, connection->reader);
  if (all_namespaces_ && !profile_.empty()) {
    return Fail(ErrorCode::kInvalid, "one profile is in one namespace: say --namespace");
  }
  const std::string profile_namespace = all_namespaces_ ? "" : connection->pod_namespace;
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
