#include "cli/commands/cluster_commands.h"

#include <cstdio>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/cluster/cluster_facts.h"
#include "cli/cluster/failures.h"
#include "cli/cluster/queue_facts.h"
#include "cli/text/amounts.h"
#include "cli/text/terminal.h"
#include "cli/views/explain.h"
#include "cli/views/explain_job.h"
#include "cli/views/failure_view.h"
#include "cli/views/profile_list.h"
#include "cli/views/queue_view.h"
#include "cli/views/top.h"
#include "core/clock.h"

namespace synergy::cli {
namespace {

constexpr const char* kExplainHelp =
    R"(Show the node and the amounts of a pod, the reasons, and what the pod waits for. For a job: its failed
attempts, each with its cause; in a Kueue queue also whether it runs or waits, the reason, its place in
the order, and its attained service.

examples:
  synergy explain pod train-0
  synergy explain pod train-0 --nodes
  synergy explain pod/train-0 --namespace research --output json
  synergy explain job train)";

constexpr const char* kQueueHelp =
    R"(Show the running and waiting jobs of a Kueue ClusterQueue in order, with reasons; without a name, all
queues that a RoundPolicy names.

examples:
  synergy queue
  synergy queue train --output json)";

constexpr const char* kFailuresHelp =
    R"(Show how often pods failed, by category, queue and user (the label synergy.io/user, else the namespace),
and the GPU hours of the runs that failed. `synergy explain job NAME` shows those of one job.

examples:
  synergy failures
  synergy failures --all-namespaces --since 7d
  synergy failures --output json)";

constexpr const char* kTopHelp =
    R"(Show GPUs, CPU and memory per node or pod: allocated, wanted (demand) and above the fair share
(surplus), and the throughput by the profiles, relative to the best. Or show pods whose GPUs and CPU
have been idle for at least five minutes.

examples:
  synergy top nodes
  synergy top pods --all-namespaces
  synergy top idle --all-namespaces)";

constexpr const char* kProfilesHelp =
    R"(Show the training profiles, or one of them as a curve; export a measured profile as a manifest, to
store, change or use it elsewhere as your own profile.

examples:
  synergy profiles --all-namespaces
  synergy profiles resnet18
  synergy profiles export measured-bert-1gpu > mine.yaml)";

// Makes `table` only if it is printed.
template <class ToTable>
void Print(const std::string& output, const Tree& tree, ToTable table) {
  const bool is_json = output == "json";
  fmt::print("{}", Printable(is_json ? ToJson(tree) : output == "yaml" ? ToYaml(tree) : table()));
}

void PrintNotes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    if (!note.empty()) fmt::print(stderr, "Note: {}\n", Printable(note));
  }
}

}  // namespace

ClusterCommands::ClusterCommands(CLI::App& app)
    : explain_(app.add_subcommand("explain", kExplainHelp)),
      top_(app.add_subcommand("top", kTopHelp)),
      profiles_(app.add_subcommand("profiles", kProfilesHelp)),
      queue_(app.add_subcommand("queue", kQueueHelp)),
      failures_(app.add_subcommand("failures", kFailuresHelp)) {
  explain_->add_option("what", explained_, "pod NAME or job NAME, or pod/NAME")
      ->required()
      ->expected(1, 2);
  explain_->add_flag("--nodes", each_node_, "also show why each node does not suit a waiting pod");
  top_->add_option("of", top_of_, "nodes, pods or idle")
      ->required()
      ->check(CLI::IsMember({"nodes", "node", "pods", "pod", "idle"}));
  profiles_->alias("profile")
      ->add_option("name", profile_named_, "one of them, or export NAME")
      ->expected(1, 2);
  queue_->add_option("name", queue_named_, "a ClusterQueue");
  failures_->add_option("--since", since_, "how far back, such as 90m, 24h or 7d")
      ->capture_default_str();
  for (CLI::App* command : {explain_, top_, profiles_, queue_, failures_}) AddCommon(*command);
  for (CLI::App* command : {explain_, top_, failures_}) AddControllerOptions(*command, controller_);
  for (CLI::App* command : {top_, profiles_, failures_}) {
    command->add_flag("-A,--all-namespaces", all_namespaces_, "from all namespaces");
  }
}

void ClusterCommands::AddCommon(CLI::App& command) {
  AddClusterOptions(command, cluster_);
  command.add_option("-o,--output", output_, "table, json or yaml")
      ->check(CLI::IsMember({"table", "json", "yaml"}))
      ->capture_default_str();
}

bool ClusterCommands::Parsed() const { return !Name().empty(); }

std::string ClusterCommands::Name() const {
  for (const CLI::App* command : {explain_, top_, profiles_, queue_, failures_}) {
    if (command->parsed()) return command->get_name();
  }
  return {};
}

