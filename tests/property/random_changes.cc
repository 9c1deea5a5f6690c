#include "property/random_changes.h"

#include <array>
#include <limits>
#include <map>
#include <memory>
#include <ostream>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/node_selection.h"
#include "core/random.h"
#include "wire/journal/journal.h"

namespace synergy::testing {
namespace {

constexpr int kNodes = 4;
constexpr std::array<std::string_view, 8> kTexts{
    "", "web", "zone", "A100", "two\nlines", "\"quoted\\\"", "Größe \u2028 😀", {"\0 NUL", 5}};

// Draws values. Each kind of value has its own probability.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(random_.Below(static_cast<uint64_t>(bound)));
  }
  bool OneIn(int64_t cases) { return Below(cases) == 0; }
  // Returns one of a few numbers, or any number.
  int64_t Number(int64_t bound) {
    constexpr std::array kEnds{std::numeric_limits<int64_t>::min(),
                               std::numeric_limits<int64_t>::max(), int64_t{-1}};
    if (!OneIn(24)) return Below(bound);
    return OneIn(2) ? kEnds.at(static_cast<size_t>(Below(kEnds.size())))
                    : static_cast<int64_t>(random_.Next());
  }
  std::string Text() { return std::string(kTexts.at(static_cast<size_t>(Below(kTexts.size())))); }
  std::vector<std::string> Texts() {
    return Several<std::string>(3, [&] { return Text(); });
  }
  Labels Pairs() {
    std::map<std::string, std::string> pairs;
    for (int64_t left = Below(3); left > 0; --left) pairs[Text()] = Text();
    return {pairs.begin(), pairs.end()};
  }
  template <class T, class Make>
  std::vector<T> Several(int64_t bound, Make make) {
    std::vector<T> made;
    for (int64_t left = Below(bound); left > 0; --left) made.push_back(make());
    return made;
  }
  template <class Enum>
  Enum Word(Enum last) {
    return static_cast<Enum>(Below(static_cast<int64_t>(last) + 1));
  }

  std::string NodeName() { return "n" + std::to_string(Below(kNodes)); }
  std::string PodName() { return ChangedPodName(static_cast<int>(Below(kChangedPods))); }
  ResourceVector Amounts(int64_t bound) {
    return {synergy::Gpus(Number(bound)), MilliCpu(Number(bound)), Bytes(Number(bound))};
  }
  Resources AllAmounts(int64_t bound) {
    Resources amounts{Amounts(bound), {}};
    for (int64_t left = Below(3); left > 0; --left) amounts.other.Set(Text(), Number(bound));
    return amounts;
  }
  Instant Time() { return Instant(Duration(Number(20))); }
  WallTime Date() { return WallTime(Duration(Number(20))); }

  ManagedContainer AnyManaged() {
    ManagedContainer made;
    made.container = Text();
    made.profile = Text();
    made.profile_generation = Number(5);
    made.enforcement = Word(Enforcement::kShared);
    for (ResourceVector* amounts : {&made.floor, &made.demand, &made.fair_share, &made.requested,
                                    &made.in_force, &made.set_aside}) {
      *amounts = Amounts(4);
    }
    if (OneIn(2)) made.cpu_limit = MilliCpu(Number(2));
    if (OneIn(2)) made.memory_limit = Bytes(Number(2));
    made.reported = OneIn(2);
    made.guaranteed = OneIn(2);
    made.resize = Word(ResizeState::kRefused);
    made.resize_message = Text();
    made.resized_by_us_alone = OneIn(2);
    if (OneIn(2)) {
      made.change =
          ChangeRecord{Word(ChangeKind::kGivenBack), Amounts(4), Amounts(4), Text(), Date()};
      if (OneIn(2)) made.change->borrowed = MilliCpu(Number(2));
      if (OneIn(2)) made.change->borrower = Text();
      if (OneIn(2)) made.change->memory_changed_before = Date();
    }
    if (OneIn(2)) made.unshrinkable_until = Date();
    if (OneIn(2)) made.memory_limit_in_force = Bytes(Number(2));
    if (OneIn(2)) made.memory_reading = MemoryReading{Bytes(Number(4)), OneIn(2), Date()};
    if (OneIn(2)) made.devices = DeviceReading{Word(DeviceSafety::kLost), Text(), OneIn(2), Text()};
    if (OneIn(4)) made.oom_killed = Date();
    made.evicted_for_memory = OneIn(8);
    made.memory_let_be = OneIn(8);
    return made;
  }

