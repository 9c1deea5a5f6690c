#include "controller/status_writer.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/cluster_vocabulary.h"
#include "support/fake_clock.h"
#include "support/silent_log.h"

namespace synergy::controller {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

// Takes patches and remembers them.
class PatchedServer final : public kube::ApiClient {
 public:
  std::vector<std::pair<std::string, std::string>> patches;
  std::optional<Error> failure;

  Result<std::string> Get(const std::string&, std::stop_token) override { return Unexpected(); }
  Result<std::string> Post(const std::string&, const std::string&, std::stop_token) override {
    return Unexpected();
  }
  Result<std::string> Patch(const std::string& path, const std::string& content_type,
                            const std::string& json, std::stop_token) override {
    EXPECT_EQ(content_type, "application/merge-patch+json");
    patches.emplace_back(path, json);
    if (failure) return Fail(*failure);
    return std::string("{}");
  }
  Result<> Watch(const std::string&, std::chrono::milliseconds,
                 const std::function<bool(std::string_view)>&, std::stop_token) override {
    return Fail(ErrorCode::kInvalid, "not expected");
  }

 private:
  static Result<std::string> Unexpected() { return Fail(ErrorCode::kInvalid, "not expected"); }
};

class StatusWriterTest : public ::testing::Test {
 protected:
  StatusWriterTest() {
    cluster.UpsertNode(synergy::testing::MakeNode("n", {Gpus(8), Cores(24), GB(480)}));
  }

  static ProfileObject MakeProfile() {
    ProfileObject object;
    object.uid = "u";
    object.profile_namespace = "team";
    object.name = "image";
    object.generation = 2;
    auto profile = JobProfile::Create(Gpus(1), {{Cores(3), GB(60), 1.0}, {Cores(9), GB(60), 2.4}});
    object.profile = std::make_shared<const JobProfile>(*profile);
    return object;
  }

  void Write() { writer.WriteIfDue({}); }

  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::ControllerMetrics metrics;
  PatchedServer server;
  ProfileStore profiles{0};
  ClusterState cluster;
  StatusWriter writer{server, profiles, cluster, clock, log, metrics};
};

TEST_F(StatusWriterTest, SaysWhatAValidProfileComesTo) {
  profiles.Upsert(MakeProfile());
  Write();
  ASSERT_EQ(server.patches.size(), 1U);
  EXPECT_EQ(server.patches[0].first,
            "/apis/synergy.io/v1alpha1/namespaces/team/trainingprofiles/image/status");
  EXPECT_THAT(
      server.patches[0].second,
      HasSubstr(R"("observedGeneration":2,"demand":{"cpu":"9","memory":"60G"},"speedUp":2.4)"));
  EXPECT_THAT(server.patches[0].second, HasSubstr(R"("type":"Valid","status":"True")"));
}

TEST_F(StatusWriterTest, SaysWhatIsWrongWithAnInvalidOne) {
  ProfileObject object = MakeProfile();
  object.profile = nullptr;
  object.problems = {"spec.gpus: no", "spec.points: no"};
  profiles.Upsert(object);
  Write();
  ASSERT_EQ(server.patches.size(), 1U);
  EXPECT_THAT(server.patches[0].second, HasSubstr(R"("demand":null,"speedUp":null)"));
  EXPECT_THAT(
      server.patches[0].second,
      HasSubstr(
          R"("status":"False","reason":"Unusable","message":"spec.gpus: no; spec.points: no")"));
}

TEST_F(StatusWriterTest, WritesOnlyWhatIsDifferent) {
  ProfileObject object = MakeProfile();
  object.status = {2, "9", "60G", "2.4", "True", "Usable", "", "2026-11-21T07:05:03Z"};
  profiles.Upsert(object);
  Write();
  EXPECT_TRUE(server.patches.empty());
  object.generation = 3;
  profiles.Upsert(object);
  Write();
  ASSERT_EQ(server.patches.size(), 1U);
  // It is valid since when it was.
  EXPECT_THAT(server.patches[0].second, HasSubstr("2026-11-21T07:05:03Z"));
}

TEST_F(StatusWriterTest, WithoutANodeThereIsNoSpeedUp) {
  cluster.RemoveNode("n");
  profiles.Upsert(MakeProfile());
  Write();
  ASSERT_EQ(server.patches.size(), 1U);
  EXPECT_THAT(server.patches[0].second, HasSubstr(R"("speedUp":null)"));
}

TEST_F(StatusWriterTest, FollowsTheClusterOnceAMinute) {
  ProfileObject object = MakeProfile();
  object.status = {2, "9", "60G", "2.4", "True", "Usable", "", "2026-11-21T07:05:03Z"};
  profiles.Upsert(object);
  Write();
  cluster.UpsertNode(synergy::testing::MakeNode("n", {Gpus(8), Cores(72), GB(480)}));
  Write();
  EXPECT_TRUE(server.patches.empty());
  clock.Advance(seconds(61));
  Write();
  ASSERT_EQ(server.patches.size(), 1U);
  EXPECT_THAT(server.patches[0].second, HasSubstr(R"("speedUp":1,)"));
}

TEST_F(StatusWriterTest, TriesAgainSoonWhatFailed) {
  server.failure = Error{ErrorCode::kUnavailable, "busy"};
  profiles.Upsert(MakeProfile());
  Write();
  Write();
  EXPECT_EQ(server.patches.size(), 1U);
  clock.Advance(seconds(6));
  Write();
  EXPECT_EQ(server.patches.size(), 2U);
  EXPECT_THAT(metrics.Render(),
              HasSubstr("synergy_controller_profile_status_writes_total{outcome=\"failed\"} 2"));
}

TEST_F(StatusWriterTest, AProfileThatIsGoneIsNotAskedForAgain) {
  server.failure = Error{ErrorCode::kNotFound, "gone"};
  profiles.Upsert(MakeProfile());
  Write();
  clock.Advance(seconds(6));
  Write();
  EXPECT_EQ(server.patches.size(), 1U);
}

}  // namespace
}  // namespace synergy::controller
