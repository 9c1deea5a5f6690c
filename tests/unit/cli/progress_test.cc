#include "cli/cluster/progress.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/views/explain.h"
#include "cli/views/top.h"
#include "http/server/server.h"
#include "support/fake_clock.h"
#include "wire/agents/progress.h"

namespace synergy::cli::testing {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

KnownProgress SampleProgress() {
  KnownProgress known;
  known.pod = {.uid = "u1",
               .pod_namespace = "team",
               .name = "train",
               .format = "tqdm",
               .iteration = 370,
               .total = 1000,
               .loss = 0.25,
               .rate = 12.34,
               .remaining = seconds(51)};
  known.at = WallTime(seconds(1000));
  known.pod.last = WallTime(seconds(999));
  known.age = seconds(4);
  return known;
}

// An API server that forwards requests to a controller, whose answers the test sets.
class ProgressTest : public ::testing::Test {
 protected:
  static constexpr const char* kPath =
      "/api/v1/namespaces/synergy-system/services/https:synergy-controller:progress/proxy/progress";

  static constexpr const char* kTokenPath =
      "/api/v1/namespaces/synergy-system/serviceaccounts/synergy-controller-progress/token";

  ProgressTest() {
    server_->Handle("POST", kTokenPath, [this](const http::Request& request) {
      token_requests_.emplace_back(request.body);
      return token_answer_;
    });
    server_->Handle("GET", kPath, [this](const http::Request& request) {
      query_ = request.query;
      token_ = request.header("Synergy-Token");
      return answer_;
    });
    EXPECT_TRUE(server_->Start());
    client_ =
        *kube::ApiClient::Create({.server = "http://127.0.0.1:" + std::to_string(server_->port())});
  }

  ProgressFacts Read(const ControllerAddress& controller = {}) {
    return ProgressReader(*client_, controller, clock_).Read("team");
  }

