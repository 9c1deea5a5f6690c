#include "cli/cluster/queue_facts.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "kube/apis/profile_api.h"
#include "kube/apis/round_api.h"
#include "kube/listing.h"
#include "profile/profile_object.h"
#include "wire/kueue/kueue.h"

namespace synergy::cli {

Result<QueueFacts> ReadQueues(kube::ApiClient& client, const wire::ObjectReader& reader,
                              const std::string& own_namespace) {
  QueueFacts facts;
  const auto list = [&]<class T>(std::vector<T>& out,
                                 const kube::ListRequest& request) -> Result<> {
    auto listing = kube::ListAll<T>(client, reader, request);
    if (!listing) return Fail(listing.error());
    out = std::move(listing->items);
    return {};
  };
  const auto list_or_note = [&](auto& out, const kube::ListRequest& request, const char* what) {
    if (const Result<> listed = list(out, request); !listed)
      facts.notes.push_back(fmt::format("{} are not shown: {}", what, listed.error().message));
  };
  Result<> workloads = list(facts.workloads, {kube::ListPath(kube::kKueuePath, "workloads"), ""});
  facts.all_namespaces = workloads || workloads.error().code != ErrorCode::kDenied;
  if (!facts.all_namespaces) {
    facts.notes.push_back(fmt::format("workloads outside namespace {} are not shown: {}",
                                      own_namespace, workloads.error().message));
    workloads =
        list(facts.workloads, {kube::ListPath(kube::kKueuePath, "workloads", own_namespace), ""});
  }
  if (!workloads) {
    if (workloads.error().code != ErrorCode::kNotFound) return Fail(workloads.error());
    return Fail(ErrorCode::kNotFound, "Kueue (v1beta2) is not installed in this cluster");
  }
  const std::string seen = facts.all_namespaces ? "" : own_namespace;
  list_or_note(facts.local_queues, {kube::ListPath(kube::kKueuePath, "localqueues", seen), ""},
               "local queues");
  list_or_note(facts.cluster_queues, {kube::ListPath(kube::kKueuePath, "clusterqueues"), ""},
               "cluster queues");
  list_or_note(facts.policies, {std::string(kube::kRoundPoliciesPath), ""}, "round policies");
  kube::ListRequest pods{kube::ListPath("/api/v1/", "pods", seen), kube::kLivingPods};
  pods.label_selector = wire::kPodSetLabel;
  list_or_note(facts.pods, pods, "pods");
  const bool asks = std::any_of(facts.workloads.begin(), facts.workloads.end(),
                                [](const Workload& each) { return !each.profiles_to_ask.empty(); });
  if (!asks) return facts;
  std::vector<ProfileObject> profiles;
  list_or_note(profiles, {kube::TrainingProfilesPath(seen), ""},
               "profiles of jobs with checkpoints");
  std::set<std::string> checkpointing;
  for (const ProfileObject& profile : profiles)
    if (profile.checkpoints) checkpointing.insert(profile.Key());
  for (Workload& workload : facts.workloads) {
    workload.may_lose_turn =
        workload.MayLoseTurn([&](const std::string& profile_namespace, const std::string& name) {
          return checkpointing.contains(profile_namespace + "/" + name);
        });
  }
  return facts;
}

Result<QueueFacts> ReadOrderedQueues(kube::ApiClient& client, const wire::ObjectReader& reader,
                                     const std::string& own_namespace) {
  const auto policies =
      kube::ListAll<RoundPolicy>(client, reader, {std::string(kube::kRoundPoliciesPath), ""});
  if (policies) {
    return policies->items.empty() ? Result<QueueFacts>(QueueFacts())
                                   : ReadQueues(client, reader, own_namespace);
  }
  const ErrorCode code = policies.error().code;
  if (code == ErrorCode::kNotFound || code == ErrorCode::kDenied) return QueueFacts();
  return Fail(policies.error());
}

Result<std::set<std::string>> SelectWorkloads(kube::ApiClient& client,
                                              const wire::ObjectReader& reader,
                                              const QueueFacts& facts,
                                              const std::string& own_namespace,
                                              const std::string& labels) {
  const std::string path =
      kube::ListPath(kube::kKueuePath, "workloads", facts.all_namespaces ? "" : own_namespace);
  const auto listing = kube::ListAll<Workload>(
      client, reader, {.path = path, .field_selector = {}, .label_selector = labels});
  if (!listing) return Fail(listing.error());
  std::set<std::string> keys;
  for (const Workload& workload : listing->items) keys.insert(workload.Key());
  return keys;
}

Result<std::optional<QueuedJob>> ReadTrainJob(kube::ApiClient& client,
                                              const wire::ObjectReader& reader,
                                              const Workload& workload) {
  if (workload.owner.kind != "TrainJob") return std::nullopt;
  auto listing = kube::ListAll<QueuedJob>(client, reader,
                                          {kube::ListPath("/apis/trainer.kubeflow.org/v1alpha1/",
                                                          "trainjobs", workload.workload_namespace),
                                           "metadata.name=" + workload.owner.name});
  if (!listing) return Fail(listing.error());
  for (QueuedJob& job : listing->items)
    if (job.uid == workload.owner.uid) return std::move(job);
  return std::nullopt;
}

}  // namespace synergy::cli
