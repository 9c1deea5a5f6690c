#include "wire/kueue/gang_owner.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/admission/admission_review.h"

namespace synergy::wire {
namespace {

constexpr std::string_view kGpuResource = "nvidia.com/gpu";
constexpr std::string_view kIndexed =
    R"("batch.kubernetes.io/job-name":"bert","batch.kubernetes.io/job-completion-index":"0")";

// Returns a pod in the form in which the API server sends it to the webhook.
PodToAdmit OwnedPod(std::string_view labels, std::string_view owner, std::string_view spec = "") {
  const Result<PodReview> review = PodReview::Read(
      fmt::format(
          R"({{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u",
          "operation":"CREATE","namespace":"team","object":{{"metadata":{{"labels":{{{}}},
          "ownerReferences":[{}]}},"spec":{{{}"containers":[{{"name":"t",
          "resources":{{"limits":{{"nvidia.com/gpu":"1"}}}}}}]}}}}}}}})",
          labels, owner, spec),
      kGpuResource);
  EXPECT_TRUE(review && review->problem().empty());
  return review->pod();
}

std::string OwnerOf(std::string_view api_version, std::string_view kind, std::string_view name) {
  return fmt::format(R"({{"apiVersion":"{}","kind":"{}","name":"{}","uid":"7","controller":true}})",
                     api_version, kind, name);
}

PodToAdmit JobPod(std::string_view labels = kIndexed, std::string_view name = "bert") {
  return OwnedPod(labels, OwnerOf("batch/v1", "Job", name), R"("subdomain":"bert",)");
}

std::string Job(std::string_view spec, std::string_view status = "") {
  return fmt::format(R"({{"metadata":{{"uid":"7"}},"spec":{{{}}},"status":{{{}}}}})", spec, status);
}

std::string IndexedJob(std::string_view completions, std::string_view parallelism) {
  return Job(fmt::format(R"("completionMode":"Indexed","completions":{},"parallelism":{},
                         "template":{{"spec":{{"subdomain":"bert"}}}})",
                         completions, parallelism));
}

int32_t SizeBy(std::string_view text, const GangOwner& owner) {
  const Result<GangSize> read = ReadGangSize(text, owner, {kGpuResource});
  return read ? read->size : -1;
}

TEST(GangOwnerTest, AnIndexedJobIsAskedByItsNameAndUid) {
  const auto owner = FindGangOwner(JobPod());
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->kind, GangOwnerKind::kJob);
  EXPECT_EQ(owner->gang, "team/job/bert");
  EXPECT_EQ(owner->path, "/apis/batch/v1/namespaces/team/jobs/bert");
  EXPECT_EQ(owner->uid, "7");
  EXPECT_EQ(owner->described, "Job team/bert");
}

TEST(GangOwnerTest, IsNoneForOtherPods) {
  const std::string job = OwnerOf("batch/v1", "Job", "bert");
  const std::string indexed(kIndexed);
  const std::vector<std::pair<std::string, PodToAdmit>> cases = {
      {"no owner", OwnedPod(indexed, "", R"("subdomain":"bert",)")},
      {"another kind", OwnedPod(indexed, OwnerOf("apps/v1", "ReplicaSet", "bert"))},
      {"another group", OwnedPod(indexed, OwnerOf("batch.example.com/v1", "Job", "bert"))},
      {"no index",
       OwnedPod(R"("batch.kubernetes.io/job-name":"bert")", job, R"("subdomain":"b",)")},
      {"no subdomain", OwnedPod(indexed, job)},
      {"a size", JobPod(indexed + R"(,"synergy.io/gang-size":"1")")},
      {"an odd size", JobPod(indexed + R"(,"synergy.io/gang-size":"")")},
      {"a name of its own, in a JobSet",
       JobPod(indexed + R"(,"synergy.io/gang":"all","jobset.sigs.k8s.io/jobset-name":"s")")},
      {"Kueue's group", JobPod(indexed + R"(,"kueue.x-k8s.io/pod-group-name":"g")")},
      {"no Job's label", JobPod(R"("batch.kubernetes.io/job-completion-index":"0")")},
      {"a path", JobPod(kIndexed, "../../secrets/x")},
      {"a query", JobPod(kIndexed, "a?b")},
      {"dots", JobPod(kIndexed, "..")},
      {"an empty name", JobPod(kIndexed, "")},
      {"a long name", JobPod(kIndexed, std::string(254, 'a'))},
  };
  for (const auto& [what, pod] : cases) EXPECT_FALSE(FindGangOwner(pod)) << what;
}

