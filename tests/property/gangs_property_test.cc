// Random histories of two gangs that need the same GPUs, with single pods and lost members:
// kube-scheduler handles one pod at a time, binds come late or twice, and the extender restarts. At
// no time do both gangs have bound pods. No pod of a gang is bound before the binds of all of its
// pods wait at the same time. In the end one gang is complete. Members of a running gang fail and
// are replaced: no other pod gets their places meanwhile, and no place is held for a gang without
// running members. The gang that has no room counts as Unschedulable in the end
// (support/histories.h has the number of histories).

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "extender/gangs/lost_members.h"
#include "support/fake_clock.h"
#include "support/histories.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"
#include "unit/extender/extender_fixture.h"

namespace synergy::extender {
namespace {

constexpr int kSize = 8;
constexpr const char* kNode = "a";
constexpr Duration kReplacementHold = std::chrono::seconds(60);

// The true cluster, and an extender that watches it.
class History {
 public:
  explicit History(uint64_t seed) : random_(seed) {
    Start();
    for (const char* gang : {"g", "h"}) {
      for (int i = 0; i < kSize; ++i) waiting_.push_back(Member(gang, i));
    }
    for (int i = 0; i < 2; ++i) waiting_.push_back(Single(i));
  }

  void Run() {
    for (int step = 0; step < 150; ++step) Disturb();
    // From now on there are no more faults, and the single pods have ended.
    Replace();
    for (auto* pods : {&waiting_, &in_flight_}) {
      std::erase_if(*pods, [](const Pod& pod) { return pod.gang == nullptr; });
    }
    for (const auto& [name, pod] : std::map(bound_)) {
      if (pod.gang == nullptr) End(name);
    }
    for (int round = 0; round < 60 && !OneIsWhole(); ++round) {
      const std::vector<Pod> now = waiting_;
      for (const Pod& pod : now) Schedule(pod);
      for (const Pod& pod : std::vector(in_flight_)) Bind(pod);
      Pass(std::chrono::seconds(10));
    }
    EXPECT_TRUE(OneIsWhole()) << Describe();
    Pass(kReplacementHold);
    EXPECT_TRUE(state_->Reservations(ReservationKind::kReplacement).empty()) << Describe();
    ExpectUnschedulable();
  }

 private:
  // The other gang has no room. In the end kube-scheduler has to report its pods as Unschedulable,
  // because otherwise an autoscaler never adds nodes for them. So no answer is an error, and no pod
  // has a place.
  void ExpectUnschedulable() {
    Replace();
    for (int minute = 0; minute < 12; ++minute) {
      for (const Pod& pod : std::vector(waiting_)) Schedule(pod);
      for (const Pod& pod : std::vector(in_flight_)) Bind(pod);
      Pass(std::chrono::minutes(1));
    }
    EXPECT_TRUE(in_flight_.empty()) << Describe();
    for (const Pod& pod : waiting_) {
      EXPECT_NE(extender_->Filter(Args(pod)).find(R"("Error":"")"), std::string::npos)
          << pod.name << "; " << Describe();
    }
  }

  static Pod Single(int number) {
    Pod pod = synergy::testing::MakeGpuPod(fmt::format("single-{}", number), 1);
    pod.pod_namespace = "default";
    return pod;
  }
  static Pod Member(const std::string& gang, int number) {
    Pod pod = synergy::testing::MakeGpuPod(fmt::format("{}-{}", gang, number), 1);
    pod.pod_namespace = "default";
    pod.gang = std::make_shared<const Gang>(Gang{"default/" + gang, kSize, {}});
    return pod;
  }

  bool OneIn(uint64_t cases) { return random_.Below(cases) == 0; }
  const Pod& AnyOf(const std::vector<Pod>& pods) { return pods[random_.Below(pods.size())]; }

  void Disturb() {
    switch (random_.Below(18)) {
      case 0:
        return Pass(std::chrono::seconds(1));
      case 1:
        if (OneIn(4)) Start();
        return;
      case 2: {
        // Deletes a member and creates it again.
        if (waiting_.empty() || !OneIn(2)) return;
        Pod pod = AnyOf(waiting_);
        Take(pod);
        known_.erase(pod.name);
        state_->RemovePod(pod.uid);
        pod.uid += "'";
        waiting_.push_back(pod);
        return;
      }
      case 3:
        if (!bound_.empty() && OneIn(4)) {
          const auto pod = bound_.begin()->second;
          if (pod.gang == nullptr) End(pod.name);
        }
        return;
      case 4:
      case 5:
      case 6:
        if (!in_flight_.empty()) Bind(AnyOf(in_flight_));
        return;
      case 7:
        return FailOne();
      case 8:
        if (OneIn(2)) Replace();
        return;
      default:
        if (!waiting_.empty()) Schedule(AnyOf(waiting_));
    }
  }

