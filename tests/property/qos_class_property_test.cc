// Generated containers with generated limits are admitted, sized again, bound, and resized by the
// tuner in rounds, for waiting pods, by loans and by reverts of what the kubelet does not carry
// out. The API server refuses a resize that changes a pod's QoS class: no resize may be refused for
// that, and no limit that an author wrote may change.

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "admission/sizing.h"
#include "allocation/bind_allocation.h"
#include "controller/tuner/action_executor.h"
#include "controller/tuner/tuner_calls.h"
#include "controller/tuner/tuner_driver.h"
#include "engine/tuner/tuner.h"
#include "support/cluster_vocabulary.h"
#include "support/fake_clock.h"
#include "support/fake_pod_api.h"
#include "support/managed_pods.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"

namespace synergy::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr ResourceVector kShare{Gpus(1), Cores(3), GiB(8)};

// Returns a profile that gains from CPU up to 8 cores and, if its process memory is known, from
// memory up to 16 GiB.
JobProfile Profile(bool with_memory) {
  const auto profile = JobProfile::Create(Gpus(1), {{Cores(1), GiB(2), 1},
                                                    {Cores(3), GiB(4), 3},
                                                    {Cores(4), GiB(8), 5},
                                                    {Cores(8), GiB(16), 9}});
  return with_memory ? profile->WithProcessMemory(GiB(1)) : *profile;
}

template <class Amount>
std::optional<Amount> Maybe(std::vector<Amount> amounts) {
  const auto index =
      static_cast<size_t>(*rc::gen::inRange(0, static_cast<int>(amounts.size()) + 1));
  return index < amounts.size() ? std::optional(amounts[index]) : std::nullopt;
}

// Returns amounts that an author could write. The API server sets a missing request to the limit,
// unless the limit is a default of the namespace.
WrittenAmounts AnyWritten() {
  WrittenAmounts written;
  written.cpu_limit = Maybe<MilliCpu>({Cores(3), Cores(4), Cores(8)});
  written.memory_limit = Maybe<Bytes>({GiB(4), GiB(8), GiB(16)});
  written.cpu_request = Maybe<MilliCpu>({Cores(1), Cores(3), Cores(4)});
  written.memory_request = Maybe<Bytes>({GiB(2), GiB(4), GiB(8)});
  if (written.cpu_limit) {
    written.cpu_request =
        std::min(written.cpu_request.value_or(*written.cpu_limit), *written.cpu_limit);
  }
  if (written.memory_limit && written.memory_request)
    written.memory_request = std::min(*written.memory_request, *written.memory_limit);
  return written;
}

class World {
 public:
  World() {
    ObserveUntil(state_, 1'000'000);
    state_.UpsertNode(NodeOfFour("n1"));
    profiles_.profiles["known"] = std::make_shared<const JobProfile>(Profile(true));
    profiles_.profiles["cpu"] = std::make_shared<const JobProfile>(Profile(false));
    settings_.idle_after = minutes(30);
    settings_.headroom = {};
    tuner_ = std::make_unique<Tuner>(settings_, profiles_);
    driver_ = std::make_unique<controller::TunerDriver>(
        *tuner_, state_, *executor_, clock_, metrics_,
        controller::TunerDriverParts{.idle = [this](Instant now) { return Idle(now); }});
    driver_->StartOver();
    driver_->Step();
  }

  void Do(int what, int number) {
    switch (what) {
      case 0:
        Create();
        break;
      case 1:
        SizeAgain(number);
        break;
      case 2:
        Bind(number);
        break;
      case 3:
      case 4:
        Settle();
        break;
      case 5:
        RefuseGrowth(number);
        break;
      case 6:
        ToggleIdle(number);
        break;
      case 7:
        Delete(number);
        break;
      default:
        After(seconds(number * 20));
    }
    CheckLimits();
  }

 private:
  struct Case {
    SizingCase sizing;
    std::string profile;
    bool placeholder = false;
  };