TEST(GangOwnerTest, AnOwnerThatIsNotTheControllerCountsForNothing) {
  EXPECT_FALSE(FindGangOwner(
      OwnedPod(kIndexed, R"({"apiVersion":"batch/v1","kind":"Job","name":"bert","uid":"7"})",
               R"("subdomain":"bert",)")));
}

TEST(GangOwnerTest, AJobIsAGangWhereAllItsPodsRunTogetherAndFindEachOther) {
  const GangOwner owner = *FindGangOwner(JobPod());
  const std::string alone = R"("completions":4,"parallelism":4)";
  const std::vector<std::pair<std::string, int32_t>> cases = {
      {IndexedJob("4", "4"), 4},
      {IndexedJob("256", "256"), 256},
      {IndexedJob("257", "257"), 1},
      {IndexedJob("1", "1"), 1},
      {IndexedJob("0", "0"), 1},
      {IndexedJob("-4", "-4"), 1},
      {IndexedJob("4", "2"), 1},
      {IndexedJob("8", "null"), 1},
      {IndexedJob("null", "null"), 1},
      {IndexedJob("\"4\"", "\"4\""), 1},
      {IndexedJob("4.5", "4.5"), 1},
      {IndexedJob("99999999999999999999", "99999999999999999999"), 1},
      {Job(alone + R"(,"completionMode":"Indexed","template":{"spec":{}})"), 1},
      {Job(alone + R"(,"completionMode":"NonIndexed","template":{"spec":{"subdomain":"b"}})"), 1},
      {Job(alone + R"(,"template":{"spec":{"subdomain":"b"}})"), 1},
      {Job(""), 1},
      {R"({"metadata":{"uid":"7"},"spec":[]})", 1},
      {"{}", 1},
      {"[]", -1},
      {"{", -1},
      {"", -1},
  };
  for (const auto& [text, size] : cases) EXPECT_EQ(SizeBy(text, owner), size) << text;
}

TEST(GangOwnerTest, AnotherJobOfThatNameHasNoSize) {
  GangOwner owner = *FindGangOwner(JobPod());
  owner.uid = "8";
  EXPECT_EQ(SizeBy(IndexedJob("4", "4"), owner), 1);
}

TEST(GangOwnerTest, JobWithActivePodsHasBegun) {
  const GangOwner owner = *FindGangOwner(JobPod());
  const auto begun = [&](std::string_view status) {
    return ReadGangSize(Job("", status), owner, {kGpuResource})->begun;
  };
  EXPECT_TRUE(begun(R"("active":3)"));
  EXPECT_FALSE(begun(R"("active":0,"failed":3)"));
  EXPECT_FALSE(begun(R"("active":-1)"));
  EXPECT_FALSE(begun(""));
}

std::string OfAJobSet(std::string_view replicas) {
  return std::string(kIndexed) +
         fmt::format(
             R"(,"jobset.sigs.k8s.io/jobset-name":"set",
                     "jobset.sigs.k8s.io/replicatedjob-name":"workers"{})",
             replicas.empty()
                 ? ""
                 : fmt::format(R"(,"jobset.sigs.k8s.io/replicatedjob-replicas":"{}")", replicas));
}

TEST(GangOwnerTest, AReplicatedJobIsAGangOfItsReplicasTimesTheirPods) {
  const auto size = [](std::string_view replicas, std::string_view pods) {
    const auto owner = FindGangOwner(JobPod(OfAJobSet(replicas)));
    EXPECT_EQ(owner->gang, "team/jobset/set/workers");
    return SizeBy(IndexedJob(pods, pods), *owner);
  };
  EXPECT_EQ(size("2", "4"), 8);
  EXPECT_EQ(size("1", "4"), 4);
  EXPECT_EQ(size("4", "1"), 4);
  EXPECT_EQ(size("1", "1"), 1);
  EXPECT_EQ(size("16", "16"), 256);
  EXPECT_EQ(size("16", "17"), 1);
  EXPECT_EQ(size("256", "256"), 1);
}

