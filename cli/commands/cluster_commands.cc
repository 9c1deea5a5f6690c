#include "cli/commands/cluster_commands.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/cluster/failures.h"
#include "cli/cluster/queue_facts.h"
#include "cli/text/amounts.h"
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
    R"(Show a pod's node, its CPU and memory, the reasons for them, and what the pod waits for. For a job:
its failed attempts, each with its cause. For a job in a Kueue queue also: whether it runs or waits, and
why; its place in the order; its GPU-time.

examples:
  synergy explain pod train-0
  synergy explain pod train-0 --nodes
  synergy explain pods --selector job-name=train
  synergy explain pod/train-0 --namespace research --output json
  synergy explain job train)";

constexpr const char* kQueueHelp =
    R"(Show the running and waiting jobs of a Kueue ClusterQueue, in order and with reasons. Without a name,
show all queues that a RoundPolicy names.

examples:
  synergy queue
  synergy queue train --watch
  synergy queue train --output json)";

constexpr const char* kFailuresHelp =
    R"(Show how often pods failed, and the GPU hours of the failed runs, by category, queue and user (the
label synergy.io/user or, without it, the namespace). `synergy explain job NAME` shows the failures of one
job. With FILE: show why a job failed, according to its logs, and what to do. This needs no cluster.

examples:
  synergy failures
  synergy failures --all-namespaces --since 7d
  kubectl logs train --previous | synergy failure - --exit-code 1)";

constexpr const char* kTopHelp =
    R"(Show GPUs, CPU and memory per node or pod: what is allocated, the demand, and the surplus (what is
allocated above the floor); and the throughput according to the profiles, relative to the best. Or show
pods whose GPUs and CPU have been idle for at least five minutes.

examples:
  synergy top nodes --selector pool=a100
  synergy top pods --all-namespaces --output wide
  synergy top pods --watch
  synergy top idle --all-namespaces)";

constexpr const char* kProfilesHelp =
    R"(Show the training profiles, or one of them as a curve. Or export a measured profile as a manifest, to
store, change or use it as your own profile.

examples:
  synergy profiles --all-namespaces
  synergy profiles resnet18
  synergy profiles export measured-bert-1gpu > mine.yaml)";

constexpr const char* kExplainForms =
    "write pod NAME, job NAME, pod/NAME, job/NAME or pods --selector LABELS";

// Maps each name that kubectl accepts for a kind to the plural that the help shows.
std::string PluralOf(std::string name) {
  const std::map<std::string, std::string> plurals = {
      {"node", "nodes"}, {"no", "nodes"}, {"pod", "pods"}, {"po", "pods"}, {"job", "jobs"}};
  const auto found = plurals.find(name);
  return found == plurals.end() ? std::move(name) : found->second;
}

// Reads the pod with that name or, if it is empty, the pods with the labels.
Result<std::vector<PodFacts>> ReadPodsToExplain(FactsReader& reader,
                                                const std::string& pod_namespace,
                                                const std::string& name,
                                                const std::string& labels) {
  if (name.empty()) return reader.ReadSelectedPods(pod_namespace, labels);
  Result<PodFacts> one = reader.ReadPod(pod_namespace, name);
  if (!one) return Fail(one.error());
  std::vector<PodFacts> pods;
  pods.push_back(*std::move(one));
  return pods;
}

}  // namespace

ClusterCommands::ClusterCommands(CLI::App& app)
    : explain_(app.add_subcommand("explain", kExplainHelp)),
      top_(app.add_subcommand("top", kTopHelp)),
      profiles_(app.add_subcommand("profiles", kProfilesHelp)),
      queue_(app.add_subcommand("queue", kQueueHelp)),
      failures_(app.add_subcommand("failures", kFailuresHelp)) {
  explain_
      ->add_option("what", explained_,
                   "pod NAME, job NAME, pod/NAME, job/NAME, or pods with --selector")
      ->expected(1, 2);
  explain_->add_flag("--nodes", each_node_, "also show why each node does not suit a waiting pod");
  AddOutput(*explain_, output_, ShownAs::kObject);
  AddTopOptions();
  profiles_->alias("profile")
      ->add_option("name", profile_named_, "a profile's name, or export NAME")
      ->expected(1, 2);
  AddOutput(*profiles_, output_, ShownAs::kList);
  queue_->alias("queues")->add_option("name", queue_named_, "a ClusterQueue");
  AddOutput(*queue_, output_, ShownAs::kObject);
  for (CLI::App* command : {top_, profiles_, failures_})
    command->add_flag("-A,--all-namespaces", all_namespaces_, "objects of all namespaces");
  for (const auto& [command, objects] :
       {std::pair(explain_, "pods"), std::pair(top_, "pods or nodes"),
        std::pair(profiles_, "profiles"), std::pair(queue_, "Workloads")}) {
    command->add_option(
        "-l,--selector", labels_,
        fmt::format("only {} with these labels, such as a=b,c!=d or 'a in (b, c)'", objects));
  }
  for (CLI::App* command : {explain_, top_, profiles_, queue_, failures_}) {
    AddWatch(*command, output_);
    if (command != explain_) AddNoHeaders(*command, output_);
    AddClusterOptions(*command, cluster_);
  }
  for (CLI::App* command : {explain_, top_, failures_}) AddControllerOptions(*command, controller_);
  AddFailuresOptions();
}

