// Loans of CPU (engine/tuner/loans.h) with the controller's driver and calls. Calls to an in-memory
// API server fail, succeed without an answer, or are the last of a process, and the kubelet does
// not carry out every growth. At any time idle pods wake up, pods are deleted, and other pods are
// bound to what the extender counts as free.

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

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
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// The outcome of the next calls. kOvertaken: the kubelet applies all resizes just before.
enum class Trouble { kNone, kRefused, kNoAnswer, kLastOfProcess, kOvertaken };

// A full node of 12 cores, with two idle pods and two that train faster with more CPU.
class World {
 public:
  World() {
    ObserveUntil(state_, 1'000'000);
    state_.UpsertNode(NodeOfFour("n1"));
    for (const char* name : {"idle-1", "idle-2"}) Add(ManagedPod(name, "n1", 3, ""));
    for (const char* name : {"busy-1", "busy-2"}) Add(ManagedPod(name, "n1", 3));
    api_.before_call = [this](std::string_view) { return BeforeCall(); };
    api_.after_change = [this](const Pod&) { return AfterChange(); };
    settings_.idle_after = minutes(30);
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
      case 1:
        After(seconds(number));
        break;
      case 2:
        ToggleIdle(number % 2 == 0 ? "idle-1" : "idle-2");
        break;
      case 3:
      case 4:
        Settle(number);
        break;
      case 5:
        // Often enough that every pod is deleted in some sequences, but not soon in most.
        if (number >= 18) Delete(number);
        break;
      case 6:
        trouble_ = static_cast<Trouble>(number % 5);
        in_calls_ = number / 5;
        break;
      case 7:
        driver_->StartOver();
        After(seconds(1));
        break;
      case 8:
        Bind();
        break;
      case 9:
        Report();
        break;
      case 10:
        RefuseGrowth(number);
        break;
    }
    IsNotOverAllocated();
  }

  // Makes both idle pods lend.
  void BeginLoans() {
    for (const char* name : {"idle-1", "idle-2"}) idle_.insert(name);
    for (int i = 0; i < 3; ++i) {
      After(seconds(11));
      KubeletCatchesUp();
    }
    RC_ASSERT(LentNow() == Cores(4));
    RC_ASSERT(BorrowedNow() == Cores(4));
  }

  // Continues without any more trouble, and with all pods busy.
  void Calm() {
    trouble_ = Trouble::kNone;
    idle_.clear();
    // This takes two rounds: the second one completes what a call left unfinished.
    for (int i = 0; i < 240; ++i) {
      KubeletCatchesUp();
      After(seconds(3));
      IsNotOverAllocated();
    }
  }

  void LendersHaveTheirOwn() {
    RC_ASSERT(LentNow() == MilliCpu(0));
    RC_ASSERT(BorrowedNow() == MilliCpu(0));
    for (const std::string& name : names_) {
      const Pod pod = api_.pod(name);
      if (pod.fungible) RC_ASSERT(pod.fungible->requested.cpu >= Cores(3));
    }
  }

 private:
  void Add(Pod pod) {
    names_.push_back(pod.name);
    api_.Put(std::move(pod));
    state_.UpsertPod(api_.pod(names_.back()));
  }

  Result<> BeforeCall() {
    if (trouble_ == Trouble::kNone || in_calls_-- > 0) return {};
    if (trouble_ == Trouble::kNoAnswer) return {};
    if (trouble_ == Trouble::kOvertaken) {
      trouble_ = Trouble::kNone;
      for (const std::string& name : names_) SettleOnNode(name);
      return {};
    }
    if (trouble_ == Trouble::kLastOfProcess) may_act_ = false;
    trouble_ = Trouble::kNone;
    return Fail(ErrorCode::kUnavailable, "the API server is away");
  }
  Result<> AfterChange() {
    IsNotOverAllocated();
    if (trouble_ != Trouble::kNoAnswer || in_calls_ >= 0) return {};
    trouble_ = Trouble::kNone;
    return Fail(ErrorCode::kTimeout, "no answer");
  }

  std::map<std::string, IdlePod> Idle(Instant now) const {
    std::map<std::string, IdlePod> idle;
    for (const std::string& name : idle_) {
      idle[api_.pod(name).uid] = {
          .node = "n1", .idle = hours(1), .most_cpu = MilliCpu(100), .reported = now};
    }
    return idle;
  }

  void After(Duration duration) {
    clock_.Advance(duration);
    may_act_ = true;
    driver_->Step();
  }
  void ToggleIdle(const std::string& name) {
    if (idle_.erase(name) > 0) return;
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) idle_.insert(name);
  }
  const std::string* Name(int number) const {
    return names_.empty() ? nullptr : &names_[static_cast<size_t>(number) % names_.size()];
  }
  void Settle(int number) {
    const std::string* const name = Name(number);
    if (name == nullptr) return;
    SettleOnNode(*name);
    state_.UpsertPod(api_.pod(*name));
  }
  void SettleOnNode(const std::string& name) {
    const Pod pod = api_.pod(name);
    // The kubelet does not try an infeasible resize again.
    if (pod.fungible && !IsInfeasible(*pod.fungible)) api_.SettleOnNode(name);
  }
  // Makes the kubelet not carry out a growth, temporarily or permanently.
  void RefuseGrowth(int number) {
    const std::string* const name = Name(number);
    if (name == nullptr) return;
    const Pod pod = api_.pod(*name);
    if (!pod.fungible || pod.fungible->requested.cpu <= pod.fungible->in_force.cpu) return;
    api_.ChangeManaged(*name, [number](ManagedContainer& fungible) {
      fungible.reported = true;
      fungible.resize = number % 2 == 0 ? ResizeState::kInfeasible : ResizeState::kDeferred;
      fungible.resize_message = "the node has no room";
    });
    state_.UpsertPod(api_.pod(*name));
  }
  void KubeletCatchesUp() {
    for (size_t i = 0; i < names_.size(); ++i) Settle(static_cast<int>(i));
  }
  MilliCpu LentNow() const {
    MilliCpu sum;
    for (const std::string& name : names_) {
      if (const Pod pod = api_.pod(name); pod.fungible) sum += pod.fungible->Lends();
    }
    return sum;
  }
  MilliCpu BorrowedNow() const {
    MilliCpu sum;
    for (const std::string& name : names_) {
      if (const Pod pod = api_.pod(name); pod.fungible) sum += pod.fungible->Borrows();
    }
    return sum;
  }
  void Report() {
    for (const std::string& name : names_) state_.UpsertPod(api_.pod(name));
  }
  void Delete(int number) {
    const std::string* const found = Name(number * 7);
    if (found == nullptr) return;
    const std::string name = *found;
    idle_.erase(name);
    state_.RemovePod(api_.pod(name).uid);
    api_.Remove(name);
    std::erase(names_, name);
  }
  // Gives a pod without GPUs everything that the extender counts as free. By then the watches have
  // reported everything; tuner_test.cc tests a bind that crosses an announcement.
  void Bind() {
    Report();
    const ResourceVector free = state_.Snapshot()->node(0).Free();
    if (free.cpu <= MilliCpu(0)) return;
    Pod pod = MakePod("other-" + std::to_string(++others_), {Gpus(0), free.cpu, MiB(1)});
    pod.node = "n1";
    Add(std::move(pod));
  }

  static bool IsInfeasible(const ManagedContainer& fungible) {
    return fungible.resize == ResizeState::kInfeasible && !fungible.Settled();
  }
  // Returns what the node counts of the container.
  static MilliCpu CpuOf(const ManagedContainer& fungible) {
    const MilliCpu held = LargerOf(fungible.in_force, fungible.set_aside).cpu;
    return IsInfeasible(fungible) ? held : std::max(fungible.requested.cpu, held);
  }
  void IsNotOverAllocated() const {
    MilliCpu sum;
    for (const std::string& name : names_) {
      const Pod pod = api_.pod(name);
      sum += pod.fungible ? CpuOf(*pod.fungible) : pod.requests.main.cpu;
    }
    RC_ASSERT(sum <= Cores(12));
  }

  FakeClock clock_;
  SilentSink sink_;
  Logger log_{sink_, clock_, LogLevel::kError, LogFormat::kText};
  metrics::TunerMetrics metrics_;
  ClusterState state_;
  FakePodApi api_;
  RecordedEvents events_;
  FakeProfileCatalog profiles_ = TwoProfiles();
  TunerSettings settings_;
  std::unique_ptr<Tuner> tuner_;
  bool may_act_ = true;
  controller::TunerCalls calls_{
      state_, api_, events_, clock_, log_, metrics_, [this] { return may_act_; }};
  std::unique_ptr<controller::ActionExecutor> executor_ =
      controller::MakeSerialExecutor(calls_, [this] { return may_act_; }, clock_);
  std::unique_ptr<controller::TunerDriver> driver_;
  std::vector<std::string> names_;
  std::set<std::string> idle_;
  Trouble trouble_ = Trouble::kNone;
  int in_calls_ = 0;
  int others_ = 0;
};

RC_GTEST_PROP(LoansProperty, NoNodeIsOverAllocatedAndLendersGetTheirOwnBack, ()) {
  const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 11), rc::gen::inRange(0, 20)));
  World world;
  world.BeginLoans();
  for (const auto& [what, number] : steps) world.Do(what, number);
  world.Calm();
  world.LendersHaveTheirOwn();
}

}  // namespace
}  // namespace synergy::testing