  Waiting AnyWaiting() {
    Waiting made;
    made.scheduler = Text();
    made.unschedulable = OneIn(2);
    made.message = Text();
    made.since = Date();
    if (OneIn(2)) made.kept_node = NodeName();
    if (OneIn(2)) made.nominated_node = NodeName();
    made.never_preempts = OneIn(2);
    made.prefers = OneIn(2);
    made.kept_until = Date();
    if (!OneIn(4)) made.selection = std::make_shared<const NodeSelection>(AnySelection());
    return made;
  }

  Separation AnySeparation() {
    Separation made;
    const auto number = [this] { return static_cast<int32_t>(Number(5)); };
    const auto selector = [this] {
      return LabelSelector{Several<LabelSelector::Requirement>(3, [&] {
        return LabelSelector::Requirement{Text(), Word(LabelSelector::Operator::kDoesNotExist),
                                          Texts()};
      })};
    };
    made.host_ports = Several<HostPort>(3, [&] { return HostPort{Text(), Text(), number()}; });
    made.anti_affinity = Several<AntiAffinity>(3, [&] { return AntiAffinity{Text(), selector()}; });
    made.spread = Several<TopologySpread>(3, [&] {
      return TopologySpread{Text(), number(), number(), selector(), OneIn(2), OneIn(2)};
    });
    return made;
  }

 private:
  NodeSelection AnySelection() {
    NodeSelection made;
    made.node_selector = Pairs();
    made.has_affinity = OneIn(2);
    made.terms = Several<NodeSelectorTerm>(3, [&] {
      return Several<NodeRequirement>(3, [&] {
        return NodeRequirement{Text(), Word(NodeRequirement::Operator::kUnknown), Texts(),
                               OneIn(2)};
      });
    });
    made.tolerations =
        Several<Toleration>(3, [&] { return Toleration{Text(), Text(), Text(), OneIn(2)}; });
    return made;
  }

  Random random_;
};

// There are few claims, devices and classes, so that pods often share them.
std::string DrawClaimName(Draw& draw) { return "c" + std::to_string(draw.Below(4)); }
std::string DrawDriver(Draw& draw) { return draw.OneIn(4) ? "nic" : "gpu"; }

PodDevices DrawPodDevices(Draw& draw) {
  return {draw.Several<std::string>(
              3, [&] { return draw.OneIn(6) ? std::string() : DrawClaimName(draw); }),
          Gpus(draw.Number(3)), draw.OneIn(2), draw.Text()};
}

ResourceClaim DrawResourceClaim(Draw& draw) {
  ResourceClaim made;
  made.uid = "u" + std::to_string(draw.Below(8));
  made.pod_namespace = draw.OneIn(4) ? draw.Text() : "";
  made.name = DrawClaimName(draw);
  made.requests = draw.Several<DeviceRequest>(
      3, [&] { return DeviceRequest{DrawDriver(draw), draw.Number(4), draw.OneIn(6)}; });
  made.allocated = draw.OneIn(2);
  if (!made.allocated) return made;
  made.devices = draw.Several<AllocatedDevice>(4, [&] {
    return AllocatedDevice{DrawDriver(draw), draw.NodeName(), std::to_string(draw.Below(3)),
                           draw.OneIn(6)};
  });
  return made;
}

ResourceSlice DrawResourceSlice(Draw& draw) {
  ResourceSlice made;
  made.name = "s" + std::to_string(draw.Below(6));
  made.driver = DrawDriver(draw);
  made.pool = draw.NodeName();
  made.generation = draw.Number(2);
  made.devices = draw.Several<SliceDevice>(4, [&] {
    return SliceDevice{std::to_string(draw.Below(3)), draw.OneIn(8) ? draw.NodeName() : made.pool,
                       draw.Text(), draw.OneIn(6), draw.OneIn(6)};
  });
  return made;
}