  Sizes SizesOf(const Case& of, const ResourceVector& share, bool unplaced) const {
    const auto found = profiles_.profiles.find(of.profile);
    const JobProfile* const profile =
        found == profiles_.profiles.end() ? nullptr : found->second.get();
    return unplaced ? SizeUnplaced(of.sizing, share, profile, {}, number_ % 2 == 0)
                    : Size(of.sizing, share, profile, {});
  }

  // Creates a pod with the limits that the webhook writes (wire/admission/pod_patch.cc).
  void Create() {
    if (cases_.size() >= 6) return;
    Case made;
    made.sizing.written = AnyWritten();
    made.sizing.gpus = Gpus(1);
    made.sizing.guaranteed = made.sizing.written.IsGuaranteed();
    made.sizing.enforcement = made.sizing.guaranteed || *rc::gen::arbitrary<bool>()
                                  ? Enforcement::kStrict
                                  : Enforcement::kShared;
    made.profile = *rc::gen::element<std::string>("known", "cpu", "");
    made.placeholder = *rc::gen::arbitrary<bool>();
    const Sizes sizes = SizesOf(made, kShare, made.placeholder);
    ManagedContainer container;
    container.container = "train";
    container.profile = made.profile;
    container.profile_generation = 1;
    container.placeholder = made.placeholder;
    container.enforcement = made.sizing.enforcement;
    container.written = made.sizing.written;
    container.floor = container.requested = sizes.floor;
    container.demand = sizes.demand;
    container.fair_share = sizes.fair_share;
    container.cpu_limit = container.enforcement == Enforcement::kStrict
                              ? std::optional(sizes.floor.cpu)
                              : container.written.cpu_limit;
    container.memory_limit =
        sizes.memory_limit ? sizes.memory_limit : container.written.memory_limit;
    container.devices = DeviceReading{DeviceSafety::kSafe, {}};
    Pod pod = ManagedPod("pod-" + std::to_string(++number_), "", 1);
    pod.fungible = std::make_shared<const ManagedContainer>(std::move(container));
    cases_[pod.name] = made;
    api_.Put(pod);
    Report(pod.name);
  }

  // Does what DeferredSizing does once the pod's share is known.
  void SizeAgain(int number) {
    const std::string* const name = Name(number);
    if (name == nullptr || !cases_[*name].placeholder) return;
    const Pod pod = api_.pod(*name);
    if (!pod.node.empty()) return;
    cases_[*name].placeholder = false;
    const ResourceVector share{Gpus(1), Cores(1 + number % 5), GiB(2 + number)};
    const Sizes sizes = SizesOf(cases_[*name], share, false);
    (void)Resize(pod, pod.fungible->WithinQosClass(sizes.floor));
    api_.ChangeManaged(*name, [&](ManagedContainer& container) {
      container.placeholder = false;
      container.floor = container.requested;
      container.demand = LargerOf(sizes.demand, container.floor);
      container.fair_share = sizes.fair_share;
    });
    Report(*name);
  }

  void Bind(int number) {
    const std::string* const name = Name(number);
    if (name == nullptr || cases_[*name].placeholder || !api_.pod(*name).node.empty()) return;
    const auto snapshot = state_.Snapshot();
    const NodeState& node = snapshot->node(*snapshot->Find("n1"));
    const Pod pod = api_.pod(*name);
    if (!pod.requests.main.FitsWithin(node.Free())) return;
    const Pod planned = PlanAtBind(pod, "n1", *snapshot, {});
    if (planned.fungible->requested != pod.fungible->requested &&
        !Resize(pod, planned.fungible->requested)) {
      return;
    }
    api_.Change(*name, [](Pod& bound) {
      bound.node = "n1";
      bound.waiting = nullptr;
    });
    Report(*name);
  }

  bool Resize(const Pod& pod, const ResourceVector& amounts) {
    const auto resized =
        api_.Resize(pod, amounts, kube::Precondition::kSamePod, kube::Resized::kBoth, {});
    CheckClass();
    return static_cast<bool>(resized);
  }