TEST(GangOwnerTest, JobSetWithInvalidReplicasHasNoSize) {
  for (const char* replicas : {"", "0", "-2", "257", "many", "2x", "99999999999999999999"})
    EXPECT_FALSE(FindGangOwner(JobPod(OfAJobSet(replicas)))) << replicas;
}

PodToAdmit KubeflowPod(std::string_view version, std::string_view kind, std::string_view type) {
  return OwnedPod(fmt::format(R"("training.kubeflow.org/job-name":"bert",
                           "training.kubeflow.org/replica-type":"{}")",
                              type),
                  OwnerOf(version, kind, "bert"));
}

// Returns a replica spec with these `gpus` and the rest of the template.
std::string Replica(std::string_view replicas, std::string_view gpus,
                    std::string_view scheduler = "s") {
  return fmt::format(R"({{{}"template":{{"spec":{{"schedulerName":"{}","containers":[{{"resources":
                     {{"limits":{{"nvidia.com/gpu":{}}}}}}}]}}}}}})",
                     replicas.empty() ? "" : fmt::format(R"("replicas":{},)", replicas), scheduler,
                     gpus);
}

std::string TrainingJob(std::string_view key, std::string_view specs) {
  return Job(fmt::format(R"("{}":{{{}}})", key, specs));
}

TEST(GangOwnerTest, APyTorchJobIsItsWorkersAndTheMasterWithGpus) {
  const auto owner = FindGangOwner(KubeflowPod("kubeflow.org/v1", "PyTorchJob", "worker"));
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->gang, "team/training/bert");
  EXPECT_EQ(owner->path, "/apis/kubeflow.org/v1/namespaces/team/pytorchjobs/bert");
  EXPECT_TRUE(FindGangOwner(KubeflowPod("kubeflow.org/v1", "PyTorchJob", "master")));
  EXPECT_FALSE(FindGangOwner(KubeflowPod("kubeflow.org/v1", "PyTorchJob", "")));
  const auto size = [&](const std::string& master, const std::string& worker) {
    return SizeBy(TrainingJob("pytorchReplicaSpecs",
                              fmt::format(R"("Master":{},"Worker":{})", master, worker)),
                  *owner);
  };
  EXPECT_EQ(size(Replica("1", "1"), Replica("3", "\"1\"")), 4);
  EXPECT_EQ(size(Replica("", "1"), Replica("3", "1")), 4);
  EXPECT_EQ(size(Replica("1", "0"), Replica("3", "1")), 3);
  EXPECT_EQ(size("null", Replica("3", "1")), 3);
  EXPECT_EQ(size(Replica("1", "1"), "null"), 1);
  EXPECT_EQ(size(Replica("1", "1"), Replica("255", "1")), 256);
  EXPECT_EQ(size(Replica("1", "1"), Replica("256", "1")), 1);
  EXPECT_EQ(size(Replica("1", "1"), Replica("-1", "1")), 1);
  EXPECT_EQ(size(Replica("1", "1"), Replica("9223372036854775807", "1")), 1);
  EXPECT_EQ(size(Replica("1", "1"), Replica("\"3\"", "1")), 1);
  // Another scheduler places one of the two.
  EXPECT_EQ(size(Replica("1", "1", "other"), Replica("3", "1")), 1);
}

