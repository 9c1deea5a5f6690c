#include "controller/admission/webhook.h"

#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/cluster/cluster_view.h"
#include "json/text.h"
#include "support/cluster_vocabulary.h"
#include "support/fake_api_server.h"
#include "support/fake_clock.h"
#include "support/json_tree.h"
#include "support/silent_log.h"

namespace synergy::controller {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class WebhookTest : public ::testing::Test {
 protected:
  WebhookTest() {
    cluster.UpsertNode(synergy::testing::MakeNode("n", {Gpus(8), Cores(24), GB(480)}));
  }

  static std::string Review(std::string_view object, std::string_view version = "v1") {
    return fmt::format(
        R"({{"apiVersion":"admission.k8s.io/{}","kind":"AdmissionReview","request":{{"uid":"u","operation":"CREATE",
        "namespace":"team","object":{}}}}})",
        version, object);
  }

  http::Response Pod(std::string_view body, std::string_view type = "application/json") {
    return webhook.ReviewPod({"POST", "/mutate-pod", "", type, body});
  }
  http::Response Job(std::string_view body) {
    return webhook.ReviewJob({"POST", "/mutate-job", "", "application/json", body});
  }
  http::Response Profile(std::string_view body) {
    return webhook.ReviewProfile(
        {"POST", "/validate-trainingprofile", "", "application/json; charset=utf-8", body});
  }
  void ExpectCount(const std::string& line) {
    EXPECT_THAT("\n" + metrics.Render(), HasSubstr("\n" + line + "\n"));
  }

  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::ControllerMetrics metrics;
  ClusterState cluster;
  ProfileStore profiles{0};
  KeyedStore<Namespace> namespaces;
  FairShareCache shares{cluster, clock};
  bool complete = true;
  ClusterView view{cluster, profiles, namespaces, shares, [this] { return complete; }};
  synergy::testing::FakeApiServer server;
  std::unique_ptr<kube::ApiClient> client = *kube::ApiClient::Create(server.access());
  GangOwners gangs{*client, cluster, "nvidia.com/gpu", clock, log, metrics};
  Webhook webhook{{}, view, gangs, clock, log, metrics};
};

constexpr std::string_view kGpuPod =
    R"({"metadata":{"name":"p"},"spec":{"schedulerName":"synergy-scheduler","containers":[{"name":"t","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}})";

TEST_F(WebhookTest, PatchesAGpuPodAndWarnsItsCreator) {
  const http::Response response = Pod(Review(kGpuPod));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/json");
  const auto answer = synergy::testing::ParseJsonTree(response.body);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->At("apiVersion").text, "admission.k8s.io/v1");
  EXPECT_EQ(answer->At("response/uid").text, "u");
  EXPECT_EQ(answer->At("response/allowed").text, "true");
  EXPECT_EQ(answer->At("response/patchType").text, "JSONPatch");
  EXPECT_THAT(answer->At("response/warnings/0").text, HasSubstr("no TrainingProfile"));
  ExpectCount("synergy_controller_pod_reviews_total{outcome=\"managed\"} 1");
  ExpectCount("synergy_controller_pod_review_duration_seconds_count 1");
}

TEST_F(WebhookTest, ReadsAnOwnerForTwoThirdsOfTheTimeForWhichTheApiServerWaits) {
  constexpr std::string_view kIndexed =
      R"({"metadata":{"name":"p","labels":{"batch.kubernetes.io/job-completion-index":"0",
          "batch.kubernetes.io/job-name":"bert"},"ownerReferences":[{"apiVersion":"batch/v1",
          "kind":"Job","name":"bert","uid":"7","controller":true}]},
          "spec":{"schedulerName":"synergy-scheduler","hostname":"bert-0","subdomain":"b",
          "containers":[{"name":"t","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}})";
  server.IgnoreNext("GET", "/jobs/bert");
  const std::string body = Review(kIndexed);
  http::Response response;
  std::thread review([&] {
    response = webhook.ReviewPod({"POST", "/mutate-pod", "timeout=12s", "application/json", body});
  });
  clock.AwaitSleepers(1);
  clock.Advance(std::chrono::seconds(7));
  clock.AwaitSleepers(1);
  clock.Advance(std::chrono::seconds(1));
  review.join();
  EXPECT_THAT(response.body, HasSubstr("Job team/bert could not be read"));
}

TEST_F(WebhookTest, APodIsSizedByTheGpusOfItsClaimsIfTheyCount) {
  constexpr std::string_view kClaiming =
      R"({"metadata":{"name":"p"},"spec":{"schedulerName":"synergy-scheduler",
          "resourceClaims":[{"name":"gpus","resourceClaimTemplateName":"two"}],
          "containers":[{"name":"t","resources":{"claims":[{"name":"gpus"}]}}]}})";
  EXPECT_THAT(Pod(Review(kClaiming)).body, Not(HasSubstr("patch")));
  ExpectCount("synergy_controller_pod_reviews_total{outcome=\"no_gpus\"} 1");
  Webhook counting{{},
                   view,
                   gangs,
                   clock,
                   log,
                   metrics,
                   [](const std::string& pod_namespace, const std::string& name) {
                     EXPECT_EQ(pod_namespace + "/" + name, "team/two");
                     return std::optional(Gpus(2));
                   }};
  counting.ReviewPod({"POST", "/mutate-pod", "", "application/json", Review(kClaiming)});
  ExpectCount("synergy_controller_pod_reviews_total{outcome=\"managed\"} 1");
}