  std::unique_ptr<http::Server> server_ = *http::Server::Create({});
  std::string query_;
  std::string token_;
  std::vector<std::string> token_requests_;
  http::Response token_answer_{.status = 201, .body = R"({"status":{"token":"abc"}})"};
  http::Response answer_;
  synergy::testing::FakeClock clock_;
  std::unique_ptr<kube::ApiClient> client_;
};

TEST_F(ProgressTest, TheControllerIsAskedForOneNamespace) {
  answer_.body = wire::WriteClusterProgress({{SampleProgress()}});
  const ProgressFacts facts = Read();
  EXPECT_EQ(facts.note, "");
  EXPECT_EQ(query_, "namespace=team");
  EXPECT_EQ(token_, "abc");
  EXPECT_THAT(token_requests_,
              ElementsAre(HasSubstr(
                  R"("spec":{"audiences":["progress.synergy.io"],"expirationSeconds":600})")));
  EXPECT_EQ(facts.Of("u1"), SampleProgress());
  EXPECT_EQ(facts.Of("u2"), std::nullopt);
}

TEST_F(ProgressTest, ATokenIsUsedForHalfOfItsTime) {
  answer_.body = wire::WriteClusterProgress({{SampleProgress()}});
  const ControllerAddress controller;
  ProgressReader reader(*client_, controller, clock_);
  for (int time = 0; time < 3; ++time) EXPECT_EQ(reader.Read("").note, "");
  EXPECT_EQ(token_requests_.size(), 1U);
  clock_.Advance(std::chrono::minutes(5));
  EXPECT_EQ(reader.Read("").note, "");
  EXPECT_EQ(token_requests_.size(), 2U);
  // This is the controller's answer after the API server's keys have changed.
  answer_.status = 401;
  EXPECT_NE(reader.Read("").note, "");
  answer_.status = 200;
  EXPECT_EQ(reader.Read("").note, "");
  EXPECT_EQ(token_requests_.size(), 3U);
}

TEST_F(ProgressTest, NotesHowToGetProgress) {
  answer_ = {.status = 403, .body = "the token's account has no permission"};
  EXPECT_THAT(Read().note, HasSubstr("progress.readers"));
  EXPECT_THAT(Read().note, HasSubstr("the token's account has no permission"));
  token_answer_.status = 403;
  token_.clear();
  EXPECT_THAT(Read().note, HasSubstr("progress.readers"));
  EXPECT_EQ(token_, "") << "asked without a token";
  token_answer_.status = 201;
  EXPECT_THAT(Read({.controller_namespace = "elsewhere"}).note,
              HasSubstr("no service synergy-controller in namespace elsewhere"));
  EXPECT_THAT(Read({.controller_namespace = "elsewhere"}).note, HasSubstr("--synergy-namespace"));
  answer_ = {.body = "no JSON"};
  EXPECT_THAT(Read().note, HasSubstr("does not answer"));
  EXPECT_TRUE(Read().by_uid.empty());
}

TEST(ProgressTextTest, ColumnsAreShort) {
  EXPECT_EQ(RateText(SampleProgress()), "12.3/s");
  EXPECT_EQ(DoneText(SampleProgress()), "37 %");
  EXPECT_EQ(LeftText(SampleProgress()), "51s");
  EXPECT_EQ(ProgressText(SampleProgress()),
            "iteration 370 of 1000 (37 %), 12.3 a second, 51s left, loss 0.25 (tqdm)");
  for (const std::string& nothing : {RateText({}), DoneText({}), LeftText({}),
                                     RateText(KnownProgress{}), DoneText(KnownProgress{})}) {
    EXPECT_EQ(nothing, "-");
  }
  EXPECT_EQ(ProgressText(KnownProgress{}), "no progress recognised in its log or counters");
  KnownProgress beyond = SampleProgress();
  beyond.pod.iteration = 1001;
  EXPECT_EQ(DoneText(beyond), "100 %");
  beyond.pod.total = 0;
  EXPECT_EQ(DoneText(beyond), "-");
}

TEST(ProgressTextTest, BusyGpusAreCalledAnEstimate) {
  KnownProgress known;
  known.pod.estimate = BusyEstimate{.busy = 50, .rate = std::nullopt, .at = {}};
  EXPECT_EQ(RateText(known), "-");
  EXPECT_EQ(ProgressText(known), "no progress recognised in its log or counters");
  known.pod.estimate->rate = 0.834;
  EXPECT_EQ(RateText(known), "~0.83 busy");
  EXPECT_EQ(DoneText(known), "-");
  EXPECT_EQ(LeftText(known), "-");
  EXPECT_EQ(ProgressText(known), "~0.83 busy s/s (estimate, by how busy its GPUs are)");
  EXPECT_THAT(ToJson(ToTree(known)), HasSubstr("\"busySeconds\": 50"));
  known.age = seconds(150);
  EXPECT_EQ(RateText(known), "~0.83 busy 2m ago");
}

TEST(ProgressTextTest, ProgressOlderThanTwoMinutesShowsItsAge) {
  KnownProgress known = SampleProgress();
  known.age = seconds(119);  // the answer comes a second after the line
  EXPECT_EQ(RateText(known), "12.3/s");
  known.age = seconds(120);
  EXPECT_EQ(RateText(known), "12.3/s 2m ago");
  EXPECT_THAT(ProgressText(known), HasSubstr("2m ago"));
  // The agent answers, but the training prints no lines.
  known.age = seconds(1);
  known.pod.last = known.at - std::chrono::minutes(5);
  EXPECT_EQ(RateText(known), "12.3/s 5m ago");
  // The node's clock differs from the controller's.
  known.pod.last = known.at + std::chrono::minutes(5);
  EXPECT_EQ(RateText(known), "12.3/s");
}

TEST(ProgressTextTest, IdlePodsAreShownByGpuHours) {
  ClusterFacts facts;
  for (const auto& [name, idle] :
       {std::pair("short", std::chrono::minutes(1)), std::pair("less", std::chrono::minutes(30)),
        std::pair("more", std::chrono::minutes(90))}) {
    Pod pod;
    pod.uid = pod.name = name;
    ManagedContainer fungible;
    fungible.requested = {Gpus(2), Cores(1), GiB(4)};
    ResourceVector own = fungible.requested;
    own.cpu = Cores(3);
    fungible.change = {
        .kind = ChangeKind::kLent, .from = own, .to = fungible.requested, .borrower = "x"};
    pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
    facts.pods.push_back(std::move(pod));
    KnownProgress& known = facts.progress.by_uid[name];
    known.pod.idle = IdleReading{.idle = idle};
  }
  const std::vector<IdleView> views = ViewIdle(facts);
  ASSERT_EQ(views.size(), 2u);
  EXPECT_EQ(views[0].name, "more");
  EXPECT_THAT(ToText(ShowIdle(views, false)), HasSubstr("3.0        1    2"));
  EXPECT_THAT(ToJson(ToTree(views[1])), HasSubstr("\"idleGpuHours\": 1"));
}

TEST(ProgressTextTest, StorageOfAPodIsExplained) {
  StorageUse storage{"vdb", 12e6, 0.4, 13e6, 13.6e6, {}};
  EXPECT_EQ(StorageText(storage),
            "reads 12.0 MB/s of 13.6 MB/s of disk vdb (all pods: 13.0 MB/s), waits for it 40 % of "
            "the time");
  storage.cap = 12.5e6;
  EXPECT_THAT(StorageText(storage), HasSubstr("; may read 12.5 MB/s, because others wait for it"));
  storage.cap.reset();
  storage.bandwidth = storage.waited = std::nullopt;
  EXPECT_EQ(StorageText(storage), "reads 12.0 MB/s from disk vdb (all pods: 13.0 MB/s)");
  EXPECT_EQ(StorageText({.backend = std::string(kNetworkStorage), .waited = 0.5}),
            "reads from network storage, waits for it 50 % of the time");
  PodFacts facts;
  facts.pod.uid = "u1";
  KnownProgress& known = facts.progress.by_uid["u1"] = SampleProgress();
  EXPECT_THAT(ToText(Explain(facts, WallTime{}), WallTime{}), Not(HasSubstr("Storage")));
  EXPECT_THAT(ToJson(ToTree(known)), HasSubstr("\"storage\": null"));
  known.pod.storage = storage;
  EXPECT_THAT(ToText(Explain(facts, WallTime{}), WallTime{}),
              HasSubstr("\nStorage reads 12.0 MB/s from disk vdb"));
  EXPECT_THAT(ToJson(ToTree(known)), HasSubstr("\"readBytesPerSecond\": 12000000"));
}

TEST(ProgressTextTest, PodsAreShownAndExplainedWithTheirs) {
  ClusterFacts facts;
  Pod pod;
  pod.uid = "u1";
  pod.name = "train";
  pod.requests.main.gpus = Gpus(1);
  facts.pods = {pod};
  facts.progress.by_uid["u1"] = SampleProgress();
  const std::vector<PodView> views = ViewPods(facts, WallTime{});
  EXPECT_THAT(ToText(ShowPods(views, false)), HasSubstr("RATE    DONE  LEFT  STATE"));
  EXPECT_THAT(ToText(ShowPods(views, false)), HasSubstr("12.3/s  37 %  51s   placed"));
  EXPECT_THAT(ToJson(ToTree(views.at(0))), HasSubstr("\"remainingSeconds\": 51"));
  EXPECT_THAT(ToJson(ToTree(views.at(0))), HasSubstr("\"done\": 0.37"));

  PodFacts one;
  one.pod = pod;
  EXPECT_THAT(ToText(Explain(one, WallTime{}), WallTime{}), Not(HasSubstr("Progress")));
  EXPECT_THAT(ToJson(ToTree(Explain(one, WallTime{}))), HasSubstr("\"progress\": null"));
  one.progress = facts.progress;
  EXPECT_THAT(ToText(Explain(one, WallTime{}), WallTime{}),
              HasSubstr("Progress iteration 370 of 1000"));
}

}  // namespace
}  // namespace synergy::cli::testing
