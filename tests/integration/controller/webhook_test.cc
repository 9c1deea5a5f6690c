// Tests the whole program, from an API server's watches to its admission reviews.

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/controller/controller_process.h"
#include "support/background.h"
#include "support/json_tree.h"
#include "support/raw_connection.h"

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kProfile =
    R"({"points":[{"cpu":1,"memory":"10G","throughput":0.5},{"cpu":2,"memory":"10G","throughput":1}]})";

std::string Review(std::string_view object) {
  return fmt::format(
      R"({{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","operation":"CREATE",
      "namespace":"team","object":{}}}}})",
      object);
}

std::string GpuPod(std::string_view labels = "{}") {
  return fmt::format(
      R"({{"metadata":{{"name":"p","labels":{}}},"spec":{{"schedulerName":"synergy-scheduler","containers":[{{"name":"t","resources":
      {{"limits":{{"nvidia.com/gpu":"1"}}}}}}]}}}})",
      labels);
}

class ControllerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server.SetNodes({{.name = "n",
                      .allocatable_json =
                          R"({"cpu":"24","memory":"480G","nvidia.com/gpu":"8","pods":"110"})"}});
    server.PutNamespace({.name = "team"});
    server.PutTrainingProfile(
        {.name = "image", .pod_namespace = "team", .spec_json = std::string(kProfile)});
    controller = std::make_unique<ControllerProcess>(server);
    controller->AwaitReady();
  }

  JsonTree Answer(const std::string& body) {
    const http::ClientResponse response = controller->Post("/mutate-pod", body);
    EXPECT_EQ(response.status, 200) << response.body;
    const auto tree = ParseJsonTree(response.body);
    EXPECT_TRUE(tree);
    return tree.value_or(JsonTree());
  }
  void ExpectServes() {
    EXPECT_EQ(Answer(Review(GpuPod())).At("response/patchType").text, "JSONPatch");
  }

  FakeApiServer server;
  std::unique_ptr<ControllerProcess> controller;
};

TEST_F(ControllerTest, AdmitsByTheStateOfItsWatches) {
  const auto warnings = [this] {
    return Answer(Review(GpuPod(R"({"synergy.io/profile":"image"})"))).At("response/warnings");
  };
  EXPECT_EQ(warnings(), JsonTree());
  server.PutTrainingProfile({.name = "image", .pod_namespace = "team", .spec_json = "{}"});
  controller->AwaitMetric(R"(synergy_controller_profiles{valid="false"})", 1);
  EXPECT_THAT(warnings().Write(), HasSubstr("spec.points: is missing"));
}

TEST_F(ControllerTest, WritesWhatItMakesOfAProfile) {
  EXPECT_TRUE(server.WaitForRequests("/namespaces/team/trainingprofiles/image/status", 1));
}

TEST_F(ControllerTest, LetsPodsThroughBeforeItHasListedTheCluster) {
  FakeApiServer silent;
  silent.IgnoreNext("GET", "/api/v1/nodes");
  ControllerProcess starting(silent);
  EXPECT_EQ(starting.Get("/readyz").status, 503);
  const auto answer = starting.Post("/mutate-pod", Review(GpuPod()));
  EXPECT_THAT(answer.body, HasSubstr(R"("allowed":true)"));
  EXPECT_THAT(answer.body, HasSubstr("the controller is still starting"));
}

TEST_F(ControllerTest, AnswersOrRejectsAnyBody) {
  for (const std::string& body :
       {std::string(), std::string("x"), std::string("{"), std::string("[]"), std::string("null"),
        std::string(100000, '{'), std::string("\0\0\0", 3), std::string("\xff\xfe")}) {
    const auto answer = controller->Post("/mutate-pod", body);
    EXPECT_EQ(answer.status, 400) << body.substr(0, 60);
    EXPECT_FALSE(answer.body.empty());
    EXPECT_EQ(controller->Post("/validate-trainingprofile", body).status, 400);
  }
  EXPECT_EQ(controller->Metric(R"(synergy_controller_bad_input_total{kind="json"})"), 16);
  EXPECT_EQ(controller->Post("/mutate-pod", Review(GpuPod()), "text/plain").status, 415);
  EXPECT_EQ(controller->Post("/elsewhere", "{}").status, 404);
  ExpectServes();
}

TEST_F(ControllerTest, RefusesATooLargeReviewInWords) {
  const std::string text(size_t{21} << 20, 'x');
  const auto answer =
      controller->NewClient()->Send({.method = "POST",
                                     .path = "/mutate-pod",
                                     .content_type = "application/json",
                                     .body = Review("{\"metadata\":{\"name\":\"" + text + "\"}}")});
  // A client that is still writing may see the connection end instead.
  EXPECT_EQ(answer ? answer->status : 413, 413);
  controller->AwaitMetric(R"(synergy_controller_bad_input_total{kind="too_large"})", 1);
  ExpectServes();
}

TEST_F(ControllerTest, TruncatedHandshakeIsCountedAndHarmless) {
  {
    RawConnection connection(controller->webhook_port());
    connection.Send(std::string("\x16\x03\x01\x02\x00\x01\x00", 7));
    connection.FinishSending();
    connection.ReadToEnd();
  }
  {
    RawConnection connection(controller->webhook_port());
    connection.Send("POST /mutate-pod HTTP/1.1\r\nHost: x\r\n\r\n");
    connection.ReadToEnd();
  }
  controller->AwaitMetric(R"(synergy_controller_bad_input_total{kind="tls"})", 2);
  ExpectServes();
}

TEST_F(ControllerTest, ANewCertificateIsServedWithoutAFailedReview) {
  const double expiry =
      controller->Metric("synergy_controller_certificate_expiry_timestamp_seconds");
  EXPECT_GT(expiry, 0);
  std::atomic<bool> stop = false;
  std::atomic<int> reviews = 0;
  std::atomic<int> failed = 0;
  {
    std::vector<Background> callers;
    for (int caller = 0; caller < 4; ++caller) {
      callers.emplace_back([&, caller] {
        std::unique_ptr<http::Client> client = controller->NewClient();
        for (int call = 0; !stop; ++call) {
          // Half of the callers use a new connection, with a handshake, for each review.
          if (caller % 2 == 0) client = controller->NewClient();
          const auto answer = client->Send({.method = "POST",
                                            .path = "/mutate-pod",
                                            .content_type = "application/json",
                                            .body = Review(GpuPod())});
          ++reviews;
          if (!answer || answer->status != 200) ++failed;
        }
      });
    }
    for (int round = 0; round < 10; ++round) {
      const int before = reviews;
      controller->RenewCertificate();
      EXPECT_TRUE(Eventually([&] { return reviews >= before + 40; }));
    }
    stop = true;
  }
  EXPECT_GE(reviews, 400);
  EXPECT_EQ(failed, 0);
}

TEST_F(ControllerTest, GoesOnAnsweringWhileTheApiServerIsAway) {
  server.Stop();
  ExpectServes();
  server.Start();
  ExpectServes();
}

TEST_F(ControllerTest, EndsCleanlyOnSigterm) {
  controller->process().Signal(SIGTERM);
  EXPECT_EQ(controller->process().Wait(), 0) << controller->process().Output();
}

TEST(ControllerUsageTest, ErrorsNameTheFlag) {
  ChildProcess process(std::getenv("SYNERGY_CONTROLLER"), {"--kubeconfig", "/nowhere"});
  EXPECT_EQ(process.Wait(), 2);
  EXPECT_THAT(process.Output(), HasSubstr("over TLS only"));
}

}  // namespace
}  // namespace synergy::testing
