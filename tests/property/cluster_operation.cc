#include "property/cluster_operation.h"

#include <iterator>
#include <memory>
#include <ostream>
#include <utility>

#include "property/cluster_photo.h"

namespace synergy::testing {

Node Operation::MakeNode(int which) const {
  Node made;
  made.name = "n" + std::to_string(which);
  made.allocatable.main = {Gpus(2 * gpus), Cores(2 * cores), GiB(2 * gib)};
  if (cards > 0) made.allocatable.other.Set(kCard, 2 * cards);
  made.pods_allowed = 1 + gpus + cores;
  // Rare, so that most pods can be placed.
  made.unschedulable = flags % 8 == 1;
  made.deleting = flags % 8 == 2;
  return made;
}

Pod Operation::MakePod(int which) const {
  Pod made;
  made.uid = "p" + std::to_string(which);
  made.pod_namespace = "team";
  made.name = made.uid;
  made.requests.main = {Gpus(gpus), Cores(cores), GiB(gib)};
  if (cards > 0) made.requests.other.Set(kCard, cards);
  made.gated = flags % 4 == 3;
  made.deleting = flags / 4 % 4 == 3;
  made.tolerates_unschedulable = flags / 16 % 2 == 1;
  return made;
}

Pod Operation::MakeKeptPod(int which) const {
  Pod made = MakePod(which);
  auto waiting = std::make_shared<Waiting>();
  waiting->kept_node = NodeName();
  waiting->kept_until = Date();
  made.waiting = std::move(waiting);
  return made;
}

std::ostream& operator<<(std::ostream& out, const Operation& operation) {
  static constexpr const char* kNames[] = {"upsert node",
                                           "remove node",
                                           "replace nodes",
                                           "watch: waiting",
                                           "watch: place kept",
                                           "watch: bound",
                                           "watch: terminal",
                                           "remove pod",
                                           "replace pods",
                                           "expect",
                                           "assume",
                                           "forget",
                                           "extend",
                                           "drop stale expectations",
                                           "settle expired"};
  static_assert(std::size(kNames) == Operation::kKinds);
  return out << "{" << kNames[operation.kind] << " " << operation.NodeName() << " "
             << operation.PodName() << " " << operation.gpus << " GPUs, " << operation.cores
             << " cores, " << operation.gib << " GiB, " << operation.cards << " cards, at "
             << operation.second << " s, listed " << operation.listed << ", bound "
             << operation.bound << ", flags " << operation.flags << "}";
}

}  // namespace synergy::testing

namespace rc {

using synergy::testing::Operation;

Gen<Operation> Arbitrary<Operation>::arbitrary() {
  const auto below = [](int bound) { return gen::inRange(0, bound); };
  return gen::build<Operation>(
      gen::set(&Operation::kind, below(Operation::kKinds)),
      gen::set(&Operation::node, below(synergy::testing::kNodeNames)),
      gen::set(&Operation::pod, below(synergy::testing::kPodNames)),
      gen::set(&Operation::gpus, below(4)), gen::set(&Operation::cores, below(4)),
      gen::set(&Operation::gib, below(4)), gen::set(&Operation::cards, below(3)),
      gen::set(&Operation::second, below(20)),
      gen::set(&Operation::listed, below(1 << synergy::testing::kPodNames)),
      gen::set(&Operation::bound, below(1 << synergy::testing::kPodNames)),
      gen::set(&Operation::flags, below(32)));
}

}  // namespace rc