TEST(GangOwnerTest, AnElasticPyTorchJobIsItsLeastWorkersOfTheLowestIndices) {
  const auto worker = [](std::string_view index) {
    return OwnedPod(fmt::format(R"("training.kubeflow.org/job-name":"bert",
                       "training.kubeflow.org/replica-type":"worker",
                       "training.kubeflow.org/replica-index":"{}")",
                                index),
                    OwnerOf("kubeflow.org/v1", "PyTorchJob", "bert"));
  };
  const auto read = [](const std::string& policy, const std::string& workers) {
    const GangOwner owner{.kind = GangOwnerKind::kPyTorchJob};
    return *ReadGangSize(
        Job(fmt::format(R"("elasticPolicy":{},"pytorchReplicaSpecs":{{{}}})", policy, workers)),
        owner, {kGpuResource});
  };
  const std::string six = R"("Worker":)" + Replica("6", "1");
  const GangSize some = read(R"({"minReplicas":4,"maxReplicas":8})", six);
  EXPECT_EQ(some.size, 4);
  EXPECT_TRUE(IsMember(some, *FindGangOwner(worker("3"))));
  for (const char* other : {"4", "5", "", "-1", "x", "99999999999999999999"})
    EXPECT_FALSE(IsMember(some, *FindGangOwner(worker(other)))) << other;
  const GangSize all = read(R"({"minReplicas":8})", six);
  EXPECT_EQ(all.size, 6);
  EXPECT_TRUE(IsMember(all, *FindGangOwner(worker(""))));
  for (const char* policy :
       {"{}", R"({"minReplicas":1})", R"({"minReplicas":0})", R"({"minReplicas":-4})",
        R"({"minReplicas":"4x"})", R"([])", R"("4")"}) {
    EXPECT_EQ(read(policy, six).size, 1) << policy;
  }
  EXPECT_EQ(read(R"({"minReplicas":2})", six + R"(,"Master":)" + Replica("1", "1")).size, 1);
}

TEST(GangOwnerTest, JobThatNamesItsGangHasASize) {
  const auto owner =
      FindGangOwner(OwnedPod(R"("batch.kubernetes.io/job-name":"bert","synergy.io/gang":"all")",
                             OwnerOf("batch/v1", "Job", "bert")));
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->gang, "team/all");
  EXPECT_EQ(SizeBy(Job(R"("completionMode":"Indexed","completions":4,"parallelism":4)"), *owner),
            4);
  EXPECT_EQ(SizeBy(Job(R"("completions":4,"parallelism":4)"), *owner), 4);
  for (const char* spec :
       {R"("completions":8,"parallelism":4)", R"("parallelism":4)", R"("completions":4)",
        R"("completions":-4,"parallelism":-4)", R"("completions":"4","parallelism":"4")",
        R"("completions":257,"parallelism":257)", R"("completions":null,"parallelism":null)"}) {
    EXPECT_EQ(SizeBy(Job(spec), *owner), 1) << spec;
  }
  EXPECT_FALSE(FindGangOwner(OwnedPod(
      R"("batch.kubernetes.io/job-name":"b","synergy.io/gang":"a","synergy.io/gang-size":"3")",
      OwnerOf("batch/v1", "Job", "b"))));
}

PodToAdmit RayPod(std::string_view labels) {
  return OwnedPod(fmt::format(R"("ray.io/cluster":"tune","ray.io/group":"gpu",{})", labels),
                  OwnerOf("ray.io/v1", "RayCluster", "tune"));
}

// Returns the size for the worker group "gpu", beside another group.
GangSize RaySize(const std::string& group, const std::string& spec = "",
                 const std::string& status = "",
                 std::string_view labels = R"("ray.io/node-type":"worker")") {
  const auto owner = FindGangOwner(RayPod(labels));
  EXPECT_TRUE(owner);
  return *ReadGangSize(Job(fmt::format(R"({}"workerGroupSpecs":[{{"groupName":"cpu","replicas":9}},
                       {{"groupName":"gpu",{}}}])",
                                       spec, group),
                           status),
                       *owner, {kGpuResource});
}

TEST(GangOwnerTest, TheWorkersOfARayClustersGroupAreOne) {
  const auto owner = FindGangOwner(
      RayPod(R"("ray.io/node-type":"worker","ray.io/worker-group-replica-index":"2")"));
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->gang, "team/ray/tune/gpu");
  EXPECT_EQ(owner->path, "/apis/ray.io/v1/namespaces/team/rayclusters/tune");
  EXPECT_EQ(owner->index, 2);
  EXPECT_FALSE(FindGangOwner(RayPod(R"("ray.io/node-type":"head")")));

  EXPECT_EQ(RaySize(R"("replicas":4)").size, 4);
  EXPECT_EQ(RaySize(R"("replicas":4,"minReplicas":1,"maxReplicas":5)").size, 4);
  EXPECT_EQ(RaySize(R"("replicas":4,"numOfHosts":2)").size, 8);
  EXPECT_EQ(RaySize(R"("minReplicas":3)").size, 3);
  EXPECT_EQ(RaySize(R"("replicas":9,"maxReplicas":3)").size, 3);
  EXPECT_EQ(RaySize(R"("replicas":4)").begun, false);
  EXPECT_EQ(RaySize(R"("replicas":4)", "", R"("availableWorkerReplicas":1)").begun, true);
  for (const char* group :
       {R"("replicas":1)", R"("replicas":0)", R"("replicas":-4)", R"("replicas":257)",
        R"("replicas":"4")", R"("replicas":4,"numOfHosts":0)", R"("replicas":4,"numOfHosts":-1)",
        R"("replicas":4,"numOfHosts":9223372036854775807)", R"("replicas":9223372036854775807)",
        R"("replicas":4,"minReplicas":5,"maxReplicas":3)", R"("replicas":[4])",
        R"("replicas":4,"minReplicas":{})"}) {
    EXPECT_EQ(RaySize(group).size, 1) << group;
  }
}

