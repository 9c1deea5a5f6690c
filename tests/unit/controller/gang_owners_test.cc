#include "controller/admission/gang_owners.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/cluster_vocabulary.h"
#include "support/fake_api_server.h"
#include "support/fake_clock.h"
#include "support/silent_log.h"

namespace synergy::controller {
namespace {

using ::testing::HasSubstr;

constexpr const char* kJob = "/apis/batch/v1/namespaces/team/jobs/bert";

class GangOwnersTest : public ::testing::Test {
 protected:
  static PodToAdmit MakePod(const std::string& uid = "7") {
    PodToAdmit pod;
    pod.pod_namespace = "team";
    pod.owner = {"batch/v1", "Job", "bert", uid};
    pod.has_subdomain = true;
    pod.labels = {{"batch.kubernetes.io/job-completion-index", "0"},
                  {"batch.kubernetes.io/job-name", "bert"}};
    return pod;
  }

  void PutJob(int size, int active = 0, const std::string& uid = "7") {
    server.PutText(kJob, fmt::format(R"({{"metadata":{{"uid":"{}"}},"spec":{{"completionMode":
        "Indexed","completions":{},"parallelism":{},"template":{{"spec":{{"subdomain":"b"}}}}}},
        "status":{{"active":{}}}}})",
                                     uid, size, size, active));
  }

  // Adds a living pod of the gang that carries its size.
  void PutMember(int32_t size, const std::string& gang = "team/job/bert") {
    Pod pod = synergy::testing::MakeGpuPod("member", 1);
    pod.gang = std::make_shared<const Gang>(Gang{gang, size, ""});
    state.UpsertPod(pod);
  }

  size_t Reads() const { return server.requests(kJob).size(); }
  void ExpectReads(const std::string& outcome, int count) {
    EXPECT_THAT(metrics.Render(),
                HasSubstr(fmt::format("synergy_controller_gang_reads_total{{outcome=\"{}\"}} {}\n",
                                      outcome, count)));
  }

  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::ControllerMetrics metrics;
  ClusterState state;
  synergy::testing::FakeApiServer server;
  std::unique_ptr<kube::ApiClient> client =
      *kube::ApiClient::Create(server.access(), {.most_tries = 1});
  GangOwners owners{*client, state, "nvidia.com/gpu", clock, log, metrics};
};

TEST_F(GangOwnersTest, ReadsTheSizeFromTheJobOnceForConcurrentPods) {
  PutJob(4);
  std::vector<std::thread> pods;
  std::vector<ResolvedGang> all(8);
  for (ResolvedGang& resolved : all)
    pods.emplace_back([&] { resolved = owners.SizeFor(MakePod()); });
  for (std::thread& pod : pods) pod.join();
  for (const ResolvedGang& resolved : all) {
    EXPECT_EQ(resolved.size, 4);
    EXPECT_EQ(resolved.warning, "");
  }
  EXPECT_EQ(Reads(), 1U);
  ExpectReads("read", 1);
}

TEST_F(GangOwnersTest, ReadsNoJobForAPodWithItsSize) {
  PutJob(4);
  PodToAdmit pod = MakePod();
  pod.labels.emplace_back("synergy.io/gang-size", "1");
  EXPECT_EQ(owners.SizeFor(pod).size, 1);
  EXPECT_EQ(Reads(), 0U);
}

TEST_F(GangOwnersTest, PodsCreatedOneByOneAreNoGangAndGetAWarning) {
  PutJob(4);
  PodToAdmit pod = MakePod();
  pod.why_no_gang = "they come one by one";
  const ResolvedGang resolved = owners.SizeFor(pod);
  EXPECT_EQ(resolved.size, 1);
  EXPECT_EQ(resolved.warning, "synergy: the pod belongs to no gang: they come one by one");
  EXPECT_EQ(Reads(), 0U);
}

