// Faults of the API server: no place is lost, and none is given to two pods.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/extender/extender_process.h"
#include "integration/extender/messages.h"
#include "support/background.h"

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

constexpr char kBound[] = R"({"Error":""})";
constexpr char kListsOfPods[] = R"(synergy_cache_lists_total{resource="pods"})";

class ExtenderFaultsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server.SetNodes({GpuNode("a", 1)});
    server.SetPods({GpuPod("p"), GpuPod("q")});
    extender = std::make_unique<ExtenderProcess>(server);
    extender->AwaitReady();
    server.WaitForWatches("pods", 1);
  }
  std::string Bind(const FakePod& pod) {
    return extender->Post("/bind", BindingArgs(pod, "a")).body;
  }
  bool Fits(const std::string& name) {
    return extender->Post("/filter", ExtenderArgs(GpuPod(name), {"a"}))
               .body.find(R"("NodeNames":["a"])") != std::string::npos;
  }

  FakeApiServer server;
  std::unique_ptr<ExtenderProcess> extender;
};

TEST_F(ExtenderFaultsTest, BindsOnceWhenTheAnswerIsLost) {
  server.DropNext("POST", "/binding", true);
  EXPECT_EQ(Bind(GpuPod("p")), kBound);
  EXPECT_EQ(server.bindings().size(), 1u);
  EXPECT_FALSE(Fits("q"));
}

TEST_F(ExtenderFaultsTest, KeepsThePlaceOfABindingThatMayStillCome) {
  server.DropNext("POST", "/binding", false);
  EXPECT_NE(Bind(GpuPod("p")), kBound);
  EXPECT_FALSE(Fits("q"));
  EXPECT_TRUE(Fits("p"));
  EXPECT_EQ(Bind(GpuPod("p")), kBound);
}

TEST_F(ExtenderFaultsTest, GivesThePlaceOfARefusedPodToTheNext) {
  server.FailNext("POST", "/binding", 403);
  EXPECT_NE(Bind(GpuPod("p")), kBound);
  EXPECT_EQ(Bind(GpuPod("q")), kBound);
}

TEST_F(ExtenderFaultsTest, GivesTheLastGpuToOneOfTwoCallers) {
  std::string answers[2];
  {
    Background one([&] { answers[0] = Bind(GpuPod("p")); });
    Background other([&] { answers[1] = Bind(GpuPod("q")); });
  }
  EXPECT_NE(answers[0] == kBound, answers[1] == kBound);
  EXPECT_EQ(server.bindings().size(), 1u);
}

TEST_F(ExtenderFaultsTest, PlacesNothingByAnOldCopyWhileTheApiServerIsAway) {
  server.Stop();
  while (Fits("p")) {
  }
  EXPECT_NE(Bind(GpuPod("p")), kBound);
  server.Start();
  while (Bind(GpuPod("p")) != kBound) {
  }
  EXPECT_EQ(server.bindings().size(), 1u);
}

TEST_F(ExtenderFaultsTest, KeepsThePlaceAcrossABrokenWatch) {
  EXPECT_EQ(Bind(GpuPod("p")), kBound);
  server.BreakWatchesInALine();
  EXPECT_FALSE(Fits("q"));
  EXPECT_TRUE(server.WaitForWatches("pods", 1));
  EXPECT_FALSE(Fits("q"));
}

TEST_F(ExtenderFaultsTest, ListsAgainWhenHistoryRunsBackwards) {
  const double before = extender->Metric(kListsOfPods);
  FakePod pod = GpuPod("p");
  pod.node = "a";
  server.PutPod(pod);
  server.SendLine("pods", EventLine("MODIFIED", ToJson(GpuPod("p"), 1)));
  while (extender->Metric(kListsOfPods) < before + 1) {
  }
  EXPECT_FALSE(Fits("q"));
}

TEST_F(ExtenderFaultsTest, ListsAgainWhenHistoryIsForgotten) {
  const double before = extender->Metric(kListsOfPods);
  server.ForgetHistory();
  server.EndWatches();
  while (extender->Metric(kListsOfPods) < before + 1) {
  }
  while (!Fits("p")) {  // until the watches are open again
  }
}

}  // namespace
}  // namespace synergy::testing
