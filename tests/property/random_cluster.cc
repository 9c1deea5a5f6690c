#include "property/random_cluster.h"

#include <ostream>

namespace synergy {
namespace {

void Show(std::ostream& out, const ResourceVector& amount) {
  out << amount.gpus.count() << " GPUs " << amount.cpu.count() << "m " << amount.memory.count()
      << " bytes";
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Pod& pod) {
  out << "\n  pod " << pod.name << " on \"" << pod.node << "\", priority " << pod.priority << ": ";
  Show(out, pod.requests.main);
  if (pod.demand) {
    out << ", wants ";
    Show(out, *pod.demand);
  }
  return out;
}

}  // namespace synergy

namespace synergy::testing {

std::ostream& operator<<(std::ostream& out, const RandomCluster& cluster) {
  for (const Node& node : cluster.nodes) {
    out << "\n  node " << node.name << (node.unschedulable ? " cordoned" : "") << ", "
        << node.pods_allowed << " pods: ";
    Show(out, node.allocatable.main);
  }
  for (const Pod& pod : cluster.pods) out << pod;
  return out;
}

std::shared_ptr<const ClusterSnapshot> RandomCluster::Snapshot(
    const std::vector<Node>& order) const {
  ClusterState state;
  for (const Node& node : order) state.UpsertNode(node);
  for (const Pod& pod : pods) state.UpsertPod(pod);
  return state.Snapshot();
}

rc::Gen<Pod> IncomingPod() {
  using rc::gen::inRange;
  return rc::gen::exec([] {
    Pod pod;
    pod.uid = "incoming";
    pod.name = "incoming";
    pod.pod_namespace = "team";
    pod.priority = 1000;
    pod.requests.main = {Gpus(*inRange(1, 9)), MilliCpu(*inRange(0, 13) * 500),
                         GiB(*inRange(0, 65))};
    if (*inRange(0, 2) == 1) {
      pod.demand = pod.requests.main;
      pod.demand->cpu += MilliCpu(*inRange(0, 25) * 500);
      pod.demand->memory += GiB(*inRange(0, 200));
    }
    pod.tolerates_unschedulable = *inRange(0, 4) == 0;
    return pod;
  });
}

}  // namespace synergy::testing

namespace rc {

using synergy::Cores;
using synergy::GiB;
using synergy::Gpus;
using synergy::MilliCpu;
using synergy::Node;
using synergy::Pod;
using synergy::testing::RandomCluster;

namespace {

Node RandomNode(const std::string& name) {
  using gen::inRange;
  Node node;
  node.name = name;
  // There are few sizes, so that some nodes are equal.
  node.allocatable.main = {Gpus(*gen::element(0, 4, 8, 8, 8)), Cores(*gen::element(8, 24, 24, 96)),
                           GiB(*gen::element(64, 500, 500, 2000))};
  node.pods_allowed = *gen::element(1, 3, 110, 110);
  node.unschedulable = *inRange(0, 8) == 0;
  return node;
}

Pod RandomPod(const std::string& name, const std::string& node) {
  using gen::inRange;
  Pod pod;
  pod.uid = name;
  pod.name = name;
  pod.pod_namespace = *inRange(0, 4) == 0 ? "another team" : "team";
  pod.node = node;
  pod.priority = *inRange(0, 4);
  pod.labels = {{"app", *gen::element<std::string>("web", "train")}};
  pod.requests.main = {Gpus(*inRange(0, 4)), MilliCpu(*inRange(0, 17) * 500),
                       GiB(*inRange(0, 129))};
  return pod;
}

}  // namespace

Gen<RandomCluster> Arbitrary<RandomCluster>::arbitrary() {
  return gen::exec([] {
    RandomCluster cluster;
    const int nodes = *gen::inRange(1, 8);
    const int pods = *gen::inRange(0, 12);
    for (int i = 0; i < nodes; ++i) cluster.nodes.push_back(RandomNode("n" + std::to_string(i)));
    for (int i = 0; i < pods; ++i) {
      cluster.pods.push_back(
          RandomPod("p" + std::to_string(i), "n" + std::to_string(*gen::inRange(0, nodes))));
    }
    return cluster;
  });
}

}  // namespace rc
