#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/text.h"
#include "wire/base/resource_list.h"
#include "wire/objects/gpu_inventory.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

Result<Node> ReadNodeText(std::string_view text) {
  return ObjectReader("nvidia.com/gpu").ReadNode(text);
}

TEST(ReadNode, ReadsWhatANodeOffers) {
  const Result<Node> node = ReadNodeText(R"({
    "metadata": {"name": "node-1", "labels": {"zone": "a", "kubernetes.io/os": "linux"}},
    "spec": {"podCIDR": "10.0.0.0/24"},
    "status": {
      "capacity": {"cpu": "128", "memory": "1Ti", "pods": "200", "nvidia.com/gpu": "16"},
      "allocatable": {"cpu": "95500m", "memory": "500Gi", "pods": "110", "nvidia.com/gpu": "8", "ephemeral-storage": "1.5Ki",
                      "hugepages-1Gi": "0", "hugepages-2Mi": "4Mi", "example.com/nic": 2, "unprefixed": "3"}}})");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->name, "node-1");
  EXPECT_THAT(node->labels, ElementsAre(Pair("kubernetes.io/os", "linux"), Pair("zone", "a")));
  EXPECT_EQ(node->allocatable.main, (ResourceVector{Gpus(8), MilliCpu(95'500), GiB(500)}));
  EXPECT_THAT(node->allocatable.other.entries(),
              ElementsAre(Pair("ephemeral-storage", 1536), Pair("example.com/nic", 2),
                          Pair("hugepages-2Mi", 4 << 20)));
  EXPECT_EQ(node->pods_allowed, 110);
  EXPECT_FALSE(node->unschedulable);
  EXPECT_FALSE(node->deleting);
}

TEST(ReadNode, CountsWhatIsMissingAsNothing) {
  const Result<Node> node = ReadNodeText("{}");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->allocatable, Resources());
  EXPECT_EQ(node->pods_allowed, 0);
}

TEST(ReadNode, SeesCordonAndDeletion) {
  const Result<Node> node = ReadNodeText(
      R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"unschedulable":true}})");
  ASSERT_TRUE(node);
  EXPECT_TRUE(node->unschedulable);
  EXPECT_FALSE(node->short_of_memory);
  EXPECT_TRUE(node->deleting);
}

TEST(ReadNode, UsesTheConfiguredResource) {
  const std::string_view text =
      R"({"status":{"allocatable":{"amd.com/gpu":"4","nvidia.com/gpu":"8"}}})";
  const Result<Node> node = ObjectReader("amd.com/gpu").ReadNode(text);
  ASSERT_TRUE(node);
  EXPECT_EQ(node->allocatable.main.gpus, Gpus(4));
  EXPECT_THAT(node->allocatable.other.entries(), ElementsAre(Pair("nvidia.com/gpu", 8)));
}

TEST(ReadNode, SeesThatItIsShortOfMemory) {
  const auto text = [](const std::string& status) {
    return R"({"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"MemoryPressure","status":")" +
           status + R"("}]}})";
  };
  EXPECT_TRUE(ReadNodeText(text("True"))->short_of_memory);
  EXPECT_FALSE(ReadNodeText(text("False"))->short_of_memory);
}

TEST(ReadNode, CutsAbsurdAmounts) {
  const Result<Node> node =
      ReadNodeText(R"({"status":{"allocatable":{"memory":"8Ei","pods":"1e30"}}})");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->allocatable.main.memory, Bytes(kLargestAllocatable));
  EXPECT_EQ(node->pods_allowed, kLargestAllocatable);
}

TEST(ReadNode, NamesTheFieldThatItCannotRead) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"spec":{"unschedulable":"yes"}})",
       "spec.unschedulable: must be true or false, not a string"},
      {R"({"status":{"allocatable":{"pods":"many"}}})",
       R"(status.allocatable.pods: "many" is not a quantity)"},
      {R"({"status":[]})", "status: must be an object, not an array"},
      {R"({"metadata":{"name":["a"]}})", "metadata.name: must be a string, not an array"},
      {R"({"a":)", "not JSON at byte 5: Invalid value."},
  };
  for (const auto& [text, message] : cases) {
    const Result<Node> node = ReadNodeText(text);
    ASSERT_FALSE(node) << text;
    EXPECT_EQ(node.error().message, message);
    EXPECT_EQ(node.error().code, ErrorCode::kInvalid);
  }
}