  // Deletes a bound member of a gang. Its controller waits before it creates another.
  void FailOne() {
    if (bound_.empty()) return;
    auto chosen = bound_.begin();
    std::advance(chosen, random_.Below(bound_.size()));
    Pod pod = chosen->second;
    if (pod.gang == nullptr) return;
    if (OneIn(2)) {
      api_.Remove(pod.name);
    } else {
      api_.Change(pod.name, [](Pod& failed) { failed.terminal = true; });
    }
    End(pod.name);
    EXPECT_TRUE(Bound("g") + Bound("h") > 0 ||
                state_->Reservations(ReservationKind::kReplacement).empty())
        << Describe();
    pod.uid += "'";
    pod.node.clear();
    lost_.push_back(pod);
  }
  void Replace() {
    for (Pod& pod : std::exchange(lost_, {})) waiting_.push_back(std::move(pod));
  }

  void Start() {
    for (const auto& [uid, bind] : std::exchange(binds_, {})) GoBack(uid);
    extender_.reset();
    binder_.reset();
    allocations_.reset();
    state_ = std::make_unique<ClusterState>();
    state_->ReserveForReplacements(kReplacementHold, clock_.Now());
    state_->DropStaleExpectations(clock_.Now(), clock_.WallNow());
    synergy::testing::ObserveUntil(*state_, 1000);
    state_->UpsertNode(synergy::testing::MakeNode(kNode, {Gpus(kSize), Cores(64), GiB(64)}));
    for (const auto& [name, pod] : known_) state_->UpsertPod(pod);
    for (const auto& [name, pod] : bound_) state_->UpsertPod(pod);
    allocations_ =
        std::make_unique<Allocations>(api_, events_, clock_, log_, metrics_, ReserveRule{});
    binder_ = std::make_unique<Binder>(*state_, api_, reader_.gpu_resource(), *allocations_, clock_,
                                       log_, metrics_, BinderTimes{});
    extender_ = std::make_unique<SchedulerExtender>(*state_, *binder_, reader_, PlacementRules(),
                                                    clock_, log_, metrics_);
  }

  // The watch has reported a pod by the time kube-scheduler makes a call about it.
  void Schedule(const Pod& given) {
    const Pod pod = given;
    if (known_.emplace(pod.name, pod).second) {
      state_->UpsertPod(pod);
      api_.Put(pod);
    }
    const std::string answer = extender_->Filter(Args(pod));
    if (answer.find(R"("NodeNames":["a"])") == std::string::npos) return;
    in_flight_.push_back(pod);
    std::erase_if(waiting_, [&](const Pod& other) { return other.uid == pod.uid; });
  }

  void Bind(const Pod& given) {
    const Pod pod = given;
    const bool in_flight = std::any_of(in_flight_.begin(), in_flight_.end(),
                                       [&](const Pod& other) { return other.uid == pod.uid; });
    if (!in_flight) return;  // another pod's bind ended this one
    if (pod.gang != nullptr) {
      if (!binds_.contains(pod.uid)) binds_[pod.uid] = extender_->gangs().BeginBind(pod.uid, kNode);
      return Settle();
    }
    std::erase_if(in_flight_, [&](const Pod& other) { return other.uid == pod.uid; });
    const std::string answer = extender_->Bind(
        fmt::format(R"({{"PodName":"{}","PodNamespace":"default","PodUID":"{}","Node":"a"}})",
                    pod.name, pod.uid));
    Bound(pod, answer == kBound);
  }
  // Collects the outcomes of binds that wait for others.
  void Settle() {
    for (const auto& [uid, bind] : std::map(binds_)) {
      const auto outcome = extender_->gangs().OutcomeOf(*bind);
      if (!outcome) continue;
      const auto found = std::find_if(in_flight_.begin(), in_flight_.end(),
                                      [&](const Pod& pod) { return pod.uid == uid; });
      const Pod pod = *found;
      if (*outcome && Bound(GangOf(pod)) == 0) {
        EXPECT_EQ(LetGo(GangOf(pod)), kSize) << Describe();
      }
      in_flight_.erase(found);
      binds_.erase(uid);
      const bool is_bound = *outcome && binder_->Bind({pod.name, pod.pod_namespace, pod.uid, kNode},
                                                      "", {}, **outcome);
      Bound(pod, is_bound);
    }
  }
  void GoBack(const std::string& uid) {
    const auto found = std::find_if(in_flight_.begin(), in_flight_.end(),
                                    [&](const Pod& pod) { return pod.uid == uid; });
    waiting_.push_back(*found);
    in_flight_.erase(found);
  }
  void Bound(const Pod& pod, bool is_bound) {
    if (!is_bound) {
      waiting_.push_back(pod);
      return;
    }
    Pod bound = synergy::testing::OnNode(pod, kNode);
    bound_[pod.name] = bound;
    state_->UpsertPod(bound);
    EXPECT_FALSE(Bound("g") > 0 && Bound("h") > 0) << Describe();
    EXPECT_LE(bound_.size() + state_->Reservations(ReservationKind::kReplacement).size(),
              static_cast<size_t>(kSize))
        << Describe();
  }