TEST(GangOwnerTest, WorkersThatRaysAutoscalerAddsAreOnTheirOwn) {
  const std::string scales = R"("enableInTreeAutoscaling":true,)";
  const auto member = [](const GangSize& gang, std::string_view index) {
    return IsMember(
        gang,
        *FindGangOwner(RayPod(fmt::format(
            R"("ray.io/node-type":"worker","ray.io/worker-group-replica-index":"{}")", index))));
  };
  const GangSize more = RaySize(R"("replicas":4,"minReplicas":2)", scales);
  EXPECT_EQ(more.size, 2);
  EXPECT_TRUE(member(more, "0"));
  EXPECT_TRUE(member(more, "1"));
  EXPECT_FALSE(member(more, "2"));
  EXPECT_FALSE(member(more, "")) << "an older KubeRay writes no index";
  const GangSize least = RaySize(R"("replicas":2,"minReplicas":2,"numOfHosts":2)", scales);
  EXPECT_EQ(least.size, 4);
  EXPECT_TRUE(member(least, ""));
  const GangSize now =
      RaySize(R"("replicas":2,"minReplicas":2)", scales, "",
              R"("ray.io/node-type":"worker","ray.io/worker-group-replica-index":"0")");
  EXPECT_EQ(now.size, 2);
  EXPECT_TRUE(member(now, "1"));
  EXPECT_FALSE(member(now, "2")) << "it is added before the size is read again";
  EXPECT_EQ(RaySize(R"("replicas":4,"minReplicas":0)", scales).size, 1);
}

TEST(GangOwnerTest, AGroupOfALeaderWorkerSetIsOneIfItIsCreatedAtOnce) {
  const auto owner = FindGangOwner(OwnedPod(
      R"("leaderworkerset.sigs.k8s.io/name":"llm","leaderworkerset.sigs.k8s.io/group-index":"1")",
      OwnerOf("apps/v1", "StatefulSet", "llm")));
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->gang, "team/lws/llm/1");
  EXPECT_EQ(owner->path, "/apis/leaderworkerset.x-k8s.io/v1/namespaces/team/leaderworkersets/llm");
  EXPECT_FALSE(FindGangOwner(OwnedPod(R"("leaderworkerset.sigs.k8s.io/name":"llm")",
                                      OwnerOf("apps/v1", "StatefulSet", "llm"))));
  EXPECT_FALSE(FindGangOwner(OwnedPod(
      R"("leaderworkerset.sigs.k8s.io/name":"../x","leaderworkerset.sigs.k8s.io/group-index":"1")",
      OwnerOf("apps/v1", "StatefulSet", "llm"))));

  const auto with_gpus = [](std::string_view gpus) {
    return fmt::format(
        R"({{"spec":{{"containers":[{{"resources":{{"limits":{{"nvidia.com/gpu":"{}"}}}}}}]}}}})",
        gpus);
  };
  const auto size = [&](const std::string& members, const std::string& spec = "") {
    return SizeBy(Job(fmt::format(R"({}"leaderWorkerTemplate":{{{}}})", spec, members)), *owner);
  };
  const std::string workers = R"("workerTemplate":)" + with_gpus("1");
  EXPECT_EQ(size(R"("size":4,)" + workers), 4);
  EXPECT_EQ(size(R"("size":4,)" + workers, R"("startupPolicy":"LeaderCreated",)"), 4);
  EXPECT_EQ(size(R"("size":4,)" + workers, R"("startupPolicy":"LeaderReady",)"), 1);
  EXPECT_EQ(size(R"("size":4,"leaderTemplate":)" + with_gpus("0") + "," + workers), 3);
  EXPECT_EQ(size(R"("size":4,"leaderTemplate":)" + with_gpus("2") + "," + workers), 4);
  for (const char* odd : {"1", "0", "-4", "257", R"("4")", "9223372036854775807", "[]", "4.5"})
    EXPECT_EQ(size(fmt::format(R"("size":{},{})", odd, workers)), 1) << odd;
  EXPECT_EQ(size(R"("size":4)"), 1);
}

