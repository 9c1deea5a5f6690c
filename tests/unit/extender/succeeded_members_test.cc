#include "extender/gangs/succeeded_members.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "support/cluster_vocabulary.h"
#include "support/fake_clock.h"
#include "support/silent_log.h"

namespace synergy::extender {
namespace {

class OneAnswer final : public kube::ApiClient {
 public:
  Result<std::string> Get(const std::string& path, std::stop_token) override {
    asked = path;
    return answer;
  }
  Result<std::string> GetWith(const std::string&, const Headers&, std::stop_token) override {
    return Fail(ErrorCode::kDenied, "");
  }
  Result<std::string> Post(const std::string&, const std::string&, std::stop_token) override {
    return Fail(ErrorCode::kDenied, "");
  }
  Result<std::string> Patch(const std::string&, const std::string&, const std::string&,
                            std::stop_token) override {
    return Fail(ErrorCode::kDenied, "");
  }
  Result<std::string> Delete(const std::string&, const std::string&, std::stop_token) override {
    return Fail(ErrorCode::kDenied, "");
  }
  Result<> Watch(const std::string&, std::chrono::milliseconds,
                 const std::function<bool(std::string_view)>&, std::stop_token) override {
    return Fail(ErrorCode::kDenied, "");
  }

  std::string asked;
  Result<std::string> answer;
};

TEST(SucceededMembersTest, CountsThoseOfTheSameGangThatAreNotAboutToGo) {
  const auto member = [](const std::string& name, const std::string& size, const std::string& phase,
                         const std::string& more = {}) {
    return R"({"metadata":{"name":")" + name + R"(","namespace":"team","uid":")" + name + R"(")" +
           more + R"(,"labels":{"synergy.io/gang":"g","synergy.io/gang-size":")" + size +
           R"("}},"status":{"phase":")" + phase + R"("}})";
  };
  OneAnswer client;
  client.answer =
      R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[)" +
      member("g-0", "4", "Succeeded") + "," + member("g-1", "4", "Succeeded") + "," +
      member("g-2", "4", "Failed") + "," + member("g-3", "3", "Succeeded") + "," +
      member("g-4", "4", "Succeeded", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")") + "]}";
  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kError, LogFormat::kText};
  const wire::ObjectReader reader("nvidia.com/gpu");
  Pod pod =
      synergy::testing::Labelled(synergy::testing::MakeGpuPod("g-9", 1), "synergy.io/gang", "g");
  pod.gang = std::make_shared<const Gang>(Gang{"team/g", 4, {}});
  const CountSucceeded count = AskForSucceeded(client, reader, clock, log);
  EXPECT_EQ(count(pod), 2U);
  EXPECT_EQ(client.asked,
            "/api/v1/namespaces/team/pods?labelSelector=synergy.io%2Fgang%3Dg"
            "&fieldSelector=status.phase%3DSucceeded");
  client.answer = Fail(ErrorCode::kUnavailable, "down");
  EXPECT_EQ(count(pod), 0U);
}

}  // namespace
}  // namespace synergy::extender
