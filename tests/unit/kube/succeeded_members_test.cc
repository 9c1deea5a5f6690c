#include "kube/succeeded_members.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/cluster_vocabulary.h"
#include "support/fake_clock.h"
#include "support/silent_log.h"

namespace synergy::kube {
namespace {

class OneAnswer final : public ApiClient {
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

class SucceededMembersTest : public ::testing::Test {
 protected:
  static std::string Owner(const std::string& uid) {
    return R"(,"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"g","uid":")" + uid +
           R"(","controller":true}])";
  }
  static std::string Member(const std::string& name, const std::string& size,
                            const std::string& phase, const std::string& more = {},
                            const std::string& label = {}) {
    return R"({"metadata":{"name":")" + name + R"(","namespace":"team","uid":")" + name + R"(")" +
           more + R"(,"labels":{"synergy.io/gang":"g","synergy.io/gang-size":")" + size + R"(")" +
           label + R"(}},"status":{"phase":")" + phase + R"("}})";
  }
  static std::string List(const std::vector<std::string>& pods) {
    std::string items;
    for (const std::string& pod : pods) items += (items.empty() ? "" : ",") + pod;
    return R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[)" + items + "]}";
  }
  static Pod Living(const std::string& name, const std::string& run) {
    Pod pod =
        synergy::testing::Labelled(synergy::testing::MakeGpuPod(name, 1), "synergy.io/gang", "g");
    Gang gang{"team/g", 4, {}};
    gang.run = run;
    pod.gang = std::make_shared<const Gang>(std::move(gang));
    return pod;
  }
  size_t Count(const Pod& pod) { return AskForSucceeded(client, reader, state, clock, log)(pod); }

  OneAnswer client;
  ClusterState state;
  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kError, LogFormat::kText};
  const wire::ObjectReader reader{"nvidia.com/gpu"};
};

TEST_F(SucceededMembersTest, CountsThoseOfTheSameGangThatAreNotAboutToGo) {
  client.answer =
      List({Member("g-0", "4", "Succeeded"), Member("g-1", "4", "Succeeded"),
            Member("g-2", "4", "Failed"), Member("g-3", "3", "Succeeded"),
            Member("g-4", "4", "Succeeded", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")")});
  EXPECT_EQ(Count(Living("g-9", {})), 2U);
  EXPECT_EQ(client.asked,
            "/api/v1/namespaces/team/pods?labelSelector=synergy.io%2Fgang%3Dg"
            "&fieldSelector=status.phase%3DSucceeded");
  client.answer = Fail(ErrorCode::kUnavailable, "down");
  EXPECT_EQ(Count(Living("g-9", {})), 0U);
}

TEST_F(SucceededMembersTest, CountsNoneOfAnEarlierRun) {
  client.answer =
      List({Member("g-0", "4", "Succeeded", Owner("first")),
            Member("g-1", "4", "Succeeded", Owner("second")), Member("g-2", "4", "Succeeded")});
  EXPECT_EQ(Count(Living("g-9", "second")), 1U);
  EXPECT_EQ(Count(Living("g-9", "third")), 0U);
}

TEST_F(SucceededMembersTest, CountsThoseOfTheOwnerOfAnyLivingMember) {
  state.UpsertPod(Living("g-8", "launcher"));
  client.answer = List({Member("g-0", "4", "Succeeded", Owner("launcher")),
                        Member("g-1", "4", "Succeeded", Owner("workers"))});
  EXPECT_EQ(Count(Living("g-9", "workers")), 2U);
}

TEST_F(SucceededMembersTest, CountsThoseOfAllJobsOfAJobSet) {
  const std::string label = R"(,"jobset.sigs.k8s.io/jobset-uid":"set")";
  client.answer = List({Member("g-0", "4", "Succeeded", Owner("job-0"), label),
                        Member("g-1", "4", "Succeeded", Owner("job-1"), label),
                        Member("g-2", "4", "Succeeded", Owner("job-0"))});
  EXPECT_EQ(Count(Living("g-9", "set")), 2U);
}

}  // namespace
}  // namespace synergy::kube
