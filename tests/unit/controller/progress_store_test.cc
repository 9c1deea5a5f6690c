#include "controller/progress/progress_store.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "controller/progress/progress_answer.h"
#include "controller/progress/progress_puller.h"
#include "support/fake_clock.h"
#include "support/managed_pods.h"
#include "wire/agents/progress.h"

namespace synergy::controller {
namespace {

using std::chrono::seconds;
using testing::MakeGpuPod;
using testing::ManagedPod;
using testing::NodeOfFour;
using testing::OnNode;

PodProgress Reported(const std::string& uid, double rate = 1) {
  return {.uid = uid, .pod_namespace = "team", .name = uid, .rate = rate};
}

class ProgressStoreTest : public ::testing::Test {
 protected:
  ProgressStoreTest() {
    for (const char* node : {"n1", "n2"}) state_.UpsertNode(NodeOfFour(node));
    state_.UpsertPod(ManagedPod("mine", "n1", 3));
    state_.UpsertPod(OnNode(MakeGpuPod("unmanaged", 1), "n1"));
    state_.UpsertPod(ManagedPod("elsewhere", "n2", 3));
  }

  testing::FakeClock clock_;
  ClusterState state_;
  ProgressStore store_;
};

TEST_F(ProgressStoreTest, AcceptsReportsOnManagedPodsOfTheNodeOnly) {
  PodProgress renamed = Reported("mine");
  renamed.pod_namespace = "kube-system";
  renamed.name = "another";
  const AcceptedProgress accepted =
      AcceptReports({renamed, Reported("unmanaged"), Reported("elsewhere"), Reported("nobody")},
                    "n1", *state_.Snapshot());
  ASSERT_EQ(accepted.pods.size(), 1U);
  EXPECT_EQ(accepted.pods[0].uid, "mine");
  EXPECT_EQ(accepted.pods[0].pod_namespace, "team");
  EXPECT_EQ(accepted.pods[0].name, "mine");
  EXPECT_EQ(accepted.not_here, 2U);
  EXPECT_EQ(accepted.not_managed, 1U);
  EXPECT_EQ(AcceptReports({Reported("mine")}, "no-node", *state_.Snapshot()).not_here, 1U);
}

TEST_F(ProgressStoreTest, KeepsTheLatestReportWithItsAge) {
  const WallTime since(seconds(7));
  store_.Observe("n1", since, {Reported("mine", 1)}, clock_.Present());
  store_.Observe("n1", since, {Reported("mine", 2)}, clock_.Present());
  const WallTime observed = clock_.WallNow();
  clock_.Advance(seconds(30));
  const auto known = store_.Of("mine", clock_.Now());
  ASSERT_TRUE(known);
  EXPECT_EQ(known->pod.rate, 2);
  EXPECT_EQ(known->node, "n1");
  EXPECT_EQ(known->since, since);
  EXPECT_EQ(known->at, observed);
  EXPECT_EQ(known->age, seconds(30));
  EXPECT_FALSE(store_.Of("nobody", clock_.Now()));
}

TEST_F(ProgressStoreTest, OldFiguresStayForTwoMinutes) {
  store_.Observe("n1", {}, {Reported("mine")}, clock_.Present());
  clock_.Advance(seconds(120));
  store_.Forget(*state_.Snapshot(), clock_.Now());
  EXPECT_TRUE(store_.Of("mine", clock_.Now()));
  EXPECT_EQ(store_.extent(clock_.Now()).oldest, seconds(120));
  clock_.Advance(seconds(1));
  EXPECT_FALSE(store_.Of("mine", clock_.Now())) << "also before anybody tidies up";
  EXPECT_TRUE(store_.Read("", clock_.Now()).pods.empty());
  store_.Forget(*state_.Snapshot(), clock_.Now());
  EXPECT_EQ(store_.extent(clock_.Now()).pods, 0U);
}

TEST_F(ProgressStoreTest, APodThatIsGoneIsForgotten) {
  store_.Observe("n1", {}, {Reported("mine")}, clock_.Present());
  store_.Observe("n2", {}, {Reported("elsewhere")}, clock_.Present());
  state_.RemovePod("mine");
  store_.Forget(*state_.Snapshot(), clock_.Now());
  EXPECT_FALSE(store_.Of("mine", clock_.Now()));
  EXPECT_TRUE(store_.Of("elsewhere", clock_.Now()));
}

TEST_F(ProgressStoreTest, OneNamespaceIsReadOrAll) {
  PodProgress other = Reported("other");
  other.pod_namespace = "another-team";
  store_.Observe("n1", {}, {Reported("b"), other, Reported("a")}, clock_.Present());
  const ClusterProgress team = store_.Read("team", clock_.Now());
  ASSERT_EQ(team.pods.size(), 2U);
  EXPECT_EQ(team.pods[0].pod.name, "a");
  EXPECT_EQ(team.pods[1].pod.name, "b");
  EXPECT_EQ(store_.Read("", clock_.Now()).pods.size(), 3U);
}

TEST_F(ProgressStoreTest, FiltersByNamespaceIfTheQueryHasOne) {
  PodProgress other = Reported("other");
  other.pod_namespace = "another-team";
  store_.Observe("n1", {}, {Reported("mine"), other}, clock_.Present());
  ProgressAnswers answers(store_, clock_);
  const auto pods = [&answers](std::string_view query) {
    const http::Request request{.method = "GET", .path = "/progress", .query = query};
    const http::Response answer = answers.Answer(request);
    EXPECT_EQ(answer.status, 200);
    return wire::ReadClusterProgress(answer.body)->pods;
  };
  EXPECT_EQ(pods("").size(), 2U);
  EXPECT_EQ(pods("pretty&namespace=team").at(0).pod.name, "mine");
  EXPECT_EQ(pods("namespace=another-team&x=1").at(0).pod.name, "other");
  EXPECT_TRUE(pods("namespace=no-team").empty());
}

TEST_F(ProgressStoreTest, NewsHasTheLatestReportOfEachPodOnce) {
  store_.Observe("n1", {}, {Reported("mine", 1)}, clock_.Present());
  EXPECT_TRUE(store_.TakeNews(clock_.Now()).empty()) << "nobody has asked for any";
  store_.KeepNews(true);
  EXPECT_TRUE(store_.TakeNews(clock_.Now()).empty());
  store_.Observe("n1", {}, {Reported("mine", 2)}, clock_.Present());
  store_.Observe("n1", {}, {Reported("mine", 3)}, clock_.Present());
  clock_.Advance(seconds(2));
  const auto news = store_.TakeNews(clock_.Now());
  ASSERT_EQ(news.size(), 1U);
  EXPECT_EQ(news[0].pod.rate, 3);
  EXPECT_EQ(news[0].age, seconds(2));
  EXPECT_TRUE(store_.TakeNews(clock_.Now()).empty());
  store_.Observe("n1", {}, {Reported("mine", 4)}, clock_.Present());
  store_.KeepNews(false);
  EXPECT_TRUE(store_.TakeNews(clock_.Now()).empty());
}

}  // namespace
}  // namespace synergy::controller