DeviceClass DrawDeviceClass(Draw& draw) {
  return {DrawDriver(draw), draw.OneIn(3) ? draw.Text() : "nvidia.com/gpu"};
}

ClusterChange DrawDeviceChange(Draw& draw) {
  namespace change = cluster_change;
  switch (draw.Below(12)) {
    case 0:
      return {change::CountDevices{{"nvidia.com/gpu", {"gpu"}}}};
    case 1:
      return {change::ReplaceResourceClaims{
          draw.Several<ResourceClaim>(4, [&] { return DrawResourceClaim(draw); })}};
    case 2:
    case 3:
    case 4:
      return {change::UpsertResourceClaim{DrawResourceClaim(draw)}};
    case 5:
      return {change::RemoveResourceClaim{DrawResourceClaim(draw).uid}};
    case 6:
      return {change::ReplaceResourceSlices{
          draw.Several<ResourceSlice>(4, [&] { return DrawResourceSlice(draw); })}};
    case 7:
    case 8:
      return {change::UpsertResourceSlice{DrawResourceSlice(draw)}};
    case 9:
      return {change::RemoveResourceSlice{DrawResourceSlice(draw).name}};
    case 10:
      return draw.OneIn(3) ? ClusterChange{change::ReplaceDeviceClasses{{DrawDeviceClass(draw)}}}
                           : ClusterChange{change::UpsertDeviceClass{DrawDeviceClass(draw)}};
    default:
      return {change::RemoveDeviceClass{DrawDriver(draw)}};
  }
}

Node DrawNode(Draw& draw) {
  Node made;
  made.name = draw.NodeName();
  made.labels = draw.Pairs();
  made.taints =
      draw.Several<Taint>(3, [&] { return Taint{draw.Text(), draw.Text(), draw.Text()}; });
  made.gpu_kinds = {Gpus(draw.Number(8)), draw.Texts(), draw.Number(8)};
  made.gpu_kinds.slices = Slices(draw.Number(32));
  made.gpu_kinds.slices_per_gpu = draw.Number(8);
  made.allocatable = draw.AllAmounts(12);
  if (draw.OneIn(2)) made.allocatable.main.gpus = Gpus(0);
  made.pods_allowed = draw.Number(6);
  made.unschedulable = draw.OneIn(8);
  made.deleting = draw.OneIn(8);
  made.short_of_memory = draw.OneIn(8);
  made.boot_id = draw.Text();
  return made;
}

Pod DrawPod(Draw& draw) {
  Pod made;
  made.uid = draw.PodName();
  made.pod_namespace = draw.Text();
  made.name = made.uid;
  if (draw.OneIn(3)) made.node = draw.NodeName();
  made.resource_version = static_cast<uint64_t>(draw.Number(5));
  made.labels = draw.Pairs();
  made.requests = draw.AllAmounts(4);
  made.slices = Slices(draw.Number(4));
  if (draw.OneIn(3)) {
    made.gang = std::make_shared<const Gang>(
        Gang{draw.Text(), static_cast<int32_t>(draw.Below(5)), draw.Text(), {}, draw.Text()});
  }
  if (draw.OneIn(4)) made.separation = std::make_shared<const Separation>(draw.AnySeparation());
  if (draw.OneIn(2)) made.demand = draw.Amounts(4);
  made.gpu_product = draw.OneIn(4) ? draw.Text() : "";
  if (draw.OneIn(2)) made.devices = std::make_shared<const PodDevices>(DrawPodDevices(draw));
  if (draw.OneIn(2)) made.fungible = std::make_shared<const ManagedContainer>(draw.AnyManaged());
  if (draw.OneIn(2)) made.waiting = std::make_shared<const Waiting>(draw.AnyWaiting());
  made.priority = static_cast<int32_t>(draw.Number(3));
  made.terminal = draw.OneIn(12);
  made.succeeded = made.terminal && draw.OneIn(2);
  made.deleting = draw.OneIn(6);
  made.tolerates_unschedulable = draw.OneIn(4);
  made.gated = draw.OneIn(6);
  made.warnings = draw.Texts();
  return made;
}