TEST_F(GangOwnersTest, AWorkerThatRaysAutoscalerAddsIsOnItsOwn) {
  const std::string path = "/apis/ray.io/v1/namespaces/team/rayclusters/tune";
  server.PutText(path, R"({"metadata":{"uid":"7"},"spec":{"enableInTreeAutoscaling":true,
      "workerGroupSpecs":[{"groupName":"gpu","replicas":3,"minReplicas":2}]}})");
  const auto size_of = [this](const std::string& index) {
    PodToAdmit pod;
    pod.pod_namespace = "team";
    pod.owner = {"ray.io/v1", "RayCluster", "tune", "7"};
    pod.labels = {{"ray.io/cluster", "tune"},
                  {"ray.io/group", "gpu"},
                  {"ray.io/node-type", "worker"},
                  {"ray.io/worker-group-replica-index", index}};
    return owners.SizeFor(pod).size;
  };
  EXPECT_EQ(size_of("0"), 2);
  EXPECT_EQ(size_of("1"), 2);
  EXPECT_EQ(size_of("2"), 1);
  EXPECT_EQ(server.requests(path).size(), 1U);
}

TEST_F(GangOwnersTest, AWorkerOfRayDoesNotWaitForMembersThatTheAutoscalerTookAway) {
  const auto put = [this](int available) {
    server.PutText(
        "/apis/ray.io/v1/namespaces/team/rayclusters/tune",
        fmt::format(R"({{"metadata":{{"uid":"7"}},"spec":{{"enableInTreeAutoscaling":true,
        "workerGroupSpecs":[{{"groupName":"gpu","replicas":2,"minReplicas":2}}]}},
        "status":{{"availableWorkerReplicas":{}}}}})",
                    available));
  };
  PodToAdmit pod;
  pod.pod_namespace = "team";
  pod.owner = {"ray.io/v1", "RayCluster", "tune", "7"};
  pod.labels = {{"ray.io/cluster", "tune"},
                {"ray.io/group", "gpu"},
                {"ray.io/node-type", "worker"},
                {"ray.io/worker-group-replica-index", "0"}};
  put(0);
  EXPECT_EQ(owners.SizeFor(pod).size, 2);
  put(2);  // workers with higher indices
  clock.Advance(GangOwners::kGood);
  EXPECT_EQ(owners.SizeFor(pod).size, 1);
  PutMember(2, "team/ray/tune/gpu");
  EXPECT_EQ(owners.SizeFor(pod).size, 2) << "it replaces the other member";
}

TEST_F(GangOwnersTest, ASuspendedJobThatIsChangedIsAskedAgain) {
  PutJob(4);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 4);
  PutJob(2);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 4);
  clock.Advance(GangOwners::kGood);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 2);
  EXPECT_EQ(Reads(), 2U);
}

TEST_F(GangOwnersTest, AJobOfThatNameThatIsMadeAnewIsAskedAtOnce) {
  PutJob(4);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 4);
  PutJob(2, 0, "8");
  EXPECT_EQ(owners.SizeFor(MakePod("8")).size, 2);
}

TEST_F(GangOwnersTest, SoIsALeaderWorkerSetWhichItsPodsKnowByNameAlone) {
  const std::string path = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/team/leaderworkersets/llm";
  const auto put = [&](const std::string& policy) {
    server.PutText(path, fmt::format(R"({{"spec":{{"startupPolicy":"{}","leaderWorkerTemplate":
        {{"size":3,"workerTemplate":{{"spec":{{"containers":[
        {{"resources":{{"limits":{{"nvidia.com/gpu":"1"}}}}}}]}}}}}}}}}})",
                                     policy));
  };
  PodToAdmit leader;
  leader.pod_namespace = "team";
  leader.owner = {"apps/v1", "StatefulSet", "llm", "7"};
  leader.labels = {{"leaderworkerset.sigs.k8s.io/group-index", "0"},
                   {"leaderworkerset.sigs.k8s.io/name", "llm"}};
  put("LeaderCreated");
  EXPECT_EQ(owners.SizeFor(leader).size, 3);
  put("LeaderReady");
  leader.owner.uid = "8";
  EXPECT_EQ(owners.SizeFor(leader).size, 1) << "it would wait for its workers forever";
}

TEST_F(GangOwnersTest, MissingJobIsNoGangWithoutAWarning) {
  const ResolvedGang resolved = owners.SizeFor(MakePod());
  EXPECT_EQ(resolved.size, 1);
  EXPECT_EQ(resolved.warning, "");
  ExpectReads("missing", 1);
}