void ClusterCommands::AddTopOptions() {
  top_->add_option("of", top_of_, "nodes, pods or idle")
      ->transform(CLI::IsMember({"nodes", "pods", "idle"}, PluralOf));
  AddOutput(*top_, output_, ShownAs::kList);
}

void ClusterCommands::AddFailuresOptions() {
  failures_->alias("failure")
      ->add_option("--since", since_, "how far back, such as 90m, 24h or 7d")
      ->capture_default_str();
  AddOutput(*failures_, output_, ShownAs::kUnnamedList);
  CLI::Option* const files = AddFailureOptions(*failures_, failure_);
  for (const char* option : {"--since", "--all-namespaces", "--watch", "--no-headers"})
    failures_->get_option(option)->excludes(files);
}

bool ClusterCommands::Parsed() const {
  return explain_->parsed() || top_->parsed() || profiles_->parsed() || queue_->parsed() ||
         failures_->parsed();
}

Result<> ClusterCommands::Run() const {
  if (explain_->parsed()) return RunExplain();
  if (queue_->parsed()) return RunQueue();
  if (failures_->parsed())
    return failure_.files.empty() ? RunFailures() : RunFailure(failure_, output_);
  return top_->parsed() ? RunTop() : RunProfiles();
}

Result<> ClusterCommands::RunExplain() const {
  if (explained_.empty()) return Fail(ErrorCode::kInvalid, kExplainForms);
  std::string kind = explained_.front();
  std::string name = explained_.size() > 1 ? explained_[1] : "";
  if (const size_t slash = kind.find('/'); slash != std::string::npos && name.empty()) {
    name = kind.substr(slash + 1);
    kind.resize(slash);
  }
  kind = PluralOf(kind);
  const bool selects = kind == "pods" && !labels_.empty();
  if ((kind != "jobs" && kind != "pods") || name.empty() != selects ||
      name.find('/') != std::string::npos) {
    return Fail(ErrorCode::kInvalid, kExplainForms);
  }
  return kind == "jobs" ? RunExplainJob(name) : RunExplainPods(name);
}

Result<> ClusterCommands::RunExplainPods(const std::string& name) const {
  auto connection = Connect(cluster_);
  if (!connection) return Fail(connection.error());
  FactsReader reader(*connection->client, connection->reader, connection->device_classes);
  ProgressReader progress_reader(*connection->client, controller_, SystemClock());
  return Show(output_, [&]() -> Result<Shown> {
    const std::string& pod_namespace = connection->pod_namespace;
    auto pods = ReadPodsToExplain(reader, pod_namespace, name, labels_);
    if (!pods) return Fail(pods.error());
    const ProgressFacts progress = progress_reader.Read(pod_namespace);
    const WallTime now = SystemClock().WallNow();
    Shown shown{
        .is_list = name.empty(), .nothing = "no pod has these labels", .notes = {progress.note}};
    const bool some_wait = std::any_of(pods->begin(), pods->end(), [](const PodFacts& facts) {
      return facts.pod.waiting && facts.pod.node.empty();
    });
    const AvoidedNodes avoided =
        some_wait ? ReadAvoidedNodes(*connection->client, controller_.controller_namespace)
                  : AvoidedNodes();
    for (PodFacts& facts : *pods) {
      facts.progress = progress;
      if (facts.pod.fungible)
        facts.avoids = avoided.Of(pod_namespace, facts.pod.fungible->workload, now);
      const Explanation explanation = Explain(facts, now);
      shown.objects.push_back({.names = {"pod/" + facts.pod.name},
                               .text = ToText(explanation, now, each_node_),
                               .tree = ToTree(explanation, each_node_)});
    }
    return shown;
  });
}

