#include "cluster/state/fit.h"

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "support/cluster_vocabulary.h"

namespace synergy::testing {
namespace {

constexpr std::string_view kGpu = "nvidia.com/gpu";
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// Returns a server with one pod on it that takes all but one GPU, 3 cores, 60 GiB and one network
// card.
NodeState BusyNode(const std::function<void(Node&)>& change = [](Node&) {}) {
  Node node = MakeNode("n1", {Gpus(8), Cores(24), GiB(500)}, 2);
  node.allocatable.other.Set("example.com/nic", 2);
  node.allocatable.other.Set("ephemeral-storage", 100);
  change(node);
  const Pod pod = WithOther(MakePod("there", {Gpus(7), Cores(21), GiB(440)}), "example.com/nic", 1);
  return WithPod(EmptyNode(node), std::make_shared<const Pod>(pod));
}

const ResourceVector kLeft{Gpus(1), Cores(3), GiB(60)};

struct FitCase {
  std::string what;
  NodeState node;
  Pod pod;
  std::string description;  // empty if the pod fits
  bool unresolvable = false;
};

Pod Tolerating(Pod pod) {
  pod.tolerates_unschedulable = true;
  return pod;
}

std::vector<FitCase> FitCases() {
  const Pod small = MakeGpuPod("small", 1);
  const auto full = [](Node& node) { node.pods_allowed = 1; };
  const auto cordoned = [](Node& node) { node.unschedulable = true; };
  const auto deleting = [](Node& node) { node.deleting = true; };
  const auto shrunk = [](Node& node) { node.allocatable.main = {Gpus(1), Cores(1), GiB(1)}; };
  const auto no_pods = [](Node& node) { node.pods_allowed = 0; };
  return {
      {"exactly what is left fits", BusyNode(),
       WithOther(MakePod("p", kLeft), "example.com/nic", 1), ""},
      {"one GPU too many", BusyNode(), MakePod("p", {Gpus(2), Cores(3), GiB(60)}),
       "Insufficient nvidia.com/gpu"},
      {"one thousandth of a core too many", BusyNode(),
       MakePod("p", {Gpus(1), MilliCpu(3001), GiB(60)}), "Insufficient cpu"},
      {"one byte too many", BusyNode(), MakePod("p", {Gpus(1), Cores(3), GiB(60) + Bytes(1)}),
       "Insufficient memory"},
      {"one network card too many", BusyNode(), WithOther(small, "example.com/nic", 2),
       "Insufficient example.com/nic"},
      {"a resource that the node does not have", BusyNode(),
       WithOther(small, "example.com/fpga", 1), "Insufficient example.com/fpga", true},
      {"a resource that the node does not have, but none of it", BusyNode(),
       WithOther(small, "example.com/fpga", 0), ""},
      {"more storage than the node has", BusyNode(), WithOther(small, "ephemeral-storage", 101),
       "Insufficient ephemeral-storage", true},
      {"more GPUs than the node has", BusyNode(), MakeGpuPod("p", 9),
       "Insufficient nvidia.com/gpu, Insufficient cpu", true},
      {"one pod too many", BusyNode(full), small, "Too many pods"},
      {"a node that takes no pods at all", BusyNode(no_pods), small, "Too many pods"},
      {"a cordoned node", BusyNode(cordoned), small, "node(s) were unschedulable", true},
      {"a cordoned node that the pod tolerates", BusyNode(cordoned), Tolerating(small), ""},
      {"a node on its way out", BusyNode(deleting), Tolerating(small), "node is being deleted",
       true},
      {"an unknown node", NodeState{}, small, "node is not known to the extender yet"},
      {"no requests on an overcommitted node", BusyNode(shrunk), MakePod("p", {}), ""},
      {"one dimension on an overcommitted node", BusyNode(shrunk),
       MakePod("p", {.memory = Bytes(1)}), "Insufficient memory"},
      {"all at once", BusyNode([&](Node& node) { full(node), cordoned(node), deleting(node); }),
       WithOther(WithOther(MakePod("p", {Gpus(9), Cores(99), GiB(999)}), "a/x", 1), "b/x", 1),
       "node is being deleted, node(s) were unschedulable, Too many pods, Insufficient "
       "nvidia.com/gpu, "
       "Insufficient cpu, Insufficient memory, Insufficient a/x, Insufficient b/x",
       true},
  };
}

TEST(FitTest, DescribesAndSortsEveryReason) {
  for (const FitCase& fit : FitCases()) {
    const FitFailures failures = CheckFit(fit.pod, fit.node);
    EXPECT_EQ(DescribeFailures(failures, fit.pod.requests, &fit.node, kGpu), fit.description)
        << fit.what;
    EXPECT_EQ(failures.none(), fit.description.empty()) << fit.what;
    if (!failures.none()) {
      EXPECT_EQ(Unresolvable(failures, fit.pod.requests, fit.node), fit.unresolvable) << fit.what;
    }
  }
}

TEST(FitTest, APlaceholderFitsNowhereAndNoEvictionHelps) {
  Pod pod = MakeGpuPod("early", 1);
  ManagedContainer fungible;
  fungible.placeholder = true;
  pod.fungible = std::make_shared<const ManagedContainer>(fungible);
  const NodeState node = BusyNode();
  const FitFailures failures = CheckFit(pod, node);
  EXPECT_TRUE(Unresolvable(failures, pod.requests, node));
  EXPECT_EQ(DescribeFailures(failures, pod.requests, &node, kGpu),
            "CPU and memory of the pod are not set yet; synergy-controller sets them");
}

TEST(FitTest, TheManagedResourceIsCalledByItsOwnName) {
  const Pod pod = MakeGpuPod("p", 3);
  const NodeState node = BusyNode();
  EXPECT_EQ(DescribeFailures(CheckFit(pod, node), pod.requests, &node, "amd.com/gpu"),
            "Insufficient amd.com/gpu");
}

TEST(FitTest, WithoutTheNodeOtherResourcesAreLeftOutOfTheText) {
  const Pod pod = WithOther(MakeGpuPod("p", 3), "example.com/nic", 2);
  const NodeState node = BusyNode();
  EXPECT_EQ(DescribeFailures(CheckFit(pod, node), pod.requests, nullptr, kGpu),
            "Insufficient nvidia.com/gpu");
}

TEST(FitTest, AmountsBeyondAllReasonDoNotFit) {
  const Pod pod = WithOther(MakePod("p", {Gpus(kMost), MilliCpu(kMost), Bytes(kMost)}),
                            "example.com/nic", kMost);
  EXPECT_TRUE(CheckFit(pod, BusyNode()).Has(FitFailures::kOther));
  EXPECT_TRUE(CheckFit(pod, BusyNode()).Has(FitFailures::kGpus));
}

TEST(FitTest, ANodeWithAnAbsurdPodIsJudgedWithoutUndefinedArithmetic) {
  NodeState node = BusyNode();
  for (const char* name : {"a", "b"}) {
    node = WithPod(
        node, std::make_shared<const Pod>(WithOther(MakePod(name, {}), "example.com/nic", kMost)));
  }
  // Twice the maximum wraps around, as in kube-scheduler. It matters only that the answer is always
  // the same.
  const Pod pod = WithOther(MakeGpuPod("p", 1), "example.com/nic", 1);
  EXPECT_EQ(CheckFit(pod, node), CheckFit(pod, node));
}

TEST(FitTest, GpusOfAnotherProductAreNoPlaceAndNoEvictionHelps) {
  Pod pod = MakeGpuPod("p", 1);
  pod.gpu_product = "A100";
  Node node = MakeNode("n", {Gpus(8), Cores(24), MiB(1024)});
  EXPECT_TRUE(CheckFit(pod, EmptyNode(node)).none()) << "nobody says what its GPUs are";
  node.gpu_kinds.products = {"H100", "A100"};
  EXPECT_TRUE(CheckFit(pod, EmptyNode(node)).none());
  node.gpu_kinds.products = {"H100"};
  const NodeState state = EmptyNode(node);
  const FitFailures failures = CheckFit(pod, state);
  EXPECT_TRUE(failures.Has(FitFailures::kGpuProduct));
  EXPECT_TRUE(Unresolvable(failures, pod.requests, state));
  EXPECT_EQ(DescribeFailures(failures, pod.requests, &state, kGpu), "GPUs of another product");
}

TEST(FitFailuresTest, IsASetOfReasons) {
  FitFailures failures;
  EXPECT_TRUE(failures.none());
  failures.Add(FitFailures::kCpu);
  failures.Add(FitFailures::kCpu);
  failures.Add(FitFailures::kOther);
  EXPECT_TRUE(failures.Has(FitFailures::kCpu));
  EXPECT_FALSE(failures.Has(FitFailures::kMemory));
  EXPECT_EQ(failures.bits(), FitFailures::kCpu | FitFailures::kOther);
}

}  // namespace
}  // namespace synergy::testing