DisruptionBudget DrawBudget(Draw& draw) {
  DisruptionBudget made;
  made.uid = "b" + std::to_string(draw.Below(3));
  made.pod_namespace = draw.Text();
  made.name = draw.Text();
  made.selector.requirements = draw.Several<LabelSelector::Requirement>(3, [&] {
    return LabelSelector::Requirement{
        draw.Text(), draw.Word(LabelSelector::Operator::kDoesNotExist), draw.Texts()};
  });
  made.disruptions_allowed = draw.Number(3);
  made.disrupted_pods = draw.Texts();
  return made;
}

LimitRange DrawLimitRange(Draw& draw) {
  const auto bounds = [&] { return AmountBounds{draw.Amounts(4), draw.Amounts(12)}; };
  return {"l" + std::to_string(draw.Below(3)),
          draw.Text(),
          draw.Text(),
          bounds(),
          bounds(),
          draw.OneIn(4),
          draw.OneIn(4)};
}

ResourceQuota DrawResourceQuota(Draw& draw) {
  const auto sum = [&] {
    return draw.OneIn(2) ? QuotaSum{} : QuotaSum{draw.Amounts(12), draw.Amounts(4)};
  };
  return {
      "q" + std::to_string(draw.Below(3)), draw.Text(), draw.Text(), sum(), sum(), draw.OneIn(4)};
}

ClusterChange DrawLimitsChange(Draw& draw) {
  namespace change = cluster_change;
  const auto range = [&] { return DrawLimitRange(draw); };
  const auto quota = [&] { return DrawResourceQuota(draw); };
  switch (draw.Below(6)) {
    case 0:
      return {change::ReplaceLimitRanges{draw.Several<LimitRange>(3, range)}};
    case 1:
      return {change::UpsertLimitRange{range()}};
    case 2:
      return {change::RemoveLimitRange{range().uid}};
    case 3:
      return {change::ReplaceResourceQuotas{draw.Several<ResourceQuota>(3, quota)}};
    case 4:
      return {change::UpsertResourceQuota{quota()}};
    default:
      return {change::RemoveResourceQuota{quota().uid}};
  }
}

ClusterChange DrawChange(Draw& draw) {
  namespace change = cluster_change;
  const auto pod = [&] { return DrawPod(draw); };
  // Changes of pods are more frequent than others.
  switch (draw.Below(40)) {
    case 0:
      return {change::ReplaceNodes{draw.Several<Node>(4, [&] { return DrawNode(draw); })}};
    case 1:
    case 2:
    case 3:
    case 4:
      return {change::UpsertNode{DrawNode(draw)}};
    case 5:
      return {change::RemoveNode{draw.NodeName()}};
    case 6:
      return {change::PutListedPods{draw.Several<Pod>(kChangedPods, pod),
                                    static_cast<uint64_t>(draw.Number(5))}};
    case 7:
    case 8:
    case 9:
    case 10:
      return {change::UpsertPod{pod()}};
    case 11:
      return {change::RemovePod{draw.PodName()}};
    case 12:
      return {change::RefreshPod{pod()}};
    case 13:
      return {change::ReplaceDisruptionBudgets{
          draw.Several<DisruptionBudget>(3, [&] { return DrawBudget(draw); })}};
    case 14:
      return {change::UpsertDisruptionBudget{DrawBudget(draw)}};
    case 15:
      return {change::RemoveDisruptionBudget{DrawBudget(draw).uid}};
    case 16:
    case 17:
      return {change::Expect{pod(), static_cast<NodeIndex>(draw.Below(kNodes + 1)), draw.Time()}};
    case 18:
    case 19:
      return {change::Assume{pod(), draw.NodeName(), draw.Time(), {}}};
    case 20:
      return {change::Forget{draw.PodName()}};
    case 21:
      return {change::Extend{draw.PodName(), draw.Time()}};
    case 22:
      return {change::DropStaleExpectations{draw.Time(), draw.Date()}};
    case 23:
    case 24:
    case 25:
      return {change::Reserve{
          draw.Several<GangPlace>(4, [&] { return GangPlace{draw.PodName(), draw.NodeName()}; }),
          draw.Time(), false}};
    case 26: {
      auto uids = draw.Several<std::string>(kChangedPods, [&] { return draw.PodName(); });
      if (draw.OneIn(3)) return {change::ReleaseKept{std::move(uids)}};
      if (draw.OneIn(2))
        return {change::NoteSucceeded{draw.Text(), static_cast<size_t>(draw.Below(3))}};
      return {change::Release{std::move(uids)}};
    }
    case 27:
    case 28:
      return DrawLimitsChange(draw);
    case 29:
      return {change::ReserveForReplacements{std::chrono::seconds(draw.Below(60)), draw.Time()}};
    case 30:
      return {change::SettleReplacement{draw.PodName(), draw.OneIn(2)}};
    case 31:
      return {change::KeepNews{}};
    default:
      return DrawDeviceChange(draw);
  }
}