TEST(GangOwnerTest, AnMpiJobIsItsWorkers) {
  for (const char* version : {"kubeflow.org/v1", "kubeflow.org/v2beta1"}) {
    const auto owner = FindGangOwner(KubeflowPod(version, "MPIJob", "worker"));
    ASSERT_TRUE(owner);
    EXPECT_EQ(owner->path, fmt::format("/apis/{}/namespaces/team/mpijobs/bert", version));
    EXPECT_EQ(
        SizeBy(TrainingJob("mpiReplicaSpecs", fmt::format(R"("Launcher":{},"Worker":{})",
                                                          Replica("1", "1"), Replica("4", "1"))),
               *owner),
        4);
    EXPECT_FALSE(FindGangOwner(KubeflowPod(version, "MPIJob", "launcher")));
  }
}

TEST(GangOwnerTest, ALauncherWithGpusIsAMemberIfItIsCreatedWithTheWorkers) {
  // The labels are those of the MPI operator: the launcher is the pod of a Job.
  const auto pod = [](std::string_view role, const std::string& owner) {
    return OwnedPod(fmt::format(R"("training.kubeflow.org/operator-name":"mpi-operator",
                                   "training.kubeflow.org/job-name":"bert",
                                   "training.kubeflow.org/job-role":"{}")",
                                role),
                    owner);
  };
  const auto worker =
      FindGangOwner(pod("worker", OwnerOf("kubeflow.org/v2beta1", "MPIJob", "bert")));
  const auto launcher = FindGangOwner(pod("launcher", OwnerOf("batch/v1", "Job", "bert-launcher")));
  ASSERT_TRUE(worker);
  ASSERT_TRUE(launcher);
  EXPECT_EQ(worker->gang, "team/mpi/bert");
  EXPECT_EQ(launcher->gang, worker->gang);
  EXPECT_EQ(launcher->path, worker->path);
  const auto size = [&](std::string_view gpus, std::string_view policy, bool of_launcher = false) {
    return SizeBy(fmt::format(R"({{"apiVersion":"kubeflow.org/v2beta1","metadata":{{"uid":"7"}},
                  "spec":{{{}"mpiReplicaSpecs":{{"Launcher":{},"Worker":{}}}}}}})",
                              policy, Replica("1", gpus), Replica("4", "1")),
                  of_launcher ? *launcher : *worker);
  };
  EXPECT_EQ(size("0", ""), 4);
  EXPECT_EQ(size("1", ""), 5);
  EXPECT_EQ(size("1", R"("launcherCreationPolicy":"AtStartup",)"), 5);
  EXPECT_EQ(size("1", "", true), 5);
  EXPECT_EQ(size("1", R"("launcherCreationPolicy":"WaitForWorkersReady",)"), 4);
  EXPECT_EQ(size("1", R"("launcherCreationPolicy":"WaitForWorkersReady",)", true), 1);
}

TEST(GangOwnerTest, PodGroupHasItsLeastMembers) {
  const std::string label = R"("scheduling.x-k8s.io/pod-group":"g")";
  const auto owner = FindGangOwner(OwnedPod(label, ""));
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->gang, "team/podgroup/g");
  EXPECT_EQ(owner->path, "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/team/podgroups/g");
  const auto group = [](std::string_view least) {
    return Job(fmt::format(R"("minMember":{})", least));
  };
  const std::vector<std::pair<std::string, int32_t>> cases = {
      {group("3"), 3},  {group("256"), 256}, {group("257"), 1},  {group("1"), 1},   {group("0"), 1},
      {group("-3"), 1}, {group("\"3\""), 1}, {group("null"), 1}, {group("1e9"), 1}, {"{}", 1}};
  for (const auto& [text, size] : cases) EXPECT_EQ(SizeBy(text, *owner), size) << text;
  EXPECT_FALSE(FindGangOwner(OwnedPod(R"("scheduling.x-k8s.io/pod-group":"a/../b")", "")));
  // The group does not mention these stages.
  EXPECT_FALSE(FindGangOwner(JobPod(OfAJobSet("2") + "," + label)));
}