TEST_F(GangOwnersTest, AfterAFailedReadAllPodsOfTheGangAreAloneForAMinute) {
  PutJob(4);
  server.FailNext("GET", kJob, 403);
  const ResolvedGang resolved = owners.SizeFor(MakePod());
  EXPECT_EQ(resolved.size, 1);
  EXPECT_THAT(resolved.warning,
              HasSubstr("belongs to no gang, because Job team/bert could not be read: "));
  EXPECT_THAT(resolved.warning, HasSubstr("status 403"));
  clock.Advance(GangOwners::kFailed / 2);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 1);
  EXPECT_EQ(Reads(), 1U);
  ExpectReads("failed", 1);
  clock.Advance(GangOwners::kFailed / 2);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 4);
}

TEST_F(GangOwnersTest, AReviewWaitsForItsReadsOnlyAsLongAsTheApiServerWaitsForIt) {
  PutJob(4);
  server.IgnoreNext("GET", kJob);
  ResolvedGang resolved;
  std::thread review([&] { resolved = owners.SizeFor(MakePod(), std::chrono::seconds(12)); });
  clock.AwaitSleepers(1);
  clock.Advance(std::chrono::seconds(12));
  review.join();
  EXPECT_EQ(resolved.size, 1);
  EXPECT_THAT(resolved.warning, HasSubstr("could not be read"));
}

TEST_F(GangOwnersTest, PodsOfAGangHaveOneSizeThoughALaterReadFails) {
  PutJob(4);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 4);
  server.FailNext("GET", kJob, 500, 2);
  for (int pod = 1; pod < 3; ++pod) {
    clock.Advance(GangOwners::kGood);
    EXPECT_EQ(owners.SizeFor(MakePod()).size, 4);
  }
  PutJob(8);
  clock.Advance(GangOwners::kGood);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 8) << "it is read again soon";
  server.FailNext("GET", kJob, 500, 2);
  clock.Advance(GangOwners::kFailed / 2);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 8);
  clock.Advance(GangOwners::kFailed / 2);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 1) << "that was read too long ago";
}

TEST_F(GangOwnersTest, AfterAFailedReadTheSizeOfLivingMembersGoes) {
  PutMember(4);
  server.FailNext("GET", kJob, 500);
  const ResolvedGang resolved = owners.SizeFor(MakePod());
  EXPECT_EQ(resolved.size, 4);
  EXPECT_EQ(resolved.warning, "");
}

TEST_F(GangOwnersTest, ABusyApiServerIsNotAskedTwiceForOneReview) {
  server.OverloadNext("GET", kJob, 1, 2);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 1);
  EXPECT_EQ(Reads(), 1U);
}

TEST_F(GangOwnersTest, APodBesideOnesOfBeforeThatCarryNoSizeIsAlone) {
  PutJob(4, 3);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 1);
}

TEST_F(GangOwnersTest, AReplacementJoinsTheMembersThatAreThere) {
  PutMember(4);
  PutJob(4, 3);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 4);
}

TEST_F(GangOwnersTest, AJobThatGrowsWhileItRunsGetsNoSecondGang) {
  PutMember(4);
  PutJob(8, 4);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 1);
}

TEST_F(GangOwnersTest, KeepsTheSizeUntilAllPodsAreCounted) {
  PutJob(4);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 4);
  PutJob(4, 3);
  clock.Advance(GangOwners::kGood);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 4);
  PutJob(6, 4);
  clock.Advance(GangOwners::kGood);
  EXPECT_EQ(owners.SizeFor(MakePod()).size, 1);
}

class JobSetTest : public GangOwnersTest {
 protected:
  static constexpr const char* kSet = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/team/jobsets/deep";

  static PodToAdmit MakeMember() {
    PodToAdmit pod = MakePod();
    pod.labels = {{"jobset.sigs.k8s.io/jobset-name", "deep"},
                  {"synergy.io/gang", "deep"},
                  {"synergy.io/gang-size", "3"}};
    return pod;
  }
  static std::string Job(const std::string& name, const std::string& gang,
                         const std::string& depends_on = "[]") {
    return fmt::format(
        R"({{"name":"{}","dependsOn":{},"template":{{"spec":{{"template":{{"metadata":
        {{"labels":{{"synergy.io/gang":"{}"}}}}}}}}}}}})",
        name, depends_on, gang);
  }
  void PutSet(const std::string& jobs, const std::string& order = "AnyOrder") {
    server.PutText(kSet, fmt::format(R"({{"spec":{{"startupPolicy":{{"startupPolicyOrder":"{}"}},
        "replicatedJobs":[{}]}}}})",
                                     order, jobs));
  }
  static constexpr const char* kAfterNode = R"([{"name":"node","status":"Ready"}])";
};