template <class T>
bool SamePointee(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return *a == *b;
}

bool Same(const std::shared_ptr<const Waiting>& a, const std::shared_ptr<const Waiting>& b) {
  if (a == nullptr || b == nullptr) return a == b;
  const auto plain = [](const Waiting& waiting) {
    const auto& [scheduler, unschedulable, message, since, kept_node, kept_until, nominated_node,
                 never_preempts, prefers, selection] = waiting;
    return std::tie(scheduler, unschedulable, message, since, kept_node, kept_until, nominated_node,
                    never_preempts, prefers);
  };
  return plain(*a) == plain(*b) && SamePointee(a->selection, b->selection);
}

}  // namespace

std::string ChangedPodName(int which) { return "p" + std::to_string(which); }

Node AnyNode(uint64_t seed) {
  Draw draw(seed);
  return DrawNode(draw);
}
Pod AnyPod(uint64_t seed) {
  Draw draw(seed);
  return DrawPod(draw);
}
DisruptionBudget AnyDisruptionBudget(uint64_t seed) {
  Draw draw(seed);
  return DrawBudget(draw);
}

LimitRange AnyLimitRange(uint64_t seed) {
  Draw draw(seed);
  return DrawLimitRange(draw);
}
ResourceQuota AnyResourceQuota(uint64_t seed) {
  Draw draw(seed);
  return DrawResourceQuota(draw);
}

bool Same(const Pod& a, const Pod& b) {
  const auto plain = [](const Pod& pod) {
    const auto& [uid, pod_namespace, name, node, resource_version, labels, requests, slices, demand,
                 gpu_product, devices, fungible, waiting, gang, separation, priority, terminal,
                 succeeded, misaligned, deleting, grace, tolerates_unschedulable, gated, warnings] =
        pod;
    return std::tie(uid, pod_namespace, name, node, resource_version, labels, requests, slices,
                    demand, gpu_product, priority, terminal, succeeded, misaligned, deleting, grace,
                    tolerates_unschedulable, gated, warnings);
  };
  return plain(a) == plain(b) && SamePointee(a.fungible, b.fungible) &&
         SamePointee(a.devices, b.devices) && SamePointee(a.separation, b.separation) &&
         SamePointee(a.gang, b.gang) && Same(a.waiting, b.waiting);
}

}  // namespace synergy::testing

namespace synergy {

std::ostream& operator<<(std::ostream& out, const ClusterChange& change) {
  return out << wire::WriteJournalLine(change);
}

}  // namespace synergy

namespace rc {

Gen<synergy::ClusterChange> Arbitrary<synergy::ClusterChange>::arbitrary() {
  return gen::map(gen::noShrink(gen::arbitrary<uint64_t>()), [](uint64_t seed) {
    synergy::testing::Draw draw(seed);
    return synergy::testing::DrawChange(draw);
  });
}

}  // namespace rc