// Returns a pod with a group name in its labels, or without one.
PodToAdmit GroupedPod(std::string_view group, std::string_view labels = "") {
  return OwnedPod(labels, OwnerOf("batch/v1", "Job", "bert"),
                  fmt::format(R"("schedulingGroup":{},)", group));
}

PodToAdmit PodOfGroup(const std::string& name, std::string_view labels = "") {
  return GroupedPod(fmt::format(R"({{"podGroupName":"{}"}})", name), labels);
}

TEST(GangOwnerTest, TheSchedulingGroupOfAPodIsAPodGroupOfKubernetesOwn) {
  const auto group = FindSchedulingGroup(PodOfGroup("bert.v1", kIndexed));
  ASSERT_TRUE(group);
  EXPECT_EQ(group->kind, GangOwnerKind::kSchedulingGroup);
  EXPECT_EQ(group->path, "/apis/scheduling.k8s.io/v1beta1/namespaces/team/podgroups/bert.v1");
  EXPECT_EQ(group->gang, "team/bert.v1");
  EXPECT_EQ(group->label, "bert.v1");
  EXPECT_EQ(group->uid, "");
  EXPECT_EQ(group->described, "PodGroup team/bert.v1");
}

TEST(GangOwnerTest, ALongNameIsALabelThatIsCutAndKeepsItApart) {
  const std::string longest(253, 'a');
  const auto label = [](const std::string& name) {
    return FindSchedulingGroup(PodOfGroup(name))->label;
  };
  EXPECT_EQ(label(std::string(63, 'a')), std::string(63, 'a'));
  EXPECT_EQ(label(longest).size(), 63U);
  EXPECT_EQ(label(longest).substr(0, 47), std::string(46, 'a') + "-");
  EXPECT_NE(label(longest), label(longest.substr(1)));
  EXPECT_THAT(FindSchedulingGroup(PodOfGroup(longest))->path, ::testing::EndsWith("/" + longest));
}

TEST(GangOwnerTest, InvalidGroupOrLabelledPodHasNoSchedulingGroup) {
  for (const char* group : {R"({})", R"({"podGroupName":""})", R"({"podGroupName":null})", "null",
                            R"({"podGroupName":"../../secrets/x"})", R"({"podGroupName":"a?b"})",
                            R"({"podGroupName":".."})", R"({"podGroupName":"A"})"})
    EXPECT_FALSE(FindSchedulingGroup(GroupedPod(group))) << group;
  EXPECT_FALSE(FindSchedulingGroup(PodOfGroup(std::string(254, 'a'))));
  for (const char* label : {R"("synergy.io/gang-size":"1")", R"("synergy.io/gang":"all")",
                            R"("kueue.x-k8s.io/pod-group-name":"g")"})
    EXPECT_FALSE(FindSchedulingGroup(PodOfGroup("bert", label))) << label;
}

TEST(GangOwnerTest, TheSizeOfAPodGroupIsItsMinCount) {
  const GangOwner group = *FindSchedulingGroup(PodOfGroup("bert"));
  const auto of = [](std::string_view policy) {
    return fmt::format(R"({{"spec":{{"schedulingPolicy":{}}}}})", policy);
  };
  const std::vector<std::pair<std::string, int32_t>> cases = {
      {of(R"({"gang":{"minCount":4}})"), 4},
      {of(R"({"gang":{"minCount":256}})"), 256},
      {of(R"({"gang":{"minCount":257}})"), 1},
      {of(R"({"gang":{"minCount":2147483647}})"), 1},
      {of(R"({"gang":{"minCount":99999999999999999999}})"), 1},
      {of(R"({"gang":{"minCount":1}})"), 1},
      {of(R"({"gang":{"minCount":0}})"), 1},
      {of(R"({"gang":{"minCount":-4}})"), 1},
      {of(R"({"gang":{"minCount":"4"}})"), 1},
      {of(R"({"gang":{"minCount":4.5}})"), 1},
      {of(R"({"gang":{"minCount":[4]}})"), 1},
      {of(R"({"gang":{}})"), 1},
      {of(R"({"gang":[4]})"), 0},
      {of(R"({"basic":{}})"), 0},
      {of("{}"), 0},
      {of("7"), 0},
      {"{}", 0},
      {"[]", -1},
      {"{", -1},
  };
  for (const auto& [text, size] : cases) EXPECT_EQ(SizeBy(text, group), size) << text;
}