TEST_F(JobSetTest, GangWithStagedPodsIsNone) {
  PutSet(Job("node", "deep") + "," + Job("launcher", "deep", kAfterNode));
  const ResolvedGang resolved = owners.SizeFor(MakeMember());
  EXPECT_EQ(resolved.size, 1);
  EXPECT_TRUE(resolved.overrules);
  EXPECT_THAT(resolved.warning,
              HasSubstr("JobSet team/deep creates pods of the gang deep only when"));
}

TEST_F(JobSetTest, SoIsOneInOrderAndOneThatWaitsByWayOfAnother) {
  PutSet(Job("node", "deep") + "," + Job("launcher", "deep"), "InOrder");
  EXPECT_TRUE(owners.SizeFor(MakeMember()).overrules);
  clock.Advance(GangOwners::kGood);
  PutSet(Job("node", "deep") + "," + Job("between", "other", kAfterNode) + "," +
         Job("launcher", "deep", R"([{"name":"between","status":"Complete"}])"));
  EXPECT_TRUE(owners.SizeFor(MakeMember()).overrules);
}

TEST_F(JobSetTest, GangOfPodsThatComeTogetherKeepsItsLabels) {
  for (const char* order : {"AnyOrder", "InOrder"}) {
    // The driver starts before the gang, and is not a member.
    const bool in_order = std::string(order) == "InOrder";
    PutSet(Job("driver", "") + "," +
               Job("node", "deep", R"([{"name":"driver","status":"Ready"}])") +
               (in_order ? "" : "," + Job("launcher", "deep")),
           order);
    const ResolvedGang resolved = owners.SizeFor(MakeMember());
    EXPECT_FALSE(resolved.overrules) << order;
    EXPECT_EQ(resolved.warning, "") << order;
    clock.Advance(GangOwners::kGood);
  }
}

TEST_F(JobSetTest, LabelCountsIfTheSetCannotBeRead) {
  EXPECT_FALSE(owners.SizeFor(MakeMember()).overrules) << "missing";
  clock.Advance(GangOwners::kGood);
  for (const char* text :
       {"[]", "{}", R"({"spec":[]})", R"({"spec":{"replicatedJobs":{"a":1}}})",
        R"({"spec":{"replicatedJobs":[1,{"name":[]}],"startupPolicy":"InOrder"}})"}) {
    server.PutText(kSet, text);
    EXPECT_FALSE(owners.SizeFor(MakeMember()).overrules) << text;
    clock.Advance(GangOwners::kFailed);
  }
  PodToAdmit elsewhere = MakeMember();
  elsewhere.labels.front().second = "../secrets";
  EXPECT_FALSE(owners.SizeFor(elsewhere).overrules);
}

class PodGroupTest : public GangOwnersTest {
 protected:
  static constexpr const char* kGroup =
      "/apis/scheduling.k8s.io/v1beta1/namespaces/team/podgroups/all";

  static PodToAdmit GroupedPod() {
    PodToAdmit pod = MakePod();
    pod.scheduling_group = "all";
    return pod;
  }
  void PutGroup(const std::string& policy, const std::string& more = "") {
    server.PutText(kGroup,
                   fmt::format(R"({{"spec":{{"schedulingPolicy":{{{}}}{}}}}})", policy, more));
  }
  // Adds a living pod of that gang.
  void PutGroupsMember(int32_t size) {
    Pod pod = synergy::testing::MakeGpuPod("member", 1);
    pod.gang = std::make_shared<const Gang>(Gang{"team/all", size, ""});
    state.UpsertPod(pod);
  }
};