  void End(const std::string& name) {
    state_->RemovePod(bound_.at(name).uid);
    known_.erase(name);
    bound_.erase(name);
  }

  void Take(const Pod& pod) {
    const std::string uid = pod.uid;
    std::erase_if(waiting_, [&](const Pod& other) { return other.uid == uid; });
  }

  void Pass(Duration time) {
    clock_.Advance(time);
    binder_->SettleExpired();
    extender_->Look();
    Settle();
    LostMembers(*state_, api_, events_, clock_, log_, metrics_).Look();
  }

  int Bound(const std::string& gang) const {
    int members = 0;
    for (const auto& [name, pod] : bound_) members += name.starts_with(gang + "-") ? 1 : 0;
    return members;
  }
  static std::string GangOf(const Pod& pod) { return pod.name.substr(0, 1); }
  // Returns how many of the gang's binds are released but not yet carried out.
  int LetGo(const std::string& gang) const {
    int members = 0;
    for (const Pod& pod : in_flight_) {
      const auto bind = binds_.find(pod.uid);
      if (pod.gang == nullptr || GangOf(pod) != gang || bind == binds_.end()) continue;
      members += bind->second->outcome && *bind->second->outcome ? 1 : 0;
    }
    return members;
  }
  bool OneIsWhole() const { return Bound("g") == kSize || Bound("h") == kSize; }
  std::string Describe() const {
    return fmt::format("bound: {} of g, {} of h, {} pods; {} wait, {} are in flight", Bound("g"),
                       Bound("h"), bound_.size(), waiting_.size(), in_flight_.size());
  }

  static std::string Args(const Pod& pod) {
    const std::string labels =
        pod.gang == nullptr
            ? std::string()
            : fmt::format(R"("labels":{{"synergy.io/gang":"{}","synergy.io/gang-size":"{}"}},)",
                          pod.name.substr(0, 1), kSize);
    return fmt::format(
        R"({{"Pod":{{"metadata":{{{}"name":"{}","namespace":"default","uid":"{}"}},"spec":{{"containers":[)"
        R"({{"name":"train","resources":{{"requests":{{"nvidia.com/gpu":"1","cpu":"1","memory":"1Gi"}}}}}}]}}}},)"
        R"("Nodes":null,"NodeNames":["a"]}})",
        labels, pod.name, pod.uid);
  }

  Random random_;
  synergy::testing::FakeClock clock_;
  synergy::testing::SilentSink sink_;
  Logger log_{sink_, clock_, LogLevel::kError, LogFormat::kText};
  wire::ObjectReader reader_{"nvidia.com/gpu"};
  metrics::ExtenderMetrics metrics_{"nvidia.com/gpu"};
  synergy::testing::FakePodApi api_;
  synergy::testing::RecordedEvents events_;
  std::unique_ptr<ClusterState> state_;
  std::unique_ptr<Allocations> allocations_;
  std::unique_ptr<Binder> binder_;
  std::unique_ptr<SchedulerExtender> extender_;
  std::vector<Pod> waiting_;
  // pods that passed the filter and are not bound yet
  std::vector<Pod> in_flight_;
  // the waiting ones of these: uid -> bind
  std::map<std::string, std::shared_ptr<GangBind>> binds_;
  std::vector<Pod> lost_;             // pods that have to be replaced
  std::map<std::string, Pod> known_;  // name -> created pod
  std::map<std::string, Pod> bound_;  // name -> bound pod
};

TEST(GangsProperty, OneOfTwoGangsRunsWholeAndTheOtherNotAtAll) {
  const uint64_t first = synergy::testing::FirstSeed();
  const uint64_t histories = synergy::testing::Histories(300);
  for (uint64_t seed = first; seed < first + histories; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    History(seed).Run();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace synergy::extender