Result<> ClusterCommands::Run() const {
  if (explain_->parsed()) return RunExplain();
  if (queue_->parsed()) return RunQueue();
  if (failures_->parsed()) return RunFailures();
  return top_->parsed() ? RunTop() : RunProfiles();
}

Result<> ClusterCommands::RunExplain() const {
  std::string kind = explained_.front();
  std::string name = explained_.size() > 1 ? explained_[1] : "";
  if (const size_t slash = kind.find('/'); slash != std::string::npos && name.empty()) {
    name = kind.substr(slash + 1);
    kind.resize(slash);
  }
  const bool is_job = kind == "job" || kind == "jobs";
  if ((!is_job && kind != "pod" && kind != "pods" && kind != "po") || name.empty() ||
      name.find('/') != std::string::npos) {
    return Fail(ErrorCode::kInvalid, "write pod NAME, job NAME, pod/NAME or job/NAME");
  }
  if (is_job) return RunExplainJob(name);
  auto connection = Connect(cluster_);
  if (!connection) return Fail(connection.error());
  FactsReader facts_reader(*connection->client, connection->reader, connection->device_classes);
  auto facts = facts_reader.ReadPod(connection->pod_namespace, name);
  if (!facts) return Fail(facts.error());
  facts->progress = ProgressReader(*connection->client, controller_, SystemClock())
                        .Read(connection->pod_namespace);
  PrintNotes({facts->progress.note});
  const WallTime now = SystemClock().WallNow();
  const Explanation explanation = Explain(*facts, now);
  Print(output_, ToTree(explanation, each_node_),
        [&] { return ToText(explanation, now, each_node_); });
  return {};
}

Result<> ClusterCommands::RunExplainJob(const std::string& name) const {
  auto connection = Connect(cluster_);
  if (!connection) return Fail(connection.error());
  auto facts = ReadQueues(*connection->client, connection->reader, connection->pod_namespace);
  if (!facts) return PrintAttempts(*connection, name, facts.error());
  const auto workload = FindJob(*facts, connection->pod_namespace, name);
  if (!workload) return PrintAttempts(*connection, name, workload.error());
  FactsReader facts_reader(*connection->client, connection->reader, connection->device_classes);
  std::vector<wire::EventAboutPod> events;
  for (const std::string& uid : {(*workload)->uid, (*workload)->owner.uid}) {
    if (uid.empty()) continue;
    auto about = facts_reader.ReadEvents(connection->pod_namespace, uid);
    if (about) {
      events.insert(events.end(), about->begin(), about->end());
    } else {
      facts->notes.push_back("no events: " + about.error().message);
    }
  }
  const WallTime now = SystemClock().WallNow();
  JobExplanation explanation = ExplainJob(*facts, **workload, std::move(events), now);
  const auto job = ReadTrainJob(*connection->client, connection->reader, **workload);
  if (!job) {
    explanation.remarks.push_back("no data on its TrainJob: " + job.error().message);
  } else if (*job) {
    explanation.trainer_status = (*job)->trainer_status;
  }
  const RecordedFailures failures =
      ReadFailures(*connection->client, connection->reader, controller_.controller_namespace,
                   connection->pod_namespace);
  PrintNotes({failures.note});
  explanation.attempts = AttemptsOf(
      failures.histories, (*workload)->owner.name.empty() ? name : (*workload)->owner.name);
  Print(output_, ToTree(explanation), [&] { return ToText(explanation, now); });
  return {};
}

Result<> ClusterCommands::PrintAttempts(const Connection& connection, const std::string& name,
                                        const Error& error) const {
  // Without Kueue there are no Workloads.
  if (error.code != ErrorCode::kNotFound) return Fail(error);
  const RecordedFailures failures =
      ReadFailures(*connection.client, connection.reader, controller_.controller_namespace,
                   connection.pod_namespace);
  const std::vector<FailedAttempt> attempts = AttemptsOf(failures.histories, name);
  PrintNotes({failures.note});
  if (attempts.empty()) return Fail(error);
  Tree::List items;
  for (const FailedAttempt& attempt : attempts) items.push_back(ToTree(attempt));
  Print(output_, Tree::Members{{"attempts", std::move(items)}},
        [&] { return AttemptsText(attempts, SystemClock().WallNow()); });
  return {};
}