// Returns a pod of a Job whose pods train together.
std::string MemberPod(std::string_view more, std::string_view scheduler) {
  return fmt::format(
      R"({{"metadata":{{"labels":{{"batch.kubernetes.io/job-completion-index":"0",
      "batch.kubernetes.io/job-name":"bert"{}}},"ownerReferences":[{{"apiVersion":"batch/v1",
      "kind":"Job","name":"bert","uid":"7","controller":true}}]}},"spec":{{"subdomain":"b",
      "schedulerName":"{}","containers":[{{"resources":{{"limits":{{"nvidia.com/gpu":"1"}}}}}}]}}}})",
      more, scheduler);
}

TEST_F(WebhookTest, ReadsTheOwnerOfAMemberWithoutAGangSize) {
  const auto reads = [&] { return server.requests("/jobs/bert").size(); };
  Pod(Review(MemberPod(R"(,"synergy.io/gang-size":"1")", "synergy-scheduler")));
  // Another scheduler places the pod, and it has not opted in.
  Pod(Review(MemberPod("", "volcano")));
  Pod(Review(kGpuPod));
  EXPECT_EQ(reads(), 0U);
  Pod(Review(MemberPod("", "synergy-scheduler")));
  EXPECT_EQ(reads(), 1U);
}

TEST_F(WebhookTest, AllowsThePodAndWarnsIfTheOwnerCannotBeRead) {
  server.FailNext("GET", "/jobs/bert", 403);
  const http::Response response = Pod(Review(MemberPod("", "synergy-scheduler")));
  EXPECT_THAT(response.body, HasSubstr(R"("allowed":true)"));
  EXPECT_THAT(response.body, HasSubstr("the pod belongs to no gang, because Job team/bert"));
  ExpectCount("synergy_controller_pod_reviews_total{outcome=\"managed\"} 1");
}

TEST_F(WebhookTest, TheTemplateOfAJobInAQueueIsSized) {
  const auto job = [](std::string_view metadata) {
    return fmt::format(R"({{"metadata":{},"spec":{{"template":{}}}}})", metadata, kGpuPod);
  };
  const http::Response sized =
      Job(Review(job(R"({"labels":{"kueue.x-k8s.io/queue-name":"queue"}})")));
  EXPECT_EQ(sized.status, 200);
  EXPECT_THAT(sized.body, HasSubstr("JSONPatch"));
  EXPECT_THAT(Job(Review(job("{}"))).body, Not(HasSubstr("JSONPatch"))) << "it is in no queue";
  EXPECT_THAT(Job(Review(R"({"spec":7})")).body, HasSubstr("the Job stays as written"));
  ExpectCount("synergy_controller_job_reviews_total{outcome=\"sized\"} 1");
  ExpectCount("synergy_controller_job_reviews_total{outcome=\"left\"} 1");
  ExpectCount("synergy_controller_job_reviews_total{outcome=\"unreadable\"} 1");
}

TEST_F(WebhookTest, ATemplateWithLimitsStaysAsWritten) {
  const http::Response response = Job(Review(
      R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"queue"}},"spec":{"template":{"spec":{
      "containers":[{"name":"t","resources":{"limits":{"cpu":"8","memory":"64Gi",
      "nvidia.com/gpu":"1"}}}]}}}})"));
  EXPECT_THAT(response.body, Not(HasSubstr("JSONPatch")));
  ExpectCount("synergy_controller_job_reviews_total{outcome=\"left\"} 1");
}

TEST_F(WebhookTest, KueueCountsTheJobsOfACronJob) {
  const auto owned_by = [](std::string_view kind) {
    return fmt::format(R"({{"metadata":{{"labels":{{"kueue.x-k8s.io/queue-name":"queue"}},
        "ownerReferences":[{{"kind":"{}","controller":true}}]}},"spec":{{"template":{}}}}})",
                       kind, kGpuPod);
  };
  EXPECT_THAT(Job(Review(owned_by("CronJob"))).body, HasSubstr("JSONPatch"));
  EXPECT_THAT(Job(Review(owned_by("JobSet"))).body, Not(HasSubstr("JSONPatch")));
}