TEST_F(PodGroupTest, MinCountPrecedesTheJob) {
  PutJob(4);
  PutGroup(R"("gang":{"minCount":3})");
  const ResolvedGang resolved = owners.SizeFor(GroupedPod());
  EXPECT_EQ(resolved.size, 3);
  EXPECT_EQ(resolved.name, "all");
  EXPECT_EQ(resolved.within, "");
  EXPECT_EQ(resolved.warning, "");
  EXPECT_EQ(Reads(), 0U);
}

TEST_F(PodGroupTest, ThePolicyBasicLeavesItToTheJob) {
  PutJob(4);
  PutGroup(R"("basic":{})");
  const ResolvedGang resolved = owners.SizeFor(GroupedPod());
  EXPECT_EQ(resolved.size, 4);
  EXPECT_EQ(resolved.name, "");
  PodToAdmit alone = GroupedPod();
  alone.owner = {};
  EXPECT_EQ(owners.SizeFor(alone).size, 1);
  EXPECT_EQ(owners.SizeFor(alone).warning, "");
}

TEST_F(PodGroupTest, PodsOfAJobHaveOneSizeThoughALaterReadOfTheGroupFails) {
  PutJob(4);
  PutGroup(R"("basic":{})");
  EXPECT_EQ(owners.SizeFor(GroupedPod()).size, 4);
  clock.Advance(GangOwners::kGood);
  server.FailNext("GET", kGroup, 500);
  EXPECT_EQ(owners.SizeFor(GroupedPod()).size, 4);
  PutMember(4);
  clock.Advance(GangOwners::kFailed);
  server.FailNext("GET", kGroup, 500);
  EXPECT_EQ(owners.SizeFor(GroupedPod()).size, 4) << "as its living members";
}

TEST_F(PodGroupTest, MissingGroupDefersToTheJobAndWarnsWithoutOne) {
  const ResolvedGang resolved = owners.SizeFor(GroupedPod());
  EXPECT_EQ(resolved.size, 1);
  EXPECT_EQ(resolved.warning,
            "synergy: the pod belongs to no gang, because there is no PodGroup team/all of "
            "scheduling.k8s.io/v1beta1: create it before its pods");
  clock.Advance(GangOwners::kGood);
  PutJob(4);
  EXPECT_EQ(owners.SizeFor(GroupedPod()).size, 4);
  EXPECT_EQ(owners.SizeFor(GroupedPod()).warning, "");
}

TEST_F(PodGroupTest, OneThatCannotBeReadIsNoGangUnlessItHasMembers) {
  PutJob(4);
  server.FailNext("GET", kGroup, 403);
  const ResolvedGang resolved = owners.SizeFor(GroupedPod());
  EXPECT_EQ(resolved.size, 1);
  EXPECT_THAT(resolved.warning,
              HasSubstr("belongs to no gang, because PodGroup team/all could not be read: "));
  PutGroupsMember(3);
  EXPECT_EQ(owners.SizeFor(GroupedPod()).size, 3);
  EXPECT_EQ(owners.SizeFor(GroupedPod()).name, "all");
}

TEST_F(PodGroupTest, AReplacementJoinsAndOneThatHasChangedGetsNoSecondGang) {
  PutGroupsMember(3);
  PutGroup(R"("gang":{"minCount":3})");
  EXPECT_EQ(owners.SizeFor(GroupedPod()).size, 3);
  PutGroup(R"("gang":{"minCount":5})");
  clock.Advance(GangOwners::kGood);
  const ResolvedGang resolved = owners.SizeFor(GroupedPod());
  EXPECT_EQ(resolved.size, 1);
  EXPECT_EQ(resolved.name, "");
  EXPECT_EQ(
      resolved.warning,
      "synergy: the pod belongs to no gang, because PodGroup team/all has a minCount of 5, and "
      "its pods were created with one of 3");
}

TEST_F(PodGroupTest, WarnsThatTheTopologyIsOnlyAPreference) {
  PutGroup(R"("gang":{"minCount":3})",
           R"(,"schedulingConstraints":{"topology":[{"key":"example.com/block"}]})");
  const ResolvedGang resolved = owners.SizeFor(GroupedPod());
  EXPECT_EQ(resolved.size, 3);
  EXPECT_EQ(resolved.within, "rack");
  EXPECT_THAT(resolved.warning,
              HasSubstr("the topology of PodGroup team/all is only a preference"));
}

}  // namespace
}  // namespace synergy::controller