Result<> ClusterCommands::RunFailures() const {
  const Result<Seconds> since = ParseDuration(since_);
  if (!since) return Fail(ErrorCode::kInvalid, "--since: " + since.error().message);
  auto connection = Connect(cluster_);
  if (!connection) return Fail(connection.error());
  const RecordedFailures facts =
      ReadFailures(*connection->client, connection->reader, controller_.controller_namespace,
                   all_namespaces_ ? "" : connection->pod_namespace);
  PrintNotes({facts.note});
  const WallTime now = SystemClock().WallNow();
  const std::vector<FailureSum> sums =
      SumFailures(facts.histories, now - std::chrono::duration_cast<Duration>(*since));
  Tree::List items;
  for (const FailureSum& sum : sums) items.push_back(ToTree(sum));
  Print(output_, items, [&] { return FailureTable(sums, all_namespaces_, now); });
  return {};
}

Result<> ClusterCommands::RunQueue() const {
  auto connection = Connect(cluster_);
  if (!connection) return Fail(connection.error());
  const auto facts = ReadQueues(*connection->client, connection->reader, connection->pod_namespace);
  if (!facts) return Fail(facts.error());
  PrintNotes(facts->notes);
  const WallTime now = SystemClock().WallNow();
  std::vector<QueueView> views;
  if (queue_named_.empty()) {
    views = ViewOrderedQueues(*facts, now);
  } else if (HasQueue(*facts, queue_named_)) {
    views.push_back(ViewQueue(*facts, queue_named_, now));
  } else {
    return Fail(ErrorCode::kNotFound, fmt::format("there is no ClusterQueue {}", queue_named_));
  }
  Tree::List items;
  for (const QueueView& view : views) items.push_back(ToTree(view));
  Print(output_, items, [&] {
    std::string text;
    for (const QueueView& view : views) text += ToText(view);
    return text.empty() ? std::string("no RoundPolicy names a queue\n") : text;
  });
  return {};
}

Result<> ClusterCommands::RunTop() const {
  auto connection = Connect(cluster_);
  if (!connection) return Fail(connection.error());
  FactsReader facts_reader(*connection->client, connection->reader, connection->device_classes);
  const bool nodes = top_of_.starts_with("node");
  const std::string pods_of = all_namespaces_ ? "" : connection->pod_namespace;
  auto facts = nodes ? facts_reader.ReadCluster() : facts_reader.ReadPods(pods_of);
  if (!facts) return Fail(facts.error());
  if (!nodes) {
    facts->progress = ProgressReader(*connection->client, controller_, SystemClock()).Read(pods_of);
    facts->notes.push_back(facts->progress.note);
  }
  PrintNotes(facts->notes);
  const WallTime now = SystemClock().WallNow();
  Tree::List items;
  if (nodes) {
    const std::vector<NodeView> views = ViewNodes(*facts, now);
    for (const NodeView& view : views) items.push_back(ToTree(view));
    Print(output_, items, [&] { return NodeTable(views); });
  } else if (top_of_ == "idle") {
    const std::vector<IdleView> views = ViewIdle(*facts);
    for (const IdleView& view : views) items.push_back(ToTree(view));
    Print(output_, items, [&] { return IdleTable(views, all_namespaces_); });
  } else {
    const std::vector<PodView> views = ViewPods(*facts, now);
    for (const PodView& view : views) items.push_back(ToTree(view));
    Print(output_, items, [&] { return PodTable(views, all_namespaces_); });
  }
  return {};
}

Result<> ClusterCommands::RunProfiles() const {
  const bool exports = profile_named_.size() > 1;
  if (exports && profile_named_.front() != "export")
    return Fail(ErrorCode::kInvalid, "write profiles, profiles NAME or profiles export NAME");
  const std::string name = profile_named_.empty() ? "" : profile_named_.back();
  if (all_namespaces_ && !name.empty()) {
    return Fail(ErrorCode::kInvalid, "a single profile needs one namespace: set --namespace");
  }
  auto connection = Connect(cluster_);
  if (!connection) return Fail(connection.error());
  FactsReader facts_reader(*connection->client, connection->reader, connection->device_classes);
  const std::string profile_namespace = all_namespaces_ ? "" : connection->pod_namespace;
  const auto profiles = facts_reader.ReadProfiles(profile_namespace);
  if (!profiles) return Fail(profiles.error());
  const WallTime now = SystemClock().WallNow();
  if (name.empty()) {
    Print(output_, ToTree(*profiles),
          [&] { return ProfileTable(*profiles, all_namespaces_, now); });
    return {};
  }
  const ProfileObject* object = profiles->Find(profile_namespace, name);
  if (object == nullptr) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("there is no profile {} in namespace {}", name, profile_namespace));
  }
  if (exports) {
    const Result<Tree> manifest = ToManifest(*object);
    if (!manifest) return Fail(manifest.error());
    Print(output_, *manifest, [&] { return ToYaml(*manifest); });
    return {};
  }
  Print(output_, ToTree(*object), [&] { return ProfileText(*object, now); });
  return {};
}

}  // namespace synergy::cli