Result<> ClusterCommands::RunExplainJob(const std::string& name) const {
  auto connection = Connect(cluster_);
  if (!connection) return Fail(connection.error());
  return Show(output_, [&] { return ShowJob(*connection, name); });
}

Result<Shown> ClusterCommands::ShowJob(const Connection& connection,
                                       const std::string& name) const {
  auto facts = ReadQueues(*connection.client, connection.reader, connection.pod_namespace);
  if (!facts) return ShowAttempts(connection, name, facts.error());
  const auto workload = FindJob(*facts, connection.pod_namespace, name);
  if (!workload) return ShowAttempts(connection, name, workload.error());
  FactsReader facts_reader(*connection.client, connection.reader, connection.device_classes);
  std::vector<wire::EventAboutPod> events;
  for (const std::string& uid : {(*workload)->uid, (*workload)->owner.uid}) {
    if (uid.empty()) continue;
    auto about = facts_reader.ReadEvents(connection.pod_namespace, uid);
    if (about) {
      events.insert(events.end(), about->begin(), about->end());
    } else {
      facts->notes.push_back("events are not shown: " + about.error().message);
    }
  }
  const WallTime now = SystemClock().WallNow();
  JobExplanation explanation = ExplainJob(*facts, **workload, std::move(events), now);
  const auto job = ReadTrainJob(*connection.client, connection.reader, **workload);
  if (!job) {
    explanation.remarks.push_back("its TrainJob is not shown: " + job.error().message);
  } else if (const std::optional<QueuedJob>& train_job = *job; train_job) {
    explanation.trainer_status = train_job->trainer_status;
  }
  const RecordedFailures failures =
      ReadFailures(*connection.client, connection.reader, controller_.controller_namespace,
                   connection.pod_namespace);
  explanation.attempts = AttemptsOf(
      failures.histories, (*workload)->owner.name.empty() ? name : (*workload)->owner.name);
  Shown shown = ShowOne("job/" + name, ToText(explanation, now), ToTree(explanation));
  shown.notes = {failures.note};
  return shown;
}

Result<Shown> ClusterCommands::ShowAttempts(const Connection& connection, const std::string& name,
                                            const Error& error) const {
  // Without Kueue there are no Workloads.
  if (error.code != ErrorCode::kNotFound) return Fail(error);
  const RecordedFailures failures =
      ReadFailures(*connection.client, connection.reader, controller_.controller_namespace,
                   connection.pod_namespace);
  const std::vector<FailedAttempt> attempts = AttemptsOf(failures.histories, name);
  if (attempts.empty()) {
    return Fail(error.code, failures.note.empty()
                                ? error.message
                                : fmt::format("{}\nNote: {}", error.message, failures.note));
  }
  Tree::List items;
  for (const FailedAttempt& attempt : attempts) items.push_back(ToTree(attempt));
  Shown shown = ShowOne("job/" + name, AttemptsText(attempts, SystemClock().WallNow()),
                        Tree::Members{{"attempts", std::move(items)}});
  shown.notes = {failures.note};
  return shown;
}

Result<> ClusterCommands::RunFailures() const {
  const Result<Seconds> since = ParseDuration(since_);
  if (!since) return Fail(ErrorCode::kInvalid, "--since: " + since.error().message);
  auto connection = Connect(cluster_);
  if (!connection) return Fail(connection.error());
  return Show(output_, [&]() -> Result<Shown> {
    const RecordedFailures facts =
        ReadFailures(*connection->client, connection->reader, controller_.controller_namespace,
                     NamespaceOf(*connection));
    const WallTime now = SystemClock().WallNow();
    const WallTime from = now - std::chrono::duration_cast<Duration>(*since);
    Shown shown = ShowFailures(SumFailures(facts.histories, from), all_namespaces_, now);
    shown.notes = NotesOnForgotten(facts.histories, from);
    shown.notes.push_back(facts.note);
    return shown;
  });
}

Result<> ClusterCommands::RunQueue() const {
  auto connection = Connect(cluster_);
  if (!connection) return Fail(connection.error());
  return Show(output_, [&] { return ShowQueue(*connection); });
}