TEST_F(WebhookTest, OtherPodsAreLetThroughAsTheyAre) {
  const http::Response response = Pod(Review(R"({"spec":{"containers":[{}]}})"));
  EXPECT_THAT(response.body, HasSubstr(R"("allowed":true}})"));
  ExpectCount("synergy_controller_pod_reviews_total{outcome=\"no_gpus\"} 1");
}

TEST_F(WebhookTest, BeforeTheClusterIsKnownPodsAreLetThroughAsTheyAre) {
  complete = false;
  const http::Response response = Pod(Review(kGpuPod));
  EXPECT_THAT(response.body, HasSubstr(R"("allowed":true)"));
  // The pod says so itself, and nothing else is written there.
  const std::string patch = json::ToBase64(
      R"([{"op":"add","path":"/metadata/annotations","value":{"synergy.io/warnings":)"
      R"("synergy: CPU and memory stay as written, because the controller is still starting"}}])");
  EXPECT_THAT(response.body, HasSubstr(R"("patch":")" + patch + '"'));
  ExpectCount("synergy_controller_pod_reviews_total{outcome=\"starting\"} 1");
}

TEST_F(WebhookTest, AllowsAnyReviewThatItCanAnswer) {
  for (const std::string& body :
       {Review(kGpuPod, "v1beta1"), Review("null"), Review("[]"), Review(R"({"spec":[]})"),
        Review(R"({"metadata":{"annotations":{"a":7}},"spec":{}})")}) {
    const http::Response response = Pod(body);
    EXPECT_EQ(response.status, 200) << body;
    EXPECT_THAT(response.body, HasSubstr(R"("allowed":true)")) << body;
    EXPECT_THAT(response.body, Not(HasSubstr("patch"))) << body;
  }
  ExpectCount("synergy_controller_bad_input_total{kind=\"version\"} 1");
  ExpectCount("synergy_controller_bad_input_total{kind=\"object\"} 4");
  ExpectCount("synergy_controller_pod_reviews_total{outcome=\"unreadable\"} 5");
}

TEST_F(WebhookTest, RejectsUnreadableReviewsWithAReason) {
  EXPECT_EQ(Pod("{").status, 400);
  EXPECT_EQ(Pod("").status, 400);
  const http::Response response = Pod(Review(kGpuPod), "application/yaml");
  EXPECT_EQ(response.status, 415);
  EXPECT_THAT(response.body, HasSubstr("\"application/yaml\" is not application/json"));
  ExpectCount("synergy_controller_bad_input_total{kind=\"json\"} 2");
  ExpectCount("synergy_controller_bad_input_total{kind=\"content_type\"} 1");
}

TEST_F(WebhookTest, InvalidProfilesAreRefusedWithTheirFields) {
  const http::Response response =
      Profile(Review(R"({"spec":{"gpus":0,"points":[{"cpu":0,"memory":"1G","throughput":1}]}})"));
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr(R"("allowed":false,"status":{"code":422)"));
  EXPECT_THAT(response.body, HasSubstr("spec.points[0].cpu: must be more than zero"));
  EXPECT_THAT(response.body, HasSubstr("spec.gpus: "));
  ExpectCount("synergy_controller_profile_reviews_total{outcome=\"invalid\"} 1");
}

TEST_F(WebhookTest, DoubtfulProfilesAreAllowedWithAWarning) {
  const http::Response response =
      Profile(Review(R"({"spec":{"points":[{"cpu":1,"memory":"1G","throughput":2},
                                          {"cpu":2,"memory":"1G","throughput":1}]}})"));
  EXPECT_THAT(response.body, HasSubstr(R"("allowed":true)"));
  EXPECT_THAT(response.body, HasSubstr(R"("warnings":["spec.points: )"));
  ExpectCount("synergy_controller_profile_reviews_total{outcome=\"valid\"} 1");
}

TEST_F(WebhookTest, AProfileThatIsToBeMeasuredIsAllowedWithoutPoints) {
  const http::Response response = Profile(Review(R"({"spec":{"workload":"bert","gpus":1}})"));
  EXPECT_THAT(response.body, HasSubstr(R"("allowed":true)"));
  EXPECT_THAT(Profile(Review(R"({"spec":{"gpus":1}})")).body, HasSubstr("spec.points"));
}

}  // namespace
}  // namespace synergy::controller