TEST(GangOwnerTest, TopologyOfAPodGroupLimitsTheGang) {
  const GangOwner group = *FindSchedulingGroup(PodOfGroup("bert"));
  const auto within = [&](std::string_view topology) {
    return ReadGangSize(fmt::format(R"({{"spec":{{"schedulingPolicy":{{"gang":{{"minCount":2}}}},
                           "schedulingConstraints":{{"topology":{}}}}}}})",
                                    topology),
                        group, {kGpuResource})
        ->within;
  };
  EXPECT_EQ(within(R"([{"key":"kubernetes.io/hostname"}])"), "node");
  EXPECT_EQ(within(R"([{"key":"topology.kubernetes.io/rack"}])"), "rack");
  for (const char* nothing : {"[]", "[{}]", "null", "7", R"([{"key":""}])", "[[]]"})
    EXPECT_EQ(within(nothing), "") << nothing;
}

// Returns a template of pods whose container uses a claim made from `claimed`.
std::string ClaimingTemplate(std::string_view claimed, std::string_view used = "gpu") {
  return fmt::format(R"({{"spec":{{"resourceClaims":[{{"name":"gpu",
      "resourceClaimTemplateName":"{}"}}],"containers":[{{"resources":{{"claims":[
      {{"name":"{}"}}]}}}}]}}}})",
                     claimed, used);
}

int32_t SizeWithClaims(const std::string& workers, const std::string& master) {
  const GangOwner owner{.kind = GangOwnerKind::kPyTorchJob, .uid = "7"};
  const auto of_claim = [](std::string_view name) -> std::optional<Gpus> {
    if (name == "one-gpu") return Gpus(1);
    if (name == "nic") return Gpus(0);
    return std::nullopt;
  };
  return ReadGangSize(Job(fmt::format(R"("pytorchReplicaSpecs":{{
                          "Worker":{{"replicas":3,"template":{}}},"Master":{{"template":{}}}}})",
                                      workers, master)),
                      owner, {kGpuResource, of_claim})
      ->size;
}

TEST(GangOwnerTest, TemplatesWhoseClaimsHaveGpusAreMembers) {
  const std::string gpu = ClaimingTemplate("one-gpu");
  EXPECT_EQ(SizeWithClaims(gpu, gpu), 4);
  EXPECT_EQ(SizeWithClaims(gpu, ClaimingTemplate("nic")), 3);
  EXPECT_EQ(SizeWithClaims(gpu, ClaimingTemplate("any-number")), 3)
      << "admission sizes no such pod";
  EXPECT_EQ(SizeWithClaims(gpu, ClaimingTemplate("one-gpu", "other")), 3) << "no container uses it";
  EXPECT_EQ(SizeWithClaims(ClaimingTemplate("nic"), gpu), 1);
}

TEST(GangOwnerTest, ClaimsDoNotCountWithoutDra) {
  const std::string gpu = ClaimingTemplate("one-gpu");
  const GangOwner owner{.kind = GangOwnerKind::kLeaderWorkerSet};
  const std::string set =
      Job(fmt::format(R"("leaderWorkerTemplate":{{"size":4,"workerTemplate":{}}})", gpu));
  EXPECT_EQ(ReadGangSize(set, owner, {kGpuResource})->size, 1);
  const auto of_claim = [](std::string_view) { return Gpus(1); };
  EXPECT_EQ(ReadGangSize(set, owner, {kGpuResource, of_claim})->size, 4);
}

}  // namespace
}  // namespace synergy::wire