  void Settle() {
    for (const auto& [name, of] : cases_) {
      if (api_.pod(name).node.empty()) continue;
      api_.SettleOnNode(name);
      api_.ChangeManaged(name, [this](ManagedContainer& container) {
        container.memory_limit_in_force = container.memory_limit;
        container.memory_reading = MemoryReading{GiB(1), false, clock_.WallNow()};
      });
      Report(name);
    }
  }
  // Makes the kubelet defer a resize, so that the tuner reverts it.
  void RefuseGrowth(int number) {
    const std::string* const name = Name(number);
    if (name == nullptr || api_.pod(*name).node.empty()) return;
    api_.ChangeManaged(*name, [](ManagedContainer& container) {
      if (!container.reported || container.in_force == container.requested) return;
      container.resize = ResizeState::kDeferred;
      container.resize_message = "the node has no room";
    });
    Report(*name);
  }
  void ToggleIdle(int number) {
    const std::string* const name = Name(number);
    if (name != nullptr && idle_.erase(*name) == 0) idle_[*name] = true;
  }
  void Delete(int number) {
    const std::string* const found = Name(number);
    if (found == nullptr || number % 4 != 0) return;
    const std::string name = *found;
    state_.RemovePod(api_.pod(name).uid);
    api_.Remove(name);
    idle_.erase(name);
    cases_.erase(name);
  }
  void After(Duration duration) {
    clock_.Advance(duration);
    for (int i = 0; i < 3; ++i) {
      clock_.Advance(seconds(1));
      driver_->Step();
    }
    for (const auto& [name, of] : cases_) Report(name);
    CheckClass();
  }

  void CheckClass() const {
    for (const std::string& call : api_.calls()) {
      if (call.ends_with("invalid")) RC_FAIL("the QoS class would change: " + call);
    }
  }
  void CheckLimits() const {
    for (const auto& [name, of] : cases_) {
      const Pod pod = api_.pod(name);
      const ManagedContainer& container = *pod.fungible;
      const WrittenAmounts& written = container.written;
      if (written.memory_limit) RC_ASSERT(container.memory_limit == written.memory_limit);
      if (written.cpu_limit && container.enforcement == Enforcement::kShared)
        RC_ASSERT(container.cpu_limit == written.cpu_limit);
    }
  }

  const std::string* Name(int number) const {
    if (cases_.empty()) return nullptr;
    return &std::next(cases_.begin(), number % static_cast<int>(cases_.size()))->first;
  }
  void Report(const std::string& name) { state_.UpsertPod(api_.pod(name)); }
  std::map<std::string, IdlePod> Idle(Instant now) const {
    std::map<std::string, IdlePod> idle;
    for (const auto& [name, is_idle] : idle_) {
      idle[api_.pod(name).uid] = {
          .node = "n1", .idle = hours(1), .most_cpu = MilliCpu(100), .reported = now};
    }
    return idle;
  }

  FakeClock clock_;
  SilentSink sink_;
  Logger log_{sink_, clock_, LogLevel::kError, LogFormat::kText};
  metrics::TunerMetrics metrics_;
  ClusterState state_;
  FakePodApi api_;
  RecordedEvents events_;
  FakeProfileCatalog profiles_;
  TunerSettings settings_;
  std::unique_ptr<Tuner> tuner_;
  controller::TunerCalls calls_{state_, api_, events_, clock_, log_, metrics_, [] { return true; }};
  std::unique_ptr<controller::ActionExecutor> executor_ =
      controller::MakeSerialExecutor(calls_, [] { return true; }, clock_);
  std::unique_ptr<controller::TunerDriver> driver_;
  std::map<std::string, Case> cases_;  // by the pod's name
  std::map<std::string, bool> idle_;
  int number_ = 0;
};

RC_GTEST_PROP(QosClassProperty, NoResizeChangesTheClassOrAWrittenLimit, ()) {
  World world;
  for (int i = 0; i < 4; ++i) world.Do(0, i);
  const int steps = *rc::gen::inRange(0, 60);
  for (int i = 0; i < steps; ++i) world.Do(*rc::gen::inRange(0, 12), *rc::gen::inRange(0, 20));
}

}  // namespace
}  // namespace synergy::testing
