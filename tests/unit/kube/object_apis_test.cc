#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/node_api.h"
#include "kube/profile_api.h"
#include "support/fake_api_server.h"

namespace synergy::kube {
namespace {

using synergy::testing::FakeApiServer;
using synergy::testing::FakeRequest;
using ::testing::HasSubstr;

class ObjectApisTest : public ::testing::Test {
 protected:
  FakeApiServer server_;
  std::unique_ptr<ApiClient> client_ = *ApiClient::Create(server_.access());
};

TEST_F(ObjectApisTest, AProfilesStatusGoesToItsSubresource) {
  ProfileObject object;
  object.uid = "u";
  object.profile_namespace = "team/..";
  object.name = "image";
  (void)MakeProfileApi(*client_)->WriteStatus(object, {}, {});
  const FakeRequest asked = server_.requests().back();
  EXPECT_EQ(asked.method, "PATCH");
  EXPECT_EQ(asked.path,
            "/apis/synergy.io/v1alpha1/namespaces/team%2F../trainingprofiles/image/status");
  EXPECT_EQ(asked.headers.at("content-type"), "application/merge-patch+json");
  EXPECT_THAT(asked.body, HasSubstr(R"("uid":"u")"));
}

TEST_F(ObjectApisTest, ANodesLabelsAndAnnotationAreMergedAtOnce) {
  NodeLabelChange labels;
  labels.changes = {{"nvidia.com/gpu.count", "1"}, {"nvidia.com/gpu.product", std::nullopt}};
  (void)MakeNodeApi(*client_)->WriteGpus("n/1", labels, "{}", {});
  const FakeRequest asked = server_.requests().back();
  EXPECT_EQ(asked.method, "PATCH");
  EXPECT_EQ(asked.path, "/api/v1/nodes/n%2F1");
  EXPECT_EQ(asked.headers.at("content-type"), "application/merge-patch+json");
  EXPECT_THAT(asked.body, HasSubstr(R"("nvidia.com/gpu.count":"1","nvidia.com/gpu.product":null)"));
  EXPECT_THAT(asked.body, HasSubstr(R"("synergy.io/gpu-inventory":"{}")"));
}

}  // namespace
}  // namespace synergy::kube
