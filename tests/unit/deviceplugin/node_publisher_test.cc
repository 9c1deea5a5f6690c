#include "deviceplugin/node_publisher.h"

#include <condition_variable>
#include <mutex>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/silent_log.h"
#include "unit/inventory/inventory_fixture.h"

namespace synergy::testing {
namespace {

using deviceplugin::NodePublisher;
using deviceplugin::Picture;
using ::testing::HasSubstr;
using ::testing::Not;

// One Node, as the API server would keep it: what is patched is what the next GET shows.
class FakeNodeApi final : public kube::ApiClient {
 public:
  Result<std::string> Get(const std::string& path, std::stop_token /*stop*/) override {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(path, "/api/v1/nodes/n1");
    ++gets_;
    changed_.notify_all();
    return node_;
  }
  Result<std::string> Post(const std::string& path, const std::string& /*json*/,
                           std::stop_token /*stop*/) override {
    return Fail(ErrorCode::kInvalid, path);
  }
  Result<std::string> Patch(const std::string& /*path*/, const std::string& type,
                            const std::string& json, std::stop_token /*stop*/) override {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(type, "application/merge-patch+json");
    patches_.push_back(json);
    changed_.notify_all();
    // Enough of a merge for a Node that had nothing else.
    node_ = json;
    return json;
  }
  Result<> Watch(const std::string& /*path*/, std::chrono::milliseconds /*silence_limit*/,
                 const std::function<bool(std::string_view)>& /*on_line*/,
                 std::stop_token /*stop*/) override {
    return Fail(ErrorCode::kInvalid, "no watch here");
  }

  void SetNode(const std::string& json) {
    const std::lock_guard lock(mutex_);
    node_ = json;
  }
  std::string AwaitPatch(size_t number) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(10),
                           [&] { return patches_.size() > number; }))
      return "no patch came";
    return patches_[number];
  }
  bool AwaitGets(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return gets_ >= count; });
  }
  size_t patches() {
    const std::lock_guard lock(mutex_);
    return patches_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string node_ = R"({"metadata":{"name":"n1"}})";
  std::vector<std::string> patches_;
  size_t gets_ = 0;
};

std::shared_ptr<const Picture> MakePicture(bool healthy) {
  auto picture = std::make_shared<Picture>();
  picture->inventory = inventory::Inventory(MakeGpus(1, 1));
  picture->health = {{healthy, healthy ? "" : "fan"}};
  return picture;
}

class NodePublisherTest : public ::testing::Test {
 protected:
  std::unique_ptr<NodePublisher> MakePublisher() {
    return std::make_unique<NodePublisher>(api_, deviceplugin::NodePublisherOptions{"n1"},
                                           SystemClock(), log_.log, metrics_);
  }

  FakeNodeApi api_;
  SilentLog log_;
  metrics::DeviceMetrics metrics_;
};

TEST_F(NodePublisherTest, LabelsAndAnnotationAreWritten) {
  const auto publisher = MakePublisher();
  publisher->Publish(MakePicture(true));
  const std::string patch = api_.AwaitPatch(0);
  EXPECT_THAT(patch, HasSubstr(R"("nvidia.com/gpu.product":"NVIDIA-A100-SXM4-80GB")"));
  EXPECT_THAT(patch, HasSubstr(R"(\"healthy\":true)"));
}

TEST_F(NodePublisherTest, TheSameAgainIsNotPatchedAndAChangeIs) {
  const auto publisher = MakePublisher();
  publisher->Publish(MakePicture(true));
  api_.AwaitPatch(0);
  publisher->Publish(MakePicture(true));
  ASSERT_TRUE(api_.AwaitGets(2));
  publisher->Publish(MakePicture(false));
  EXPECT_THAT(api_.AwaitPatch(1), HasSubstr(R"(\"healthy\":false)"));
  EXPECT_EQ(api_.patches(), 2U);
}

TEST_F(NodePublisherTest, LabelsOfGpuFeatureDiscoveryAreLeftAlone) {
  api_.SetNode(R"({"metadata":{"labels":{"nvidia.com/gpu.product":"theirs"}}})");
  const auto publisher = MakePublisher();
  publisher->Publish(MakePicture(true));
  const std::string patch = api_.AwaitPatch(0);
  EXPECT_THAT(patch, Not(HasSubstr(R"("nvidia.com/gpu.product":)")));
  EXPECT_THAT(patch, HasSubstr(R"("nvidia.com/gpu.count":"1")"));
}

TEST_F(NodePublisherTest, OurLabelsGoWhenTheyAreNotWanted) {
  const auto publisher = MakePublisher();
  publisher->Publish(MakePicture(true));
  api_.AwaitPatch(0);
  publisher->SetLabels(false);
  EXPECT_THAT(api_.AwaitPatch(1), HasSubstr(R"("nvidia.com/gpu.product":null)"));
}

}  // namespace
}  // namespace synergy::testing