Result<Shown> ClusterCommands::ShowQueue(const Connection& connection) const {
  const std::string& own = connection.pod_namespace;
  const auto facts = ReadQueues(*connection.client, connection.reader, own);
  if (!facts) return Fail(facts.error());
  const WallTime now = SystemClock().WallNow();
  std::vector<QueueView> views;
  if (queue_named_.empty()) {
    views = ViewOrderedQueues(*facts, now);
  } else if (HasQueue(*facts, queue_named_)) {
    views.push_back(ViewQueue(*facts, queue_named_, now));
  } else {
    return Fail(ErrorCode::kNotFound, fmt::format("there is no ClusterQueue {}", queue_named_));
  }
  if (!labels_.empty()) {
    const auto keys = SelectWorkloads(*connection.client, connection.reader, *facts, own, labels_);
    if (!keys) return Fail(keys.error());
    for (QueueView& view : views) {
      std::erase_if(view.workloads, [&](const QueuedView& one) {
        return !keys->contains(one.workload_namespace + "/" + one.workload);
      });
    }
  }
  Shown shown = ShowQueues(views, !output_.no_headings);
  shown.notes = facts->notes;
  return shown;
}

Result<> ClusterCommands::RunTop() const {
  if (top_of_.empty()) return Fail(ErrorCode::kInvalid, "write top nodes, top pods or top idle");
  auto connection = Connect(cluster_);
  if (!connection) return Fail(connection.error());
  FactsReader facts_reader(*connection->client, connection->reader, connection->device_classes);
  ProgressReader progress(*connection->client, controller_, SystemClock());
  return Show(output_, [&]() -> Result<Shown> {
    const bool nodes = top_of_ == "nodes";
    const std::string pods_of = NamespaceOf(*connection);
    auto facts =
        nodes ? facts_reader.ReadCluster(labels_) : facts_reader.ReadPods(pods_of, labels_);
    if (!facts) return Fail(facts.error());
    // A table of nodes shows no progress, except with -o wide.
    const bool is_shown = !nodes || output_.format == "wide" || output_.IsTree();
    if (is_shown) {
      facts->progress = progress.Read(nodes ? std::string() : pods_of);
      facts->notes.push_back(facts->progress.note);
    }
    const WallTime now = SystemClock().WallNow();
    Shown shown = nodes               ? ShowNodes(ViewNodes(*facts, now))
                  : top_of_ == "idle" ? ShowIdle(ViewIdle(*facts), all_namespaces_)
                                      : ShowPods(ViewPods(*facts, now), all_namespaces_);
    shown.notes = std::move(facts->notes);
    return shown;
  });
}

Result<> ClusterCommands::RunProfiles() const {
  if (ExportsProfile() && profile_named_.front() != "export")
    return Fail(ErrorCode::kInvalid, "write profiles, profiles NAME or profiles export NAME");
  if (!profile_named_.empty()) {
    if (all_namespaces_)
      return Fail(ErrorCode::kInvalid, "a single profile needs one namespace: set --namespace");
    if (!labels_.empty())
      return Fail(ErrorCode::kInvalid, "a single profile has a name: leave out --selector");
    const Result<> possible =
        CheckFormat(output_, ExportsProfile() ? ShownAs::kText : ShownAs::kObject);
    if (!possible) return possible;
  }
  auto connection = Connect(cluster_);
  if (!connection) return Fail(connection.error());
  FactsReader facts_reader(*connection->client, connection->reader, connection->device_classes);
  return Show(output_, [&]() -> Result<Shown> {
    const std::string profile_namespace = NamespaceOf(*connection);
    const auto profiles = facts_reader.ReadProfiles(profile_namespace, labels_);
    if (!profiles) return Fail(profiles.error());
    if (!profile_named_.empty()) return ShowNamedProfile(*profiles, profile_namespace);
    return ShowProfiles(*profiles, all_namespaces_, SystemClock().WallNow());
  });
}

Result<Shown> ClusterCommands::ShowNamedProfile(const Profiles& profiles,
                                                const std::string& profile_namespace) const {
  const std::string& name = profile_named_.back();
  const ProfileObject* object = profiles.Find(profile_namespace, name);
  if (object == nullptr) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("there is no profile {} in namespace {}", name, profile_namespace));
  }
  if (!ExportsProfile()) return ShowProfile(*object, SystemClock().WallNow());
  const Result<Tree> manifest = ToManifest(*object);
  if (!manifest) return Fail(manifest.error());
  return ShowOne({}, ToYaml(*manifest), *manifest);
}

}  // namespace synergy::cli
