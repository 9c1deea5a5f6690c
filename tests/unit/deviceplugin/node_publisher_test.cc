#include "deviceplugin/node/node_publisher.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/silent_log.h"
#include "unit/inventory/inventory_fixture.h"

namespace synergy::testing {
namespace {

using deviceplugin::NodePublisher;
using deviceplugin::Picture;
using ::testing::Contains;
using ::testing::Eq;
using ::testing::Not;
using ::testing::Optional;
using ::testing::Pair;

constexpr char kProduct[] = "nvidia.com/gpu.product";

// An API server with one Node; each read returns what was last written.
class FakeNodeApi final : public kube::NodeApi {
 public:
  struct Write {
    std::map<std::string, std::optional<std::string>, std::less<>> labels;
    wire::NodeGpus gpus;
  };

  Result<wire::NodeGpuMetadata> ReadGpus(const std::string& node, std::stop_token) override {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(node, "n1");
    ++reads_;
    changed_.notify_all();
    return node_;
  }
  Result<> WriteGpus(const std::string& node, const NodeLabelChange& labels,
                     const std::string& gpu_inventory, std::stop_token) override {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(node, "n1");
    for (const auto& [name, value] : labels.changes) {
      if (value) {
        node_.labels.insert_or_assign(name, *value);
      } else {
        node_.labels.erase(name);
      }
    }
    node_.gpu_inventory = gpu_inventory;
    writes_.push_back({labels.changes, *wire::ReadGpuInventory(gpu_inventory)});
    changed_.notify_all();
    return {};
  }

  Result<std::vector<std::string>> ReadSliceDrivers(const std::string&, std::stop_token) override {
    return std::vector<std::string>();
  }

  void SetLabel(const std::string& name, const std::string& value) {
    const std::lock_guard lock(mutex_);
    node_.labels[name] = value;
  }
  // Waits for a write. Returns nullopt if it does not come.
  std::optional<Write> AwaitWrite(size_t number) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::minutes(2), [&] { return writes_.size() > number; }))
      return std::nullopt;
    return writes_[number];
  }
  bool AwaitReads(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(2), [&] { return reads_ >= count; });
  }
  size_t writes() {
    const std::lock_guard lock(mutex_);
    return writes_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  wire::NodeGpuMetadata node_;
  std::vector<Write> writes_;
  size_t reads_ = 0;
};

std::shared_ptr<const Picture> MakePicture(bool healthy) {
  auto picture = std::make_shared<Picture>();
  picture->inventory = GpuInventory(MakeGpus(1, 1));
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
  const auto write = api_.AwaitWrite(0);
  ASSERT_TRUE(write);
  EXPECT_THAT(write->labels, Contains(Pair(kProduct, Optional(Eq("NVIDIA-A100-SXM4-80GB")))));
  EXPECT_TRUE(write->gpus.health.at(0).healthy);
}

TEST_F(NodePublisherTest, LabelsOfSharedGpusComeAndGo) {
  const auto publisher = MakePublisher();
  Picture shared = *MakePicture(true);
  shared.advertisement.resources = {{"nvidia.com/gpu.shared", {{.id = "GPU-0::0"}}}};
  shared.advertisement.replicas["nvidia.com/gpu.shared"] = 4;
  publisher->Publish(std::make_shared<Picture>(shared));
  const auto write = api_.AwaitWrite(0);
  ASSERT_TRUE(write);
  EXPECT_THAT(write->labels, Contains(Pair("nvidia.com/gpu.replicas", Optional(Eq("4")))));
  EXPECT_EQ(write->gpus.replicas, 4);
  publisher->Publish(MakePicture(true));
  const auto next = api_.AwaitWrite(1);
  ASSERT_TRUE(next);
  EXPECT_THAT(next->labels, Contains(Pair("nvidia.com/gpu.replicas", Eq(std::nullopt))));
  EXPECT_EQ(next->gpus.replicas, 0);
}

TEST_F(NodePublisherTest, TheAnnotationDistinguishesTurnsFromSlices) {
  const auto publisher = MakePublisher();
  Picture shared = *MakePicture(true);
  shared.advertisement.resources = {{"nvidia.com/gpu.turns", {{.id = "GPU-0::0"}}}};
  shared.advertisement.replicas["nvidia.com/gpu.turns"] = 2;
  publisher->Publish(std::make_shared<Picture>(shared));
  const auto write = api_.AwaitWrite(0);
  ASSERT_TRUE(write);
  EXPECT_EQ(write->gpus.replicas, 2);
  EXPECT_TRUE(write->gpus.in_turns);
}

TEST_F(NodePublisherTest, TheSameAgainIsNotWrittenAndAChangeIs) {
  const auto publisher = MakePublisher();
  publisher->Publish(MakePicture(true));
  ASSERT_TRUE(api_.AwaitWrite(0));
  publisher->Publish(MakePicture(true));
  ASSERT_TRUE(api_.AwaitReads(2));
  publisher->Publish(MakePicture(false));
  const auto write = api_.AwaitWrite(1);
  ASSERT_TRUE(write);
  EXPECT_FALSE(write->gpus.health.at(0).healthy);
  EXPECT_EQ(api_.writes(), 2U);
}

TEST_F(NodePublisherTest, LabelsOfGpuFeatureDiscoveryAreLeftAlone) {
  api_.SetLabel(kProduct, "theirs");
  const auto publisher = MakePublisher();
  publisher->Publish(MakePicture(true));
  const auto write = api_.AwaitWrite(0);
  ASSERT_TRUE(write);
  EXPECT_FALSE(write->labels.contains(kProduct));
  EXPECT_THAT(write->labels, Contains(Pair("nvidia.com/gpu.count", Optional(Eq("1")))));
}

TEST_F(NodePublisherTest, LabelsThatGpuFeatureDiscoveryTookOverLaterAreTheirs) {
  const auto publisher = MakePublisher();
  publisher->Publish(MakePicture(true));
  ASSERT_TRUE(api_.AwaitWrite(0));
  api_.SetLabel(kProduct, "theirs");
  publisher->Publish(MakePicture(false));
  const auto write = api_.AwaitWrite(1);
  ASSERT_TRUE(write);
  EXPECT_FALSE(write->labels.contains(kProduct));
  EXPECT_THAT(write->gpus.owned_labels, Not(Contains(kProduct)));
  EXPECT_THAT(write->gpus.owned_labels, Contains("nvidia.com/gpu.count"));
}

TEST_F(NodePublisherTest, OurLabelsGoWhenTheyAreNotWanted) {
  const auto publisher = MakePublisher();
  publisher->Publish(MakePicture(true));
  ASSERT_TRUE(api_.AwaitWrite(0));
  publisher->SetLabels(false);
  const auto write = api_.AwaitWrite(1);
  ASSERT_TRUE(write);
  EXPECT_THAT(write->labels, Contains(Pair(kProduct, Eq(std::nullopt))));
}

}  // namespace
}  // namespace synergy::testing