TEST(ReadNode, UsesTheInventoryAnnotationThenTheLabel) {
  std::vector<Gpu> gpus(3);
  for (size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].uuid = fmt::format("GPU-{}", i);
    gpus[i].product = "NVIDIA A100-SXM4-80GB";
    gpus[i].numa_node = i == 0 ? 0 : 1;
  }
  NodeGpus node_gpus;
  node_gpus.inventory = GpuInventory(gpus);
  node_gpus.health.resize(gpus.size());
  std::string annotation;
  json::AppendJsonString(annotation, WriteGpuInventory(node_gpus));
  const std::string labels = R"("labels":{"nvidia.com/gpu.product":"Tesla-T4"})";

  const Result<Node> node = ReadNodeText(
      fmt::format(R"({{"metadata":{{{},"annotations":{{"synergy.io/gpu-inventory":{}}}}}}})",
                  labels, annotation));
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_THAT(node->gpu_kinds.products, ElementsAre("NVIDIA-A100-SXM4-80GB"));
  EXPECT_EQ(node->gpu_kinds.most_per_numa_node, 2);

  const auto product_with = [&](std::string_view label) {
    return ReadNodeText(fmt::format(R"({{"metadata":{{"labels":{{"nvidia.com/gpu.product":"{}"}},)"
                                    R"("annotations":{{"synergy.io/gpu-inventory":{}}}}}}})",
                                    label, annotation))
        ->gpu_kinds.products;
  };
  for (const char* label : {"NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", "NVIDIA-A100-SXM4-80GB-SHARED"})
    EXPECT_THAT(product_with(label), ElementsAre(label)) << "parts, as pods name them";
  EXPECT_THAT(product_with("NVIDIA-A100-SXM4-80GB-X"), ElementsAre("NVIDIA-A100-SXM4-80GB"));

  const Result<Node> labelled = ReadNodeText(fmt::format(R"({{"metadata":{{{}}}}})", labels));
  ASSERT_TRUE(labelled);
  EXPECT_THAT(labelled->gpu_kinds.products, ElementsAre("Tesla-T4"));
  EXPECT_EQ(labelled->gpu_kinds.most_per_numa_node, 0);
  EXPECT_THAT(
      ReadNodeText(R"({"metadata":{"labels":{"cloud.google.com/gke-accelerator":"nvidia-l4"}}})")
          ->gpu_kinds.products,
      ElementsAre("NVIDIA-L4"));
  EXPECT_TRUE(ReadNodeText("{}")->gpu_kinds.products.empty());
  EXPECT_EQ(ReadNodeText("{}")->gpu_kinds.installed, Gpus(0));
  EXPECT_EQ(ReadNodeText(R"({"status":{"capacity":{"nvidia.com/gpu":"8"},"allocatable":{}}})")
                ->gpu_kinds.installed,
            Gpus(8));
  EXPECT_FALSE(ReadNodeText(R"({"metadata":{"annotations":{"synergy.io/gpu-inventory":"{"}}})"));
}

TEST(ReadNode, CountsTheSlicesOfItsGpus) {
  const auto read = [](std::string_view metadata, std::string_view allocatable = "12") {
    return ReadNodeText(
        fmt::format(R"({{"metadata":{{{}}},"status":{{"capacity":{{"nvidia.com/gpu.shared":"16"}},)"
                    R"("allocatable":{{"nvidia.com/gpu":"0","nvidia.com/gpu.shared":"{}"}}}}}})",
                    metadata, allocatable));
  };
  const Result<Node> node = read("");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->gpu_kinds.slices, Slices(16)) << "unhealthy ones, too";
  EXPECT_EQ(node->gpu_kinds.slices_per_gpu, 0) << "unknown";
  EXPECT_EQ(node->gpu_kinds.installed, Gpus(0));
  EXPECT_EQ(node->allocatable.main.gpus, Gpus(0));
  EXPECT_THAT(node->allocatable.other.entries(), ElementsAre(Pair("nvidia.com/gpu.shared", 12)));
  EXPECT_EQ(read("", "-3")->gpu_kinds.slices, Slices(16));

  const auto by_label = [&](std::string_view value) {
    return read(fmt::format(R"("labels":{{"nvidia.com/gpu.replicas":"{}"}})", value))
        ->gpu_kinds.slices_per_gpu;
  };
  EXPECT_EQ(by_label("4"), 4);
  for (const char* const none : {"", "0", "-4", "4x", "9999999999"}) EXPECT_EQ(by_label(none), 0);
  EXPECT_EQ(ReadNodeText(R"({"metadata":{"labels":{"nvidia.com/gpu.replicas":"4"}}})")
                ->gpu_kinds.slices_per_gpu,
            0)
      << "it offers none";

  NodeGpus gpus;
  gpus.inventory = GpuInventory({{.uuid = "GPU-0"}});
  gpus.health.resize(1);
  gpus.replicas = 8;
  std::string annotation;
  json::AppendJsonString(annotation, WriteGpuInventory(gpus));
  EXPECT_EQ(read(R"("labels":{"nvidia.com/gpu.replicas":"4"},)"
                 R"("annotations":{"synergy.io/gpu-inventory":)" +
                 annotation + "}")
                ->gpu_kinds.slices_per_gpu,
            8)
      << "the plugin's annotation goes first";
}

}  // namespace
}  // namespace synergy::wire
